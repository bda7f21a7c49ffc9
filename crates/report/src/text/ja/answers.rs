//! The sentence that answers the question of a report, and the line that proves it.

use super::listed;
use crate::number;
use crate::text::compared::{ComparedThing, compared};
use crate::text::{FastestCard, PairAnswer, RatedShare, UseAnswer};
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, BytesPerSec};

/// The noun for what is compared, and its counter.
pub(super) fn things() -> (&'static str, &'static str) {
    match compared() {
        ComparedThing::Cards => ("カード", "枚"),
        ComparedThing::CardHostPairs => ("カードとホストの組", "組"),
        ComparedThing::Sets => ("測定結果", "件"),
    }
}

pub(in crate::text) fn fastest_cards(cards: usize, wins: &[FastestCard<'_>]) -> String {
    let mut parts = Vec::new();
    let (thing, counter) = things();
    for win in wins {
        let FastestCard {
            card,
            workload,
            value,
            times,
        } = win;
        let detail = match times {
            Some(times) if parts.is_empty() => format!("{value}、最も遅い{thing}の{times}倍"),
            Some(times) => format!("{value}、{times}倍"),
            None => value.clone(),
        };
        parts.push(match parts.is_empty() {
            true => format!("{workload}は{card}が{cards}{counter}中で最速（{detail}）"),
            false => format!("{workload}は{card}が最速（{detail}）"),
        });
    }
    format!("{}。", parts.join("、"))
}

pub(in crate::text) fn fastest_in_all(
    of: &FastestCard<'_>,
    (cards, workloads): (usize, usize),
) -> String {
    let FastestCard {
        card,
        workload,
        value,
        times,
    } = of;
    let times = times
        .as_ref()
        .map_or_else(String::new, |times| format!("、最も遅いカードの{times}倍"));
    format!(
        "{card}は{workloads}種類のワークロードすべてで{cards}枚中最速（{workload}は{value}{times}）。"
    )
}

pub(in crate::text) fn no_fastest_card(workload: &str, cards: &[&str], runs: u64) -> String {
    let (thing, counter) = things();
    let told = match cards.len() {
        2..=4 => listed(cards),
        n => format!("上位{n}{counter}"),
    };
    let runs = match runs {
        0 => String::new(),
        n => format!("（各{}回）", number::grouped(n)),
    };
    format!("{workload}で最速の{thing}は決められない。{told}に有意差はない{runs}。")
}

pub(in crate::text) fn no_card_differs(cards: usize) -> String {
    let (thing, counter) = things();
    format!("{cards}{counter}の{thing}の間に有意差はない。")
}

pub(in crate::text) fn highest_of_single_runs(first: &FastestCard<'_>, cards: usize) -> String {
    let FastestCard {
        card,
        workload,
        value,
        times,
    } = first;
    let (thing, counter) = things();
    let times = times.as_ref();
    let times = times.map_or(String::new(), |times| {
        format!("、最も低い{thing}の{times}倍")
    });
    format!(
        "{workload}は{cards}{counter}中{card}の値が最も高いが（{value}{times}）、各1回の測定のため証明にはならない。"
    )
}

pub(in crate::text) fn highest_of_series(first: &FastestCard<'_>, series: usize) -> String {
    let FastestCard {
        card,
        workload,
        value,
        times,
    } = first;
    let times = times.as_ref();
    let times = times.map_or(String::new(), |times| {
        format!("、最も低い測定シリーズの{times}倍")
    });
    format!("{workload}は{series}件の測定シリーズ中{card}の平均が最も高い（{value}{times}）。")
}

pub(in crate::text) fn highest_of_layers(
    first: &FastestCard<'_>,
    layers: usize,
    card: &str,
) -> String {
    let FastestCard {
        card: layer,
        workload,
        value,
        times,
    } = first;
    let times = times.as_ref();
    let times = times.map_or(String::new(), |times| {
        format!("、最も低いレイヤの{times}倍")
    });
    format!("{card}の{workload}は、{layers}レイヤ中{layer}の値が最も高い（{value}{times}）。")
}

pub(in crate::text) fn layers_not_tested() -> &'static str {
    "有意差は、各レイヤと基準のレイヤの間で検定した。"
}

pub(in crate::text) fn series_not_tested() -> &'static str {
    "有意差は検定していない。2件の検定にはhakaru compareを使う。"
}

pub(in crate::text) fn layer_costs_all(
    layer: &str,
    workload: &str,
    (least, most): (&str, &str),
) -> String {
    let lost = super::span(least, most);
    format!("{layer}を介すと{workload}は{lost}%低下する。")
}

pub(in crate::text) fn sides_in_sequence(first: &str, then: &str) -> String {
    format!(
        "{first}をすべて測定してから{then}を測定している。カードやホストのドリフトも差に見える。キャンペーンでは交互に測定できる"
    )
}

pub(in crate::text) fn on_layer(layer: &str, sentence: &str) -> String {
    format!("{layer}では、{sentence}")
}

pub(in crate::text) fn fast_and_slow(
    card: &str,
    won: &[&str],
    behind: &[(&str, String)],
) -> String {
    let share = |(noun, percent): &(&str, String)| format!("{noun}は最速の{percent}%");
    let shares: Vec<String> = behind.iter().map(share).collect();
    format!(
        "{card}は{}で最速だが、{}にとどまる。",
        listed(won),
        shares.join("、")
    )
}

pub(in crate::text) fn rated_through(layer: &str, impossible: bool) -> String {
    let limits = match impossible {
        true => format!(
            "- は不可（LinuxのルートファイルシステムやDockerのデータは{layer}に置けない）。"
        ),
        false => String::new(),
    };
    format!(
        "プログラムはファイルを使うため、{layer}経由の測定で評価した。下の折りたたみのRAWデバイスの評価は、ファイルシステムの影響を含まない。{limits}"
    )
}

pub(in crate::text) fn proven_better() -> &'static str {
    "優位、有意差あり"
}

pub(in crate::text) fn tails(first: (&str, &str), second: (&str, &str)) -> String {
    let of = |(name, value): (&str, &str)| format!("{name}が{value}");
    format!("P99レイテンシは{}、{}である。", of(second), of(first))
}

pub(in crate::text) fn side_with_new_file(new: &str, old: &str) -> String {
    format!("{new}は新規ファイル、{old}は既存ファイルへの書き込み。領域の割り当ても差に含まれうる")
}

pub(in crate::text) fn repeats_with_new_file(new: usize, of: usize) -> String {
    format!(
        "{of}回中{new}回は新規ファイル、ほかは既存ファイルへの書き込み。測定ごとの開始条件が異なる"
    )
}

pub(in crate::text) fn card_fact(name: &str) -> String {
    let known = match name {
        "capacity" => "容量",
        "catalog" => "公称値",
        "maker" | "manufacturer" => "メーカー",
        "model" => "型番",
        "price" => "価格",
        "year" => "年",
        name => name,
    };
    known.to_owned()
}

pub(in crate::text) fn rated_reached(shares: &[RatedShare]) -> String {
    let share = |of: &RatedShare| {
        let name = match of.op {
            Op::Read => "読み込み",
            Op::Write => "書き込み",
            Op::Trim => "TRIM",
        };
        let percent = super::span(&of.percent.0, &of.percent.1);
        let mut notes = Vec::new();
        notes.extend(of.limited.then(|| "ホスト側の上限の可能性".to_owned()));
        let cards = of
            .cards
            .map(|(cards, all)| format!("公称値があるのは{all}枚中{cards}枚"));
        notes.extend(cards);
        let notes = match notes.is_empty() {
            true => String::new(),
            false => format!("（{}）", notes.join("、")),
        };
        format!("{name}は公称速度の{percent}%{notes}")
    };
    let shares: Vec<String> = shares.iter().map(share).collect();
    format!("{}である。", shares.join("、"))
}

pub(in crate::text) fn layer_costs_card(
    card: &str,
    layer: &str,
    workload: &str,
    percent: &str,
) -> String {
    format!("{layer}を介すと、{card}は{workload}性能の{percent}%を失う。")
}

pub(in crate::text) fn pairs_proven(different: usize, of: usize, family: u32) -> String {
    let (thing, _) = things();
    let tests = match usize::try_from(family) {
        Ok(tests) if tests == of => String::new(),
        _ => format!("{family}件の比較に対する"),
    };
    let method = format!("ウェルチのt検定、{tests}ボンフェローニ補正");
    match different {
        0 => format!("{thing}同士の比較{of}通りに有意差はない（{method}）。"),
        _ => format!(
            "{thing}同士の比較{of}通り中{different}通りに有意差がある（{method}、全体の有意水準5%）。"
        ),
    }
}

pub(in crate::text) fn host_limits(workload: &str, value: &str, cards: usize) -> String {
    let (_, counter) = things();
    format!(
        "{workload}は全{cards}{counter}が{value}で頭打ちである。上限はカードではなくホストのバスである。"
    )
}

pub(in crate::text) fn suited(good: Option<&UseAnswer>, bad: Option<&UseAnswer>) -> Option<String> {
    let probably = |of: &UseAnswer| if of.firm { "" } else { "おそらく" };
    Some(match (good, bad) {
        (Some(good), Some(bad)) if good.figure == bad.figure => format!(
            "{}には{}向くが、{}には{}不向きである。{}。",
            good.title,
            probably(good),
            bad.title,
            probably(bad),
            good.figure
        ),
        (Some(good), Some(bad)) => format!(
            "{}には{}向くが、{}には{}不向きである。{}、ただし{}。",
            good.title,
            probably(good),
            bad.title,
            probably(bad),
            good.figure,
            bad.figure
        ),
        (Some(good), None) => format!(
            "{}には{}向く。{}。",
            good.title,
            probably(good),
            good.figure
        ),
        (None, Some(bad)) => {
            format!(
                "{}には{}不向きである。{}。",
                bad.title,
                probably(bad),
                bad.figure
            )
        }
        (None, None) => return None,
    })
}

pub(in crate::text) fn reached(figures: &[(String, String)]) -> String {
    let said = figures.iter();
    let said: Vec<String> = said
        .map(|(workload, value)| format!("{workload}は{value}"))
        .collect();
    format!("{}である。", said.join("、"))
}

pub(in crate::text) fn writes_fall(
    workload: &str,
    before: BytesPerSec,
    after: BytesPerSec,
    at: Bytes,
) -> String {
    let level = |rate: BytesPerSec| number::quantity(rate.0 / 1e6);
    let (before, after) = (level(before), level(after));
    let at = number::decimal_bytes(at);
    format!("{workload}は{at}を超えると{before}から{after} MB/sに低下する。")
}

pub(in crate::text) fn do_not_quote(because: &str) -> String {
    format!("この結果は引用できない。{because}。")
}

pub(in crate::text) fn runs_agree(runs: u64, percent: &str) -> String {
    format!("{runs}回測定した。標準偏差は平均の{percent}%以下である。")
}

pub(in crate::text) fn runs_only(runs: u64) -> String {
    format!("{runs}回測定した。")
}

pub(in crate::text) fn measured_once() -> &'static str {
    "1回だけの測定のため証明にはならない。測定間のばらつきは不明である。"
}

pub(in crate::text) fn among_references(workload: &str, standing: &str) -> String {
    format!("{workload}: {standing}。")
}

pub(in crate::text) fn proven_difference(
    first: &PairAnswer<'_>,
    other: Option<&PairAnswer<'_>>,
) -> String {
    let interval = |of: &PairAnswer<'_>| match &of.interval {
        Some((low, high)) => format!("[{low}, {high}]"),
        None => String::new(),
    };
    let mut said = format!(
        "{}の{}は{}の{}倍{}の速さである",
        first.faster,
        first.workload,
        first.slower,
        first.ratio,
        interval(first)
    );
    if let Some(other) = other {
        said += &format!(
            "が、{}では{}が{}倍{}の速さである",
            other.workload,
            other.faster,
            other.ratio,
            interval(other)
        );
    }
    said + "（有意差あり）。"
}

pub(in crate::text) fn no_difference_proven(
    workload: &str,
    ratio: &str,
    interval: Option<&(String, String)>,
    needed: Option<u32>,
) -> String {
    let interval = interval.map_or(String::new(), |(low, high)| format!("[{low}, {high}]"));
    let needed = needed.map_or(String::new(), |needed| {
        format!("示すには各約{needed}回の測定が必要である。")
    });
    format!("有意差はない。最大の差は{workload}の{ratio}倍{interval}である。{needed}")
}

pub(in crate::text) fn all_level(a: &str, b: &str) -> String {
    format!("{b}と{a}は同等である。すべての値の差が5%以内である。")
}

pub(in crate::text) fn compared_once(workload: &str, faster: &str, ratio: &str) -> String {
    format!(
        "1回だけの測定のため証明にはならない。{workload}では{faster}の値がもう一方の{ratio}倍である。"
    )
}

pub(in crate::text) fn pools_sessions(name: &str, sessions: u32) -> String {
    format!(
        "{name}は時期の異なる{sessions}つの測定シリーズをまとめた値で、ばらつきに時期の差を含む。"
    )
}

pub(in crate::text) fn figures_proven(different: usize, level: usize, open: usize) -> String {
    let of = different + level + open;
    let mut others = Vec::new();
    if level > 0 {
        others.push(format!("{level}項目は5%以内で同等"));
    }
    if open > 0 {
        others.push(format!("{open}項目は判定保留"));
    }
    let proven = match others.is_empty() {
        true => format!("速度{of}項目中{different}項目に有意差がある。"),
        false => format!(
            "速度{of}項目中{different}項目に有意差があり、{}である。",
            listed(&others)
        ),
    };
    format!(
        "{proven}有意差ありとは、比の95%信頼区間が1を含まないことである（速度全体、レイテンシ全体をそれぞれボンフェローニ法で補正）。"
    )
}

pub(in crate::text) fn rounds_answer(
    steady: bool,
    rounds: u32,
    at_most: u32,
    figures: &[(String, String)],
) -> String {
    let state = match steady {
        true => format!("{rounds}ラウンドで定常状態に達した（上限{at_most}）。"),
        false => format!("{rounds}ラウンドでは定常状態に達していない（上限{at_most}）。"),
    };
    let figures = figures.iter();
    let figures = figures.map(|(work, value)| format!("{work}: {value}"));
    format!("{state}{}。", figures.collect::<Vec<_>>().join("、"))
}

pub(in crate::text) fn rounds_proof(rounds: Option<(u32, u32)>) -> String {
    match rounds {
        Some((first, last)) => format!(
            "ラウンド{first}〜{last}（SNIA Performance Test Specificationの測定区間）の平均である。"
        ),
        None => "全ラウンドの平均である（測定区間には5ラウンドが必要）。".to_owned(),
    }
}

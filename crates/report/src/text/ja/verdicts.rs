//! Verdicts: suitability for uses, claims, bottlenecks, and comparison with references.

use super::answers::things;
use super::{claims::figure, listed};
use crate::findings::ConclusionKind;
use crate::number;
use crate::text::FigureChange;
use crate::text::figures::suite_workloads;
use hakaru_model::advice::{AdviceVerdict, Choice, Decision, Fitness};
use hakaru_model::finding::{Bottleneck, BusLimit, ClaimPart, ClaimVerdict, Figure};
use hakaru_model::job::Op;
use hakaru_model::references::ReferenceStanding;

pub(in crate::text) fn advice(verdict: AdviceVerdict) -> &'static str {
    use AdviceVerdict::*;
    match verdict {
        Firm(Fitness::Fits) => "十分",
        Firm(Fitness::WithCare) => "条件付き",
        Firm(Fitness::DoesNot) => "不向き",
        Probable(Fitness::Fits) => "おそらく十分",
        Probable(Fitness::WithCare) => "おそらく条件付き",
        Probable(Fitness::DoesNot) => "おそらく不向き",
        Inconclusive => "判定保留",
        NotMeasured => "未測定",
        NotPossible => "不可",
    }
}

pub(in crate::text) fn no_permissions(file_system: &str) -> String {
    format!("{file_system}は所有者・パーミッション・シンボリックリンクを保存できない")
}

pub(in crate::text) fn incomplete_advice(at_best: Option<Fitness>, missing: usize) -> String {
    let so_far = match at_best {
        Some(Fitness::Fits) => "測定済みの項目は十分",
        Some(Fitness::WithCare | Fitness::DoesNot) => "良くても条件付き",
        None => "判定保留",
    };
    format!("{so_far}（{missing}項目未測定）")
}

pub(in crate::text) fn use_title(id: &str, title: &str) -> String {
    // A rule of the user may have the ID of a built-in one, but its own title.
    let said = match (id, title) {
        ("os", "OS boot and packages") => "OS起動・パッケージ管理",
        ("database", "database and logs") => "データベース・ログ",
        ("docker", "Docker and web services") => "Docker・Webサービス",
        ("nas", "NAS and photo archive") => "NAS・写真保管",
        ("sensors", "sensors and small scripts") => "センサー・小規模スクリプト",
        ("camera", "camera recording") => "動画撮影",
        ("games", "game and emulator storage") => "ゲーム・エミュレータ",
        (_, title) => title,
    };
    said.to_owned()
}

pub(in crate::text) fn reasons(parts: &[String]) -> String {
    parts.join("。")
}

pub(in crate::text) fn decision(decision: &Decision) -> String {
    let fitness = decision.fitness;
    let of = decision.criterion.figure;
    let (name, value) = (figure(of), quantity(of, decision.measured.value));
    let fits = number::limit(decision.criterion.fits);
    let care = number::limit(decision.criterion.care);
    if let (true, Some((low, high))) = (decision.is_crossed(), decision.measured.bounds) {
        let crossed = decision.crossed_limit();
        let range = super::span(&number::quantity(low), &quantity(of, high));
        let limits = match (
            crossed == Some(decision.criterion.care),
            of.more_is_better(),
        ) {
            (true, true) => format!("下限{care}、十分とする目安は{fits}以上"),
            (true, false) => format!("上限{care}、十分とする目安は{fits}以下"),
            (false, true) => format!("十分とする目安は{fits}以上"),
            (false, false) => format!("十分とする目安は{fits}以下"),
        };
        return format!("{name}は{range}の範囲（{limits}）");
    }
    if decision.is_crossed() {
        let crossed = decision.crossed_limit().unwrap_or(decision.criterion.fits);
        let limit = match (crossed == decision.criterion.care, of.more_is_better()) {
            (true, true) => "下限",
            (true, false) => "上限",
            (false, _) => "目安",
        };
        let crossed = number::limit(crossed);
        return format!("{name}は{value}（{limit}{crossed}）だが、95%信頼区間が{limit}をまたぐ");
    }
    let limits = match (fitness, of.more_is_better()) {
        (Fitness::Fits, true) => format!("目安{fits}以上"),
        (Fitness::Fits, false) => format!("目安{fits}以下"),
        (Fitness::WithCare, true) => format!("十分とする目安は{fits}以上"),
        (Fitness::WithCare, false) => format!("十分とする目安は{fits}以下"),
        (Fitness::DoesNot, true) => format!("下限{care}、十分とする目安は{fits}以上"),
        (Fitness::DoesNot, false) => format!("上限{care}、十分とする目安は{fits}以下"),
    };
    let stalls = decision
        .measured
        .stalls
        .map_or_else(String::new, |slowest| {
            format!("、最も遅い区間は{}", quantity(of, slowest))
        });
    format!("{name} {value}（{limits}）{stalls}")
}

pub(in crate::text) fn figure_change(name: &str, ratio: f64, change: FigureChange) -> String {
    let percent = || number::percent_of_change(ratio);
    match change {
        FigureChange::Rate if ratio < 1.0 => format!("{name}は{}低い", percent()),
        FigureChange::Rate => format!("{name}は{}倍", number::quantity(ratio)),
        FigureChange::Time if ratio < 1.0 => format!("{name}は{}短い", percent()),
        FigureChange::Time if ratio < 2.0 => format!("{name}は{}長い", percent()),
        FigureChange::Time => format!("{name}は{}倍の長さ", number::quantity(ratio)),
    }
}

pub(in crate::text) fn deciding_figure(decision: &Decision) -> String {
    let of = decision.criterion.figure;
    format!("{} {}", figure(of), quantity(of, decision.measured.value))
}

/// The names of figures that are not measured; a sequential speed is one of large blocks, unlike that of a small block.
fn missing_names(missing: &[Figure]) -> Vec<String> {
    let is_large = |of: &Figure| matches!(of, Figure::SequentialRead | Figure::SequentialWrite);
    let first = missing.iter().position(is_large);
    let name = |(at, of): (usize, &Figure)| match Some(at) == first {
        true => format!("大きいブロックの{}", figure(*of)),
        false => figure(*of).to_owned(),
    };
    missing.iter().enumerate().map(name).collect()
}

pub(in crate::text) fn not_measured(missing: &[Figure], beside: bool) -> String {
    let names = missing_names(missing);
    let names = listed(&names);
    let workloads = suite_workloads(missing);
    match beside {
        true => format!("未測定: {names}（hakaru bench --only={workloads}）"),
        false => format!("{names}が必要（hakaru bench --only={workloads}）"),
    }
}

pub(in crate::text) fn figure_of_mix(of: Figure) -> String {
    format!("{}（読み書き混合時）", figure(of))
}

pub(in crate::text) fn too_few_ios(name: &str) -> String {
    format!("{name}（I/O数不足）")
}

pub(in crate::text) fn better_in(name: &str, count: usize, of: usize) -> String {
    match of {
        1 if count == 1 => format!("{name}が優位"),
        of if count == of => format!("{name}が全{of}項目で優位"),
        of => format!("{name}が{of}項目中{count}項目で優位"),
    }
}

pub(in crate::text) fn choice(
    choice: Choice,
    names: (&str, &str),
    so_far: bool,
    missing: &[Figure],
) -> String {
    let is_open = matches!(choice, Choice::Both(_) | Choice::Open);
    if is_open && so_far && !missing.is_empty() {
        let names: Vec<&str> = missing.iter().copied().map(figure).collect();
        return format!("未定（未測定: {}）", listed(&names));
    }
    let chosen = match choice {
        Choice::First => names.0,
        Choice::Second => names.1,
        Choice::Both(Fitness::Fits) => "どちらでもよい",
        Choice::Both(Fitness::WithCare) => "どちらも条件付き",
        Choice::Both(Fitness::DoesNot) => "どちらも不適",
        Choice::Open => "判定保留",
    };
    match so_far {
        true => format!("{chosen}（暫定）"),
        false => chosen.to_owned(),
    }
}

pub(in crate::text) fn choice_ample() -> &'static str {
    "どちらでもよい（暫定。どちらも目安を十分に満たす）"
}

pub(in crate::text) fn figures_level(count: usize, of: usize) -> String {
    match count == of {
        true if of > 1 => format!("全{of}項目が5%以内の差"),
        true => "5%以内の差".to_owned(),
        false => format!("{count}項目は5%以内の差"),
    }
}

pub(in crate::text) fn against_it(parts: &[String]) -> String {
    format!("劣る項目: {}。", parts.join("、"))
}

pub(in crate::text) fn spread_through_layer(
    work: &str,
    (through, most): (&str, &str),
    (reference, before): (&str, &str),
    (uneven, cards): (u64, u64),
) -> String {
    let on = match uneven == cards {
        true => String::new(),
        false => {
            let (thing, counter) = things();
            format!("、{thing}{cards}{counter}中{uneven}{counter}で")
        }
    };
    format!(
        "{through}では{on}{work}の実行ごとのばらつきがはるかに大きい（標準偏差は平均の最大{most}%、{reference}は{before}%）。"
    )
}

pub(in crate::text) fn cost_unexplained(on_vfat: bool) -> String {
    let suspects = match on_vfat {
        true => {
            "vfatはFAT、ディレクトリエントリ、FSINFOも更新し、スパースファイルがないためホールをゼロで埋める。その分、\
             デバイスへの書き込みはアプリケーションより多くなる（I/O増幅）"
        }
        false => "ファイルシステムは管理表、ディレクトリ、ジャーナルも更新する",
    };
    format!(
        "原因は測定していない。推定される原因: {suspects}。キャンペーンファイルに[trace]の節を書くと、デバイスに届く量を測定できる。"
    )
}

pub(in crate::text) fn incomplete() -> &'static str {
    "測定不足"
}

pub(in crate::text) fn against_side(worse: &str) -> String {
    format!("不利な項目: {worse}")
}

pub(in crate::text) fn slowest_interval_of(value: &str, other: Option<&str>) -> String {
    let other = other.map_or_else(String::new, |other| format!("（もう一方は{other}）"));
    format!("最も遅い区間は{value}{other}")
}

pub(in crate::text) fn quantity_of(figure: Figure, value: f64) -> String {
    quantity(figure, value)
}

pub(in crate::text) fn waiting_above(sides: [(&str, &str, &str); 2]) -> String {
    let side = |(name, device, all): (&str, &str, &str)| format!("{name}で{all}中{device}");
    let [a, b] = sides.map(side);
    format!(
        "平均レイテンシのうちブロック層とデバイスの時間は{a}、{b}のみで、残りはその手前での待ち時間である。"
    )
}

pub(in crate::text) fn verdicts_so_far() -> &'static str {
    "暫定の判定"
}

pub(in crate::text) fn choice_title() -> &'static str {
    "選択"
}

pub(in crate::text) fn choice_column(first: &str, second: &str) -> String {
    format!("選ぶなら（{second}と{first}の比較）")
}

pub(in crate::text) fn claim_verdict(verdict: ClaimVerdict) -> &'static str {
    match verdict {
        ClaimVerdict::Kept => "達成",
        ClaimVerdict::Missed => "未達",
        ClaimVerdict::NotShown => "確認できず",
        ClaimVerdict::Unclear => "判定保留",
        ClaimVerdict::NotMeasured => "未測定",
    }
}

pub(in crate::text) fn claim_part(part: &ClaimPart, verdict: ClaimVerdict) -> String {
    let ClaimPart {
        figure: of,
        required,
        measured,
    } = part;
    let name = figure(*of);
    let rated = format!("{} {}", number::exact(*required, 3), of.unit());
    let Some(measured) = measured else {
        return format!("{name} {rated}以上が条件");
    };
    let value = quantity(*of, measured.value);
    match verdict {
        ClaimVerdict::Missed if measured.value < *required => {
            let share = number::percent(measured.value / required);
            format!("{name} {value}（公称{rated}の{share}%）")
        }
        ClaimVerdict::Kept
        | ClaimVerdict::Missed
        | ClaimVerdict::NotShown
        | ClaimVerdict::Unclear
        | ClaimVerdict::NotMeasured => format!("{name} {value}（公称{rated}）"),
    }
}

pub(in crate::text) fn bottleneck(limit: Bottleneck) -> &'static str {
    match limit {
        Bottleneck::Host => "ホストのバス",
        Bottleneck::Card => "カード",
        Bottleneck::Unclear => "判定保留",
        Bottleneck::Contradiction => "矛盾",
    }
}

pub(in crate::text) fn limit(found: &BusLimit) -> String {
    let measured = found.measured;
    let mut said = match (found.share, found.ceiling) {
        (Some(share), Some(ceiling)) => {
            let share = number::percent(share);
            format!("{measured}はバスの上限{ceiling}の{share}%")
        }
        _ => measured.to_string(),
    };
    if let (Some(spread), cards @ 2..) = (found.spread, found.cards) {
        let spread = number::percent(spread);
        let (thing, counter) = super::answers::things();
        said += &format!("、{thing}{cards}{counter}の差は{spread}%（平均の標準偏差）");
    }
    let advice = match found.limit {
        Bottleneck::Host => "より速いカードでも改善しない",
        Bottleneck::Card => "より速いカードで改善する",
        Bottleneck::Unclear => "より速いカードでの測定が必要",
        Bottleneck::Contradiction => "バスの情報または測定値に誤りあり",
    };
    format!("{said}。{advice}")
}

pub(in crate::text) fn sequential(op: Op, cards: &[&str]) -> String {
    let lead = match op {
        Op::Read => "シーケンシャル読み込み",
        Op::Write => "シーケンシャル書き込み",
        Op::Trim => "シーケンシャルTRIM",
    };
    match cards.len() {
        0 => lead.to_owned(),
        n if n > NAMED => {
            let (thing, counter) = super::answers::things();
            format!("{lead}（{thing}{n}{counter}）")
        }
        _ => format!("{lead}（{}）", listed(cards)),
    }
}

/// Maximum number of names in a list; more are only counted.
const NAMED: usize = 4;

pub(in crate::text) fn standing_verdict(found: &ReferenceStanding) -> String {
    let ReferenceStanding {
        ahead_of,
        level_with,
        behind,
        ..
    } = found;
    match (*ahead_of, *level_with, *behind) {
        (1, 0, 0) => "参考値より速い".to_owned(),
        (n, 0, 0) => format!("参考値{n}件のすべてより速い"),
        (0, 0, 1) => "参考値より遅い".to_owned(),
        (0, 0, n) => format!("参考値{n}件のすべてより遅い"),
        (0, n, 0) => format!("参考値{n}件と明確な差なし"),
        (n, level, 0) => format!("参考値{}件のうち{n}件より速い", n + level),
        (0, level, n) => format!("参考値{}件のうち{n}件より遅い", n + level),
        _ => "参考値の範囲内".to_owned(),
    }
}

pub(in crate::text) fn standing(found: &ReferenceStanding) -> String {
    let of = |value: f64| match found.by_iops {
        true => format!("{} IOPS", number::quantity(value)),
        false => format!("{} MB/s", number::quantity(value / 1e6)),
    };
    let (least, most) = (&found.least, &found.most);
    let mut references = format!("{}（{}）", of(least.value), least.card);
    if least != most {
        references += &format!("〜{}（{}）", of(most.value), most.card);
    }
    let counts = [
        (found.ahead_of, "遅い"),
        (found.behind, "速い"),
        (found.level_with, "差が不明確"),
    ];
    let counts = counts.iter().filter(|(n, _)| *n > 0);
    let counts: Vec<String> = counts.map(|(n, words)| format!("{words}{n}件")).collect();
    let counts = match counts.len() {
        0 | 1 => String::new(),
        _ => format!("（{}）", listed(&counts)),
    };
    let runs = match found.fewest_runs {
        1 => "各1回".to_owned(),
        runs => format!("各{runs}回以上"),
    };
    format!(
        "{}。参考値は{references}{counts}。{}、{}の{}、{runs}",
        of(found.here),
        found.among,
        listed(&found.hosts),
        found.layer,
    )
}

/// A figure with its unit: `254 IOPS`, `8,436 IOPS`.
fn quantity(figure: Figure, value: f64) -> String {
    format!("{} {}", number::quantity(value), figure.unit())
}

pub(in crate::text) fn conclusion_title(kind: ConclusionKind) -> &'static str {
    match kind {
        ConclusionKind::Uses => "用途別の向き・不向き",
        ConclusionKind::Claims => "公称値と実測値",
        ConclusionKind::Limits => "律速要因",
        ConclusionKind::Standings => "参考値との比較",
    }
}

pub(in crate::text) fn conclusion_about(kind: ConclusionKind) -> &'static str {
    match kind {
        ConclusionKind::Uses => "用途",
        ConclusionKind::Claims => "公称値",
        ConclusionKind::Limits => "方向",
        ConclusionKind::Standings => "測定内容",
    }
}

pub(in crate::text) fn fitness_legend(impossible: bool) -> String {
    let impossible = match impossible {
        true => "。- はそのファイルシステムでは不可",
        false => "",
    };
    format!(
        "✓ 十分、~ 条件付き、✗ 不向き。括弧内は推定（1回の測定に信頼区間なし）。? は測定不足、または信頼区間が目安をまたぐ{impossible}"
    )
}

pub(in crate::text) fn no_use_judged(crossed: bool) -> &'static str {
    match crossed {
        true => "判定できる用途なし（必要な値が未測定、または信頼区間が目安をまたぐ）",
        false => "判定できる用途なし（必要な値が未測定）",
    }
}

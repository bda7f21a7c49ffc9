//! History of one card.

use super::listed;
use super::reasons::reason;
use crate::history::{ratio, trend_noun};
use crate::number;
use crate::text::{SpeedChange, TrendFinding, TrendVerdict};
use crate::time;
use hakaru_model::history::{DefectKind, HistoryCaveat, MissingProof, Outlook, Trend, WearSign};

pub(in crate::text) fn history_title(name: &str) -> String {
    format!("{name}の履歴")
}

pub(in crate::text) fn history_counts(
    runs: u32,
    series: u32,
    verifications: usize,
    anatomies: usize,
) -> String {
    let anatomies = match anatomies {
        0 => String::new(),
        n => format!("、構造調査{n}回"),
    };
    format!("測定{runs}回（{series}シリーズ）、検証{verifications}回{anatomies}")
}

pub(in crate::text) fn outlook(outlook: Outlook) -> &'static str {
    match outlook {
        Outlook::Failing => "故障が進行中",
        Outlook::Wearing => "消耗の兆候あり",
        Outlook::NoSign => {
            "消耗の兆候なし。書き込みに5%を超える低速化はなく、最新の検証に不良箇所なし"
        }
        Outlook::Unknown => "判定に必要なデータが不足",
    }
}

pub(in crate::text) fn signs_title() -> &'static str {
    "兆候"
}

pub(in crate::text) fn proofs_title() -> &'static str {
    "不足しているデータ"
}

pub(in crate::text) fn trends_title() -> &'static str {
    "最初と最新の速度"
}

pub(in crate::text) fn points_title() -> &'static str {
    "全シリーズの数値"
}

pub(in crate::text) fn verifications_title() -> &'static str {
    "検証"
}

pub(in crate::text) fn anatomies_title() -> &'static str {
    "構造調査"
}

pub(in crate::text) fn trends_note(fewest: usize, once: usize) -> String {
    let once = match once {
        0 => String::new(),
        n => format!(
            "。1シリーズのみのワークロード{n}種類は「{}」に記載",
            points_title()
        ),
    };
    format!(
        "濃さは行の最良値に対する割合。変化と判定は前半と後半のシリーズの比較で、同じホスト、同じ条件の{fewest}シリーズ以上が必要（それ未満の変化は最初と最新の比較）{once}"
    )
}

pub(in crate::text) fn trend_about() -> &'static str {
    "各シリーズの平均"
}

pub(in crate::text) fn trend_columns() -> [&'static str; 4] {
    ["測定内容", "最初", "最新", "変化"]
}

pub(in crate::text) fn sentence(phrase: &str) -> String {
    format!("{phrase}。")
}

pub(in crate::text) fn measured_once_each() -> &'static str {
    "どのワークロードも1シリーズのみの測定で、比較できる以前の速度なし。"
}

pub(in crate::text) fn speed_change(change: &SpeedChange) -> String {
    let SpeedChange {
        workload,
        first,
        last,
        since,
        until,
        ratio,
        verdict,
    } = change;
    let ratio = ratio.as_deref().unwrap_or_default();
    let halves = format!("シリーズの前半と後半の平均、比は{ratio}");
    match verdict {
        TrendVerdict::Slower => {
            format!("以前より低速。{workload}は{first}から{last}に低下（{halves}、有意差あり）。")
        }
        TrendVerdict::Faster => {
            format!("以前より高速。{workload}は{first}から{last}に向上（{halves}、有意差あり）。")
        }
        TrendVerdict::Same => {
            format!("以前と同じ速度。{workload}は{first}と{last}（{halves}）。")
        }
        TrendVerdict::Open => {
            format!(
                "{since}以降の速度に有意な変化なし。{workload}は{first}から{last}（後半のシリーズは前半の{ratio}）。"
            )
        }
        TrendVerdict::Few { have, needed } => format!(
            "{workload}は{since}に{first}、{until}に{last}。{have}シリーズでは変化を判定できない（{needed}シリーズ必要）。"
        ),
    }
}

pub(in crate::text) fn trend_title(finding: &TrendFinding) -> String {
    match finding {
        TrendFinding::Changed {
            workload,
            percent,
            slower,
        } => {
            let changed = if *slower { "低速化" } else { "高速化" };
            format!("{workload}は{changed}（シリーズの後半は前半の{percent}%）")
        }
        TrendFinding::Same { workload } => match workload {
            Some(workload) => format!("{workload}: 以前と同等の速度（差は5%以内）"),
            None => "以前と同等の速度（差は5%以内）".to_owned(),
        },
        TrendFinding::Open {
            workload,
            low,
            high,
            since,
        } => {
            let workload = workload.as_ref().map(|name| format!("{name}: "));
            let workload = workload.unwrap_or_default();
            let first = since.as_deref().unwrap_or("最初のシリーズ");
            format!(
                "{workload}{first}の速度の{}%、有意な変化なし",
                super::span(low, high)
            )
        }
    }
}

pub(in crate::text) fn trend_chart_note(spread: bool, drawn: usize, of: usize) -> String {
    let whisker = match spread {
        true => "、縦線は95%信頼区間",
        false => "",
    };
    let drawn = match drawn < of {
        true => format!(
            "ワークロード{of}種類のうち{drawn}種類を表示（有意な変化を優先し、変化の大きい順）。"
        ),
        false => String::new(),
    };
    format!("各ワークロードの最初のシリーズに対する割合(%)。点は各シリーズの平均{whisker}。{drawn}")
}

pub(in crate::text) fn trend_heads() -> [&'static str; 6] {
    [
        "測定内容",
        "シリーズ",
        "最初",
        "最新",
        "後半/前半[95%]",
        "判定",
    ]
}

pub(in crate::text) fn point_heads(unit: &str) -> [String; 5] {
    ["開始", "シリーズ", unit, "回数", "使用率"].map(str::to_owned)
}

pub(in crate::text) fn verified_heads() -> [&'static str; 4] {
    ["開始", "検証", "検証した量", "不良"]
}

pub(in crate::text) fn anatomy_heads() -> [&'static str; 6] {
    [
        "開始",
        "構造調査",
        "アロケーションユニット",
        "同時に開けるユニット",
        "読み込み速度",
        "書き込み速度",
    ]
}

pub(in crate::text) fn trend_verdict(verdict: TrendVerdict) -> String {
    match verdict {
        TrendVerdict::Slower => "低速化（有意）".to_owned(),
        TrendVerdict::Faster => "高速化（有意）".to_owned(),
        TrendVerdict::Same => "5%以内で同等".to_owned(),
        TrendVerdict::Open => "有意差なし".to_owned(),
        TrendVerdict::Few { have, needed } => format!("{needed}シリーズ中{have}"),
    }
}

pub(in crate::text) fn wear_sign(sign: &WearSign, trends: &[Trend]) -> String {
    match sign {
        WearSign::BadBlocks { at_unix_ms, bytes } => {
            format!(
                "データの消失あり（{}に{bytes}が書き込んだ内容と不一致）",
                time::day(*at_unix_ms)
            )
        }
        WearSign::IoErrors { count } => format!("測定中のI/Oエラー{count}件"),
        WearSign::Reserve { state } => format!("予備ブロックが残り少ない（PRE_EOL_INFOは{state}）"),
        WearSign::LifeUsed { percent } => format!("寿命消費率{percent}%（デバイスの報告値）"),
        WearSign::Defects { kind, first, last } => {
            let what = match kind {
                DefectKind::MediaErrors => "メディアエラー",
                DefectKind::Reallocated => "代替処理済みセクタ",
                DefectKind::Pending => "代替処理待ちセクタ",
            };
            format!("{what}{last}件（最初の記録では{first}件）")
        }
        WearSign::Warning { text } => format!("SMARTの警告: {}", reason(text)),
        WearSign::SlowerWrites { trend } => match trends.get(*trend as usize) {
            Some(trend) => {
                let name = trend_noun(trend, trends);
                match trend.comparison.as_ref().map(ratio) {
                    Some(change) => {
                        format!("書き込みが低速化（有意差あり）。{name}は以前の{change}")
                    }
                    None => format!("書き込みが低速化（{name}）"),
                }
            }
            None => "書き込みが低速化".to_owned(),
        },
        WearSign::MoreRetries { first, last } => format!(
            "コマンドの再試行が増加（100万件あたり最初は{}件、最新は{}件）",
            number::quantity(*first),
            number::quantity(*last)
        ),
    }
}

pub(in crate::text) fn missing_proof(proof: MissingProof) -> String {
    match proof {
        MissingProof::Series { have, needed } => format!(
            "推移の判定には、同じホスト、同じ条件での書き込み測定が{needed}シリーズ必要（異なる日が望ましい。現在{have}）。hakaru benchで追加できる"
        ),
        MissingProof::MoreSeries { have } => format!(
            "{have}シリーズでは書き込みの5%を超える低速化を否定できない。シリーズを増やすと区間が狭まる（hakaru benchで追加できる）"
        ),
        MissingProof::Verification => {
            "不良箇所は検証でのみ分かる（hakaru verify DEVICEまたはhakaru verify DIR）".to_owned()
        }
        MissingProof::WearData => {
            "デバイスは寿命を報告しない（SDカードに該当するレジスタはなく、USBリーダーの多くは隠す）".to_owned()
        }
        MissingProof::Retries { have } => format!(
            "再試行の増加は、同じホストでトレースした2シリーズ以上の比較でのみ分かる（現在{have}）。hakaru bench --traceで追加できる"
        ),
    }
}

pub(in crate::text) fn history_caveat(caveat: &HistoryCaveat) -> String {
    match caveat {
        HistoryCaveat::ByLabel => {
            "別のカードの測定を含みうる（固有のIDがなく、ラベルで対応付けたため）".to_owned()
        }
        HistoryCaveat::Hosts { names } => {
            format!("複数のホストで測定（{}）。推移はホスト別", listed(names))
        }
        HistoryCaveat::Kernels { names } => {
            format!(
                "速度の変化はカーネルの違いによる可能性あり（{}）",
                listed(names)
            )
        }
        HistoryCaveat::FillLevels { low, high } => {
            format!("速度の変化は使用率の違いによる可能性あり（{low}〜{high}%）")
        }
        HistoryCaveat::SameDay { series } => {
            format!("同じ日の{series}シリーズは独立ではなく、区間が狭すぎる可能性あり")
        }
    }
}

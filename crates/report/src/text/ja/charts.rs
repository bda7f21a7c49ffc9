//! Titles, subtitles and source lines of charts.
//!
//! A title says what the data shows; if no difference is shown, it says so.

use super::answers::things;
use super::heat::{of_syncs, slow_when};
use super::listed;
use crate::chart::{BarMarks, ChartTitle, SweepAxis};
use crate::number;
use crate::text::RunOrder;

pub(in crate::text) fn chart_title(title: &ChartTitle) -> String {
    match title {
        ChartTitle::HostBound { work, cards, value } => {
            format!(
                "{work}: 全{cards}{}がホストの上限{value}で頭打ち",
                things().1
            )
        }
        ChartTitle::Plateau {
            work,
            cards,
            of,
            low,
            high,
        } => {
            let cards = match cards == of {
                true => format!("全{of}{}", things().1),
                false => format!("{of}{0}中{cards}{0}", things().1),
            };
            let speed = super::span(low, high);
            format!(
                "{work}: {cards}が{speed} MB/sで横並び（他の測定では差あり。ホスト側の上限の可能性）"
            )
        }
        ChartTitle::Rated {
            met,
            missed,
            untested,
            of,
            low,
            high,
        } => {
            let share = super::span(low, high);
            match (*met, *missed, *of) {
                (_, 1, 1) => format!("公称速度に届かず（達成率{share}%）"),
                (_, missed, of) if missed == of => {
                    format!("公称速度に届くものなし（達成率{share}%）")
                }
                (met, _, of) if met == of => format!("すべて公称速度を達成（達成率{share}%）"),
                (0, missed, of) if missed + untested == of => {
                    format!(
                        "公称速度に届くものなし（達成率{share}%、ただし試験条件は不成立または不明）"
                    )
                }
                (0, ..) => format!("測定値は公称速度の{share}%（達成は未証明）"),
                (met, _, of) => {
                    format!("測定値は公称速度の{share}%（{of}件中{met}件で達成を証明）")
                }
            }
        }
        ChartTitle::LayerCosts {
            work,
            layer,
            low,
            high,
        } => {
            let lost = super::span(low, high);
            format!("{work}: {layer}を介すと、どの{}も{lost}%低下", things().0)
        }
        ChartTitle::LayerMixed {
            work,
            layer,
            gains,
            losing,
            of,
            low,
            high,
        } => {
            let gains: Vec<String> = gains
                .iter()
                .map(|(card, gain)| format!("{card}は{gain}%上昇"))
                .collect();
            format!(
                "{work}: {layer}を介すと{of}{counter}中{losing}{counter}は{}%低下、{}",
                super::span(low, high),
                gains.join("、"),
                counter = things().1
            )
        }
        ChartTitle::LayerFree { work, layer, cards } => format!(
            "{work}: {layer}を介しても低下なし（全{cards}{}で差は5%以内）",
            things().1
        ),
        ChartTitle::LayerRatios { work, layer } => format!("{work}: {layer}を介したときの速度の比"),
        ChartTitle::Fastest {
            work,
            card,
            next,
            lead,
        } => {
            format!(
                "{work}: {card}が最速、次の{next}の{}倍",
                number::significant(*lead)
            )
        }
        ChartTitle::FastestTie { work, cards } => {
            format!("{work}: {}が上位、互いに有意差なし", some(cards))
        }
        ChartTitle::NoDifference { work, cards } => {
            let (thing, counter) = things();
            format!("{work}: {cards}{counter}の{thing}どうしに有意差なし")
        }
        ChartTitle::OnlyCard { work, value } => format!("{work}: {value}"),
        ChartTitle::LayerLeaves {
            work,
            layer,
            reference,
            share,
        } => {
            format!("{work}: {layer}は{reference}の{}%", number::percent(*share))
        }
        ChartTitle::Amplification { work, low, high } if low == high => {
            format!("{work}: デバイスの書き込み量はアプリケーションの{low}倍")
        }
        ChartTitle::Amplification { work, low, high } => {
            format!("{work}: デバイスの書き込み量はアプリケーションの{low}〜{high}倍")
        }
        ChartTitle::Phases {
            fastest,
            fast,
            slowest,
            slow,
            unit,
        } => format!("{slow} {unit}（{slowest}）〜{fast} {unit}（{fastest}）"),
        ChartTitle::OnlyPhase { phase, value } => format!("{phase}: {value}"),
        ChartTitle::HighestMeans {
            series,
            most,
            phases,
            quantity,
        } => {
            format!("{quantity}: {phases}種類のワークロードのうち{most}種類で{series}の平均が最大")
        }
        ChartTitle::Compared {
            a,
            b,
            faster,
            slower,
            open,
            ratio,
        } => compared(a, b, [*faster, *slower, *open], ratio.as_deref()),
        ChartTitle::ComparedOnce { a, b, low, high } => format!(
            "{b}は{a}の{}倍、各1回の測定のため判定保留",
            super::span(low, high)
        ),
        ChartTitle::Latency { name, p99 } => format!("{name}: I/Oの99%は{p99}以下"),
        ChartTitle::Latencies {
            work,
            percentile,
            low,
            high,
            crossing,
        } => {
            if low.1 == high.1 {
                return format!("{work}: {percentile}はすべて{}", low.1);
            }
            let median = match crossing {
                true => "（中央値は逆）",
                false => "",
            };
            format!(
                "{work}: {percentile}は{} {}、{} {}{median}",
                low.0, low.1, high.0, high.1
            )
        }
        ChartTitle::LatenciesOnly { work } => work.clone(),
        ChartTitle::SlowIos {
            work,
            sync,
            count,
            from,
            when,
        } => {
            let shown = number::grouped(*count);
            format!(
                "{}: {from}以上が{shown}件{}",
                of_syncs(work, *sync),
                slow_when(*when, *count)
            )
        }
        ChartTitle::NoSlowIos { work, sync, limit } => {
            let work = of_syncs(work, *sync);
            match limit {
                Some(limit) => format!("{work}: すべて{limit}未満"),
                None => format!("{work}: 中央値の10倍に達するものなし"),
            }
        }
        ChartTitle::Falls {
            phase,
            before,
            after,
            at,
        } => format!("{phase}: {at}を超えると{before}から{after} MB/sに低下"),
        ChartTitle::SomeFall { phase, falling, of } if falling.len() == *of => {
            format!("{phase}: {of}件すべてで速度が低下し、回復せず")
        }
        ChartTitle::SomeFall { phase, falling, of } => {
            format!(
                "{phase}: {of}件中{}件で速度が低下し、回復せず（{}）",
                falling.len(),
                some(falling)
            )
        }
        ChartTitle::Swings {
            phase,
            low,
            high,
            recoveries,
        } => format!("{phase}: {low}〜{high} MB/sの間で変動、{recoveries}回回復"),
        ChartTitle::Range { phase, low, high } => {
            format!("{phase}: 時間を通して{low}〜{high} MB/s")
        }
        ChartTitle::OverTime { phase } => format!("{phase}: スループットの推移"),
        ChartTitle::Peak {
            quantity,
            line,
            value,
            at,
        } => {
            format!("{quantity}: {at}で最大の{value}{}", of_line(line))
        }
        ChartTitle::SweepRange {
            quantity,
            line,
            from,
            to,
            first,
            last,
        } => {
            format!(
                "{quantity}: {first}の{from}から{last}の{to}へ{}",
                of_line(line)
            )
        }
    }
}

/// The line of a sweep in parentheses; empty if there is only one.
fn of_line(line: &str) -> String {
    match line.is_empty() {
        true => String::new(),
        false => format!("（{line}）"),
    }
}

/// At most three names; of more, their number.
fn some(names: &[String]) -> String {
    match names.len() {
        n if n <= 3 => listed(names),
        n => format!("{n}件"),
    }
}

fn compared(a: &str, b: &str, [faster, slower, open]: [usize; 3], ratio: Option<&str>) -> String {
    let of = faster + slower + open;
    let times = ratio.map_or_else(String::new, |ratio| format!("（{ratio}倍）"));
    match (faster, slower) {
        (1, 0) if open == 0 => format!("{b}は{a}より高速{times}"),
        (0, 1) if open == 0 => format!("{b}は{a}より低速{times}"),
        (0, 0) => format!("{a}と{b}: {of}種類のワークロードに有意差なし"),
        (faster, 0) => format!("{b}は{of}種類のワークロード中{faster}種類で{a}より高速"),
        (0, slower) => format!("{b}は{of}種類のワークロード中{slower}種類で{a}より低速"),
        (faster, slower) => {
            format!("{b}は{of}種類のワークロード中{faster}種類で{a}より高速、{slower}種類で低速")
        }
    }
}

pub(in crate::text) fn bars_note(quantity: &str, runs: &str, marks: BarMarks) -> String {
    let mut parts = vec![match (marks.spread, runs.is_empty()) {
        (_, true) => "棒は平均".to_owned(),
        (false, _) if !marks.rated => format!("棒は{runs}の測定値"),
        _ => format!("棒は{runs}の平均"),
    }];
    if marks.spread {
        parts.push("線は±1標準偏差".to_owned());
    }
    if marks.runs {
        parts.push("点は各回".to_owned());
    }
    if marks.boxes {
        parts.push("箱は四分位範囲".to_owned());
    }
    if marks.rated {
        parts.push("縦線は公称速度".to_owned());
    }
    if marks.letters {
        let color = ["", "同じ色・"][usize::from(marks.letters_by_color)];
        parts.push(format!("{color}同じ文字の{}どうしに有意差なし", things().0));
    }
    format!("{quantity}。{}", parts.join("、"))
}

pub(in crate::text) fn runs_between(least: u64, most: u64) -> String {
    match (least, most) {
        (0, 0) => String::new(),
        (least, most) if least == most => format!("{}回", number::grouped(least)),
        (least, most) => format!("{}〜{}回", number::grouped(least), number::grouped(most)),
    }
}

pub(in crate::text) fn simulated_source() -> &'static str {
    "シミュレーション（実測値ではない）"
}

pub(in crate::text) fn chart_source_line(
    runs: &str,
    conditions: &[String],
    origin: &[String],
    days: &str,
) -> String {
    let labeled = |label: &str, text: String| match text.is_empty() {
        true => text,
        false => format!("{label}: {text}"),
    };
    let first = [labeled("測定回数", runs.to_owned())];
    let last = [labeled("出典", listed(origin)), days.to_owned()];
    let parts = [&first[..], conditions, &last].concat();
    let known: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    known.join(" · ")
}

pub(in crate::text) fn latency_note() -> &'static str {
    "レイテンシがこの値以下のI/Oの割合（全測定の合算、両対数軸）。線は、I/O数が十分な最後のパーセンタイルで終わる"
}

pub(in crate::text) fn over_time_note(
    drawn: usize,
    of: usize,
    single: bool,
    median: bool,
    by_bytes: bool,
    shortened: bool,
) -> String {
    let mut parts = vec![match (median, single) {
        (true, _) => "MB/s。細い線は各回、太い線は中央値".to_owned(),
        (false, true) => "MB/s。線は各回".to_owned(),
        (false, false) => "MB/s。線は各回（線種は測定シリーズごと）".to_owned(),
    }];
    if by_bytes {
        parts.push("キャッシュは時間ではなく書き込み量で尽きるため、横軸は書き込み量".to_owned());
    }
    if drawn < of {
        parts.push(format!(
            "{}回のうち{drawn}回を表示",
            number::grouped(of as u64)
        ));
    }
    if shortened {
        parts.push("通常の半分より短い最後の区間は省略".to_owned());
    }
    parts.join("。")
}

pub(in crate::text) fn level(value: &str) -> String {
    format!("{value} MB/s")
}

pub(in crate::text) fn run_order(series: Option<&str>, of: RunOrder) -> String {
    let of = match of {
        RunOrder::Median => median_of_runs(),
        RunOrder::Slowest => "各時点の最低",
        RunOrder::Fastest => "各時点の最高",
    };
    series.map_or_else(|| of.to_owned(), |series| format!("{series}、{of}"))
}

pub(in crate::text) fn median_of_runs() -> &'static str {
    "中央値"
}

pub(in crate::text) fn sweep_axis(axis: SweepAxis) -> &'static str {
    match axis {
        SweepAxis::BlockSize => "ブロックサイズ",
        SweepAxis::QueueDepth => "キュー深度",
        SweepAxis::Jobs => "ジョブ数",
        SweepAxis::FillLevel => "ファイルシステムの使用率 %",
        SweepAxis::Date => "日付",
    }
}

pub(in crate::text) fn sweep_value(axis: SweepAxis, value: f64, alone: bool) -> String {
    let number = number::exact(value, 3);
    match (axis, alone) {
        (_, false) => number,
        (SweepAxis::QueueDepth, true) => format!("QD{number}"),
        (SweepAxis::Jobs, true) => format!("{number}ジョブ"),
        (SweepAxis::FillLevel, true) => format!("使用率{number}%"),
        (SweepAxis::BlockSize | SweepAxis::Date, true) => number,
    }
}

pub(in crate::text) fn sweep_note(quantity: &str, runs: &str, spread: bool) -> String {
    let runs = match runs.is_empty() {
        true => "点は平均".to_owned(),
        false => format!("点は{runs}の平均"),
    };
    let whisker = if spread {
        "、縦線は95%信頼区間"
    } else {
        ""
    };
    format!("{quantity}。{runs}{whisker}")
}

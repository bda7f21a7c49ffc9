//! Sentences about differences between the paths of several runs, what limits them, and their tables.

use super::failures::operation as op_name;
use super::path::{io_class, of_difference};
use super::{listed, time_part, traced_operation};
use crate::number;
use crate::path::cards::CostColumn;
use crate::text::{DeviceSplitText, LongerText, signed_nanos, signed_time};
use hakaru_model::claim::Bottleneck;
use hakaru_model::io_path::{
    BusUse, DifferencePart, IoClass, OperationDifference, PathFigure, PathLimit, PriceModel,
    PriceRefusal, TimeDifference,
};
use hakaru_model::job::Op;

pub(in crate::text) fn path_limit(
    limit: PathLimit,
    share: f64,
    runs: usize,
    bus_is_limit: bool,
) -> String {
    let share = share.clamp(0.0, 1.0);
    let (busy, idle) = (number::percent(share), number::percent(1.0 - share));
    let mean = match runs {
        0 | 1 => String::new(),
        runs => format!("（トレースした{runs}回の平均）"),
    };
    let limit = match limit {
        PathLimit::Device if bus_is_limit => "デバイスまたはバスが律速",
        PathLimit::Device => "デバイスが律速",
        PathLimit::Host => "ホストが律速",
        PathLimit::Both => "律速要因はデバイスだけでもホストだけでもない",
    };
    format!("{limit}。デバイスは測定時間の{busy}%で処理中、{idle}%でホスト待ち{mean}")
}

pub(in crate::text) fn bus_use(of: &BusUse, share: f64) -> String {
    let (speed, ceiling, share) = (of.speed, of.ceiling, number::percent(share));
    match of.limit {
        Bottleneck::Host => format!("バスが律速。転送速度{speed}は上限{ceiling}の{share}%"),
        Bottleneck::Card => {
            format!("バスは律速要因ではない。転送速度{speed}は上限{ceiling}の{share}%")
        }
        Bottleneck::Unclear => {
            format!("バスも律速要因の可能性あり。転送速度{speed}は上限{ceiling}の{share}%")
        }
        Bottleneck::Contradiction => {
            format!("転送速度{speed}がバスの上限{ceiling}を超過。バスの情報に誤りあり")
        }
    }
}

pub(in crate::text) fn path_limit_name(limit: PathLimit) -> &'static str {
    match limit {
        PathLimit::Device => "デバイス",
        PathLimit::Host => "ホスト",
        PathLimit::Both => "一方ではない",
    }
}

pub(in crate::text) fn waited_behind(
    operation: &str,
    total: f64,
    classes: &[(IoClass, f64)],
) -> String {
    let classes: Vec<String> = classes
        .iter()
        .map(|&(class, nanos)| format!("{}{}%", io_class(class), number::percent(nanos / total)))
        .collect();
    format!(
        "{operation}は平均{}、デバイスが先行するリクエストを処理する間待った（{}）",
        number::nanos(total),
        listed(&classes)
    )
}

pub(in crate::text) fn shown_of_traced(shown: usize, runs: usize) -> String {
    format!(
        "図はトレースした{runs}回のうち{shown}回目（平均レイテンシが中央値に最も近い測定）。差と区間つきの値は{runs}回すべてから計算"
    )
}

pub(in crate::text) fn takes_longer(of: &LongerText<'_>) -> String {
    let part = |&(part, nanos): &(DifferencePart, f64)| {
        let name = of_difference(part, of.journal);
        match of.shares {
            true => {
                let share = number::percent(nanos / of.difference);
                format!("{name}が{}%", share.replace('-', "−"))
            }
            false => format!("{name} {}", signed_nanos(nanos)),
        }
    };
    let parts: Vec<String> = of.parts.iter().map(part).collect();
    let interval = of.ends.map_or_else(String::new, |(low, high)| {
        let (low, high) = (number::nanos(low), number::nanos(high));
        format!("（95%信頼区間 {low}〜{high}）")
    });
    let (slow, fast) = of.names;
    let (begin, is_longer) = match of.ends {
        Some(_) => ("", "長い"),
        None => (
            "トレースが1回だけの側があり、有意差は判定できない: ",
            "長かった",
        ),
    };
    format!(
        "{begin}{}の時間は{slow}のほうが{fast}より{}{is_longer}{interval}。内訳: {}",
        of.operation,
        number::nanos(of.difference),
        listed(&parts)
    )
}

pub(in crate::text) fn no_difference_of_times(
    operation: &str,
    (base, other): (&str, &str),
    difference: &TimeDifference,
    runs: (u32, u32),
) -> String {
    format!(
        "{operation}の時間に{base}と{other}の有意差はない（{}、トレース{}回と{}回）",
        signed_time(difference),
        runs.0,
        runs.1
    )
}

pub(in crate::text) fn device_split(of: &DeviceSplitText<'_>) -> String {
    let split = &of.split;
    let total = split.total();
    let more = match of.op {
        Op::Read => "読み込みの増加",
        Op::Write => "書き込みの増加",
        Op::Trim => "TRIMの増加",
    };
    let prices = format!(
        "RAWデバイスのトレース{}回から求めた単価、誤差は最大{}%",
        split.runs,
        number::percent(split.misfit)
    );
    let (slow, fast) = of.names;
    let time = number::nanos(total);
    let parts = match of.shares {
        true => {
            let share = |nanos: f64| number::percent(nanos / total).replace('-', "−");
            format!(
                "{more}が{}%（リクエスト数{}%、バイト数{}%）、シークが{}%",
                share(split.requests + split.bytes),
                share(split.requests),
                share(split.bytes),
                share(split.jumps)
            )
        }
        false => format!(
            "リクエスト数 {}、バイト数 {}、シーク {}",
            signed_nanos(split.requests),
            signed_nanos(split.bytes),
            signed_nanos(split.jumps)
        ),
    };
    let rest = match split.remainder.abs() > 0.005 * total.abs() {
        true => format!("、説明できない残り {}", signed_nanos(split.remainder)),
        false => String::new(),
    };
    format!("{slow}は{fast}よりデバイスの時間が{time}長い。内訳: {parts}{rest}（{prices}）")
}

pub(in crate::text) fn price_refusal(op: Op, refusal: PriceRefusal) -> String {
    let because = match refusal {
        PriceRefusal::TooFewRuns { runs, needed } => format!(
            "リクエスト、バイト、シークの単価には{}だけのRAWデバイスのトレースが{needed}回必要で、{runs}回しかない",
            op_name(op)
        ),
        PriceRefusal::Indistinct => {
            "RAWデバイスのトレースが似すぎていて、リクエスト、バイト、シークの単価を分けられない"
                .to_owned()
        }
        PriceRefusal::Misfit { misfit } => format!(
            "RAWデバイスのトレースに合わせた単価の誤差が最大{}%で、限度の{}%を超える",
            number::percent(misfit),
            number::percent(PriceModel::MISFIT_LIMIT)
        ),
    };
    format!(
        "{}のデバイス時間は量の増加とシークに分けない（{because}）",
        op_name(op)
    )
}

pub(in crate::text) fn sum_of_parts(of: &OperationDifference, runs: (u32, u32)) -> String {
    let ratio = match of.base > 0.0 {
        true => format!("、{}倍", number::significant(of.other / of.base)),
        false => String::new(),
    };
    let intervals = match (of.total.ci95, runs) {
        (Some(_), (a, b)) => format!("角括弧内はトレース{a}回と{b}回の95%信頼区間。"),
        (None, (a, b)) => format!("トレース{a}回と{b}回のため区間なし。"),
    };
    let sign = if of.total.value < 0.0 { "−" } else { "+" };
    format!(
        "平均時間の差の内訳。内訳の合計は測定値に一致: {} {sign} {} = {}{ratio}。{intervals}",
        number::nanos(of.base),
        number::nanos(of.total.value.abs()),
        number::nanos(of.other)
    )
}

pub(in crate::text) fn difference_title(operation: &str, other: &str, base: &str) -> String {
    format!("{operation}の時間、{base}に対する{other}の差")
}

pub(in crate::text) fn against(other: &str, base: &str) -> String {
    format!("{base}と{other}の比較")
}

pub(in crate::text) fn smaller_parts(count: usize) -> String {
    format!("その他の小さな差（{count}件）")
}

pub(in crate::text) fn sum() -> &'static str {
    "合計"
}

pub(in crate::text) fn part_table_heads() -> [&'static str; 2] {
    ["内訳", "差"]
}

pub(in crate::text) fn path_figure(figure: PathFigure, journal: bool) -> String {
    match figure {
        PathFigure::RequestsPerIo { op } => format!("{}1回あたりのリクエスト", op_name(op)),
        PathFigure::Amplification { op } => {
            format!("1バイトあたりのデバイスのバイト数、{}", op_name(op))
        }
        PathFigure::FlushesPerIo => "I/O 1回あたりのキャッシュフラッシュ".to_owned(),
        PathFigure::DeviceShare => "デバイスが処理中の割合".to_owned(),
        PathFigure::Latency { op, with_sync } => {
            format!("平均レイテンシ、{}", traced_operation(op, with_sync))
        }
        PathFigure::Part { part, .. } => time_part(part, journal).to_owned(),
    }
}

pub(in crate::text) fn figure_table_names() -> [&'static str; 4] {
    ["項目", "トレースした回数", "律速要因", "平均[95%]"]
}

pub(in crate::text) fn class_table_title(phase: &str, side: &str) -> String {
    match side.is_empty() {
        true => format!("種類別のリクエスト、{phase}"),
        false => format!("種類別のリクエスト、{phase}、{side}"),
    }
}

pub(in crate::text) fn figure_table_title(phase: &str) -> String {
    format!("トレースした測定の値、{phase}")
}

pub(in crate::text) fn identity_table_title(phase: &str) -> String {
    format!("差の検算、{phase}")
}

pub(in crate::text) fn class_table_heads(operation: &str) -> [String; 12] {
    [
        "種類".to_owned(),
        "リクエスト".to_owned(),
        "I/O 1回あたり".to_owned(),
        "バイト".to_owned(),
        "割合".to_owned(),
        "キュー、中央値".to_owned(),
        "デバイス、中央値".to_owned(),
        "デバイス、P99".to_owned(),
        format!("{operation}のデバイス時間"),
        "先行する他のリクエスト".to_owned(),
        "結合 / 分割".to_owned(),
        "コマンド".to_owned(),
    ]
}

pub(in crate::text) fn identity_table_heads() -> [&'static str; 7] {
    [
        "比",
        "要求1バイトあたりの時間",
        "要求1バイトあたりの転送バイト",
        "転送1バイトあたりのデバイス時間",
        "フラッシュ",
        "ホスト待ち",
        "積",
    ]
}

pub(in crate::text) fn identity_note() -> &'static str {
    "トレースした時間の比は4つの比の積に等しい。上の差の検算であり、それぞれの原因にかかる時間を示すものではない。"
}

pub(in crate::text) fn depth_title(side: &str, mean: f64) -> String {
    format!(
        "処理中のリクエストは平均{}件{side}",
        number::significant(mean)
    )
}

pub(in crate::text) fn depth_note(steps: usize) -> String {
    format!(
        "キュー深度の推移。デバイス上とブロック層のキューにあるリクエスト、{}区間それぞれの平均",
        number::grouped(steps as u64)
    )
}

pub(in crate::text) fn on_the_device() -> &'static str {
    "デバイス上"
}

pub(in crate::text) fn in_the_queue() -> &'static str {
    "ブロック層のキュー"
}

pub(in crate::text) fn depth_table_heads() -> [&'static str; 3] {
    ["時間", in_the_queue(), on_the_device()]
}

pub(in crate::text) fn on_side(side: &str) -> String {
    match side.is_empty() {
        true => String::new(),
        false => format!("（{side}）"),
    }
}

pub(in crate::text) fn raw_device() -> &'static str {
    "RAWデバイス"
}

pub(in crate::text) fn takes_the_same(operation: &str, (a, b): (&str, &str), nanos: f64) -> String {
    let time = number::nanos(nanos);
    format!("{operation}の時間は{a}と{b}で同じ（{time}、差は1%以内）")
}

pub(in crate::text) fn path_costs_title() -> &'static str {
    "レイヤの差の理由"
}

pub(in crate::text) fn path_costs_note() -> &'static str {
    "トレースした測定での操作の平均時間の差とその内訳。各行の内訳の合計は差に等しい。角括弧内は95%信頼区間（両方のレイヤに複数のトレースがある場合）。"
}

pub(in crate::text) fn cost_column(column: CostColumn) -> &'static str {
    match column {
        CostColumn::Data => "デバイス: データ",
        CostColumn::OtherClasses => "デバイス: ジャーナル、メタデータ",
        CostColumn::Flush => "デバイス: フラッシュ",
        CostColumn::Waiting => "先行するI/Oの完了待ち",
        CostColumn::Queue => "ブロック層のキュー",
        CostColumn::WakeUp => "スレッドの起床",
        CostColumn::Host => "ファイルシステム、ジャーナルスレッド",
    }
}

pub(in crate::text) fn cost_heads() -> [&'static str; 4] {
    ["レイヤ", "ワークロード", "差", "比"]
}

pub(in crate::text) fn cost_ends() -> [&'static str; 2] {
    ["デバイスが処理中", "律速要因"]
}

pub(in crate::text) fn charts_of_card(card: &str) -> String {
    format!("グラフは{card}。他のカードは下に文章で示す。")
}

pub(in crate::text) fn path_of_card(card: &str) -> String {
    format!("I/Oの経路、{card}")
}

pub(in crate::text) fn seconds_range(begin: &str, end: &str) -> String {
    format!("{begin}〜{end}秒")
}

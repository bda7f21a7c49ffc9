//! The sentence that ends a comparison of two sides.

use crate::escape::plain;
use crate::number;
use crate::text::is_thin;
use crate::workload::in_words;
use hakaru_model::conclusion::{ConcludedRate, FasterSide, PairConclusion, SingleRuns};
use hakaru_model::job::Op;

pub(in crate::text) fn conclusion_of_pair() -> &'static str {
    "概要"
}

pub(in crate::text) fn pair_conclusion(conclusion: &PairConclusion, names: (&str, &str)) -> String {
    match conclusion {
        PairConclusion::Faster(found) => faster(found, names),
        PairConclusion::Equivalent { of } => {
            let all = match of {
                1 => String::new(),
                of => format!("{of}項目すべてが"),
            };
            format!("差なし: {all}5%以内で同等（検定で有意）")
        }
        PairConclusion::Single(found) => single(found, names),
        PairConclusion::Open {
            rate,
            needed,
            level,
            of,
        } => {
            let ratio = number::significant(rate.ratio);
            let workload = workload(rate);
            let (first, second) = names;
            let (several, largest) = match (of, level) {
                (1, _) => (String::new(), ""),
                (of, 0) => (format!("（{of}項目）"), "最大の差は"),
                (of, level) => (
                    format!("（{of}項目中{level}項目は5%以内で同等）"),
                    "ほかで最大の差は",
                ),
            };
            let interval = rate.ratio_ci95.map_or_else(String::new, interval);
            let proof = match needed {
                Some(needed) => format!("示すには各約{needed}回の測定が必要"),
                None => "測定回数の追加が必要".to_owned(),
            };
            format!(
                "有意差なし{several}。{largest}{workload}で、{second}は{first}の{ratio}倍{interval}。{proof}"
            )
        }
    }
}

fn single(found: &SingleRuns, (first, second): (&str, &str)) -> String {
    let SingleRuns {
        lowest,
        highest,
        higher,
        of,
    } = found;
    // A single run does not support more digits.
    let ratio = |rate: &ConcludedRate| {
        let ratio = number::significant_digits(rate.ratio, 2);
        format!("{}で{ratio}倍", workload(rate))
    };
    let mut text = format!("{second}の速度は{first}に対し、{}", ratio(highest));
    if lowest != highest {
        let is_much_lower = lowest.ratio < f64::midpoint(1.0, highest.ratio);
        text += &match is_much_lower {
            true => format!(
                "だが、{}では{}倍にとどまる",
                workload(lowest),
                number::significant_digits(lowest.ratio, 2)
            ),
            false => format!("、{}", ratio(lowest)),
        };
    }
    if *of > 1 {
        text += &match higher == of {
            true => format!("。{of}項目すべてで高速"),
            false => format!("。{of}項目中{higher}項目で高速"),
        };
    }
    text + "。測定は1回ずつで検定なし"
}

fn faster(found: &FasterSide, (first, second): (&str, &str)) -> String {
    let FasterSide {
        second: is_second,
        rate,
        deviation,
        faster,
        slower,
        of,
    } = found;
    let (a, b) = match is_second {
        true => (second, first),
        false => (first, second),
    };
    let is_thin = is_thin(rate);
    let deviation = deviation.filter(|_| !is_thin);
    let ratio = number::MeanText::of_parts(rate.ratio, deviation, 1.0);
    let interval = rate.ratio_ci95.map_or_else(String::new, interval);
    let proof = match is_thin {
        true => "正規分布に従う場合に限り有意差あり",
        false => "有意差あり",
    };
    let mut text = format!(
        "{a}の{}は{b}の{ratio}倍の速さ（{}、{proof}{interval}）",
        workload(rate),
        sides(rate)
    );
    let open = of - faster - slower;
    if *of > 1 {
        text += &format!("。{of}項目中{faster}項目で高速");
        if *slower > 0 {
            text += &format!("、{slower}項目で低速");
        }
        if open > 0 {
            text += &format!("、{open}項目は有意差なし");
        }
    }
    text
}

/// The means and the runs behind a ratio: `670対343 IOPS、n = 2`.
fn sides(rate: &ConcludedRate) -> String {
    let (unit, scale) = match rate.by_iops {
        true => ("IOPS", 1.0),
        false => ("MB/s", 1e6),
    };
    let [slower, faster] = rate.means.map(|mean| number::quantity(mean / scale));
    let runs = match rate.runs {
        [a, b] if a == b => format!("n = {a}"),
        [slower, faster] => format!("n = {faster}と{slower}"),
    };
    format!("{faster}対{slower} {unit}、{runs}")
}

fn interval(ends: (f64, f64)) -> String {
    let (low, high) = crate::compare::ratio_ends(ends);
    format!("、95%信頼区間[{low}, {high}]")
}

fn workload(rate: &ConcludedRate) -> String {
    let own = in_words(&rate.phase, Some(rate.op));
    if let Some(own) = own.filter(|_| rate.ambiguous) {
        return own;
    }
    let name = plain(&rate.phase);
    let Some(shape) = rate.shape else {
        return name;
    };
    let op = match rate.op {
        Op::Read => "読み込み",
        Op::Write => "書き込み",
        Op::Trim => "TRIM",
    };
    let mixed = match shape.read_percent {
        0 | 100 => "",
        _ => "読み書き混合の",
    };
    let order = match shape.random {
        true => "ランダム",
        false => "シーケンシャル",
    };
    let kind = match shape.sync_every > 0 || shape.sync_open {
        true => format!("{mixed}fsync付き{op}"),
        false => format!("{mixed}{order}{op}"),
    };
    match rate.ambiguous {
        true => format!("{kind}（{name}）"),
        false => kind,
    }
}

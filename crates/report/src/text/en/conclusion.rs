//! The sentence that ends a comparison of two sides.

use super::counted;
use crate::escape::plain;
use crate::number;
use crate::text::is_thin;
use crate::workload::in_words;
use hakaru_model::conclusion::{ConcludedRate, FasterSide, PairConclusion, SingleRuns};
use hakaru_model::job::Op;

pub(in crate::text) fn conclusion_of_pair() -> &'static str {
    "In short"
}

pub(in crate::text) fn pair_conclusion(conclusion: &PairConclusion, names: (&str, &str)) -> String {
    match conclusion {
        PairConclusion::Faster(found) => faster(found, names),
        PairConclusion::Equivalent { of } => format!(
            "No difference: {} {} the same within 5% (proven)",
            counted(u64::from(*of), "rate"),
            if *of == 1 { "is" } else { "are" }
        ),
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
            let several = match (of, level) {
                (1, _) => String::new(),
                (of, 0) => format!(" for any of {of} rates; largest"),
                (of, level) => {
                    format!(": {level} of {of} rates are the same within 5%; largest other")
                }
            };
            let interval = rate.ratio_ci95.map_or_else(String::new, interval);
            let proof = match needed {
                Some(needed) => format!("about {needed} runs each would show it"),
                None => "more runs are needed".to_owned(),
            };
            format!(
                "No difference is proven{several}: {workload}, {second} at {ratio}× {first}{interval}; {proof}"
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
    let ratio = |rate: &ConcludedRate| format!("{}×", number::significant_digits(rate.ratio, 2));
    let (high, of_high) = (ratio(highest), workload(highest));
    let mut text = format!("{second} measured {high} {first} for {of_high}");
    if lowest != highest {
        let only = match lowest.ratio < f64::midpoint(1.0, highest.ratio) {
            true => "only ",
            false => "",
        };
        text += &format!(", {only}{} for {}", ratio(lowest), workload(lowest));
    }
    if *of > 1 {
        text += &format!("; higher in {higher} of {of} rates");
    }
    text + "; one run each, not tested"
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
        true => "proven only if such runs vary normally",
        false => "proven",
    };
    let mut text = format!(
        "{a} does {} {ratio} times as fast as {b} ({}; {proof}{interval})",
        workload(rate),
        sides(rate)
    );
    let open = of - faster - slower;
    if *of > 1 {
        text += &format!("; faster in {faster} of {of} rates");
        if *slower > 0 {
            text += &format!(", slower in {slower}");
        }
        if open > 0 {
            text += &format!(", not proven in {open}");
        }
    }
    text
}

/// The means and the runs behind a ratio: `670 vs. 343 IOPS, n = 2`.
fn sides(rate: &ConcludedRate) -> String {
    let (unit, scale) = match rate.by_iops {
        true => ("IOPS", 1.0),
        false => ("MB/s", 1e6),
    };
    let [slower, faster] = rate.means.map(|mean| number::quantity(mean / scale));
    let runs = match rate.runs {
        [a, b] if a == b => format!("n = {a}"),
        [slower, faster] => format!("n = {faster} and {slower}"),
    };
    format!("{faster} vs. {slower} {unit}, {runs}")
}

fn interval(ends: (f64, f64)) -> String {
    let (low, high) = crate::compare::ratio_ends(ends);
    format!(", 95% interval [{low}, {high}]")
}

/// The kind of a workload: `sequential writes`, `random reads`, `writes with fsync`.
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
        Op::Read => "reads",
        Op::Write => "writes",
        Op::Trim => "trims",
    };
    let mixed = match shape.read_percent {
        0 | 100 => "",
        _ => "mixed ",
    };
    let order = if shape.random { "random" } else { "sequential" };
    let kind = match shape.sync_every > 0 || shape.sync_open {
        true => format!("{mixed}{op} with fsync"),
        false => format!("{mixed}{order} {op}"),
    };
    match rate.ambiguous {
        true => format!("{kind} ({name})"),
        false => kind,
    }
}

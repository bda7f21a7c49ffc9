//! Sentences about differences between the paths of several runs, what limits them, and their tables.

use super::path::{io_class, of_difference};
use super::{counted, listed, time_part, traced_operation};
use crate::number;
use crate::path::cards::CostColumn;
use crate::text::{DeviceSplitText, LongerText, signed_nanos, signed_time};
use hakaru_model::claim::Bottleneck;
use hakaru_model::io_path::{
    BusUse, DifferencePart, IoClass, OperationDifference, PathFigure, PathLimit, PriceModel,
    PriceRefusal, TimeDifference,
};
use hakaru_model::job::Op;

/// Requests of others that an I/O waited behind, by class.
pub(super) fn others_requests(class: IoClass) -> String {
    match class {
        IoClass::Data => "other data".to_owned(),
        IoClass::Unknown => "requests that are not attributed".to_owned(),
        class => format!("the {}", io_class(class)),
    }
}

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
        runs => format!(" (mean of {runs} traced runs)"),
    };
    match limit {
        PathLimit::Device => format!(
            "The device{} is the limit: it had work during {busy}% of the time, and waited for the host during {idle}%{mean}",
            if bus_is_limit { " or its bus" } else { "" }
        ),
        PathLimit::Host => format!(
            "The host is the limit: the device waited for the host during {idle}% of the time, and had work during \
             {busy}%{mean}"
        ),
        PathLimit::Both => format!(
            "Neither device nor host is the only limit: the device had work during {busy}% of the time, and waited for \
             the host during {idle}%{mean}"
        ),
    }
}

pub(in crate::text) fn bus_use(of: &BusUse, share: f64) -> String {
    let (speed, ceiling, share) = (of.speed, of.ceiling, number::percent(share));
    match of.limit {
        Bottleneck::Host => {
            format!("The bus is the limit: it carried {speed}, {share}% of its maximum {ceiling}")
        }
        Bottleneck::Card => format!(
            "The bus is not the limit: it carried {speed}, {share}% of its maximum {ceiling}"
        ),
        Bottleneck::Unclear => format!(
            "The bus may be a part of the limit: it carried {speed}, {share}% of its maximum {ceiling}"
        ),
        Bottleneck::Contradiction => format!(
            "The bus carried {speed}, over its maximum {ceiling}: the facts about the bus are wrong"
        ),
    }
}

pub(in crate::text) fn path_limit_name(limit: PathLimit) -> &'static str {
    match limit {
        PathLimit::Device => "device",
        PathLimit::Host => "host",
        PathLimit::Both => "neither alone",
    }
}

pub(in crate::text) fn waited_behind(
    operation: &str,
    total: f64,
    classes: &[(IoClass, f64)],
) -> String {
    let classes: Vec<String> = classes
        .iter()
        .map(|&(class, nanos)| {
            let share = number::percent(nanos / total);
            format!("{share}% behind {}", others_requests(class))
        })
        .collect();
    format!(
        "On average, a {operation} waited {} while the device served requests of others: {}",
        number::nanos(total),
        listed(&classes)
    )
}

pub(in crate::text) fn shown_of_traced(shown: usize, runs: usize) -> String {
    format!(
        "Pictures show traced run {shown} of {runs}, whose mean latency is nearest to the median; differences and figures \
         with intervals are of all {runs}"
    )
}

pub(in crate::text) fn takes_longer(of: &LongerText<'_>) -> String {
    let part = |&(part, nanos): &(DifferencePart, f64)| {
        let name = of_difference(part, of.journal);
        match of.shares {
            true => {
                let share = number::percent(nanos / of.difference);
                format!("{}% is {name}", share.replace('-', "−"))
            }
            false => format!("{} {name}", signed_nanos(nanos)),
        }
    };
    let parts: Vec<String> = of.parts.iter().map(part).collect();
    let interval = of.ends.map_or_else(String::new, |(low, high)| {
        let (low, high) = (number::nanos(low), number::nanos(high));
        format!(" (95% interval {low} to {high})")
    });
    let begin = match of.ends {
        Some(_) => format!("A {} takes", of.operation),
        None => format!(
            "One traced run on a side proves no difference: a {} took",
            of.operation
        ),
    };
    format!(
        "{begin} {} longer{interval} on {} than on {}: {}",
        number::nanos(of.difference),
        of.names.0,
        of.names.1,
        parts.join(", ")
    )
}

pub(in crate::text) fn no_difference_of_times(
    operation: &str,
    (base, other): (&str, &str),
    difference: &TimeDifference,
    runs: (u32, u32),
) -> String {
    format!(
        "No difference is proven for a {operation} on {other} against {base}: {} ({} and {} traced runs)",
        signed_time(difference),
        runs.1,
        runs.0
    )
}

pub(in crate::text) fn device_split(of: &DeviceSplitText<'_>) -> String {
    let split = &of.split;
    let total = split.total();
    let more = match of.op {
        Op::Read => "reading more",
        Op::Write => "writing more",
        Op::Trim => "trimming more",
    };
    let prices = format!(
        "prices fitted to {} of the raw device, missed by at most {}%",
        counted(u64::from(split.runs), "traced run"),
        number::percent(split.misfit)
    );
    let (slow, fast) = of.names;
    let time = number::nanos(total);
    let text = match of.shares {
        true => {
            let share = |nanos: f64| number::percent(nanos / total).replace('-', "−");
            format!(
                "{}% is {more} ({}% more requests, {}% more bytes), {}% is seeking",
                share(split.requests + split.bytes),
                share(split.requests),
                share(split.bytes),
                share(split.jumps)
            )
        }
        false => format!(
            "{} more requests, {} more bytes, {} seeking",
            signed_nanos(split.requests),
            signed_nanos(split.bytes),
            signed_nanos(split.jumps)
        ),
    };
    let rest = match split.remainder.abs() > 0.005 * total.abs() {
        true => format!(", {} not explained", signed_nanos(split.remainder)),
        false => String::new(),
    };
    format!(
        "Of the {time} that {slow} spends more on the device than {fast}, {text}{rest} ({prices})"
    )
}

pub(in crate::text) fn price_refusal(op: Op, refusal: PriceRefusal) -> String {
    let because = match refusal {
        PriceRefusal::TooFewRuns { runs, needed } => format!(
            "prices of requests, bytes and jumps need {needed} traced raw runs of {}s only, and there are {runs}",
            op.name()
        ),
        PriceRefusal::Indistinct => {
            "the traced raw runs are too alike to tell the prices of requests, bytes and jumps apart".to_owned()
        }
        PriceRefusal::Misfit { misfit } => format!(
            "prices fitted to the traced raw runs miss them by up to {}%, over the limit of {}%",
            number::percent(misfit),
            number::percent(PriceModel::MISFIT_LIMIT)
        ),
    };
    format!(
        "Device time of {}s is not divided into writing more and seeking: {because}",
        op.name()
    )
}

pub(in crate::text) fn sum_of_parts(of: &OperationDifference, runs: (u32, u32)) -> String {
    let ratio = match of.base > 0.0 {
        true => format!(", {}x", number::significant(of.other / of.base)),
        false => String::new(),
    };
    let intervals = match (of.total.ci95, runs) {
        (Some(_), (a, b)) => format!(" In brackets: 95% intervals of {a} against {b} traced runs."),
        (None, (a, b)) => format!(" No intervals: {a} against {b} traced runs."),
    };
    let sign = if of.total.value < 0.0 { "−" } else { "+" };
    format!(
        "Difference of the mean times by part. The parts add up: {} {sign} {} = {}{ratio}.{intervals}",
        number::nanos(of.base),
        number::nanos(of.total.value.abs()),
        number::nanos(of.other)
    )
}

pub(in crate::text) fn difference_title(operation: &str, other: &str, base: &str) -> String {
    format!("Time of a {operation} on {other} against {base}")
}

pub(in crate::text) fn against(other: &str, base: &str) -> String {
    format!("{other} against {base}")
}

pub(in crate::text) fn smaller_parts(count: usize) -> String {
    format!("Smaller parts ({count})")
}

pub(in crate::text) fn sum() -> &'static str {
    "Sum"
}

pub(in crate::text) fn part_table_heads() -> [&'static str; 2] {
    ["Part", "Difference"]
}

pub(in crate::text) fn path_figure(figure: PathFigure, journal: bool) -> String {
    match figure {
        PathFigure::RequestsPerIo { op } => format!("Requests per {}", op.name()),
        PathFigure::Amplification { op } => format!("Bytes at the device per byte, {}", op.name()),
        PathFigure::FlushesPerIo => "Cache flushes per I/O".to_owned(),
        PathFigure::DeviceShare => "Device had work".to_owned(),
        PathFigure::Latency { op, with_sync } => {
            format!("Mean latency, {}", traced_operation(op, with_sync))
        }
        PathFigure::Part { part, .. } => time_part(part, journal).to_owned(),
    }
}

pub(in crate::text) fn figure_table_names() -> [&'static str; 4] {
    ["Figure", "Traced runs", "Limit", "Mean [95%]"]
}

pub(in crate::text) fn class_table_title(phase: &str, side: &str) -> String {
    match side.is_empty() {
        true => format!("Requests by class, {phase}"),
        false => format!("Requests by class, {phase}, {side}"),
    }
}

pub(in crate::text) fn figure_table_title(phase: &str) -> String {
    format!("Figures of the traced runs, {phase}")
}

pub(in crate::text) fn identity_table_title(phase: &str) -> String {
    format!("Check of the differences, {phase}")
}

pub(in crate::text) fn class_table_heads(operation: &str) -> [String; 12] {
    [
        "Class".to_owned(),
        "Requests".to_owned(),
        "per I/O".to_owned(),
        "Bytes".to_owned(),
        "Share".to_owned(),
        "Queue, median".to_owned(),
        "Device, median".to_owned(),
        "Device, P99".to_owned(),
        format!("Device time of a {operation}"),
        "Others waited behind".to_owned(),
        "Merged / split".to_owned(),
        "Commands".to_owned(),
    ]
}

pub(in crate::text) fn identity_table_heads() -> [&'static str; 7] {
    [
        "Ratio",
        "Time per byte asked",
        "Bytes moved per byte asked",
        "Device time per byte moved",
        "Flushes",
        "Waiting for the host",
        "Product",
    ]
}

pub(in crate::text) fn identity_note() -> &'static str {
    "The ratio of the traced times is the product of four ratios. They check the sums above; they do not say how much time \
     a cause takes."
}

pub(in crate::text) fn depth_title(side: &str, mean: f64) -> String {
    format!(
        "{} requests in flight on average{side}",
        number::significant(mean)
    )
}

pub(in crate::text) fn depth_note(steps: usize) -> String {
    format!(
        "Queue depth over time: requests on the device and in the block queue, mean over each of {} steps",
        number::grouped(steps as u64)
    )
}

pub(in crate::text) fn on_the_device() -> &'static str {
    "On the device"
}

pub(in crate::text) fn in_the_queue() -> &'static str {
    "In the block queue"
}

pub(in crate::text) fn depth_table_heads() -> [&'static str; 3] {
    ["Time", in_the_queue(), on_the_device()]
}

pub(in crate::text) fn on_side(side: &str) -> String {
    match side.is_empty() {
        true => String::new(),
        false => format!(" on {side}"),
    }
}

pub(in crate::text) fn raw_device() -> &'static str {
    "the raw device"
}

pub(in crate::text) fn takes_the_same(operation: &str, (a, b): (&str, &str), nanos: f64) -> String {
    let time = number::nanos(nanos);
    format!("A {operation} takes as long on {a} as on {b} ({time}, within 1%)")
}

pub(in crate::text) fn path_costs_title() -> &'static str {
    "Why layers differ"
}

pub(in crate::text) fn path_costs_note() -> &'static str {
    "Difference of the mean time of an operation in traced runs, and its parts; the parts of a row add up to its \
     difference. Brackets: 95% interval, where both layers have several traced runs."
}

pub(in crate::text) fn cost_column(column: CostColumn) -> &'static str {
    match column {
        CostColumn::Data => "Device: data",
        CostColumn::OtherClasses => "Device: journal, metadata",
        CostColumn::Flush => "Device: flush",
        CostColumn::Waiting => "Waiting behind others",
        CostColumn::Queue => "Block queue",
        CostColumn::WakeUp => "Wake-up",
        CostColumn::Host => "File system, journal thread",
    }
}

pub(in crate::text) fn cost_heads() -> [&'static str; 4] {
    ["Layer", "Workload", "Difference", "Ratio"]
}

pub(in crate::text) fn cost_ends() -> [&'static str; 2] {
    ["Device had work", "Limit"]
}

pub(in crate::text) fn charts_of_card(card: &str) -> String {
    format!("Charts: {card}; the other cards are below, in sentences.")
}

pub(in crate::text) fn path_of_card(card: &str) -> String {
    format!("Path of an I/O, {card}")
}

pub(in crate::text) fn seconds_range(begin: &str, end: &str) -> String {
    format!("{begin} to {end} s")
}

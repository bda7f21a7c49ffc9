//! Quantities, axes and notes of charts.

use super::answers::things;
use hakaru_model::job::Op;

pub(in crate::text) fn rated_quantity() -> &'static str {
    "Measured sequential speed and rated speed, MB/s"
}

pub(in crate::text) fn workload_kind(
    op: Op,
    random: bool,
    read_percent: u32,
    synced: bool,
) -> String {
    let how = if random { "Random" } else { "Sequential" };
    let mut kind = format!("{how} {}s", op.name());
    if (1..100).contains(&read_percent) {
        kind.push_str(&format!(" of a {read_percent}/{} mix", 100 - read_percent));
    }
    if synced {
        kind.push_str(" with fsync");
    }
    kind
}

pub(in crate::text) fn p99_of(kind: &str) -> String {
    format!("P99 latency, {kind}")
}

pub(in crate::text) fn layer_cost_note(layer: &str, reference: &str) -> String {
    format!(
        "Speed through {layer} as a ratio to {reference}. Dot: ratio of the means; line: 95% interval; ring: no difference proven."
    )
}

pub(in crate::text) fn ratio_note(a: &str, b: &str, tested: bool) -> String {
    match tested {
        true => format!(
            "{b} divided by {a}. Dot: ratio of the means; line: 95% interval; ring: no difference proven."
        ),
        false => format!("{b} divided by {a}. Ring: ratio of single runs, not tested."),
    }
}

pub(in crate::text) fn amplification_quantity(workload: &str) -> String {
    format!("Bytes the device wrote per byte of the application, from its counters, {workload}")
}

pub(in crate::text) fn no_bar() -> &'static str {
    "not measured"
}

pub(in crate::text) fn axis_percentile() -> &'static str {
    "percentile"
}

pub(in crate::text) fn axis_seconds() -> &'static str {
    "seconds"
}

pub(in crate::text) fn axis_written(unit: &str) -> String {
    format!("{unit} written")
}

pub(in crate::text) fn bandwidth_name() -> &'static str {
    "Bandwidth"
}

pub(in crate::text) fn iops_name() -> &'static str {
    "I/Os per second"
}

pub(in crate::text) fn small_latency() -> &'static str {
    "Latency of small I/Os"
}

pub(in crate::text) fn large_latency() -> &'static str {
    "Latency of large I/Os"
}

pub(in crate::text) fn without_fsync(phase: &str) -> String {
    format!("{phase}, without fsync")
}

pub(in crate::text) fn fsync_latency(phase: &str) -> String {
    match phase.is_empty() {
        true => "Latency of fsync".to_owned(),
        false => format!("{phase}, fsync latency"),
    }
}

pub(in crate::text) fn phase_latency(phase: &str) -> String {
    format!("{phase}, latency")
}

pub(in crate::text) fn drop_mark(before: &str, after: &str, at: &str) -> String {
    format!("from {before} to {after} MB/s after {at}")
}

pub(in crate::text) fn cards_drawn(drawn: usize, of: usize) -> String {
    format!(" {drawn} of {of} {} are drawn.", things())
}

pub(in crate::text) fn extremes_drawn(drawn: usize, of: usize) -> String {
    format!(
        " {drawn} of {of} are drawn, the highest and the lowest; the data of the chart has all."
    )
}

pub(in crate::text) fn groups_between(n: usize) -> String {
    format!("{n} more")
}

pub(in crate::text) fn run_number(run: usize) -> String {
    format!("run {run}")
}

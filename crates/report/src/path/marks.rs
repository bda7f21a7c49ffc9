//! Weaknesses of the figures of a traced phase, and how far they can be trusted.

use super::{PathSide, figures};
use crate::escape::plain;
use crate::text;
use hakaru_model::io_path::{IoPath, TraceMethod};
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;

/// How complete the trace of a side is, and what it cost.
pub(super) fn proof(side: &PathSide<'_>) -> String {
    let path = side.path();
    let (lost, counted) = events(path);
    let cost = match &path.cost {
        Some(cost) => text::trace_cost(cost),
        None => text::trace_cost_unknown(path.cost_unknown),
    };
    match side.shown.findings.incomplete || counted == 0 {
        true => cost,
        false => format!(
            "{cost}; {}",
            text::events_complete(lost, counted, path.tracer.uncounted)
        ),
    }
}

/// That so many events were lost that the figures are wrong.
pub(super) fn incomplete(side: &PathSide<'_>) -> Option<String> {
    let path = side.path();
    let (lost, counted) = events(path);
    let is_incomplete = side.shown.findings.incomplete;
    is_incomplete.then(|| text::events_lost(path.tracer.lost_share(), lost, counted))
}

/// Lost and counted events.
fn events(path: &IoPath) -> (u64, u64) {
    let events = || path.tracer.events.iter();
    let lost = events().flat_map(|event| [event.lost, event.missing]);
    (
        figures::sum(lost),
        figures::sum(events().map(|event| event.counted)),
    )
}

/// What else weakens the figures of a side.
pub(super) fn limits(side: &PathSide<'_>) -> Vec<String> {
    let path = side.path();
    let tracer = &path.tracer;
    let mut marks = Vec::new();
    if tracer.method == TraceMethod::Ftrace {
        marks.push(text::recorded_by_ftrace().to_owned());
    }
    if tracer.foreign_threads {
        marks.push(text::foreign_threads().to_owned());
    }
    let runs = side.series.runs.len();
    if runs > 1 {
        let shown = side.series.shown as usize + 1;
        marks.push(text::shown_of_traced(shown, runs));
    }
    if path.classified_early > 0 {
        marks.push(text::classified_early(path.classified_early));
    }
    marks.extend(path.operations_limit.map(text::operations_limited));
    if tracer.unseen_completions > 0 || tracer.unmatched > 0 {
        marks.push(text::unmatched(tracer.unseen_completions, tracer.unmatched));
    }
    if is_served_by_host(&path.disk.name) {
        marks.push(text::device_on_host(&plain(&path.disk.name)));
    }
    if path.disk.bio_based {
        marks.push(text::bio_device(&plain(&path.disk.name)));
    }
    marks.extend(
        path.layout_gaps
            .iter()
            .map(|gap| plain(&text::layout_gap(gap))),
    );
    marks.extend(counters(path));
    marks
}

/// Whether a thread of the host serves the requests: of the loop driver, or of a network block device.
fn is_served_by_host(disk: &str) -> bool {
    disk.starts_with("loop") || disk.starts_with("nbd")
}

/// Directions whose traced bytes differ from the counters of the disk by more than the requests at the edges.
fn counters(path: &IoPath) -> Vec<String> {
    let Some(counters) = &path.counters else {
        return Vec::new();
    };
    let edges = path
        .edges
        .at_start_bytes
        .0
        .saturating_add(path.edges.at_end_bytes.0);
    let both = [(Op::Read, counters.read), (Op::Write, counters.written)];
    let differs = |(op, counted): &(Op, Bytes)| path.bytes(*op).0.abs_diff(counted.0) > edges;
    let differing = both.into_iter().filter(differs);
    differing
        .map(|(op, counted)| text::counters_differ(op, path.bytes(op), counted))
        .collect()
}

//! Heat maps of latency over time.

use super::{Chart, ChartTitle, Plot, Section, slug};
use crate::naming::PhaseName;
use crate::table::{self, DataTable};
use crate::{naming, number, text};
use hakaru_model::finding::{LatencyMap, LatencyMapColumn, PhaseSummary, Summary};
use hakaru_model::record::{LATENCY_STEPS, LatencyStepCounts, latency_step_start};
use hakaru_model::units::Nanos;

/// Maximum number of series with heat maps; more would make a comparison long.
const MOST_SERIES: usize = 4;
/// Maximum number of rows of the table of a page; adjacent columns of the map are joined.
const MOST_ROWS: usize = 40;

/// The heat maps of all phases of these series, and of their flushes.
pub(super) fn heat_maps(
    summaries: &[Summary],
    names: &[String],
    is_swept: &dyn Fn(&PhaseSummary) -> bool,
) -> Vec<Chart> {
    let several = summaries.len() > 1;
    let drawn = summaries.iter().zip(names).take(MOST_SERIES);
    let of_series = |(summary, name): (&Summary, &String)| {
        let of_phase = |phase| {
            let named = |work: String| match several {
                true => text::enumerated(&[name.clone(), text::within_sentence(&work)]),
                false => work,
            };
            let work = PhaseName {
                id: named(naming::phase_id(summary, phase)),
                label: named(naming::phase(summary, phase)),
            };
            let detail = &phase.detail;
            let own = detail
                .latency_map
                .as_ref()
                .map(|map| heat_map(&work, false, map));
            let sync = detail
                .sync_map
                .as_ref()
                .map(|map| heat_map(&work, true, map));
            own.into_iter().chain(sync).collect::<Vec<Chart>>()
        };
        let phases = summary.phases.iter().filter(|phase| !is_swept(phase));
        phases.flat_map(of_phase).collect::<Vec<_>>()
    };
    drawn.flat_map(of_series).collect()
}

/// The heat map of one workload, or of its flushes.
pub(crate) fn heat_map(work: &PhaseName, sync: bool, map: &LatencyMap) -> Chart {
    let kind = if sync { "fsync" } else { "latency" };
    let title = match map.slow {
        Some(slow) => ChartTitle::SlowIos {
            work: work.label.clone(),
            sync,
            count: slow.count,
            from: short(slow.from),
            when: slow.when,
        },
        None => ChartTitle::NoSlowIos {
            work: work.label.clone(),
            sync,
            limit: map.limit.map(short),
        },
    };
    Chart {
        name: format!("{kind}-over-time-{}", slug(&work.id)),
        section: Section::Latency,
        title: text::chart_title(&title),
        note: text::heat_note(map.runs, map.slow.map(|slow| short(slow.from)).as_deref()),
        table: rows(map),
        plot: Plot::Heat(map.clone()),
    }
}

fn short(latency: Nanos) -> String {
    number::short_latency(latency.0 as f64)
}

/// One row for each column of the map, or for several adjacent ones.
fn rows(map: &LatencyMap) -> DataTable {
    let joined = map.columns.len().div_ceil(MOST_ROWS).max(1);
    let length = map.columns.first().map_or(1.0, |c| c.to_s - c.from_s) * joined as f64;
    // Enough digits to tell rows apart.
    let digits = match length {
        length if length >= 0.1 => 1,
        length if length >= 0.01 => 2,
        _ => 3,
    };
    let row = |columns: &[LatencyMapColumn]| {
        let mut counts = LatencyStepCounts::default();
        columns.iter().for_each(|column| counts.add(&column.counts));
        let from = columns.first().map_or(0.0, |column| column.from_s);
        let to = columns.last().map_or(0.0, |column| column.to_s);
        let [from, to] = [from, to].map(|s| number::exact(s, digits));
        let longest = counts.iter().last().map_or(0, |(step, _)| step);
        let cells = [
            number::grouped(counts.count()),
            step_text(median_step(&counts)),
            step_text(longest),
        ];
        table::row(text::span(&from, &to), cells)
    };
    DataTable::new(text::heat_heads(), map.columns.chunks(joined).map(row))
}

/// Range of the latencies of a step: `1 ms to 1.78 ms`.
fn step_text(step: usize) -> String {
    let start = short(latency_step_start(step));
    match step + 1 < LATENCY_STEPS {
        true => text::span(&start, &short(latency_step_start(step + 1))),
        false => text::latency_from(&start),
    }
}

/// The step that contains the median.
fn median_step(counts: &LatencyStepCounts) -> usize {
    let half = counts.count().div_ceil(2);
    let mut seen = 0u64;
    let reaches = |(step, count): (usize, u64)| {
        seen = seen.saturating_add(count);
        (seen >= half).then_some(step)
    };
    counts.iter().find_map(reaches).unwrap_or(0)
}

/// All cells with I/Os, for programs.
pub(super) fn cells(map: &LatencyMap) -> DataTable {
    let of_column = |column: &LatencyMapColumn| {
        let times = [column.from_s, column.to_s].map(|s| number::exact(s, 6));
        let row = |(step, count): (usize, u64)| {
            let end = (step + 1 < LATENCY_STEPS).then(|| latency_step_start(step + 1).0);
            let figures = [
                times[1].clone(),
                latency_step_start(step).0.to_string(),
                end.map_or(String::new(), |end| end.to_string()),
                count.to_string(),
            ];
            table::row(times[0].clone(), figures)
        };
        column.counts.iter().map(row).collect::<Vec<_>>()
    };
    let head = ["from_s", "to_s", "latency_from_ns", "latency_to_ns", "ios"];
    DataTable::new(head, map.columns.iter().flat_map(of_column))
}

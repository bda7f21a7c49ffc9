//! The charts of a report on runs.

use super::heat::heat_maps;
use super::latency::{latencies, latencies_of_one};
use super::over_time::over_time;
use super::spread::spread_over_time;
use super::sweep::{self, SweepItem};
use super::{
    BarChart, Chart, ChartTitle, RatioChart, Section, bar, by_iops, number_doubles, ratio_row,
    runs_of, runs_text,
};
use crate::naming::PhaseName;
use crate::number;
use crate::svg::{Bar, BarGroup};
use crate::text;
use crate::{naming, path, workload};
use hakaru_model::finding::{Comparison, PhaseSummary, Summary, Verdict};

/// All charts of a report on these series, in display order.
pub fn charts(summaries: &[Summary]) -> Vec<Chart> {
    workload::with_workloads_described(summaries, || charts_of(summaries))
}

/// Latency charts of several series: those of fsync and of random reads first, because they decide how a system feels.
fn latencies_of_several(
    names: &[String],
    phases: &[(PhaseName, Vec<Option<&PhaseSummary>>)],
) -> Vec<Chart> {
    let is_random_read = |cells: &[Option<&PhaseSummary>]| {
        let mut shapes = cells.iter().flatten().map(|phase| phase.detail.shape);
        shapes.any(|shape| shape.is_some_and(|shape| shape.random && shape.read_percent == 100))
    };
    let of_phase = |(phase, cells): &(PhaseName, Vec<Option<&PhaseSummary>>)| {
        let random_read = is_random_read(cells);
        let charts = latencies(phase, names, cells).into_iter();
        let ranked = charts.map(move |chart| {
            let rank = match chart.name.starts_with("fsync-") {
                true => 0,
                false if random_read => 1,
                false => 2,
            };
            (rank, chart)
        });
        ranked.collect::<Vec<_>>()
    };
    let mut charts: Vec<(u8, Chart)> = phases.iter().flat_map(of_phase).collect();
    charts.sort_by_key(|(rank, _)| *rank);
    charts.into_iter().map(|(_, chart)| chart).collect()
}

fn charts_of(summaries: &[Summary]) -> Vec<Chart> {
    let names = naming::series(summaries);
    let all = naming::phases(summaries);
    if all.is_empty() {
        return Vec::new();
    }
    let items = sweep_items(summaries);
    let (mut charts, swept) = sweep::charts(&items);
    // Points of a sweep are lines instead of bars.
    let is_swept = |phase: &PhaseSummary| swept.iter().any(|other| std::ptr::eq(*other, phase));
    let phases: Vec<_> = all
        .iter()
        .filter(|(_, cells)| !cells.iter().flatten().all(|phase| is_swept(phase)))
        .cloned()
        .collect();
    if !phases.is_empty() {
        charts.extend([
            speed(&names, &phases, &BANDWIDTH),
            speed(&names, &phases, &IOPS),
        ]);
    }
    charts.extend(match summaries {
        [single] => latencies_of_one(single, &is_swept),
        _ => latencies_of_several(&names, &all),
    });
    charts.extend(heat_maps(summaries, &names, &is_swept));
    // The answer of a single series may be about a point of a sweep.
    let answered = match summaries {
        [single] => crate::answer::falling(single).map(|(at, _)| &single.phases[at]),
        _ => None,
    };
    let is_shown = |phase: &PhaseSummary| {
        !is_swept(phase) || answered.is_some_and(|other| std::ptr::eq(other, phase))
    };
    charts.extend(
        all.iter()
            .filter(|(_, cells)| cells.iter().flatten().any(|phase| is_shown(phase)))
            .filter_map(|(name, cells)| over_time_or_spread(name, &names, cells)),
    );
    charts.extend(path::charts(&path::subjects(summaries)));
    charts.sort_by_key(|chart| chart.section);
    number_doubles(&mut charts);
    charts
}

/// All charts of a comparison of two series. The titles of the bar charts state its verdicts.
pub fn comparison_charts(a: &Summary, b: &Summary, comparisons: &[Comparison]) -> Vec<Chart> {
    workload::with_workloads_described([a, b], || compared(a, b, comparisons))
}

fn compared(a: &Summary, b: &Summary, comparisons: &[Comparison]) -> Vec<Chart> {
    let summaries = [in_common(a, b), in_common(b, a)];
    let mut charts = charts(&summaries);
    let names = naming::series(&summaries);
    let (a, b) = (names[0].clone(), names[1].clone());
    // Primary figures are rates.
    let rates: Vec<&Comparison> = comparisons.iter().filter(|c| c.primary).collect();
    let count = |wanted: &dyn Fn(&Comparison) -> bool| rates.iter().filter(|c| wanted(c)).count();
    let differs = |c: &Comparison| c.verdict == Verdict::Different;
    let (faster, slower) = (
        count(&|c| differs(c) && c.ratio > 1.0),
        count(&|c| differs(c) && c.ratio < 1.0),
    );
    let open = rates.len() - faster - slower;
    let sides = |c: &Comparison| c.a.values.len().min(c.b.values.len());
    let ratios = || {
        rates
            .iter()
            .map(|c| c.ratio)
            .filter(|ratio| ratio.is_finite())
    };
    let ends = (ratios().reduce(f64::min), ratios().reduce(f64::max));
    let title = text::chart_title(&match ends {
        (Some(low), Some(high)) if rates.iter().all(|c| sides(c) == 1) => {
            ChartTitle::ComparedOnce {
                a: a.clone(),
                b: b.clone(),
                // A single run does not support more digits.
                low: number::significant_digits(low, 2),
                high: number::significant_digits(high, 2),
            }
        }
        _ => ChartTitle::Compared {
            a: a.clone(),
            b: b.clone(),
            faster,
            slower,
            open,
            // The ratio of a single workload; few runs do not support more digits.
            ratio: match rates.len() {
                1 => ends.0.map(|ratio| number::significant_digits(ratio, 3)),
                _ => None,
            },
        },
    });
    let bars = charts
        .iter_mut()
        .filter(|chart| chart.section == Section::Speed);
    let bars = bars.filter(|chart| [BANDWIDTH.name, IOPS.name].contains(&&*chart.name));
    for chart in bars.filter(|_| !rates.is_empty()) {
        chart.title.clone_from(&title);
    }
    let rows = rates
        .iter()
        .map(|c| ratio_row(&workload::compared_rate(&c.quantity), c));
    let ratios = RatioChart {
        name: "ratios".to_owned(),
        section: Section::Speed,
        title,
        note: text::ratio_note(&a, &b, rates.iter().any(|c| c.p_value.is_some())),
        rows: text::Head::Figure.text(),
    };
    charts.splice(0..0, ratios.of(rows.collect()));
    charts
}

/// A series without the phases that the other one lacks: there is nothing to compare them with. All phases if the two
/// have none in common.
fn in_common(of: &Summary, other: &Summary) -> Summary {
    let is_shared = |phase: &&PhaseSummary| {
        let mut phases = other.phases.iter();
        phases.any(|there| there.phase == phase.phase && there.op == phase.op)
    };
    let shared: Vec<PhaseSummary> = of.phases.iter().filter(is_shared).cloned().collect();
    let mut summary = of.clone();
    if !shared.is_empty() {
        summary.phases = shared;
    }
    summary
}

/// The phases of all series as possible points of a sweep.
fn sweep_items(summaries: &[Summary]) -> Vec<SweepItem<'_>> {
    let targets: Vec<String> = summaries.iter().map(naming::target).collect();
    let several = targets.iter().any(|target| *target != targets[0]);
    let of_series = |(summary, target): (_, &String)| {
        let line = if several { target } else { "" };
        SweepItem::of(summary, line)
    };
    summaries.iter().zip(&targets).flat_map(of_series).collect()
}

/// Bandwidth over time, or its range if the intervals are unknown.
fn over_time_or_spread(
    name: &PhaseName,
    names: &[String],
    cells: &[Option<&PhaseSummary>],
) -> Option<Chart> {
    over_time(name, names, cells).or_else(|| spread_over_time(name, names, cells))
}

type Phases<'a> = [(PhaseName, Vec<Option<&'a PhaseSummary>>)];

/// A rate of a phase in a chart.
struct SpeedQuantity {
    name: &'static str,
    title: fn() -> &'static str,
    unit: &'static str,
    figure: fn(&PhaseSummary) -> Bar,
}

const BANDWIDTH: SpeedQuantity = SpeedQuantity {
    name: "bandwidth",
    title: text::bandwidth_name,
    unit: "MB/s",
    figure: |phase| bar(&phase.bandwidth, 1e6, runs_of(phase)),
};

const IOPS: SpeedQuantity = SpeedQuantity {
    name: "iops",
    title: text::iops_name,
    unit: "IOPS",
    figure: |phase| bar(&phase.iops, 1.0, runs_of(phase)),
};

/// Bars of a rate: one group for each phase, one bar for each series.
fn speed(names: &[String], phases: &Phases<'_>, quantity: &SpeedQuantity) -> Chart {
    let group = |(name, cells): &(PhaseName, Vec<Option<&PhaseSummary>>)| BarGroup {
        label: name.label.clone(),
        bars: cells.iter().map(|cell| cell.map(quantity.figure)).collect(),
    };
    let groups: Vec<BarGroup> = phases.iter().map(group).collect();
    let cells = || phases.iter().flat_map(|(_, cells)| cells.iter().flatten());
    let alike = cells().all(|phase| by_iops(phase) == (quantity.unit == "IOPS"));
    let measured = match (phases, alike) {
        ([(_, cells)], _) => {
            let workload = cells
                .iter()
                .flatten()
                .next()
                .map(|phase| text::described(phase));
            {
                let quantity = text::with_unit((quantity.title)(), quantity.unit);
                text::enumerated(&[
                    quantity,
                    crate::escape::plain(&workload.unwrap_or_default()),
                ])
            }
        }
        _ => text::with_unit((quantity.title)(), quantity.unit),
    };
    BarChart {
        name: quantity.name.to_owned(),
        section: Section::Speed,
        title: text::chart_title(&speed_title(names, &groups, quantity)),
        unit: quantity.unit,
        quantity: measured,
        runs: runs_text(cells().copied()),
        rows: text::Head::Phase.text(),
    }
    .of(names.to_vec(), groups)
}

/// What the bars of a rate show: the range of one series, or which of several has the highest means.
fn speed_title(names: &[String], groups: &[BarGroup], quantity: &SpeedQuantity) -> ChartTitle {
    let unit = quantity.unit.to_owned();
    let shown = |bar: &Bar| number::in_groups(&bar.mean);
    if let [_] = names {
        let bars = groups
            .iter()
            .filter_map(|group| Some((group, group.bars[0].as_ref()?)));
        let by_value =
            |a: &(&BarGroup, &Bar), b: &(&BarGroup, &Bar)| a.1.value.total_cmp(&b.1.value);
        let (low, high) = (bars.clone().min_by(by_value), bars.max_by(by_value));
        if let (Some((slowest, slow)), Some((fastest, fast))) = (low, high) {
            let phase = fastest.label.clone();
            return match groups.len() {
                1 => ChartTitle::OnlyPhase {
                    phase,
                    value: format!("{} {unit}", shown(fast)),
                },
                _ => ChartTitle::Phases {
                    fastest: text::within_sentence(&phase),
                    fast: shown(fast),
                    slowest: text::within_sentence(&slowest.label),
                    slow: shown(slow),
                    unit,
                },
            };
        }
    }
    let best = |group: &BarGroup| {
        let bars = group.bars.iter().enumerate();
        let bars = bars.filter_map(|(series, bar)| Some((series, bar.as_ref()?.value)));
        bars.max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(series, _)| series)
    };
    let mut wins = vec![0; names.len()];
    for series in groups
        .iter()
        .filter(|g| g.bars.iter().flatten().count() > 1)
        .filter_map(best)
    {
        wins[series] += 1;
    }
    let most = wins.iter().copied().max().unwrap_or(0);
    let first = wins.iter().position(|&n| n == most).unwrap_or(0);
    ChartTitle::HighestMeans {
        series: names.get(first).cloned().unwrap_or_default(),
        most,
        phases: groups.len(),
        quantity: (quantity.title)().to_owned(),
    }
}

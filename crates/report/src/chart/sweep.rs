//! Recognizes sweeps: phases that differ only in block size, queue depth, number of jobs, fill level or date.

use super::{Chart, ChartTitle, Plot, Section, SweepAxis, by_iops, runs_text, slug};
use crate::svg::{SweepLine, SweepPlot, SweepPoint};
use crate::table::{self, DataTable};
use crate::text::{self, Language, with_language};
use crate::{naming, number, time};
use hakaru_model::finding::{Estimate, PhaseSummary, Summary, WorkloadShape};
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, Nanos, Quantile};

/// Minimum number of points of a line.
const FEWEST_POINTS: usize = 3;
/// Maximum number of lines in a chart.
const MOST_LINES: usize = 12;

/// A phase that may be a point of a sweep.
pub(crate) struct SweepItem<'a> {
    /// What was measured, if the report has several: the card, for example.
    line: String,
    phase: &'a PhaseSummary,
    shape: WorkloadShape,
    started_unix_ms: i64,
    /// Used share of the file system at the start, in percent.
    fill: Option<f64>,
}

impl<'a> SweepItem<'a> {
    /// The phases of a series; `line` names it among several.
    pub(crate) fn of(summary: &'a Summary, line: &str) -> Vec<SweepItem<'a>> {
        let filesystem = summary.target.filesystem.as_ref();
        let used = filesystem.filter(|found| found.size.0 > 0 && found.free <= found.size);
        let fill = used.map(|found| 100.0 - found.free.0 as f64 * 100.0 / found.size.0 as f64);
        let item = |phase: &'a PhaseSummary| {
            Some(SweepItem {
                line: line.to_owned(),
                phase,
                shape: phase.detail.shape?,
                started_unix_ms: summary.started_unix_ms,
                fill,
            })
        };
        summary.phases.iter().filter_map(item).collect()
    }

    /// What all points of a sweep have in common.
    fn kind(&self) -> SweepKind {
        let shape = &self.shape;
        SweepKind {
            op: self.phase.op,
            random: shape.random,
            read_percent: shape.read_percent,
            sync: (shape.sync_every, shape.sync_open),
            direct: shape.direct,
        }
    }

    /// Position on an axis; `None` if it is unknown.
    fn at(&self, axis: SweepAxis) -> Option<f64> {
        match axis {
            SweepAxis::BlockSize => Some(self.shape.block.0 as f64),
            SweepAxis::QueueDepth => Some(f64::from(self.shape.iodepth)),
            SweepAxis::Jobs => Some(f64::from(self.shape.workers)),
            // Steps of 5%, so that the files of the runs themselves make no difference.
            SweepAxis::FillLevel => self.fill.map(|percent| (percent / 5.0).round() * 5.0),
            SweepAxis::Date => (self.started_unix_ms > 0)
                .then(|| self.started_unix_ms.div_euclid(86_400_000) as f64),
        }
    }
}

/// Properties of a workload that are equal in all points of a sweep.
#[derive(Clone, Copy, PartialEq)]
struct SweepKind {
    op: Op,
    random: bool,
    read_percent: u32,
    sync: (u32, bool),
    direct: bool,
}

/// Settings of a workload that may vary in a sweep; the first wins if two have equally many values.
const SETTINGS: [SweepAxis; 3] = [SweepAxis::QueueDepth, SweepAxis::BlockSize, SweepAxis::Jobs];

/// Charts of all sweeps, and the phases that are their points. The points of a sweep over dates are not among these,
/// because each date is also a result of its own.
pub(crate) fn charts<'a>(items: &[SweepItem<'a>]) -> (Vec<Chart>, Vec<&'a PhaseSummary>) {
    let (mut charts, mut swept) = (Vec::new(), Vec::new());
    for kind in naming::distinct(items.iter().map(SweepItem::kind)) {
        let family: Vec<&SweepItem<'a>> = items.iter().filter(|item| item.kind() == kind).collect();
        let Some((axis, lines)) = recognized(&family) else {
            continue;
        };
        charts.extend(rate_chart(kind, axis, &lines));
        charts.extend(latency_chart(kind, axis, &lines));
        if axis != SweepAxis::Date {
            swept.extend(
                lines
                    .iter()
                    .flat_map(|line| line.1.iter().map(|item| item.phase)),
            );
        }
    }
    (charts, swept)
}

/// A line: its name, and its points by ascending position.
type ItemLine<'i, 'a> = (String, Vec<&'i SweepItem<'a>>);

/// The axis along which phases differ, and their lines; `None` if they are no sweep.
fn recognized<'i, 'a>(family: &[&'i SweepItem<'a>]) -> Option<(SweepAxis, Vec<ItemLine<'i, 'a>>)> {
    let values = |axis: SweepAxis| {
        let known: Vec<f64> = family.iter().filter_map(|item| item.at(axis)).collect();
        naming::distinct(known).len()
    };
    let varied: Vec<SweepAxis> = SETTINGS
        .into_iter()
        .filter(|axis| values(*axis) > 1)
        .collect();
    let axes = match varied.is_empty() {
        true => vec![SweepAxis::FillLevel, SweepAxis::Date],
        false => {
            let mut varied = varied.clone();
            varied.sort_by_key(|axis| std::cmp::Reverse(values(*axis)));
            varied
        }
    };
    let several = naming::distinct(family.iter().map(|item| item.line.clone())).len() > 1;
    axes.into_iter().find_map(|axis| {
        let others: Vec<SweepAxis> = varied
            .iter()
            .copied()
            .filter(|other| *other != axis)
            .collect();
        let name = |item: &SweepItem<'_>| {
            let mut parts = Vec::new();
            parts.extend(several.then(|| item.line.clone()));
            let settings = others
                .iter()
                .filter_map(|axis| Some(value_text(*axis, item.at(*axis)?, true)));
            parts.extend(settings);
            text::enumerated(&parts)
        };
        let names = naming::distinct(family.iter().map(|item| name(item)));
        let line = |name_of: String| {
            let of_line = family.iter().copied().filter(|item| name(item) == name_of);
            let points = of_line.filter(|item| item.at(axis).is_some()).collect();
            let points = ascending(points, axis)?;
            (points.len() >= FEWEST_POINTS).then_some((name_of, points))
        };
        let lines: Vec<ItemLine<'i, 'a>> = names
            .into_iter()
            .filter_map(line)
            .take(MOST_LINES)
            .collect();
        (!lines.is_empty()).then_some((axis, lines))
    })
}

/// The items by ascending position; `None` if two results at one position differ in something else. Beside phases of the
/// deep suite, whose names state their settings, others at their positions are omitted.
fn ascending<'i, 'a>(
    mut points: Vec<&'i SweepItem<'a>>,
    axis: SweepAxis,
) -> Option<Vec<&'i SweepItem<'a>>> {
    points.sort_by(|a, b| {
        let order = a.at(axis).partial_cmp(&b.at(axis));
        order.unwrap_or(std::cmp::Ordering::Equal)
    });
    let rises = |points: &[&SweepItem<'_>]| {
        let mut pairs = points.windows(2);
        pairs.all(|pair| pair[0].at(axis) < pair[1].at(axis))
    };
    if !rises(&points) {
        points.retain(|item| states_its_settings(item));
    }
    rises(&points).then_some(points)
}

/// Whether the name of a phase states its queue depth and number of jobs, such as `read-4k-q1-j1`.
fn states_its_settings(item: &SweepItem<'_>) -> bool {
    let WorkloadShape {
        iodepth, workers, ..
    } = item.shape;
    let settings = format!("-q{iodepth}-j{workers}");
    item.phase.phase.ends_with(&settings)
}

/// A position as text: `4 KiB`, `QD 8`, `2 jobs`, `50%`, `2026-01-05`; without its unit if the axis has it.
fn value_text(axis: SweepAxis, value: f64, alone: bool) -> String {
    match axis {
        SweepAxis::BlockSize => Bytes(value as u64).to_string(),
        SweepAxis::Date => time::day((value * 86_400_000.0) as i64),
        _ => text::sweep_value(axis, value, alone),
    }
}

/// The rate along the axis, with its interval.
fn rate_chart(kind: SweepKind, axis: SweepAxis, lines: &[ItemLine<'_, '_>]) -> Option<Chart> {
    let items = || lines.iter().flat_map(|line| &line.1);
    // Over block sizes, bytes are comparable and completions are not.
    let small = axis != SweepAxis::BlockSize && items().all(|item| by_iops(item.phase));
    let (unit, scale) = match small {
        true => ("IOPS", 1.0),
        false => ("MB/s", 1e6),
    };
    let rate = |item: &SweepItem<'_>| -> Estimate {
        match small {
            true => item.phase.iops.clone(),
            false => item.phase.bandwidth.clone(),
        }
    };
    let point = |item: &&SweepItem<'_>| {
        let of = rate(item);
        Some(SweepPoint {
            x: item.at(axis)?,
            y: of.mean / scale,
            interval: of.ci95.map(|(low, high)| (low / scale, high / scale)),
        })
    };
    let plot = plot(axis, unit, lines, &point);
    let spread = items().any(|item| item.phase.bandwidth.ci95.is_some());
    let about = SweepText {
        kind: text::workload_kind(
            kind.op,
            kind.random,
            kind.read_percent,
            kind.sync != (0, false),
        ),
        axis,
        runs: runs_text(items().map(|item| item.phase)),
        spread,
    };
    let name = format!("sweep-{}-{}", axis.name(), kind_slug(kind));
    about.chart(name, Section::Speed, plot, &|y| {
        format!("{} {unit}", number::quantity(y))
    })
}

/// P99 latency along the axis; `None` if some point has too few samples for it.
fn latency_chart(kind: SweepKind, axis: SweepAxis, lines: &[ItemLine<'_, '_>]) -> Option<Chart> {
    let p99 = |phase: &PhaseSummary| {
        let marked = phase
            .latency
            .as_ref()?
            .quantiles
            .iter()
            .find(|q| q.0 == Quantile::P99)?;
        Some(marked.1.0 as f64)
    };
    let items = || lines.iter().flat_map(|line| &line.1);
    if items().any(|item| p99(item.phase).is_none()) {
        return None;
    }
    let point = |item: &&SweepItem<'_>| {
        let by_run = &item.phase.detail.latency_by_run;
        let of_runs = by_run.iter().find(|q| q.0 == Quantile::P99);
        Some(SweepPoint {
            x: item.at(axis)?,
            y: p99(item.phase)?,
            interval: of_runs.and_then(|found| found.1.ci95),
        })
    };
    let plot = plot(axis, "", lines, &point);
    let about = SweepText {
        kind: text::p99_of(&text::workload_kind(
            kind.op,
            kind.random,
            kind.read_percent,
            kind.sync != (0, false),
        )),
        axis,
        runs: runs_text(items().map(|item| item.phase)),
        spread: plot
            .lines
            .iter()
            .flat_map(|line| &line.points)
            .any(|p| p.interval.is_some()),
    };
    let name = format!("sweep-{}-latency-{}", axis.name(), kind_slug(kind));
    about.chart(name, Section::Latency, plot, &|y| {
        Nanos(y as u64).to_string()
    })
}

/// Part of a file name, the same in all languages.
fn kind_slug(kind: SweepKind) -> String {
    with_language(Language::English, || {
        let synced = kind.sync != (0, false);
        slug(&text::workload_kind(
            kind.op,
            kind.random,
            kind.read_percent,
            synced,
        ))
    })
}

fn plot(
    axis: SweepAxis,
    unit: &str,
    lines: &[ItemLine<'_, '_>],
    point: &dyn Fn(&&SweepItem<'_>) -> Option<SweepPoint>,
) -> SweepPlot {
    let items = lines.iter().flat_map(|line| &line.1);
    let mut xs: Vec<f64> = items.filter_map(|item| item.at(axis)).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let line = |(name, items): &ItemLine<'_, '_>| SweepLine {
        name: name.clone(),
        points: items.iter().filter_map(point).collect(),
    };
    SweepPlot {
        unit: unit.to_owned(),
        axis: text::sweep_axis(axis).to_owned(),
        log: matches!(
            axis,
            SweepAxis::BlockSize | SweepAxis::QueueDepth | SweepAxis::Jobs
        ),
        ticks: xs
            .into_iter()
            .map(|x| (x, value_text(axis, x, false)))
            .collect(),
        lines: lines.iter().map(line).collect(),
        ..SweepPlot::default()
    }
}

/// Texts of a sweep.
struct SweepText {
    /// Quantity: `Random reads`.
    kind: String,
    axis: SweepAxis,
    runs: String,
    /// Whether intervals are drawn.
    spread: bool,
}

impl SweepText {
    fn chart(
        self,
        name: String,
        section: Section,
        plot: SweepPlot,
        value: &dyn Fn(f64) -> String,
    ) -> Option<Chart> {
        let title = self.title(&plot, value)?;
        let unit = match plot.unit.is_empty() {
            true => String::new(),
            false => format!(", {}", plot.unit),
        };
        let quantity = format!("{}{unit}", self.kind);
        let columns = plot.lines.iter().map(|line| match line.name.is_empty() {
            true => quantity.clone(),
            false => format!("{}{unit}", line.name),
        });
        let head = table::row(plot.axis.clone(), columns);
        let cell = |line: &SweepLine, x: f64| {
            let found = line.points.iter().find(|point| point.x == x);
            let shown = |y: f64| match plot.unit.is_empty() {
                true => value(y),
                false => number::significant(y),
            };
            found.map_or("–".to_owned(), |point| match point.interval {
                Some((low, high)) => {
                    format!("{} [{}, {}]", shown(point.y), shown(low), shown(high))
                }
                None => shown(point.y),
            })
        };
        let rows = plot.ticks.iter().map(|(x, label)| {
            table::row(label.clone(), plot.lines.iter().map(|line| cell(line, *x)))
        });
        Some(Chart {
            name,
            section,
            title: text::chart_title(&title),
            note: text::sweep_note(&quantity, &self.runs, self.spread),
            table: DataTable::new(head, rows),
            plot: Plot::Sweep(plot),
        })
    }

    /// The highest point, or the range of the line that has it.
    fn title(&self, plot: &SweepPlot, value: &dyn Fn(f64) -> String) -> Option<ChartTitle> {
        let highest = |line: &&SweepLine| line.points.iter().map(|p| p.y).fold(f64::MIN, f64::max);
        let line = plot
            .lines
            .iter()
            .max_by(|a, b| highest(a).total_cmp(&highest(b)))?;
        let (first, last) = (line.points.first()?, line.points.last()?);
        let most = line.points.iter().max_by(|a, b| a.y.total_cmp(&b.y))?;
        let at = |point: &SweepPoint| value_text(self.axis, point.x, true);
        let (quantity, line) = (self.kind.clone(), line.name.clone());
        Some(match most.x == first.x || most.x == last.x {
            true => ChartTitle::SweepRange {
                quantity,
                line,
                from: value(first.y),
                to: value(last.y),
                first: at(first),
                last: at(last),
            },
            false => ChartTitle::Peak {
                quantity,
                line,
                value: value(most.y),
                at: at(most),
            },
        })
    }
}

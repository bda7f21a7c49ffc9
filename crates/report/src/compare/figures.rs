//! The figures of a phase on both sides.

use super::*;
use crate::text::ComparedFigureName as Name;

pub(super) fn phase_figures(
    a: &PhaseSummary,
    b: &PhaseSummary,
    names: (&str, &str),
) -> [DocumentBlock; 2] {
    let name = workload::of_operation(&a.phase, a.op);
    [
        DocumentBlock::Title(format!("{name}: {}", text::described(a))),
        DocumentBlock::Table(TableStyle::Numbers, figures(a, b, names)),
    ]
}

/// One figure of one side.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shown {
    /// A percentile for which there are too few I/Os.
    TooFew,
    One(f64),
    /// Minimum and maximum of figures that cannot be merged, such as percentiles of several runs.
    Range(f64, f64),
}

impl Shown {
    fn text(self, show: fn(f64) -> String) -> String {
        match self {
            Shown::TooFew => "–".to_owned(),
            Shown::One(value) => show(value),
            Shown::Range(low, high) => text::span(&show(low), &show(high)),
        }
    }
}

/// The figures of one workload, each with its ratio.
fn figures(a: &PhaseSummary, b: &PhaseSummary, names: (&str, &str)) -> DataTable {
    let runs = |phase: &PhaseSummary| phase.bandwidth.values.len().to_string();
    let runs = [Head::ComparedRuns.into(), runs(a), runs(b), String::new()];
    let rates = rates().into_iter().map(|(name, show, of)| {
        let figure = |phase| of(phase).map(Shown::One);
        (name.into(), show, [figure(a), figure(b)])
    });
    let is_time = |is_time: bool| move |figure: ComparedFigure| (figure, is_time);
    let mut all: Vec<(ComparedFigure, bool)> = rates.map(is_time(false)).collect();
    // Latencies stand between the rates and the figures over time.
    all.splice(2..2, latencies(a, b).into_iter().map(is_time(true)));
    let known = all
        .into_iter()
        .filter(|((_, _, sides), _)| *sides != [None; 2]);
    let rows = known.map(|((name, show, sides), is_time)| {
        let rounded = |a, b| is_time.then(|| of_times(a, b)).flatten();
        let [a, b] = sides.map(|side| side.map_or("–".to_owned(), |side| side.text(show)));
        let ratio = match sides {
            [Some(Shown::One(a)), Some(Shown::One(b))] if a > 0.0 => {
                rounded(a, b).unwrap_or_else(|| times(b / a))
            }
            _ => "–".to_owned(),
        };
        vec![name, a, b, ratio]
    });
    let head = ["", names.0, names.1, Head::ComparedRatio.text()];
    DataTable::new(head, std::iter::once(runs.to_vec()).chain(rows))
}

/// A figure of both sides: its name, its format, and its values.
type ComparedFigure = (String, fn(f64) -> String, [Option<Shown>; 2]);

/// Name and format of a figure, and where a phase has it.
type PhaseFigure = (Name, fn(f64) -> String, fn(&PhaseSummary) -> Option<f64>);

fn rates() -> [PhaseFigure; 6] {
    let rate = |v: f64| BytesPerSec(v).to_string();
    [
        (Name::Bandwidth, rate, |p| Some(p.bandwidth.mean)),
        (Name::Iops, |v| Iops(v).to_string(), |p| Some(p.iops.mean)),
        (
            Name::MovedInAll,
            |v| Bytes(v as u64).to_string(),
            |p| Some(p.detail.moved_in_all.0 as f64).filter(|&n| n > 0.0),
        ),
        (Name::LeastOverTime, rate, |p| Some(intervals(p)?.min.0)),
        (Name::MostOverTime, rate, |p| Some(intervals(p)?.max.0)),
        (Name::DeviationOverTime, rate, |p| {
            Some(intervals(p)?.deviation.0)
        }),
    ]
}

/// The spread of the bandwidth over time.
fn intervals(phase: &PhaseSummary) -> Option<&Sustained> {
    phase.sustained.as_ref().or(phase.detail.intervals.as_ref())
}

/// Mean and percentiles of the latencies of both sides.
fn latencies(a: &PhaseSummary, b: &PhaseSummary) -> Vec<ComparedFigure> {
    type Latencies = fn(&PhaseSummary) -> (&Option<LatencySummary>, &[(Quantile, Estimate)]);
    let kinds: [(Name, Latencies); 2] = [
        (Name::Latency, |p| (&p.latency, &p.detail.latency_by_run)),
        (Name::Fsync, |p| (&p.sync, &p.detail.sync_by_run)),
    ];
    let ns = |v: f64| Nanos(v.round() as u64).to_string();
    let in_device = [a, b].map(|p| p.detail.device_ns.map(Shown::One));
    let mut all: Vec<ComparedFigure> = vec![(Name::InDevice.text().to_owned(), ns, in_device)];
    for (kind, of) in kinds {
        let mean = |p| of(p).0.as_ref().map(|l| Shown::One(l.mean_ns));
        all.push((
            text::figure_of(kind.text(), Name::Mean.text()),
            ns,
            [mean(a), mean(b)],
        ));
        for q in [
            Quantile::MEDIAN,
            Quantile::P95,
            Quantile::P99,
            Quantile::P999,
        ] {
            let name = text::figure_of(kind.text(), &number::percentile(q));
            let known = [a, b].map(|p| percentile(of(p), q));
            let shown = [(a, known[0]), (b, known[1])];
            let shown = shown.map(|(p, known)| known.or_else(|| too_few(of(p).0.as_ref(), q)));
            let name = match shown.contains(&Some(Shown::TooFew)) {
                true => text::too_few_ios(&name),
                false => name,
            };
            all.push((name, ns, shown));
        }
    }
    all
}

/// Largest share of the mean latency in the block layer and the device at which most of it is waiting above them.
const WAITING: f64 = 0.5;

/// A sentence about the only workload, if its I/Os wait above the block layer for most of the time, as those of many
/// jobs on one file do.
pub(super) fn waiting(
    names: (&str, &str),
    phases: &[(&PhaseSummary, &PhaseSummary)],
) -> Option<String> {
    let [(a, b)] = phases else {
        return None;
    };
    let times = |of: &PhaseSummary| Some((of.detail.device_ns?, of.latency.as_ref()?.mean_ns));
    let (a, b) = (times(a)?, times(b)?);
    let waits = |(device, all): (f64, f64)| device < WAITING * all;
    let side = |(device, all): (f64, f64)| [device, all].map(number::nanos);
    (waits(a) && waits(b)).then(|| {
        let (a, b) = (side(a), side(b));
        text::waiting_above([(names.0, &a[0], &a[1]), (names.1, &b[0], &b[1])])
    })
}

/// The 99th percentile of the latency, as text: `69 ms to 108 ms` for two runs that cannot be merged.
pub(super) fn tail(phase: &PhaseSummary) -> Option<String> {
    let known = percentile(
        (&phase.latency, &phase.detail.latency_by_run),
        Quantile::P99,
    )?;
    Some(known.text(|ns| Nanos(ns.round() as u64).to_string()))
}

/// Says that there are too few I/Os for a percentile.
fn too_few(latency: Option<&LatencySummary>, q: Quantile) -> Option<Shown> {
    let count = latency?.count;
    (count > 0 && !q.has_enough(count)).then_some(Shown::TooFew)
}

/// The merged percentile. Percentiles from other programs cannot be merged; for several runs, this is their minimum
/// and maximum.
fn percentile(
    (merged, by_run): (&Option<LatencySummary>, &[(Quantile, Estimate)]),
    q: Quantile,
) -> Option<Shown> {
    let merged = merged.as_ref();
    if let Some(value) = merged.and_then(|latency| crate::results::quantile(latency, q)) {
        return Some(Shown::One(value.0 as f64));
    }
    let (_, estimate) = by_run.iter().find(|(other, _)| *other == q)?;
    let low = estimate.values.iter().copied().reduce(f64::min)?;
    let high = estimate.values.iter().copied().reduce(f64::max)?;
    Some(match low < high {
        true => Shown::Range(low, high),
        false => Shown::One(low),
    })
}

/// Formats a factor: `6.31×`, `0.43×`, `120×`.
fn times(value: f64) -> String {
    match value {
        1e15.. => format!("{value:.2e}×"),
        100.0.. => format!("{value:.0}×"),
        10.0.. => format!("{value:.1}×"),
        _ => format!("{value:.2}×"),
    }
}

//! The figures of a phase on both sides.

use super::*;
use crate::text::ComparedFigureName as Name;
use hakaru_model::finding::WorkloadShape;
use hakaru_model::job::Op;

/// Phases of two sides that are compared.
type PhasePair<'a> = (&'a PhaseSummary, &'a PhaseSummary);

/// The figures of all phases, each with a title.
pub(super) fn all_figures(phases: &[PhasePair<'_>], names: (&str, &str)) -> Vec<DocumentBlock> {
    let of_phase = |&pair: &PhasePair<'_>| {
        let (a, _) = pair;
        let name = workload::of_operation(&a.phase, a.op);
        let mut table = figures(pair, names);
        table.rows.extend(both_directions(pair, phases));
        [
            DocumentBlock::Title(format!("{name}: {}", text::described(a))),
            DocumentBlock::Table(TableStyle::Numbers, table),
        ]
    };
    phases.iter().flat_map(of_phase).collect()
}

/// The bandwidth of reads and writes together, below the writes of a mix. Reads that verify writes have the name of
/// their job too, but are no mix.
fn both_directions((a, b): PhasePair<'_>, phases: &[PhasePair<'_>]) -> Option<Vec<String>> {
    a.detail.shape.filter(WorkloadShape::is_mixed)?;
    let is_read = |(of, _): &&PhasePair<'_>| of.phase == a.phase && of.op == Op::Read;
    let (read_a, read_b) = phases.iter().find(is_read).filter(|_| a.op == Op::Write)?;
    let [a, b] = [(a, read_a), (b, read_b)].map(|(x, y)| x.bandwidth.mean + y.bandwidth.mean);
    let name = Name::BothDirections.text().to_owned();
    Some(vec![name, rate(a), rate(b), times(b / a)])
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
fn figures((a, b): PhasePair<'_>, names: (&str, &str)) -> DataTable {
    let runs = |phase: &PhaseSummary| phase.bandwidth.values.len().to_string();
    let runs = [Head::ComparedRuns.into(), runs(a), runs(b), String::new()];
    let rates = rates().into_iter().map(|(name, show, of)| {
        let figure = |phase| of(phase).map(Shown::One);
        (name.into(), show, [figure(a), figure(b)])
    });
    let of_kind = |kind: FigureKind| move |figure: ComparedFigure| (figure, kind);
    let mut all: Vec<(ComparedFigure, FigureKind)> =
        rates.map(of_kind(FigureKind::Total)).collect();
    // Latencies stand between the rates and the figures over time.
    let latencies = latencies(a, b).into_iter();
    all.splice(2..2, latencies.map(of_kind(FigureKind::Time)));
    all.extend(over_time(a, b).map(of_kind(FigureKind::OverTime)));
    let is_like = match [a, b].map(intervals) {
        [Some(a), Some(b)] => a.has_comparable_intervals(b),
        _ => true,
    };
    let known = all
        .into_iter()
        .filter(|((_, _, sides), _)| *sides != [None; 2]);
    let rows = known.map(|((name, show, sides), kind)| {
        let is_time = kind == FigureKind::Time;
        let rounded = |a, b| is_time.then(|| of_times(a, b)).flatten();
        let [a, b] = sides.map(|side| side.map_or("–".to_owned(), |side| side.text(show)));
        let ratio = match sides {
            _ if kind == FigureKind::OverTime && !is_like => "–".to_owned(),
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

/// Kinds of figures, whose ratios differ in rounding and in when there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FigureKind {
    Total,
    Time,
    OverTime,
}

fn rate(bytes_per_second: f64) -> String {
    BytesPerSec(bytes_per_second).to_string()
}

fn rates() -> [PhaseFigure; 3] {
    [
        (Name::Bandwidth, rate, |p| Some(p.bandwidth.mean)),
        (Name::Iops, |v| Iops(v).to_string(), |p| Some(p.iops.mean)),
        (
            Name::MovedInAll,
            |v| Bytes(v as u64).to_string(),
            |p| Some(p.detail.moved_in_all.0 as f64).filter(|&n| n > 0.0),
        ),
    ]
}

/// The bandwidth over time, with the length of the intervals of both sides.
fn over_time(a: &PhaseSummary, b: &PhaseSummary) -> impl Iterator<Item = ComparedFigure> {
    let lengths = [a, b].map(|phase| Some(number::interval_length(intervals(phase)?.interval?)));
    let lengths = match lengths {
        [Some(a), Some(b)] if a == b => format!(" ({a})"),
        [Some(a), Some(b)] => format!(" ({a} / {b})"),
        [Some(of), None] | [None, Some(of)] => format!(" ({of})"),
        [None, None] => String::new(),
    };
    let of_both =
        |of: fn(&Sustained) -> f64| [a, b].map(|phase| Some(Shown::One(of(intervals(phase)?))));
    let figures = [
        (Name::LeastOverTime, of_both(|of| of.min.0)),
        (Name::MostOverTime, of_both(|of| of.max.0)),
        (Name::DeviationOverTime, of_both(|of| of.deviation.0)),
    ];
    figures.into_iter().map(move |(name, sides)| {
        let show: fn(f64) -> String = rate;
        (String::from(name) + &lengths, show, sides)
    })
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

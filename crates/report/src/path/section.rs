//! The blocks of the section: sentences, marks, charts and tables of each traced phase.

use super::differences::SideDifference;
use super::{PathPhase, PathSide, PathSubject, depth, figures, phases, pictures, tables};
use crate::chart::{Chart, Section};
use crate::document::{DocumentBlock, TableStyle, folded, part};
use crate::escape::plain;
use crate::naming::distinct;
use crate::table::DataTable;
use crate::text::{self, BecameText, PathLabel};
use hakaru_model::finding::Summary;
use hakaru_model::io_path::{
    ClassTraffic, IoClass, IoPath, IssuerKind, PathFigure, TimePart, TraceMethod,
};
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;

/// How much of the section a report contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// A page: charts, with tables collapsed.
    Whole,
    /// A terminal: collapsed content would be omitted, so tables are not collapsed.
    Terminal,
    /// Sentences only.
    Words,
}

/// The section of a page; empty without traced runs.
pub(crate) fn blocks(subjects: &[PathSubject<'_>]) -> Vec<DocumentBlock> {
    part(Section::Path.title(), of_phases(subjects, Depth::Whole))
}

/// All charts of the section.
pub(crate) fn charts(subjects: &[PathSubject<'_>]) -> Vec<Chart> {
    let mut charts = Vec::new();
    collect(&of_phases(subjects, Depth::Whole), &mut charts);
    charts
}

fn collect(blocks: &[DocumentBlock], charts: &mut Vec<Chart>) {
    for block in blocks {
        match block {
            DocumentBlock::Charts(some) => charts.extend(some.iter().cloned()),
            DocumentBlock::Fold(fold) => collect(&fold.blocks, charts),
            _ => {}
        }
    }
}

/// Number of pictures of the flow up to which a page collapses no charts.
const OPEN: usize = 2;

/// The blocks of all traced phases.
pub(super) fn of_phases(subjects: &[PathSubject<'_>], depth: Depth) -> Vec<DocumentBlock> {
    let phases = phases(subjects);
    let sides = || phases.iter().flat_map(|phase| &phase.sides);
    let full = sides()
        .map(|side| figures::widest(side.path()))
        .fold(1.0, f64::max);
    let few = sides().count() <= OPEN;
    // Of many phases, one shows its charts: where an fsync waits, the path has most to say.
    let synced = |phase: &PathPhase<'_>| phase.sides.iter().any(|side| figures::syncs(side.path()));
    let key = phases.iter().position(synced).unwrap_or(0);
    let mut names = Vec::new();
    let mut blocks = Vec::new();
    for (i, phase) in phases.iter().enumerate() {
        let mut charts = PhaseCharts::of(phase, full);
        charts.number_doubles(&mut names);
        let room = match (few, i == key) {
            (true, _) => ChartRoom::All,
            (false, true) => ChartRoom::Main,
            (false, false) => ChartRoom::None,
        };
        blocks.extend(of_phase(phase, charts, depth, room, i == 0));
    }
    blocks
}

/// The charts of a phase that a page does not collapse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChartRoom {
    All,
    Main,
    None,
}

/// The charts of a phase.
struct PhaseCharts {
    /// What is always shown: flow, time, differences.
    main: Vec<Chart>,
    /// Addresses, queue depth and sizes.
    more: Vec<Chart>,
}

impl PhaseCharts {
    fn of(phase: &PathPhase<'_>, full: f64) -> PhaseCharts {
        let sides = &phase.sides;
        let flows = sides.iter().map(|side| pictures::flow(phase, side, full));
        let mut main: Vec<Chart> = flows.collect();
        main.extend(pictures::shares(phase));
        main.extend(phase.differences.iter().flat_map(|of| of.charts(phase)));
        let more = sides.iter().flat_map(|side| {
            let charts = [
                pictures::addresses(phase, side),
                pictures::sizes(phase, side),
                depth::depth(phase, side),
            ];
            charts.into_iter().flatten()
        });
        PhaseCharts {
            main,
            more: more.collect(),
        }
    }

    /// Makes the names unique on the page.
    fn number_doubles(&mut self, names: &mut Vec<String>) {
        for chart in self.main.iter_mut().chain(&mut self.more) {
            let base = chart.name.clone();
            let mut nth = 1;
            while names.contains(&chart.name) {
                nth += 1;
                chart.name = format!("{base}-{nth}");
            }
            names.push(chart.name.clone());
        }
    }
}

fn of_phase(
    phase: &PathPhase<'_>,
    charts: PhaseCharts,
    depth: Depth,
    room: ChartRoom,
    is_first: bool,
) -> Vec<DocumentBlock> {
    let differ = phase.differences.iter().flat_map(SideDifference::sentences);
    let mut facts: Vec<(String, String)> = differ.map(|said| (String::new(), said)).collect();
    let extent = match phase.sides.len() {
        1 => SentenceDetail::Everything,
        _ => SentenceDetail::Essential,
    };
    for side in &phase.sides {
        let said = sentences(side, extent).into_iter();
        facts.extend(said.map(|said| (side.name.clone(), said)));
    }
    let mut blocks = vec![
        DocumentBlock::Title(phase.name.clone()),
        DocumentBlock::Facts(facts),
        DocumentBlock::Caveats(marks(phase, is_first)),
    ];
    let [main, more] = [charts.main, charts.more].map(DocumentBlock::Charts);
    let tables = tables_of(phase);
    let (open, about, closed) = match (depth, room) {
        (Depth::Words, _) => (Vec::new(), PathLabel::Tables, Vec::new()),
        (Depth::Terminal, _) => ([vec![main], tables].concat(), PathLabel::Tables, Vec::new()),
        (Depth::Whole, ChartRoom::All) => (vec![main, more], PathLabel::Tables, tables),
        (Depth::Whole, ChartRoom::Main) => {
            let closed = [vec![more], tables].concat();
            (vec![main], PathLabel::AddressesAndTables, closed)
        }
        (Depth::Whole, ChartRoom::None) => {
            let closed = [vec![main, more], tables].concat();
            (Vec::new(), PathLabel::ChartsAndTables, closed)
        }
    };
    blocks.extend(open);
    if !closed.is_empty() {
        blocks.push(folded(format!("{}, {}", about.text(), phase.name), closed));
    }
    blocks.retain(|block| !matches!(block, DocumentBlock::Charts(charts) if charts.is_empty()));
    blocks
}

/// Shares below this are not worth a place in a sentence.
const WORTH: f64 = 0.05;

/// How much sentences say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SentenceDetail {
    Everything,
    /// What the requests were, and where the time of a median operation went; for several sides, whose charts and tables
    /// have the rest.
    Essential,
}

/// What the path says, most important first.
fn sentences(side: &PathSide<'_>, extent: SentenceDetail) -> Vec<String> {
    let path = side.path();
    let percentiles = match extent {
        SentenceDetail::Everything => usize::MAX,
        SentenceDetail::Essential => 1,
    };
    let mut said = Vec::new();
    let layer = path.disk.filesystem.as_deref().map(plain);
    for op in figures::asked_ops(path) {
        said.extend(became(path, op, layer.as_deref()));
    }
    let main = figures::main_operation(path);
    for percentile in main
        .map(figures::percentiles)
        .into_iter()
        .flatten()
        .take(percentiles)
    {
        let of = main.map_or_else(String::new, |of| {
            text::traced_operation(of.op, of.with_sync)
        });
        let total = percentile.parts.total();
        let mut parts = figures::chart_parts(percentile.parts);
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        let shares = parts.into_iter().map(|(part, nanos)| (part, nanos / total));
        let shares: Vec<_> = shares
            .filter(|(_, share)| *share >= WORTH)
            .take(4)
            .collect();
        let journal = figures::has_journal(path);
        said.push(text::time_went(&of, percentile.name, &shares, journal));
    }
    let syncs = path
        .operations
        .iter()
        .any(|of| of.with_sync || of.op.is_none());
    if syncs && !path.disk.flushes_sent {
        said.push(text::no_flushes(&plain(&path.disk.name)));
    }
    said.extend(limit(side));
    said.retain(|said| !said.is_empty());
    if extent == SentenceDetail::Essential {
        return said;
    }
    said.extend(waited_behind(path));
    for op in figures::asked_ops(path) {
        let asked = figures::asked_bytes(path, Some(op));
        let moved = figures::moved_by(path, op);
        if asked > 0.0 {
            said.push(text::host_amplification(op, moved as f64 / asked));
        }
    }
    said.extend(merges(path));
    said.extend(others(path));
    said.retain(|said| !said.is_empty());
    said
}

/// What limits the speed; `None` if events were lost.
fn limit(side: &PathSide<'_>) -> Option<String> {
    if side.shown.findings.incomplete || side.path().window.0 == 0 {
        return None;
    }
    let share = side.figure(PathFigure::DeviceShare)?.mean;
    Some(text::path_limit(
        side.series.limit,
        share,
        side.series.runs.len(),
    ))
}

/// What the main operation waited behind, if that is a relevant part of its time.
fn waited_behind(path: &IoPath) -> Option<String> {
    let of = figures::main_operation(path)?;
    let total = of.mean.of(TimePart::WaitingBehind);
    if total < WORTH * of.mean.total() || of.behind.is_empty() {
        return None;
    }
    let mut classes: Vec<(IoClass, f64)> =
        of.behind.iter().map(|it| (it.class, it.nanos)).collect();
    classes.sort_by(|a, b| b.1.total_cmp(&a.1));
    classes.retain(|(_, nanos)| *nanos >= WORTH * total);
    classes.truncate(4);
    let operation = text::traced_operation(of.op, of.with_sync);
    (!classes.is_empty()).then(|| text::waited_behind(&operation, total, &classes))
}

/// What each I/O of an operation became; `None` if no request belongs to it.
fn became(path: &IoPath, op: Op, layer: Option<&str>) -> Option<String> {
    let ios = figures::asked_count(path, op).max(1) as f64;
    let per_io = |class: &ClassTraffic| (class.class, class.requests as f64 / ios);
    let classes: Vec<(IoClass, f64)> = figures::classes(path, op).map(per_io).collect();
    let bytes = figures::moved_by(path, op);
    (!classes.is_empty()).then(|| {
        text::became(&BecameText {
            layer,
            op,
            size: figures::only_size(path, op),
            requests: figures::requests(path, op) as f64 / ios,
            bytes: bytes as f64 / ios,
            classes,
        })
    })
}

/// Merged and split bios, if they are more than single ones.
fn merges(path: &IoPath) -> Vec<String> {
    let groups = figures::groups(path);
    let bios = figures::sum(groups.iter().map(|sum| sum.bios));
    let merges = figures::sum(groups.iter().map(|sum| sum.merges));
    let splits = figures::sum(groups.iter().map(|sum| sum.splits));
    let mut said = Vec::new();
    if merges >= (bios / 100).max(1) {
        said.push(text::merged_bios(merges, bios));
    }
    if splits >= (bios / 100).max(1) {
        said.push(text::split_bios(splits));
    }
    said
}

/// Traffic that no worker caused directly.
fn others(path: &IoPath) -> Vec<String> {
    let kinds = [
        IssuerKind::Kernel,
        IssuerKind::OwnProcess,
        IssuerKind::OtherProcess,
    ];
    let of_kind = |kind: IssuerKind| {
        let issuers = path.classes.iter().flat_map(|class| &class.issuers);
        let of_kind: Vec<_> = issuers.filter(|issuer| issuer.kind == kind).collect();
        let bytes = figures::sum(of_kind.iter().map(|issuer| issuer.bytes.0));
        let names = distinct(of_kind.iter().map(|issuer| plain(&issuer.name)));
        let names: Vec<&str> = names.iter().map(String::as_str).take(4).collect();
        (bytes > 0).then(|| text::other_issuers(kind, Bytes(bytes), &names))?
    };
    kinds.into_iter().filter_map(of_kind).collect()
}

/// Weaknesses of the figures of all sides; the first phase of a section has what holds for all of them.
fn marks(phase: &PathPhase<'_>, is_first: bool) -> Vec<(String, String)> {
    let common = is_first.then(|| (String::new(), text::traced_run().to_owned()));
    let mut items: Vec<(String, String)> = common.into_iter().collect();
    for side in &phase.sides {
        items.extend(
            marks_of(side)
                .into_iter()
                .map(|said| (side.name.clone(), said)),
        );
    }
    items
}

fn marks_of(side: &PathSide<'_>) -> Vec<String> {
    let path = side.path();
    let tracer = &path.tracer;
    let mut marks = Vec::new();
    let counted = figures::sum(tracer.events.iter().map(|event| event.counted));
    let lost = figures::sum(
        tracer
            .events
            .iter()
            .flat_map(|event| [event.lost, event.missing]),
    );
    let complete = match side.shown.findings.incomplete {
        true => {
            marks.push(text::events_lost(tracer.lost_share(), lost, counted));
            String::new()
        }
        false => text::events_complete(lost, counted),
    };
    let cost = match &path.cost {
        Some(cost) => text::trace_cost(cost),
        None => text::trace_cost_unknown(path.cost_unknown),
    };
    marks.push(match complete.is_empty() || counted == 0 {
        true => cost,
        false => format!("{cost}; {complete}"),
    });
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

/// The tables of a phase: classes of each side, figures over the traced runs, and the check of the differences.
fn tables_of(phase: &PathPhase<'_>) -> Vec<DocumentBlock> {
    let titled = |title: String, style: TableStyle, table: Option<DataTable>| {
        let table = table.filter(|table| !table.rows.is_empty());
        let blocks = table.map(|table| {
            [
                DocumentBlock::Title(title),
                DocumentBlock::Table(style, table),
            ]
        });
        blocks.into_iter().flatten()
    };
    let mut blocks = Vec::new();
    for side in &phase.sides {
        let table = tables::class_table(side.path());
        let title = text::class_table_title(&phase.name, &side.name);
        blocks.extend(titled(
            title,
            TableStyle::Fitted(&[11, 10, 8, 7, 4]),
            Some(table),
        ));
    }
    let figures = tables::figure_table(phase);
    let title = text::figure_table_title(&phase.name);
    blocks.extend(titled(title, TableStyle::Numbers, figures));
    let identity = tables::identity_table(phase);
    let has_identity = identity.is_some();
    let title = text::identity_table_title(&phase.name);
    blocks.extend(titled(title, TableStyle::Numbers, identity));
    if has_identity {
        blocks.push(DocumentBlock::Quiet(text::identity_note().to_owned()));
    }
    let refused = phase.differences.iter();
    let refused = distinct(refused.flat_map(SideDifference::without_prices));
    blocks.extend(refused.into_iter().map(DocumentBlock::Quiet));
    blocks
}

/// The sentences of the traced phases of one series, for a short report.
pub(crate) fn in_brief(summary: &Summary) -> Vec<(String, String)> {
    let subjects = [(String::new(), summary)];
    let phases = phases(&subjects);
    let of_phase = |phase: &PathPhase<'_>| {
        let sides = phase.sides.iter();
        let said = sides.flat_map(|side| sentences(side, SentenceDetail::Essential));
        said.map(|said| (phase.name.clone(), said))
            .collect::<Vec<_>>()
    };
    phases.iter().flat_map(of_phase).collect()
}

/// Why two series differ, for a terminal: sentences and differences by part. Empty without traced runs.
pub(crate) fn compared(subjects: &[PathSubject<'_>]) -> Vec<DocumentBlock> {
    let of_phase = |phase: &PathPhase<'_>| {
        let differ = phase.differences.iter();
        let mut facts: Vec<(String, String)> = differ
            .clone()
            .flat_map(SideDifference::sentences)
            .map(|said| (String::new(), said))
            .collect();
        for side in &phase.sides {
            facts.extend(limit(side).map(|said| (side.name.clone(), said)));
        }
        let charts: Vec<Chart> = differ.flat_map(|of| of.charts(phase)).collect();
        [
            DocumentBlock::Title(phase.name.clone()),
            DocumentBlock::Facts(facts),
            DocumentBlock::Charts(charts),
        ]
    };
    let phases = phases(subjects);
    let differing = phases.iter().filter(|phase| !phase.differences.is_empty());
    part(
        Section::Path.title(),
        differing.flat_map(of_phase).collect(),
    )
}

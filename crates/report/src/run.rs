//! The report of runs: one series, or a comparison of several.

mod conclusions;

use conclusions::conclusions_of;
pub(crate) use conclusions::{choice_reasons, uses_of};

use crate::chart::{self, Section, charts};
use crate::document::{
    AnswerBlock, ChartParts, ColumnStyle, Document, DocumentBlock, Fold, Pair, TableStyle, beside,
    folded, part, worst_caveats,
};
use crate::escape::plain;
use crate::findings::ConclusionKind;
use crate::merged::RankedCaveat;
use crate::number;
use crate::rate_card::rate_card;
use crate::results;
use crate::table::{self, DataTable};
use crate::text::{self, ErrorCount, Head, PagePart};
use crate::workload::{with_workloads_described, with_workloads_of};
use crate::{answer, facts, merged, naming, path};
use hakaru_model::advice::RunFindings;
use hakaru_model::campaign::PreparedStep;
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{PhaseSummary, Summary, SummaryOrigin};
use hakaru_model::method::{MethodTitle, PreparationMethod};
use hakaru_model::units::BytesPerSec;

/// Renders series as one self-contained HTML page.
pub fn html(summaries: &[Summary]) -> String {
    html_with(summaries, &[])
}

/// Renders series with their conclusions; series without an element in `findings` have none.
pub fn html_with(summaries: &[Summary], findings: &[RunFindings]) -> String {
    with_workloads_described(summaries, || document(summaries, findings).html())
}

/// Renders series as Markdown.
pub fn markdown(summaries: &[Summary]) -> String {
    markdown_with(summaries, &[], None)
}

/// Renders series with their conclusions as Markdown; `charts` is the directory of the charts of
/// [`charts`](crate::charts()), which are linked as `NAME.svg`, if they are saved.
pub fn markdown_with(
    summaries: &[Summary],
    findings: &[RunFindings],
    charts: Option<&str>,
) -> String {
    with_workloads_described(summaries, || document(summaries, findings).markdown(charts))
}

/// Renders one series for a terminal of `width` columns; `color` allows ANSI styles.
pub fn terminal(summary: &Summary, width: usize, color: bool) -> String {
    terminal_with(summary, &RunFindings::default(), width, color)
}

/// Renders one series with its conclusions for a terminal.
pub fn terminal_with(
    summary: &Summary,
    findings: &RunFindings,
    width: usize,
    color: bool,
) -> String {
    let one = std::slice::from_ref(summary);
    with_workloads_of(one, || brief(summary, findings).terminal(width, color))
}

fn document(summaries: &[Summary], findings: &[RunFindings]) -> Document {
    let title = match summaries {
        [single] => facts::headline(single),
        many => of_common(many, &text::series_compared(many.len())),
    };
    page(title, summaries, findings, PageParts::default())
}

/// Title of a report on series of one target: `SanDisk MAX Endurance: ext4 against vfat`.
pub(crate) fn of_common(summaries: &[Summary], title: &str) -> String {
    naming::common(summaries).map_or_else(|| title.to_owned(), |thing| format!("{thing}: {title}"))
}

/// What a page adds to the report on its series.
#[derive(Default)]
pub(crate) struct PageParts {
    /// The answer; otherwise the one of the series.
    pub(crate) answer: Option<AnswerBlock>,
    /// The first screen beside the key chart; otherwise the figures of the series.
    pub(crate) first: Vec<DocumentBlock>,
    /// The charts; otherwise those of the series.
    pub(crate) charts: Option<Vec<chart::Chart>>,
    /// Name of the chart of the first screen; otherwise the one of the series.
    pub(crate) key: Option<String>,
    /// Follows the first screen.
    pub(crate) verdicts: Vec<DocumentBlock>,
    /// Whether the first screen has the figures of all charts, so that they are collapsed.
    pub(crate) collapsed: bool,
    /// Caveats beside those of the series.
    pub(crate) caveats: Vec<RankedCaveat>,
}

/// The whole report.
pub(crate) fn page(
    title: String,
    summaries: &[Summary],
    findings: &[RunFindings],
    parts: PageParts,
) -> Document {
    let names = naming::series(summaries);
    let subjects: Vec<(String, &Summary)> = names.iter().cloned().zip(summaries).collect();
    let charts = parts.charts.unwrap_or_else(|| charts(summaries));
    let key = parts.key.or_else(|| key_chart(summaries, &charts));
    let answer = parts
        .answer
        .or_else(|| answer::of_series(summaries, findings, &names));
    let mut blocks: Vec<DocumentBlock> = answer.into_iter().map(DocumentBlock::Answer).collect();
    let first = match parts.first.is_empty() {
        true => first_figures(summaries, &names),
        false => parts.first,
    };
    let key_chart = charts
        .iter()
        .find(|chart| Some(&chart.name) == key.as_ref());
    let key_block = key_chart.map(|chart| DocumentBlock::KeyChart(Box::new(chart.clone())));
    let mut caveats = merged::ranked(&subjects, |_| true);
    caveats.extend(parts.caveats);
    let caveats = merged::rank(caveats);
    let worst = worst_caveats(&caveats);
    let uses = conclusions_of(ConclusionKind::Uses, findings, &names, summaries);
    let screen = match summaries.len() {
        1 => beside_card(first, key_block, uses, worst),
        _ => below_matrix(first, key_block, uses, worst),
    };
    blocks.extend(screen);
    match parts.verdicts.is_empty() {
        true => blocks.push(DocumentBlock::Facts(sentences(summaries, &names))),
        // They are among the verdicts.
        false => blocks.extend(parts.verdicts),
    }
    let mut phases = summaries.iter().flat_map(|summary| &summary.phases);
    let sections = ChartParts {
        charts: &charts,
        key: key.as_deref(),
        level: text::charts_of_even_phases(),
        tables: figures(&subjects),
        rates_shown: summaries.len() == 1,
        layer_cost: Vec::new(),
        path: path::blocks(&subjects),
        collapsed: parts.collapsed,
        amplification_told: phases.any(|phase| phase.amplification.is_some()),
    };
    blocks.extend(sections.blocks());
    let [claims, bottleneck, standings] = [
        ConclusionKind::Claims,
        ConclusionKind::Limits,
        ConclusionKind::Standings,
    ]
    .map(|kind| conclusions_of(kind, findings, &names, summaries));
    blocks.extend(beside(
        ColumnStyle::Halves,
        claims,
        [bottleneck, standings].concat(),
    ));
    blocks.extend(limits(caveats, &subjects, sections.missing()));
    blocks.push(DocumentBlock::Footer(text::method().to_owned()));
    Document {
        title,
        under: origins(&subjects),
        blocks,
    }
}

/// The figures of the first screen: the card of a single series, or the matrix of several.
fn first_figures(summaries: &[Summary], names: &[String]) -> Vec<DocumentBlock> {
    match summaries {
        [] => vec![DocumentBlock::Text(text::nothing_to_report().to_owned())],
        [single] => {
            let card = rate_card(single).map(DocumentBlock::RateCard);
            card.into_iter().collect()
        }
        many => answer::matrix_of_series(many, names),
    }
}

/// The first screen of a single series: the chart beside the card, and the worst caveats beside the uses, or below the
/// chart where a card of many rows leaves room.
fn beside_card(
    card: Vec<DocumentBlock>,
    chart: Option<DocumentBlock>,
    uses: Vec<DocumentBlock>,
    worst: Option<DocumentBlock>,
) -> Vec<DocumentBlock> {
    let mut right: Vec<DocumentBlock> = chart.into_iter().collect();
    let mut beside_uses: Vec<DocumentBlock> = worst.into_iter().collect();
    if card.iter().any(is_tall) && !right.is_empty() {
        right.append(&mut beside_uses);
    }
    let mut blocks = beside(ColumnStyle::Halves, card, right);
    blocks.extend(beside(ColumnStyle::Lead, uses, beside_uses));
    blocks
}

/// The first screen of several series: the chart below the figures.
fn below_matrix(
    mut figures: Vec<DocumentBlock>,
    chart: Option<DocumentBlock>,
    uses: Vec<DocumentBlock>,
    worst: Option<DocumentBlock>,
) -> Vec<DocumentBlock> {
    let (chart, worst) = (chart.into_iter().collect(), worst.into_iter().collect());
    figures.extend(beside(ColumnStyle::Lead, chart, worst));
    figures.extend(uses);
    figures
}

/// Rows of a rate card that is about as high as a chart.
const USUAL_ROWS: usize = 5;

/// Whether a block is a rate card that is higher than a chart.
fn is_tall(block: &DocumentBlock) -> bool {
    matches!(block, DocumentBlock::RateCard(card) if card.rows.len() > USUAL_ROWS)
}

/// Name and origin of each series; a single one needs no name.
fn origins(subjects: &[(String, &Summary)]) -> Vec<(String, String)> {
    let is_single = subjects.len() == 1;
    let of = |(name, summary): &(String, &Summary)| match is_single {
        true => (String::new(), origin(summary)),
        false => (name.clone(), origin(summary)),
    };
    subjects.iter().map(of).collect()
}

/// Name of the chart that shows the largest effect: the lasting drop of speed that the answer names or another one, then
/// latency, then speed.
fn key_chart(summaries: &[Summary], charts: &[chart::Chart]) -> Option<String> {
    if let [single] = summaries {
        let answered = answer::falling(single).map(|(at, _)| {
            let id = naming::phase_id(single, &single.phases[at]);
            chart::over_time_name(&id)
        });
        if let Some(name) = answered.filter(|name| charts.iter().any(|of| of.name == *name)) {
            return Some(name);
        }
    }
    let phases = summaries.iter().flat_map(|summary| &summary.phases);
    let dropped = phases
        .filter_map(|phase| phase.sustained.as_ref())
        .any(|s| s.cliff.is_some());
    let order: &[Section] = match (summaries.len(), dropped) {
        (1, true) => &[Section::Sustained, Section::Latency, Section::Speed],
        (1, false) => &[Section::Latency, Section::Speed],
        _ => &[Section::Speed],
    };
    let of_section = |section: &Section| charts.iter().find(|chart| chart.section == *section);
    order
        .iter()
        .find_map(of_section)
        .map(|chart| chart.name.clone())
}

/// The tables below the charts of the speed.
fn figures(subjects: &[(String, &Summary)]) -> Vec<DocumentBlock> {
    let table = |(name, summary): &(String, &Summary)| {
        let about = match subjects.len() {
            1 => text::every_figure().to_owned(),
            _ => text::every_figure_of(name),
        };
        folded(about, of_series(summary))
    };
    let measured = subjects
        .iter()
        .filter(|(_, summary)| !summary.phases.is_empty());
    let failed = subjects.iter().flat_map(|(_, summary)| failed(summary));
    let failed = DocumentBlock::Facts(failed.collect());
    std::iter::once(failed).chain(measured.map(table)).collect()
}

/// All caveats, the method, and the environment.
fn limits(
    caveats: Vec<(String, String)>,
    subjects: &[(String, &Summary)],
    missing: Option<DocumentBlock>,
) -> Vec<DocumentBlock> {
    let circumstances = subjects.iter().map(|(name, summary)| {
        let about = match subjects.len() {
            1 => text::environment().to_owned(),
            _ => text::environment_of(name),
        };
        folded(
            about,
            vec![DocumentBlock::Pairs(self::circumstances(summary))],
        )
    });
    let blocks = std::iter::once(DocumentBlock::Limits(caveats)).chain(circumstances);
    let blocks = blocks.chain(missing.filter(|_| !subjects.is_empty()));
    part(text::page_part(PagePart::Limits), blocks.collect())
}

/// The environment of a measurement, which a reader can collapse.
pub(crate) fn target_device_and_host(blocks: Vec<DocumentBlock>, open: bool) -> DocumentBlock {
    DocumentBlock::Fold(Fold {
        about: text::environment().to_owned(),
        open,
        page: false,
        blocks,
    })
}

/// The short form of one series.
fn brief(summary: &Summary, findings: &RunFindings) -> Document {
    let table = results::columns(summary);
    let one = std::slice::from_ref(summary);
    let names = naming::series(one);
    let answer = answer::of_series(one, std::slice::from_ref(findings), &names);
    let answer = answer.into_iter().map(DocumentBlock::Answer);
    let mut blocks: Vec<DocumentBlock> = answer.collect();
    blocks.extend([
        DocumentBlock::Table(TableStyle::Described(results::WORKLOAD), table),
        DocumentBlock::Quiet(legend(summary)),
        DocumentBlock::Facts(sentences(std::slice::from_ref(summary), &[])),
        DocumentBlock::Caveats(merged::findings(&[(String::new(), summary)])),
    ]);
    for kind in ConclusionKind::ALL {
        blocks.extend(conclusions_of(
            kind,
            std::slice::from_ref(findings),
            &[],
            &[],
        ));
    }
    let path = DocumentBlock::Facts(path::in_brief(summary));
    blocks.extend(part(Section::Path.title(), vec![path]));
    let brief = facts::brief(summary).into_iter();
    let pairs = brief.map(|(name, value)| Pair::from((name.to_owned(), value)));
    blocks.push(DocumentBlock::Pairs(pairs.collect()));
    Document {
        title: facts::headline(summary),
        under: vec![(String::new(), origin(summary))],
        blocks,
    }
}

fn legend(summary: &Summary) -> String {
    let open = summary.phases.iter().any(|phase| phase.detail.open_loop);
    text::figures_legend(summary.runs.len() == 1, open)
}

/// What was measured if the headline is a title, number of runs, the program that measured them, and the start time.
fn origin(summary: &Summary) -> String {
    let (runs, begun) = (facts::runs(summary), facts::begun(summary));
    let titled = summary.annotations.title.is_some();
    let parts = titled.then(|| facts::measured(summary)).into_iter();
    let parts = parts.chain([runs, text::origin(&summary.origin), begun]);
    let parts = parts.chain(summary.annotations.note.as_deref().map(plain));
    parts.collect::<Vec<String>>().join(" · ")
}

/// Speed before and after a lasting drop, and its position; the mean would describe neither level.
pub(crate) fn levels(phase: &PhaseSummary) -> Option<(String, String)> {
    let cliff = phase.sustained.as_ref()?.cliff.as_ref()?;
    let level = |bw: BytesPerSec| number::significant(bw.0 / 1e6);
    Some((
        format!("{} → {}", level(cliff.before), level(cliff.after)),
        text::drop_at(cliff.at),
    ))
}

/// Sentences about each phase: variation, I/O amplification, and bytes written for laying out files.
pub(crate) fn sentences(summaries: &[Summary], names: &[String]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let several = names.len() > 1;
    for (index, summary) in summaries.iter().enumerate() {
        for phase in &summary.phases {
            let said = [
                // Of several series, only what is not even.
                facts::sustained(phase).filter(|_| !several || facts::is_uneven(phase)),
                facts::notable_amplification(phase),
                facts::laid_out(phase),
            ];
            let phase = naming::phase(summary, phase);
            let lead = match several {
                true => text::enumerated(&[names[index].clone(), phase]),
                false => phase,
            };
            all.extend(said.into_iter().flatten().map(|said| (lead.clone(), said)));
        }
    }
    all
}

/// The table of results with all figures of each phase, and all runs.
fn of_series(summary: &Summary) -> Vec<DocumentBlock> {
    let mut blocks = vec![DocumentBlock::Table(
        TableStyle::Numbers,
        results::table(summary),
    )];
    blocks.extend(every_run(summary).map(|table| {
        let table = DocumentBlock::Table(TableStyle::Numbers, table);
        folded(text::every_run(), vec![table])
    }));
    blocks
}

/// Maximum number of listed runs; the CSV contains all.
const MOST_RUNS: usize = 200;

/// Results of the single runs, one row each.
fn every_run(summary: &Summary) -> Option<DataTable> {
    let phases = summary.phases.iter();
    let runs = phases.map(|phase| phase.bandwidth.values.len()).max();
    let runs = runs.filter(|runs| (2..=MOST_RUNS).contains(runs))?;
    let column = |phase: &PhaseSummary| -> (String, Vec<f64>) {
        let of = naming::phase(summary, phase);
        let (unit, scale, values) = match chart::by_iops(phase) {
            true => ("IOPS", 1.0, &phase.iops.values),
            false => ("MB/s", 1e6, &phase.bandwidth.values),
        };
        let values = values.iter().map(|value| value / scale);
        (text::with_unit(&of, unit), values.collect())
    };
    let columns: Vec<(String, Vec<f64>)> = summary.phases.iter().map(column).collect();
    let head = table::row(Head::Run.text(), columns.iter().map(|c| c.0.clone()));
    let rows = (0..runs).map(|run| {
        let value = |(_, values): &(String, Vec<f64>)| {
            let value = values.get(run).copied();
            value.map_or("–".to_owned(), number::significant)
        };
        table::row((run + 1).to_string(), columns.iter().map(value))
    });
    Some(DataTable::new(head, rows))
}

/// Failed I/Os and other errors of each phase.
fn failed(summary: &Summary) -> Vec<(String, String)> {
    let mut items = Vec::new();
    for phase in &summary.phases {
        let counted = [
            (ErrorCount::FailedIos, phase.errors),
            (ErrorCount::Others, phase.detail.other_errors),
        ];
        for (what, count) in counted.into_iter().filter(|(_, count)| *count > 0) {
            let name = naming::phase(summary, phase);
            items.push((name, text::errors_counted(what, count)));
        }
    }
    items
}

/// Maximum number of listed run IDs; the store has all.
const IDS: usize = 20;

/// Formats a preparation step: `filled with 0xff, in 12 min 30 s`.
pub(crate) fn prepared(step: &PreparedStep) -> String {
    let done = text::step(&step.step);
    if step.elapsed.0 == 0 {
        done
    } else {
        text::step_took(&done, step.elapsed)
    }
}

/// Target, host and environment of the measurement.
fn circumstances(summary: &Summary) -> Vec<Pair> {
    let mut ids: Vec<String> = summary.runs.iter().take(IDS).map(|id| plain(id)).collect();
    if summary.runs.len() > IDS {
        let more = (summary.runs.len() - IDS) as u64;
        ids.push(text::and_more(more));
    }
    let lines = facts::circumstances(summary).into_iter().map(Pair::from);
    let is_simulated = summary.caveats.contains(&Caveat::Simulated);
    let is_own = matches!(summary.origin, SummaryOrigin::Measured { .. });
    let title = || text::method_head(MethodTitle::Preparation);
    let is_unprepared = is_own && !is_simulated && summary.prepared.is_empty();
    let unprepared = is_unprepared.then(|| {
        let steps = [PreparationMethod::Unprepared];
        Pair::from((title(), text::preparation_method(&steps)))
    });
    let steps: Vec<String> = summary.prepared.iter().map(prepared).collect();
    let steps = (!steps.is_empty()).then(|| Pair::from((title(), text::enumerated(&steps))));
    lines
        .chain(unprepared)
        .chain(steps)
        .chain([Pair::from((Head::RunIds.into(), text::enumerated(&ids)))])
        .collect()
}

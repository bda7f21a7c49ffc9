//! Results of comparisons, as text and tables.

mod answer;
mod bus;
mod circumstances;
mod figures;
mod matrix;
mod ratios;

use crate::chart::Chart;
use crate::document::{Document, DocumentBlock, TableStyle, folded, part};
use crate::escape;
use crate::ids;
use crate::merged;
use crate::number::{self, MeanText};
use crate::table::DataTable;
use crate::text::{self, Head, PagePart, PartLabel, RatioDirection};
use crate::workload::with_workloads_described;
use crate::{naming, path, run, workload};
use figures::all_figures;
use hakaru_model::advice::RunFindings;
use hakaru_model::conclusion::PairConclusion;
use hakaru_model::finding::{
    Comparison, Estimate, LatencySummary, PhaseSummary, Summary, SummaryOrigin, Sustained, Verdict,
};
use hakaru_model::io_path::PathDifference;
use hakaru_model::units::{Bytes, BytesPerSec, Iops, Nanos, Quantile};
pub(crate) use ratios::{of_times, ratio, ratio_ends, ratio_inside, times_within};

/// The verdict as text, with its p-value.
pub(crate) fn verdict(comparison: &Comparison) -> String {
    let p = comparison.p_adjusted.or(comparison.p_value);
    // A significant difference may be too small to matter.
    let little = comparison.is_little();
    let different = |direction| text::ComparisonText::Different {
        direction,
        little,
        p: p.map(probability),
    };
    let said = match comparison.verdict {
        Verdict::Different if comparison.ratio > 1.0 => different(RatioDirection::Higher),
        Verdict::Different if comparison.ratio < 1.0 => different(RatioDirection::Lower),
        Verdict::Different => different(RatioDirection::Unknown),
        Verdict::Equivalent => text::ComparisonText::Equivalent {
            p: comparison.p_equivalence.map(probability),
        },
        Verdict::Undecided { needed } => text::ComparisonText::Undecided {
            // Single runs of published figures are unknown.
            runs: comparison.a.values.len().min(comparison.b.values.len()),
            needed,
        },
    };
    text::comparison_verdict(&said)
}

/// Formats a p-value: `< 0.001`, `0.03`. More digits would suggest false precision.
pub(crate) fn probability(p: f64) -> String {
    match p {
        p if p < 0.001 => "< 0.001".to_owned(),
        p if p < 0.1 => number::exact(p, 3),
        p => number::exact(p, 2),
    }
}

/// The comparison with its sides swapped.
pub(crate) fn turned(of: &Comparison) -> Comparison {
    let inverse = |(low, high): (f64, f64)| (low > 0.0).then(|| (high.recip(), low.recip()));
    let negative = |(low, high): (f64, f64)| (-high, -low);
    Comparison {
        a: of.b.clone(),
        b: of.a.clone(),
        ratio: of.ratio.recip(),
        ratio_ci95: of.ratio_ci95.and_then(inverse),
        effect: of.effect.map(|g| -g),
        effect_ci95: of.effect_ci95.map(negative),
        delta: of.delta.map(|d| -d),
        ..of.clone()
    }
}

/// Formats an effect size: `-3.1 [-4.5, -1.7]`, the difference in units of the standard deviation.
pub(crate) fn effect(c: &Comparison) -> String {
    let Some(g) = c.effect else {
        return String::new();
    };
    let interval = c.effect_ci95.map(|(low, high)| {
        format!(
            " [{}, {}]",
            number::significant(low),
            number::significant(high)
        )
    });
    let caveats = if interval.is_some() {
        number::in_brackets(&c.interval_caveats)
    } else {
        String::new()
    };
    format!(
        "{}{}{caveats}",
        number::significant(g),
        interval.unwrap_or_default()
    )
}

/// The tests behind the verdicts: two with different assumptions, and the effect sizes.
///
/// `None` if there were too few runs for any test.
fn tests(comparisons: &[Comparison]) -> Option<DataTable> {
    let p = |p: Option<f64>| p.map(probability).unwrap_or_default();
    let row = |c: &Comparison| {
        vec![
            quantity(c),
            p(c.p_value),
            p(c.p_adjusted),
            p(c.p_equivalence),
            p(c.p_value_ranks),
            effect(c),
            delta(c),
        ]
    };
    let head = [
        Head::Figure,
        Head::PWelch,
        Head::PCorrected,
        Head::PSame,
        Head::PRanks,
        Head::HedgesG,
        Head::CliffsDelta,
    ];
    let tested = comparisons.iter().filter(|c| c.p_value.is_some());
    DataTable::new(head.map(Head::text), tested.map(row)).nonempty()
}

/// Formats Cliff's delta, if it is known.
pub(crate) fn delta(c: &Comparison) -> String {
    c.delta
        .map(|delta| format!("{delta:+.2}"))
        .unwrap_or_default()
}

fn side(estimate: &Estimate, scale: f64) -> String {
    let mean = estimate.mean / scale;
    // fio prints long percentiles as whole milliseconds. More digits than it printed would claim a precision.
    if estimate.deviation.is_none() && mean.fract() == 0.0 {
        return number::in_groups(&number::exact(mean, 0));
    }
    number::in_groups(&MeanText::of(estimate, scale).to_string())
}

/// The compared figure without control characters.
fn quantity(c: &Comparison) -> String {
    workload::compared_figure(&c.quantity)
}

/// Display unit of a figure, and its factor.
fn readable(c: &Comparison) -> (&str, f64) {
    match &*c.unit {
        "B/s" => ("MB/s", 1e6),
        "ns" if c.a.mean.max(c.b.mean) < 1e6 => ("µs", 1e3),
        "ns" => ("ms", 1e6),
        unit => (unit, 1.0),
    }
}

/// The compared figure with its display unit.
fn figure_name(c: &Comparison) -> String {
    match readable(c).0 {
        // The name of the figure is its unit.
        "1/s" if c.quantity.ends_with(" IOPS") => quantity(c),
        unit => text::with_unit(&quantity(c), &escape::plain(unit)),
    }
}

fn table((a, b): (&str, &str), comparisons: &[Comparison]) -> DataTable {
    let (figure, ratio_head) = (Head::Figure.text(), Head::RatioInterval.text());
    let head = [figure, a, b, ratio_head, Head::Verdict.text()].map(escape::plain);
    let row = |c: &Comparison| {
        let scale = readable(c).1;
        vec![
            figure_name(c),
            side(&c.a, scale),
            side(&c.b, scale),
            ratio(c),
            verdict(c),
        ]
    };
    DataTable::new(head, comparisons.iter().map(row))
}

/// Renders comparisons as CSV (RFC 4180), one line each; the ratio is `b` to `a`. Below them are the differences of the
/// paths of the second side, if it was traced.
pub fn comparison_csv(
    comparisons: &[Comparison],
    names: (&str, &str),
    paths: &[PathDifference],
) -> String {
    let head = "figure,unit,a,a_n,a_mean,a_stdev,b,b_n,b_mean,b_stdev,ratio,ratio_ci95_low,ratio_ci95_high,p,p_adjusted,\
                p_ranks,effect,delta,verdict,effect_ci95_low,effect_ci95_high,p_equivalence,primary,family,interval_caveats,\
                difference,difference_ci95_low,difference_ci95_high";
    let lines = comparisons.iter().map(|c| csv_line(c, names));
    let paths = paths
        .iter()
        .flat_map(|of| path::csv::compared_lines(of, names));
    let lines = lines.chain(paths);
    format!("{head}\r\n{}", lines.collect::<String>())
}

fn csv_line(c: &Comparison, names: (&str, &str)) -> String {
    let exact = |value: f64| number::exact(value, 6);
    let side = |name: &str, e: &Estimate| {
        let deviation = e.deviation.map(exact).unwrap_or_default();
        let (name, n, mean) = (escape::csv(name), e.values.len(), exact(e.mean));
        format!("{name},{n},{mean},{deviation}")
    };
    let (low, high) = c.ratio_ci95.unzip();
    let tests = [c.p_value, c.p_adjusted, c.p_value_ranks, c.effect, c.delta];
    let tests = [&[low, high], &tests[..]].concat();
    let tests: Vec<String> = tests.into_iter().map(crate::csv::optional).collect();
    let (low, high) = c.effect_ci95.unzip();
    let more = [low, high, c.p_equivalence].map(crate::csv::optional);
    [
        escape::csv(&c.quantity),
        escape::csv(&c.unit),
        side(names.0, &c.a),
        side(names.1, &c.b),
        exact(c.ratio),
        tests.join(","),
        ids::comparison(c).to_owned(),
        more.join(","),
        c.primary.to_string(),
        c.family.to_string(),
        crate::csv::caveat_words(&c.interval_caveats) + ",,,\r\n",
    ]
    .join(",")
}

/// Renders a comparison of two series as one HTML page.
pub fn comparison_html(a: &Summary, b: &Summary, comparisons: &[Comparison]) -> String {
    comparison_html_with(&PairReport::of_figures((a, b), comparisons))
}

/// Renders a comparison of two series as Markdown.
pub fn comparison_markdown(a: &Summary, b: &Summary, comparisons: &[Comparison]) -> String {
    comparison_markdown_with(&PairReport::of_figures((a, b), comparisons), None)
}

/// Renders a comparison of two series with the conclusions from each as one HTML page.
pub fn comparison_html_with(of: &PairReport<'_>) -> String {
    with_workloads_described(of.both(), || document(of).html())
}

/// Renders a comparison of two series with the conclusions from each as Markdown; `charts` is the directory of the
/// charts of [`comparison_charts`](crate::comparison_charts()), which are linked as `NAME.svg`, if they are saved.
pub fn comparison_markdown_with(of: &PairReport<'_>, charts: Option<&str>) -> String {
    with_workloads_described(of.both(), || document(of).markdown(charts))
}

fn document(of: &PairReport<'_>) -> Document {
    let PairReport {
        sides: (a, b),
        phases,
        comparisons,
        findings,
        conclusion,
        ..
    } = *of;
    let both = [a.clone(), b.clone()];
    let both_names = naming::series(&both);
    let names = (both_names[0].as_str(), both_names[1].as_str());
    let title = run::of_common(&both, &text::against(names.1, names.0));
    let answer = answer::answer((a, b), names, phases, comparisons, conclusion);
    let main: Vec<&Comparison> = comparisons.iter().filter(|c| c.primary).collect();
    let numbers = |table| DocumentBlock::Table(TableStyle::Numbers, table);
    let mut first = Vec::new();
    if !main.is_empty() {
        first.push(matrix::matrix(names, &main));
    }
    let mut proven = Vec::new();
    let transfer = bus::transfer(names, phases, (a, b));
    proven.extend(transfer.map(DocumentBlock::Text));
    proven.extend(figures::waiting(names, phases).map(DocumentBlock::Text));
    let sentences = run::sentences(&both, &both_names);
    proven.extend((!sentences.is_empty()).then_some(DocumentBlock::Facts(sentences)));
    if !comparisons.is_empty() {
        let all = numbers(table(names, comparisons));
        proven.push(folded(text::every_figure(), vec![all]));
    }
    // Means, totals and extremes have no test, but are what an article compares.
    let untested = all_figures(phases, names);
    // One table is not worth folding away.
    match phases.len() {
        0 => {}
        1 => proven.extend(untested),
        _ => proven.push(folded(text::figures_of_workloads(), untested)),
    }
    if let Some(tests) = tests(comparisons) {
        let blocks = vec![
            DocumentBlock::Quiet(text::tests_note().to_owned()),
            numbers(tests),
        ];
        proven.push(folded(text::tests(), blocks));
    }
    if !comparisons.is_empty() {
        proven.push(DocumentBlock::Quiet(reading(comparisons, names, (a, b))));
    }
    let charts = crate::chart::comparison_charts(a, b, comparisons);
    let parts = run::PageParts {
        answer,
        first,
        key: key_chart(comparisons, &charts),
        charts: Some(charts),
        verdicts: part(text::page_part(PagePart::Proofs), proven),
        collapsed: true,
        caveats: circumstances::caveats((a, b), names, phases),
    };
    run::page(title, &both, findings, parts)
}

/// How to read the table: the direction of the ratios, and the words behind the intervals, if there are any.
fn reading(comparisons: &[Comparison], names: (&str, &str), sides: (&Summary, &Summary)) -> String {
    let with_caveats = |c: &Comparison| c.ratio_ci95.is_some() && !c.interval_caveats.is_empty();
    let direction = text::ratio_direction(names);
    let mut said = vec![&*direction];
    said.extend(from_fio(sides).then(text::units_of_fio));
    said.extend(comparisons.iter().any(with_caveats).then(text::intervals));
    text::paragraph(&said)
}

/// Whether a side is an output of fio, which prints bandwidths in binary units first.
fn from_fio((a, b): (&Summary, &Summary)) -> bool {
    let is_fio = |of: &Summary| matches!(&of.origin, SummaryOrigin::Imported { program, .. } if program.starts_with("fio"));
    is_fio(a) || is_fio(b)
}

/// Name of the chart of all ratios; with a single one, of the chart of its figure.
fn key_chart(comparisons: &[Comparison], charts: &[Chart]) -> Option<String> {
    let main = answer::largest(comparisons)?;
    let rates = comparisons.iter().filter(|c| c.primary).count();
    let wanted = match (rates, &*main.unit) {
        (2.., _) => "ratios",
        (_, "1/s") => "iops",
        _ => "bandwidth",
    };
    let chart = charts.iter().find(|chart| chart.name == wanted);
    chart.map(|chart| chart.name.clone())
}

/// A comparison of two sides, as a terminal shows it.
#[derive(Clone, Copy, Debug)]
pub struct PairReport<'a> {
    /// The sides.
    pub sides: (&'a Summary, &'a Summary),
    /// Their names.
    pub names: (&'a str, &'a str),
    /// Phases that both sides have.
    pub phases: &'a [(&'a PhaseSummary, &'a PhaseSummary)],
    /// Comparisons of these phases.
    pub comparisons: &'a [Comparison],
    /// Conclusions from each side; may be empty.
    pub findings: &'a [RunFindings],
    /// Conclusion of the comparison.
    pub conclusion: Option<&'a PairConclusion>,
}

impl<'a> PairReport<'a> {
    /// Only the comparisons, without conclusions.
    fn of_figures(sides: (&'a Summary, &'a Summary), comparisons: &'a [Comparison]) -> Self {
        PairReport {
            sides,
            names: ("", ""),
            phases: &[],
            comparisons,
            findings: &[],
            conclusion: None,
        }
    }

    fn both(&self) -> [&'a Summary; 2] {
        [self.sides.0, self.sides.1]
    }
}

/// Renders a comparison for a terminal of `width` columns: all figures of the phases that both sides have, their
/// verdicts, the suitability of both sides, caveats, and one sentence that concludes it.
pub fn comparison_terminal(of: &PairReport<'_>, width: usize, color: bool) -> String {
    with_workloads_described(of.both(), || brief(of).terminal(width, color))
}

fn brief(of: &PairReport<'_>) -> Document {
    let PairReport {
        sides,
        names,
        phases,
        comparisons,
        findings,
        conclusion,
    } = *of;
    let answer = answer::answer(sides, names, phases, comparisons, conclusion);
    let answer = answer.map(DocumentBlock::Answer);
    let figures = all_figures(phases, names);
    let mut blocks: Vec<DocumentBlock> = answer.into_iter().chain(figures).collect();
    let how = reading(comparisons, names, sides);
    let numbers = |table| DocumentBlock::Table(TableStyle::Numbers, table);
    let subjects = [(names.0.to_owned(), sides.0), (names.1.to_owned(), sides.1)];
    let path = path::compared(&subjects);
    let proven = vec![
        numbers(table(names, comparisons)),
        DocumentBlock::Quiet(how),
    ];
    let title = text::page_part(PagePart::Proofs);
    blocks.extend(part(title, proven));
    let transfer = bus::transfer(names, phases, sides).map(DocumentBlock::Text);
    blocks.extend(transfer);
    let tests = tests(comparisons).map(numbers);
    blocks.extend(part(PartLabel::Tests.text(), tests.into_iter().collect()));
    blocks.extend(path);
    let both = [names.0, names.1].map(escape::plain);
    blocks.extend(run::uses_of(findings, &both));
    let pair = [sides.0.clone(), sides.1.clone()];
    let reasons = run::choice_reasons(findings, (&both[0], &both[1]), &pair);
    blocks.extend((!reasons.is_empty()).then_some(DocumentBlock::Facts(reasons)));
    let of_pair = circumstances::caveats(sides, names, phases).into_iter();
    let of_pair = of_pair.map(|caveat| (caveat.lead, caveat.text)).collect();
    let of_pair = DocumentBlock::Caveats(of_pair);
    blocks.extend(part(text::caveats_of_comparison(), vec![of_pair]));
    for (side, name) in [(sides.0, names.0), (sides.1, names.1)] {
        let caveats = merged::findings(&[(String::new(), side)]);
        let caveats = DocumentBlock::Caveats(caveats);
        blocks.extend(part(text::caveats_of(name), vec![caveats]));
    }
    if let Some(conclusion) = conclusion {
        let sentence = text::pair_conclusion(conclusion, (&both[0], &both[1]));
        let sentence = DocumentBlock::Text(sentence);
        blocks.extend(part(text::conclusion_of_pair(), vec![sentence]));
    }
    Document {
        title: text::against(names.1, names.0),
        under: Vec::new(),
        blocks,
    }
}

//! What comparisons prove, in words and tables.

use crate::escape;
use crate::ids;
use crate::number::{self, MeanText};
use crate::table::DataTable;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use hakaru_model::finding::{Comparison, Estimate, Verdict};

/// The verdict in words, with the figures it rests on.
pub fn verdict(comparison: &Comparison) -> String {
    let p = comparison.p_adjusted.or(comparison.p_value);
    let chance =
        |p: Option<f64>| p.map_or_else(String::new, |p| format!(" (p {})", probability(p)));
    // What differs for certain may differ by too little to matter.
    let little = if comparison.p_equivalence.is_some_and(|p| p <= 0.05) {
        ", by less than 5%"
    } else {
        ""
    };
    match comparison.verdict {
        Verdict::Different if comparison.ratio > 1.0 => format!("higher{little}{}", chance(p)),
        Verdict::Different if comparison.ratio < 1.0 => format!("lower{little}{}", chance(p)),
        Verdict::Different => format!("different{little}{}", chance(p)),
        Verdict::Equivalent => format!("same within 5%{}", chance(comparison.p_equivalence)),
        Verdict::Undecided { needed } => {
            let who = match comparison.a.values.len().min(comparison.b.values.len()) {
                // Of published figures the single runs are not known.
                0 => String::new(),
                n => format!(" at n = {n}"),
            };
            match needed {
                Some(needed) => format!("undecided{who}; n = {needed} would decide"),
                None => format!("undecided{who}"),
            }
        }
    }
}

/// `< 0.001`, `0.03`: more digits would claim more than a test knows.
pub(crate) fn probability(p: f64) -> String {
    match p {
        p if p < 0.001 => "< 0.001".to_owned(),
        p if p < 0.1 => number::exact(p, 3),
        p => number::exact(p, 2),
    }
}

/// `2.58x [2.51, 2.66] (few runs)`.
pub(crate) fn ratio(comparison: &Comparison) -> String {
    let caveats = number::in_brackets(&comparison.interval_caveats);
    match comparison.ratio_ci95 {
        Some(ends) => {
            let (low, high) = ratio_ends(ends);
            format!(
                "{}x [{low}, {high}]{caveats}",
                number::significant(comparison.ratio)
            )
        }
        None => format!("{}x", number::significant(comparison.ratio)),
    }
}

/// The ends of the interval of a ratio, with as many digits as tell on which side of 1 they lie: rounding must not bring
/// one to 1 that is not there.
pub(crate) fn ratio_ends((low, high): (f64, f64)) -> (String, String) {
    let end = |value: f64| {
        let short = number::significant(value);
        if value == 1.0 || short.parse() != Ok(1.0) {
            return short;
        }
        let places = (1.0 - (value - 1.0).abs().log10()).ceil().clamp(3.0, 9.0) as usize;
        format!("{value:.places$}")
    };
    (end(low), end(high))
}

/// The same comparison with its sides in the other order: the first to the second.
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

/// `-3.1 [-4.5, -1.7]`: the difference in units of the spread.
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

/// The tests behind the verdicts: two that suppose different things, and the size of each effect.
fn tests(comparisons: &[Comparison]) -> DataTable {
    let p = |p: Option<f64>| p.map_or_else(String::new, probability);
    let row = |c: &Comparison| {
        let delta = c
            .delta
            .map_or_else(String::new, |delta| format!("{delta:+.2}"));
        let quantity = escape::plain(&c.quantity);
        vec![
            quantity,
            p(c.p_value),
            p(c.p_adjusted),
            p(c.p_equivalence),
            p(c.p_value_ranks),
            effect(c),
            delta,
        ]
    };
    let head = [
        "Figure",
        "p, Welch",
        "p, corrected",
        "p, same",
        "p, ranks",
        "Hedges’ g [95 %]",
        "Cliff’s delta",
    ];
    let tested = comparisons.iter().filter(|c| c.p_value.is_some());
    DataTable {
        head: head.map(str::to_owned).to_vec(),
        rows: tested.map(row).collect(),
    }
}

/// How to read [`tests`].
const TESTS: &str = "Welch’s t; the same corrected for the number of comparisons (Bonferroni), as the intervals are; equivalence \
                     within 5% (two one-sided tests), corrected likewise; Mann-Whitney by ranks; the difference in units of the spread (Hedges’ g), and how much oftener the second exceeds the first than the other way \
                     round (Cliff’s delta).";

/// The tests behind comparisons, for a terminal; nothing where there were too few runs for any.
pub fn comparison_tests_terminal(comparisons: &[Comparison], width: usize) -> String {
    let DataTable { head, rows } = tests(comparisons);
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
    table
        .set_width(u16::try_from(width.max(60)).unwrap_or(u16::MAX))
        .set_header(head)
        .add_rows(rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_cell_alignment(if index > 0 {
            CellAlignment::Right
        } else {
            CellAlignment::Left
        });
        column.set_padding((0, if index == 6 { 0 } else { GAP as u16 }));
    }
    format!("{}\n", table.trim_fmt())
}

fn side(estimate: &Estimate, scale: f64) -> String {
    MeanText::of(estimate, scale).to_string()
}

/// The unit in which a reader wants a figure, and how much of its own makes one.
fn readable(c: &Comparison) -> (&str, f64) {
    match c.unit.as_str() {
        "B/s" => ("MB/s", 1e6),
        "ns" if c.a.mean.max(c.b.mean) < 1e6 => ("µs", 1e3),
        "ns" => ("ms", 1e6),
        unit => (unit, 1.0),
    }
}

fn table((a, b): (&str, &str), comparisons: &[Comparison]) -> DataTable {
    let head = ["Figure", a, b, "Ratio [95 %]", "Verdict"]
        .map(escape::plain)
        .to_vec();
    let row = |c: &Comparison| {
        let (unit, scale) = readable(c);
        let figure = format!("{}, {}", escape::plain(&c.quantity), escape::plain(unit));
        vec![
            figure,
            side(&c.a, scale),
            side(&c.b, scale),
            ratio(c),
            verdict(c),
        ]
    };
    DataTable {
        head,
        rows: comparisons.iter().map(row).collect(),
    }
}

/// Gap between columns.
const GAP: usize = 2;
/// The least width of a verdict that reads well.
const VERDICT: usize = 18;

/// Comparisons for a terminal of `width` columns; `names` are those of the two sides.
///
/// The ratio is that of the second side to the first, and the verdict is about the second.
pub fn comparison_terminal(
    comparisons: &[Comparison],
    names: (&str, &str),
    width: usize,
) -> String {
    let DataTable { head, rows } = table(names, comparisons);
    let width = width.max(60);
    // The numbers never wrap, and the figure only where the verdict would be left without room.
    let widest = |column: usize| {
        rows.iter()
            .chain([&head])
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let left_for_verdict = width.saturating_sub((0..4).map(|column| widest(column) + GAP).sum());
    let whole = if left_for_verdict >= VERDICT {
        0..4
    } else {
        1..4
    };
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
    table
        .set_width(u16::try_from(width).unwrap_or(u16::MAX))
        .set_header(head)
        .add_rows(rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        let number = (1..4).contains(&index);
        column.set_cell_alignment(if number {
            CellAlignment::Right
        } else {
            CellAlignment::Left
        });
        column.set_padding((0, if index == 4 { 0 } else { GAP as u16 }));
        if whole.contains(&index) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    let caveats = comparisons
        .iter()
        .any(|c| c.ratio_ci95.is_some() && !c.interval_caveats.is_empty());
    let how = if caveats {
        crate::terminal::hanging("", number::INTERVALS, width) + "\n"
    } else {
        String::new()
    };
    format!(
        "{}\nRatio: second to first. The verdict is about the second.\n{how}",
        table.trim_fmt()
    )
}

/// Comparisons as a table of Markdown.
pub fn comparison_markdown(comparisons: &[Comparison], names: (&str, &str)) -> String {
    let DataTable { head, rows } = table(names, comparisons);
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escape::markdown(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!("{}| --- | ---: | ---: | ---: | --- |\n{rows}", line(&head))
}

/// The tests behind comparisons, as a table of Markdown; nothing where there were too few runs for any.
pub(crate) fn tests_markdown(comparisons: &[Comparison]) -> String {
    let table = tests(comparisons);
    if table.rows.is_empty() {
        return String::new();
    }
    format!(
        "\n{}\n\n{}",
        escape::markdown(TESTS),
        crate::markdown::lines(&table, true)
    )
}

/// Comparisons as CSV (RFC 4180), a line each; the ratio is that of `b` to `a`.
pub fn comparison_csv(comparisons: &[Comparison], names: (&str, &str)) -> String {
    let head = "figure,unit,a,a_n,a_mean,a_stdev,b,b_n,b_mean,b_stdev,ratio,ratio_ci95_low,ratio_ci95_high,p,p_adjusted,\
                p_ranks,effect,delta,verdict,effect_ci95_low,effect_ci95_high,p_equivalence,primary,family,interval_caveats";
    let exact = |value: f64| number::exact(value, 6);
    let optional = |value: Option<f64>| value.map_or_else(String::new, |v| number::exact(v, 9));
    let side = |name: &str, e: &Estimate| {
        let deviation = e.deviation.map_or_else(String::new, exact);
        format!(
            "{},{},{},{deviation}",
            escape::csv(name),
            e.values.len(),
            exact(e.mean)
        )
    };
    let line = |c: &Comparison| {
        let (low, high) = (c.ratio_ci95.map(|ci| ci.0), c.ratio_ci95.map(|ci| ci.1));
        let rest = [
            low,
            high,
            c.p_value,
            c.p_adjusted,
            c.p_value_ranks,
            c.effect,
            c.delta,
        ]
        .map(optional)
        .join(",");
        let (a, b) = (side(names.0, &c.a), side(names.1, &c.b));
        let (figure, unit) = (escape::csv(&c.quantity), escape::csv(&c.unit));
        let (low, high) = (c.effect_ci95.map(|ci| ci.0), c.effect_ci95.map(|ci| ci.1));
        let more = [low, high, c.p_equivalence].map(optional).join(",");
        let caveats = crate::csv::caveat_words(&c.interval_caveats);
        let (ratio, verdict) = (exact(c.ratio), ids::comparison(c));
        let family = format!("{},{}", c.primary, c.family);
        format!("{figure},{unit},{a},{b},{ratio},{rest},{verdict},{more},{family},{caveats}\r\n")
    };
    format!(
        "{head}\r\n{}",
        comparisons.iter().map(line).collect::<String>()
    )
}

/// Comparisons as a part of a page.
pub(crate) fn html(comparisons: &[Comparison], names: (&str, &str)) -> String {
    if comparisons.is_empty() {
        return String::new();
    }
    format!(
        "<h2>What the comparison proves</h2>\n<p class=\"quiet\">The ratio is the second to the first, and the verdict is \
         about the second. {}</p>\n{}{}",
        escape::markup(number::INTERVALS),
        table(names, comparisons).scrolling("numbers cards wide", "Comparison"),
        tests_html(comparisons)
    )
}

fn tests_html(comparisons: &[Comparison]) -> String {
    let table = tests(comparisons);
    if table.rows.is_empty() {
        return String::new();
    }
    let how = escape::markup(TESTS);
    let table = table.scrolling("numbers cards wide", "Tests");
    format!(
        "<details><summary>The tests behind the verdicts</summary>\n<p class=\"quiet\">{how}</p>\n{table}</details>\n"
    )
}

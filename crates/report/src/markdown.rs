//! Markdown (GitHub's tables): what one would paste into an article, an issue or a wiki.

use crate::compare::{comparison_markdown, tests_markdown};
use crate::escape::markdown as escaped;
use crate::table::DataTable;
use crate::{facts, findings, naming, results, time};
use hakaru_model::advice::RunFindings;
use hakaru_model::finding::{Comparison, PhaseSummary, Summary};

/// Renders series as Markdown, one section each.
pub fn markdown(summaries: &[Summary]) -> String {
    markdown_with(summaries, &[])
}

/// The same with what was concluded from each; series past the end of `findings` go without.
pub fn markdown_with(summaries: &[Summary], findings: &[RunFindings]) -> String {
    let names = naming::series(summaries);
    let none = RunFindings::default();
    let findings = findings.iter().chain(std::iter::repeat(&none));
    let all = summaries.iter().zip(&names).zip(findings);
    let sections: Vec<String> = all
        .map(|((summary, name), findings)| section(summary, name, findings))
        .collect();
    sections.join("\n")
}

/// Renders two series and what their comparison proves as Markdown; `names` are those of the two.
pub fn comparison_page_markdown(
    a: &Summary,
    b: &Summary,
    comparisons: &[Comparison],
    names: (&str, &str),
) -> String {
    format!(
        "# {} against {}\n\nThe ratio is the second to the first, and the verdict is about the second.\n\n{}{}\n{}",
        escaped(names.1),
        escaped(names.0),
        comparison_markdown(comparisons, names),
        tests_markdown(comparisons),
        markdown(&[a.clone(), b.clone()])
    )
}

fn section(summary: &Summary, name: &str, findings: &RunFindings) -> String {
    let mut out = format!("## {}: {}\n\n", escaped(&summary.scenario), escaped(name));
    out.push_str(&format!(
        "{}, {}, {}. Values are means ± standard deviation over the runs; latencies are of all runs together.\n\n",
        facts::runs(summary),
        escaped(&summary.origin),
        time::utc(summary.started_unix_ms)
    ));
    out.push_str(&table(summary));
    out.push_str(&facts_of(summary, "Sustained speed", facts::sustained));
    if summary
        .phases
        .iter()
        .any(|phase| phase.amplification.is_some())
    {
        out.push_str("\nAmplification: bytes the device moved per byte of the application, from its counters.\n");
    }
    if summary.phases.iter().any(|phase| phase.detail.open_loop) {
        out.push_str("\nLatency of an open loop counts from the intended start of each I/O.\n");
    }
    out.push_str(&facts_of(summary, "Laying out", facts::laid_out));
    let caveats: String = facts::caveats(summary)
        .iter()
        .map(|text| format!("- {}\n", escaped(text)))
        .collect();
    if !caveats.is_empty() {
        out.push_str(&format!("\n### Caveats\n\n{caveats}"));
    }
    for (title, conclusions) in findings::sections(findings) {
        out.push_str(&format!(
            "\n### {title}\n\n{}",
            lines(&findings::table("", &conclusions), false)
        ));
    }
    out.push_str("\n### Circumstances\n\n| | |\n| --- | --- |\n");
    for line in facts::circumstances(summary)
        .iter()
        .filter(|line| line.known)
    {
        out.push_str(&format!("| {} | {} |\n", line.name(), escaped(&line.value)));
    }
    out
}

fn table(summary: &Summary) -> String {
    lines(&results::table(summary, |spread| spread.to_string()), true)
}

/// A table; `numbers` are set flush right.
pub(crate) fn lines(table: &DataTable, numbers: bool) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| cell.split('\n').map(escaped).collect::<Vec<_>>().join(": "))
            .collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let right = |column: usize| numbers && column > 0;
    let rule: String = (0..table.head.len())
        .map(|column| if right(column) { "| ---: " } else { "| --- " })
        .collect();
    let rows: String = table.rows.iter().map(|row| line(row)).collect();
    format!("{}{rule}|\n{rows}", line(&table.head))
}

/// A section with a line for each phase that has something to say.
fn facts_of(summary: &Summary, title: &str, words: fn(&PhaseSummary) -> Option<String>) -> String {
    let lines: String = summary
        .phases
        .iter()
        .filter_map(|phase| {
            Some(format!(
                "- {}: {}\n",
                escaped(&naming::phase(summary, phase)),
                words(phase)?
            ))
        })
        .collect();
    if lines.is_empty() {
        lines
    } else {
        format!("\n### {title}\n\n{lines}")
    }
}

//! Markdown (GitHub's tables): what one would paste into an article, an issue or a wiki.

use crate::text::markdown as escaped;
use crate::{facts, naming, number, results, time};
use hakaru_model::finding::{PhaseSummary, Summary};

/// Renders series as Markdown, one section each.
pub fn markdown(summaries: &[Summary]) -> String {
    let names = naming::series(summaries);
    let sections: Vec<String> = summaries.iter().zip(&names).map(|(summary, name)| section(summary, name)).collect();
    sections.join("\n")
}

fn section(summary: &Summary, name: &str) -> String {
    let mut out = format!("## {}: {}\n\n", escaped(&summary.scenario), escaped(name));
    out.push_str(&format!(
        "{}, {}, {}. Values are means ± standard deviation over the runs; latencies are of all runs together.\n\n",
        facts::runs(summary),
        escaped(&summary.origin),
        time::utc(summary.started_unix_ms)
    ));
    out.push_str(&table(summary));
    out.push_str(&facts_of(summary, "Sustained speed", facts::sustained));
    out.push_str(&facts_of(summary, "Bytes below", facts::amplification));
    if !summary.caveats.is_empty() {
        out.push_str("\n### Caveats\n\n");
        for caveat in &summary.caveats {
            out.push_str(&format!("- {}\n", escaped(&caveat.to_string())));
        }
    }
    out.push_str("\n### Circumstances\n\n| | |\n| --- | --- |\n");
    for line in facts::circumstances(summary).iter().filter(|line| line.known) {
        out.push_str(&format!("| {} | {} |\n", line.name, escaped(&line.value)));
    }
    out
}

fn table(summary: &Summary) -> String {
    let mut out = String::from(
        "| Phase | Workload | Bandwidth, MB/s | IOPS | Median latency | P99 | P99.9 | Longest |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for row in results::rows(summary) {
        let spread = |s: Option<number::Spread>| s.map_or_else(String::new, |s| s.to_string());
        let [median, p99, p999] = row.percentiles;
        let numbers = [spread(row.bandwidth), spread(row.iops), median, p99, p999, row.max].join(" | ");
        out.push_str(&format!("| {} | {} | {numbers} |\n", escaped(&row.name), escaped(&row.workload)));
    }
    out
}

/// A section with a line for each phase that has something to say.
fn facts_of(summary: &Summary, title: &str, words: fn(&PhaseSummary) -> Option<String>) -> String {
    let lines: String = summary
        .phases
        .iter()
        .filter_map(|phase| Some(format!("- {}: {}\n", escaped(&naming::phase(summary, phase)), words(phase)?)))
        .collect();
    if lines.is_empty() { lines } else { format!("\n### {title}\n\n{lines}") }
}

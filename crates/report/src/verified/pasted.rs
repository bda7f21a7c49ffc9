//! What verifying found as Markdown: what one would paste into an article, an issue or a wiki.

use super::{Grade, VerdictText, duration, headline, place, state, told};
use crate::escape::markdown as escaped;
use crate::markdown::lines;
use crate::table::DataTable;
use crate::{facts, number, time};
use hakaru_model::integrity::{SpeedMap, Verification};

/// Bad stretches that are listed; the record has more.
const MOST_STRETCHES: usize = 64;

/// Renders a verification as Markdown: verdict, speeds, bad places, circumstances.
pub fn verification_markdown(verification: &Verification) -> String {
    let VerdictText {
        grade,
        verdict,
        advice,
        limits,
    } = told(verification);
    let sign = match grade {
        Grade::Good => "✓",
        Grade::Bad => "✗",
        Grade::Open => "–",
    };
    let mut out = format!("## {}\n\n", escaped(&headline(verification)));
    out += &format!(
        "hakaru {}, {}, {}.\n\n",
        escaped(&verification.version),
        time::utc(verification.started_unix_ms),
        duration(verification.elapsed)
    );
    out += &format!("**{sign} {}**\n", escaped(&verdict));
    if !advice.is_empty() {
        out += &format!("\n{}\n", escaped(&advice));
    }
    out += &section("Speed", &speeds(verification));
    out += &section("Bad places", &stretches(verification));
    let hidden = verification
        .verdict
        .bad
        .len()
        .saturating_sub(MOST_STRETCHES);
    if hidden > 0 {
        out += &format!("\nAnd {} more.\n", number::count(hidden as u64));
    }
    let limits: String = limits.iter().map(|limit| format!("- {limit}\n")).collect();
    out += &format!("\n### Limits\n\n{limits}\n### Circumstances\n\n| | |\n| --- | --- |\n");
    let surroundings = facts::surroundings(&verification.target, &verification.environment);
    for line in surroundings.iter().filter(|line| line.known) {
        out += &format!("| {} | {} |\n", line.name(), escaped(&line.value));
    }
    out
}

/// A table under its title; nothing where it has no rows.
fn section(title: &str, table: &DataTable) -> String {
    if table.rows.is_empty() {
        String::new()
    } else {
        format!("\n### {title}\n\n{}", lines(table, false))
    }
}

fn table(head: &[&str], rows: Vec<Vec<String>>) -> DataTable {
    DataTable {
        head: head.iter().map(|name| (*name).to_owned()).collect(),
        rows,
    }
}

fn speeds(verification: &Verification) -> DataTable {
    let row = |name: &str, map: &SpeedMap| {
        let (mean, (slowest, fastest)) = (map.whole().rate()?, map.extremes()?);
        let mb = |rate: hakaru_model::units::BytesPerSec| number::significant(rate.0 / 1e6);
        Some(vec![name.to_owned(), mb(mean), mb(slowest), mb(fastest)])
    };
    let verdict = &verification.verdict;
    let rows = [
        row("writing", &verdict.write_speed),
        row("reading", &verdict.read_speed),
    ];
    table(
        &["MB/s", "mean", "slowest stretch", "fastest stretch"],
        rows.into_iter().flatten().collect(),
    )
}

fn stretches(verification: &Verification) -> DataTable {
    let shown = verification.verdict.bad.iter().take(MOST_STRETCHES);
    let rows = shown
        .map(|span| vec![place(span.offset), span.len.to_string(), state(span.state)])
        .collect();
    table(&["at", "length", "what is there"], rows)
}

//! Results of the comparison, for the terminal and as `docs/PARITY.md`.

use super::compare::Speed;
use super::generated::page::HEADING;
use super::{RowResult, RowState};
use crate::workspace;
use anyhow::{Context, Result};
use std::fmt::Write;

const PAGE: &str = "docs/PARITY.md";

/// Prints one line for a row, and one for each of its differences.
pub(super) fn print_row(row: &RowResult) {
    let forms = [("json", &row.json), ("text", &row.text)];
    for (form, state) in forms
        .into_iter()
        .filter_map(|(form, state)| Some((form, state.as_ref()?)))
    {
        println!(
            "{form} {:<8} {}/{}{}",
            word(state),
            row.job.feature,
            row.job.name,
            remark(state, ": ")
        );
        if let RowState::Differs(differences) = state {
            for difference in differences {
                println!(
                    "     {}: fio {} | ours {}",
                    difference.path, difference.theirs, difference.ours
                );
            }
        }
    }
}

/// Prints the totals.
pub(super) fn print(rows: &[RowResult]) {
    println!(
        "\nJSON: {}\ntext: {}",
        totals(rows, |row| &row.json),
        totals(rows, |row| &row.text)
    );
}

/// Writes the page.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write(rows: &[RowResult], version: &str) -> Result<()> {
    let path = workspace::root().join(PAGE);
    // The section about generated option sets comes from a separate run.
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let generated = before
        .find(HEADING)
        .map_or(String::new(), |at| format!("\n{}", &before[at..]));
    std::fs::write(&path, markdown(rows, version) + &generated)
        .with_context(|| format!("cannot write {PAGE}"))?;
    println!("written: {PAGE}");
    Ok(())
}

fn markdown(rows: &[RowResult], version: &str) -> String {
    let mut page = format!(
        "# Comparison with the original fio\n\n\
         Written by `cargo xtask fio-parity`. It runs both programs on the same jobs in the same place, in turns, and \
         compares their output. JSON is compared key by key: keys and their order, types of values, all counts, and \
         speeds where the job or the target limits them. Text is compared line by line with its numbers masked. The \
         original is {version}.\n\n\
         - JSON and terse: {}\n- Text: {}\n\n\
         *same*: no difference. *differs*: the number of differences, and the first one. *not yet*: hakaru refuses the \
         job. *skipped*: the host of the comparison cannot run it.\n\n\
         | Feature | Job | JSON | Text | Remark |\n| --- | --- | --- | --- | --- |\n",
        totals(rows, |row| &row.json),
        totals(rows, |row| &row.text),
    );
    for row in rows {
        let cell = |state: &Option<RowState>| state.as_ref().map_or("", word);
        let remarks = [&row.json, &row.text]
            .into_iter()
            .flatten()
            .map(|state| remark(state, ""));
        let remark = remarks
            .into_iter()
            .find(|remark| !remark.is_empty())
            .unwrap_or_default();
        let cells = [
            row.job.feature,
            row.job.name,
            cell(&row.json),
            cell(&row.text),
            &escaped(&remark),
        ]
        .join(" | ");
        let _ = writeln!(page, "| {cells} |");
    }
    page.push_str(&speeds(rows));
    page
}

/// Measurements of both programs on the rate-limited target.
fn speeds(rows: &[RowResult]) -> String {
    let all: Vec<_> = rows
        .iter()
        .flat_map(|row| row.speeds.iter().map(move |speed| (row.job.name, speed)))
        .collect();
    let count = |verdict: &str| {
        all.iter()
            .filter(|(_, speed)| speed.verdict() == verdict)
            .count()
    };
    let mut table = format!(
        "\n## Speed on a target with fixed costs\n\n\
         The target is a file system that serves one access at a time, at a fixed cost. Both programs run in turns, at \
         least five times. The table shows the smallest and the largest repeat of each program, and the median of \
         hakaru.\n\n\
         - *inside*: the median of hakaru lies within the range of fio.\n\
         - *beside*: it lies outside by at most the width of that range, or by a percentage that two short runs on a \
         busy host differ by anyway (2% of a speed, 3% of a mean, 15% of a P99, which depends on few I/Os).\n\
         - *apart*: it lies farther away, which counts as a difference above.\n\n\
         At the end of the runtime, fio waits for all I/Os in flight and gives them one completion time, that of the \
         last. hakaru records the completion time of each. Jobs with deep queues therefore run so long that the end \
         weighs less than 1%.\n\n\
         {} figures: {} inside, {} beside, {} apart.\n\n\
         | Job | Figure | fio | hakaru | Median of hakaru | Verdict |\n| --- | --- | --- | --- | --- | --- |\n",
        all.len(),
        count("inside"),
        count("beside"),
        count("apart"),
    );
    for (job, speed) in all {
        let Speed {
            what, theirs, ours, ..
        } = speed;
        let _ = writeln!(
            table,
            "| {job} | {what} | {:.1} to {:.1} | {:.1} to {:.1} | {:.1} | {} |",
            theirs.min,
            theirs.max,
            ours.min,
            ours.max,
            ours.median,
            speed.verdict()
        );
    }
    table
}

fn word(state: &RowState) -> &'static str {
    match state {
        RowState::Same => "same",
        RowState::Differs(_) => "differs",
        RowState::NotYet(_) => "not yet",
        RowState::Skipped(_) => "skipped",
    }
}

fn remark(state: &RowState, before: &str) -> String {
    match state {
        RowState::Same => String::new(),
        RowState::Differs(differences) => {
            let first = differences.first();
            let first = first.map_or(String::new(), |d| {
                format!("{}: fio {}, hakaru {}", d.path, d.theirs, d.ours)
            });
            let all = if differences.len() == 1 {
                String::new()
            } else {
                format!("{} differences; ", differences.len())
            };
            format!("{before}{all}{}", cut(&first))
        }
        RowState::NotYet(why) | RowState::Skipped(why) => format!("{before}{}", cut(why)),
    }
}

/// Shortens a remark, and removes temporary paths.
fn cut(text: &str) -> String {
    const MOST: usize = 160;
    let text = text.replace(&workspace::target().display().to_string(), "…");
    if text.chars().count() <= MOST {
        text
    } else {
        text.chars().take(MOST).chain(['…']).collect()
    }
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

fn totals(rows: &[RowResult], state: fn(&RowResult) -> &Option<RowState>) -> String {
    let words: Vec<&str> = rows
        .iter()
        .filter_map(|row| state(row).as_ref())
        .map(word)
        .collect();
    let count = |wanted: &str| words.iter().filter(|word| **word == wanted).count();
    format!(
        "{} jobs: {} same, {} differ, {} not yet, {} skipped",
        words.len(),
        count("same"),
        count("differs"),
        count("not yet"),
        count("skipped")
    )
}

#[cfg(test)]
mod tests {
    use super::super::compare::OutputDifference;
    use super::super::jobs::JOBS;
    use super::*;

    #[test]
    fn the_page_counts_and_escapes() {
        let state = |text: &str| {
            Some(RowState::Differs(vec![OutputDifference::new(
                "a", text, "b",
            )]))
        };
        let row = |json, text| RowResult {
            job: &JOBS[0],
            json,
            text,
            speeds: Vec::new(),
        };
        let rows = [
            row(Some(RowState::Same), state("x|y")),
            row(Some(RowState::NotYet("no".to_owned())), None),
        ];
        let page = markdown(&rows, "fio-3.33");
        assert!(page.contains("2 jobs: 1 same, 0 differ, 1 not yet, 0 skipped"));
        assert!(page.contains("| access | seq-read | same | differs | a: fio x\\|y, hakaru b |"));
    }
}

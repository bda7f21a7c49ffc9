//! The section of `docs/PARITY.md` about generated option sets.

use super::dimensions::DIMENSIONS;
use super::excluded::{EXCLUDED, Excluded};
use super::{Compared, Extras, Request, SetOutcome, cut};
use crate::workspace;
use anyhow::{Context, Result};
use std::fmt::{self, Write as _};

const PAGE: &str = "docs/PARITY.md";

/// Number of sets by outcome.
pub(super) struct PageSummary {
    pub(super) sets: usize,
    pub(super) same: usize,
    pub(super) explained: usize,
    pub(super) differ: usize,
    pub(super) failed: usize,
}

impl PageSummary {
    pub(super) fn of(sets: &[Compared]) -> PageSummary {
        let count = |wanted: fn(&SetOutcome) -> bool| {
            sets.iter()
                .filter(|compared| wanted(&compared.outcome))
                .count()
        };
        PageSummary {
            sets: sets.len(),
            same: count(|o| matches!(o, SetOutcome::Same)),
            explained: count(|o| matches!(o, SetOutcome::Explained(..))),
            differ: count(|o| matches!(o, SetOutcome::Differs(_))),
            failed: count(|o| matches!(o, SetOutcome::OriginalFails(_))),
        }
    }
}

impl fmt::Display for PageSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PageSummary {
            sets,
            same,
            explained,
            differ,
            failed,
        } = self;
        write!(
            f,
            "of {sets} generated option sets {same} are the same, {explained} differ for a known reason, {differ} differ, and fio itself fails in {failed}"
        )
    }
}

/// Heading of the section, which extends to the end of the page.
pub(in crate::parity) const HEADING: &str = "## Generated option sets";

/// Replaces or adds the section of the page.
///
/// # Errors
/// If the page cannot be read or written.
pub(super) fn write(
    sets: &[Compared],
    summary: &PageSummary,
    request: &Request,
    version: &str,
) -> Result<()> {
    let path = workspace::root().join(PAGE);
    let page = std::fs::read_to_string(&path).with_context(|| format!("cannot read {PAGE}"))?;
    let rest = page.split(HEADING).next().unwrap_or_default().trim_end();
    let page = format!("{rest}\n\n{}", section(sets, summary, request, version));
    std::fs::write(&path, page).with_context(|| format!("cannot write {PAGE}"))?;
    println!("written: {PAGE}");
    Ok(())
}

fn section(sets: &[Compared], summary: &PageSummary, request: &Request, version: &str) -> String {
    let (count, seed) = (request.sets, request.seed);
    let (wild, about) = match request.extras {
        Extras::Few => (
            "",
            "besides direction, size, block size, engine and depth, a set has at most three of them, as published jobs do",
        ),
        Extras::All => (" --wild", "a set has any number of them"),
    };
    let mut text = format!(
        "{HEADING}\n\n\
         Written by `cargo xtask fio-parity --generated={count} --seed={seed}{wild} --write` with {version}. A generator draws \
         option sets from the dimensions below: {about}. Both programs run each set on fresh files, several times with different \
         seeds. What all runs of fio agree on (exit code, error, I/Os and bytes by direction, syncs, file sizes, written \
         parts of the files, coverage, order of accesses) ours must match; figures that differ between fio's own runs \
         have bounds. One set is repeated with `--seed={seed}{wild} --set=NUMBER`.\n\n\
         {}.\n\n| Dimension | Sets | Same | Explained | Different |\n| --- | --- | --- | --- | --- |\n",
        capitalized(&summary.to_string()),
    );
    for dimension in DIMENSIONS {
        let with: Vec<&Compared> = sets
            .iter()
            .filter(|compared| compared.set.dimensions.contains(&dimension.name))
            .collect();
        let count = |wanted: fn(&SetOutcome) -> bool| {
            with.iter()
                .filter(|compared| wanted(&compared.outcome))
                .count()
        };
        let same = count(|o| matches!(o, SetOutcome::Same));
        let explained = count(|o| matches!(o, SetOutcome::Explained(..)));
        let different = count(|o| matches!(o, SetOutcome::Differs(_)));
        let _ = writeln!(
            text,
            "| {} | {} | {same} | {explained} | {different} |",
            dimension.name,
            with.len()
        );
    }
    text + &explained(sets) + &not_drawn() + &open(sets)
}

/// Lists all sets that differ for a known reason.
fn explained(sets: &[Compared]) -> String {
    let mut text = "\nExplained one by one:\n\n\
         | Set | Command | Why it differs | First difference |\n| --- | --- | --- | --- |\n"
        .to_owned();
    for compared in sets {
        if let SetOutcome::Explained(known, misfit) = &compared.outcome {
            let _ = writeln!(
                text,
                "| {} | `{}` | {} | {} |",
                compared.set.number,
                cell(&compared.set.to_string()),
                known.reason,
                cell(&cut(&misfit.to_string(), 160))
            );
        }
    }
    text
}

/// Lists all combinations that the generator excludes.
fn not_drawn() -> String {
    let mut text = "\nNot drawn, because fio 3.33 itself is at fault (`{loop}` is a loop device of 2 MiB):\n\n\
         | Combination | What fio does | Command that shows it |\n| --- | --- | --- |\n"
        .to_owned();
    for one in EXCLUDED {
        let Excluded {
            combination,
            fault,
            evidence,
            ..
        } = one;
        let _ = writeln!(text, "| {combination} | {fault} | `{evidence}` |");
    }
    text
}

/// Lists all sets that differ without a known reason, or on which the original fails.
fn open(sets: &[Compared]) -> String {
    let mut text = "\nOpen differences, and sets in which fio itself fails:\n\n".to_owned();
    for compared in sets {
        let set = &compared.set;
        let _ = match &compared.outcome {
            SetOutcome::Differs(misfits) => {
                let first = misfits
                    .first()
                    .map_or(String::new(), |misfit| cut(&misfit.to_string(), 160));
                let set = compared
                    .smallest
                    .as_ref()
                    .map_or(set, |(smallest, _)| smallest);
                writeln!(text, "- set {}: `{set}`: {first}", set.number)
            }
            SetOutcome::OriginalFails(how) => {
                writeln!(text, "- set {}: fio {how}: `{set}`", set.number)
            }
            SetOutcome::Same | SetOutcome::Explained(..) => Ok(()),
        };
    }
    text
}

/// Escapes text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

//! `hakaru import`: everybody else's results, and our own records, into the store.
//!
//! What was read, what was not and why is shown. The same text twice is stored once.

mod made;
mod series;
mod texts;
mod twins;

pub(crate) use series::same_jobs;

use super::{counted, figures, print};
use crate::exit::{Exit, Named};
use crate::place;
use anyhow::{Context, Result};
use hakaru_dialects::import::{Found, ImportedRun, Source, Unread, csv, import};
use hakaru_model::integrity::Verification;
use hakaru_model::record::RunRecord;
use hakaru_report::plain;
use hakaru_store::{Appended, Filter};
use made::{Made, made};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use texts::{Text, read_all};

/// What to read.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// Files, folders, or `-` for standard input: outputs of fio, iozone, hdparm and dd, tables, and exported records
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// What to call the thing under test [default: the name of each file without the number of the run]
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// For tables (CSV): a TOML file that says which column holds what (see below)
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Only tell what is found
    #[arg(long)]
    dry_run: bool,
}

const AFTER: &str = "\
Tables (CSV) whose first row has these names are read as they are: target, host, workload, rw, bs, iodepth, bandwidth, \
bandwidth_deviation, bandwidth_unit, iops, iops_deviation, runs, source; rw, and bandwidth or iops, are needed. Of any other, a mapping (--map=FILE) says which \
column holds what, in TOML:

  bandwidth_unit = \"KB/s\"
  [columns]
  target = [\"card\"]
  workload = \"test\"
  bandwidth = \"speed\"
  [workloads.rr]
  rw = \"randread\"
  bs = \"4KiB\"

One measurement in several forms (text and JSON of one run of fio) is stored once. A file may have 1 GiB, and what comes \
through a pipe 256 MiB.

Exit codes: 0 done, 1 no results were found, or they could not be stored, 2 wrong usage, or a file that is not there.";

/// Reads, tells, and stores.
pub(crate) fn main(args: &Args, db: Option<&Path>) -> Result<Exit> {
    let texts = read_all(&args.files)?;
    let mapping = args.map.as_deref().map(read_mapping).transpose()?;
    let (Own { texts: own, mut records, verifications }, mut told) = own_results(&texts);
    let found = find(&texts, &own, mapping.as_ref());
    tell(&texts, &found, &mut told);
    told += &made::about_the_clock(&found);
    let foreign = made(&texts, &found, args.label.as_deref());
    if args.dry_run {
        let (runs, verified) = (counted(records.len() + foreign.len(), "run"), and_verified(verifications.len()));
        print(&format!("{told}{runs}{verified} found; nothing was stored.\n"))?;
        return Ok(Exit::Ok);
    }
    let total = records.len() + foreign.len();
    if total + verifications.len() == 0 {
        print(&format!("{told}No results were found.\n"))?;
        return Ok(Exit::Failed);
    }
    let mut store = place::open(db)?;
    let rows = store.runs(&Filter { imported: Some(true), ..Filter::default() })?;
    let foreign = twins::apart(&store, &rows, &foreign, args.label.is_some(), &mut told)?;
    records.extend(series::joined(&store, &rows, foreign)?);
    let new = store.append_all(&records)?;
    let mut verified = 0;
    for verification in &verifications {
        verified += usize::from(store.append_verification(verification)? == Appended::Stored);
    }
    let there = total + verifications.len() - verified - new as usize;
    let rest = match there {
        0 => String::new(),
        1 => ", 1 was there already".to_owned(),
        there => format!(", {there} were there already"),
    };
    print(&format!("{told}{}{} imported{rest}.\n", counted(new as usize, "run"), and_verified(verified)))?;
    Ok(Exit::Ok)
}

/// Verifications are rare, and not told of where there are none.
fn and_verified(count: usize) -> String {
    if count == 0 { String::new() } else { format!(" and {}", counted(count, "verification")) }
}

/// Runs in files, as records that are not stored: for comparing at once.
pub(crate) fn records_in(path: &Path) -> Result<Vec<RunRecord>> {
    let texts = read_all(&[path.to_owned()])?;
    let (Own { texts: own, mut records, .. }, _) = own_results(&texts);
    let found = find(&texts, &own, None);
    records.extend(made(&texts, &found, None).into_iter().map(|Made { record, .. }| record));
    Ok(records)
}

/// Reads a mapping of the columns of a table.
pub(crate) fn read_mapping(path: &Path) -> Result<csv::Mapping> {
    let text = std::fs::read_to_string(path).named(|| format!("cannot read the mapping {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("{} is no mapping of columns", path.display()))
}

/// Results of our own.
#[derive(Default)]
struct Own {
    /// Places of the texts that hold them.
    texts: BTreeSet<usize>,
    records: Vec<RunRecord>,
    verifications: Vec<Verification>,
}

/// Records and verifications as `hakaru export` and `hakaru show --json` write them, and what is to be told of them.
fn own_results(texts: &[Text]) -> (Own, String) {
    let (mut own, mut told) = (Own::default(), String::new());
    for (index, Text { name, text, .. }) in texts.iter().enumerate() {
        let trimmed = text.trim_start();
        let lines = trimmed.starts_with("{\"format\":");
        let ours = ["\"scenario\":", "\"verdict\":"].iter().any(|key| text.contains(key));
        let pretty = trimmed.starts_with(['{', '[']) && ours && text.contains("\"format\":");
        if !lines && !pretty {
            continue;
        }
        own.texts.insert(index);
        let before = (own.records.len(), own.verifications.len());
        let lines = if lines { text.clone() } else { one_a_line(trimmed) };
        for (number, line) in lines.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            if let Err(why) = own.read(line) {
                told += &(plain(&format!("{name}:{}: not read: {why}", number + 1)) + "\n");
            }
        }
        let verified = and_verified(own.verifications.len() - before.1);
        let records = counted(own.records.len() - before.0, "record");
        told += &format!("{}: {records}{verified} of hakaru\n", plain(name));
    }
    (own, told)
}

impl Own {
    /// Reads one line of JSON; else says why not.
    fn read(&mut self, line: &str) -> Result<(), String> {
        match hakaru_store::import_verification(line) {
            Some(Ok(verification)) => self.verifications.push(verification),
            Some(Err(error)) => return Err(error.to_string()),
            None => self.records.push(hakaru_store::import(line).map_err(|error| error.to_string())?),
        }
        Ok(())
    }
}

/// Indented JSON as one object a line; what is no JSON stays as it is, for the reader of records to refuse.
fn one_a_line(text: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Array(all)) => all.iter().map(|one| one.to_string() + "\n").collect(),
        Ok(one) => one.to_string(),
        Err(_) => text.replace('\n', " "),
    }
}

/// Everything that is not our own: tables by their mapping or their header, the rest by what it looks like.
fn find(texts: &[Text], own: &BTreeSet<usize>, mapping: Option<&csv::Mapping>) -> Found {
    let mut tables = Vec::new();
    let mut sources = Vec::new();
    let mut unmapped = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let header = text.text.lines().next().unwrap_or_default();
        let own_names = csv::mapping_of_header(header);
        let named = text.name.ends_with(".csv") || text.name == "standard input";
        let table = mapping.filter(|_| named).cloned().or(own_names).filter(|_| !own.contains(&index));
        if text.name.ends_with(".csv") && table.is_none() && !own.contains(&index) {
            let why = "this table does not say what its columns hold: say it with --map=FILE".to_owned();
            unmapped.push((index, Unread { line: 1, text: header.chars().take(60).collect(), why }));
        }
        let is_other = own.contains(&index) || table.is_some();
        tables.extend(table.map(|mapping| (index, mapping)));
        sources.push(Source { name: &text.name, text: if is_other { "" } else { &text.text } });
    }
    let mut found = import(&sources);
    unmapped.retain(|(index, _)| found.runs.iter().all(|run| run.source != *index));
    found.unread.extend(unmapped);
    for (index, mapping) in tables {
        let (runs, unread) = csv::import(&texts[index].text, &mapping);
        let source = |run| hakaru_dialects::import::FoundRun { source: index, run };
        found.runs.extend(runs.into_iter().map(source));
        found.unread.extend(unread.into_iter().map(|unread| (index, unread)));
    }
    found.runs.sort_by_key(|found| found.source);
    found
}

/// What was read, what was not, and why. Each line on its way to the terminal loses what a terminal would obey.
fn tell(texts: &[Text], found: &Found, told: &mut String) {
    let mut line = |text: &str| *told += &(plain(&text.replace('\t', " ")) + "\n");
    for one in &found.runs {
        let ImportedRun { format, program, scenario, lines, unread, caveats, .. } = &one.run;
        let name = &texts[one.source].name;
        let range = if lines.0 == lines.1 { lines.0.to_string() } else { format!("{}-{}", lines.0, lines.1) };
        let (format, scenario, figures) = (format.name(), &scenario.name, figures(one.run.figures));
        line(&format!("{name}:{range}: {format} of {program}, {scenario}: {figures}"));
        for unread in unread {
            let text = if unread.text.is_empty() { String::new() } else { format!(" ({})", unread.text) };
            line(&format!("  line {}: {}{text}", unread.line, unread.why));
        }
        caveats.iter().for_each(|caveat| line(&format!("  caveat: {caveat}")));
    }
    for (source, unread) in &found.unread {
        line(&format!("{}:{}: not read: {} ({})", texts[*source].name, unread.line, unread.why, unread.text));
    }
    for (text, other) in texts.iter().zip(&found.other_lines).filter(|(_, other)| **other > 0) {
        line(&format!("{}: {} passed over", text.name, counted(*other, "other line")));
    }
}

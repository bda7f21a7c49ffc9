//! `hakaru import`: stores results of other programs and exported records of hakaru.
//!
//! Prints the results that were read and the reasons for those that were not. Importing the same text again stores
//! nothing new.

use super::{counted, figures, print};
use crate::exit::Exit;
use crate::imports::{self, ImportText, Imported, LabelRules, OwnRecords};
use crate::place;
use anyhow::Result;
use hakaru_dialects::import::ImportResult;
use hakaru_report::plain;
use hakaru_store::{Appended, Filter, Store};
use std::path::{Path, PathBuf};

/// Arguments of `hakaru import`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct ImportArgs {
    /// Files, directories, or `-` for standard input: output of fio, iozone, hdparm and dd, CSV tables, and exported records
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Name of the device under test; X=NAME applies to the heading X, the file X or the disk X (repeatable) [default: the name of each file without the number of the run]
    #[arg(long, value_name = "[X=]NAME")]
    label: Vec<String>,
    /// TOML file that maps the columns of a CSV table (see below)
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Show what would be imported, and exit
    #[arg(long)]
    dry_run: bool,
}

const AFTER: &str = "\
CSV tables with these column names need no mapping: target, host, workload, rw, bs, iodepth, bandwidth, \
bandwidth_deviation, bandwidth_unit, iops, iops_deviation, runs, source; rw and either bandwidth or iops are required. For other tables, --map=FILE maps the columns, in TOML:

  bandwidth_unit = \"KB/s\"
  [columns]
  target = [\"card\"]
  workload = \"test\"
  bandwidth = \"speed\"
  [workloads.rr]
  rw = \"randread\"
  bs = \"4KiB\"

A measurement given in several formats (text and JSON of one fio run) is stored once. Limits: 1 GiB per file, 256 MiB through a pipe.

Exit codes: 0 success; 1 no results found, or they could not be stored; 2 usage error, or a file does not exist.";

/// Reads, reports and stores results.
pub(crate) fn main(args: &ImportArgs, db: Option<&Path>) -> Result<Exit> {
    let texts = imports::read_all(&args.files)?;
    let mapping = args.map.as_deref().map(imports::read_mapping).transpose()?;
    let (own, mut notes) = imports::own_results(&texts);
    let found = imports::find(&texts, &own, mapping.as_ref());
    notes += &describe(&texts, &found);
    notes += &imports::about_the_clock(&found);
    let rules = LabelRules::read(&args.label, &texts, &found)?;
    let (labels, apart) = imports::labels(&texts, &found, &rules);
    notes += &apart;
    let foreign = imports::records_of(&texts, &found, &labels);
    let total = own.records.len() + foreign.len();
    let verified = own.verifications.len();
    if args.dry_run {
        let (runs, verified) = (counted(total, "run"), imports::and_verified(verified));
        print(&format!(
            "{notes}{runs}{verified} found; nothing was stored.\n"
        ))?;
        return Ok(Exit::Ok);
    }
    if total + verified == 0 {
        print(&format!("{notes}No results were found.\n"))?;
        return Ok(Exit::Failed);
    }
    let mut store = place::open(db)?;
    let result = store_all(&mut store, own, foreign, !rules.is_empty(), &mut notes)?;
    print(&format!("{notes}{result}.\n"))?;
    Ok(Exit::Ok)
}

/// Stores the records that are new, and describes how many they were.
fn store_all(
    store: &mut Store,
    own: OwnRecords,
    foreign: Vec<Imported>,
    labelled: bool,
    notes: &mut String,
) -> Result<String> {
    let total = own.records.len() + foreign.len() + own.verifications.len();
    let rows = store.runs(&Filter {
        imported: Some(true),
        ..Filter::default()
    })?;
    let foreign = imports::without_duplicates(store, &rows, foreign, labelled, notes)?;
    let mut records = own.records;
    records.extend(imports::joined(store, &rows, foreign, notes)?);
    let new = store.append_all(&records)? as usize;
    let mut verified = 0;
    for verification in &own.verifications {
        verified += usize::from(store.append_verification(verification)? == Appended::Stored);
    }
    let rest = match total - verified - new {
        0 => String::new(),
        1 => ", 1 was stored already".to_owned(),
        there => format!(", {there} were stored already"),
    };
    let (runs, verified) = (counted(new, "run"), imports::and_verified(verified));
    Ok(format!("{runs}{verified} imported{rest}"))
}

/// Describes the results that were read, and why others were not. Control characters are removed.
fn describe(texts: &[ImportText], found: &ImportResult) -> String {
    let mut lines: Vec<String> = Vec::new();
    for one in &found.runs {
        let run = &one.run;
        let name = &texts[one.source].name;
        let range = match run.lines {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first}-{last}"),
        };
        let (format, program, scenario) = (run.format.name(), &run.program, &run.scenario.name);
        let figures = figures(run.figures);
        lines.push(format!(
            "{name}:{range}: {format} of {program}, {scenario}: {figures}"
        ));
        lines.extend(run.unread.iter().map(|unread| {
            let text = match unread.text.as_str() {
                "" => String::new(),
                text => format!(" ({text})"),
            };
            format!("  line {}: {}{text}", unread.line, unread.why)
        }));
        let caveats = run.caveats.iter().map(hakaru_report::text::caveat);
        lines.extend(caveats.map(|caveat| format!("  caveat: {caveat}")));
    }
    lines.extend(found.unread.iter().map(|(source, unread)| {
        let (name, line) = (&texts[*source].name, unread.line);
        format!("{name}:{line}: not read: {} ({})", unread.why, unread.text)
    }));
    let others = texts.iter().zip(&found.other_lines);
    lines.extend(
        others
            .filter(|(_, other)| **other > 0)
            .map(|(text, other)| {
                let other = counted(*other, "other line");
                format!("{}: {other} passed over", text.name)
            }),
    );
    let plain = |line: &String| plain(&line.replace('\t', " ")) + "\n";
    lines.iter().map(plain).collect()
}

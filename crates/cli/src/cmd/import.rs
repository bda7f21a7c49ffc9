//! `hakaru import`: stores results of other programs and exported records of hakaru.
//!
//! Prints the results that were read and the reasons for those that were not. Importing the same text again stores
//! nothing new.

use super::{counted, figures, print};
use crate::exit::Exit;
use crate::imports::{self, ImportText, LabelRules, OwnRecords};
use crate::place;
use anyhow::Result;
use hakaru_dialects::import::{ImportResult, ImportedRun};
use hakaru_report::plain;
use hakaru_store::{Appended, Filter};
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
    let (own, mut told) = imports::own_results(&texts);
    let found = imports::find(&texts, &own, mapping.as_ref());
    let OwnRecords {
        mut records,
        verifications,
        ..
    } = own;
    tell(&texts, &found, &mut told);
    told += &imports::about_the_clock(&found);
    let rules = LabelRules::read(&args.label, &texts, &found)?;
    let (labels, apart) = imports::labels(&texts, &found, &rules);
    told += &apart;
    let foreign = imports::records_of(&texts, &found, &labels);
    if args.dry_run {
        let (runs, verified) = (
            counted(records.len() + foreign.len(), "run"),
            imports::and_verified(verifications.len()),
        );
        print(&format!(
            "{told}{runs}{verified} found; nothing was stored.\n"
        ))?;
        return Ok(Exit::Ok);
    }
    let total = records.len() + foreign.len();
    if total + verifications.len() == 0 {
        print(&format!("{told}No results were found.\n"))?;
        return Ok(Exit::Failed);
    }
    let mut store = place::open(db)?;
    let rows = store.runs(&Filter {
        imported: Some(true),
        ..Filter::default()
    })?;
    let foreign =
        imports::without_duplicates(&store, &rows, foreign, !rules.is_empty(), &mut told)?;
    records.extend(imports::joined(&store, &rows, foreign, &mut told)?);
    let new = store.append_all(&records)?;
    let mut verified = 0;
    for verification in &verifications {
        verified += usize::from(store.append_verification(verification)? == Appended::Stored);
    }
    let there = total + verifications.len() - verified - new as usize;
    let rest = match there {
        0 => String::new(),
        1 => ", 1 was stored already".to_owned(),
        there => format!(", {there} were stored already"),
    };
    print(&format!(
        "{told}{}{} imported{rest}.\n",
        counted(new as usize, "run"),
        imports::and_verified(verified)
    ))?;
    Ok(Exit::Ok)
}

/// Adds the results that were read and the reasons for those that were not to `told`. Control characters are removed.
fn tell(texts: &[ImportText], found: &ImportResult, told: &mut String) {
    let mut line = |text: &str| *told += &(plain(&text.replace('\t', " ")) + "\n");
    for one in &found.runs {
        let ImportedRun {
            format,
            program,
            scenario,
            lines,
            unread,
            caveats,
            ..
        } = &one.run;
        let name = &texts[one.source].name;
        let range = if lines.0 == lines.1 {
            lines.0.to_string()
        } else {
            format!("{}-{}", lines.0, lines.1)
        };
        let (format, scenario, figures) = (format.name(), &scenario.name, figures(one.run.figures));
        line(&format!(
            "{name}:{range}: {format} of {program}, {scenario}: {figures}"
        ));
        for unread in unread {
            let text = if unread.text.is_empty() {
                String::new()
            } else {
                format!(" ({})", unread.text)
            };
            line(&format!("  line {}: {}{text}", unread.line, unread.why));
        }
        caveats.iter().for_each(|caveat| {
            line(&format!(
                "  caveat: {}",
                hakaru_report::text::caveat(caveat)
            ))
        });
    }
    for (source, unread) in &found.unread {
        line(&format!(
            "{}:{}: not read: {} ({})",
            texts[*source].name, unread.line, unread.why, unread.text
        ));
    }
    for (text, other) in texts
        .iter()
        .zip(&found.other_lines)
        .filter(|(_, other)| **other > 0)
    {
        line(&format!(
            "{}: {} passed over",
            text.name,
            counted(*other, "other line")
        ));
    }
}

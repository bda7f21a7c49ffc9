//! `hakaru import`: stores results of other programs and exported records of hakaru.
//!
//! Prints the results that were read and the reasons for those that were not. Importing the same text again stores
//! nothing new.

use super::{CountedNoun, counted, json, print};
use crate::exit::Exit;
use crate::imports::{self, DuplicateResults, ImportText, Imported, LabelRules, OwnRecords};
use crate::names::{self, DescriptionArgs};
use crate::place;
use anyhow::Result;
use hakaru_dialects::import::ImportResult;
use hakaru_model::annotation::{AnnotationKind, Annotations};
use hakaru_model::record::RunRecord;
use hakaru_report::plain;
use hakaru_store::{Appended, Store};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Arguments of `hakaru import`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct ImportArgs {
    /// Files, directories, or `-` for standard input: output of fio, iozone, hdparm and dd, CSV tables, exported records, and databases of hakaru
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Name of the device under test; X=NAME applies to the heading X, the file X or the disk X (repeatable) [default: the name of each file without the number of the run]
    #[arg(long, value_name = "[X=]NAME")]
    label: Vec<String>,
    /// TOML file that maps the columns of a CSV table (see below)
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    #[command(flatten)]
    names: DescriptionArgs,
    /// Show what would be imported, and exit
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
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

A measurement given in several formats (text and JSON of one fio run) is stored once. Limits: 1 GiB per file, 256 MiB through a pipe; none for exported records.

Exit codes: 0 success; 1 no results found, or they could not be stored; 2 usage error, or a file does not exist.";

/// Reads, reports and stores results.
pub(crate) fn main(args: &ImportArgs, db: Option<&Path>) -> Result<Exit> {
    let (sources, others) = imports::split(&args.files)?;
    let texts = imports::read_all(&others)?;
    let mapping = args.map.as_deref().map(imports::read_mapping).transpose()?;
    let (own, of_own) = imports::own_results(&texts);
    let found = imports::find(&texts, &own, mapping.as_ref());
    let mut notes = of_own + &describe(&texts, &found);
    notes += &imports::about_the_clock(&found);
    let rules = LabelRules::read(&args.label, &texts, &found)?;
    let (labels, apart) = imports::labels(&texts, &found, &rules);
    notes += &apart;
    let foreign = imports::records_of(&texts, &found, &labels);
    let mut target = ImportTarget {
        db,
        dry_run: args.dry_run,
        store: None,
    };
    let mut stored = ImportedResults::default();
    let mut streamed = String::new();
    for source in &sources {
        streamed += &source.read(&mut |batch| stored.store_own(&mut target, batch))?;
    }
    stored.store_own(&mut target, own)?;
    stored.runs += foreign.len();
    let notes = streamed + &notes;
    if args.dry_run || stored.found() == 0 {
        let (runs, verified) = (
            counted(stored.runs, CountedNoun::Run),
            imports::and_verified(stored.verifications),
        );
        let end = match args.dry_run {
            true => both!(
                "{runs}{verified} found; nothing was stored.",
                "{runs}{verified}を検出しました。何も保存していません。"
            ),
            false => both!("No results were found.", "結果が見つかりません。"),
        };
        stored.notes = notes;
        stored.print(args, &end)?;
        return Ok(match args.dry_run {
            true => Exit::Ok,
            false => Exit::Failed,
        });
    }
    let mut duplicates = DuplicateResults {
        notes,
        ..DuplicateResults::default()
    };
    let store = target.open()?;
    let result = stored.store_others(store, foreign, &mut duplicates)?;
    stored.finish(store, args, duplicates)?;
    stored.print(args, &format!("{result}."))?;
    Ok(Exit::Ok)
}

/// The database of an import, which is opened, and created, when there is something to store.
struct ImportTarget<'a> {
    db: Option<&'a Path>,
    dry_run: bool,
    store: Option<Store>,
}

impl ImportTarget<'_> {
    fn open(&mut self) -> Result<&mut Store> {
        let store = match self.store.take() {
            Some(store) => store,
            None => place::open(self.db)?,
        };
        Ok(self.store.insert(store))
    }
}

/// What an import stored.
#[derive(Default)]
struct ImportedResults {
    notes: String,
    /// Number of runs and verifications found.
    runs: usize,
    verifications: usize,
    /// IDs of the new runs and verifications.
    new: Vec<String>,
    new_verifications: Vec<String>,
    /// IDs of stored runs that were found again.
    known: Vec<String>,
    /// Series of new runs and of those found again, in order.
    series: Vec<SeriesLine>,
}

/// One series of an import.
#[derive(Serialize)]
struct SeriesLine {
    series: String,
    label: String,
    scenario: String,
    runs: usize,
    #[serde(skip)]
    short: String,
}

impl ImportedResults {
    fn found(&self) -> usize {
        self.runs + self.verifications
    }

    /// Stores records of hakaru that are new, and counts them.
    fn store_own(&mut self, target: &mut ImportTarget<'_>, own: OwnRecords) -> Result<()> {
        let count = (own.records.len(), own.verifications.len());
        self.runs += count.0;
        self.verifications += count.1;
        if target.dry_run || count == (0, 0) {
            return Ok(());
        }
        let store = target.open()?;
        self.append(store, &own.records)?;
        for verification in &own.verifications {
            if store.append_verification(verification)? == Appended::Stored {
                self.new_verifications.push(verification.id.clone());
            }
        }
        annotate_missing(store, &own.annotations)
    }

    fn append(&mut self, store: &mut Store, records: &[RunRecord]) -> Result<()> {
        let mut new = Vec::new();
        for RunRecord { id, .. } in records {
            match store.is_stored(id)? {
                true => self.known.push(id.clone()),
                false => new.push(id.clone()),
            }
        }
        store.append_all(records)?;
        self.new.append(&mut new);
        Ok(())
    }

    /// Stores results of other programs that are new, and describes how many were new in all.
    fn store_others(
        &mut self,
        store: &mut Store,
        foreign: Vec<Imported>,
        duplicates: &mut DuplicateResults,
    ) -> Result<String> {
        let foreign = imports::without_duplicates(store, foreign, duplicates)?;
        for Imported { record, .. } in &foreign {
            if store.is_stored(&record.id)? {
                self.known.push(record.id.clone());
            }
        }
        self.known.append(&mut duplicates.stored);
        let joined = imports::joined(store, foreign, &mut duplicates.notes)?;
        self.append(store, &joined)?;
        let (new, verified) = (self.new.len(), self.new_verifications.len());
        let rest = match self.found() - verified - new {
            0 => String::new(),
            1 => both!(", 1 was stored already", "、1件は保存済み"),
            there => both!(", {there} were stored already", "、{there}件は保存済み"),
        };
        let (runs, verified) = (
            counted(new, CountedNoun::Run),
            imports::and_verified(verified),
        );
        Ok(both!(
            "{runs}{verified} imported{rest}",
            "{runs}{verified}を取り込みました{rest}"
        ))
    }

    /// Stores the names that the user gave, and lists the series.
    fn finish(
        &mut self,
        store: &mut Store,
        args: &ImportArgs,
        duplicates: DuplicateResults,
    ) -> Result<()> {
        self.notes = duplicates.notes;
        for (series, label) in &duplicates.aliases {
            let subject = std::slice::from_ref(series);
            store.annotate(&names::annotations(subject, AnnotationKind::Alias, label))?;
            self.notes += &plain(&both!(
                "{label} is now a further label of it",
                "ラベル{label}を追加しました"
            ));
            self.notes.push('\n');
        }
        let mut seen = BTreeSet::new();
        for id in self.new.iter().chain(&self.known) {
            let series = store.series_id(id)?;
            if !seen.insert(series.clone()) {
                continue;
            }
            let rows = names::rows_of(store, &series)?;
            if let Some(first) = rows.iter().min_by_key(|row| row.repeat) {
                self.series.push(SeriesLine {
                    label: first.target.clone(),
                    scenario: first.scenario.clone(),
                    runs: rows.len(),
                    short: first.short.clone(),
                    series: series.clone(),
                });
            }
            args.names.store(store, &series)?;
        }
        for id in &self.new_verifications {
            args.names.store(store, id)?;
        }
        Ok(())
    }

    /// Prints notes, the series with their IDs, what to type next, and how it ended.
    fn print(&self, args: &ImportArgs, end: &str) -> Result<()> {
        if args.json {
            let body = ImportJson {
                found: self.found(),
                new: &self.new,
                known: &self.known,
                new_verifications: &self.new_verifications,
                series: &self.series,
                notes: self.notes.lines().collect(),
            };
            return json::print(json::IMPORT, &body);
        }
        let mut text = self.notes.clone();
        for line in self.series.iter().take(SHOWN) {
            let runs = counted(line.runs, CountedNoun::Run);
            let SeriesLine {
                short,
                label,
                scenario,
                ..
            } = line;
            text += &(plain(&format!("{short}  {label}: {scenario}, {runs}")) + "\n");
        }
        if self.series.len() > SHOWN {
            let others = self.series.len() - SHOWN;
            text += &both!(
                "and {others} more series; `hakaru list` shows them\n",
                "ほか{others}件の測定シリーズはhakaru listで確認できます\n"
            );
        }
        for id in &self.new_verifications {
            text += &both!("{id}  verification\n", "{id}  検証\n");
        }
        text += &self.next();
        print(&format!("{text}{end}\n"))
    }

    /// Returns what to type next.
    fn next(&self) -> String {
        let short = |series: &SeriesLine| series.short.clone();
        match &self.series[..] {
            [] => match self.new_verifications.first() {
                Some(id) => both!("Next: `hakaru show {id}`\n", "次: hakaru show {id}\n"),
                None => String::new(),
            },
            [only] => {
                both!("Next: `hakaru report {}`\n", "次: hakaru report {}\n"; short(only))
            }
            [first, second, ..] => {
                let (a, b) = (short(first), short(second));
                both!(
                    "Next: `hakaru report {a}`, `hakaru compare {a} {b}`\n",
                    "次: hakaru report {a}、hakaru compare {a} {b}\n"
                )
            }
        }
    }
}

/// Maximum number of series that are listed.
const SHOWN: usize = 20;

/// Output of `hakaru import --json`.
#[derive(Serialize)]
struct ImportJson<'a> {
    found: usize,
    new: &'a [String],
    known: &'a [String],
    new_verifications: &'a [String],
    series: &'a [SeriesLine],
    notes: Vec<&'a str>,
}

/// Stores exported annotations where this database has none of their kind.
fn annotate_missing(store: &mut Store, exported: &BTreeMap<String, Annotations>) -> Result<()> {
    for (subject, theirs) in exported {
        let ours = store.annotations(subject)?;
        let missing = Annotations {
            label: theirs.label.clone().filter(|_| ours.label.is_none()),
            // A new label would remove the aliases that are there.
            aliases: theirs.aliases.clone(),
            title: theirs.title.clone().filter(|_| ours.title.is_none()),
            note: theirs.note.clone().filter(|_| ours.note.is_none()),
        };
        let missing = match ours.aliases.is_empty() {
            true => missing,
            false => Annotations {
                label: None,
                ..missing
            },
        };
        let now = hakaru_campaign::now_unix_ms();
        store.annotate(&missing.to_history(subject, now))?;
    }
    Ok(())
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
        let figures = counted(run.figures, CountedNoun::Figure);
        lines.push(both!(
            "{name}:{range}: {format} of {program}, {scenario}: {figures}",
            "{name}:{range}: {program}の{format}、{scenario}: {figures}"
        ));
        lines.extend(run.unread.iter().map(|unread| {
            let text = match unread.text.as_str() {
                "" => String::new(),
                text => format!(" ({text})"),
            };
            both!("  line {}: {}{text}", "  {}行目: {}{text}"; unread.line, unread.why)
        }));
        let caveats = run.caveats.iter().map(hakaru_report::text::caveat);
        lines.extend(caveats.map(|caveat| both!("  caveat: {caveat}", "  注意: {caveat}")));
    }
    lines.extend(found.unread.iter().map(|(source, unread)| {
        let (name, line) = (&texts[*source].name, unread.line);
        both!("{name}:{line}: not read: {} ({})", "{name}:{line}: 読み込めません: {}（{}）"; unread.why, unread.text)
    }));
    let others = texts.iter().zip(&found.other_lines);
    lines.extend(
        others
            .filter(|(_, other)| **other > 0)
            .map(|(text, other)| {
                let name = &text.name;
                match *other {
                    1 => both!("{name}: 1 other line passed over", "{name}: 他の1行を無視"),
                    other => both!(
                        "{name}: {other} other lines passed over",
                        "{name}: 他の{other}行を無視"
                    ),
                }
            }),
    );
    let plain = |line: &String| plain(&line.replace('\t', " ")) + "\n";
    lines.iter().map(plain).collect()
}

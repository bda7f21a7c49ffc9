//! `hakaru import`: stores results of other programs and exported records of hakaru.
//!
//! Prints the results that were read and the reasons for those that were not. Importing the same text again stores
//! nothing new.

mod next;

use super::{CountedNoun, counted, json, print};
use crate::exit::{Exit, usage};
use crate::imports::{
    self, DuplicateResults, EqualResults, ImportNotes, Imported, ImportedIds, KnownLabels,
    KnownRuns, LabelRules, OwnCounts, OwnRecords, OwnSource, SHOWN, TextBatches,
};
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

A measurement given in several formats (text and JSON of one fio run) is stored once. Limits: 1 GiB per file, 256 MiB through a pipe; none for exported records and CSV tables.

Exit codes: 0 success; 1 no results found, or they could not be stored; 2 usage error, or a file does not exist.";

/// Reads, reports and stores results.
pub(crate) fn main(args: &ImportArgs, db: Option<&Path>) -> Result<Exit> {
    for label in args.label.iter().filter(|label| !label.contains('=')) {
        names::label(label).map_err(usage)?;
    }
    let (sources, others) = imports::split(&args.files)?;
    let mut target = ImportTarget {
        db,
        args,
        store: None,
    };
    let mut stored = ImportedResults::default();
    let others = match import_all(args, &mut target, &mut stored, &sources, others) {
        Ok(others) => others,
        Err(error) => {
            stored.warn_of_stored();
            return Err(error);
        }
    };
    let end = match target.store {
        Some(mut store) => {
            stored.finish(&mut store, others)?;
            stored.outcome()
        }
        None => stored.nothing_stored(args.dry_run),
    };
    stored.print(args, &end)?;
    Ok(match args.dry_run || stored.found() > 0 {
        true => Exit::Ok,
        false => Exit::Failed,
    })
}

/// Reads and stores all results, in batches.
fn import_all(
    args: &ImportArgs,
    target: &mut ImportTarget<'_>,
    stored: &mut ImportedResults,
    sources: &[OwnSource],
    others: Vec<PathBuf>,
) -> Result<ForeignResults> {
    let mapping = args.map.as_deref().map(imports::read_mapping).transpose()?;
    let mut rules = LabelRules::read(&args.label)?;
    if others.is_empty() {
        // Exported records keep their labels, so nothing is called `X` in `X=NAME`.
        rules.check(&[], &ImportResult::default())?;
    }
    for source in sources {
        let read = source.read(&mut |batch| stored.store_own(target, batch))?;
        stored.notes.add(&read);
    }
    let mut batches = TextBatches::of(others, mapping.as_ref());
    let mut others = ForeignResults::default();
    while !batches.is_at_end() {
        if !batches.is_within_table() {
            others.alike = EqualResults::default();
        }
        let texts = batches.next()?;
        let (own, of_own) = imports::own_results(&texts);
        let found = imports::find(&texts, &own, mapping.as_ref());
        stored.notes.add(&of_own);
        stored.notes.add(&imports::describe(&texts, &found));
        if !others.has_clock_note {
            let note = imports::about_the_clock(&found);
            others.has_clock_note = !note.is_empty();
            stored.notes.add(&note);
        }
        rules.see(&texts, &found);
        if batches.is_at_end() {
            rules.check(&texts, &found)?;
        }
        let (labels, apart) = imports::labels(&texts, &found, &rules, &mut others.labels);
        stored.notes.add(&apart);
        let foreign = imports::records_of(&texts, &found, &labels, &mut others.alike);
        stored.store_own(target, own)?;
        stored.store_others(target, foreign, &mut others)?;
    }
    Ok(others)
}

/// The database of an import, which is opened, and created, when there is something to store.
struct ImportTarget<'a> {
    db: Option<&'a Path>,
    args: &'a ImportArgs,
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

/// What is known about results of other programs across batches.
#[derive(Default)]
struct ForeignResults {
    alike: EqualResults,
    labels: KnownLabels,
    known: Option<KnownRuns>,
    /// Further labels of stored series.
    aliases: Vec<(String, String)>,
    has_clock_note: bool,
}

/// What an import stored.
#[derive(Default)]
struct ImportedResults {
    notes: ImportNotes,
    /// Numbers of runs, verifications and anatomies found.
    found: OwnCounts,
    /// The new runs, verifications and anatomies.
    new: ImportedIds,
    new_verifications: ImportedIds,
    new_anatomies: ImportedIds,
    /// Stored runs that were found again.
    known: ImportedIds,
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
    /// Prints how many runs an import that failed has stored.
    fn warn_of_stored(&self) {
        let count = self.new_counts().total();
        if count > 0 {
            let results = counted(count, CountedNoun::Result);
            anstream::eprintln!(
                "{}",
                both!(
                    "note: {results} were stored before the error",
                    "参考: エラーの前に{results}を保存しました"
                )
            );
        }
    }

    fn found(&self) -> usize {
        self.found.total()
    }

    fn new_counts(&self) -> OwnCounts {
        OwnCounts {
            runs: self.new.count,
            verifications: self.new_verifications.count,
            anatomies: self.new_anatomies.count,
        }
    }

    /// Stores records of hakaru that are new, and counts them.
    fn store_own(&mut self, target: &mut ImportTarget<'_>, own: OwnRecords) -> Result<()> {
        let counts = OwnCounts::of(&own);
        self.found.add(counts);
        let args = target.args;
        if args.dry_run || counts.total() == 0 {
            return Ok(());
        }
        let store = target.open()?;
        let appended = store.append_texts(&own.records)?;
        for (text, appended) in own.records.iter().zip(appended) {
            self.count(text.record(), appended, args);
        }
        let mut new = Vec::new();
        for verification in &own.verifications {
            if store.append_verification(verification)? == Appended::Stored {
                self.new_verifications.add(&verification.id, "", args.json);
                new.push(verification.id.as_str());
            }
        }
        for anatomy in &own.anatomies {
            if store.append_anatomy(anatomy)? == Appended::Stored {
                self.new_anatomies.add(&anatomy.id, "", args.json);
                new.push(anatomy.id.as_str());
            }
        }
        annotate_missing(store, &own.annotations)?;
        // A run has the label of its device in the record.
        if let Some(label) = args.label.iter().find(|label| !label.contains('=')) {
            let label = names::label(label).map_err(usage)?;
            let ids: Vec<String> = new.iter().map(|id| (*id).to_owned()).collect();
            store.annotate(&names::annotations(&ids, AnnotationKind::Label, &label))?;
        }
        let series = own.records.iter().map(|of| of.record().series.as_str());
        describe_all(store, series.chain(new), args)
    }

    /// Stores records that are new, and counts them.
    fn append(
        &mut self,
        store: &mut Store,
        records: &[RunRecord],
        args: &ImportArgs,
    ) -> Result<()> {
        let appended = store.append_all(records)?;
        for (record, appended) in records.iter().zip(appended) {
            self.count(record, appended, args);
        }
        Ok(())
    }

    fn count(&mut self, RunRecord { id, series, .. }: &RunRecord, of: Appended, args: &ImportArgs) {
        match of {
            Appended::Stored => self.new.add(id, series, args.json),
            Appended::AlreadyThere => self.known.add(id, series, args.json),
        }
    }

    /// Stores results of other programs that are new.
    fn store_others(
        &mut self,
        target: &mut ImportTarget<'_>,
        foreign: Vec<Imported>,
        of: &mut ForeignResults,
    ) -> Result<()> {
        self.found.runs += foreign.len();
        let args = target.args;
        if args.dry_run || foreign.is_empty() {
            return Ok(());
        }
        let store = target.open()?;
        let known = match of.known.take() {
            Some(known) => known,
            None => KnownRuns::of(store)?,
        };
        let mut duplicates = DuplicateResults::default();
        let known = of.known.insert(known);
        let foreign = imports::without_duplicates(store, foreign, known, &mut duplicates)?;
        let mut again = std::mem::take(&mut duplicates.stored);
        for Imported { record, .. } in &foreign {
            if store.is_stored(&record.id)? {
                again.push(record.id.clone());
            }
        }
        let mut subjects = Vec::new();
        for id in &again {
            let series = store.series_id(id)?;
            self.known.add(id, &series, args.json);
            subjects.push(series);
        }
        let joined = imports::joined(store, foreign, &mut duplicates.notes)?;
        self.append(store, &joined, args)?;
        self.notes.add(&duplicates.notes);
        of.aliases.append(&mut duplicates.aliases);
        let subjects = subjects.iter().map(String::as_str);
        let series = joined.iter().map(|record| record.series.as_str());
        describe_all(store, subjects.chain(series), args)
    }

    /// Describes how many results were new.
    fn outcome(&self) -> String {
        let new = self.new_counts();
        let rest = match self.found() - new.total() {
            0 => String::new(),
            1 => both!(", 1 was stored already", "（1件は保存済み）"),
            there => both!(", {there} were stored already", "（{there}件は保存済み）"),
        };
        let new = new.text(CountedNoun::Run);
        both!("{new} imported{rest}.", "{new}を取り込みました{rest}。")
    }

    /// Describes an import that stored nothing.
    fn nothing_stored(&self, is_dry_run: bool) -> String {
        let found = self.found.text(CountedNoun::Run);
        match is_dry_run {
            true => both!(
                "{found} found; nothing was stored.",
                "{found}を検出しました。何も保存していません。"
            ),
            false => both!(
                "No results were found; `hakaru import --help` lists the formats.",
                "結果が見つかりません。形式はhakaru import --helpで確認してください。"
            ),
        }
    }

    /// Stores further labels that the user gave, and lists the series.
    fn finish(&mut self, store: &mut Store, others: ForeignResults) -> Result<()> {
        for (series, label) in &others.aliases {
            let subject = std::slice::from_ref(series);
            store.annotate(&names::annotations(subject, AnnotationKind::Alias, label))?;
            let note = both!(
                "{label} is now a further label of it",
                "ラベル{label}を追加しました"
            );
            self.notes.add(&plain(&note));
        }
        self.notes.end();
        let mut seen = BTreeSet::new();
        for series in self.new.series.iter().chain(&self.known.series) {
            if !seen.insert(series) {
                continue;
            }
            if let Some((first, runs)) = store.series_head(series)? {
                self.series.push(SeriesLine {
                    label: first.target,
                    scenario: first.scenario,
                    runs: usize::try_from(runs).unwrap_or(usize::MAX),
                    short: first.short,
                    series: series.clone(),
                });
            }
        }
        Ok(())
    }

    /// Prints notes, the series with their IDs, what to type next, and how it ended.
    fn print(&self, args: &ImportArgs, end: &str) -> Result<()> {
        if args.json {
            let body = ImportJson {
                found: self.found(),
                new: &self.new.ids,
                known: &self.known.ids,
                new_verifications: &self.new_verifications.ids,
                new_anatomies: &self.new_anatomies.ids,
                series: &self.series,
                notes: self.notes.text.lines().collect(),
            };
            return json::print(json::IMPORT, &body);
        }
        let mut text = self.notes.text.clone();
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
            text += &both!(
                "and more series; `hakaru list` shows them\n",
                "ほかの測定シリーズはhakaru listで確認できます\n"
            );
        }
        for id in &self.new_verifications.ids {
            text += &both!("{id}  verification\n", "{id}  検証\n");
        }
        for id in &self.new_anatomies.ids {
            text += &both!("{id}  anatomy\n", "{id}  構造調査\n");
        }
        let mut others = self.new_verifications.ids.iter();
        let other = others.next().or(self.new_anatomies.ids.first());
        text += &next::next(&self.series, other);
        print(&format!("{text}{end}\n"))
    }
}

/// Stores title and note beside series and verifications.
fn describe_all<'a>(
    store: &mut Store,
    subjects: impl Iterator<Item = &'a str>,
    args: &ImportArgs,
) -> Result<()> {
    if args.names.title.is_none() && args.names.note.is_none() {
        return Ok(());
    }
    let subjects: BTreeSet<&str> = subjects.collect();
    let mut described = subjects.into_iter();
    described.try_for_each(|subject| args.names.store(store, subject))
}

/// Output of `hakaru import --json`.
#[derive(Serialize)]
struct ImportJson<'a> {
    found: usize,
    new: &'a [String],
    known: &'a [String],
    new_verifications: &'a [String],
    new_anatomies: &'a [String],
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

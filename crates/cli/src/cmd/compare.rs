//! `hakaru compare`: compares two sets of results side by side, with figures, ratios and verdicts.

use super::report::{Form, NO_TABLE};
use super::{print, terminal_width};
use crate::exit::Exit;
use crate::imports;
use crate::place;
use crate::select::{self, Term};
use anyhow::{Result, bail};
use hakaru_analysis::compare::common_phases;
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::Summary;
use hakaru_model::job::{Phase, Scenario};
use hakaru_model::record::RunRecord;
use hakaru_store::{Filter, Store};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Arguments of `hakaru compare`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// First set of results: run ids, names, `latest` (the newest series), files or directories (comma-separated), or a selection: series=, card=, layer=, host=, date=, campaign=, workload=
    a: String,
    /// Second set of results, in the same form: ratios are B divided by A
    b: String,
    /// Also write the comparison to FILE: HTML, or by its suffix Markdown (.md), CSV (.csv) or text (.txt); `-` for HTML on standard output instead of the text
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Compares two sides and prints the result.
pub(crate) fn main(args: &CompareArgs, db: Option<&Path>) -> Result<Exit> {
    let (a, b) = sides(args, db)?;
    let mut both = [a, b];
    hakaru_analysis::compare_traced(&mut both, 0);
    let [a, b] = both;
    let names = names(&a, &b, args);
    let names = (names.0.as_str(), names.1.as_str());
    let phases = common_phases(&a, &b);
    if phases.is_empty() {
        bail!(
            "cannot compare {} and {}: they have no workload in common; help: `hakaru show` lists \
            the workloads of each",
            names.0,
            names.1
        );
    }
    let comparisons = hakaru_analysis::compare_summaries(&a, &b);
    // Do not wrap lines that go to a file.
    let width = terminal_width().unwrap_or(usize::MAX);
    let text = |color: bool| {
        let sides = (&a, &b);
        hakaru_report::comparison_terminal(sides, names, &phases, &comparisons, width, color)
    };
    let Some(path) = &args.output else {
        return print(&text(true)).map(|()| Exit::Ok);
    };
    let page = match Form::of(None, Some(path)) {
        Form::Html => hakaru_report::comparison_html(&a, &b, &comparisons),
        Form::Markdown => hakaru_report::comparison_markdown(&a, &b, &comparisons),
        Form::Csv => hakaru_report::comparison_csv(&comparisons, names),
        Form::Terminal => text(false),
        Form::Parquet => bail!(NO_TABLE),
    };
    if place::is_stdout(Some(path)) {
        return print(&page).map(|()| Exit::Ok);
    }
    let printed = print(&text(true));
    place::write_page(path, page.as_bytes())?;
    printed?;
    print(&format!("\nReport: {}\n", path.display()))?;
    Ok(Exit::Ok)
}

/// Summarizes both sides, and prints the notes about their names.
fn sides(args: &CompareArgs, db: Option<&Path>) -> Result<(Summary, Summary)> {
    let mut stored = StoreSource {
        db,
        store: None,
        notes: BTreeSet::new(),
    };
    let sides = side(&args.a, &mut stored).and_then(|a| Ok((a, side(&args.b, &mut stored)?)));
    for note in &stored.notes {
        anstream::eprintln!("note: {note}");
    }
    sides
}

/// The database for both sides, opened once on first use, so that its notes are printed only once.
struct StoreSource<'a> {
    db: Option<&'a Path>,
    store: Option<Store>,
    notes: BTreeSet<String>,
}

impl StoreSource<'_> {
    fn store(&mut self) -> Result<&Store> {
        let store = match self.store.take() {
            Some(store) => store,
            None => place::read(self.db)?,
        };
        Ok(self.store.insert(store))
    }

    /// Returns the runs with a label; otherwise the single run with this ID. `latest` returns the whole newest series.
    fn named(&mut self, name: &str) -> Result<Vec<RunRecord>> {
        let store = self.store()?;
        if let Some(records) = of_thing(store, name)? {
            return Ok(records);
        }
        let found = place::runs(store, name, name == "latest")?;
        if let [only] = &found[..] {
            let rows = store.runs(&Filter::default())?;
            let repeats = rows.iter().filter(|row| row.series == only.series).count();
            if repeats > 1 {
                let short = only.series.get(..8).unwrap_or(&only.series);
                let note = format!(
                    "{name} is one of {repeats} runs of its series; use series={short} for all of \
                    them"
                );
                self.notes.insert(hakaru_report::plain(&note));
            }
        }
        Ok(found)
    }

    /// Returns the runs in a file, otherwise those of [`StoreSource::named`].
    fn or_file(&mut self, name: &str) -> Result<Vec<RunRecord>> {
        let path = Path::new(name);
        let found = match path.exists() {
            true => imports::records_in(path)?,
            false => self.named(name)?,
        };
        if found.is_empty() {
            bail!(
                "no results found in {name}; help: `hakaru import --dry-run {name}` lists what \
                was not read, and why"
            );
        }
        Ok(found)
    }

    fn chosen(&mut self, terms: &[Term]) -> Result<Vec<RunRecord>> {
        let mut notes = std::mem::take(&mut self.notes);
        let runs = select::runs(self.store()?, terms, &mut notes);
        self.notes = notes;
        runs
    }
}

/// Summarizes all records of one side.
fn side(names: &str, stored: &mut StoreSource<'_>) -> Result<Summary> {
    let words = names.split(',').map(str::trim);
    let words: Vec<&str> = words.filter(|name| !name.is_empty()).collect();
    // A file name may look like a selector term.
    let term = |word: &&str| match Path::new(word).exists() {
        true => None,
        false => Term::read(word),
    };
    let terms: Vec<Term> = words.iter().filter_map(term).collect();
    let mut records = match terms.len() == words.len() && !terms.is_empty() {
        true => stored.chosen(&terms)?,
        false => Vec::new(),
    };
    for name in words.into_iter().filter(|word| term(word).is_none()) {
        for record in stored.or_file(name)? {
            if records.iter().all(|known| known.id != record.id) {
                records.push(record);
            }
        }
    }
    records = select::narrow(records, &terms)?;
    if records.is_empty() {
        bail!(
            "nothing to compare in `{names}`; help: name runs, cards or files, or a common \
            property (card=…)"
        );
    }
    let pooled = pooled(&records);
    number_jobs(&mut records);
    let mut summary = hakaru_analysis::summarize(&records);
    count_the_rarest(&mut summary);
    summary.caveats.splice(0..0, pooled);
    if !terms.is_empty() {
        let values: Vec<&str> = terms.iter().map(|term| term.value.as_str()).collect();
        summary.target.label = Some(values.join(", "));
    }
    Ok(summary)
}

/// Runs of different workloads are not repeats of each other, so the caveat counts the workload with the fewest runs.
fn count_the_rarest(summary: &mut Summary) {
    let fewest = summary
        .phases
        .iter()
        .map(|phase| phase.bandwidth.values.len())
        .min()
        .unwrap_or(0) as u32;
    summary
        .caveats
        .retain(|caveat| !matches!(caveat, Caveat::FewRuns { .. }));
    if (1..hakaru_analysis::summarize::FEW_RUNS).contains(&fewest) {
        summary.caveats.push(Caveat::FewRuns { runs: fewest });
    }
}

/// A property that may differ between runs: its plural name and its accessor.
type Kind = (&'static str, fn(&RunRecord) -> String);

/// Returns a caveat for each property that differs within a side: the spread then includes these differences.
fn pooled(records: &[RunRecord]) -> Vec<Caveat> {
    let kinds: [Kind; 3] = [
        ("cards", |record| match &record.campaign {
            Some(point) => point.card.clone(),
            None => record.target.display_name(),
        }),
        ("layers", |record| match &record.campaign {
            Some(point) => point.layer.clone(),
            None => String::new(),
        }),
        ("hosts", |record| record.environment.hostname.clone()),
    ];
    let counted = kinds.into_iter().map(|(what, of)| {
        let names = records.iter().map(of).filter(|name| !name.is_empty());
        (what, names.collect::<BTreeSet<String>>().len() as u32)
    });
    let several = counted.filter(|(_, count)| *count > 1);
    several
        .map(|(what, count)| Caveat::Pooled {
            count,
            what: what.to_owned(),
        })
        .collect()
}

/// Returns the runs of a label; `None` if it is unknown.
fn of_thing(store: &Store, name: &str) -> Result<Option<Vec<RunRecord>>> {
    let rows = store.runs(&Filter {
        target: Some(name.to_owned()),
        ..Filter::default()
    })?;
    let ids: Vec<&str> = rows
        .iter()
        .rev()
        .filter(|row| row.target == name)
        .map(|row| row.id.as_str())
        .collect();
    let records = ids
        .iter()
        .map(|id| store.run(id))
        .collect::<Result<Vec<_>, _>>()?;
    Ok((!records.is_empty()).then_some(records))
}

/// Renames phases so that a name stands for one job: a name used for different jobs gets a number.
fn number_jobs(records: &mut [RunRecord]) {
    let mut known: Vec<(String, Scenario)> = Vec::new();
    for record in records {
        let phases = record.phases.iter_mut();
        for (phase, asked) in phases.zip(&mut record.scenario.phases) {
            if asked.name == phase.name {
                asked.name = numbered(&mut known, asked);
                phase.name.clone_from(&asked.name);
            }
        }
    }
}

/// The name of a phase, with a number if other jobs have the name; `known` are the names so far.
fn numbered(known: &mut Vec<(String, Scenario)>, phase: &Phase) -> String {
    let alone = Scenario {
        name: String::new(),
        seed: 0,
        phases: vec![phase.clone()],
    };
    let same = |(_, other): &&(String, Scenario)| imports::same_jobs(other, &alone);
    if let Some((name, _)) = known.iter().find(same) {
        return name.clone();
    }
    let of_name = |(_, other): &&(String, Scenario)| other.phases[0].name == phase.name;
    let name = match known.iter().filter(of_name).count() {
        0 => phase.name.clone(),
        before => format!("{} ({})", phase.name, before + 1),
    };
    known.push((name.clone(), alone));
    name
}

/// Returns the names of the sides: the targets, or the arguments if the target names are equal or missing.
fn names(a: &Summary, b: &Summary, args: &CompareArgs) -> (String, String) {
    let short = |typed: &str| {
        Path::new(typed)
            .file_stem()
            .map_or(typed.to_owned(), |s| s.to_string_lossy().into_owned())
    };
    let (x, y) = (a.target.display_name(), b.target.display_name());
    let named =
        |summary: &Summary, typed: &str| summary.target.label.is_some() || !typed.contains(',');
    let differ = x != y && !x.is_empty() && !y.is_empty();
    let (x, y) = match differ && named(a, &args.a) && named(b, &args.b) {
        true => (x, y),
        false => (short(&args.a), short(&args.b)),
    };
    match (x == y, args.a == args.b) {
        (false, _) => (x, y),
        // For example files of one name in two directories.
        (true, false) => (args.a.clone(), args.b.clone()),
        (true, true) => (format!("{x} (first)"), format!("{y} (second)")),
    }
}

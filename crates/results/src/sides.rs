//! Sides of a comparison: runs from the database or from files, pooled and summarized.

use crate::jobs::same_jobs;
use crate::select::{self, Term};
use crate::{lookup, names};
use anyhow::{Context, Result, bail};
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{Finding, Summary};
use hakaru_model::job::{Phase, Scenario};
use hakaru_model::record::RunRecord;
use hakaru_store::{FindError, Readable, Store};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Reads the results in a file.
pub type FileReader<'a> = &'a dyn Fn(&Path) -> Result<Vec<RunRecord>>;

/// Removes what is not needed from a record that was read.
type Reduction = fn(&mut RunRecord);

/// Where the runs of the sides come from, and what was noticed while they were read.
pub struct ResultSource<'a> {
    store: SourceStore<'a>,
    /// Reads a name that is an existing file; without it, a name never stands for a file.
    files: Option<FileReader<'a>>,
    /// Notes for the user, each once.
    pub notes: BTreeSet<String>,
    /// Stored runs that cannot be read, by ID.
    pub unreadable: Vec<(String, FindError)>,
}

/// The database of all sides.
enum SourceStore<'a> {
    Open(&'a Store),
    /// Opened on first use, so that a comparison of files needs none.
    Lazy(&'a dyn Fn() -> Result<Store>, OnceCell<Store>),
}

impl<'a> ResultSource<'a> {
    /// Results of an open database only.
    pub fn of_store(store: &'a Store) -> ResultSource<'a> {
        ResultSource::new(SourceStore::Open(store), None)
    }

    /// Results of files, and of a database that is opened when a name is not a file.
    pub fn with_files(
        open: &'a dyn Fn() -> Result<Store>,
        files: FileReader<'a>,
    ) -> ResultSource<'a> {
        ResultSource::new(SourceStore::Lazy(open, OnceCell::new()), Some(files))
    }

    fn new(store: SourceStore<'a>, files: Option<FileReader<'a>>) -> ResultSource<'a> {
        ResultSource {
            store,
            files,
            notes: BTreeSet::new(),
            unreadable: Vec::new(),
        }
    }

    fn store(&self) -> Result<&Store> {
        match &self.store {
            SourceStore::Open(store) => Ok(store),
            SourceStore::Lazy(open, opened) => match opened.get() {
                Some(store) => Ok(store),
                None => {
                    let store = open()?;
                    Ok(opened.get_or_init(|| store))
                }
            },
        }
    }

    /// Reads and summarizes the sides: each word stands for the runs of one.
    ///
    /// # Errors
    /// If a word stands for no run, or the database cannot be read.
    pub fn sides(&mut self, words: &[String]) -> Result<Vec<Summary>> {
        words.iter().map(|word| self.side(word)).collect()
    }

    /// Returns the runs that these words choose, as those of one side; all completed runs without words.
    ///
    /// # Errors
    /// If a word stands for no run, or the database cannot be read.
    pub fn chosen(&mut self, words: &[String]) -> Result<Vec<RunRecord>> {
        match words {
            [] => self.matching(&[], |_| ()),
            words => Ok(self.records_of(&words.join(","), |_| ())?.0),
        }
    }

    /// Whether a word is the path of a file that may be read.
    fn is_file(&self, word: &str) -> bool {
        self.files.is_some() && Path::new(word).exists()
    }

    /// Returns the runs with a label; otherwise the single run with this ID. `latest` returns the whole newest series.
    fn named(&mut self, name: &str, reduce: Reduction) -> Result<Vec<RunRecord>> {
        let store = self.store()?;
        if let Some(records) = of_thing(store, name, reduce)? {
            return Ok(records);
        }
        let read = lookup::readable_runs(store, name, names::position(name).is_some())?;
        let found = self.readable(read)?;
        if let [only] = &found[..] {
            let repeats = names::rows_of(self.store()?, &only.series)?.len();
            if repeats > 1 {
                let short = only.series.get(..8).unwrap_or(&only.series);
                let note = both!(
                    "{name} is one of {repeats} runs of its series; use series={short} for all of \
                    them",
                    "{name}は測定シリーズの{repeats}回のうちの1回です。全回を使うにはseries={short}を指定してください"
                );
                self.notes.insert(hakaru_report::plain(&note));
            }
        }
        Ok(found)
    }

    /// Returns the readable records, and remembers the others; an error if all are unreadable.
    fn readable(&mut self, mut found: Readable<RunRecord>) -> Result<Vec<RunRecord>> {
        if found.records.is_empty() && !found.unreadable.is_empty() {
            return Err(found.unreadable.remove(0).1.into());
        }
        self.unreadable.extend(found.unreadable);
        Ok(found.records)
    }

    /// Returns the runs in a file, otherwise those of [`ResultSource::named`].
    fn or_file(&mut self, name: &str, reduce: Reduction) -> Result<Vec<RunRecord>> {
        let found = match self.files {
            Some(read) if self.is_file(name) => read(Path::new(name))?,
            Some(_) if Path::new(name).extension().is_some() || name.contains('/') => {
                self.named(name, reduce).with_context(|| {
                    both!(
                        "cannot read {name}: there is no such file, nor a stored result of this name",
                        "{name}を読み込めません（この名前のファイルも、保存済みの結果もありません）"
                    )
                })?
            }
            _ => self.named(name, reduce)?,
        };
        if found.is_empty() {
            bail!(both!(
                "no results found in {name}; help: `hakaru import --dry-run {name}` lists what \
                was not read, and why",
                "{name}に結果がありません; help: 読み込めないものとその理由はhakaru import --dry-run {name}で確認してください"
            ));
        }
        Ok(found)
    }

    /// Returns the completed runs that match all kinds of terms; all without terms.
    fn matching(&mut self, terms: &[Term], reduce: Reduction) -> Result<Vec<RunRecord>> {
        let mut notes = std::mem::take(&mut self.notes);
        let runs = select::reduced_runs(self.store()?, terms, &mut notes, reduce);
        self.notes = notes;
        runs
    }

    /// Summarizes all records of one side.
    fn side(&mut self, names: &str) -> Result<Summary> {
        let (mut records, terms) = self.records_of(names, hakaru_analysis::summarize::reduce)?;
        number_jobs(&mut records, &mut Vec::new());
        let mut summary = summarized(&records);
        if !terms.is_empty() {
            let values: Vec<&str> = terms.iter().map(|term| term.value.as_str()).collect();
            summary.target.label = Some(values.join(", "));
        }
        Ok(summary)
    }

    /// Returns the runs that the words of one side choose, reduced, and its terms.
    fn records_of(
        &mut self,
        names: &str,
        reduce: Reduction,
    ) -> Result<(Vec<RunRecord>, Vec<Term>)> {
        let words = names.split(',').map(str::trim);
        let words: Vec<&str> = words.filter(|name| !name.is_empty()).collect();
        // A file name may look like a selector term.
        let term = |word: &&str| match self.is_file(word) {
            true => None,
            false => Term::read(word),
        };
        let terms: Vec<Term> = words.iter().filter_map(term).collect();
        let others = words.iter().filter(|word| term(word).is_none());
        let others: Vec<&str> = others.copied().collect();
        let selected = terms.len() == words.len() && !terms.is_empty();
        let mut records = match selected {
            true => self.matching(&terms, reduce)?,
            false => Vec::new(),
        };
        for name in others {
            for mut record in self.or_file(name, reduce)? {
                reduce(&mut record);
                if records.iter().all(|known| known.id != record.id) {
                    records.push(record);
                }
            }
        }
        if !selected {
            records = select::narrow(records, &terms)?;
        }
        if records.is_empty() {
            bail!(both!(
                "nothing to compare in `{names}`; help: name runs, cards or files, or a common \
            property (card=…)",
                "「{names}」に比較できるものがありません; help: 測定、カード、ファイル、または共通の条件（card=…）を指定してください"
            ));
        }
        Ok((records, terms))
    }
}

/// Summarizes runs that need not be repeats of each other; properties that differ between them are caveats.
pub fn summarized(records: &[RunRecord]) -> Summary {
    let mut summary = hakaru_analysis::summarize(records);
    count_the_rarest(&mut summary);
    summary.caveat_phases = caveat_phases(records, &summary.caveats);
    summary.caveats.splice(0..0, pooled(records));
    summary
}

/// Names of the phases of a run.
fn phase_names(record: &RunRecord) -> BTreeSet<&str> {
    let phases = record.phases.iter();
    phases.map(|phase| phase.name.as_str()).collect()
}

/// Returns the phases of the workloads with a caveat of the series, for each kind of caveat that others do not have. Empty
/// if all runs are of one workload.
fn caveat_phases(
    records: &[RunRecord],
    of_series: &[Caveat],
) -> BTreeMap<String, BTreeSet<String>> {
    let mut workloads: BTreeMap<BTreeSet<&str>, Vec<RunRecord>> = BTreeMap::new();
    if records
        .windows(2)
        .all(|of| phase_names(&of[0]) == phase_names(&of[1]))
    {
        return BTreeMap::new();
    }
    for record in records {
        workloads
            .entry(phase_names(record))
            .or_default()
            .push(record.clone());
    }
    let mut found: BTreeMap<&str, (usize, BTreeSet<String>)> = BTreeMap::new();
    // Caveats of one kind may state different figures; the series has the worst of them.
    let worst: Vec<Finding> = of_series.iter().map(Finding::from).collect();
    for (phases, runs) in &workloads {
        let caveats = hakaru_analysis::summarize(runs).caveats;
        let findings: Vec<Finding> = caveats.iter().map(Finding::from).collect();
        let of_runs = findings.iter().filter(|of| of.scope.phases.is_empty());
        let kinds = of_runs.filter(|of| worst.iter().any(|worst| worst.kind == of.kind));
        let kinds: BTreeSet<&str> = kinds.map(|of| of.kind.name()).collect();
        for kind in kinds {
            let (count, concerned) = found.entry(kind).or_default();
            *count += 1;
            concerned.extend(phases.iter().map(|&phase| phase.to_owned()));
        }
    }
    let of_some = found
        .into_iter()
        .filter(|(_, (count, _))| *count < workloads.len());
    let kinds = of_some.map(|(kind, (_, phases))| (kind.to_owned(), phases));
    kinds.collect()
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
    let counted = counted.chain([("sessions", sessions(records))]);
    let several = counted.filter(|(_, count)| *count > 1);
    several
        .map(|(what, count)| Caveat::Pooled {
            count,
            what: what.to_owned(),
        })
        .collect()
}

/// Largest number of series and campaigns that measured one workload on one host: months may lie between them.
fn sessions(records: &[RunRecord]) -> u32 {
    let mut sessions: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for record in records {
        let campaign = record.campaign.as_ref();
        let session = campaign.map_or(&record.series, |point| &point.campaign);
        for phase in &record.phases {
            let host = record.environment.hostname.as_str();
            let of = sessions.entry((host, phase.name.as_str()));
            of.or_default().insert(session);
        }
    }
    let most = sessions.values().map(BTreeSet::len).max();
    most.unwrap_or_default() as u32
}

/// Returns the runs of a label, in the order of measurement; `None` if it is unknown.
fn of_thing(store: &Store, name: &str, reduce: Reduction) -> Result<Option<Vec<RunRecord>>> {
    let mut records = Vec::new();
    for series in store.series_called(name)? {
        let mut of_series = store.series(&series)?;
        of_series.iter_mut().for_each(reduce);
        records.append(&mut of_series);
    }
    // A result with several labels is one thing under each of them.
    for record in &mut records {
        let label = record.target.label.as_deref().unwrap_or_default();
        if !label.eq_ignore_ascii_case(name) {
            record.target.label = Some(name.to_owned());
        }
    }
    records.sort_by_key(|record| record.started_unix_ms);
    Ok((!records.is_empty()).then_some(records))
}

/// Jobs with the names that stand for them.
pub type NamedJobs = Vec<(String, Scenario)>;

/// Renames phases so that a name stands for one job: a name used for different jobs gets a number. `known` are the jobs
/// that have names already.
pub fn number_jobs(records: &mut [RunRecord], known: &mut NamedJobs) {
    for record in records {
        let phases = record.phases.iter_mut();
        for (phase, asked) in phases.zip(&mut record.scenario.phases) {
            if asked.name == phase.name {
                asked.name = numbered(known, asked);
                phase.name.clone_from(&asked.name);
            }
        }
    }
}

/// The name of a phase, with a number if other jobs have the name; `known` are the names so far.
fn numbered(known: &mut NamedJobs, phase: &Phase) -> String {
    let alone = Scenario {
        name: String::new(),
        seed: 0,
        phases: vec![phase.clone()],
    };
    let same = |(_, other): &&(String, Scenario)| same_jobs(other, &alone);
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

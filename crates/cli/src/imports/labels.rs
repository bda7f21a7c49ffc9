//! Names of imported results, chosen so that only runs of one target share a name.
//!
//! Runs of one job under different headings, on different disks or file systems are runs of
//! different targets: their names get a distinguishing suffix.

use super::ImportText;
use super::jobs::same_jobs;
use anyhow::{Result, bail};
use hakaru_dialects::import::{FoundRun, ImportResult, SourceFormat};
use hakaru_model::job::Scenario;
use hakaru_report::plain;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Labels given by the user: `NAME` for everything, `HEADING=NAME` for results below a heading.
#[derive(Debug, Default)]
pub(crate) struct LabelRules {
    all: Option<String>,
    /// Headings, files or disks with their names.
    of: Vec<(String, String)>,
    /// Those of them that have matched nothing yet.
    unused: Vec<String>,
}

/// The name of a run, and whether the user gave it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Label {
    /// `None` without a name.
    pub(crate) name: Option<String>,
    /// Whether the user gave it.
    pub(crate) asked: bool,
}

impl LabelRules {
    /// Reads `--label` options.
    ///
    /// # Errors
    /// If two names are given for everything.
    pub(crate) fn read(options: &[String]) -> Result<LabelRules> {
        let mut rules = LabelRules::default();
        for option in options {
            match option.split_once('=') {
                Some((of, name)) if !name.trim().is_empty() => {
                    let (of, name) = (of.trim().to_owned(), name.trim().to_owned());
                    rules.of.push((of, name));
                }
                _ if rules.all.is_some() => {
                    bail!(both!(
                        "--label=NAME is given twice; help: use `--label FILE=NAME` or `--label \
                        HEADING=NAME` to label a part",
                        "--label=NAMEが2回指定されています; help: 一部に付けるには--label FILE=NAMEまたは--label HEADING=NAMEを使ってください"
                    ));
                }
                _ => rules.all = Some(option.clone()),
            }
        }
        rules.unused = rules.of.iter().map(|(of, _)| of.clone()).collect();
        Ok(rules)
    }

    /// Notes which rules match results of a batch.
    pub(crate) fn see(&mut self, texts: &[ImportText], found: &ImportResult) {
        let is_there = |of: &String| {
            let mut runs = found.runs.iter();
            runs.any(|run| is_called(run, &texts[run.source], of))
        };
        self.unused.retain(|of| !is_there(of));
    }

    /// Returns an error if `X` in `X=NAME` matches nothing in any batch, of which these are the last.
    pub(crate) fn check(&self, texts: &[ImportText], found: &ImportResult) -> Result<()> {
        match self.unused.first() {
            Some(of) => bail!("{}", unknown(of, texts, found)),
            None => Ok(()),
        }
    }

    fn asked(&self, run: &FoundRun, text: &ImportText) -> Option<String> {
        let of = self.of.iter().find(|(of, _)| is_called(run, text, of));
        of.map(|(_, name)| name.clone())
            .or_else(|| self.all.clone())
    }
}

fn unknown(of: &str, texts: &[ImportText], found: &ImportResult) -> String {
    let known: BTreeSet<String> = found
        .runs
        .iter()
        .flat_map(|run| names(run, &texts[run.source]))
        .filter(|name| !name.is_empty())
        .collect();
    let known: Vec<String> = known
        .iter()
        .take(12)
        .map(|name| format!("`{}`", plain(name)))
        .collect();
    if known.is_empty() {
        return both!(
            "--label {of}=…: there are no results of other programs; help: use --label NAME, or hakaru relabel",
            "--label {of}=…: 他のプログラムの結果がありません; help: --label NAMEまたはhakaru relabelを使ってください"
        );
    }
    both!("--label {of}=…: no heading, file, disk or file system is named `{of}`; expected one of: \
        {}", "--label {of}=…: 「{of}」という見出し、ファイル、ディスク、ファイルシステムはありません（指定できる名前: {}）"; known.join(", "))
}

fn is_called(run: &FoundRun, text: &ImportText, name: &str) -> bool {
    names(run, text)
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}

/// Returns the names that match a run: its headings, file, disk and file system.
fn names(run: &FoundRun, text: &ImportText) -> Vec<String> {
    let context = &run.run.context;
    let file = Path::new(&text.name);
    let part =
        |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    let mut names = context.headings.clone();
    names.extend(
        [
            Some(text.name.clone()),
            part(file.file_name()),
            part(file.file_stem()),
            label_of(&text.name),
        ]
        .into_iter()
        .flatten(),
    );
    names.extend(context.disks.iter().cloned());
    names.extend(
        [context.filesystem.clone(), context.device.clone()]
            .into_iter()
            .flatten(),
    );
    names.extend(raw_device(run));
    names.retain(|name| !name.is_empty());
    names
}

/// Returns the device that was measured without a file system.
fn raw_device(run: &FoundRun) -> Option<String> {
    run.run
        .path
        .as_ref()
        .filter(|path| path.starts_with("/dev"))
        .map(|path| path.display().to_string())
}

/// Returns a file name without directory, extension and run number: `ext4` for `logs/ext4-2.txt`.
fn label_of(name: &str) -> Option<String> {
    let stem = Path::new(name).file_stem()?.to_str()?;
    let bare = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let cut = bare.trim_end_matches(['-', '_', '.', ' ']);
    Some(
        if bare != stem && cut != bare && !cut.is_empty() {
            cut
        } else {
            stem
        }
        .to_owned(),
    )
}

/// Names of the runs of earlier batches, by what these runs would be called without a suffix.
#[derive(Debug, Default)]
pub(crate) struct KnownLabels(BTreeMap<String, Vec<LabelledJob>>);

/// A job under one heading, on one disk and file system, with the name of its runs.
#[derive(Clone, Debug)]
struct LabelledJob {
    scenario: Scenario,
    /// The values of [`aspects`].
    values: Vec<String>,
    name: String,
}

impl LabelledJob {
    fn of(run: &FoundRun, base: Option<&str>) -> LabelledJob {
        LabelledJob {
            scenario: run.run.scenario.clone(),
            values: aspects().iter().map(|(_, value)| value(run)).collect(),
            name: base.unwrap_or_default().to_owned(),
        }
    }

    fn is_job_of(&self, other: &LabelledJob) -> bool {
        same_jobs(&self.scenario, &other.scenario)
    }
}

/// Returns the name of each run in order, and notes about runs that had to be distinguished from others of this or an
/// earlier batch.
pub(crate) fn labels(
    texts: &[ImportText],
    found: &ImportResult,
    rules: &LabelRules,
    known: &mut KnownLabels,
) -> (Vec<Label>, String) {
    let mut labels = Vec::with_capacity(found.runs.len());
    let mut groups: BTreeMap<(Option<usize>, Option<String>), Vec<usize>> = BTreeMap::new();
    for (index, run) in found.runs.iter().enumerate() {
        let text = &texts[run.source];
        let asked = rules.asked(run, text);
        let of_file = || label_of(&text.name).filter(|_| text.is_file);
        let label = Label {
            asked: asked.is_some(),
            name: asked.or_else(|| run.run.label.clone()).or_else(of_file),
        };
        // A name given by the user to several files means that they are of one target.
        let alone = (label.asked || label.name.is_none()).then_some(run.source);
        let group = groups.entry((alone, label.name.clone())).or_default();
        group.push(index);
        labels.push(label);
    }
    let mut notes = String::new();
    for ((alone, base), members) in groups {
        // Rows of tables have no headings, and there can be a million of them.
        let is_table = |&index: &usize| found.runs[index].run.format == SourceFormat::Csv;
        let mut none = Vec::new();
        let earlier = match &base {
            Some(base) if alone.is_none() && !members.iter().any(is_table) => {
                known.0.entry(base.clone()).or_default()
            }
            _ => &mut none,
        };
        let jobs = members.iter().map(|&index| &found.runs[index]);
        let jobs = jobs.map(|run| LabelledJob::of(run, base.as_deref()));
        let (named, aspects) = distinguished(&base, earlier, jobs.collect());
        if !aspects.is_empty() {
            for (&index, job) in members.iter().zip(&named.jobs) {
                labels[index].name = Some(job.name.clone());
            }
        }
        if named.has_new {
            let file = plain(&texts[found.runs[members[0]].source].name);
            let names: Vec<String> = named.jobs.iter().map(|job| job.name.clone()).collect();
            notes += &not_repeats(&file, &aspects, &names, &named.suffixes);
        }
        for job in named.jobs {
            let is_known =
                |other: &LabelledJob| other.values == job.values && other.is_job_of(&job);
            if !earlier.iter().any(is_known) {
                earlier.push(job);
            }
        }
    }
    (labels, notes)
}

/// Jobs with their names.
struct NamedJobs {
    jobs: Vec<LabelledJob>,
    suffixes: Vec<String>,
    /// Whether a name was not used before.
    has_new: bool,
}

/// Names the runs of a group so that only repeats share a name; also with runs of earlier batches, whose names stay.
/// Returns the properties in which they differ too.
fn distinguished(
    base: &Option<String>,
    earlier: &[LabelledJob],
    mut jobs: Vec<LabelledJob>,
) -> (NamedJobs, Vec<Property>) {
    let all: Vec<&LabelledJob> = earlier.iter().chain(&jobs).collect();
    let (mut suffixes, aspects) = suffixes(&all);
    let of_jobs = suffixes.split_off(earlier.len());
    let mut has_new = false;
    if !aspects.is_empty() {
        for (job, suffix) in jobs.iter_mut().zip(&of_jobs) {
            let mut named = earlier.iter().zip(&suffixes);
            let same = named.find(|(other, of)| *of == suffix && other.is_job_of(job));
            has_new |= same.is_none();
            job.name = match same {
                Some((other, _)) => other.name.clone(),
                None => with_suffix(base, suffix),
            };
        }
    }
    let named = NamedJobs {
        jobs,
        suffixes: of_jobs,
        has_new,
    };
    (named, aspects)
}

/// The name of a run, with what distinguishes it from the others of its file.
fn with_suffix(base: &Option<String>, suffix: &str) -> String {
    let suffix = if suffix.is_empty() { "other" } else { suffix };
    match base {
        Some(base) => format!("{base} ({suffix})"),
        None => suffix.to_owned(),
    }
}

/// A note that the runs of a file are not repeats of each other.
fn not_repeats(file: &str, aspects: &[Property], names: &[String], suffixes: &[String]) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names {
        if !distinct.contains(&name.as_str()) {
            distinct.push(name);
        }
    }
    let named = suffixes.iter().find(|suffix| !suffix.is_empty());
    let first = named.map_or("", |suffix| suffix.split(", ").next().unwrap_or_default());
    both!(
        "{file}: runs of one job differ in their {}, so they are not repeats: {}; label one \
        of them with --label \"{}=NAME\"\n",
        "{file}: 同じジョブの測定の{}が異なり、繰り返しではありません（{}）。--label \"{}=NAME\"で\
        名前を付けてください\n";
        names_of(aspects).join(&both!(" and ", "と")),
        plain(&distinct.join(", ")),
        plain(first),
    )
}

/// What can differ between the runs of one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Property {
    Heading,
    FileSystem,
    Disk,
    Device,
}

/// Returns the names of the properties for a message.
fn names_of(properties: &[Property]) -> Vec<String> {
    let name = |property: &Property| match property {
        Property::Heading => both!("heading", "見出し"),
        Property::FileSystem => both!("file system", "ファイルシステム"),
        Property::Disk => both!("disk", "ディスク"),
        Property::Device => both!("device", "デバイス"),
    };
    properties.iter().map(name).collect()
}

/// A distinguishing property: its name and accessor; empty if unknown.
type Aspect = (Property, Box<dyn Fn(&FoundRun) -> String>);

fn aspects() -> Vec<Aspect> {
    let heading = |level: usize| -> Aspect {
        (
            Property::Heading,
            Box::new(move |run| {
                run.run
                    .context
                    .headings
                    .get(level)
                    .map_or_else(String::new, |text| without_repeat(text))
            }),
        )
    };
    let mut all: Vec<Aspect> = (0..8).map(heading).collect();
    all.push((
        Property::FileSystem,
        Box::new(|run| run.run.context.filesystem.clone().unwrap_or_default()),
    ));
    all.push((
        Property::Disk,
        Box::new(|run| run.run.context.disks.join("+")),
    ));
    all.push((
        Property::Device,
        Box::new(|run| raw_device(run).unwrap_or_default()),
    ));
    all
}

/// Returns the distinguishing suffixes of the runs of one job and the names of the properties;
/// empty if there are none.
fn suffixes(runs: &[&LabelledJob]) -> (Vec<String>, Vec<Property>) {
    let mut jobs: Vec<usize> = Vec::with_capacity(runs.len());
    for (at, run) in runs.iter().enumerate() {
        let same = |&other: &usize| runs[other].is_job_of(run);
        jobs.push((0..at).find(same).unwrap_or(at));
    }
    let mut suffixes: Vec<Vec<String>> = vec![Vec::new(); runs.len()];
    let mut names = Vec::new();
    for (at, (name, _)) in aspects().into_iter().enumerate() {
        let values: Vec<String> = runs.iter().map(|run| run.values[at].clone()).collect();
        let mut known: BTreeMap<(usize, &[String]), BTreeSet<&str>> = BTreeMap::new();
        for ((job, suffix), value) in jobs.iter().zip(&suffixes).zip(&values) {
            // An unknown disk is not a different disk; a missing heading is a value of its own.
            if !value.is_empty() || name == Property::Heading {
                let of_job = known.entry((*job, suffix.as_slice())).or_default();
                of_job.insert(value);
            }
        }
        if known.values().all(|values| values.len() < 2) {
            continue;
        }
        for (suffix, value) in suffixes.iter_mut().zip(values) {
            suffix.extend(Some(value).filter(|value| !value.is_empty()));
        }
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    let suffixes = suffixes.into_iter().map(|parts| parts.join(", "));
    (suffixes.collect(), names)
}

/// Words in headings that count repeats of one target.
const REPEATS: [&str; 18] = [
    "run", "runs", "trial", "try", "test", "repeat", "round", "pass", "attempt", "take", "no",
    "nr", "number", "first", "second", "third", "time", "again",
];

/// Longer ones.
const LONG_REPEATS: [&str; 2] = ["repetition", "iteration"];

/// Removes words that count repeats from a heading: `SD card, run 3` becomes `SD card`; `Run 2` and `2nd run` become
/// empty.
fn without_repeat(heading: &str) -> String {
    let words: Vec<&str> = heading.split_whitespace().collect();
    let all = words.iter();
    if all
        .copied()
        .all(|word| is_number(word) || is_repeat(word) || bare(word).is_empty())
    {
        return String::new();
    }
    let beside = |at: usize, is: fn(&str) -> bool| {
        let places = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        places.filter_map(|at| words.get(at)).any(|word| is(word))
    };
    let counts = |at: usize| {
        is_number(words[at]) && beside(at, is_repeat)
            || is_repeat(words[at]) && beside(at, is_number)
    };
    let kept = (0..words.len()).filter(|&at| !counts(at));
    let kept: Vec<&str> = kept.map(|at| words[at]).collect();
    let kept = kept.join(" ");
    kept.trim_end_matches([',', ':', '-', '–', '(', ')', ' '])
        .to_owned()
}

/// A word without punctuation around it, in lower case.
fn bare(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.to_lowercase()
}

/// Whether a word is a number, such as `2`, `2nd` or `2回目`.
fn is_number(word: &str) -> bool {
    let word = bare(word);
    let digits = word.trim_end_matches(|c: char| c.is_alphabetic() || c == '回' || c == '目');
    !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && ["", "st", "nd", "rd", "th", "回目", "回"].contains(&&word[digits.len()..])
}

fn is_repeat(word: &str) -> bool {
    let word = bare(word);
    [&REPEATS[..], &LONG_REPEATS]
        .concat()
        .contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_name_what_they_are_of() {
        let of = |name| label_of(name).unwrap_or_default();
        assert_eq!(of("logs/f2fs-blog-ext4-2.txt"), "f2fs-blog-ext4");
        assert_eq!(of("pi5-1-seqrw-ssd.txt"), "pi5-1-seqrw-ssd");
        assert_eq!(of("md5.txt"), "md5");
        assert_eq!(of("7.txt"), "7");
    }

    #[test]
    fn headings_that_count_repeats_are_ignored() {
        for repeat in [
            "Run 1",
            "run #2",
            "2nd run",
            "Second test",
            "3",
            "No. 4",
            "3回目",
            "Try again",
        ] {
            assert_eq!(without_repeat(repeat), "", "{repeat}");
        }
        assert_eq!(without_repeat("SD card, run 3"), "SD card");
        assert_eq!(without_repeat("Card 2"), "Card 2");
        assert_eq!(without_repeat("1. SD card"), "1. SD card");
    }
}

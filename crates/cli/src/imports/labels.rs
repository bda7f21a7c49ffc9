//! Names of imported results, chosen so that only runs of one target share a name.
//!
//! Runs of one job under different headings, on different disks or file systems are runs of
//! different targets: their names get a distinguishing suffix.

use super::ImportText;
use super::headings::without_repeat;
use anyhow::{Result, bail};
use hakaru_dialects::import::{FoundRun, ImportResult, SourceFormat};
use hakaru_model::hash::fnv1a;
use hakaru_report::plain;
use hakaru_results::job_hash;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

/// Labels given by the user: `NAME` for everything, `HEADING=NAME` for results below a heading.
#[derive(Debug, Default)]
pub(crate) struct LabelRules {
    all: Option<String>,
    /// Names of headings, files or disks.
    of: Vec<LabelRule>,
}

/// One option `X=NAME`.
#[derive(Debug)]
struct LabelRule {
    /// `X` and `NAME`: divided at each `=`, because headings and file names may contain it, at the last one first.
    readings: Vec<(String, String)>,
    /// Whether it has matched a result.
    is_used: bool,
}

impl LabelRule {
    fn of(option: &str) -> LabelRule {
        let readings = option.rmatch_indices('=').map(|(at, _)| {
            let (of, name) = (&option[..at], &option[at + 1..]);
            (of.trim().to_owned(), name.trim().to_owned())
        });
        LabelRule {
            readings: readings.filter(|(_, name)| !name.is_empty()).collect(),
            is_used: false,
        }
    }

    /// Returns the name that the option gives to a run.
    fn name(&self, run: &FoundRun, text: &ImportText) -> Option<&String> {
        let mut readings = self.readings.iter();
        let found = readings.find(|(of, _)| is_called(run, text, of));
        found.map(|(_, name)| name)
    }
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
            let rule = LabelRule::of(option);
            if !rule.readings.is_empty() {
                rules.of.push(rule);
            } else if rules.all.replace(option.clone()).is_some() {
                bail!(both!(
                    "--label=NAME is given twice; help: use `--label FILE=NAME` or `--label \
                    HEADING=NAME` to label a part",
                    "--label=NAMEが2回指定されています; help: 一部に付けるには--label FILE=NAMEまたは--label HEADING=NAMEを使ってください"
                ));
            }
        }
        Ok(rules)
    }

    /// Notes which rules match results of a batch.
    pub(crate) fn see(&mut self, texts: &[ImportText], found: &ImportResult) {
        for rule in self.of.iter_mut().filter(|rule| !rule.is_used) {
            let mut runs = found.runs.iter();
            rule.is_used = runs.any(|run| rule.name(run, &texts[run.source]).is_some());
        }
    }

    /// Returns an error if `X` in `X=NAME` matches nothing in any batch, of which these are the last.
    pub(crate) fn check(&self, texts: &[ImportText], found: &ImportResult) -> Result<()> {
        let unused = self.of.iter().find(|rule| !rule.is_used);
        match unused.and_then(|rule| rule.readings.last()) {
            Some((of, _)) => bail!("{}", unknown(of, texts, found)),
            None => Ok(()),
        }
    }

    fn asked(&self, run: &FoundRun, text: &ImportText) -> Option<String> {
        let named = self.of.iter().find_map(|rule| rule.name(run, text));
        named.or(self.all.as_ref()).cloned()
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
    let mut names = context.headings.clone();
    names.extend(names_of_file(text));
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

/// Returns the names that match all runs of a file: its path, its name with and without extension, and its label.
fn names_of_file(text: &ImportText) -> Vec<String> {
    let file = Path::new(&text.name);
    let part =
        |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    let names = [
        Some(text.name.clone()),
        part(file.file_name()),
        part(file.file_stem()),
        label_of(&text.name),
    ];
    names.into_iter().flatten().collect()
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

/// Names of the runs of earlier batches, by the hash of what these runs would be called without a suffix. Many files can
/// have many names, so only hashes of their jobs are kept.
#[derive(Debug, Default)]
pub(crate) struct KnownLabels(HashMap<u64, Vec<KnownJob>>);

/// A job under one heading, on one disk and file system, with the name of its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownJob {
    /// Hash of the jobs of the scenario.
    job: u64,
    /// Indexes in [`PROPERTIES`] and hashes of the values that are known.
    values: Box<[(u8, u64)]>,
    /// The name with a suffix; `None` without one.
    name: Option<Box<str>>,
}

impl KnownJob {
    /// The hash of a value; 0 if it is unknown.
    fn value(&self, at: usize) -> u64 {
        let mut values = self.values.iter();
        let found = values.find(|(property, _)| usize::from(*property) == at);
        found.map_or(0, |(_, hash)| *hash)
    }
}

/// A run of this batch with the values that can distinguish it.
struct LabelledRun<'a> {
    run: &'a FoundRun,
    text: &'a ImportText,
    /// In the order of [`PROPERTIES`]; empty if unknown.
    values: Vec<String>,
    job: KnownJob,
}

impl<'a> LabelledRun<'a> {
    fn of(run: &'a FoundRun, text: &'a ImportText) -> LabelledRun<'a> {
        let values = values_of(run);
        let known = (0..).zip(&values).filter(|(_, value)| !value.is_empty());
        let hash = |value: &String| fnv1a(value.as_bytes()) | 1;
        let job = KnownJob {
            job: job_hash(&run.run.scenario),
            values: known.map(|(at, value)| (at, hash(value))).collect(),
            name: None,
        };
        LabelledRun {
            run,
            text,
            values,
            job,
        }
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
                known.0.entry(fnv1a(base.as_bytes())).or_default()
            }
            _ => &mut none,
        };
        let runs = members.iter().map(|&index| &found.runs[index]);
        let runs = runs.map(|run| LabelledRun::of(run, &texts[run.source]));
        let mut runs: Vec<LabelledRun<'_>> = runs.collect();
        let named = distinguish(base.as_deref(), earlier, &mut runs);
        for (&index, run) in members.iter().zip(&runs) {
            if let Some(name) = &run.job.name {
                labels[index].name = Some(name.to_string());
            }
        }
        if named.has_new {
            notes += &not_repeats(base.as_deref(), &named, &runs);
        }
        let mut seen = HashSet::new();
        seen.extend(
            earlier
                .iter()
                .map(|known| (known.job, known.values.clone())),
        );
        for LabelledRun { job, .. } in runs {
            if seen.insert((job.job, job.values.clone())) {
                // Most names are of one job, for which `push` would reserve memory for four.
                earlier.reserve_exact(usize::from(earlier.is_empty()));
                earlier.push(job);
            }
        }
    }
    (labels, notes)
}

/// How the runs of a group are distinguished.
struct NamedRuns {
    /// The properties in which they differ.
    properties: Vec<Property>,
    /// The values of each run that make its suffix.
    suffixes: Vec<Vec<String>>,
    /// Whether a name was not used before.
    has_new: bool,
}

/// Names the runs of a group so that only repeats share a name; also with runs of earlier batches, whose names stay.
fn distinguish(
    base: Option<&str>,
    earlier: &[KnownJob],
    runs: &mut [LabelledRun<'_>],
) -> NamedRuns {
    let all: Vec<&KnownJob> = earlier
        .iter()
        .chain(runs.iter().map(|run| &run.job))
        .collect();
    let which = differences(&all);
    // The values of a suffix are those that are known.
    let suffix = |job: &KnownJob| -> Vec<u64> {
        let values = which.iter().map(|&at| job.value(at));
        values.filter(|value| *value != 0).collect()
    };
    let mut properties: Vec<Property> = which.iter().map(|&at| PROPERTIES[at]).collect();
    properties.dedup();
    let mut named = NamedRuns {
        properties,
        suffixes: Vec::new(),
        has_new: false,
    };
    if which.is_empty() {
        return named;
    }
    let mut names: HashMap<(u64, Vec<u64>), Option<&str>> = HashMap::new();
    for known in earlier {
        let name = names.entry((known.job, suffix(known)));
        name.or_insert(known.name.as_deref());
    }
    for run in runs {
        let values = which.iter().map(|&at| run.values[at].clone());
        let values: Vec<String> = values.filter(|value| !value.is_empty()).collect();
        run.job.name = match names.get(&(run.job.job, suffix(&run.job))) {
            Some(name) => name.map(Box::from),
            None => {
                named.has_new = true;
                Some(with_suffix(base, &values).into())
            }
        };
        named.suffixes.push(values);
    }
    named
}

/// The name of a run, with what distinguishes it from the others of its file.
fn with_suffix(base: Option<&str>, values: &[String]) -> String {
    let suffix = match values {
        [] => "other".to_owned(),
        values => values.join(", "),
    };
    match base {
        Some(base) => format!("{base} ({suffix})"),
        None => suffix,
    }
}

/// A note that the runs of a file are not repeats of each other.
fn not_repeats(base: Option<&str>, named: &NamedRuns, runs: &[LabelledRun<'_>]) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for run in runs {
        let name = run.job.name.as_deref().or(base).unwrap_or_default();
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    let file = runs.first().map_or("", |run| run.text.name.as_str());
    let of = advised(named, runs).unwrap_or_else(|| "FILE".to_owned());
    both!(
        "{}: runs of one job differ in their {}, so they are not repeats: {}; label one \
        of them with --label \"{}=NAME\"\n",
        "{}: 同じジョブの測定の{}が異なり、繰り返しではありません（{}）。いずれかに--label \"{}=NAME\"で\
        名前を付けてください\n";
        plain(file),
        names_of(&named.properties).join(&both!(" and ", "と")),
        plain(&distinct.join(", ")),
        plain(&of),
    )
}

/// Returns an `X` for `--label X=NAME` that names a part of the runs: what distinguishes one of them, or its file.
fn advised(named: &NamedRuns, runs: &[LabelledRun<'_>]) -> Option<String> {
    // A shell, or the removal of spaces around it, would change other names.
    let can_be_typed =
        |name: &&String| name.trim() == plain(name) && !name.contains(['"', '$', '`', '\\', '!']);
    let is_called = |run: &LabelledRun<'_>, name: &str| is_called(run.run, run.text, name);
    let is_part = |name: &str| runs.len() == 1 || !runs.iter().all(|run| is_called(run, name));
    for (run, suffix) in runs.iter().zip(&named.suffixes) {
        let mut values = suffix.iter().filter(can_be_typed);
        if let Some(value) = values.find(|value| is_called(run, value) && is_part(value)) {
            return Some(value.clone());
        }
    }
    let of = |run: &LabelledRun<'_>| names(run.run, run.text);
    let mut parts = runs.iter().flat_map(of).filter(|name| is_part(name));
    let found = parts.find(|name| runs.len() > 1 && can_be_typed(&name));
    found.or_else(|| {
        let run = runs.first()?;
        let mut files = names_of_file(run.text).into_iter();
        files.find(|name| can_be_typed(&name))
    })
}

/// What can differ between the runs of one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Property {
    Heading,
    FileSystem,
    Disk,
    Device,
}

/// The properties of the values of a run: headings of eight levels, and the others.
const PROPERTIES: [Property; HEADINGS + 3] = {
    let mut all = [Property::Heading; HEADINGS + 3];
    all[HEADINGS] = Property::FileSystem;
    all[HEADINGS + 1] = Property::Disk;
    all[HEADINGS + 2] = Property::Device;
    all
};

/// Levels of headings that distinguish runs.
const HEADINGS: usize = 8;

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

/// Returns the values of the properties of a run; empty if unknown.
fn values_of(run: &FoundRun) -> Vec<String> {
    let context = &run.run.context;
    let mut headings = 0;
    let value = |property: &Property| match property {
        Property::Heading => {
            headings += 1;
            let text = context.headings.get(headings - 1);
            text.map_or_else(String::new, |text| without_repeat(text))
        }
        Property::FileSystem => context.filesystem.clone().unwrap_or_default(),
        Property::Disk => context.disks.join("+"),
        Property::Device => raw_device(run).unwrap_or_default(),
    };
    PROPERTIES.iter().map(value).collect()
}

/// Returns the indexes of the properties in which runs of one job differ.
fn differences(runs: &[&KnownJob]) -> Vec<usize> {
    // The runs that are not distinguished yet share a number.
    let mut groups: Vec<u64> = runs.iter().map(|run| run.job).collect();
    let mut which = Vec::new();
    for (at, property) in PROPERTIES.iter().enumerate() {
        let mut known: HashMap<u64, u64> = HashMap::new();
        let mut differs = false;
        for (group, run) in groups.iter().zip(runs) {
            let value = run.value(at);
            // An unknown disk is not a different disk; a missing heading is a value of its own.
            if value != 0 || *property == Property::Heading {
                differs |= *known.entry(*group).or_insert(value) != value;
            }
        }
        if !differs {
            continue;
        }
        which.push(at);
        for (group, run) in groups.iter_mut().zip(runs) {
            let value = run.value(at);
            if value != 0 {
                let both = [group.to_le_bytes(), value.to_le_bytes()].concat();
                *group = fnv1a(&both);
            }
        }
    }
    which
}

#[cfg(test)]
mod tests;

//! `hakaru import`: everybody else's results, and our own records, into the store.
//!
//! What was read, what was not and why is shown. The same text twice is stored once.

use super::{figures, print};
use crate::exit::Exit;
use crate::place;
use anyhow::{Context, Result};
use hakaru_dialects::import::{Found, ImportedRun, Source, Unread, csv, import, unknown_environment};
use hakaru_model::integrity::Verification;
use hakaru_model::job::{Job, Scenario};
use hakaru_model::record::{FORMAT, Origin, RunRecord};
use hakaru_report::plain;
use hakaru_store::{Appended, Filter, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// What to read.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files, folders, or `-` for standard input: outputs of fio, iozone, hdparm and dd, tables, and exported records
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// What to call the thing under test [default: the name of each file without the number of the run]
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// For tables (CSV): a TOML file that says which column holds what
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Only tell what is found
    #[arg(long)]
    dry_run: bool,
}

/// A text with its name, and when it was last changed.
struct Text {
    name: String,
    text: String,
    changed_unix_ms: i64,
}

/// Reads, tells, and stores.
pub(crate) fn main(args: &Args, db: Option<&Path>) -> Result<Exit> {
    let texts = read_all(&args.files)?;
    let mapping = args.map.as_deref().map(read_mapping).transpose()?;
    let (Own { texts: own, mut records, verifications }, mut told) = own_results(&texts);
    let found = find(&texts, &own, mapping.as_ref());
    tell(&texts, &found, &mut told);
    let foreign = records_of(&texts, &found, args.label.as_deref());
    if args.dry_run {
        let verified = and_verified(verifications.len());
        print(&format!("{told}{} run(s){verified} found; nothing was stored.\n", records.len() + foreign.len()))?;
        return Ok(Exit::Ok);
    }
    let total = records.len() + foreign.len();
    if total + verifications.len() == 0 {
        print(&format!("{told}No results were found.\n"))?;
        return Ok(Exit::Failed);
    }
    let mut store = place::open(db)?;
    records.extend(joined_to_series(&store, foreign)?);
    let new = store.append_all(&records)?;
    let mut verified = 0;
    for verification in &verifications {
        verified += usize::from(store.append_verification(verification)? == Appended::Stored);
    }
    let there = (total + verifications.len() - verified) as u64 - new;
    let rest = if there > 0 { format!(", {there} were there already") } else { String::new() };
    print(&format!("{told}{new} run(s){} imported{rest}.\n", and_verified(verified)))?;
    Ok(Exit::Ok)
}

/// Verifications are rare, and not told of where there are none.
fn and_verified(count: usize) -> String {
    if count == 0 { String::new() } else { format!(" and {count} verification(s)") }
}

/// Runs in files, as records that are not stored: for comparing at once.
pub(crate) fn records_in(path: &Path) -> Result<Vec<RunRecord>> {
    let texts = read_all(&[path.to_owned()])?;
    let (Own { texts: own, mut records, .. }, _) = own_results(&texts);
    let found = find(&texts, &own, None);
    records.extend(records_of(&texts, &found, None));
    Ok(records)
}

/// The texts of some paths; folders give their files, sorted.
fn read_all(paths: &[PathBuf]) -> Result<Vec<Text>> {
    let mut texts = Vec::new();
    for path in paths {
        if path == Path::new("-") {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            texts.push(Text {
                name: "standard input".to_owned(),
                text,
                changed_unix_ms: hakaru_campaign::now_unix_ms(),
            });
        } else if path.is_dir() {
            let mut files = Vec::new();
            files_below(path, 0, &mut files)?;
            files.sort();
            texts.extend(files.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?);
        } else {
            texts.push(read(path)?);
        }
    }
    Ok(texts)
}

/// Regular files of a folder and those below; links are not followed, so that a loop of them cannot catch us.
fn files_below(folder: &Path, depth: u32, files: &mut Vec<PathBuf>) -> Result<()> {
    let failed = || format!("cannot read the folder {}", folder.display());
    for entry in std::fs::read_dir(folder).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let kind = entry.file_type().with_context(failed)?;
        if kind.is_file() {
            files.push(entry.path());
        } else if kind.is_dir() && depth < 16 {
            files_below(&entry.path(), depth + 1, files)?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Text> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let changed = path.metadata().and_then(|meta| meta.modified()).ok();
    let since = changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    Ok(Text {
        name: path.display().to_string(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
        changed_unix_ms: since.map_or_else(hakaru_campaign::now_unix_ms, |t| t.as_millis() as i64),
    })
}

/// Reads a mapping of the columns of a table.
pub(crate) fn read_mapping(path: &Path) -> Result<csv::Mapping> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the mapping {}", path.display()))?;
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
        told += &format!("{}: {} record(s){verified} of hakaru\n", plain(name), own.records.len() - before.0);
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
        line(&format!("{}: {other} other line(s) passed over", text.name));
    }
}

fn records_of(texts: &[Text], found: &Found, label: Option<&str>) -> Vec<RunRecord> {
    // Repeats may print alike to the last digit: within one text they are told apart by their order.
    let mut alike: BTreeMap<(usize, String), u32> = BTreeMap::new();
    let record = |one: &hakaru_dialects::import::FoundRun| {
        let text = &texts[one.source];
        let named = label.map(str::to_owned).or_else(|| one.run.label.clone()).or_else(|| label_of(&text.name));
        let before = alike.entry((one.source, id_of(&one.run, named.as_deref(), 0))).or_default();
        let id = id_of(&one.run, named.as_deref(), *before);
        *before += 1;
        record_of(&one.run, text, named.as_deref(), id)
    };
    found.runs.iter().map(record).collect()
}

/// The name of a file without folder, ending and the number of the run: `ext4` for `logs/ext4-2.txt`.
fn label_of(name: &str) -> Option<String> {
    let stem = Path::new(name).file_stem()?.to_str()?;
    if name == "standard input" {
        return None;
    }
    let bare = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let cut = bare.trim_end_matches(['-', '_', '.', ' ']);
    Some(if bare != stem && cut != bare && !cut.is_empty() { cut } else { stem }.to_owned())
}

fn record_of(run: &ImportedRun, text: &Text, label: Option<&str>, id: String) -> RunRecord {
    let identity = run.identity(label);
    RunRecord {
        format: FORMAT,
        series: id.clone(),
        id,
        repeat: 0,
        started_unix_ms: run.started_unix_ms.unwrap_or(text.changed_unix_ms),
        origin: Origin::Imported {
            program: run.program.clone(),
            source: text.name.clone(),
            reported: Box::new(run.reported.clone()),
        },
        scenario: run.scenario.clone(),
        target: identity,
        environment: unknown_environment(),
        phases: run.phases.clone(),
        caveats: run.caveats.clone(),
        outcome: run.outcome.clone(),
        overhead: None,
        campaign: None,
    }
}

/// An id that follows from what was read, so that the same result is stored once (UUID version 8, RFC 9562), and from
/// how many of the same came before it in its text.
fn id_of(run: &ImportedRun, label: Option<&str>, before: u32) -> String {
    let mut name = Name::default();
    let content = (label, &run.program, &run.scenario, &run.phases, &run.reported, run.started_unix_ms);
    // What was read from text can be written as text, and sums refuse no bytes.
    let _ = serde_json::to_writer(&mut name, &content);
    if before > 0 {
        let _ = serde_json::to_writer(&mut name, &before);
    }
    let Name(a, b) = name;
    format!(
        "{:08x}-{:04x}-8{:03x}-{:04x}-{:012x}",
        a >> 32,
        (a >> 16) & 0xffff,
        a & 0xfff,
        0x8000 | (b >> 48) & 0x3fff,
        b & 0xffff_ffff_ffff
    )
}

/// FNV-1a twice, from two starts: for names of results, not a defence against forgers.
struct Name(u64, u64);

impl Default for Name {
    fn default() -> Name {
        Name(0xcbf2_9ce4_8422_2325, 0x9ae1_6a3b_2f90_404f)
    }
}

impl std::io::Write for Name {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            self.1 = (self.1 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs of one thing and one scenario repeat one another: they join the series that is there, or begin one.
fn joined_to_series(store: &Store, records: Vec<RunRecord>) -> Result<Vec<RunRecord>> {
    let rows = store.runs(&Filter { imported: Some(true), ..Filter::default() })?;
    let known: BTreeSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    // Thing, jobs, series, runs so far.
    let mut series: Vec<(String, Scenario, String, u32)> = Vec::new();
    let mut looked_at: BTreeSet<(String, String)> = BTreeSet::new();
    let mut joined: Vec<RunRecord> = Vec::with_capacity(records.len());
    let mut ids: BTreeSet<String> = BTreeSet::new();
    for mut record in records {
        if known.contains(record.id.as_str()) {
            joined.push(store.run(&record.id)?);
            continue;
        }
        if !ids.insert(record.id.clone()) {
            continue;
        }
        let key = (record.target.display_name(), record.scenario.name.clone());
        if looked_at.insert(key.clone()) {
            for row in
                rows.iter().filter(|row| (&row.target, &row.scenario) == (&key.0, &key.1) && row.id == row.series)
            {
                let runs = rows.iter().filter(|other| other.series == row.series).map(|other| other.repeat + 1).max();
                series.push((key.0.clone(), store.run(&row.id)?.scenario, row.series.clone(), runs.unwrap_or(1)));
            }
        }
        let same =
            |entry: &&mut (String, Scenario, String, u32)| entry.0 == key.0 && same_jobs(&entry.1, &record.scenario);
        match series.iter_mut().find(same) {
            Some((_, _, id, runs)) if record.target.label.is_some() => {
                (record.series, record.repeat) = (id.clone(), *runs);
                *runs += 1;
            }
            _ => series.push((key.0, record.scenario.clone(), record.id.clone(), 1)),
        }
        joined.push(record);
    }
    Ok(joined)
}

/// Whether two scenarios ask for the same, whatever their files are called.
pub(crate) fn same_jobs(a: &Scenario, b: &Scenario) -> bool {
    let bare = |job: &Job| {
        let mut job = job.clone();
        job.target = hakaru_model::job::Target::Nothing;
        job.options.clear();
        job.seed = None;
        job
    };
    a.phases.len() == b.phases.len()
        && a.phases.iter().zip(&b.phases).all(|(a, b)| {
            a.name == b.name
                && a.jobs.len() == b.jobs.len()
                && a.jobs.iter().zip(&b.jobs).all(|(a, b)| bare(a) == bare(b))
        })
}

#[cfg(test)]
mod tests {
    use super::label_of;

    #[test]
    fn files_name_what_they_are_of() {
        let of = |name| label_of(name).unwrap_or_default();
        assert_eq!(of("logs/f2fs-blog-ext4-2.txt"), "f2fs-blog-ext4");
        assert_eq!(of("pi5-1-seqrw-ssd.txt"), "pi5-1-seqrw-ssd");
        assert_eq!(of("md5.txt"), "md5");
        assert_eq!(of("7.txt"), "7");
        assert_eq!(of("standard input"), "");
    }
}

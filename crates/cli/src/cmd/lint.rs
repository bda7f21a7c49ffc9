//! `hakaru lint`: checks a fio job before it runs, or a result, for benchmarking mistakes.
//!
//! The analysis crate evaluates the jobs. This module parses the arguments and finds the positions of options in the
//! source.

use super::{fio, json, print};
use crate::exit::{Ended, Exit, complain};
use crate::imports;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anyhow::{Context, Result};
use hakaru_device::Roots;
use hakaru_dialects::fio::options::{self, OptionKind};
use hakaru_dialects::fio::{FioAction, Invocation};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::Scenario;
use hakaru_model::lint::{Diagnostic, LintWarning, Severity};
use hakaru_model::record::{Origin, RunRecord};
use hakaru_model::reported::JobProperty;
use hakaru_model::units::{Bytes, SizeSuffixes, parse_size};
use hakaru_report::text::{self, MessagePrefix};
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;

/// Version of the JSON format, described in docs/FORMAT.md.
const FORMAT: u32 = 1;

const AFTER: &str = "\
Examples:
  hakaru lint fio --name=x --filename=/mnt/f --rw=randread --iodepth=32
  hakaru lint 'sudo fio --name=x --filename=/dev/sdX --rw=read'
  hakaru lint jobs.fio
  hakaru lint --json result.txt

Exit codes: 0 no problem found; 1 problems found; 2 unreadable or not understood.";

/// Arguments of `hakaru lint`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct LintArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Command line that begins with `fio`, fio job files, or results in any format that `import` reads
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    what: Vec<OsString>,
}

/// A checked command line, job file or result.
struct LintedJobs {
    name: String,
    /// The command line, or the job file.
    source: String,
    /// The findings.
    remarks: Vec<LintFinding>,
}

/// One finding, with all jobs that it concerns.
struct LintFinding {
    slip: LintWarning,
    /// Names of the jobs; empty if it concerns all jobs.
    jobs: Vec<String>,
    /// Byte range in the source, for the first job.
    span: Option<Range<usize>>,
}

/// Merges equal diagnostics of several jobs, in the order of first occurrence.
fn by_cause(remarks: Vec<(Diagnostic, Option<Range<usize>>)>) -> Vec<LintFinding> {
    let mut found: Vec<LintFinding> = Vec::new();
    for (Diagnostic { job, slip }, span) in remarks {
        let jobs = if job.is_empty() {
            Vec::new()
        } else {
            vec![job]
        };
        match found.iter_mut().find(|known| known.slip == slip) {
            Some(known) => known.jobs.extend(jobs),
            None => found.push(LintFinding { slip, jobs, span }),
        }
    }
    found
}

/// Checks the arguments and prints warnings.
pub(crate) fn main(args: &LintArgs) -> Result<Exit> {
    let subjects = subjects(args).map_err(|error| {
        complain(&error);
        Ended(Exit::Usage)
    })?;
    print(&match args.json {
        true => as_json(&subjects)?,
        false => as_text(&subjects),
    })?;
    let mut findings = subjects.iter().flat_map(|subject| &subject.remarks);
    let matters = |found: &LintFinding| found.slip.weight() >= Severity::Weak;
    Ok(match findings.any(matters) {
        true => Exit::Failed,
        false => Exit::Ok,
    })
}

/// The checked command line, or the checked files.
fn subjects(args: &LintArgs) -> Result<Vec<LintedJobs>> {
    match command_words(&args.what) {
        Some(words) => Ok(vec![command(&words)?]),
        None => args.what.iter().map(|path| file(Path::new(path))).collect(),
    }
}

/// Returns the words of a fio command line without the program name. It can be given as separate words or as one quoted
/// word.
fn command_words(what: &[OsString]) -> Option<Vec<OsString>> {
    if what.first().is_some_and(|word| word == "fio") {
        return Some(what[1..].to_vec());
    }
    let [only] = what else { return None };
    let text = only
        .to_str()
        .filter(|text| text.contains(char::is_whitespace) && !Path::new(text).exists())?;
    let words = hakaru_dialects::import::fio_command(text)?;
    Some(words.into_iter().map(OsString::from).collect())
}

/// Parses a fio command line.
fn command(words: &[OsString]) -> Result<LintedJobs> {
    let invocation = understood(words)?;
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let source = words.join(" ");
    let places = places_in_command(&source);
    Ok(LintedJobs {
        name: both!("command line", "コマンドライン"),
        remarks: by_cause(judged(&invocation, &places)),
        source,
    })
}

/// Parses a fio command line that measures; prints why others are refused.
fn understood(words: &[OsString]) -> Result<Invocation> {
    match fio::parse(words) {
        Ok(Invocation {
            action: FioAction::Print { text, .. },
            ..
        }) => anstream::eprintln!(
            "{}",
            both!(
                "this command line does not measure, it prints:\n{text}",
                "このコマンドラインは測定せず、次を表示します:\n{text}"
            )
        ),
        Ok(invocation) => return Ok(invocation),
        Err(error) => fio::complain_about(&error, words),
    }
    Err(Ended(Exit::Usage).into())
}

/// Checks a file as a result, otherwise as a job file.
fn file(path: &Path) -> Result<LintedJobs> {
    let name = path.display().to_string();
    let records = imports::records_in(path)?;
    if !records.is_empty() {
        let remarks = of_results(&records).into_iter();
        let remarks = by_cause(remarks.map(|remark| (remark, None)).collect());
        return Ok(LintedJobs {
            name,
            source: String::new(),
            remarks,
        });
    }
    let source = std::fs::read_to_string(path).with_context(|| {
        both!(
            "cannot read {name} as text",
            "{name}をテキストとして読み込めません"
        )
    })?;
    let invocation = understood(&[path.as_os_str().to_owned()])?;
    let places = places_in_file(&source);
    Ok(LintedJobs {
        name,
        remarks: by_cause(judged(&invocation, &places)),
        source,
    })
}

/// Position of an option: section (empty for all jobs), name, value, byte range in the source.
type Place = (String, String, String, Range<usize>);

fn judged(invocation: &Invocation, places: &[Place]) -> Vec<(Diagnostic, Option<Range<usize>>)> {
    let memory = hakaru_device::environment(&Roots::live(), "").memory;
    let scenario = &invocation.scenario;
    let misread = invocation.warnings.iter().map(|warning| {
        of_all_jobs(LintWarning::Misread {
            warning: warning.clone(),
        })
    });
    let mut remarks: Vec<Diagnostic> = misread.collect();
    let memory = Some(memory).filter(|memory| memory.0 > 0);
    remarks.extend(hakaru_analysis::lint(scenario, memory));
    let first = invocation.extras.iter().flatten().next();
    let base = first.map_or(1024, |extras| extras.kb_base);
    let common: Vec<LintWarning> = unit_warnings(&invocation.global_options, base);
    for (phase, extras) in scenario.phases.iter().zip(&invocation.extras) {
        for (job, extras) in phase.jobs.iter().zip(extras) {
            let own = unit_warnings(&job.options, extras.kb_base).into_iter();
            let own = own.filter(|slip| !common.contains(slip));
            remarks.extend(own.map(|slip| Diagnostic {
                job: job.name.clone(),
                slip,
            }));
        }
    }
    let common = common.into_iter().chain([LintWarning::OneRun]);
    remarks.extend(common.map(of_all_jobs));
    let jobs = job_options(scenario);
    let with_place = |remark| {
        let place = place_of(&remark, &jobs, places);
        (remark, place)
    };
    remarks.into_iter().map(with_place).collect()
}

fn of_all_jobs(slip: LintWarning) -> Diagnostic {
    Diagnostic {
        job: String::new(),
        slip,
    }
}

/// Returns the options of each job as typed.
fn job_options(scenario: &Scenario) -> BTreeMap<&str, &[(String, String)]> {
    let jobs = scenario.phases.iter().flat_map(|phase| &phase.jobs);
    jobs.map(|job| (job.name.as_str(), &job.options[..]))
        .collect()
}

/// Returns warnings about sizes whose unit has an unusual meaning in fio: `4KiB` is 4000 bytes, and `1GB` is 2^30.
fn unit_warnings(typed: &[(String, String)], kb_base: u32) -> Vec<LintWarning> {
    let rules = match kb_base {
        1000 => SizeSuffixes::Fio1000,
        _ => SizeSuffixes::Fio1024,
    };
    let mut warnings = Vec::new();
    for (name, text) in typed.iter().filter(|(name, _)| is_size(name)) {
        for piece in text.split([',', '-', ':']) {
            let here = parse_size(piece, rules);
            let there = parse_size(piece, SizeSuffixes::Iec);
            if let (Ok(Bytes(means)), Ok(there)) = (here, there)
                && there.0 != means
            {
                warnings.push(LintWarning::Unit {
                    option: name.clone(),
                    typed: piece.to_owned(),
                    means,
                });
            }
        }
    }
    warnings
}

/// Whether the value of an option is a size.
fn is_size(name: &str) -> bool {
    let kind = options::find(name).map(|option| option.kind);
    matches!(
        kind,
        Some(
            OptionKind::PerOpInt { .. }
                | OptionKind::Size { .. }
                | OptionKind::SizeOrPercent
                | OptionKind::SizeOrRange
        )
    )
}

/// Returns the caveats of results and the warnings about their jobs.
fn of_results(records: &[RunRecord]) -> Vec<Diagnostic> {
    let mut remarks: Vec<Diagnostic> = Vec::new();
    let mut add = |remark: Diagnostic| {
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    };
    for record in records {
        let warnings = hakaru_analysis::lint(&record.scenario, None).into_iter();
        warnings
            .filter(|remark| of_the_design(remark, record))
            .for_each(&mut add);
        let summary = hakaru_analysis::summarize(std::slice::from_ref(record));
        let caveats = summary.caveats.into_iter();
        caveats
            .filter(|caveat| !judged_already(caveat))
            .map(|caveat| of_all_jobs(LintWarning::Found { caveat }))
            .for_each(&mut add);
    }
    if records.len() == 1 {
        add(of_all_jobs(LintWarning::OneRun));
    }
    remarks
}

/// Whether a warning concerns the design: results show cache, time and size themselves.
fn of_the_design(remark: &Diagnostic, record: &RunRecord) -> bool {
    match remark.slip {
        LintWarning::EndsEarly { runtime, size } => {
            hakaru_analysis::ended_early(record, &remark.job, runtime, size)
        }
        LintWarning::DepthIgnored { .. } => !engine_is_unstated(record),
        LintWarning::SameBlocks { .. } => true,
        _ => false,
    }
}

/// Whether an imported result does not name its I/O engine, so that the effect of the queue depth is unknown.
fn engine_is_unstated(record: &RunRecord) -> bool {
    let Origin::Imported { reported, .. } = &record.origin else {
        return false;
    };
    reported
        .unstated
        .iter()
        .any(|job| job.properties.contains(&JobProperty::Engine))
}

fn judged_already(caveat: &Caveat) -> bool {
    matches!(caveat, Caveat::DepthCapped { .. } | Caveat::FewRuns { .. })
}

/// Returns the positions of options in a command line. Each `--name` starts a job.
fn places_in_command(source: &str) -> Vec<Place> {
    let (mut at, mut section) = (0, String::new());
    let mut places = Vec::new();
    for word in source.split(' ') {
        let bare = word.trim_start_matches('-');
        let (name, value) = bare.split_once('=').unwrap_or((bare, ""));
        if name == "name" {
            section = if value == "global" {
                String::new()
            } else {
                value.to_owned()
            };
        }
        places.push((
            section.clone(),
            name.to_owned(),
            value.to_owned(),
            at..at + word.len(),
        ));
        at += word.len() + 1;
    }
    places
}

/// Returns the positions of options in a job file, with their job: `name=` inside a section renames the job.
fn places_in_file(source: &str) -> Vec<Place> {
    let (mut at, mut section, mut places) = (0, String::new(), Vec::<Place>::new());
    let mut first = 0;
    for line in source.split_inclusive('\n') {
        let text = line.trim();
        let start = at + line.len() - line.trim_start().len();
        at += line.len();
        let head = text.strip_prefix('[');
        if let Some(name) = head.and_then(|rest| rest.strip_suffix(']')) {
            let is_global = name.starts_with("global");
            section = if is_global { "" } else { name }.to_owned();
            first = places.len();
        } else if !text.starts_with([';', '#']) {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            let (name, value) = (name.trim(), value.trim());
            if name == "name" && !section.is_empty() {
                value.clone_into(&mut section);
                for place in &mut places[first..] {
                    value.clone_into(&mut place.0);
                }
            }
            let span = start..start + text.len();
            places.push((section.clone(), name.to_owned(), value.to_owned(), span));
        }
    }
    places
}

/// Finds the option of a diagnostic. Prefers the section of the job to the common one, and a matching value to another.
fn place_of(
    remark: &Diagnostic,
    jobs: &BTreeMap<&str, &[(String, String)]>,
    places: &[Place],
) -> Option<Range<usize>> {
    let option = remark.slip.option();
    let known = options::find(option)?;
    let typed = jobs
        .get(remark.job.as_str())
        .and_then(|all| all.iter().rev().find(|(name, _)| known.is_called(name)));
    let fits = |(section, name, value, _): &&Place| {
        let good = known.is_called(name) && (section.is_empty() || *section == remark.job);
        good.then(|| {
            (
                typed.is_some_and(|(_, text)| text == value),
                !section.is_empty(),
            )
        })
    };
    places
        .iter()
        .filter(|place| fits(place).is_some())
        .max_by_key(fits)
        .map(|(.., span)| span.clone())
}

/// Maximum number of jobs that are named; the rest is only counted.
const NAMED: usize = 4;

/// Formats a list of jobs, such as `a, b, c, d and 12 more`.
fn named(jobs: &[String]) -> String {
    match jobs.len() {
        0..=NAMED => jobs.join(", "),
        many => both!("{} and {} more", "{}ほか{}件"; jobs[..NAMED].join(", "), many - NAMED),
    }
}

fn as_text(subjects: &[LintedJobs]) -> String {
    let renderer = Renderer::styled();
    let mut text = String::new();
    let mut counts = [0; 3];
    for subject in subjects {
        if subjects.len() > 1 {
            let nothing = match subject.remarks.is_empty() {
                true => both!(" no problems found", " 問題なし"),
                false => String::new(),
            };
            text += &format!("{}:{nothing}\n\n", hakaru_report::plain(&subject.name));
        }
        for found in &subject.remarks {
            counts[found.slip.weight() as usize] += 1;
            text += &format!("{}\n\n", renderer.render(&[group(found, subject)]));
        }
    }
    let [notes, weak, wrong] = counts;
    match (wrong, weak, notes) {
        (0, 0, 0) => text + &both!("No problems found.\n", "問題は見つかりません。\n"),
        _ => {
            text + &both!(
                "{wrong} wrong, {weak} weak, {notes} to note.\n",
                "エラー{wrong}件、警告{weak}件、参考{notes}件。\n"
            )
        }
    }
}

/// A finding with its severity, its line in the source, and advice.
fn group<'a>(found: &LintFinding, subject: &'a LintedJobs) -> Group<'a> {
    let LintFinding { slip, jobs, span } = found;
    let level = match slip.weight() {
        Severity::Wrong => Level::ERROR,
        Severity::Weak => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let level = level.with_name(text::severity(slip.weight()));
    let title = match &jobs[..] {
        [] => text::lint(slip),
        jobs => format!("{}: {}", named(jobs), text::lint(slip)),
    };
    let mut group = Group::with_title(level.primary_title(title));
    let source = &subject.source;
    if let Some(span) = span
        .clone()
        .filter(|span| source.get(span.clone()).is_some())
    {
        let snippet = Snippet::source(source.as_str()).path(subject.name.as_str());
        group = group.element(snippet.annotation(AnnotationKind::Primary.span(span)));
    }
    match text::lint_help(slip) {
        help if help.is_empty() => group,
        help => {
            let level = Level::HELP.with_name(text::prefix(MessagePrefix::Help));
            group.element(level.message(help))
        }
    }
}

fn as_json(subjects: &[LintedJobs]) -> Result<String> {
    let remark = |LintFinding { slip, jobs, span }: &LintFinding| {
        json!({
            "job": jobs.first().map_or("", String::as_str),
            "jobs": jobs,
            "slip": slip,
            "option": slip.option(),
            "weight": slip.weight(),
            "why": text::lint(slip),
            "cure": text::lint_help(slip),
            "span": span.as_ref().map(|span| [span.start, span.end]),
        })
    };
    let subject = |subject: &LintedJobs| json!({ "name": subject.name, "remarks": subject.remarks.iter().map(remark).collect::<Vec<_>>() });
    let all =
        json!({ "format": FORMAT, "subjects": subjects.iter().map(subject).collect::<Vec<_>>() });
    json::pretty(&all)
}

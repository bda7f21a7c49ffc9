//! `hakaru lint`: what is wrong with an experiment as a measurement, before it runs, or with a result of it.
//!
//! The judgement is that of the analysis; here it is found out what is meant, and where the option stands.

use super::{fio, print};
use crate::exit::{Exit, complain};
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
use hakaru_report::text;
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;

/// Number of the form of the JSON, described in docs/FORMAT.md.
const FORMAT: u32 = 1;

const AFTER: &str = "\
Examples:
  hakaru lint fio --name=x --filename=/mnt/f --rw=randread --iodepth=32
  hakaru lint 'sudo fio --name=x --filename=/dev/sdX --rw=read'
  hakaru lint jobs.fio
  hakaru lint --json result.txt

Exit codes: 0 no problem found; 1 problems found; 2 unreadable or not understood.";

/// What to look at.
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

/// One thing that was looked at.
struct Subject {
    name: String,
    /// The command line, or the job file.
    source: String,
    /// What was found.
    remarks: Vec<LintFinding>,
}

/// One cause, with all the jobs it concerns.
struct LintFinding {
    slip: LintWarning,
    /// Names of the jobs; empty where it is about all of them.
    jobs: Vec<String>,
    /// Bytes of the source it is about, of the first job.
    span: Option<Range<usize>>,
}

/// Puts the remarks that say the same of several jobs together, in the order of the first of each.
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
    let mut subjects = Vec::new();
    if let Some(words) = command_words(&args.what) {
        match command(&words) {
            Some(subject) => subjects.push(subject),
            None => return Ok(Exit::Usage),
        }
    } else {
        for path in &args.what {
            match file(Path::new(path)) {
                Ok(Some(subject)) => subjects.push(subject),
                Ok(None) => return Ok(Exit::Usage),
                Err(error) => {
                    complain(&error);
                    return Ok(Exit::Usage);
                }
            }
        }
    }
    print(&if args.json {
        as_json(&subjects)?
    } else {
        as_text(&subjects)
    })?;
    let matters = |finding: &LintFinding| finding.slip.weight() >= Severity::Weak;
    let found = subjects
        .iter()
        .flat_map(|subject| &subject.remarks)
        .any(matters);
    Ok(if found { Exit::Failed } else { Exit::Ok })
}

/// The words of a command line of fio, without the program's name: as words, or as one quoted word that holds them all.
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

/// Parses a fio command line. Prints the error and returns `None` if invalid.
fn command(words: &[OsString]) -> Option<Subject> {
    let invocation = understood(words)?;
    let source = words
        .iter()
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ");
    let places = places_in_command(&source);
    Some(Subject {
        name: "command line".to_owned(),
        remarks: by_cause(judged(&invocation, &places)),
        source,
    })
}

fn understood(words: &[OsString]) -> Option<Invocation> {
    match fio::parse(words) {
        Ok(Invocation {
            action: FioAction::Print { text, .. },
            ..
        }) => {
            anstream::eprintln!("this command line does not measure, it prints:\n{text}");
            None
        }
        Ok(invocation) => Some(invocation),
        Err(error) => {
            fio::complain_about(&error, words);
            None
        }
    }
}

/// A result, else a job file.
fn file(path: &Path) -> Result<Option<Subject>> {
    let name = path.display().to_string();
    let records = imports::records_in(path)?;
    if !records.is_empty() {
        let remarks = by_cause(
            of_results(&records)
                .into_iter()
                .map(|remark| (remark, None))
                .collect(),
        );
        return Ok(Some(Subject {
            name,
            source: String::new(),
            remarks,
        }));
    }
    let source =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {name} as text"))?;
    let Some(invocation) = understood(&[path.as_os_str().to_owned()]) else {
        return Ok(None);
    };
    let places = places_in_file(&source);
    Ok(Some(Subject {
        name,
        remarks: by_cause(judged(&invocation, &places)),
        source,
    }))
}

/// Where an option stands: section (empty for all jobs), name, value, bytes of the source.
type Place = (String, String, String, Range<usize>);

fn judged(invocation: &Invocation, places: &[Place]) -> Vec<(Diagnostic, Option<Range<usize>>)> {
    let memory = hakaru_device::environment(&Roots::live(), "").memory;
    let Invocation {
        scenario,
        extras,
        warnings,
        ..
    } = invocation;
    let all = |slip| Diagnostic {
        job: String::new(),
        slip,
    };
    let mut remarks: Vec<Diagnostic> = warnings
        .iter()
        .map(|warning| {
            all(LintWarning::Misread {
                warning: warning.clone(),
            })
        })
        .collect();
    remarks.extend(hakaru_analysis::lint(
        scenario,
        Some(memory).filter(|memory| memory.0 > 0),
    ));
    let base = extras
        .iter()
        .flatten()
        .next()
        .map_or(1024, |extras| extras.kb_base);
    let common: Vec<LintWarning> = unit_slips(&invocation.global_options, base);
    for (phase, extras) in scenario.phases.iter().zip(extras) {
        for (job, extras) in phase.jobs.iter().zip(extras) {
            let own = unit_slips(&job.options, extras.kb_base)
                .into_iter()
                .filter(|slip| !common.contains(slip));
            remarks.extend(own.map(|slip| Diagnostic {
                job: job.name.clone(),
                slip,
            }));
        }
    }
    remarks.extend(common.into_iter().chain([LintWarning::OneRun]).map(all));
    let jobs = job_options(scenario);
    remarks
        .into_iter()
        .map(|remark| (remark.clone(), place_of(&remark, &jobs, places)))
        .collect()
}

/// Options of each job as they were typed.
fn job_options(scenario: &Scenario) -> BTreeMap<&str, &[(String, String)]> {
    let jobs = scenario.phases.iter().flat_map(|phase| &phase.jobs);
    jobs.map(|job| (job.name.as_str(), &job.options[..]))
        .collect()
}

/// Sizes whose unit means something else here than on a label: `4KiB` is 4000 bytes in fio, and `1GB` is 2^30.
fn unit_slips(typed: &[(String, String)], kb_base: u32) -> Vec<LintWarning> {
    let rules = if kb_base == 1000 {
        SizeSuffixes::Fio1000
    } else {
        SizeSuffixes::Fio1024
    };
    let mut slips = Vec::new();
    for (name, text) in typed {
        let kind = options::find(name).map(|option| option.kind);
        let size = matches!(
            kind,
            Some(
                OptionKind::PerOpInt { .. }
                    | OptionKind::Size { .. }
                    | OptionKind::SizeOrPercent
                    | OptionKind::SizeOrRange
            )
        );
        if !size {
            continue;
        }
        for piece in text.split([',', '-', ':']) {
            let (here, there) = (
                parse_size(piece, rules),
                parse_size(piece, SizeSuffixes::Iec),
            );
            if let (Ok(Bytes(means)), Ok(there)) = (here, there)
                && there.0 != means
            {
                slips.push(LintWarning::Unit {
                    option: name.clone(),
                    typed: piece.to_owned(),
                    means,
                });
            }
        }
    }
    slips
}

/// What a result says of itself, and what its jobs give away.
fn of_results(records: &[RunRecord]) -> Vec<Diagnostic> {
    let mut remarks: Vec<Diagnostic> = Vec::new();
    let mut add = |remark: Diagnostic| {
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    };
    for record in records {
        let of_the_design = |remark: &Diagnostic| of_the_design(remark, record);
        hakaru_analysis::lint(&record.scenario, None)
            .into_iter()
            .filter(of_the_design)
            .for_each(&mut add);
        let summary = hakaru_analysis::summarize(std::slice::from_ref(record));
        for caveat in summary
            .caveats
            .iter()
            .filter(|caveat| !judged_already(caveat))
        {
            add(Diagnostic {
                job: String::new(),
                slip: LintWarning::Found {
                    caveat: caveat.clone(),
                },
            });
        }
    }
    if records.len() == 1 {
        add(Diagnostic {
            job: String::new(),
            slip: LintWarning::OneRun,
        });
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

/// Whether an imported result does not name the engine, so that nobody knows what a queue depth did.
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

/// Positions of options in a command line. Each `--name` starts a job.
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

/// Options of a job file, with the job they belong to: `name=` inside a section gives its job another name.
fn places_in_file(source: &str) -> Vec<Place> {
    let (mut at, mut section, mut places) = (0, String::new(), Vec::<Place>::new());
    let mut first = 0;
    for line in source.split_inclusive('\n') {
        let text = line.trim();
        let start = at + line.len() - line.trim_start().len();
        if let Some(name) = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section = if name.starts_with("global") {
                String::new()
            } else {
                name.to_owned()
            };
            first = places.len();
        } else if !text.starts_with([';', '#']) {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            let (name, value) = (name.trim(), value.trim());
            if name == "name" && !section.is_empty() {
                value.clone_into(&mut section);
                places[first..]
                    .iter_mut()
                    .for_each(|place| value.clone_into(&mut place.0));
            }
            places.push((
                section.clone(),
                name.to_owned(),
                value.to_owned(),
                start..start + text.len(),
            ));
        }
        at += line.len();
    }
    places
}

/// Where the option of a remark stands: in its job's own section before the common one, with its value before another.
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

/// How many jobs are named before the rest is counted.
const NAMED: usize = 4;

/// `a, b, c, d and 12 more`
fn named(jobs: &[String]) -> String {
    match jobs.len() {
        0..=NAMED => jobs.join(", "),
        many => format!("{} and {} more", jobs[..NAMED].join(", "), many - NAMED),
    }
}

fn as_text(subjects: &[Subject]) -> String {
    let renderer = Renderer::styled();
    let mut text = String::new();
    let mut counts = [0; 3];
    for Subject {
        name,
        source,
        remarks,
    } in subjects
    {
        if subjects.len() > 1 {
            let nothing = if remarks.is_empty() {
                " no problems found"
            } else {
                ""
            };
            text += &format!("{}:{nothing}\n\n", hakaru_report::plain(name));
        }
        for LintFinding { slip, jobs, span } in remarks {
            counts[slip.weight() as usize] += 1;
            let level = match slip.weight() {
                Severity::Wrong => Level::ERROR,
                Severity::Weak => Level::WARNING,
                Severity::Note => Level::NOTE,
            };
            let of = if jobs.is_empty() {
                String::new()
            } else {
                format!("{}: ", named(jobs))
            };
            let level = level.with_name(slip.weight().name());
            let mut group =
                Group::with_title(level.primary_title(format!("{of}{}", text::lint(slip))));
            if let Some(span) = span
                .clone()
                .filter(|span| source.get(span.clone()).is_some())
            {
                let annotation = AnnotationKind::Primary.span(span);
                group = group.element(
                    Snippet::source(source.as_str())
                        .path(name.as_str())
                        .annotation(annotation),
                );
            }
            let cure = text::lint_help(slip);
            if !cure.is_empty() {
                group = group.element(Level::HELP.message(cure));
            }
            text += &format!("{}\n\n", renderer.render(&[group]));
        }
    }
    let [notes, weak, wrong] = counts;
    match (wrong, weak, notes) {
        (0, 0, 0) => text + "No problems found.\n",
        _ => text + &format!("{wrong} wrong, {weak} weak, {notes} to note.\n"),
    }
}

fn as_json(subjects: &[Subject]) -> Result<String> {
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
    let subject = |subject: &Subject| json!({ "name": subject.name, "remarks": subject.remarks.iter().map(remark).collect::<Vec<_>>() });
    let all =
        json!({ "format": FORMAT, "subjects": subjects.iter().map(subject).collect::<Vec<_>>() });
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}

//! The scenario of imported results, from the command line if available, otherwise from the results.
//!
//! Does not parse the results themselves.

use super::super::units::{Kilo, Ranged, factor};
use super::super::unstated;
use super::sums::ReportSums;
use crate::fio::{FioAction, Invocation, ParseContext};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::{Access, BlockSize, IoEngine, Job, Op, PerOp, Phase, Scenario, Target};
use hakaru_model::reported::{JobProperty, ReportedBlock, ReportedFigure, UnstatedJob};
use hakaru_model::units::Bytes;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

/// Known facts about the jobs of imported results.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Jobs {
    pub(in super::super) scenario: Scenario,
    /// Phase and job index of each report, in report order.
    pub(super) places: Vec<(usize, usize)>,
    /// Caveats that follow from the job definitions alone.
    pub(super) caveats: Vec<Caveat>,
    /// Notes on how the jobs were determined.
    pub(super) notes: Vec<String>,
    /// Unknown properties of single jobs, by their position in the scenario.
    pub(super) unstated: Vec<UnstatedJob>,
    /// Whether the jobs were derived from the results alone; they cannot contradict the results then.
    pub(super) from_results: bool,
}

/// Parses a fio command line without the program name. Independent of this host: environment and job files of the
/// original host are unknown.
///
/// # Errors
/// The reason as text.
pub(in super::super) fn command(words: &[String]) -> Result<Invocation, String> {
    let args: Vec<OsString> = words.iter().map(OsString::from).collect();
    let context = ParseContext {
        env: &|name| (name == "HOME").then(|| "~".to_owned()),
        read_file: &|path: &Path| {
            let name = path.display().to_string();
            Err(std::io::Error::new(
                std::io::ErrorKind::NotFound,
                format!("the job file {name} was not imported too"),
            ))
        },
        path_exists: &|_| false,
        cpu_count: 1,
        page_size: 4096,
        memory_mb: 0,
    };
    match crate::fio::parse(&args, &context) {
        Ok(invocation)
            if invocation.action == FioAction::Run && invocation.jobs().next().is_some() =>
        {
            Ok(invocation)
        }
        Ok(_) => Err("it defines no job".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Determines the jobs. `asked` is the parsed command line or option list.
pub(in super::super) fn jobs(
    banners: &[&ReportedBlock],
    reports: &[&ReportedBlock],
    asked: Result<Invocation, String>,
) -> Jobs {
    let mut notes = Vec::new();
    let asked = believed(asked, banners, reports, &mut notes);
    let known = asked.is_some();
    let mut unstated = Vec::new();
    let mut scenario =
        asked.unwrap_or_else(|| guessed(banners, reports, &mut notes, &mut unstated));
    let places = places(&mut scenario, reports, &mut unstated);
    scenario.name = scenario
        .phases
        .first()
        .map_or_else(|| "imported".to_owned(), |phase| phase.name.clone());
    let caveats = weaknesses(&scenario, known, &unstated);
    Jobs {
        scenario,
        places,
        caveats,
        notes,
        unstated,
        from_results: !known && banners.is_empty(),
    }
}

/// The scenario of the command line, unless the results contradict it. Notes why it is not used.
fn believed(
    asked: Result<Invocation, String>,
    banners: &[&ReportedBlock],
    reports: &[&ReportedBlock],
    notes: &mut Vec<String>,
) -> Option<Scenario> {
    let asked = match asked {
        Ok(asked) => asked,
        Err(why) if why.is_empty() => return None,
        Err(why) => {
            notes.push(format!("cannot parse the preceding command line: {why}"));
            return None;
        }
    };
    if let Some(why) = disagreement(&asked, banners, reports) {
        let what = "the preceding command line does not match these results";
        notes.push(format!("{what}: {why}"));
        return None;
    }
    // The home directory behind `~/` is unknown.
    let warnings = asked.warnings.into_iter();
    notes.extend(warnings.filter(|warning| !warning.contains("`~/`")));
    Some(asked.scenario)
}

/// Returns the reason why a command line cannot belong to these results.
fn disagreement(
    asked: &Invocation,
    banners: &[&ReportedBlock],
    reports: &[&ReportedBlock],
) -> Option<String> {
    let jobs: Vec<&Job> = asked.jobs().map(|(job, _)| job).collect();
    let mut pairs = jobs.iter().zip(banners);
    if let Some(why) = pairs.find_map(|(job, banner)| job_disagreement(job, banner)) {
        return Some(why);
    }
    if banners.len() > jobs.len() {
        return Some("the results have more jobs".to_owned());
    }
    let mut names = reports.iter().filter_map(|r| r.words_of("name"));
    let stranger = names.find(|name| jobs.iter().all(|job| job.name != *name));
    stranger.map(|name| format!("it has no job `{name}`"))
}

/// Returns the reason why a job cannot be the one that a line of the results describes.
fn job_disagreement(job: &Job, banner: &ReportedBlock) -> Option<String> {
    let name = banner.words_of("name").unwrap_or_default();
    if job.name != name {
        return Some(format!(
            "its job is named `{}`, and the job of the results `{name}`",
            job.name
        ));
    }
    let rw = banner.words_of("rw").unwrap_or_default();
    let differs = |access: Access| {
        let does = |op: &Op| job.access.does(*op) != access.does(*op);
        job.access.random != access.random || Op::ALL.iter().any(does)
    };
    // An unknown access pattern contradicts nothing.
    if access(rw).is_some_and(differs) {
        return Some(format!("the rw of the results is `{rw}`"));
    }
    let mut ops = Op::ALL.into_iter().filter(|&op| job.access.does(op));
    let odd = ops.find_map(|op| {
        let largest = banner.get(&format!("bs {} max", letter(op)))?;
        let theirs = Ranged::of(largest, Kilo::Binary)?;
        let ours = Ranged::exact(job.block[op].max().0 as f64);
        (!theirs.fits(ours)).then_some(Bytes(theirs.value as u64))
    });
    odd.map(|size| format!("the block size of the results is {size}"))
}

fn letter(op: Op) -> &'static str {
    ["R", "W", "T"][op as usize]
}

/// fio's access patterns, for error messages.
pub(in super::super) const RW: &str = "read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite and randtrimwrite";

/// Parses fio's name of an access pattern.
pub(in super::super) fn access(rw: &str) -> Option<Access> {
    let (random, what) = rw
        .strip_prefix("rand")
        .map_or((false, rw), |what| (true, what));
    Some(match what {
        "read" => Access::only(Op::Read, random),
        "write" => Access::only(Op::Write, random),
        "trim" => Access::only(Op::Trim, random),
        "rw" | "readwrite" => Access::mixed(50, random),
        "trimwrite" => Access {
            trim_before_write: true,
            ..Access::only(Op::Write, random)
        },
        _ => return None,
    })
}

/// The engine with this name; an asynchronous one instead of an unsupported one.
pub(super) fn engine(name: &str) -> IoEngine {
    let measured = IoEngine::ALL
        .iter()
        .copied()
        .filter(|&engine| engine != IoEngine::Sim);
    measured
        .into_iter()
        .find(|engine| engine.name() == name)
        .unwrap_or(IoEngine::Libaio)
}

/// Jobs derived from the results: one phase per group.
fn guessed(
    banners: &[&ReportedBlock],
    reports: &[&ReportedBlock],
    notes: &mut Vec<String>,
    unstated: &mut Vec<UnstatedJob>,
) -> Scenario {
    let mut scenario = Scenario {
        name: String::new(),
        seed: 0,
        phases: Vec::new(),
    };
    for banner in banners {
        let name = banner.words_of("name").unwrap_or_default();
        let report = reports
            .iter()
            .find(|report| report.words_of("name") == Some(name));
        let mut job = from_banner(banner, notes);
        job.group = banner.whole("g").unwrap_or(0).min(u64::from(u32::MAX)) as u32;
        if let Some(report) = report {
            refine(&mut job, report);
        }
        job.numjobs = clones(banner, name, reports);
        let mut missing = missing_in_banner(banner);
        if missing.contains(&JobProperty::QueueDepth) && depth_from_report(&mut job, report) {
            missing.retain(|&property| property != JobProperty::QueueDepth);
        }
        add(&mut scenario, job, missing, unstated);
    }
    scenario
}

/// Adds a job to the phase of its group, creating it if needed. Returns the index of the job.
fn add(
    scenario: &mut Scenario,
    job: Job,
    properties: Vec<JobProperty>,
    unstated: &mut Vec<UnstatedJob>,
) -> (usize, usize) {
    let phase = scenario
        .phases
        .iter()
        .position(|phase| phase.jobs.iter().any(|other| other.group == job.group));
    let phase = phase.unwrap_or_else(|| {
        scenario.phases.push(Phase {
            name: String::new(),
            jobs: Vec::new(),
        });
        scenario.phases.len() - 1
    });
    let jobs = &mut scenario.phases[phase].jobs;
    jobs.push(job);
    let place = (phase, jobs.len() - 1);
    if !properties.is_empty() {
        unstated.push(UnstatedJob {
            phase: place.0 as u32,
            job: place.1 as u32,
            properties,
        });
    }
    place
}

/// Details missing in a line such as `a: (g=0): rw=read, bs=…, iodepth=1`; `direct` is always
/// missing.
fn missing_in_banner(banner: &ReportedBlock) -> Vec<JobProperty> {
    let known = |word: &str| banner.words_of(word).is_some();
    let order = banner.words_of("rw").and_then(access).is_some();
    let size = ["bs R max", "bs W max", "bs T max"]
        .into_iter()
        .any(|name| banner.get(name).is_some());
    let stated = [
        (JobProperty::Order, order),
        (JobProperty::BlockSize, size),
        (JobProperty::QueueDepth, banner.get("iodepth").is_some()),
        (JobProperty::Engine, known("ioengine")),
        (JobProperty::Direct, false),
    ];
    unstated(&stated)
}

/// Parses the queue depth from a report: `latency : …, depth=64` is the requested depth, and `IO depths : 1=100.0%`
/// means a depth of 1. Returns whether it was found.
fn depth_from_report(job: &mut Job, report: Option<&&ReportedBlock>) -> bool {
    let part = |name: &str| report.and_then(|report| report.part(name));
    let shares = part("IO depths").map(|depths| {
        depths
            .figures
            .iter()
            .filter(|figure| figure.value.value() > 0.0)
    });
    let only: Vec<&str> = shares
        .into_iter()
        .flatten()
        .map(|figure| figure.name.as_str())
        .collect();
    let asked = part("latency")
        .and_then(|latency| latency.whole("depth"))
        .filter(|&depth| depth > 0);
    let depth = if only == ["1"] { Some(1) } else { asked };
    job.queue.iodepth = depth.unwrap_or(1).clamp(1, 32_768) as u32;
    if job.queue.iodepth > 1 {
        // The engine is unknown, but it was asynchronous.
        job.ioengine = IoEngine::Libaio;
    }
    depth.is_some()
}

fn clones(banner: &ReportedBlock, name: &str, reports: &[&ReportedBlock]) -> u32 {
    let mine = || {
        reports
            .iter()
            .filter(|report| report.words_of("name") == Some(name))
    };
    let members = mine()
        .filter_map(|report| report.whole("jobs"))
        .sum::<u64>()
        .min(4096) as u32;
    // The dots mean several jobs; the reports show how many.
    if banner.words_of("clones").is_some() {
        members.max(2)
    } else {
        1
    }
}

fn from_banner(banner: &ReportedBlock, notes: &mut Vec<String>) -> Job {
    let name = banner.words_of("name").unwrap_or_default();
    let rw = banner.words_of("rw").unwrap_or_default();
    let access = access(rw).unwrap_or_else(|| {
        notes.push(format!(
            "job `{name}`: unknown rw `{rw}`; imported as a sequential read"
        ));
        Access::only(Op::Read, false)
    });
    let mut job = Job::new(name, Target::Nothing, access);
    let asked = banner.words_of("ioengine").unwrap_or("psync");
    job.ioengine = engine(asked);
    if job.ioengine.name() != asked {
        notes.push(format!(
            "unsupported engine `{asked}`: its jobs are imported as `{}`",
            job.ioengine.name()
        ));
    }
    job.queue.iodepth = banner.whole("iodepth").unwrap_or(1).clamp(1, 32_768) as u32;
    for op in Op::ALL {
        let size = |end: &str| banner_size(banner.get(&format!("bs {} {end}", letter(op)))?);
        if let Some((min, max)) = size("min").zip(size("max")) {
            job.block[op] = if min == max {
                BlockSize::Fixed(min)
            } else {
                BlockSize::Range { min, max }
            };
        }
    }
    job
}

/// A block size as printed before the results. Old versions print `4K` for 4096 bytes.
fn banner_size(figure: &ReportedFigure) -> Option<Bytes> {
    let factor = match figure.unit.as_str() {
        "K" | "M" | "G" | "k" | "m" | "g" => factor(&format!("{}iB", figure.unit), Kilo::Binary),
        unit => factor(unit, Kilo::Binary),
    }?;
    let (value, step) = (figure.value.value(), figure.value.step());
    Some(whole_block(value * factor, step * factor / 2.0))
}

/// Rounds to a likely block size. Blocks are nearly always whole pages or sectors, and printed rounded: `64.0KiB` was
/// 65,536 bytes, `1049kB` 1 MiB. `9.77KiB` was 10,000 bytes, and is kept as printed. `slack` is the maximum difference
/// between the exact and the printed size.
fn whole_block(bytes: f64, slack: f64) -> Bytes {
    let nearest = |unit: f64| (bytes / unit).round() * unit;
    let fits = |size: &f64| *size > 0.0 && (size - bytes).abs() <= slack.max(0.5);
    Bytes(
        [4096.0, 512.0]
            .map(nearest)
            .into_iter()
            .find(fits)
            .unwrap_or_else(|| bytes.round()) as u64,
    )
}

/// Adds details of a job from its report: the percentage of reads, and group reporting.
fn refine(job: &mut Job, report: &ReportedBlock) {
    let issued = report.part("issued");
    let total = |letter: &str| issued.and_then(|issued| issued.whole(&format!("total {letter}")));
    let (reads, writes) = (total("r").unwrap_or(0), total("w").unwrap_or(0));
    let mixed = job.access.does(Op::Read) && job.access.does(Op::Write);
    if mixed && total("r").is_some() && total("w").is_some() && reads + writes > 0 {
        let share = (reads as f64 * 100.0 / (reads as f64 + writes as f64)).round() as u32;
        job.access.mix = PerOp {
            read: share,
            write: 100 - share,
            trim: 0,
        };
    }
    job.group_reporting = report.whole("jobs").is_some_and(|jobs| jobs > 1);
    if let Some(syncs) = total("s").filter(|&syncs| syncs > 0) {
        let every = (writes as f64 / syncs as f64).round().clamp(1.0, 1e9);
        job.durability.fsync_every = every as u32;
    }
    if let Some(description) = report.words_of("description") {
        job.options
            .push(("description".to_owned(), description.to_owned()));
    }
}

/// Creates a job from its results alone, with the missing details.
fn from_report(report: &ReportedBlock) -> (Job, Vec<JobProperty>) {
    let sums = ReportSums::of(report);
    let has = |op: Op| sums.ops[op].bytes.is_some();
    let access = if has(Op::Read) && has(Op::Write) {
        Access::mixed(50, false)
    } else {
        let op = Op::ALL.into_iter().find(|&op| has(op));
        Access::only(op.unwrap_or(Op::Read), false)
    };
    let name = report.words_of("name").unwrap_or("imported");
    let mut job = Job::new(name, Target::Nothing, access);
    let group = report.whole("groupid").unwrap_or(0);
    job.group = group.min(u64::from(u32::MAX)) as u32;
    let mut unstated = vec![JobProperty::Order, JobProperty::Engine, JobProperty::Direct];
    for op in Op::ALL {
        match sums.ops[op].usual_block() {
            Some(block) => job.block[op] = BlockSize::Fixed(block),
            None if job.access.does(op) => unstated.push(JobProperty::BlockSize),
            None => {}
        }
    }
    if !depth_from_report(&mut job, Some(&report)) {
        unstated.push(JobProperty::QueueDepth);
    }
    unstated.sort_unstable();
    unstated.dedup();
    job.numjobs = report.whole("jobs").unwrap_or(1).clamp(1, 4096) as u32;
    refine(&mut job, report);
    (job, unstated)
}

/// Finds the job of each report, or creates one from the report alone. Names the phases.
fn places(
    scenario: &mut Scenario,
    reports: &[&ReportedBlock],
    unstated: &mut Vec<UnstatedJob>,
) -> Vec<(usize, usize)> {
    let mut places = Vec::with_capacity(reports.len());
    for report in reports {
        let name = report.words_of("name").unwrap_or_default();
        let group = report.whole("groupid").unwrap_or(0);
        let is_free = |place, job: &Job| {
            let used = places.iter().filter(|p| **p == place);
            (used.count() as u32) < job.numjobs
        };
        let named = || numbered_jobs(scenario).filter(|(_, job)| job.name == name);
        let free = || named().filter(|(place, job)| is_free(*place, job));
        let place = free()
            .find(|(_, job)| u64::from(job.group) == group)
            .or_else(|| free().next())
            .or_else(|| named().next());
        let place = place.map(|(place, _)| place).unwrap_or_else(|| {
            let (job, properties) = from_report(report);
            add(scenario, job, properties, unstated)
        });
        places.push(place);
    }
    name_phases(scenario);
    places
}

/// All jobs with their phase and index.
fn numbered_jobs(scenario: &Scenario) -> impl Iterator<Item = ((usize, usize), &Job)> {
    let phases = scenario.phases.iter().enumerate();
    phases.flat_map(|(p, phase)| {
        let jobs = phase.jobs.iter().enumerate();
        jobs.map(move |(j, job)| ((p, j), job))
    })
}

/// A phase is named after its jobs; duplicate names are numbered, because phases are distinguished
/// by name.
fn name_phases(scenario: &mut Scenario) {
    let mut seen: Vec<String> = Vec::new();
    for phase in &mut scenario.phases {
        let mut names: Vec<&str> = phase.jobs.iter().map(|job| job.name.as_str()).collect();
        names.dedup();
        let name = match names[..] {
            [] => "imported".to_owned(),
            [one] => one.to_owned(),
            [first, ..] => format!("{first} and {} more", names.len() - 1),
        };
        let before = seen.iter().filter(|known| **known == name).count();
        seen.push(name.clone());
        phase.name = if before == 0 {
            name
        } else {
            format!("{name} ({})", before + 1)
        };
    }
}

/// Weaknesses and unknown properties of the jobs.
fn weaknesses(scenario: &Scenario, known: bool, unstated: &[UnstatedJob]) -> Vec<Caveat> {
    let mut found = Vec::new();
    let mut note = |caveat: Caveat| {
        if !found.contains(&caveat) {
            found.push(caveat);
        }
    };
    let properties = unstated.iter().flat_map(|job| &job.properties);
    let properties: BTreeSet<JobProperty> = properties.copied().collect();
    if !known {
        let mut parts: Vec<&str> = properties.iter().map(|&property| words(property)).collect();
        parts.extend(["the file size", "the options"]);
        note(Caveat::Unstated { what: list(&parts) });
    }
    for job in scenario.phases.iter().flat_map(|phase| &phase.jobs) {
        let engine_known = known || !properties.contains(&JobProperty::Engine);
        if engine_known && job.queue.iodepth > job.effective_depth() {
            note(Caveat::DepthCapped {
                ioengine: job.ioengine.name().to_owned(),
                asked: job.queue.iodepth,
            });
        }
        if known && !job.files.direct && !matches!(job.target, Target::Nothing) {
            note(Caveat::Buffered);
        }
    }
    found
}

/// The name of an unknown property, for use after "does not say".
pub(in super::super) fn words(property: JobProperty) -> &'static str {
    match property {
        JobProperty::Operation => "the operation",
        JobProperty::Order => "sequential or random offsets",
        JobProperty::BlockSize => "the block size",
        JobProperty::QueueDepth => "the queue depth",
        JobProperty::Engine => "the I/O engine",
        JobProperty::Direct => "direct or buffered I/O",
    }
}

/// Joins words as `a, b and c`.
pub(in super::super) fn list(parts: &[&str]) -> String {
    match parts {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

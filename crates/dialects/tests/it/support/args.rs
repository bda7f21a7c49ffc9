//! Minimal parser of fio command lines for these tests: words, each with its value after `=`.
//!
//! Covers little of fio's grammar, so that tests of the output do not depend on the real parser.

use hakaru_dialects::fio::{JobExtras, UnifiedReporting};
use hakaru_model::job::{Access, BlockSize, IoEngine, Job, Op, PerOp, Target};
use hakaru_model::units::{Bytes, Quantile, SizeSuffixes, parse_size};

/// A parsed command line.
pub struct Command {
    /// Jobs by phase.
    pub phases: Vec<Vec<(Job, JobExtras)>>,
    /// Options before the first job.
    pub global_options: Vec<(String, String)>,
}

/// Parses a command line.
pub fn read(line: &str) -> Command {
    let words = line.split_whitespace().filter(|w| w.starts_with('-'));
    let words: Vec<(&str, &str)> = words.map(split).collect();
    let first = words.iter().position(|(name, _)| *name == "name").unwrap();
    let global = &words[..first];
    let typed = |words: &[(&str, &str)]| -> Vec<(String, String)> {
        let words = words.iter();
        let typed = words.map(|(name, value)| (name.to_string(), value.to_string()));
        typed.collect()
    };
    let mut phases: Vec<Vec<(Job, JobExtras)>> = Vec::new();
    let mut group = 0;
    for own in words[first..].chunk_by(|_, next| next.0 != "name") {
        let has = |name: &str| own.iter().any(|(n, _)| *n == name);
        if phases.is_empty() || has("stonewall") {
            phases.push(Vec::new());
        }
        let follows_another = phases.iter().any(|jobs| !jobs.is_empty());
        group += u32::from(follows_another && (has("stonewall") || has("new_group")));
        let mut job = Job::new("", Target::Nothing, Access::only(Op::Read, false));
        let mut extras = JobExtras::default();
        job.group = group;
        global
            .iter()
            .chain(own)
            .for_each(|(name, value)| set(&mut job, &mut extras, name, value));
        job.options = typed(own);
        job.options.retain(|(name, _)| name != "idle-prof");
        phases.last_mut().unwrap().push((job, extras));
    }
    Command {
        phases,
        global_options: typed(global),
    }
}

fn split(word: &str) -> (&str, &str) {
    let word = word.trim_start_matches('-');
    word.split_once('=').unwrap_or((word, ""))
}

fn set(job: &mut Job, extras: &mut JobExtras, name: &str, value: &str) {
    let number = || value.parse::<u32>().unwrap();
    match name {
        "name" => job.name = value.to_owned(),
        "rw" => job.access = access(value),
        "bs" => job.block = PerOp::all(BlockSize::Fixed(size(value))),
        "bsrange" => job.block = PerOp::all(range(value)),
        "numjobs" => job.numjobs = number(),
        "iodepth" => job.queue.iodepth = number(),
        "group_reporting" => job.group_reporting = true,
        "ioengine" if value == "null" => job.ioengine = IoEngine::Null,
        "ioengine" if value == "libaio" => job.ioengine = IoEngine::Libaio,
        "gtod_reduce" => extras.clat_percentiles = false,
        "clat_percentiles" => extras.clat_percentiles = value == "1",
        "lat_percentiles" => extras.lat_percentiles = value == "1",
        "slat_percentiles" => extras.slat_percentiles = value == "1",
        "percentile_list" => job.measure.percentiles = value.split(':').map(share).collect(),
        "unit_base" => extras.unit_base = number(),
        "kb_base" => extras.kb_base = number(),
        "significant_figures" => extras.significant_figures = number(),
        "unified_rw_reporting" => extras.unified = UnifiedReporting::Mixed,
        "description" => extras.description = Some(value.to_owned()),
        "thread" => extras.thread = value != "0",
        "continue_on_error" => job.errors.continue_on = PerOp::all(true),
        _ => {}
    }
}

fn range(text: &str) -> BlockSize {
    let (min, max) = text.split_once('-').unwrap();
    let (min, max) = (size(min), size(max));
    BlockSize::Range { min, max }
}

fn share(percent: &str) -> Quantile {
    Quantile::new(percent.parse::<f64>().unwrap() / 100.0).unwrap()
}

fn size(text: &str) -> Bytes {
    parse_size(text, SizeSuffixes::Fio1024).unwrap()
}

fn access(rw: &str) -> Access {
    let (random, what) = match rw.strip_prefix("rand") {
        Some(what) => (true, what),
        None => (false, rw),
    };
    match what {
        "read" => Access::only(Op::Read, random),
        "write" => Access::only(Op::Write, random),
        "trim" => Access::only(Op::Trim, random),
        "trimwrite" => Access {
            trim_before_write: true,
            ..Access::only(Op::Write, random)
        },
        _ => Access::mixed(50, random),
    }
}

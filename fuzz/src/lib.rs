//! Code shared by the fuzz targets: parses fio command lines on a synthetic host, and plans the result without I/O.
//!
//! No job is run. A target fails on a panic, or on an error whose location is past the end of its line.

#![forbid(unsafe_code)]

use hakaru_dialects::fio::output::{StartView, banner};
use hakaru_dialects::fio::{Invocation, Location, ParseContext, VERSION, parse};
use hakaru_model::facts::{TargetFacts, TargetKind};
use hakaru_model::job::{Scenario, Target};
use hakaru_model::plan::Plan;
use hakaru_model::units::Bytes;
use std::ffi::OsString;
use std::path::Path;

/// Plans with more files are skipped: they find no more bugs and take longer.
const MOST_FILES: u64 = 64;

/// Number of requests drawn from each stream.
const REQUESTS: usize = 64;

/// Parses a command line on a host where every file that ends in `.fio` contains `file`, and plans the scenario.
///
/// # Errors
/// The parser's error message.
pub fn fio(args: &[OsString], file: &[u8]) -> Result<Invocation, String> {
    let read = |path: &Path| match is_there(path) {
        true => Ok(file.to_vec()),
        false => Err(std::io::ErrorKind::NotFound.into()),
    };
    let context = ParseContext {
        env: &|name| (name == "HOME").then(|| "/root".to_owned()),
        read_file: &read,
        path_exists: &is_there,
        cpu_count: 4,
        page_size: 4096,
        memory_mb: 2048,
    };
    let invocation = parse(args, &context).map_err(|error| {
        if let Some(place) = &error.at {
            check_place(place, args);
        }
        error.to_string()
    })?;
    let _ = banner(&StartView::of(&invocation, VERSION));
    plan(&invocation.scenario);
    Ok(invocation)
}

fn is_there(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "fio")
}

/// Checks that the error location is inside the input.
fn check_place(place: &Location, args: &[OsString]) {
    let (text, span) = match place {
        Location::Arg { index, span } => (args[*index].to_string_lossy().into_owned(), span),
        Location::File { text, span, .. } => (text.clone(), span),
    };
    assert!(
        text.get(span.clone()).is_some(),
        "an error points at {span:?} of {text:?}"
    );
}

/// Plans a scenario on missing files, and draws the first requests of each worker.
pub fn plan(scenario: &Scenario) {
    let files = |target: &Target| match target {
        Target::Formatted { nrfiles, .. } => u64::from(*nrfiles),
        Target::Paths(paths) => paths.len() as u64,
        _ => 1,
    };
    let jobs = || scenario.phases.iter().flat_map(|phase| &phase.jobs);
    let all: u64 = jobs()
        .map(|job| u64::from(job.numjobs).saturating_mul(files(&job.target)))
        .sum();
    if all > MOST_FILES {
        return;
    }
    let absent = |path: &Path| TargetFacts {
        path: path.to_owned(),
        kind: TargetKind::Absent,
        size: Bytes(0),
        free: Some(Bytes(1 << 40)),
        logical_block: 512,
        direct_io: None,
        writable: true,
    };
    let facts = scenario
        .paths()
        .into_iter()
        .map(|path| (path.clone(), absent(&path)))
        .collect();
    let plan = match Plan::resolve(scenario, &facts) {
        Ok(plan) => plan,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    for worker in plan.phases.iter().flat_map(|phase| &phase.workers) {
        for request in worker.stream.requests().take(REQUESTS) {
            assert!(
                (request.region as usize) < worker.stream.regions.len(),
                "{request:?} is in no region"
            );
        }
    }
}

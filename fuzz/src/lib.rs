//! What the fuzz targets share: the reader of fio's language with a host made up for it, followed by all that is done to
//! what it understood before anything is touched.
//!
//! Nothing here runs a job. That a reader returns is all that is asked; a panic, or an error that points past the end of
//! its line, is what is looked for.

#![forbid(unsafe_code)]

use hakaru_dialects::fio::output::{StartView, banner};
use hakaru_dialects::fio::{Invocation, Location, ParseContext, VERSION, parse};
use hakaru_model::facts::{TargetFacts, TargetKind};
use hakaru_model::job::{Scenario, Target};
use hakaru_model::plan::Plan;
use hakaru_model::units::Bytes;
use std::ffi::OsString;
use std::path::Path;

/// Plans of more files than this are left out: they are no more instructive, and take time.
const MOST_FILES: u64 = 64;

/// Requests that are drawn from each stream.
const REQUESTS: usize = 64;

/// Reads a command line on a host where every file that ends in `.fio` holds `file`, and plans what it says.
///
/// # Errors
/// What the reader says was wrong.
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

/// The word that an error points at is there.
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

/// Plans a scenario for files that are not there, and draws the first requests of each worker.
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

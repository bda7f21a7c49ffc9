//! A worker that is open, except for its backend.

use super::context::WorkerContext;
use super::own_files;
use super::source::Source;
use crate::error::RunError;
use crate::files::FileRecreator;
use crate::recorder::Recorder;
use crate::verify::Checker;
use crate::worker_setup;
use crate::zones::ZoneCursor;
use hakaru_model::job::IoEngine;
use hakaru_model::job::rules::Zones;
use hakaru_model::obstacle::ZoneObstacle;
use hakaru_model::plan::WorkerPlan;
use hakaru_model::stream::StreamPlan;
use std::path::PathBuf;

/// The parts of a worker without backend and clock.
pub(crate) struct WorkerParts<'a> {
    pub(crate) context: WorkerContext<'a>,
    pub(super) source: Source<'a>,
    /// Verifies the data, if the job does.
    pub(super) check: Option<Box<Checker>>,
    /// Log of the requests.
    pub(super) recorder: Option<Recorder>,
    /// Whether its thread has its own file descriptor table.
    pub(super) own_files: bool,
}

impl<'a> WorkerParts<'a> {
    /// Prepares the calling thread, and opens everything the worker needs.
    ///
    /// # Errors
    /// A [`RunError`] for a part of the plan that is not available on this host.
    pub(crate) fn open(context: WorkerContext<'a>) -> Result<WorkerParts<'a>, RunError> {
        let (plan, setup) = (context.plan, context.setup);
        // Destructured completely: a new field of the plan fails to compile until it is handled here.
        let WorkerPlan {
            // Identity of the worker, and the workers it waits for or ends: `closing`, `limits` and the run.
            name: _,
            job: _,
            clone,
            number: _,
            group: _,
            wait_for: _,
            // The backend and its files: `start` and `files`.
            ioengine,
            engine: _,
            sim: _,
            files: _,
            // Order and times of I/Os: `Source`.
            stream,
            rate: _,
            replay: _,
            // How I/Os are issued: `Issue` and the loops.
            queue: _,
            writes: _,
            max_block: _,
            buffers: _,
            durability: _,
            seed: _,
            // Statistics, limits, verification and logs: `Account`.
            measure: _,
            errors: _,
            verify: _,
            record,
            // Start and end: `WorkerTimes`, `limits`, and `steady` in the run.
            startdelay: _,
            ramp_time: _,
            runtime: _,
            termination: _,
            // Thread setup and commands: `worker_setup`.
            placement: _,
            commands: _,
        } = plan;
        let own_files = own_files::keep(plan);
        worker_setup::settle_in(plan)?;
        let check = Checker::new(plan, context.files)?;
        let recorder = |path: &PathBuf| Recorder::new(path, *clone, context.files);
        let recorder = record.as_ref().map(recorder).transpose()?;
        let has_files = *ioengine != IoEngine::Sim && !ioengine.works_on_names();
        let recreator = has_files.then_some(FileRecreator {
            plan,
            files: setup.files,
            direct_fallback: setup.direct_fallback,
        });
        let zoned = has_files && matches!(stream.access.zones, Zones::Device { .. });
        let zones = zoned.then(|| zone_cursor(&context)).transpose()?;
        Ok(WorkerParts {
            source: Source::new(&context, zones, recreator),
            check,
            recorder,
            context,
            own_files,
        })
    }
}

/// Returns the zone cursor of a worker.
fn zone_cursor(context: &WorkerContext<'_>) -> Result<(ZoneCursor, StreamPlan), RunError> {
    let plan = context.plan;
    let files = || {
        plan.stream
            .regions
            .iter()
            .filter_map(|r| Some((r, context.setup.files.get(r.file as usize)?)))
    };
    let table = |(region, file)| context.shared.tables.table(region, file, plan);
    let tables = files().map(table).collect::<Result<Vec<_>, _>>()?;
    ZoneCursor::new(context.index, plan, tables).map_err(|region| RunError::Zones {
        path: files()
            .nth(region)
            .map_or_else(PathBuf::new, |(_, file)| file.path.clone()),
        because: ZoneObstacle::NoWholeZone,
    })
}

//! Prints each figure as its test ends.

use super::files::empty_one;
use crate::stop;
use hakaru_dialects::iozone::output::{self, Results, TableRow};
use hakaru_dialects::iozone::{IozoneMode, IozoneRequest, IozoneStep, TestFigures};
use hakaru_engine::{Flow, Observer, PhaseProgress};
use hakaru_model::job::Scenario;
use hakaru_model::plan::PhasePlan;
use hakaru_model::record::{PhaseRecord, StopReason};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

pub(super) struct IozoneObserver<'a> {
    request: &'a IozoneRequest,
    cell: IozoneStep,
    paths: Vec<PathBuf>,
    results: &'a mut Results,
    /// The row of the table that is being filled.
    row: Option<TableRow>,
    /// Place of the test that runs.
    test: usize,
    whole: bool,
    /// What kept the output from being written.
    failure: Option<std::io::Error>,
}

impl<'a> IozoneObserver<'a> {
    /// Prints the beginning of a row, or the head of a group.
    pub(super) fn new(
        request: &'a IozoneRequest,
        cell: IozoneStep,
        scenario: &Scenario,
        results: &'a mut Results,
    ) -> std::io::Result<IozoneObserver<'a>> {
        let table = matches!(request.mode, IozoneMode::Table { .. });
        let (text, row) = match table {
            true => {
                let (text, row) = TableRow::begin(cell);
                (text, Some(row))
            }
            false => (output::group_head(request, cell), None),
        };
        write(&text)?;
        let paths = scenario.paths();
        Ok(IozoneObserver {
            request,
            cell,
            paths,
            results,
            row,
            test: 0,
            whole: true,
            failure: None,
        })
    }

    /// Ends the row, if all of it was measured.
    pub(super) fn end(self) -> std::io::Result<()> {
        match (self.failure, self.row) {
            (Some(failure), _) => Err(failure),
            (None, Some(mut row)) if self.whole => write(&row.end()),
            _ => Ok(()),
        }
    }
}

fn write(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Waits, unless somebody stops the run.
fn pause(seconds: u64) {
    let until = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < until && !stop::flag().load(Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Observer for IozoneObserver<'_> {
    fn phase_begins(&mut self, index: usize, _: &PhasePlan) {
        self.test = index;
        if index == 0 {
            return;
        }
        pause(self.request.pause_s());
        // A test that makes its file finds that of the one before.
        if self
            .request
            .kinds
            .get(index)
            .is_some_and(|kind| kind.makes_file())
            && self.request.empties_files()
        {
            // What cannot be emptied will be written over.
            self.paths.iter().for_each(|path| drop(empty_one(path)));
        }
    }

    fn progress(&mut self, _: &PhasePlan, _: &PhaseProgress) -> Flow {
        if self.failure.is_some() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    fn phase_ends(&mut self, record: &PhaseRecord) {
        let cut = |reason| matches!(reason, StopReason::Error | StopReason::Stopped);
        let kind = self.request.kinds.get(self.test).copied();
        let Some(kind) = kind.filter(|_| !record.workers.iter().any(|worker| cut(worker.stop)))
        else {
            self.whole = false;
            return;
        };
        let figures = TestFigures::of(
            record,
            self.cell.record_kb,
            self.request.unit,
            self.request.delay(),
        );
        let text = match &mut self.row {
            Some(row) => row.value(kind, figures.in_table(self.request.unit)),
            None => output::group_block(self.request, kind, self.cell, &figures),
        };
        self.failure = self.failure.take().or(write(&text).err());
        self.results.all.push((self.cell, kind, figures));
    }
}

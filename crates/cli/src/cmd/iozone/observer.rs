//! Prints each figure when its test ends.

use super::files::FileCleanup;
use hakaru_dialects::iozone::output::{self, Results, TableRow};
use hakaru_dialects::iozone::{IozoneMode, IozoneRequest, IozoneStep, TestFigures};
use hakaru_engine::{Flow, Observer, PhaseProgress};
use hakaru_model::plan::PhasePlan;
use hakaru_model::record::{PhaseRecord, StopReason};
use std::io::Write;

pub(super) struct IozoneObserver<'a> {
    request: &'a IozoneRequest,
    /// Rows of the table, or groups of children, with one phase per test.
    cells: Vec<IozoneStep>,
    results: Results,
    files: FileCleanup,
    /// The current row of the table.
    row: Option<TableRow>,
    /// Index of the current phase.
    phase: usize,
    /// Whether the current row or group was measured completely so far.
    whole: bool,
    /// The first error of writing the output.
    failure: Option<std::io::Error>,
}

impl<'a> IozoneObserver<'a> {
    pub(super) fn new(request: &'a IozoneRequest, files: FileCleanup) -> IozoneObserver<'a> {
        IozoneObserver {
            request,
            cells: request.cells(),
            results: Results::default(),
            files,
            row: None,
            phase: 0,
            whole: true,
            failure: None,
        }
    }

    /// Ends the current row if it was measured completely, returns all figures, and removes the test files.
    pub(super) fn end(mut self) -> std::io::Result<Results> {
        match (self.failure, &mut self.row) {
            (Some(failure), _) => return Err(failure),
            (None, Some(row)) if self.whole => write(&row.end())?,
            _ => {}
        }
        Ok(self.results)
    }

    /// Returns the index of the phase among the tests of its row or group.
    fn test(&self) -> usize {
        self.phase % self.request.kinds.len().max(1)
    }

    /// Returns the row or group of the current phase.
    fn cell(&self) -> Option<IozoneStep> {
        let place = self.phase / self.request.kinds.len().max(1);
        self.cells.get(place).copied()
    }

    fn write(&mut self, text: &str) {
        if self.failure.is_none() {
            self.failure = write(text).err();
        }
    }

    fn flow(&self) -> Flow {
        match self.failure {
            Some(_) => Flow::Stop,
            None => Flow::Continue,
        }
    }
}

fn write(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

impl Observer for IozoneObserver<'_> {
    /// Prints the start of a row, or the header of a group.
    fn phase_begins(&mut self, index: usize, phase: &PhasePlan) {
        self.phase = index;
        self.files.phase_begins(phase);
        let Some(cell) = self.cell().filter(|_| self.test() == 0) else {
            return;
        };
        self.whole = true;
        let text = match &self.request.mode {
            IozoneMode::Table { .. } => {
                let (text, row) = TableRow::begin(cell);
                self.row = Some(row);
                text
            }
            IozoneMode::Throughput { .. } => output::group_head(self.request, cell),
        };
        self.write(&text);
    }

    fn progress(&mut self, _: &PhasePlan, _: &PhaseProgress) -> Flow {
        self.flow()
    }

    fn phase_ends(&mut self, record: &PhaseRecord) -> Flow {
        let cut = |reason| matches!(reason, StopReason::Error | StopReason::Stopped);
        self.whole &= !record.workers.iter().any(|worker| cut(worker.stop));
        let (request, test) = (self.request, self.test());
        let kind = request.kinds.get(test).copied().filter(|_| self.whole);
        let (Some(kind), Some(cell)) = (kind, self.cell()) else {
            return self.flow();
        };
        let figures = TestFigures::of(record, cell.record_kb, request.unit, request.delay());
        let text = match &mut self.row {
            Some(row) => row.value(kind, figures.in_table(request.unit)),
            None => output::group_block(request, kind, cell, &figures),
        };
        self.write(&text);
        self.results.all.push((cell, kind, figures));
        if test + 1 == request.kinds.len()
            && let Some(mut row) = self.row.take()
        {
            self.write(&row.end());
        }
        self.flow()
    }
}

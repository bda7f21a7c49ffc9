//! Converts iozone rates to a run with one phase per rate.

use super::super::{ImportedRun, SourceFormat, Unread, unstated};
use super::head::IozoneHead;
use crate::iozone::IozoneTest;
use hakaru_model::caveat::Caveat;
use hakaru_model::job::{Access, BlockSize, Job, PerOp, Phase, Scenario, SizeSpec, Target};
use hakaru_model::record::{PhaseRecord, StopReason, WorkerRecord};
use hakaru_model::reported::{
    JobProperty, Reported, ReportedBlock, StatedRate, UnstatedJob, WorkerReport,
};
use hakaru_model::units::{Bytes, Nanos};

pub(super) const KB: f64 = 1024.0;

/// One measured rate.
pub(super) struct ImportedRate {
    pub(super) test: IozoneTest,
    /// Bytes per second, or I/Os per second if `ops` is set.
    pub(super) rate: f64,
    pub(super) ops: bool,
    pub(super) workers: u32,
    pub(super) record_kb: Option<u64>,
    pub(super) file_kb: Option<u64>,
}

/// Parsed content of one run.
pub(super) struct IozoneReadout {
    pub(super) head: IozoneHead,
    pub(super) blocks: Vec<ReportedBlock>,
    pub(super) cells: Vec<ImportedRate>,
    pub(super) unread: Vec<Unread>,
    pub(super) format: Option<SourceFormat>,
    /// Whether the end of the output was found.
    pub(super) complete: bool,
    /// First and last line in the source.
    pub(super) lines: (usize, usize),
}

/// Converts the content to a run. `None` if it has no rate.
pub(super) fn run(findings: IozoneReadout) -> Option<ImportedRun> {
    let IozoneReadout {
        head,
        blocks,
        mut cells,
        unread,
        format,
        complete,
        lines,
    } = findings;
    // The spreadsheet summary states the record size only after the rates.
    cells
        .iter_mut()
        .for_each(|cell| cell.record_kb = cell.record_kb.or(head.record_kb));
    let mut scenario = Scenario {
        name: "iozone".to_owned(),
        seed: 0,
        phases: Vec::new(),
    };
    let mut phases = Vec::new();
    let mut reported = Reported {
        blocks,
        ..Reported::default()
    };
    let first = cells.first()?;
    let several =
        |pick: fn(&ImportedRate) -> Option<u64>| cells.iter().any(|cell| pick(cell) != pick(first));
    let sizes = (several(|cell| cell.file_kb), several(|cell| cell.record_kb));
    for (cell, phase) in cells.iter().zip(0..) {
        let name = name_of(cell, sizes);
        reported.unstated.extend(unstated_of(cell, &head, phase));
        let (worker, report) = worker(&name, cell, phase);
        reported.workers.push(report);
        phases.push(PhaseRecord {
            name: name.clone(),
            elapsed: worker.runtime,
            workers: vec![worker],
            ..PhaseRecord::default()
        });
        let jobs = vec![job(&name, cell, &head)];
        scenario.phases.push(Phase { name, jobs });
    }
    let program = format!("iozone {}", head.version).trim_end().to_owned();
    let format = format.unwrap_or(SourceFormat::IozoneThroughput);
    Some(ImportedRun {
        caveats: caveats(&head, &cells, complete),
        path: head.path,
        lines,
        unread,
        ..ImportedRun::new(format, program, scenario, phases, reported)
    })
}

/// The properties that neither the rate nor the header states, if any.
fn unstated_of(cell: &ImportedRate, head: &IozoneHead, phase: u32) -> Option<UnstatedJob> {
    let properties = unstated(&[
        (JobProperty::BlockSize, cell.record_kb.is_some()),
        (JobProperty::Direct, head.direct || head.options_known),
    ]);
    (!properties.is_empty()).then_some(UnstatedJob {
        phase,
        job: 0,
        properties,
    })
}

fn caveats(head: &IozoneHead, cells: &[ImportedRate], complete: bool) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    if !head.options_known && !head.direct {
        caveats.push(Caveat::Unstated {
            what: "direct or buffered I/O (-I), and the file".to_owned(),
        });
    } else if !head.direct {
        caveats.push(Caveat::Buffered);
    }
    if cells.iter().any(|cell| cell.record_kb.is_none()) {
        caveats.push(Caveat::Unstated {
            what: "the record size".to_owned(),
        });
    }
    if !complete {
        caveats.push(Caveat::CutOff {
            missing: "`iozone test complete.`".to_owned(),
        });
    }
    caveats
}

fn name_of(cell: &ImportedRate, (files, records): (bool, bool)) -> String {
    let mut name = cell.test.name().to_owned();
    if let Some(kb) = cell.record_kb.filter(|_| records) {
        name += &format!(" {}", Bytes(kb.saturating_mul(1024)));
    }
    if let Some(kb) = cell.file_kb.filter(|_| files) {
        name += &format!(" of {}", Bytes(kb.saturating_mul(1024)));
    }
    name
}

fn job(name: &str, cell: &ImportedRate, head: &IozoneHead) -> Job {
    let target = head
        .path
        .as_ref()
        .map_or(Target::Nothing, |path| Target::Paths(vec![path.clone()]));
    let mut job = Job::new(
        name,
        target,
        Access::only(cell.test.op(), cell.test.is_random()),
    );
    job.numjobs = cell.workers.clamp(1, 4096);
    job.group_reporting = true;
    if let Some(kb) = cell.record_kb {
        job.block = PerOp::all(BlockSize::Fixed(Bytes(kb.saturating_mul(1024))));
    }
    job.extent.size = cell
        .file_kb
        .map(|kb| SizeSpec::Bytes(Bytes(kb.saturating_mul(1024))));
    job.files.direct = head.direct;
    job.durability.end_fsync = head.fsync;
    job.durability.sync = head.sync;
    job
}

/// Creates a worker record. In auto mode one worker transfers the whole file, so bytes and time follow from the rate;
/// in throughput mode only the rate is known.
fn worker(name: &str, cell: &ImportedRate, phase: u32) -> (WorkerRecord, WorkerReport) {
    let mut worker = WorkerRecord {
        name: name.to_owned(),
        stop: StopReason::Done,
        ..WorkerRecord::default()
    };
    let mut more = WorkerReport {
        phase,
        members: cell.workers,
        ..WorkerReport::default()
    };
    let op = cell.test.op();
    let record = cell.record_kb.filter(|&kb| kb > 0);
    let record = record.map(|kb| kb as f64 * KB);
    let (bytes_per_s, iops) = match cell.ops {
        true => (record.map(|size| size * cell.rate), Some(cell.rate)),
        false => (Some(cell.rate), record.map(|size| cell.rate / size)),
    };
    match (cell.file_kb, bytes_per_s.filter(|&rate| rate > 0.0)) {
        (Some(kb), Some(rate)) if cell.workers == 1 => {
            let bytes = kb.saturating_mul(1024);
            let done = &mut worker.ops[op];
            done.bytes = bytes;
            done.ios = record.map_or(0, |size| (bytes as f64 / size).round() as u64);
            done.issued = done.ios;
            worker.runtime = Nanos((bytes as f64 / rate * 1e9).round() as u64);
            worker.job_runtime = worker.runtime;
        }
        _ => {
            more.ops[op].bytes_per_s = bytes_per_s.map(StatedRate::once);
            more.ops[op].iops = iops.map(StatedRate::once);
        }
    }
    (worker, more)
}

//! Converts a request to scenarios: one for each table row or group of children.

use super::error::IozoneError;
use super::kind::IozoneTest;
use super::request::{IozoneMode, IozoneRequest};
use hakaru_model::facts::TargetKind;
use hakaru_model::job::rules::{ExitScope, TraversalOrder};
use hakaru_model::job::{Access, Fallocate, IoEngine, Job, Op, Phase, Scenario, SizeSpec, Target};
use hakaru_model::plan::{Facts, clone_paths};
use hakaru_model::units::{Bytes, Nanos};
use std::path::PathBuf;

/// Default file name of a child.
const CHILD_FILES: &str = "iozone.DUMMY.$jobnum";

/// Default file name in auto mode.
const TABLE_FILE: &str = "iozone.tmp";

/// A table row or a group of children, run with a single configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IozoneStep {
    /// Number of concurrent workers.
    pub children: u32,
    /// File size in kB.
    pub size_kb: u64,
    /// Record size in kB.
    pub record_kb: u64,
}

impl IozoneRequest {
    /// All rows or groups in order.
    pub fn cells(&self) -> Vec<IozoneStep> {
        match &self.mode {
            IozoneMode::Table { rows } => rows
                .iter()
                .map(|&(size_kb, record_kb)| IozoneStep {
                    children: 1,
                    size_kb,
                    record_kb,
                })
                .collect(),
            IozoneMode::Throughput {
                children,
                size_kb,
                record_kb,
                ..
            } => {
                let (size_kb, record_kb) = (*size_kb, *record_kb);
                children
                    .iter()
                    .map(|&children| IozoneStep {
                        children,
                        size_kb,
                        record_kb,
                    })
                    .collect()
            }
        }
    }

    /// The tests of all rows or groups, one phase each. `cpus` is the number of CPUs of the host.
    pub fn whole_scenario(&self, cpus: u32) -> Scenario {
        let cells = self.cells().into_iter();
        Scenario {
            name: "iozone".to_owned(),
            seed: 0,
            phases: cells
                .flat_map(|cell| self.scenario(cell, cpus).phases)
                .collect(),
        }
    }

    /// The tests of one row or group, one phase each. `cpus` is the number of CPUs of the host.
    pub fn scenario(&self, cell: IozoneStep, cpus: u32) -> Scenario {
        let phase = |(index, kind): (usize, &IozoneTest)| {
            let mut jobs = self.jobs(*kind, cell, cpus);
            for job in &mut jobs {
                job.files.empty_first = self.empties_files() && kind.makes_file();
                if index > 0 {
                    job.timing.pause_before = Nanos::from_secs(self.args.pause_s);
                }
            }
            Phase {
                name: self.phase_name(*kind, cell),
                jobs,
            }
        };
        Scenario {
            name: "iozone".to_owned(),
            seed: 0,
            phases: self.kinds.iter().enumerate().map(phase).collect(),
        }
    }

    /// Name of a phase, with its row or group if there are several.
    fn phase_name(&self, kind: IozoneTest, cell: IozoneStep) -> String {
        let cells = self.cells();
        let several =
            |pick: fn(&IozoneStep) -> u64| cells.iter().any(|other| pick(other) != pick(&cells[0]));
        let mut name = kind.name().to_owned();
        if several(|cell| cell.record_kb) {
            name += &format!(" {}", Bytes(cell.record_kb << 10));
        }
        if several(|cell| cell.size_kb) {
            name += &format!(" of {}", Bytes(cell.size_kb << 10));
        }
        if several(|cell| cell.children.into()) {
            name += &format!(" by {}", cell.children);
        }
        name
    }

    /// The jobs of a test: one job with clones if all children do the same on default files, otherwise one job per
    /// child.
    fn jobs(&self, kind: IozoneTest, cell: IozoneStep, cpus: u32) -> Vec<Job> {
        let args = &self.args;
        let table = matches!(self.mode, IozoneMode::Table { .. });
        let alike = args.files.is_empty()
            && args.first_cpu.is_none()
            && args.delay_us == 0
            && (kind != IozoneTest::Mixed || cell.children == 1);
        if table || alike {
            let target = match (table, &args.file) {
                (true, Some(file)) => Target::Paths(vec![file.clone()]),
                (true, None) => Target::Paths(vec![TABLE_FILE.into()]),
                (false, _) => Target::Formatted {
                    directories: Vec::new(),
                    format: CHILD_FILES.to_owned(),
                    nrfiles: 1,
                },
            };
            let mut job = self.job(kind, cell, target, kind.op());
            job.numjobs = cell.children;
            return vec![job];
        }
        (0..cell.children)
            .map(|child| self.child(kind, cell, child, cpus))
            .collect()
    }

    fn child(&self, kind: IozoneTest, cell: IozoneStep, child: u32, cpus: u32) -> Job {
        let args = &self.args;
        let usual = || PathBuf::from(CHILD_FILES.replace("$jobnum", &child.to_string()));
        let path = args
            .files
            .get(child as usize)
            .cloned()
            .unwrap_or_else(usual);
        let op = if kind == IozoneTest::Mixed {
            self.mixed_op(child, cell.children)
        } else {
            kind.op()
        };
        let mut job = self.job(kind, cell, Target::Paths(vec![path]), op);
        job.timing.startdelay = Nanos(args.delay_us * 1000 * u64::from(child));
        if let Some(first) = args.first_cpu {
            job.placement.cpus_allowed = vec![first.wrapping_add(child) % cpus.max(1)];
        }
        job
    }

    /// The operation of a child in the mixed test: alternating, or by the requested percentage of readers.
    fn mixed_op(&self, child: u32, children: u32) -> Op {
        let reads = match self.args.percent_read {
            None => child.is_multiple_of(2),
            Some(percent) => u64::from(child) * 100 < u64::from(children) * u64::from(percent),
        };
        if reads { Op::Read } else { Op::Write }
    }

    fn job(&self, kind: IozoneTest, cell: IozoneStep, target: Target, op: Op) -> Job {
        let args = &self.args;
        let (size, record) = (Bytes(cell.size_kb << 10), Bytes(cell.record_kb << 10));
        let mut job =
            Job::new(kind.name(), target, Access::only(op, kind.is_random())).with_block(record);
        job.group_reporting = true;
        job.ioengine = self.engine(kind);
        if job.ioengine == IoEngine::Posixaio {
            job.queue.iodepth = args.depth.unwrap_or(1);
        }
        job.extent.size = Some(SizeSpec::Bytes(size));
        if kind == IozoneTest::RecordRewrite {
            job.extent.size = Some(SizeSpec::Bytes(record));
            job.extent.io_size = Some(SizeSpec::Bytes(size));
        }
        job.access.order = match kind {
            IozoneTest::BackwardRead => TraversalOrder::Backward,
            IozoneTest::StrideRead => TraversalOrder::Interleaved {
                step: Bytes(record.0 * args.stride()),
            },
            _ => TraversalOrder::Forward,
        };
        self.set_file_options(&mut job, kind, op);
        // Stream tests always run to their end, as iozone's outputs show.
        if !args.no_stonewall && cell.children > 1 && !kind.is_stream() {
            job.termination.exit.ends = Some(ExitScope::Phase);
            job.termination.exit.finish_writing = kind.makes_file();
        }
        job
    }

    /// Sets how the job opens, creates and flushes its files.
    fn set_file_options(&self, job: &mut Job, kind: IozoneTest, op: Op) {
        let args = &self.args;
        let mmap = job.ioengine == IoEngine::Mmap;
        job.files.direct = args.direct && !kind.is_stream() && !mmap;
        job.files.invalidate = false;
        job.files.fallocate = Fallocate::None;
        job.files.allow_create = kind.makes_file();
        job.files.time_close = args.close;
        job.durability.sync = args.sync;
        job.durability.dsync = args.dsync;
        job.durability.end_fsync = op == Op::Write && (args.flush || mmap && args.map_flush);
    }

    fn engine(&self, kind: IozoneTest) -> IoEngine {
        match kind {
            kind if kind.is_stream() => IoEngine::Stdio,
            IozoneTest::Pwrite | IozoneTest::Pread => IoEngine::Psync,
            IozoneTest::Pwritev | IozoneTest::Preadv => IoEngine::Pvsync,
            _ if self.args.mmap => IoEngine::Mmap,
            _ if self.args.depth.is_some() => IoEngine::Posixaio,
            _ => IoEngine::Sync,
        }
    }
}

/// Checks that the files meet the needs of the tests: they exist and are long enough unless the first test creates
/// them, and their file system supports direct I/O if requested.
///
/// # Errors
/// What is missing, and how to fix it.
pub fn check_files(scenario: &Scenario, facts: &Facts) -> Result<(), IozoneError> {
    let mut jobs = scenario.phases.iter().flat_map(|phase| &phase.jobs);
    jobs.try_for_each(|job| check_direct(job, facts))?;
    let first = scenario.phases.first();
    let mut jobs = first.iter().flat_map(|phase| &phase.jobs);
    jobs.try_for_each(|job| check_size(job, facts))
}

/// The paths that the clones of a job use.
fn paths(job: &Job) -> impl Iterator<Item = PathBuf> {
    (0..job.numjobs).flat_map(|clone| clone_paths(job, clone))
}

/// Checks that the file systems support direct I/O if the job requests it.
fn check_direct(job: &Job, facts: &Facts) -> Result<(), IozoneError> {
    let buffered = |path: &PathBuf| {
        let facts = facts.get(path);
        facts.is_some_and(|facts| facts.direct_io == Some(false))
    };
    match paths(job).filter(|_| job.files.direct).find(buffered) {
        None => Ok(()),
        Some(path) => Err(IozoneError::nowhere(format!(
            "{} cannot be used with -I: its file system does not support O_DIRECT; omit -I, or \
             name a file on another file system with -f or -F",
            path.display()
        ))),
    }
}

/// Checks that the files of a job that does not create them exist and are long enough.
fn check_size(job: &Job, facts: &Facts) -> Result<(), IozoneError> {
    let size = job.extent.io_size.or(job.extent.size);
    let (Some(SizeSpec::Bytes(size)), false) = (size, job.files.allow_create) else {
        return Ok(());
    };
    for path in paths(job) {
        let found = match facts.get(&path) {
            Some(facts) if facts.size >= size => continue,
            Some(facts) if facts.kind == TargetKind::Absent => "does not exist".to_owned(),
            Some(facts) if facts.kind == TargetKind::File => format!("has {}", facts.size),
            _ => continue,
        };
        return Err(IozoneError::nowhere(format!(
            "{} {found}, but the test `{}` needs a file of {size}: add -i 0 to write it, or write \
             it once with -i 0 -w",
            path.display(),
            job.name
        )));
    }
    Ok(())
}

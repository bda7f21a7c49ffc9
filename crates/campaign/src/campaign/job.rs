//! Converts the keys of a custom workload to a job, with fio's semantics and defaults for cards.

use super::file::{FileError, FileSharing, WorkloadEntry};
use hakaru_model::job::{Access, BlockSize, IoEngine, Job, Op, PerOp, SizeSpec, Target};
use hakaru_model::units::Bytes;
use hakaru_report::both;
use std::path::PathBuf;
use toml::Spanned;

const ENGINES: [IoEngine; 7] = [
    IoEngine::Sync,
    IoEngine::Psync,
    IoEngine::Pvsync,
    IoEngine::Pvsync2,
    IoEngine::Libaio,
    IoEngine::IoUring,
    IoEngine::Mmap,
];

/// Creates the job. Unlike in fio, direct I/O is on by default, and a job with a runtime is time-based: nearly every
/// measurement of a card needs both.
pub(super) fn job(
    name: &str,
    rw: &Spanned<String>,
    entry: &WorkloadEntry,
) -> Result<Job, FileError> {
    let mut job = Job::new(name, target(name, entry), access(rw, entry.rwmixread)?);
    job.block = PerOp::all(BlockSize::Fixed(
        entry.bs.map_or(Bytes(4096), |size| size.0),
    ));
    job.extent.size = entry.size.map(|size| SizeSpec::Bytes(size.0));
    job.numjobs = entry.numjobs.unwrap_or(1);
    job.group_reporting = true;
    job.ioengine = entry
        .ioengine
        .as_ref()
        .map_or(Ok(IoEngine::Psync), engine)?;
    job.queue.iodepth = entry.iodepth.unwrap_or(1);
    job.timing.runtime = entry.runtime.map(|time| time.0);
    job.timing.ramp_time = entry.ramp_time.map_or_else(Default::default, |time| time.0);
    job.timing.time_based = entry.time_based.unwrap_or(entry.runtime.is_some());
    job.files.direct = entry.direct.unwrap_or(true);
    job.files.overwrite = entry.overwrite.unwrap_or(false);
    job.files.unlink = entry.unlink.unwrap_or(false);
    set_durability(&mut job, entry);
    if let Some(tick) = entry.tick {
        job.measure.tick = tick.0;
    }
    Ok(job)
}

/// Returns the file of the job, or one for each of its clones.
fn target(name: &str, entry: &WorkloadEntry) -> Target {
    let file = entry.file.as_deref().unwrap_or(name);
    match entry.files.unwrap_or_default() {
        FileSharing::Shared => Target::Paths(vec![PathBuf::from(format!("{file}.data"))]),
        FileSharing::Own => Target::Formatted {
            directories: Vec::new(),
            format: format!("{file}.$jobnum"),
            nrfiles: 1,
        },
    }
}

fn set_durability(job: &mut Job, entry: &WorkloadEntry) {
    job.durability.fsync_every = entry.fsync.unwrap_or(0);
    job.durability.fdatasync_every = entry.fdatasync.unwrap_or(0);
    job.durability.end_fsync = entry.end_fsync.unwrap_or(false);
    job.durability.fsync_on_close = entry.fsync_on_close.unwrap_or(false);
    job.durability.sync = entry.sync.unwrap_or(false);
}

fn access(rw: &Spanned<String>, read_percent: Option<u32>) -> Result<Access, FileError> {
    let mix = read_percent.unwrap_or(50);
    if mix > 100 {
        return Err(FileError::at(
            rw,
            both!(
                "rwmixread = {mix}: a percentage is at most 100",
                "rwmixread = {mix}: 100以下を指定してください"
            ),
        ));
    }
    Ok(match rw.get_ref().as_str() {
        "read" => Access::only(Op::Read, false),
        "write" => Access::only(Op::Write, false),
        "randread" => Access::only(Op::Read, true),
        "randwrite" => Access::only(Op::Write, true),
        "rw" | "readwrite" => Access::mixed(mix, false),
        "randrw" => Access::mixed(mix, true),
        other => {
            return Err(FileError::at(
                rw,
                both!(
                    "unknown rw = \"{other}\": expected read, write, randread, randwrite, rw or randrw",
                    "rw = \"{other}\"は不明です（read、write、randread、randwrite、rw、randrw）"
                ),
            ));
        }
    })
}

fn engine(name: &Spanned<String>) -> Result<IoEngine, FileError> {
    ENGINES
        .into_iter()
        .find(|engine| engine.name() == name.get_ref())
        .ok_or_else(|| {
            let known = ENGINES.map(IoEngine::name).join(", ");
            FileError::at(
                name,
                both!(
                    "unknown ioengine = \"{}\": expected one of {known}",
                    "ioengine = \"{}\"は不明です（{known}）";
                    name.get_ref()
                ),
            )
        })
}

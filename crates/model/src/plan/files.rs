//! Files of a plan: whether a job can use a path, and what it needs of the file.

use super::{FilePlan, LayOut, PlanError};
use crate::facts::{TargetFacts, TargetKind};
use crate::job::rules::Zones;
use crate::job::{BufferContent, IoEngine, Job, Op};
use crate::units::Bytes;
use std::collections::HashMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// The files of a phase, in the order of their first use, found by path without a search through all of them.
#[derive(Debug, Default)]
pub(super) struct PlannedFiles {
    list: Vec<FilePlan>,
    indices: HashMap<PathBuf, u32>,
}

impl PlannedFiles {
    /// Returns the file with this path.
    pub(super) fn find(&self, path: &Path) -> Option<&FilePlan> {
        Some(&self.list[self.index_of(path)? as usize])
    }

    /// Removes all files after the first `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        for file in self.list.drain(len.min(self.list.len())..) {
            self.indices.remove(&file.path);
        }
    }

    pub(super) fn into_vec(self) -> Vec<FilePlan> {
        self.list
    }

    fn index_of(&self, path: &Path) -> Option<u32> {
        self.indices.get(path).copied()
    }

    /// Adds a file whose path is new, and returns its index.
    fn push(&mut self, file: FilePlan) -> u32 {
        let index = self.list.len() as u32;
        self.indices.insert(file.path.clone(), index);
        self.list.push(file);
        index
    }
}

impl Deref for PlannedFiles {
    type Target = [FilePlan];

    fn deref(&self) -> &[FilePlan] {
        &self.list
    }
}

/// Returns the smallest block size of the operations of a job, in bytes.
pub(super) fn smallest_block(job: &Job) -> u64 {
    job.blocks_used()
        .map(|b| b.min().0)
        .min()
        .unwrap_or(1)
        .max(1)
}

/// Returns the alignment of offsets: `blockalign`, or the smallest block.
pub(super) fn alignment_of_offsets(job: &Job) -> u64 {
    job.block_align
        .map_or(smallest_block(job), |align| align.0)
        .max(1)
}

/// Checks that the engine of a job can work on a path.
pub(super) fn measurable(job: &Job, facts: &TargetFacts) -> Result<(), PlanError> {
    let (name, path) = (job.name.clone(), facts.path.clone());
    let names = job.ioengine.works_on_names();
    match facts.kind {
        TargetKind::Directory | TargetKind::Absent if job.ioengine.works_on_directories() => Ok(()),
        TargetKind::BlockDevice | TargetKind::CharDevice
            if names && job.ioengine.traits().always_changes =>
        {
            Err(PlanError::NotMeasurable {
                job: name,
                path,
                what: "device file",
            })
        }
        TargetKind::Directory => Err(PlanError::NotMeasurable {
            job: name,
            path,
            what: "directory",
        }),
        TargetKind::Other => Err(PlanError::NotMeasurable {
            job: name,
            path,
            what: "socket, pipe or the like",
        }),
        TargetKind::Absent if !job.files.allow_create => {
            Err(PlanError::MayNotCreate { job: name, path })
        }
        TargetKind::Absent if job.files.read_only && job.ioengine.traits().needs_files => {
            Err(PlanError::Missing { job: name, path })
        }
        _ if job.access.destroys() && !facts.writable => {
            Err(PlanError::ReadOnly { job: name, path })
        }
        TargetKind::File | TargetKind::Absent
            if job.access.does(Op::Trim) && !trims_files(job) && !job.files.begin_refused =>
        {
            Err(PlanError::TrimOnFile { job: name, path })
        }
        _ => Ok(()),
    }
}

/// Whether the operation that implements a trim works on files. A zone is also reset if it is only assumed to exist.
fn trims_files(job: &Job) -> bool {
    let zoned = matches!(job.access.zones, Zones::Device { .. });
    zoned || job.ioengine == IoEngine::Falloc || job.ioengine.works_on_names()
}

/// Adds a file, or extends the requirements of an earlier worker. Returns its index.
pub(super) fn add_file(job: &Job, facts: &TargetFacts, size: u64, files: &mut PlannedFiles) -> u32 {
    let reads =
        job.access.does(Op::Read) || job.files.overwrite || job.ioengine.traits().cannot_extend;
    let missing = matches!(facts.kind, TargetKind::Absent | TargetKind::File)
        && facts.size.0 < size
        && job.ioengine.traits().needs_files
        && !job.files.read_only
        && !job.files.create_on_open;
    let lay_out = match (missing, job.files.fill_device, reads) {
        (true, true, _) if !job.access.does(Op::Write) => LayOut::Fill,
        (false, ..) | (_, true, _) => LayOut::Ready,
        (true, _, true) => LayOut::Write(job.files.fallocate),
        (true, _, false) => LayOut::Reserve(job.files.fallocate),
    };
    // An appending job extends its file instead.
    let empties = job.files.empties_reserved && !job.files.append;
    let empties = empties && matches!(lay_out, LayOut::Reserve(_));
    let file = FilePlan {
        path: facts.path.clone(),
        kind: facts.kind,
        size: Bytes(size),
        lay_out,
        zeros: job.buffers.fill == BufferContent::Zero,
        flush_reserved: !job.files.reserve_unflushed,
        empty_first: job.files.empty_first || empties,
        unlink: job.files.unlink,
        job: job.name.clone(),
    };
    if let Some(index) = files.index_of(&file.path) {
        let known = &mut files.list[index as usize];
        known.size = known.size.max(file.size);
        known.unlink |= file.unlink;
        known.empty_first |= file.empty_first;
        if matches!(
            (known.lay_out, file.lay_out),
            (LayOut::Ready, _) | (_, LayOut::Write(_))
        ) {
            known.lay_out = file.lay_out;
        }
        return index;
    }
    files.push(file)
}

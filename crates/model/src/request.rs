//! One request, as a stream or a trace has it.

use crate::job::Op;

/// One I/O to issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IoRequest {
    /// What to do.
    pub op: Op,
    /// Index into the worker's regions.
    pub region: u32,
    /// Byte offset within the file.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
}

//! I/O requests of streams and traces.

use crate::job::Op;

/// One I/O to issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IoRequest {
    /// Operation.
    pub op: Op,
    /// Index into the worker's regions.
    pub region: u32,
    /// Byte offset within the file.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
}

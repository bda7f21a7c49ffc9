//! The `ftruncate` engine: each write sets the size of the file to its offset. It knows no reads and no trims.

use super::falloc::Space;
use hakaru_model::job::Op;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use rustix::fd::BorrowedFd;

/// `ftruncate`.
#[derive(Debug)]
pub(crate) struct Truncate;

impl Space for Truncate {
    fn change(&self, file: BorrowedFd<'_>, request: &IoRequest) -> Result<(), Errno> {
        match request.op {
            Op::Write => rustix::fs::ftruncate(file, request.offset),
            Op::Read | Op::Trim => Err(Errno::INVAL),
        }
    }
}

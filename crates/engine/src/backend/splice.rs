//! The `splice` engine: `splice` between the file and a pipe, and from the pipe to memory or back.

use super::files::Call;
use hakaru_sys::Errno;
use hakaru_sys::pipe::SplicePipe;
use rustix::fd::BorrowedFd;

/// Runs both `splice` calls through one pipe.
impl Call for SplicePipe {
    fn read(&mut self, fd: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
        SplicePipe::read(self, fd, offset, buffer)
    }

    fn write(&mut self, fd: BorrowedFd<'_>, buffer: &[u8], offset: u64) -> Result<usize, Errno> {
        SplicePipe::write(self, fd, offset, buffer)
    }
}

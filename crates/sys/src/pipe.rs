//! Splices data through a pipe: between file and pipe without a copy, between pipe and memory by
//! reference.

use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::pipe::{IoSliceRaw, PipeFlags, SpliceFlags, pipe_with, splice, vmsplice};

/// A pipe that is empty between calls.
#[derive(Debug)]
pub struct SplicePipe(Option<PipeEnds>);

#[derive(Debug)]
struct PipeEnds {
    read: OwnedFd,
    write: OwnedFd,
}

impl PipeEnds {
    fn new() -> Result<PipeEnds, Errno> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(PipeEnds { read, write })
    }
}

impl SplicePipe {
    /// Creates an empty pipe.
    ///
    /// # Errors
    /// EMFILE and ENFILE when too many files are open.
    pub fn new() -> Result<SplicePipe, Errno> {
        PipeEnds::new().map(|ends| SplicePipe(Some(ends)))
    }

    /// Splices from a file into the pipe and copies to memory. Returns the bytes transferred: fewer
    /// at the end of the file or before a failed piece.
    ///
    /// # Errors
    /// The error of the first piece; EINVAL if the file system does not support splice.
    pub fn read(
        &mut self,
        file: impl AsFd,
        offset: u64,
        buffer: &mut [u8],
    ) -> Result<usize, Errno> {
        self.emptied_after_errors(|ends| {
            let mut done = 0;
            while done < buffer.len() {
                let (mut at, wanted) = (offset + done as u64, buffer.len() - done);
                let moved = match splice(
                    &file,
                    Some(&mut at),
                    &ends.write,
                    None,
                    wanted,
                    SpliceFlags::empty(),
                ) {
                    Ok(moved) if moved > 0 => moved,
                    Ok(_) => break,
                    Err(errno) => return Err((done, errno)),
                };
                let end = done + moved;
                while done < end {
                    match rustix::io::read(&ends.read, &mut buffer[done..end]) {
                        Ok(taken) if taken > 0 => done += taken,
                        Ok(_) => return Err((done, Errno::PIPE)),
                        Err(errno) => return Err((done, errno)),
                    }
                }
            }
            Ok(done)
        })
    }

    /// Maps memory into the pipe and splices it into a file. Returns the bytes transferred: fewer
    /// before a failed piece.
    ///
    /// # Errors
    /// The error of the first piece; EINVAL if the file system does not support splice.
    pub fn write(&mut self, file: impl AsFd, offset: u64, buffer: &[u8]) -> Result<usize, Errno> {
        self.emptied_after_errors(|ends| {
            let mut done = 0;
            while done < buffer.len() {
                let piece = [IoSliceRaw::from_slice(&buffer[done..])];
                // SAFETY: the pipe refers to these pages only until this function returns: either all of them have
                // been moved on into the file, or the pipe is closed. The pages are not gifted to the kernel (no
                // SPLICE_F_GIFT).
                let lent = unsafe { vmsplice(&ends.write, &piece, SpliceFlags::empty()) };
                let end = done + lent.map_err(|errno| (done, errno))?;
                while done < end {
                    let mut at = offset + done as u64;
                    match splice(
                        &ends.read,
                        None,
                        &file,
                        Some(&mut at),
                        end - done,
                        SpliceFlags::empty(),
                    ) {
                        Ok(moved) if moved > 0 => done += moved,
                        Ok(_) => return Err((done, Errno::NOSPC)),
                        Err(errno) => return Err((done, errno)),
                    }
                }
            }
            Ok(done)
        })
    }

    /// Recreates the pipe after an error: it must be empty, or stale data would come out next.
    /// Bytes transferred before the error count; the error recurs with the rest.
    fn emptied_after_errors(
        &mut self,
        transfer: impl FnOnce(&PipeEnds) -> Result<usize, (usize, Errno)>,
    ) -> Result<usize, Errno> {
        let ends = match self.0.take() {
            Some(ends) => ends,
            None => PipeEnds::new()?,
        };
        match transfer(&ends) {
            Ok(moved) => {
                self.0 = Some(ends);
                Ok(moved)
            }
            Err((0, errno)) => Err(errno),
            Err((moved, _)) => Ok(moved),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_a_pipe_holds_goes_through_it() {
        let file = tempfile::tempfile().unwrap();
        let mut pipe = SplicePipe::new().unwrap();
        let content: Vec<u8> = (0..300_000u32).map(|i| (i / 7) as u8).collect();
        assert_eq!(pipe.write(&file, 1000, &content), Ok(content.len()));
        let mut found = vec![0; content.len()];
        assert_eq!(pipe.read(&file, 1000, &mut found), Ok(content.len()));
        assert!(found == content);
        assert_eq!(
            pipe.read(&file, 300_000, &mut found),
            Ok(1000),
            "the end of the file ends the read"
        );
        assert_eq!(pipe.read(&file, 301_000, &mut found), Ok(0));
    }

    #[test]
    fn after_an_error_the_pipe_is_empty() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let reader = std::fs::File::open(file.path()).unwrap();
        let mut pipe = SplicePipe::new().unwrap();
        assert_eq!(pipe.write(&reader, 0, &[1; 5000]), Err(Errno::BADF));
        assert_eq!(pipe.write(file.as_file(), 0, &[2; 5000]), Ok(5000));
        let mut found = [0; 5000];
        assert_eq!(pipe.read(file.as_file(), 0, &mut found), Ok(5000));
        assert!(found.iter().all(|&b| b == 2));
    }
}

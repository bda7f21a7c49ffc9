//! Writes the requests of a worker to a log as they are issued, in text format version 3, which fio can replay.
//!
//! Source of the format: fio's manual, "Trace file format v3". Times are microseconds since the start.

use crate::error::RunError;
use hakaru_model::job::Op;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Bytes buffered before a write to the log.
const GATHERED: usize = 256 << 10;

/// A log that is being written.
#[derive(Debug)]
pub(crate) struct Recorder {
    path: PathBuf,
    out: BufWriter<File>,
    names: Vec<String>,
    /// First write error; nothing is written after it.
    failed: Option<Errno>,
}

impl Recorder {
    /// Creates a log. Clones write separate logs with their number appended to the name.
    ///
    /// # Errors
    /// [`RunError::Open`] with the error of the file system.
    pub(crate) fn new(path: &Path, clone: u32, names: &[String]) -> Result<Recorder, RunError> {
        let path = match clone {
            0 => path.to_owned(),
            clone => PathBuf::from(format!("{}.{clone}", path.display())),
        };
        // Existing content is kept, as in fio: each log starts with its own header.
        let file = File::options()
            .append(true)
            .create(true)
            .open(&path)
            .map_err(|e| RunError::Open {
                path: path.clone(),
                purpose: "writing the log of requests",
                errno: Errno::from_io_error(&e).unwrap_or(Errno::IO),
            })?;
        let out = BufWriter::with_capacity(GATHERED, file);
        let mut recorder = Recorder {
            path,
            out,
            names: names.to_vec(),
            failed: None,
        };
        recorder.line(format_args!("fio version 3 iolog"));
        for action in ["add", "open"] {
            recorder.each_file(0, action);
        }
        Ok(recorder)
    }

    fn each_file(&mut self, at_us: u64, action: &str) {
        for index in 0..self.names.len() {
            let name = std::mem::take(&mut self.names[index]);
            self.line(format_args!("{at_us} {name} {action}"));
            self.names[index] = name;
        }
    }

    fn line(&mut self, words: std::fmt::Arguments<'_>) {
        if self.failed.is_none()
            && let Err(error) = writeln!(self.out, "{words}")
        {
            self.failed = Some(Errno::from_io_error(&error).unwrap_or(Errno::IO));
        }
    }

    /// Adds an issued I/O.
    pub(crate) fn io(&mut self, at_us: u64, request: &IoRequest) {
        let IoRequest {
            op,
            region,
            offset,
            len,
        } = *request;
        let action = match op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
        };
        self.file_line(at_us, region, action, offset, len);
    }

    /// Adds a flush.
    pub(crate) fn sync(&mut self, at_us: u64, region: u32, data_only: bool) {
        self.file_line(
            at_us,
            region,
            if data_only { "datasync" } else { "sync" },
            0,
            0,
        );
    }

    fn file_line(&mut self, at_us: u64, region: u32, action: &str, offset: u64, len: u32) {
        let name = self
            .names
            .get_mut(region as usize)
            .map(std::mem::take)
            .unwrap_or_default();
        self.line(format_args!("{at_us} {name} {action} {offset} {len}"));
        if let Some(place) = self.names.get_mut(region as usize) {
            *place = name;
        }
    }

    /// Ends the log.
    ///
    /// # Errors
    /// The path of an incomplete log, and the error that made it incomplete.
    pub(crate) fn end(mut self, at_us: u64) -> Result<(), (PathBuf, Errno)> {
        self.each_file(at_us, "close");
        if let (None, Err(error)) = (self.failed, self.out.flush()) {
            self.failed = Some(Errno::from_io_error(&error).unwrap_or(Errno::IO));
        }
        match self.failed {
            None => Ok(()),
            Some(errno) => Err((self.path.clone(), errno)),
        }
    }
}

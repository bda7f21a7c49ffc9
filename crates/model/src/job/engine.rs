//! The engines: by which system calls I/O is done, and what each of them can.

use serde::{Deserialize, Serialize};

/// How I/O is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IoEngine {
    /// `lseek` and `read`/`write`.
    Sync,
    /// `pread`/`pwrite`.
    Psync,
    /// `preadv`/`pwritev`.
    Pvsync,
    /// `preadv2`/`pwritev2`.
    Pvsync2,
    /// `readv`/`writev` at the file's own offset, neighbours in one call.
    Vsync,
    /// Kernel asynchronous I/O, `io_submit`.
    Libaio,
    /// `io_uring`.
    IoUring,
    /// Threads that call `pread`/`pwrite`, one at a time for each file, as the C library's `aio_read` does.
    Posixaio,
    /// `fread`/`fwrite`: small neighbours are gathered in a buffer of the process.
    Stdio,
    /// Loads and stores in a mapping of the file.
    Mmap,
    /// `splice` between the file and a pipe.
    Splice,
    /// `fallocate`: reads reserve without growing the file, writes with, trims punch holes.
    Falloc,
    /// `ftruncate` to the offset of each write.
    Ftruncate,
    /// Makes one file an I/O.
    Filecreate,
    /// Asks for the attributes of one file an I/O.
    Filestat,
    /// Removes one file an I/O.
    Filedelete,
    /// Makes one folder an I/O.
    Dircreate,
    /// Asks for the attributes of one folder an I/O.
    Dirstat,
    /// Removes one folder an I/O.
    Dirdelete,
    /// Does nothing, for measuring ourselves.
    Null,
    /// A simulated card on a virtual clock.
    Sim,
}

impl IoEngine {
    /// Every one of them.
    pub const ALL: [IoEngine; 21] = [
        IoEngine::Sync,
        IoEngine::Psync,
        IoEngine::Pvsync,
        IoEngine::Pvsync2,
        IoEngine::Vsync,
        IoEngine::Libaio,
        IoEngine::IoUring,
        IoEngine::Posixaio,
        IoEngine::Stdio,
        IoEngine::Mmap,
        IoEngine::Splice,
        IoEngine::Falloc,
        IoEngine::Ftruncate,
        IoEngine::Filecreate,
        IoEngine::Filestat,
        IoEngine::Filedelete,
        IoEngine::Dircreate,
        IoEngine::Dirstat,
        IoEngine::Dirdelete,
        IoEngine::Null,
        IoEngine::Sim,
    ];

    /// The name in the field, as the `ioengine` option has it.
    pub fn name(self) -> &'static str {
        match self {
            IoEngine::Sync => "sync",
            IoEngine::Psync => "psync",
            IoEngine::Pvsync => "pvsync",
            IoEngine::Pvsync2 => "pvsync2",
            IoEngine::Vsync => "vsync",
            IoEngine::Libaio => "libaio",
            IoEngine::IoUring => "io_uring",
            IoEngine::Posixaio => "posixaio",
            IoEngine::Stdio => "stdio",
            IoEngine::Mmap => "mmap",
            IoEngine::Splice => "splice",
            IoEngine::Falloc => "falloc",
            IoEngine::Ftruncate => "ftruncate",
            IoEngine::Filecreate => "filecreate",
            IoEngine::Filestat => "filestat",
            IoEngine::Filedelete => "filedelete",
            IoEngine::Dircreate => "dircreate",
            IoEngine::Dirstat => "dirstat",
            IoEngine::Dirdelete => "dirdelete",
            IoEngine::Null => "null",
            IoEngine::Sim => "sim",
        }
    }

    /// Whether each I/O has completed when its call returns, so that the queue depth is 1 whatever is asked.
    pub fn is_synchronous(self) -> bool {
        use IoEngine::{IoUring, Libaio, Null, Posixaio, Sim, Vsync};
        !matches!(self, Libaio | IoUring | Posixaio | Vsync | Null | Sim)
    }

    /// Whether threads beside the worker can submit for it. The others gather I/Os themselves, have threads of their own,
    /// or work on names.
    pub fn can_offload(self) -> bool {
        use IoEngine::{Falloc, Ftruncate, IoUring, Libaio, Mmap, Null, Psync, Pvsync, Pvsync2, Splice, Sync};
        matches!(self, Null | Sync | Psync | Pvsync | Pvsync2 | Libaio | IoUring | Mmap | Splice | Falloc | Ftruncate)
    }

    /// Whether the file behind its I/Os can be replaced while it works.
    pub fn can_renew_files(self) -> bool {
        use IoEngine::{IoUring, Libaio, Null, Psync, Pvsync, Pvsync2, Splice, Sync};
        matches!(self, Null | Sync | Psync | Pvsync | Pvsync2 | Libaio | IoUring | Splice)
    }

    /// Whether an I/O is one operation on a whole file or folder by its name, and moves no data.
    pub fn works_on_names(self) -> bool {
        use IoEngine::{Filecreate, Filedelete, Filestat};
        matches!(self, Filecreate | Filestat | Filedelete) || self.works_on_folders()
    }

    /// Whether its paths are those of folders.
    pub fn works_on_folders(self) -> bool {
        matches!(self, IoEngine::Dircreate | IoEngine::Dirstat | IoEngine::Dirdelete)
    }

    /// Whether its files have to be there, in their size, before it begins. What it makes itself need not, and folders
    /// are not laid out as files are.
    pub fn needs_files(self) -> bool {
        self != IoEngine::Filecreate && !self.works_on_folders()
    }

    /// Whether its writes need the file in its full size: they cannot make it longer.
    pub fn cannot_extend(self) -> bool {
        self == IoEngine::Mmap
    }

    /// Whether it changes what lies on the target even when it only reads: names, or the space that is reserved.
    pub fn always_changes(self) -> bool {
        use IoEngine::{Dircreate, Dirdelete, Falloc, Filecreate, Filedelete};
        matches!(self, Falloc | Filecreate | Filedelete | Dircreate | Dirdelete)
    }

    /// Whether what it worked on is gone afterwards.
    pub fn removes(self) -> bool {
        matches!(self, IoEngine::Filedelete | IoEngine::Dirdelete)
    }
}

/// Switches of single engines; what does not concern the engine in use has no effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineOptions {
    /// Registers buffers with the ring.
    pub fixedbufs: bool,
    /// Registers files with the ring.
    pub registerfiles: bool,
    /// Lets a kernel thread submit.
    pub sqthread_poll: bool,
    /// Polls for completions rather than waiting for interrupts.
    pub hipri: bool,
    /// RWF_NOWAIT.
    pub nowait: bool,
    /// Hands over vectors rather than plain buffers, to a ring that takes both.
    #[serde(default)]
    pub vectored: bool,
    /// The call by which attributes of files are asked for.
    #[serde(default)]
    pub stat: StatCall,
    /// The processor that kernel thread runs on (`sqthread_poll_cpu`).
    #[serde(default)]
    pub sqthread_poll_cpu: Option<u32>,
    /// Has each so many-th I/O done by a thread of the kernel (`force_async`); 0 for none.
    #[serde(default)]
    pub force_async: u32,
    /// Hundredths of the I/Os that are polled for (`hipri_percentage`); `None` for all.
    #[serde(default)]
    pub hipri_percentage: Option<u32>,
}

/// How the attributes of a file are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatCall {
    /// `stat`, which follows symbolic links.
    #[default]
    Stat,
    /// `lstat`, which does not.
    Lstat,
    /// `statx` with everything it can tell.
    Statx,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_engine_has_a_name_that_is_stored_as_it_is_typed() {
        let names: std::collections::BTreeSet<&str> = IoEngine::ALL.into_iter().map(IoEngine::name).collect();
        assert_eq!(names.len(), IoEngine::ALL.len());
        for engine in IoEngine::ALL {
            assert_eq!(serde_json::to_value(engine).unwrap(), engine.name());
        }
    }

    #[test]
    fn records_from_before_an_option_was_known_are_read() {
        let old = r#"{"fixedbufs":true,"registerfiles":false,"sqthread_poll":false,"hipri":false,"nowait":false}"#;
        let options: EngineOptions = serde_json::from_str(old).unwrap();
        assert_eq!(options, EngineOptions { fixedbufs: true, ..EngineOptions::default() });
    }
}

//! I/O engines: their system calls and traits, in one table.

use serde::{Deserialize, Serialize};

/// Traits of an engine that other parts of the program depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineTraits {
    /// Each I/O is complete when its call returns, so the queue depth is always 1.
    pub synchronous: bool,
    /// Type of the paths of a job.
    pub paths: EnginePaths,
    /// Separate threads can submit for it. Other engines cannot be offloaded, because they collect I/Os, have their own
    /// threads, or use file names.
    pub can_offload: bool,
    /// Its files can be replaced while it runs.
    pub can_renew_files: bool,
    /// Its files must exist in full size before the start, unless it creates them. Directories are not laid out.
    pub needs_files: bool,
    /// Its writes cannot extend a file, so files need their full size.
    pub cannot_extend: bool,
    /// It modifies the target even when it only reads: names, or reserved space.
    pub always_changes: bool,
    /// It deletes its files.
    pub removes: bool,
}

/// Type of the paths of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnginePaths {
    /// Files or devices to read and write.
    Files,
    /// Names of files: each I/O is one operation on a whole file and transfers no data.
    FileNames,
    /// Names of directories.
    DirectoryNames,
}

/// Traits of engines with blocking calls.
const SYNC: EngineTraits = EngineTraits {
    synchronous: true,
    paths: EnginePaths::Files,
    can_offload: true,
    can_renew_files: true,
    needs_files: true,
    cannot_extend: false,
    always_changes: false,
    removes: false,
};
/// Traits of engines that keep several I/Os in flight.
const QUEUED: EngineTraits = EngineTraits {
    synchronous: false,
    ..SYNC
};
/// Traits of queued engines that collect I/Os or run their own threads.
const OWN_QUEUE: EngineTraits = EngineTraits {
    can_offload: false,
    ..QUEUED
};
/// Traits of engines that operate on file names.
const FILE_NAMES: EngineTraits = EngineTraits {
    paths: EnginePaths::FileNames,
    can_offload: false,
    can_renew_files: false,
    ..SYNC
};
/// Traits of engines that operate on directory names.
const DIRECTORY_NAMES: EngineTraits = EngineTraits {
    paths: EnginePaths::DirectoryNames,
    needs_files: false,
    ..FILE_NAMES
};

/// Generates the engines, their names and traits from one table, so that they cannot disagree.
macro_rules! engines {
    ($($(#[$doc:meta])* $engine:ident $name:literal => $traits:expr,)*) => {
        /// I/O engine: the system calls that issue I/O.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum IoEngine {
            $($(#[$doc])* $engine,)*
        }

        impl IoEngine {
            /// All engines.
            pub const ALL: &'static [IoEngine] = &[$(IoEngine::$engine),*];

            /// Returns the name as in the `ioengine` option.
            pub fn name(self) -> &'static str {
                match self {
                    $(IoEngine::$engine => $name,)*
                }
            }

            /// Returns the traits of the engine.
            pub const fn traits(self) -> EngineTraits {
                match self {
                    $(IoEngine::$engine => $traits,)*
                }
            }
        }
    };
}

engines! {
    #[doc = "`lseek` and `read`/`write`."]
    Sync "sync" => SYNC,
    #[doc = "`pread`/`pwrite`."]
    Psync "psync" => SYNC,
    #[doc = "`preadv`/`pwritev`."]
    Pvsync "pvsync" => SYNC,
    #[doc = "`preadv2`/`pwritev2`."]
    Pvsync2 "pvsync2" => SYNC,
    #[doc = "`readv`/`writev` at the file's own offset, neighbours in one call."]
    Vsync "vsync" => OWN_QUEUE,
    #[doc = "Kernel asynchronous I/O, `io_submit`."]
    Libaio "libaio" => QUEUED,
    #[doc = "`io_uring`."]
    IoUring "io_uring" => QUEUED,
    #[doc = "Threads that call `pread`/`pwrite`, one at a time for each file, as the C library's `aio_read` does."]
    Posixaio "posixaio" => OWN_QUEUE,
    #[doc = "`fread`/`fwrite`: small neighbours are gathered in a buffer of the process."]
    Stdio "stdio" => EngineTraits { can_offload: false, can_renew_files: false, ..SYNC },
    #[doc = "Loads and stores in a mapping of the file."]
    Mmap "mmap" => EngineTraits { can_renew_files: false, cannot_extend: true, ..SYNC },
    #[doc = "`splice` between the file and a pipe."]
    Splice "splice" => SYNC,
    #[doc = "`fallocate`: reads reserve without growing the file, writes with, trims punch holes."]
    Falloc "falloc" => EngineTraits { can_renew_files: false, always_changes: true, ..SYNC },
    #[doc = "`ftruncate` to the offset of each write."]
    Ftruncate "ftruncate" => EngineTraits { can_renew_files: false, ..SYNC },
    #[doc = "Creates one file per I/O."]
    Filecreate "filecreate" => EngineTraits { needs_files: false, always_changes: true, ..FILE_NAMES },
    #[doc = "Queries the attributes of one file per I/O."]
    Filestat "filestat" => FILE_NAMES,
    #[doc = "Removes one file per I/O."]
    Filedelete "filedelete" => EngineTraits { always_changes: true, removes: true, ..FILE_NAMES },
    #[doc = "Creates one directory per I/O."]
    Dircreate "dircreate" => EngineTraits { always_changes: true, ..DIRECTORY_NAMES },
    #[doc = "Queries the attributes of one directory per I/O."]
    Dirstat "dirstat" => DIRECTORY_NAMES,
    #[doc = "Removes one directory per I/O."]
    Dirdelete "dirdelete" => EngineTraits { always_changes: true, removes: true, ..DIRECTORY_NAMES },
    #[doc = "Does nothing, for measuring the tool's own overhead."]
    Null "null" => QUEUED,
    #[doc = "A simulated card on a virtual clock."]
    Sim "sim" => EngineTraits { can_renew_files: false, ..OWN_QUEUE },
}

impl IoEngine {
    /// Parses a name as in the `ioengine` option.
    pub fn from_name(name: &str) -> Option<IoEngine> {
        IoEngine::ALL
            .iter()
            .copied()
            .find(|engine| engine.name() == name)
    }

    /// Whether each I/O is complete when its call returns.
    pub fn is_synchronous(self) -> bool {
        self.traits().synchronous
    }

    /// Whether an I/O is one operation on a whole file or directory by its name and transfers no data.
    pub fn works_on_names(self) -> bool {
        self.traits().paths != EnginePaths::Files
    }

    /// Whether its paths are directories.
    pub(crate) fn works_on_directories(self) -> bool {
        self.traits().paths == EnginePaths::DirectoryNames
    }
}

/// Options of single engines; options of other engines have no effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineOptions {
    /// Registers buffers with the ring.
    pub fixedbufs: bool,
    /// Registers files with the ring.
    pub registerfiles: bool,
    /// Submits through a kernel thread (SQPOLL).
    pub sqthread_poll: bool,
    /// Polls for completions rather than waiting for interrupts.
    pub hipri: bool,
    /// Issues I/O with RWF_NOWAIT.
    pub nowait: bool,
    /// Uses vectored operations instead of plain buffers on a ring.
    #[serde(default)]
    pub vectored: bool,
    /// System call to query file attributes.
    #[serde(default)]
    pub stat: StatCall,
    /// CPU of the kernel thread (`sqthread_poll_cpu`).
    #[serde(default)]
    pub sqthread_poll_cpu: Option<u32>,
    /// Issues every Nth I/O asynchronously in a kernel thread (`force_async`); 0: none.
    #[serde(default)]
    pub force_async: u32,
    /// Percentage of polled I/Os (`hipri_percentage`); `None`: all.
    #[serde(default)]
    pub hipri_percentage: Option<u32>,
    /// Required divisor of block sizes in bytes: the page size for fio's mapped files that are flushed or opened with
    /// O_DIRECT; 0 for any.
    #[serde(default)]
    pub block_unit: u64,
}

/// System call to query file attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatCall {
    /// `stat`, which follows symbolic links.
    #[default]
    Stat,
    /// `lstat`, which does not follow symbolic links.
    Lstat,
    /// `statx` with all attributes.
    Statx,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_engine_has_a_name_that_is_stored_as_it_is_typed() {
        let names: std::collections::BTreeSet<&str> =
            IoEngine::ALL.iter().copied().map(IoEngine::name).collect();
        assert_eq!(names.len(), IoEngine::ALL.len());
        for &engine in IoEngine::ALL {
            assert_eq!(IoEngine::from_name(engine.name()), Some(engine));
            assert_eq!(serde_json::to_value(engine).unwrap(), engine.name());
        }
    }

    /// Returns the engines for which a property holds.
    fn engines(holds: impl Fn(IoEngine) -> bool) -> Vec<IoEngine> {
        let all = IoEngine::ALL.iter().copied();
        all.filter(|&engine| holds(engine)).collect()
    }

    #[test]
    fn engines_with_a_queue_and_those_on_names_are_known() {
        use IoEngine::*;
        assert_eq!(
            engines(|engine| !engine.is_synchronous()),
            [Vsync, Libaio, IoUring, Posixaio, Null, Sim]
        );
        let (files, directories) = (
            [Filecreate, Filestat, Filedelete],
            [Dircreate, Dirstat, Dirdelete],
        );
        let paths = |paths| engines(|engine| engine.traits().paths == paths);
        assert_eq!(paths(EnginePaths::FileNames), files);
        assert_eq!(paths(EnginePaths::DirectoryNames), directories);
        let names = [files, directories].concat();
        assert_eq!(engines(IoEngine::works_on_names), names);
        assert_eq!(engines(IoEngine::works_on_directories), directories);
    }

    #[test]
    fn engines_on_names_cannot_be_offloaded_or_renew_files() {
        use IoEngine::*;
        let names = [
            Filecreate, Filestat, Filedelete, Dircreate, Dirstat, Dirdelete,
        ];
        for engine in names {
            let traits = engine.traits();
            assert!(!traits.can_offload && !traits.can_renew_files, "{engine:?}");
        }
        // They collect I/Os, or have their own threads.
        for engine in [Vsync, Posixaio, Stdio, Sim] {
            assert!(!engine.traits().can_offload, "{engine:?}");
        }
        for engine in [Sync, Psync, Pvsync, Pvsync2, Mmap, Libaio, IoUring] {
            assert!(engine.traits().can_offload, "{engine:?}");
        }
        for engine in [Sync, Psync, Pvsync, Pvsync2, Libaio, IoUring, Posixaio] {
            assert!(engine.traits().can_renew_files, "{engine:?}");
        }
    }

    #[test]
    fn directories_and_new_files_are_not_laid_out() {
        use IoEngine::*;
        assert_eq!(
            engines(|engine| !engine.traits().needs_files),
            [Filecreate, Dircreate, Dirstat, Dirdelete]
        );
        assert_eq!(
            engines(|engine| engine.traits().removes),
            [Filedelete, Dirdelete]
        );
        assert_eq!(
            engines(|engine| engine.traits().always_changes),
            [Falloc, Filecreate, Filedelete, Dircreate, Dirdelete]
        );
        assert_eq!(engines(|engine| engine.traits().cannot_extend), [Mmap]);
    }

    #[test]
    fn names_that_no_engine_has_are_unknown() {
        for name in ["", "Psync", "psyn", "io-uring", "rados"] {
            assert_eq!(IoEngine::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn records_from_before_an_option_was_known_are_read() {
        let old = r#"{"fixedbufs":true,"registerfiles":false,"sqthread_poll":false,"hipri":false,"nowait":false}"#;
        let options: EngineOptions = serde_json::from_str(old).unwrap();
        assert_eq!(
            options,
            EngineOptions {
                fixedbufs: true,
                ..EngineOptions::default()
            }
        );
    }
}

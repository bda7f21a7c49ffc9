//! The engines, and the options of single engines that are built in.

use super::kind::{OptionKind, int};
use super::workload::PERCENT;
use super::{FioOption, opt, put};
use hakaru_model::job::{IoEngine, StatCall};

/// One engine of fio, and which of ours does the same.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// Its names.
    pub names: &'static [&'static str],
    /// What it does, in one line.
    pub help: &'static str,
    /// Ours; otherwise why there is none, and what to use instead.
    pub ours: Result<IoEngine, &'static str>,
}

const fn built_in(names: &'static [&'static str], ours: IoEngine, help: &'static str) -> Engine {
    Engine {
        names,
        help,
        ours: Ok(ours),
    }
}

const fn absent(
    names: &'static [&'static str],
    help: &'static str,
    instead: &'static str,
) -> Engine {
    Engine {
        names,
        help,
        ours: Err(instead),
    }
}

const NOT_STORAGE: &str = "it does not measure storage; use the tool made for it";
const NO_LIBRARY: &str =
    "it needs a library that is not linked; mount the storage and use psync, libaio or io_uring";

/// All engines of fio.
pub const ENGINES: &[Engine] = &[
    built_in(&["psync"], IoEngine::Psync, "pread and pwrite; the default"),
    built_in(&["sync"], IoEngine::Sync, "lseek, then read or write"),
    built_in(&["pvsync"], IoEngine::Pvsync, "preadv and pwritev"),
    built_in(
        &["pvsync2"],
        IoEngine::Pvsync2,
        "preadv2 and pwritev2, with flags",
    ),
    built_in(
        &["libaio", "aio", "linuxaio"],
        IoEngine::Libaio,
        "asynchronous I/O of the kernel (io_submit)",
    ),
    built_in(
        &["io_uring"],
        IoEngine::IoUring,
        "asynchronous I/O by rings shared with the kernel",
    ),
    built_in(
        &["mmap"],
        IoEngine::Mmap,
        "loads and stores in a mapping of the file",
    ),
    built_in(
        &["null"],
        IoEngine::Null,
        "does nothing, for measuring ourselves",
    ),
    built_in(
        &["vsync"],
        IoEngine::Vsync,
        "readv and writev, joining neighbours",
    ),
    built_in(
        &["posixaio"],
        IoEngine::Posixaio,
        "threads that call pread and pwrite, as the C library's aio_read does",
    ),
    built_in(
        &["splice"],
        IoEngine::Splice,
        "splice between the file and a pipe",
    ),
    built_in(
        &["falloc"],
        IoEngine::Falloc,
        "fallocate: reads keep the size, writes grow the file, trims punch holes",
    ),
    built_in(
        &["ftruncate"],
        IoEngine::Ftruncate,
        "ftruncate to the offset of each write",
    ),
    built_in(
        &["filecreate"],
        IoEngine::Filecreate,
        "makes one file an I/O",
    ),
    built_in(
        &["filestat"],
        IoEngine::Filestat,
        "asks for the attributes of one file an I/O",
    ),
    built_in(
        &["filedelete"],
        IoEngine::Filedelete,
        "removes one file an I/O",
    ),
    built_in(
        &["dircreate"],
        IoEngine::Dircreate,
        "makes one folder an I/O",
    ),
    built_in(
        &["dirstat"],
        IoEngine::Dirstat,
        "asks for the attributes of one folder an I/O",
    ),
    built_in(
        &["dirdelete"],
        IoEngine::Dirdelete,
        "removes one folder an I/O",
    ),
    absent(
        &["io_uring_cmd"],
        "NVMe commands through a character device",
        "use io_uring on the block device",
    ),
    absent(
        &["sg"],
        "SCSI commands through a character device",
        "use io_uring on the block device",
    ),
    absent(&["e4defrag"], "moves extents of ext4", NOT_STORAGE),
    absent(&["cpuio"], "keeps the processor busy", NOT_STORAGE),
    absent(&["exec"], "runs another program", NOT_STORAGE),
    absent(
        &["net", "netsplice"],
        "sends and receives over the network",
        NOT_STORAGE,
    ),
    absent(&["rdma"], "remote memory", NOT_STORAGE),
    absent(
        &[
            "librpma_apm_client",
            "librpma_apm_server",
            "librpma_gpspm_client",
            "librpma_gpspm_server",
        ],
        "remote persistent memory",
        NO_LIBRARY,
    ),
    absent(&["rados", "rbd"], "Ceph", NO_LIBRARY),
    absent(&["gfapi", "gfapi_async"], "GlusterFS", NO_LIBRARY),
    absent(&["libhdfs"], "HDFS", NO_LIBRARY),
    absent(&["http"], "WebDAV, S3 and Swift", NO_LIBRARY),
    absent(
        &["nbd"],
        "network block devices",
        "attach it with nbd-client and use io_uring",
    ),
    absent(&["nfs"], "NFS without a mount", NO_LIBRARY),
    absent(&["libiscsi"], "iSCSI without a device", NO_LIBRARY),
    absent(&["mtd"], "raw flash", "use the block device above it"),
    absent(
        &["dev-dax", "libpmem", "pmemblk"],
        "persistent memory",
        "use mmap on a file there",
    ),
    absent(&["libcufile"], "memory of graphics cards", NO_LIBRARY),
    absent(&["libblkio"], "drivers of libblkio", NO_LIBRARY),
    absent(&["libzbc"], "zoned disks", NO_LIBRARY),
    absent(&["xnvme"], "NVMe by xNVMe", NO_LIBRARY),
    absent(&["dfs"], "DAOS", NO_LIBRARY),
    absent(
        &["external"],
        "an engine loaded from a file",
        "use one that is built in",
    ),
    absent(
        &["guasi", "solarisaio", "windowsaio", "posixaio-solaris"],
        "other systems",
        "use libaio or io_uring",
    ),
];

/// Our engine for a name.
///
/// # Errors
/// Why there is none, with the cure.
pub(super) fn find(name: &str) -> Result<IoEngine, String> {
    let head = name.split(':').next().unwrap_or(name);
    match ENGINES.iter().find(|engine| engine.names.contains(&head)) {
        Some(Engine { ours: Ok(ours), .. }) => Ok(*ours),
        Some(Engine {
            ours: Err(instead), ..
        }) => Err(format!(
            "{head} is an engine of fio that hakaru does not have: {instead}"
        )),
        None => {
            let ours = || {
                ENGINES
                    .iter()
                    .filter(|engine| engine.ours.is_ok())
                    .flat_map(|engine| engine.names)
            };
            Err(match super::nearest(name, ours().copied()) {
                Some(near) => format!("no engine has this name: did you mean `{near}`?"),
                None => {
                    let names: Vec<&str> = ours().copied().collect();
                    format!("no engine has this name: use one of {}", names.join(", "))
                }
            })
        }
    }
}

const URING: &[&str] = &["io_uring"];

pub(super) const TABLE: &[FioOption] = &[
    opt(
        "hipri",
        OptionKind::Flag,
        "Polls for completions rather than waiting for interrupts",
    )
    .engines(&["io_uring", "pvsync2"])
    .works(put!(|job, value| job.job.engine.hipri = value.flag())),
    opt(
        "fixedbufs",
        OptionKind::Flag,
        "Registers buffers with the ring",
    )
    .engines(URING)
    .works(put!(|job, value| job.job.engine.fixedbufs = value.flag())),
    opt(
        "registerfiles",
        OptionKind::Flag,
        "Registers files with the ring",
    )
    .engines(URING)
    .works(put!(
        |job, value| job.job.engine.registerfiles = value.flag()
    )),
    opt(
        "sqthread_poll",
        OptionKind::Flag,
        "Lets a thread of the kernel submit",
    )
    .engines(URING)
    .works(put!(
        |job, value| job.job.engine.sqthread_poll = value.flag()
    )),
    opt(
        "nowait",
        OptionKind::Bool,
        "Lets I/Os fail that would wait (RWF_NOWAIT)",
    )
    .engines(&["io_uring", "libaio", "pvsync2"])
    .works(put!(|job, value| job.job.engine.nowait = value.flag())),
    opt("sqthread_poll_cpu", int(0), "Processor that thread runs on")
        .engines(URING)
        .works(put!(
            |job, value| job.job.engine.sqthread_poll_cpu = Some(value.u32())
        )),
    opt(
        "nonvectored",
        OptionKind::Int { min: -1, max: 1 },
        "Uses commands without vectors; -1 where the kernel has them",
    )
    .default("-1")
    .engines(URING)
    .works(put!(|job, value| job.job.engine.vectored = value.int() == 0)),
    opt("stat_type", STATS, "The call that asks for attributes")
        .default("stat")
        .engines(&["filestat", "dirstat"])
        .works(put!(|job, value| {
            job.job.engine.stat = match value.word() {
                "lstat" => StatCall::Lstat,
                "statx" => StatCall::Statx,
                _ => StatCall::Stat,
            }
        })),
    opt(
        "force_async",
        int(0),
        "Has each so many-th I/O done by a thread of the kernel",
    )
    .default("0")
    .engines(URING)
    .works(put!(|job, value| job.job.engine.force_async = value.u32())),
    opt(
        "uncached",
        OptionKind::Int { min: 0, max: 1 },
        "Leaves nothing in the page cache",
    )
    .alias(&["dontcache"])
    .engines(&["io_uring", "pvsync2"])
    .harmless(&["0"])
    .refused("RWF_DONTCACHE is not used", "use direct=1"),
    opt(
        "hipri_percentage",
        PERCENT,
        "Hundredths of the I/Os that are polled for",
    )
    .default("100")
    .engines(&["pvsync2"])
    .works(put!(|job, value| job.job.engine.hipri_percentage =
        Some(value.u32()).filter(|percent| *percent < 100))),
    opt(
        "userspace_reap",
        OptionKind::Flag,
        "Fetches completions without a system call",
    )
    .engines(&["libaio"])
    .harmless(&["0"])
    .refused("completions are fetched by io_getevents", "use io_uring"),
    opt(
        "thp",
        OptionKind::Int { min: 0, max: 1 },
        "Asks for huge pages",
    )
    .engines(&["mmap"])
    .harmless(&["0"])
    .refused("huge pages are not asked for", "leave it out"),
    opt(
        "cmdprio_percentage",
        OptionKind::PerOpInt { min: 0, max: 100 },
        "Hundredths of the I/Os with a priority",
    )
    .engines(&["io_uring", "libaio"])
    .harmless(&["0"])
    .refused(PRIORITIES, "start fio itself with ionice"),
    opt(
        "cmdprio_class",
        OptionKind::PerOpInt { min: 0, max: 3 },
        "Class of that priority",
    )
    .goes_with("cmdprio_percentage"),
    opt(
        "cmdprio",
        OptionKind::PerOpInt { min: 0, max: 7 },
        "Level of that priority",
    )
    .goes_with("cmdprio_percentage"),
    opt(
        "cmdprio_bssplit",
        OptionKind::Text("4k/50"),
        "Priorities by size of the I/O",
    )
    .engines(&["io_uring", "libaio"])
    .refused(PRIORITIES, "start fio itself with ionice"),
];

const STATS: OptionKind = OptionKind::Choice(&[
    ("stat", "stat, which follows symbolic links"),
    ("lstat", "lstat, which does not"),
    ("statx", "statx, with everything it can tell"),
]);
const PRIORITIES: &str = "single I/Os have no priorities";

#[cfg(test)]
mod tests {
    use super::*;

    /// An engine that is added to the model and forgotten here could not be asked for by name. fio has no engine for
    /// `fread`, which only iozone uses, and none for simulated cards.
    #[test]
    fn lists_every_engine_of_the_model_under_its_name() {
        for &engine in IoEngine::ALL
            .iter()
            .filter(|engine| !matches!(engine, IoEngine::Sim | IoEngine::Stdio))
        {
            let row = ENGINES.iter().find(|row| row.ours == Ok(engine));
            assert!(
                row.is_some_and(|row| row.names.contains(&engine.name())),
                "{} is missing",
                engine.name()
            );
        }
    }
}

//! The I/O engines, and the options of supported engines.

use super::kind::{OptionKind, int};
use super::row::{FioOption, opt, put};
use super::workload::PERCENT;
use crate::fio::spelling::nearest;
use hakaru_model::job::{IoEngine, StatCall};

/// A fio engine, and its equivalent in hakaru.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// Its name and aliases.
    pub names: &'static [&'static str],
    /// One-line description.
    pub help: &'static str,
    /// The equivalent engine of hakaru, or the reason for having none and an alternative.
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
        "Linux asynchronous I/O (io_submit)",
    ),
    built_in(
        &["io_uring"],
        IoEngine::IoUring,
        "io_uring: asynchronous I/O through shared rings",
    ),
    built_in(
        &["mmap"],
        IoEngine::Mmap,
        "loads and stores in a mapping of the file",
    ),
    built_in(
        &["null"],
        IoEngine::Null,
        "transfers no data, to measure the tool's overhead",
    ),
    built_in(
        &["vsync"],
        IoEngine::Vsync,
        "readv and writev, merging adjacent I/Os",
    ),
    built_in(
        &["posixaio"],
        IoEngine::Posixaio,
        "POSIX asynchronous I/O: threads that call pread and pwrite",
    ),
    built_in(
        &["splice"],
        IoEngine::Splice,
        "splice between a file and a pipe",
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
        "create one file per I/O",
    ),
    built_in(&["filestat"], IoEngine::Filestat, "stat one file per I/O"),
    built_in(
        &["filedelete"],
        IoEngine::Filedelete,
        "delete one file per I/O",
    ),
    built_in(
        &["dircreate"],
        IoEngine::Dircreate,
        "create one directory per I/O",
    ),
    built_in(
        &["dirstat"],
        IoEngine::Dirstat,
        "stat one directory per I/O",
    ),
    built_in(
        &["dirdelete"],
        IoEngine::Dirdelete,
        "delete one directory per I/O",
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
    absent(&["cpuio"], "uses CPU time without I/O", NOT_STORAGE),
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
        "use a built-in engine",
    ),
    absent(
        &["guasi", "solarisaio", "windowsaio", "posixaio-solaris"],
        "other systems",
        "use libaio or io_uring",
    ),
];

/// Returns hakaru's engine for a name.
///
/// # Errors
/// Why the engine is not supported, and what to use instead.
pub(super) fn find(name: &str) -> Result<IoEngine, String> {
    let head = name.split(':').next().unwrap_or(name);
    match ENGINES.iter().find(|engine| engine.names.contains(&head)) {
        Some(Engine { ours: Ok(ours), .. }) => Ok(*ours),
        Some(Engine {
            ours: Err(instead), ..
        }) => Err(format!("the fio engine {head} is not supported: {instead}")),
        None => {
            let ours = || {
                ENGINES
                    .iter()
                    .filter(|engine| engine.ours.is_ok())
                    .flat_map(|engine| engine.names)
            };
            Err(match nearest(name, ours().copied()) {
                Some(near) => format!("unknown ioengine: did you mean `{near}`?"),
                None => {
                    let names: Vec<&str> = ours().copied().collect();
                    format!("unknown ioengine: use one of {}", names.join(", "))
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
        "Poll for completions instead of waiting for interrupts",
    )
    .engines(&["io_uring", "pvsync2"])
    .works(put!(|job, value| job.job.engine.hipri = value.flag())),
    opt(
        "fixedbufs",
        OptionKind::Flag,
        "Register the I/O buffers with the ring",
    )
    .engines(URING)
    .works(put!(|job, value| job.job.engine.fixedbufs = value.flag())),
    opt(
        "registerfiles",
        OptionKind::Flag,
        "Register the files with the ring",
    )
    .engines(URING)
    .works(put!(
        |job, value| job.job.engine.registerfiles = value.flag()
    )),
    opt(
        "sqthread_poll",
        OptionKind::Flag,
        "Submit I/Os from a kernel thread",
    )
    .engines(URING)
    .works(put!(
        |job, value| job.job.engine.sqthread_poll = value.flag()
    )),
    opt(
        "nowait",
        OptionKind::Bool,
        "Fail I/Os that would block (RWF_NOWAIT)",
    )
    .engines(&["io_uring", "libaio", "pvsync2"])
    .works(put!(|job, value| job.job.engine.nowait = value.flag())),
    opt(
        "sqthread_poll_cpu",
        int(0),
        "CPU of the kernel submission thread",
    )
    .engines(URING)
    .works(put!(
        |job, value| job.job.engine.sqthread_poll_cpu = Some(value.u32())
    )),
    opt(
        "nonvectored",
        OptionKind::Int { min: -1, max: 1 },
        "Use non-vectored commands; -1: if the kernel supports them",
    )
    .default("-1")
    .engines(URING)
    .works(put!(|job, value| job.job.engine.vectored = value.int() == 0)),
    opt("stat_type", STATS, "System call that reads file attributes")
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
        "Issue every Nth I/O asynchronously by a kernel thread",
    )
    .default("0")
    .engines(URING)
    .works(put!(|job, value| job.job.engine.force_async = value.u32())),
    opt(
        "uncached",
        OptionKind::Int { min: 0, max: 1 },
        "Keep the data out of the page cache",
    )
    .alias(&["dontcache"])
    .engines(&["io_uring", "pvsync2"])
    .harmless(&["0"])
    .refused("RWF_DONTCACHE is not used", "use direct=1"),
    opt(
        "hipri_percentage",
        PERCENT,
        "Percentage of I/Os that are polled",
    )
    .default("100")
    .engines(&["pvsync2"])
    .works(put!(|job, value| job.job.engine.hipri_percentage =
        Some(value.u32()).filter(|percent| *percent < 100))),
    opt(
        "userspace_reap",
        OptionKind::Flag,
        "Read completions from user space without a system call",
    )
    .engines(&["libaio"])
    .harmless(&["0"])
    .refused("completions are fetched by io_getevents", "use io_uring"),
    opt("thp", OptionKind::Int { min: 0, max: 1 }, "Use huge pages")
        .engines(&["mmap"])
        .harmless(&["0"])
        .refused("huge pages are not used", "omit it"),
    opt(
        "cmdprio_percentage",
        OptionKind::PerOpInt { min: 0, max: 100 },
        "Percentage of I/Os with a high priority",
    )
    .engines(&["io_uring", "libaio"])
    .harmless(&["0"])
    .refused(PRIORITIES, "start fio itself with ionice"),
    opt(
        "cmdprio_class",
        OptionKind::PerOpInt { min: 0, max: 3 },
        "I/O priority class of these I/Os",
    )
    .goes_with("cmdprio_percentage"),
    opt(
        "cmdprio",
        OptionKind::PerOpInt { min: 0, max: 7 },
        "I/O priority level of these I/Os",
    )
    .goes_with("cmdprio_percentage"),
    opt(
        "cmdprio_bssplit",
        OptionKind::Text("4k/50"),
        "I/O priorities by block size",
    )
    .engines(&["io_uring", "libaio"])
    .refused(PRIORITIES, "start fio itself with ionice"),
];

const STATS: OptionKind = OptionKind::Choice(&[
    ("stat", "stat (follows symbolic links)"),
    ("lstat", "lstat (does not follow symbolic links)"),
    ("statx", "statx with all attributes"),
]);
const PRIORITIES: &str = "priorities of single I/Os are not supported";

#[cfg(test)]
mod tests {
    use super::*;

    /// A model engine missing from this list could not be selected. fio has no engine for `fread` (iozone only) or for
    /// simulated cards.
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

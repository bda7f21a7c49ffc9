//! Options of verification and of replaying a request log.

use super::kind::{OptionKind, OptionValue, int};
use super::row::{FioOption, opt, put};
use super::workload::PERCENT;
use crate::fio::spec::JobSpec;
use hakaru_model::job::Op;
use hakaru_model::job::rules::Skipped;
use hakaru_model::units::Bytes;
use std::path::PathBuf;

const NO_MERGE: &str = "merging blktrace files is not supported";

pub(super) const TABLE: &[FioOption] = &[
    opt("verify", METHODS, "Verify written data with this method")
        .default("0")
        .works(put!(|job, value| job.verify.method = Some(value.word()))),
    opt("verify_only", OptionKind::Flag, "Verify the data of an earlier run without writing")
        .works(put!(|job, value| job.verify.rules.only = value.flag())),
    opt("do_verify", OptionKind::Bool, "Run the verify phase after writing")
        .default("1")
        .with("verify", put!(|job, value| job.verify.rules.read_back = value.flag())),
    opt(
        "verify_pattern",
        OptionKind::Pattern,
        "Pattern to write and verify; %o is the block offset. Without verify, blocks also have a \
        header",
    )
    .works(put!(|job, value| job.verify.pattern = value.pattern())),
    opt("verify_pattern_interval", int(0), "Interval at which the pattern repeats")
        .harmless(&["0"])
        .refused("the pattern restarts in each block", "omit it"),
    opt("verify_interval", OptionKind::Size { min: 80 }, "Bytes per checksum, if different from \
        the block size")
        .with("verify", put!(|job, value| job.verify.rules.interval = Some(value.bytes()).filter(|b| *b > Bytes(0)))),
    opt("verify_offset", int(40), "Offset of the header in the block")
        .with("verify", put!(|job, value| job.verify.rules.offset = value.u32())),
    opt("verify_fatal", OptionKind::Bool, "End the job at the first mismatch")
        .default("0")
        .with("verify", put!(|job, value| job.verify.rules.fatal = value.flag())),
    opt("verify_dump", OptionKind::Bool, "Save mismatched blocks to files")
        .default("0")
        .with("verify", put!(|job, value| job.verify.rules.dump = value.flag())),
    opt("verify_async", int(0), "Number of asynchronous verify threads")
        .default("0")
        .with("verify", put!(|job, value| job.verify.rules.async_threads = value.u32())),
    opt("verify_async_cpus", OptionKind::Indices, "CPUs of the verify threads")
        .with("verify_async", put!(|job, value| job.verify.rules.async_cpus = value.indices())),
    opt(
        "verify_backlog",
        OptionKind::Int { min: 0, max: i64::MAX },
        "Verify after every N writes instead of at the end",
    )
    .with("verify", put!(|job, value| job.verify.rules.backlog = value.u64())),
    opt("verify_backlog_batch", int(0), "Number of blocks to verify each time")
        .with("verify", put!(|job, value| job.verify.rules.backlog_batch = value.u64())),
    opt("verify_state_save", OptionKind::Bool, "Save the verify state, to check an interrupted \
        run later")
        .default("1")
        .with("verify", put!(|job, value| job.verify.rules.save_state = value.flag())),
    opt("verify_state_load", OptionKind::Bool, "Load a verify state and check the blocks it lists")
        .default("0")
        .with("verify", put!(|job, value| job.verify.rules.load_state = value.flag())),
    opt("verify_header_seed", OptionKind::Bool, "Verify the seed in the header of each block")
        .default("1")
        .with("verify", put!(|job, value| job.verify.rules.header_seed = value.flag())),
    opt("verify_write_sequence", OptionKind::Bool, "Verify the write sequence number in the \
        header of each block")
        .default("1")
        .with("verify", put!(|job, value| job.verify.rules.write_sequence = value.flag())),
    opt("experimental_verify", OptionKind::Bool, "Verify without tracking the written blocks")
        .default("0")
        .accepted("written blocks are always tracked"),
    opt("verifysort", OptionKind::Bool, "Sorted verification (older versions)")
        .accepted("removed from fio as well"),
    opt("verifysort_nr", int(0), "Sorted verification (older versions)").accepted("removed from \
        fio as well"),
    opt("trim_percentage", PERCENT, "Percentage of verified blocks to trim")
        .default("0")
        .harmless(&["0"])
        .refused("trimming verified blocks is not supported", "use rw=trimwrite"),
    opt("trim_verify_zero", OptionKind::Bool, "Verify that trimmed blocks read as zeros")
        .default("1")
        .goes_with("trim_percentage"),
    opt("trim_backlog", OptionKind::Int { min: 0, max: i64::MAX }, "Trim after every N writes")
        .goes_with("trim_percentage"),
    opt("trim_backlog_batch", int(0), "Number of blocks to trim each \
        time").goes_with("trim_percentage"),
    opt("read_iolog", OptionKind::Paths, "Replay I/O logs of version 2 or 3; clones use them in \
        turn")
        .works(put!(|job, value| job.job.replay.read = value.paths())),
    opt(
        "write_iolog",
        OptionKind::Text("requests.log"),
        "Write an I/O log; clones append their number to its name",
    )
    .works(put!(|job, value| job.job.replay.write = Some(PathBuf::from(value.text())))),
    opt("read_iolog_chunked", OptionKind::Bool, "Read the I/O log in chunks")
        .default("0")
        .accepted("I/O logs are read completely before the run"),
    opt("replay_no_stall", OptionKind::Bool, "Ignore the timestamps of the I/O log")
        .default("0")
        .with("read_iolog", put!(|job, value| job.job.replay.no_stall = value.flag())),
    opt("replay_redirect", OptionKind::Text("/dev/sdb"), "Redirect all I/O to this device")
        .with("read_iolog", put!(|job, value| job.job.replay.redirect = Some(PathBuf::from(value.text())))),
    opt("replay_time_scale", int(1), "Replay speed as a percentage of the original")
        .default("100")
        .with("read_iolog", put!(|job, value| job.job.replay.time_scale_percent = value.u32())),
    opt("replay_align", int(0), "Round offsets down to this power of 2").with(
        "read_iolog",
        |job, value| match value.u64() {
            align if align == 0 || align.is_power_of_two() => {
                job.job.replay.align = align;
                Ok(())
            }
            _ => Err("expected a power of 2, such as 4096".to_owned()),
        },
    ),
    opt("replay_scale", int(0), "Divide offsets by this factor")
        .default("1")
        .with("read_iolog", put!(|job, value| job.job.replay.scale = value.u64())),
    opt("replay_skip", OptionKind::Text("write,sync"), "Operations to skip during replay")
        .with("read_iolog", skip),
    opt("merge_blktrace_file", OptionKind::Text("merged.bin"), "Merge several traces into this \
        file")
        .refused(NO_MERGE, "merge them with blkparse"),
    opt("merge_blktrace_scalars", MANY, "Speed of each trace, in percent")
        .refused(NO_MERGE, "merge them with blkparse"),
    opt("merge_blktrace_iters", MANY, "Number of repeats of each trace").refused(NO_MERGE, "merge \
        them with blkparse"),
];

fn skip(job: &mut JobSpec, value: &OptionValue) -> Result<(), String> {
    let mut skip = Skipped::default();
    for word in value.text().split([',', ':']).map(str::trim) {
        match (word, Op::ALL.into_iter().find(|op| op.name() == word)) {
            ("sync", _) => skip.syncs = true,
            (_, Some(op)) => skip.ops[op] = true,
            _ => return Err(format!("`{word}` is not one of read, write, trim, sync")),
        }
    }
    job.job.replay.skip = skip;
    Ok(())
}

const MANY: OptionKind = OptionKind::Floats {
    min: 0.0,
    max: 1e9,
    most: 64,
};
const METHODS: OptionKind = OptionKind::Choice(&[
    ("0", "no"),
    ("crc32c", "a CRC-32C of each block"),
    ("crc32c-intel", "as crc32c"),
    ("crc32", "a CRC-32 of each block"),
    ("md5", "an MD5 of each block"),
    ("sha256", "a SHA-256 of each block"),
    ("xxhash", "an xxHash of each block"),
    ("meta", "offset and sequence number of each block"),
    ("pattern", "only the pattern of verify_pattern"),
    (
        "pattern_hdr",
        "offset and sequence number of each block, and the pattern of verify_pattern",
    ),
    ("crc64", "a CRC-64 of each block"),
    ("crc16", "a CRC-16 of each block"),
    ("crc7", "a CRC-7 of each block"),
    ("sha1", "a SHA-1 of each block"),
    ("sha512", "a SHA-512 of each block"),
    ("sha3-224", "a SHA3-224 of each block"),
    ("sha3-256", "a SHA3-256 of each block"),
    ("sha3-384", "a SHA3-384 of each block"),
    ("sha3-512", "a SHA3-512 of each block"),
    ("null", "nothing: read the data back without comparing it"),
]);

//! Options of verification and of replaying a recorded stream of requests.

use super::kind::{OptionKind, int};
use super::workload::PERCENT;
use super::{FioOption, OptionValue, opt, put};
use crate::fio::spec::JobSpec;
use hakaru_model::job::Op;
use hakaru_model::job::rules::Skipped;
use hakaru_model::units::Bytes;
use std::path::PathBuf;

const NO_MERGE: &str = "blktrace files are not merged";

pub(super) const TABLE: &[FioOption] = &[
    opt("verify", METHODS, "Checks what was written")
        .default("0")
        .works(put!(|job, value| job.verify.method = Some(value.word()))),
    opt("verify_only", OptionKind::Flag, "Writes nothing and checks what an earlier run wrote")
        .works(put!(|job, value| job.verify.rules.only = value.flag())),
    opt("do_verify", OptionKind::Bool, "Reads back and checks when all is written")
        .default("1")
        .with("verify", put!(|job, value| job.verify.rules.read_back = value.flag())),
    opt(
        "verify_pattern",
        OptionKind::Pattern,
        "Pattern that is written and checked; %o is the offset of the block. Without verify, blocks have a header too",
    )
    .works(put!(|job, value| job.verify.pattern = value.pattern())),
    opt("verify_pattern_interval", int(0), "Distance at which the pattern begins again")
        .harmless(&["0"])
        .refused("a pattern begins again with each block", "leave it out"),
    opt("verify_interval", OptionKind::Size { min: 80 }, "Bytes that carry a checksum each, where it is not the block")
        .with("verify", put!(|job, value| job.verify.rules.interval = Some(value.bytes()).filter(|b| *b > Bytes(0)))),
    opt("verify_offset", int(40), "Where in the block its checksum stands")
        .with("verify", put!(|job, value| job.verify.rules.offset = value.u32())),
    opt("verify_fatal", OptionKind::Bool, "Ends the job at the first mismatch")
        .default("0")
        .with("verify", put!(|job, value| job.verify.rules.fatal = value.flag())),
    opt("verify_dump", OptionKind::Bool, "Saves blocks that do not match")
        .default("0")
        .with("verify", put!(|job, value| job.verify.rules.dump = value.flag())),
    opt("verify_async", int(0), "Threads that check beside the worker")
        .default("0")
        .with("verify", put!(|job, value| job.verify.rules.async_threads = value.u32())),
    opt("verify_async_cpus", OptionKind::Indices, "Processors these threads may run on")
        .with("verify_async", put!(|job, value| job.verify.rules.async_cpus = value.indices())),
    opt(
        "verify_backlog",
        OptionKind::Int { min: 0, max: i64::MAX },
        "Checks after so many writes rather than at the end",
    )
    .with("verify", put!(|job, value| job.verify.rules.backlog = value.u64())),
    opt("verify_backlog_batch", int(0), "Blocks that are checked at once then")
        .with("verify", put!(|job, value| job.verify.rules.backlog_batch = value.u64())),
    opt("verify_state_save", OptionKind::Bool, "Keeps a file from which an interrupted run can be checked")
        .default("1")
        .with("verify", put!(|job, value| job.verify.rules.save_state = value.flag())),
    opt("verify_state_load", OptionKind::Bool, "Checks what that file says was written")
        .default("0")
        .with("verify", put!(|job, value| job.verify.rules.load_state = value.flag())),
    opt("verify_header_seed", OptionKind::Bool, "Checks the seed in the header of each block")
        .default("1")
        .with("verify", put!(|job, value| job.verify.rules.header_seed = value.flag())),
    opt("verify_write_sequence", OptionKind::Bool, "Checks the number of the write in the header of each block")
        .default("1")
        .with("verify", put!(|job, value| job.verify.rules.write_sequence = value.flag())),
    opt("experimental_verify", OptionKind::Bool, "Checks without remembering what was written")
        .default("0")
        .accepted("what was written is remembered all the same"),
    opt("verifysort", OptionKind::Bool, "Sorted what is checked, in older versions")
        .accepted("fio has given it up too"),
    opt("verifysort_nr", int(0), "Sorted what is checked, in older versions").accepted("fio has given it up too"),
    opt("trim_percentage", PERCENT, "Hundredths of the checked blocks that are trimmed")
        .default("0")
        .harmless(&["0"])
        .refused("checked blocks are not trimmed", "use rw=trimwrite"),
    opt("trim_verify_zero", OptionKind::Bool, "Checks that trimmed blocks read as zeroes")
        .default("1")
        .goes_with("trim_percentage"),
    opt("trim_backlog", OptionKind::Int { min: 0, max: i64::MAX }, "Trims after so many writes")
        .goes_with("trim_percentage"),
    opt("trim_backlog_batch", int(0), "Blocks that are trimmed at once").goes_with("trim_percentage"),
    opt("read_iolog", OptionKind::Paths, "Replays the requests of logs of version 2 or 3; clones take turns")
        .works(put!(|job, value| job.job.replay.read = value.paths())),
    opt(
        "write_iolog",
        OptionKind::Text("requests.log"),
        "Writes the requests to a log; clones put their number behind its name",
    )
    .works(put!(|job, value| job.job.replay.write = Some(PathBuf::from(value.text())))),
    opt("read_iolog_chunked", OptionKind::Bool, "Reads that log piece by piece")
        .default("0")
        .accepted("logs are read whole before the run"),
    opt("replay_no_stall", OptionKind::Bool, "Ignores the times in the log")
        .default("0")
        .with("read_iolog", put!(|job, value| job.job.replay.no_stall = value.flag())),
    opt("replay_redirect", OptionKind::Text("/dev/sdb"), "Sends everything to this device")
        .with("read_iolog", put!(|job, value| job.job.replay.redirect = Some(PathBuf::from(value.text())))),
    opt("replay_time_scale", int(1), "Speed in hundredths of the log's")
        .default("100")
        .with("read_iolog", put!(|job, value| job.job.replay.time_scale_percent = value.u32())),
    opt("replay_align", int(0), "What offsets of the log are rounded down to; a power of 2").with(
        "read_iolog",
        |job, value| match value.u64() {
            align if align == 0 || align.is_power_of_two() => {
                job.job.replay.align = align;
                Ok(())
            }
            _ => Err("a power of 2 is needed, such as 4096".to_owned()),
        },
    ),
    opt("replay_scale", int(0), "What offsets of the log are divided by")
        .default("1")
        .with("read_iolog", put!(|job, value| job.job.replay.scale = value.u64())),
    opt("replay_skip", OptionKind::Text("write,sync"), "Operations of the log that are left out")
        .with("read_iolog", skip),
    opt("merge_blktrace_file", OptionKind::Text("merged.bin"), "Merges several traces into this one")
        .refused(NO_MERGE, "merge them by blkparse"),
    opt("merge_blktrace_scalars", MANY, "Speed of each trace, in hundredths")
        .refused(NO_MERGE, "merge them by blkparse"),
    opt("merge_blktrace_iters", MANY, "How often each trace is run").refused(NO_MERGE, "merge them by blkparse"),
];

fn skip(job: &mut JobSpec, value: &OptionValue) -> Result<(), String> {
    let mut skip = Skipped::default();
    for word in value.text().split([',', ':']).map(str::trim) {
        match (word, Op::ALL.into_iter().find(|op| op.name() == word)) {
            ("sync", _) => skip.syncs = true,
            (_, Some(op)) => skip.ops[op] = true,
            _ => return Err(format!("`{word}` is none of read, write, trim, sync")),
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
    ("meta", "place and number of each block"),
    ("pattern", "the pattern of verify_pattern alone"),
    (
        "pattern_hdr",
        "place and number of each block, and the pattern of verify_pattern",
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
    (
        "null",
        "nothing: everything is read back and nothing compared",
    ),
]);

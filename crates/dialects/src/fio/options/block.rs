//! Options of blocks and buffers: how large I/Os are, and what writes carry.

use super::kind::{OptionKind, int};
use super::workload::PERCENT;
use super::{FioOption, OptionValue, opt, put};
use crate::fio::spec::JobSpec;
use hakaru_model::job::BufferContent;
use hakaru_model::job::rules::PatternPart;
use hakaru_model::units::Bytes;

/// The largest block: lengths of I/Os are 32 bits, and the kernel moves less than 2 GiB at once.
const LARGEST: u64 = 1 << 30;

const BLOCK: OptionKind = OptionKind::PerOpInt {
    min: 1,
    max: LARGEST,
};

pub(super) const TABLE: &[FioOption] = &[
    opt(
        "bs",
        BLOCK,
        "Bytes of each I/O: for all, or for reads, writes and trims",
    )
    .alias(&["blocksize"])
    .default("4096")
    .works(put!(|job, value| job.bs = value.ints())),
    opt(
        "bsrange",
        OptionKind::Ranges,
        "Smallest and largest I/O; sizes between are drawn evenly",
    )
    .alias(&["blocksize_range"])
    .works(put!(|job, value| job.bs_range = value.ranges())),
    opt(
        "bssplit",
        OptionKind::Splits,
        "Sizes of I/Os with their shares in hundredths",
    )
    .works(put!(|job, value| job.bs_split = value.splits())),
    opt(
        "ba",
        BLOCK,
        "What random offsets are multiples of, where it is not the smallest I/O",
    )
    .alias(&["blockalign"])
    .works(put!(|job, value| job.align = value.ints())),
    opt(
        "bs_unaligned",
        OptionKind::Flag,
        "Draws sizes that are no multiples of the smallest",
    )
    .alias(&["blocksize_unaligned"])
    .works(put!(
        |job, value| job.job.block_rules.unaligned = value.flag()
    )),
    opt(
        "bs_is_seq_rand",
        OptionKind::Bool,
        "Takes sizes of reads and writes as those of sequential and random I/O",
    )
    .default("0")
    .works(put!(|job, value| job.bs_by_order = value.flag())),
    opt("zero_buffers", OptionKind::Flag, "Writes zeroes").works(put!(|job, value| {
        match (value.flag(), &job.job.buffers.fill) {
            (true, _) => job.job.buffers.fill = BufferContent::Zero,
            (false, BufferContent::Zero) => job.job.buffers.fill = BufferContent::Random,
            (false, _) => {}
        }
    })),
    opt(
        "refill_buffers",
        OptionKind::Flag,
        "Fills buffers anew before each write",
    )
    .works(put!(|job, value| job.job.buffers.refill = value.flag())),
    opt(
        "scramble_buffers",
        OptionKind::Bool,
        "Changes a few bytes before each write, so that none is like another",
    )
    .default("1")
    .works(put!(|job, value| job.job.buffers.scramble = value.flag())),
    opt(
        "buffer_pattern",
        OptionKind::Pattern,
        "Writes this pattern over and over",
    )
    .works(pattern),
    opt(
        "buffer_compress_percentage",
        PERCENT,
        "Hundredths of each buffer that compress away",
    )
    .works(put!(|job, value| {
        // A pattern that was given is what the part that compresses holds.
        job.job.buffers.fill = BufferContent::Compressible(value.u32());
        job.job.buffers.refill |= value.u32() != 100;
    })),
    opt(
        "buffer_compress_chunk",
        int(0),
        "Bytes after which the compressible part comes again",
    )
    .default("512")
    .with(
        "buffer_compress_percentage",
        put!(|job, value| job.job.buffers.compress_chunk = Some(Bytes(value.u64()))),
    ),
    opt(
        "dedupe_percentage",
        PERCENT,
        "Hundredths of the buffers that repeat an earlier one",
    )
    .works(put!(|job, value| job.dedupe.0 = value.u32())),
    opt(
        "dedupe_mode",
        OptionKind::Choice(&[
            ("repeat", "repeats the one before"),
            ("working_set", "repeats one of a set"),
        ]),
        "Which earlier buffer is repeated",
    )
    .default("repeat")
    .with(
        "dedupe_percentage",
        put!(|job, value| job.dedupe_in_set = value.word() == "working_set"),
    ),
    opt(
        "dedupe_working_set_percentage",
        PERCENT,
        "Hundredths of the file that make up that set",
    )
    .default("5")
    .with(
        "dedupe_percentage",
        put!(|job, value| job.dedupe.1 = value.u32()),
    ),
    opt(
        "dedupe_global",
        OptionKind::Bool,
        "Shares that set among jobs",
    )
    .default("0")
    .with(
        "dedupe_percentage",
        put!(|job, value| job.dedupe_global = value.flag()),
    ),
    opt("mem", MEMORY, "Where buffers come from")
        .alias(&["iomem"])
        .default("malloc")
        .accepted("buffers are whole pages of anonymous memory, whichever call they come from")
        .checked(|_, value| match value.word() {
            "shmhuge" | "mmaphuge" => Err("huge pages are not used: write malloc".to_owned()),
            "cudamalloc" => Err("memory of graphics cards is not used: write malloc".to_owned()),
            _ => Ok(()),
        }),
    opt("iomem_align", int(0), "What buffers are aligned to")
        .alias(&["mem_align"])
        .accepted("buffers are aligned to whole pages, or more where the device wants it"),
    opt(
        "hugepage-size",
        OptionKind::Size { min: 0 },
        "Size of a huge page",
    )
    .accepted("huge pages are not used"),
];

const MEMORY: OptionKind = OptionKind::Tagged(&[
    ("malloc", "the heap"),
    ("mmap", "a mapping"),
    ("mmapshared", "a shared mapping"),
    ("shm", "shared memory"),
    ("mmaphuge", "huge pages of a mapping; refused"),
    ("shmhuge", "huge pages of shared memory; refused"),
    ("cudamalloc", "memory of a graphics card; refused"),
]);

fn pattern(job: &mut JobSpec, value: &OptionValue) -> Result<(), String> {
    match value.pattern().as_slice() {
        [PatternPart::Bytes(bytes)] => {
            job.job.buffers.fixed_part.clone_from(bytes);
            if !matches!(job.job.buffers.fill, BufferContent::Compressible(_)) {
                job.job.buffers.fill = BufferContent::Pattern(bytes.clone());
            }
        }
        _ => return Err("%o is for verify_pattern only".to_owned()),
    }
    Ok(())
}

//! Options of blocks and buffers: I/O sizes and the content of writes.

use super::kind::{OptionKind, OptionValue, int};
use super::row::{FioOption, opt, put};
use super::workload::PERCENT;
use crate::fio::spec::JobSpec;
use hakaru_model::job::BufferContent;
use hakaru_model::job::rules::PatternPart;
use hakaru_model::units::Bytes;

/// Maximum block size: I/O lengths are 32 bits, and the kernel moves less than 2 GiB per call.
const LARGEST: u64 = 1 << 30;

const BLOCK: OptionKind = OptionKind::PerOpInt {
    min: 1,
    max: LARGEST,
};

pub(super) const TABLE: &[FioOption] = &[
    opt(
        "bs",
        BLOCK,
        "Block size in bytes: for all, or for reads, writes and trims",
    )
    .alias(&["blocksize"])
    .default("4096")
    .works(put!(|job, value| job.bs = value.ints())),
    opt(
        "bsrange",
        OptionKind::Ranges,
        "Smallest and largest block size; sizes are drawn uniformly between them",
    )
    .alias(&["blocksize_range"])
    .works(put!(|job, value| job.bs_range = value.ranges())),
    opt(
        "bssplit",
        OptionKind::Splits,
        "Block sizes with their percentages",
    )
    .works(put!(|job, value| job.bs_split = value.splits())),
    opt(
        "ba",
        BLOCK,
        "Alignment of random offsets [default: the smallest block size]",
    )
    .alias(&["blockalign"])
    .works(put!(|job, value| job.align = value.ints())),
    opt(
        "bs_unaligned",
        OptionKind::Flag,
        "Allow block sizes that are not multiples of the smallest",
    )
    .alias(&["blocksize_unaligned"])
    .works(put!(
        |job, value| job.job.block_rules.unaligned = value.flag()
    )),
    opt(
        "bs_is_seq_rand",
        OptionKind::Bool,
        "Use the read size for sequential and the write size for random I/O",
    )
    .default("0")
    .works(put!(|job, value| job.bs_by_order = value.flag())),
    opt(
        "zero_buffers",
        OptionKind::Flag,
        "Fill the buffers with zeros",
    )
    .works(put!(|job, value| {
        match (value.flag(), &job.job.buffers.fill) {
            (true, _) => job.job.buffers.fill = BufferContent::Zero,
            (false, BufferContent::Zero) => job.job.buffers.fill = BufferContent::Random,
            (false, _) => {}
        }
    })),
    opt(
        "refill_buffers",
        OptionKind::Flag,
        "Refill the buffers before each write",
    )
    .works(put!(|job, value| job.job.buffers.refill = value.flag())),
    opt(
        "scramble_buffers",
        OptionKind::Bool,
        "Change a few bytes before each write, so that all blocks differ",
    )
    .default("1")
    .works(put!(|job, value| job.job.buffers.scramble = value.flag())),
    opt(
        "buffer_pattern",
        OptionKind::Pattern,
        "Fill the buffers with this pattern, repeated",
    )
    .works(pattern),
    opt(
        "buffer_compress_percentage",
        PERCENT,
        "Percentage of each buffer that is compressible",
    )
    .works(put!(|job, value| {
        // A pattern given explicitly fills the compressible part.
        job.job.buffers.fill = BufferContent::Compressible(value.u32());
        job.job.buffers.refill |= value.u32() != 100;
    })),
    opt(
        "buffer_compress_chunk",
        int(0),
        "Interval in bytes at which the compressible part repeats",
    )
    .default("512")
    .with(
        "buffer_compress_percentage",
        put!(|job, value| job.job.buffers.compress_chunk = Some(Bytes(value.u64()))),
    ),
    opt(
        "dedupe_percentage",
        PERCENT,
        "Percentage of the buffers that duplicate an earlier one",
    )
    .works(put!(|job, value| job.dedupe.0 = value.u32())),
    opt(
        "dedupe_mode",
        OptionKind::Choice(&[
            ("repeat", "repeat the previous buffer"),
            ("working_set", "repeat one of a working set"),
        ]),
        "Which earlier buffer is duplicated",
    )
    .default("repeat")
    .with(
        "dedupe_percentage",
        put!(|job, value| job.dedupe_in_set = value.word() == "working_set"),
    ),
    opt(
        "dedupe_working_set_percentage",
        PERCENT,
        "Size of that working set as a percentage of the file",
    )
    .default("5")
    .with(
        "dedupe_percentage",
        put!(|job, value| job.dedupe.1 = value.u32()),
    ),
    opt(
        "dedupe_global",
        OptionKind::Bool,
        "Share that working set among jobs",
    )
    .default("0")
    .with(
        "dedupe_percentage",
        put!(|job, value| job.dedupe_global = value.flag()),
    ),
    opt("mem", MEMORY, "Type of memory for the I/O buffers")
        .alias(&["iomem"])
        .default("malloc")
        .accepted("buffers are always whole pages of anonymous memory")
        .checked(|_, value| match value.word() {
            "shmhuge" | "mmaphuge" => Err("huge pages are not used: write malloc".to_owned()),
            "cudamalloc" => Err("memory of graphics cards is not used: write malloc".to_owned()),
            _ => Ok(()),
        }),
    opt("iomem_align", int(0), "Alignment of the I/O buffers")
        .alias(&["mem_align"])
        .accepted("buffers are aligned to pages, or more if the device requires it"),
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

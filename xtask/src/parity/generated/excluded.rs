//! Combinations in which fio 3.33 itself is at fault, and which are therefore not drawn.
//!
//! Each has a command that shows the fault in an empty directory, where `{loop}` is a loop device of 2 MiB.

use super::option_set::{ObserveBy, OptionSet};

/// A combination that is not drawn.
pub(super) struct Excluded {
    /// Which options together.
    pub(super) combination: &'static str,
    /// What fio 3.33 does with them.
    pub(super) fault: &'static str,
    /// A command that shows it.
    pub(super) evidence: &'static str,
    applies: fn(&OptionSet) -> bool,
}

/// The combination that keeps a set from being drawn, if one does.
pub(super) fn excluded(set: &OptionSet) -> Option<&'static Excluded> {
    EXCLUDED.iter().find(|excluded| (excluded.applies)(set))
}

fn writes(set: &OptionSet) -> bool {
    set.value("rw").contains("write") || mixes(set)
}

/// Whether a job reads and writes in turns.
fn mixes(set: &OptionSet) -> bool {
    let direction = set.value("rw").split(':').next();
    matches!(direction, Some("rw" | "randrw" | "readwrite"))
}

fn random(set: &OptionSet) -> bool {
    set.value("rw").starts_with("rand")
}

/// Whether blocks carry headers with the number of their write, and are read back.
fn checks_numbers(set: &OptionSet) -> bool {
    let method = set.value("verify");
    let numbered = !["", "null", "pattern"].contains(&method);
    let reads_back = set.value("do_verify") != "0" || set.has("verify_backlog") || mixes(set);
    numbered && reads_back && set.value("ioengine") != "null"
}

/// Whether a random job goes to blocks again that it has been to, although it keeps a map of them.
fn random_writes_come_again(set: &OptionSet) -> bool {
    let percent = set.value("percentage_random");
    let partly = !["", "100"].contains(&percent);
    let runs = set.value("rw").contains(':');
    random(set) && (runs || partly || set.has("zonesize") || skews_files(set))
}

/// Whether a mix goes to blocks again that it has been to.
fn mix_comes_again(set: &OptionSet) -> bool {
    let distribution = set.value("random_distribution");
    let without_map = set.has("norandommap")
        || set.value("random_generator") == "lfsr"
        || !["", "random"].contains(&distribution)
        || set.has("blockalign");
    let passes = set.has("loops") || set.has("io_size") || set.has("time_based");
    let holes = set.value("rw").contains(':');
    mixes(set) && (random(set) && without_map || passes || holes || set.has("zonesize"))
}

/// Whether a job has several files.
fn several_files(set: &OptionSet) -> bool {
    let files = set.value("nrfiles");
    !["", "0", "1"].contains(&files) && !set.has("filename") || set.value("filename").contains(':')
}

/// Bytes of each file that the options ask for; `None` if they are drawn or missing.
fn file_bytes(set: &OptionSet) -> Option<u64> {
    let bytes = |text: &str| match text.strip_suffix('k') {
        Some(number) => number.parse::<u64>().ok().map(|number| number << 10),
        None => text.strip_suffix('m').map_or_else(
            || text.parse().ok(),
            |number| number.parse::<u64>().ok().map(|number| number << 20),
        ),
    };
    let (size, filesize) = (set.value("size"), bytes(set.value("filesize")));
    let percent = size
        .strip_suffix('%')
        .and_then(|text| text.parse::<u64>().ok());
    let files = match set.has("filesize") {
        true => 1,
        false => bytes(set.value("nrfiles")).unwrap_or(1).max(1),
    };
    let wanted = match percent {
        Some(percent) => filesize.map(|whole| whole * percent / 100),
        None => bytes(size).map(|size| size / files),
    };
    match (wanted, filesize) {
        (Some(wanted), Some(filesize)) => Some(wanted.min(filesize)),
        (wanted, filesize) => wanted.or(filesize),
    }
}

/// Whether the zones of `random_distribution=zoned_abs`, 192 KiB together, are longer than what they are drawn in.
fn zones_exceed(set: &OptionSet) -> bool {
    let room = file_bytes(set).unwrap_or(0);
    let short = room < 192 << 10 || set.has("offset") || set.has("zonesize");
    set.value("random_distribution").starts_with("zoned_abs") && short
}

/// Whether the last block of a file is cut.
fn is_ragged(set: &OptionSet) -> bool {
    let smallest = smallest_by_operation(set).unwrap_or([4096; 3]);
    file_bytes(set).is_none_or(|bytes| smallest.iter().any(|block| bytes % block.max(&1) != 0))
}

fn skews_files(set: &OptionSet) -> bool {
    let service = set.value("file_service_type");
    ["zipf", "pareto", "normal"]
        .iter()
        .any(|skew| service.starts_with(skew))
}

/// The sizes, in bytes, at which the blocks of reads, writes and trims begin.
fn smallest_by_operation(set: &OptionSet) -> Option<[u64; 3]> {
    let given = [set.value("bs"), set.value("bsrange")].join("");
    let parts: Vec<u64> = given
        .split(',')
        .filter_map(|part| {
            let start = part.split('-').next()?;
            let kilobytes = start
                .strip_suffix('k')
                .and_then(|number| number.parse::<u64>().ok());
            kilobytes
                .map(|number| number << 10)
                .or_else(|| start.parse().ok())
        })
        .collect();
    let last = *parts.last()?;
    Some([0, 1, 2].map(|at| parts.get(at).copied().unwrap_or(last)))
}

/// Whether all blocks have one size, and a zone is a whole number of pairs of them.
fn zones_hold_pairs(set: &OptionSet) -> bool {
    let drawn = set.has("bsrange") || set.has("bssplit") || set.value("bs").contains(',');
    let block = smallest_by_operation(set).map_or(4096, |sizes| sizes[0]);
    let size = set.value("zonesize").trim_end_matches('k').parse::<u64>();
    !drawn && size.is_ok_and(|size| (size << 10).is_multiple_of(2 * block))
}

/// Whether a job keeps a map of its blocks, and does an operation with larger blocks than another one has.
fn maps_by_another_size(set: &OptionSet) -> bool {
    let direction = set.value("rw");
    let does = [
        direction.contains("read") || mixes(set),
        writes(set),
        direction.contains("trim"),
    ];
    let without_map = ["norandommap", "blockalign", "random_distribution"];
    let mapped = random(set) && !without_map.iter().any(|option| set.has(option));
    let larger = smallest_by_operation(set).is_some_and(|sizes| {
        let smallest = sizes.iter().min();
        (0..3).any(|op| does[op] && Some(&sizes[op]) != smallest)
    });
    mapped && larger
}

/// Every combination that is not drawn.
#[rustfmt::skip]
pub(super) const EXCLUDED: &[Excluded] = &[
    Excluded {
        combination: "verify with headers, random writes, and runs (`randwrite:8`), percentage_random, zones or a skewed file_service_type",
        fault: "false corruption: error 84, bad header numberio, for blocks that the job wrote twice; the newest data is in them",
        evidence: "fio --name=g --rw=randwrite:4 --size=256k --bs=4k --verify=md5",
        applies: |set| checks_numbers(set) && writes(set) && random_writes_come_again(set),
    },
    Excluded {
        combination: "verify with headers, reads mixed with writes, and blocks that are written twice (norandommap, lfsr, a skewed distribution, blockalign, loops, io_size, holes, zones)",
        fault: "false corruption: error 84, bad header numberio",
        evidence: "fio --name=g --rw=randrw --size=256k --bs=4k --verify=md5 --norandommap",
        applies: |set| checks_numbers(set) && mix_comes_again(set),
    },
    Excluded {
        combination: "verify with headers, reads mixed with writes in order (`rw=rw`), several files",
        fault: "false corruption: error 84, bad header rand_seed, for blocks that it wrote again",
        evidence: "fio --name=g --rw=rw --size=128k --bs=4k --nrfiles=4 --verify=crc64",
        applies: |set| checks_numbers(set) && mixes(set) && !random(set) && several_files(set),
    },
    Excluded {
        combination: "experimental_verify, reads mixed with writes",
        fault: "false corruption, by chance: it draws the job again to check it, and takes reads of that for blocks that were written",
        evidence: "fio --name=g --rw=rw --size=128k --bs=20k --verify=pattern --verify_pattern=%o --experimental_verify=1 --randrepeat=0",
        applies: |set| set.has("experimental_verify") && mixes(set),
    },
    Excluded {
        combination: "ioengine=posixaio, iodepth above 1, reads that are checked of files that were not written before",
        fault: "is killed by a signal, in 10 of 12 runs: it ends at the first bad header with reads in flight",
        evidence: "fio --name=g --rw=randread --size=512k --bs=4k --ioengine=posixaio --iodepth=32 --verify=crc32c",
        applies: |set| {
            let deep = set.has("iodepth") && set.value("iodepth") != "1";
            let reads = set.value("rw").contains("read") && checks_numbers(set);
            set.value("ioengine") == "posixaio" && deep && reads && set.before(None).is_none()
        },
    },
    Excluded {
        combination: "verify_only, verify_backlog",
        fault: "blocks of which the backlog would have been read are not checked: files of zeros pass",
        evidence: "fio --name=g --rw=rw --size=64k --bs=4k --verify=md5 --verify_only=1 --verify_backlog=1",
        applies: |set| set.has("verify_only") && set.has("verify_backlog"),
    },
    Excluded {
        combination: "verify_only, write_lat_log",
        fault: "logs the writes that it leaves out, with latencies of nothing measured",
        evidence: "fio --name=g --rw=write --size=64k --bs=4k --verify=md5 --verify_only=1 --write_lat_log=acc --log_offset=1",
        applies: |set| set.has("verify_only") && set.watch == ObserveBy::LatencyLog,
    },
    Excluded {
        combination: "ioengine=vsync, trims",
        fault: "fails with EFAULT",
        evidence: "fio --name=g --rw=trim --filename={loop} --size=128k --bs=4k --ioengine=vsync",
        applies: |set| set.value("ioengine") == "vsync" && set.value("rw").contains("trim"),
    },
    Excluded {
        combination: "ioengine=vsync, iodepth above 1 without iodepth_batch, or in a mix",
        fault: "leaves the bytes of its last I/Os uncounted (102400 of 131072), and does not end with a low mark or serialize_overlap",
        evidence: "fio --name=g --rw=read --size=128k --bs=4k --ioengine=vsync --iodepth=8",
        applies: |set| {
            let deep = set.has("iodepth") && set.value("iodepth") != "1";
            set.value("ioengine") == "vsync" && deep && (!set.has("iodepth_batch") || mixes(set))
        },
    },
    Excluded {
        combination: "ioengine=vsync, I/Os behind the end of a file, or direct I/O that is refused",
        fault: "counts all bytes of an I/O that moved none: reads 64 KiB of a file of 10000 bytes",
        evidence: "fio --name=g --rw=read --size=64k --bs=4k --ioengine=vsync --create_on_open=1",
        applies: |set| {
            let empty = set.has("create_on_open") || set.has("unlink_each_loop") || set.has("readonly");
            let direct = set.value("direct") == "1" || set.value("buffered") == "0";
            let unaligned = ["50001", "100"].contains(&set.value("offset")) || set.has("bs_unaligned");
            set.value("ioengine") == "vsync" && (empty || direct && unaligned)
        },
    },
    Excluded {
        combination: "ioengine=mmap, trims before writes, verify",
        fault: "reads zeros where the device was trimmed before it was written through the mapping: error 84",
        evidence: "fio --name=g --rw=trimwrite --filename={loop} --size=128k --bs=4k --ioengine=mmap --verify=md5",
        applies: |set| set.value("ioengine") == "mmap" && set.value("rw").contains("trimwrite") && set.has("verify"),
    },
    Excluded {
        combination: "ioengine=mmap, create_on_open",
        fault: "is killed by a signal",
        evidence: "fio --name=g --rw=read --size=512k --bs=4k --ioengine=mmap --create_on_open=1",
        applies: |set| set.value("ioengine") == "mmap" && set.has("create_on_open"),
    },
    Excluded {
        combination: "create_on_open, continue_on_error",
        fault: "fails an assertion of its own after the first error",
        evidence: "fio --name=g --rw=randread --size=512k --bs=4k --create_on_open=1 --continue_on_error=1",
        applies: |set| set.has("create_on_open") && set.has("continue_on_error"),
    },
    Excluded {
        combination: "pre_read, direct=1, reads",
        fault: "fails with EIO at the first read, which succeeds without pre_read",
        evidence: "fio --name=g --rw=read --size=64k --bs=4k --direct=1 --pre_read=1",
        applies: |set| set.has("pre_read") && (set.value("direct") == "1" || set.value("buffered") == "0") && !set.value("rw").contains("trim"),
    },
    Excluded {
        combination: "trim_percentage",
        fault: "trims in jobs that do not trim, and fails an assertion of its own",
        evidence: "fio --name=g --rw=write --size=64k --bs=4k --verify=md5 --trim_percentage=20 --trim_backlog=8 --trim_verify_zero=1",
        applies: |set| set.has("trim_percentage"),
    },
    Excluded {
        combination: "filename, and a file_service_type that is skewed over nrfiles",
        fault: "is killed by a signal: it draws a file that there is not",
        evidence: "fio --name=g --rw=read --filename=one --size=1m --bs=4k --nrfiles=4 --file_service_type=pareto:0.2",
        applies: |set| set.has("filename") && skews_files(set),
    },
    Excluded {
        combination: "openfiles below nrfiles, verify_backlog",
        fault: "does not end",
        evidence: "fio --name=g --rw=write --size=513k --bs=64k --nrfiles=5 --openfiles=1 --file_service_type=sequential --verify=md5 --verify_backlog=4",
        applies: |set| set.has("openfiles") && set.has("verify_backlog"),
    },
    Excluded {
        combination: "latency_target without runtime, in a job that may end before its size is reached (a ragged size, filesize, io_size, loops, holes, runs, zones, trims, verify_only, blockalign)",
        fault: "does not end",
        evidence: "fio --name=g --rw=randwrite --size=130k --bs=4k --latency_target=10s --latency_window=1s --latency_percentile=99",
        applies: |set| {
            let early = ["filesize", "io_size", "loops", "zonesize", "verify_only", "blockalign", "bs_unaligned"];
            let steps = set.value("rw").contains(':') || set.value("rw").contains("trim");
            set.has("latency_target") && (is_ragged(set) || steps || early.iter().any(|option| set.has(option)))
        },
    },
    Excluded {
        combination: "io_submit_mode=offload with iodepth above 1, io_uring, mixes, flushes, verify, trims, loops, io_size or number_ios",
        fault: "does not end, is killed by a signal, or transfers another number of bytes, by chance",
        evidence: "fio --name=g --rw=write --size=64k --bs=4k --io_submit_mode=offload --fsync=2",
        applies: |set| {
            let deep = set.has("iodepth") && set.value("iodepth") != "1";
            let others = ["loops", "io_size", "number_ios", "fsync", "fdatasync", "sync_file_range", "write_barrier", "verify"];
            let kinds = set.value("ioengine") == "io_uring" || mixes(set) || set.value("rw").contains("trim");
            let offloads = set.value("io_submit_mode") == "offload";
            offloads && (deep || kinds || others.iter().any(|option| set.has(option)))
        },
    },
    Excluded {
        combination: "rw=randtrimwrite, zones",
        fault: "prints `bug in offset generation`, trims and writes at different offsets, and ends after a few",
        evidence: "fio --name=g --rw=randtrimwrite --filename={loop} --size=512k --bs=8k --zonemode=strided --zonesize=16k --zonerange=64k",
        applies: |set| set.value("rw") == "randtrimwrite" && set.has("zonesize"),
    },
    Excluded {
        combination: "rw=trimwrite, zones whose size is no multiple of two blocks, or blocks of several sizes",
        fault: "trims the blocks of the first zone, and writes the others without a trim",
        evidence: "fio --name=g --rw=trimwrite --filename={loop} --size=256k --bs=3k --zonemode=strided --zonesize=8k --zonerange=8k --zoneskip=56k",
        applies: |set| set.value("rw") == "trimwrite" && set.has("zonesize") && !zones_hold_pairs(set),
    },
    Excluded {
        combination: "ioengine=mmap, a size that is no multiple of bs, a longer file",
        fault: "is killed by a signal where the last block goes past what it mapped",
        evidence: "fio --name=g --rw=read --filesize=1m --size=513k --bs=8k --ioengine=mmap",
        applies: |set| {
            let longer = set.existing().is_some() || set.has("filesize") || set.value("filename") == "{loop}";
            set.value("ioengine") == "mmap" && is_ragged(set) && longer
        },
    },
    Excluded {
        combination: "bs_is_seq_rand, random I/O with a map of the blocks",
        fault: "looks blocks up by one size and marks them by the other: transfers a part of the size, and ends with 0",
        evidence: "fio --name=g --rw=randwrite --size=256k --bs=4k,16k --bs_is_seq_rand=1",
        applies: |set| {
            let random = random(set) || set.has("percentage_random");
            set.has("bs_is_seq_rand") && random && !set.has("norandommap")
        },
    },
    Excluded {
        combination: "random I/O with a map of the blocks, and larger blocks than another operation has (`randwrite` with `bs=4k,8k`)",
        fault: "looks blocks up by one size and marks them by the other: transfers a part of the size and ends with 0, or comes to blocks twice",
        evidence: "fio --name=g --rw=randwrite --size=128k --bs=4k,8k",
        applies: maps_by_another_size,
    },
    Excluded {
        combination: "rw=randtrimwrite, offset",
        fault: "does one trim and no write, and ends with 0",
        evidence: "fio --name=g --rw=randtrimwrite --filename={loop} --size=32k --bs=4k --offset=64k",
        applies: |set| set.value("rw") == "randtrimwrite" && set.has("offset"),
    },
    Excluded {
        combination: "random_generator=lfsr, blocks of several sizes or blockalign",
        fault: "ends after a few of all blocks with 0, or comes to blocks twice",
        evidence: "fio --name=g --rw=randrw --random_generator=lfsr --bs=4k,8k --size=128k",
        applies: |set| {
            let sizes = set.has("bsrange") || set.has("bssplit") || set.value("bs").contains(',');
            random(set) && set.value("random_generator") == "lfsr" && (sizes || set.has("blockalign"))
        },
    },
    Excluded {
        combination: "random_distribution=zoned_abs, zones that are longer than the file, or with an offset or zonemode=strided",
        fault: "prints `zoned_abs sizes exceed file size`, transfers nothing or a part of the size, and ends with 0",
        evidence: "fio --name=g --rw=randread --size=128k --bs=4k --random_distribution=zoned_abs:60/128k:40/64k",
        applies: |set| random(set) && zones_exceed(set),
    },
    Excluded {
        combination: "ioengine=mmap, unlink_each_loop, writes",
        fault: "does nothing in the second loop and leaves empty files, or is killed by a signal",
        evidence: "fio --name=g --rw=write --size=128k --bs=4k --ioengine=mmap --unlink_each_loop=1 --loops=2",
        applies: |set| set.value("ioengine") == "mmap" && set.has("unlink_each_loop") && writes(set),
    },
    Excluded {
        combination: "a filesize range that begins below bs",
        fault: "does not make a file for which it draws less than a block, and fails when it opens it: error 2",
        evidence: "fio --name=g --rw=read --size=128k --bs=64k --nrfiles=3 --filesize=16k-64k",
        applies: |set| {
            let drawn = set.value("filesize") == "16k-64k";
            drawn && smallest_by_operation(set).is_some_and(|sizes| sizes.iter().all(|&size| size > 16 << 10))
        },
    },
    Excluded {
        combination: "numjobs=0",
        fault: "makes clones until it has no room for another and fails, or does not end",
        evidence: "fio --name=g --numjobs=0 --rw=read:8k --size=130k --bs=20k",
        applies: |set| set.value("numjobs") == "0",
    },
    Excluded {
        combination: "verify=pattern_hdr",
        fault: "3.33 does not have it; later versions do",
        evidence: "fio --name=g --rw=write --size=64k --bs=4k --verify=pattern_hdr --verify_pattern=0x1234",
        applies: |set| set.value("verify") == "pattern_hdr",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_combination_excludes_its_own_evidence() {
        for one in EXCLUDED {
            let set = OptionSet::of_command(one.evidence);
            assert!((one.applies)(&set), "{}: {}", one.combination, one.evidence);
        }
    }

    #[test]
    fn usual_sets_are_drawn() {
        let commands = [
            "fio --name=g --rw=randwrite --size=256k --bs=4k --verify=md5 --verify_backlog=8",
            "fio --name=g --rw=randrw --size=256k --bs=4k --verify=md5",
            "fio --name=g --rw=randread --size=256k --bs=4k,8k",
            "fio --name=g --rw=randwrite --size=256k --bs=8k,4k",
            "fio --name=g --rw=randrw --size=256k --bsrange=4k-16k",
            "fio --name=g --rw=rw --size=256k --bs=4k --verify=pattern --verify_pattern=0x55 --loops=2",
            "fio --name=g --rw=read --filename=one:two --nrfiles=2 --direct=1 --ioengine=vsync",
            "fio --name=g --rw=read --size=256k --ioengine=vsync --iodepth=16 --iodepth_batch=4",
            "fio --name=g --rw=randread --size=64k --bs=4k --ioengine=libaio --iodepth=1 --io_submit_mode=offload",
            "fio --name=g --rw=write --size=64k --bs=4k --latency_target=10s --latency_window=1s --latency_percentile=99",
            "fio --name=g --rw=randread --size=256k --random_distribution=zoned_abs:60/128k:40/64k",
            "fio --name=g --rw=randrw --size=256k --bs=4k --nrfiles=4 --verify=md5",
            "fio --name=g --rw=write --filesize=1m --size=256k --bs=8k --ioengine=mmap",
            "fio --name=g --rw=read --size=256k --ioengine=mmap --unlink_each_loop=1 --loops=2",
            "fio --name=g --rw=trimwrite --filename={loop} --size=256k --bs=4k --zonemode=strided --zonesize=16k --zonerange=64k",
        ];
        for command in commands {
            let found = excluded(&OptionSet::of_command(command));
            assert!(found.is_none(), "{command}: {}", found.unwrap().combination);
        }
    }
}

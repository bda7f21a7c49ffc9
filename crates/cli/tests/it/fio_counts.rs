//! Tests I/O and sync counts, errors and exit codes of the fio front end, for option sets in which a generator found
//! differences. The expected values are the output of fio 3.33 with the same arguments.

use crate::support::{Home, hakaru, text};
use serde_json::Value;

/// Exit code, and for each job: error, counts of reads, writes and trims, and syncs.
type Printed = (i32, Vec<[u64; 5]>);

/// Runs a job `g`, with a file `g.0.0` of `there` bytes unless that is 0.
fn printed(words: &str, there: usize) -> Printed {
    let home = Home::new();
    if there > 0 {
        std::fs::write(home.work().join("g.0.0"), vec![7; there]).unwrap();
    }
    let out = hakaru(&home)
        .args(["fio", "--output-format=json", "--name=g"])
        .args(words.split(' '))
        .current_dir(home.work())
        .output()
        .unwrap();
    let json: Value = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|e| panic!("{words}: {e}: {}", text(&out.stderr)));
    let ios = |job: &Value, op: &str| job[op]["total_ios"].as_u64().unwrap();
    let jobs = json["jobs"].as_array().unwrap().iter().map(|job| {
        let error = job["error"].as_u64().unwrap();
        let [read, write, trim, sync] = ["read", "write", "trim", "sync"].map(|op| ios(job, op));
        [error, read, write, trim, sync]
    });
    (out.status.code().unwrap(), jobs.collect())
}

#[track_caller]
fn check(words: &str, there: usize, expected: (i32, &[[u64; 5]])) {
    assert_eq!(
        printed(words, there),
        (expected.0, expected.1.to_vec()),
        "{words}"
    );
}

#[test]
fn io_size_with_verify_is_reached_by_checked_passes() {
    let base = "--rw=write --size=64k --bs=4k --verify=md5";
    let with = |more: &str| format!("{base} {more}");
    check(&with("--io_size=256k"), 0, (0, &[[0, 32, 32, 0, 0]]));
    check(
        &with("--io_size=256k --fsync=1"),
        0,
        (0, &[[0, 32, 32, 0, 33]]),
    );
    check(
        &with("--io_size=300k --nrfiles=4"),
        0,
        (0, &[[0, 48, 48, 0, 0]]),
    );
    check(
        &with("--io_size=256k --do_verify=0"),
        0,
        (0, &[[0, 0, 16, 0, 0]]),
    );
    check(
        &with("--io_size=32k --loops=4"),
        0,
        (0, &[[0, 32, 32, 0, 0]]),
    );
    check(
        &with("--experimental_verify=1"),
        0,
        (0, &[[0, 16, 16, 0, 0]]),
    );
}

#[test]
fn another_pass_begins_with_the_flush_that_is_due() {
    check(
        "--rw=write --size=64k --bs=4k --io_size=256k --fsync=1",
        0,
        (0, &[[0, 0, 64, 0, 66]]),
    );
    check(
        "--rw=write --size=16k --bs=4k --loops=3 --fsync=1",
        0,
        (0, &[[0, 0, 12, 0, 13]]),
    );
    check(
        "--rw=write --size=16k --bs=4k --io_size=64k --fsync=3",
        0,
        (0, &[[0, 0, 16, 0, 6]]),
    );
    let checked = "--rw=write --size=16k --bs=4k --loops=2 --fsync=1 --verify=md5";
    check(checked, 0, (0, &[[0, 8, 8, 0, 8]]));
}

/// Returns the I/Os of a job in its `write_iolog`, as operation, offset and length.
fn traced(words: &str) -> Vec<String> {
    let home = Home::new();
    hakaru(&home)
        .args(["fio", "--name=g", "--write_iolog=io.log"])
        .args(words.split(' '))
        .current_dir(home.work())
        .output()
        .unwrap();
    let log = std::fs::read_to_string(home.work().join("io.log")).unwrap();
    let access = |line: &str| {
        let (_, access) = line.split_once(" g.0.0 ")?;
        access.contains(' ').then(|| access.to_owned())
    };
    log.lines().filter_map(access).collect()
}

/// Returns the writes and the reads of a job, as offset and length in the order of its `write_iolog`.
fn logged(words: &str) -> [Vec<(u64, u64)>; 2] {
    let traced = traced(words);
    ["write", "read"].map(|op| {
        let access = |line: &String| {
            let (offset, len) = line.strip_prefix(op)?.trim().split_once(' ')?;
            Some((offset.parse().unwrap(), len.parse().unwrap()))
        };
        traced.iter().filter_map(access).collect()
    })
}

/// fio reads blocks back in order of offset, unless a block map prevents a random job from writing a block twice.
#[test]
fn random_blocks_are_read_back_in_the_order_of_the_writes() {
    let base = "--rw=randwrite --verify=crc32c";
    for words in [
        "--bs=4k --size=300001",
        "--bs=4k --size=64k --loops=2",
        "--size=256k --bssplit=4k/50:16k/50",
        "--size=100001 --bsrange=2k-9k --bs_unaligned",
    ] {
        let [writes, reads] = logged(&format!("{base} {words}"));
        assert_eq!(writes, reads, "{words}");
    }
    for words in [
        "--norandommap",
        "--random_generator=lfsr",
        "--random_distribution=zipf:1.2",
    ] {
        let [writes, reads] = logged(&format!("{base} --bs=4k --size=256k {words}"));
        assert!(reads.is_sorted() && !writes.is_sorted(), "{words}");
    }
}

/// fio starts such jobs: the file is laid out, the first I/O fails and is counted.
#[test]
fn what_the_target_refuses_fails_at_the_first_io() {
    for rw in ["trim", "trimwrite"] {
        let words = format!("--rw={rw} --size=64k --bs=4k");
        check(&words, 0, (1, &[[25, 0, 0, 1, 0]]));
        assert_eq!(traced(&words), ["trim 0 4096"], "{words}");
    }
}

/// fio starts such a job and creates its logs before it finds that the file is missing.
#[test]
fn a_job_without_its_file_leaves_empty_logs() {
    for (words, code) in [("--readonly", 1), ("--nrfiles=0", 0)] {
        let home = Home::new();
        let out = hakaru(&home)
            .args(["fio", "--name=g", words])
            .args("--rw=read --bs=4k --size=64k --write_lat_log=acc".split(' '))
            .current_dir(home.work())
            .output()
            .unwrap();
        assert_eq!(out.status.code(), Some(code), "{}", text(&out.stderr));
        for kind in ["lat", "slat", "clat"] {
            let log = std::fs::read(home.work().join(format!("acc_{kind}.1.log")));
            assert_eq!(log.unwrap(), b"", "{words} {kind}");
        }
    }
}

/// fio saves the first segment of a block with a bad header as `FILE.OFFSET.hdr_fail`, and nothing after it.
#[test]
fn a_dump_of_a_bad_header_is_named_by_it() {
    let home = Home::new();
    let out = hakaru(&home)
        .args("fio --name=g --rw=read --bs=4k --size=16k --verify=crc32c --verify_interval=1k --verify_dump=1".split(' '))
        .current_dir(home.work())
        .output()
        .unwrap();
    let printed = text(&out.stderr);
    assert!(
        printed.contains("hdr_fail data dumped as g.0.0.0.hdr_fail"),
        "{printed}"
    );
    let names = std::fs::read_dir(home.work()).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["g.0.0", "g.0.0.0.hdr_fail"]);
}

/// fio times each `fdatasync` and `sync_file_range`, and counts them as short reads and writes.
#[test]
fn only_fsync_counts_as_a_sync() {
    let job = "--rw=write --size=32k --bs=4k";
    for (rule, syncs) in [
        ("--fdatasync=2", 0),
        ("--fdatasync=3 --fsync=2", 3),
        ("--fsync=1", 7),
        ("--sync_file_range=write:4", 0),
    ] {
        check(&format!("{job} {rule}"), 0, (0, &[[0, 0, 8, 0, syncs]]));
    }
}

#[test]
fn of_a_range_of_sizes_the_end_counts() {
    check(
        "--rw=read --bs=4k --size=200k-300k",
        0,
        (0, &[[0, 75, 0, 0, 0]]),
    );
    check("--rw=read --bs=4k --size=-64k", 0, (0, &[[0, 16, 0, 0, 0]]));
    check("--rw=read --bs=4k --size=64k-", 0, (0, &[[0, 16, 0, 0, 0]]));
    check(
        "--rw=read --bs=4k --filesize=128k --size=110%",
        0,
        (0, &[[0, 32, 0, 0, 0]]),
    );
    check(
        "--rw=read --bs=4k --nrfiles=0 --size=64k",
        0,
        (0, &[[0; 5]]),
    );
}

#[test]
fn files_that_may_not_be_made_are_errors_of_their_jobs() {
    check(
        "--readonly --rw=read --bs=4k --size=64k",
        0,
        (1, &[[2, 0, 0, 0, 0]]),
    );
    check(
        "--readonly --rw=read --bs=4k --size=64k",
        10_000,
        (1, &[[5, 4, 0, 0, 0]]),
    );
    let none = [0; 5];
    check(
        "--allow_file_create=0 --rw=read --size=64k --numjobs=2",
        0,
        (2, &[none, none]),
    );
    check(
        "--allow_file_create=0 --rw=write --size=64k",
        10_000,
        (1, &[none]),
    );
}

/// fio completes a queued read behind the end of a file with 0 bytes; with a synchronous engine it fails with EIO.
#[test]
fn queued_reads_behind_the_end_complete_without_data() {
    let words = "--readonly --rw=read --bs=4k --size=32k";
    for (engine, ios) in [("libaio", 8), ("posixaio", 8), ("psync", 3)] {
        let error = if ios == 8 { 0 } else { 5 };
        let expected: (i32, &[[u64; 5]]) = (i32::from(error > 0), &[[error, ios, 0, 0, 0]]);
        check(&format!("{words} --ioengine={engine}"), 8192, expected);
    }
}

/// fio removes all files between two loops; a job that only reads cannot create them again.
#[test]
fn files_of_each_loop_are_removed_together() {
    let words = "--size=128k --bs=4k --nrfiles=4 --unlink_each_loop=1";
    for engine in ["psync", "posixaio", "vsync"] {
        let words = format!("{words} --ioengine={engine}");
        let read = format!("--rw=read --loops=2 {words}");
        check(&read, 0, (1, &[[2, 32, 0, 0, 0]]));
        let write = format!("--rw=write --loops=3 {words}");
        check(&write, 0, (0, &[[0, 0, 96, 0, 0]]));
    }
    let mapped = format!("--rw=read --loops=2 --ioengine=mmap {words}");
    check(&mapped, 0, (1, &[[2, 32, 0, 0, 0]]));
}

#[test]
fn clones_that_begin_behind_the_end_fail_alone() {
    let words =
        "--rw=read --bs=4k --numjobs=2 --filename=g.0.0 --filesize=64k --offset_increment=64k";
    check(words, 64 << 10, (1, &[[0, 16, 0, 0, 0], [0; 5]]));
}

#[test]
fn mapped_files_that_are_flushed_need_whole_pages() {
    let failed = [1, 0, 0, 0, 0];
    let words = "--ioengine=mmap --rw=write --size=64k";
    check(
        &format!("{words} --bs=1k --fsync=1 --numjobs=2"),
        0,
        (2, &[failed, failed]),
    );
    check(
        &format!("{words} --bs=64k,1k --fdatasync=4"),
        0,
        (1, &[failed]),
    );
    check(
        &format!("{words} --bs=1k --end_fsync=1"),
        0,
        (0, &[[0, 0, 64, 0, 0]]),
    );
}

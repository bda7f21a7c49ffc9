//! Runs the fio commands of five published card comparisons unchanged, except for the paths and a few appended options
//! that make them short.

use crate::support::{self, Home, hakaru};
use std::path::Path;
use std::process::{Command, Output};

/// Each command as printed, with `{dir}` in place of its directory, and the options that make it short enough for a
/// test.
const ON_FILES: [(&str, &str); 6] = [
    (
        "-filename={dir}/testtmp -direct=1 -rw=randwrite -bs=4k -size=1000M -numjobs=16 -runtime=20 -group_reporting -name=file1",
        "-size=20M -runtime=1",
    ),
    (
        "--name=sdtest --filename=~/fiotest.tmp --size=200M --bs=1M --rw=readwrite --direct=1 --numjobs=1",
        "--size=40M --time_based --runtime=1",
    ),
    (
        "--name=latp --filename=~/latp.tmp --size=1G --bs=4k --rw=randread --iodepth=1 --direct=1 --time_based=1 --runtime=30 --lat_percentiles=1 --percentile_list=95:99:99.9",
        "--size=20M --runtime=1",
    ),
    (
        "--name=fsync --filename=~/fsync.tmp --size=256M --bs=4k --rw=write --direct=1 --iodepth=1 --fsync=1 --runtime=30 --time_based=1",
        "--size=16M --runtime=1",
    ),
    (
        "--name=sustain --filename=~/sustain.tmp --size=3G --bs=1M --rw=write --direct=1 --time_based=1 --runtime=120 --iodepth=2",
        "--size=64M --runtime=1",
    ),
    (
        "-filename={dir}/test1g -direct=1 -rw=write -bs=4k -size=1G -name=file1",
        "-size=8M -time_based -runtime=1",
    ),
];

/// The raw commands of the six-card comparison, including the option that lost its dashes in print.
const RAW: &str = "--name=write_bandwidth_test --filename={dev} --filesize=16G --time_based --ramp_time=2s --runtime=60 \
                   --ioengine=sync --direct=1 --bs={bs} --iodepth=1 numjobs=1 --rw={rw} --fsync_on_close=1 --invalidate=1";

/// The vfat commands of the six-card comparison.
const VFAT: &str = "--name=write_bandwidth_test --directory={dir} --filesize=4095M --time_based --ramp_time=2s --runtime=60 \
                    --ioengine=sync --direct=1 --bs={bs} --iodepth=1 numjobs=1 --rw={rw} --fsync_on_close=1 --invalidate=1";

const WORKLOADS: [(&str, &str); 4] = [
    ("1M", "write"),
    ("1M", "read"),
    ("4K", "randwrite"),
    ("4K", "randread"),
];

/// Sections that every text result contains.
const BLOCKS: [&str; 9] = [
    "(groupid=0, jobs=",
    "clat percentiles",
    "bw (",
    "iops        :",
    "cpu          :",
    "IO depths    :",
    "issued rwts:",
    "Run status group 0 (all jobs):",
    "latency   : target=0",
];

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn run(home: &Home, command: &str, shorter: &str, more: &[&str]) -> Output {
    let mut program: Command = hakaru(home);
    program
        .current_dir(home.work())
        .arg("fio")
        .args(words(command))
        .args(words(shorter))
        .args(more)
        .output()
        .unwrap()
}

#[track_caller]
fn check(home: &Home, command: &str, shorter: &str) {
    let out = run(home, command, shorter, &[]);
    let (stdout, stderr) = (support::text(&out.stdout), support::text(&out.stderr));
    assert!(out.status.success(), "{command}\n{stderr}");
    for block in BLOCKS {
        assert!(
            stdout.contains(block),
            "{command}: no `{block}` in\n{stdout}"
        );
    }
    if command.contains("--fsync=1") {
        assert!(
            stdout.contains("fsync/fdatasync/sync_file_range:"),
            "{stdout}"
        );
    }
    let out = run(home, command, shorter, &["--output-format=json"]);
    let json: serde_json::Value =
        serde_json::from_slice(&out.stdout).expect("standard output is JSON and nothing else");
    let job = &json["jobs"][0];
    let ios = ["read", "write"]
        .iter()
        .map(|op| job[op]["total_ios"].as_u64().unwrap())
        .sum::<u64>();
    assert!(ios > 0 && job["error"] == 0, "{command}: {job}");
}

#[test]
fn commands_on_files_run_as_printed() {
    let home = Home::new();
    for (command, shorter) in ON_FILES {
        check(
            &home,
            &command.replace("{dir}", home.work().to_str().unwrap()),
            shorter,
        );
    }
    assert!(
        home.path().join("fiotest.tmp").exists(),
        "a tilde leads home"
    );
}

#[test]
fn commands_on_a_device_run_as_printed() {
    let home = Home::new();
    let Some(disk) = support::root_loop_sparse(&home, 17 << 30) else {
        return;
    };
    for (bs, rw) in WORKLOADS {
        let command = RAW
            .replace("{dev}", disk.device())
            .replace("{bs}", bs)
            .replace("{rw}", rw);
        check(&home, &command, "--ramp_time=0 --runtime=1 --filesize=64M");
    }
}

#[test]
fn commands_in_a_directory_run_as_printed_and_warn_of_the_lost_dashes() {
    let home = Home::new();
    let dir = home.work();
    for (bs, rw) in WORKLOADS {
        let command = VFAT
            .replace("{dir}", dir.to_str().unwrap())
            .replace("{bs}", bs)
            .replace("{rw}", rw);
        check(&home, &command, "--ramp_time=0 --runtime=1 --filesize=32M");
        let out = run(
            &home,
            &command,
            "--ramp_time=0 --runtime=1 --filesize=32M",
            &["--parse-only"],
        );
        assert!(
            support::text(&out.stderr).contains("numjobs=1"),
            "{}",
            support::text(&out.stderr)
        );
    }
}

#[test]
fn a_link_named_fio_is_fio() {
    let home = Home::new();
    let program = hakaru(&home).get_program().to_owned();
    let link = home.path().join("fio");
    std::os::unix::fs::symlink(Path::new(&program), &link).unwrap();
    let out = Command::new(link).arg("--version").output().unwrap();
    assert_eq!(support::text(&out.stdout), "fio-3.39\n");
}

#[test]
fn a_device_in_use_is_not_written_to() {
    let home = Home::new();
    let Some(disk) = support::root_loop(&home, 32 << 20) else {
        return;
    };
    let mount = disk.mkfs_and_mount("ext4");
    // Mounted writable, a file system can write at any time.
    let read_only = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(&mount)
        .status();
    assert!(read_only.unwrap().success());
    let before = std::fs::read(disk.device()).unwrap();
    let command = format!(
        "--name=x --filename={} --rw=write --bs=1M --size=8M",
        disk.device()
    );
    let out = run(&home, &command, "", &[]);
    let said = support::text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("mounted"), "{said}");
    assert!(
        before == std::fs::read(disk.device()).unwrap(),
        "the device was touched"
    );
}

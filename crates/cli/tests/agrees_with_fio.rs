//! Compares `hakaru bench` and fio on a target whose speed is limited by the I/O throttle of the kernel: the results
//! must agree.
//!
//! A control group limits the speed of a loop device, and both programs run in it alternately for several rounds.

#[path = "it/support/mod.rs"]
mod support;

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::Command;
use support::{Home, hakaru, records, root_loop};

const ROUNDS: usize = 3;
/// Throttled rates: IOPS and bytes/s.
const READ_IOPS: u64 = 400;
const WRITE_IOPS: u64 = 200;
const BYTES_PER_S: u64 = 24_000_000;

/// A control group that throttles a device; removed when dropped.
struct SlowGroup(PathBuf);

impl SlowGroup {
    fn new(device: &str) -> Option<SlowGroup> {
        let number = std::fs::metadata(device).ok()?.rdev();
        let number = format!("{}:{}", number >> 8 & 0xfff, number & 0xff);
        let name = format!("hakaru-test-{}", std::process::id());
        let write = |file: PathBuf, text: String| std::fs::write(file, text).ok();
        let old = PathBuf::from("/sys/fs/cgroup/blkio").join(&name);
        if std::fs::create_dir(&old).is_ok() {
            let group = SlowGroup(old);
            let limits = [
                ("read_iops", READ_IOPS),
                ("write_iops", WRITE_IOPS),
                ("read_bps", BYTES_PER_S),
                ("write_bps", BYTES_PER_S),
            ];
            for (limit, rate) in limits {
                write(
                    group.0.join(format!("blkio.throttle.{limit}_device")),
                    format!("{number} {rate}"),
                )?;
            }
            return Some(group);
        }
        // Path in control groups version 2.
        let new = PathBuf::from("/sys/fs/cgroup").join(&name);
        std::fs::create_dir(&new).ok()?;
        let group = SlowGroup(new);
        let limits = format!(
            "{number} riops={READ_IOPS} wiops={WRITE_IOPS} rbps={BYTES_PER_S} wbps={BYTES_PER_S}"
        );
        write(group.0.join("io.max"), limits)?;
        Some(group)
    }

    /// Wraps a command so that it runs in the group.
    fn wrap(&self, command: &Command) -> Command {
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg("echo $$ > \"$0/cgroup.procs\" && exec \"$@\"")
            .arg(&self.0)
            .arg(command.get_program());
        shell.args(command.get_args());
        for (name, value) in command.get_envs() {
            shell.env(name, value.unwrap_or_default());
        }
        shell
    }
}

impl Drop for SlowGroup {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

fn fio_iops(group: &SlowGroup, file: &std::path::Path, rw: &str, bs: &str) -> f64 {
    let mut fio = Command::new("fio");
    fio.args([
        "--name=j",
        "--size=32m",
        "--direct=1",
        "--ioengine=psync",
        "--time_based",
        "--output-format=json",
    ]);
    fio.args(["--ramp_time=150ms", "--runtime=1500ms"])
        .arg(format!("--rw={rw}"))
        .arg(format!("--bs={bs}"));
    fio.arg(format!("--filename={}", file.display()));
    let out = group.wrap(&fio).output().unwrap();
    let text = support::text(&out.stdout);
    let json: serde_json::Value =
        serde_json::from_str(&text[text.find('{').unwrap_or(0)..]).expect("fio prints JSON");
    let op = if rw.contains("write") {
        "write"
    } else {
        "read"
    };
    json["jobs"][0][op]["iops"].as_f64().unwrap()
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance =
        values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64;
    (mean, variance.sqrt())
}

#[test]
fn both_measure_the_same_on_a_held_target() {
    let home = Home::new();
    if Command::new("fio").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: fio is not installed");
    }
    let Some(disk) = root_loop(&home, 128 << 20) else {
        return;
    };
    let mount = disk.mkfs_and_mount("ext4");
    let Some(group) = SlowGroup::new(disk.device()) else {
        return eprintln!("SKIPPED: no control group can slow a device down here");
    };
    let file = mount.join("fio.data");
    std::fs::write(&file, vec![0x5au8; 32 << 20]).unwrap();
    let jobs = [
        ("rand-read", "randread", "4k"),
        ("rand-write", "randwrite", "4k"),
        ("seq-write", "write", "1m"),
    ];
    let mut theirs = vec![Vec::new(); jobs.len()];
    for _ in 0..ROUNDS {
        let mut ours = hakaru(&home);
        ours.args([
            "bench",
            "--quick",
            "--repeat=1",
            "--size=32MiB",
            "--only=rand-read,rand-write,seq-write",
        ]);
        let out = group.wrap(ours.arg(&mount)).output().unwrap();
        assert!(out.status.success(), "{}", support::text(&out.stderr));
        for ((_, rw, bs), theirs) in jobs.iter().zip(&mut theirs) {
            theirs.push(fio_iops(&group, &file, rw, bs));
        }
    }
    let records = records(&home);
    for ((phase, ..), theirs) in jobs.iter().zip(&theirs) {
        let of = |record: &hakaru_model::record::RunRecord| {
            let worker = &record
                .phases
                .iter()
                .find(|p| p.name == *phase)
                .unwrap()
                .workers[0];
            (worker.ops.read.ios + worker.ops.write.ios) as f64 / worker.runtime.as_secs_f64()
        };
        let ours: Vec<f64> = records.iter().map(of).collect();
        let ((a, sd_a), (b, sd_b)) = (mean_and_deviation(&ours), mean_and_deviation(theirs));
        // The throttle releases I/Os in slices of 100 ms, so the uncertainty of a 1.5 s run is one slice.
        let allowed = (3.0 * sd_a.max(sd_b)).max(b / 15.0);
        println!("{phase}: ours {a:.1} ± {sd_a:.1}, fio {b:.1} ± {sd_b:.1} IOPS");
        assert!(
            (a - b).abs() <= allowed,
            "{phase}: ours {ours:?}, fio {theirs:?}"
        );
    }
}

//! Tests an emulated zoned block device (`null_blk`) with hakaru's fio front end and the original.
//!
//! The device rejects writes outside the write pointer of a zone, and too many open zones: a job without errors has
//! followed the rules.

use super::checks::Checks;
use super::full::RigSetup;
use anyhow::{Context, Result, ensure};
use hakaru_rig::guest::{Guest, GuestBuilder};
use serde_json::Value;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

/// 256 zones of 4 MiB with 3 MiB writable, the first two conventional; at most six open.
const DEVICE: &str = "modprobe configfs; modprobe null_blk nr_devices=1 gb=1 zoned=1 zone_size=4 zone_capacity=3 \
    zone_nr_conv=2 zone_max_open=6 zone_max_active=6 && cat /sys/block/nullb0/queue/zoned";

/// The jobs, on initially empty zones; each continues with the state of the previous one.
const JOBS: &[(&str, &str)] = &[
    (
        "zone after zone",
        "--rw=write --bs=64k --offset=8m --size=32m",
    ),
    (
        "over what is full",
        "--rw=write --bs=64k --offset=8m --size=32m",
    ),
    (
        "at random, some zones open",
        "--rw=randwrite --bs=64k --offset=64m --size=64m --io_size=16m --max_open_zones=4",
    ),
    (
        "two workers, eight in flight",
        "--rw=randwrite --bs=16k --offset=64m --size=64m --io_size=4m --max_open_zones=4 --numjobs=2 \
         --ioengine=libaio --iodepth=8 --group_reporting",
    ),
    (
        "reads of what is written",
        "--rw=randread --bs=64k --offset=8m --size=32m",
    ),
    (
        "beyond what is written",
        "--rw=read --bs=64k --offset=512m --size=16m --read_beyond_wp=1",
    ),
    ("trims", "--rw=trim --bs=4m --offset=8m --size=32m"),
    ("zones for any place", "--rw=randwrite --bs=64k --size=8m"),
    (
        "emptied while it writes",
        "--rw=randwrite --bs=64k --offset=256m --size=16m --io_size=32m --max_open_zones=2 \
         --zone_reset_threshold=0.3 --zone_reset_frequency=0.1",
    ),
];

/// Runs every job with both programs on separate devices.
pub(super) fn main(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let hakaru = format!("{} fio", rig.hakaru);
    let ours = run_all(rig, &hakaru, checks)?;
    let real = run_all(rig, "fio", checks)?;
    for (((name, _), ours), real) in JOBS.iter().zip(ours).zip(real) {
        checks.check(name, || {
            let (ours, real) = (ours?, real.context("the real fio")?);
            ensure!(
                ours.errors == 0 && ours == real,
                "{ours:?}, the real fio {real:?}"
            );
            Ok(format!(
                "{} reads, {} writes, {} trims, as by the real fio",
                ours.reads, ours.writes, ours.trims
            ))
        });
    }
    Ok(())
}

/// Runs every job with one program on a new device. Of hakaru it also checks the refusals.
fn run_all(rig: &RigSetup, program: &str, checks: &mut Checks) -> Result<Vec<Result<ZoneOps>>> {
    let mut guest = GuestBuilder::new(&rig.kit).boot()?;
    let model = guest.check_output(DEVICE, LIMIT)?;
    ensure!(model.trim() == "host-managed", "the device is {model}");
    let counts = JOBS.iter().map(|(_, job)| run(&mut guest, program, job));
    let counts = counts.collect();
    if program != "fio" {
        checks.check("a write elsewhere is refused by the device", || {
            elsewhere(&mut guest, program)
        });
        checks.check("more open zones than it can have", || {
            too_many(&mut guest, program)
        });
    }
    guest.power_off()?;
    Ok(counts)
}

/// Counts of a job.
#[derive(Debug, PartialEq, Eq)]
struct ZoneOps {
    reads: u64,
    writes: u64,
    trims: u64,
    errors: u64,
}

fn run(guest: &mut Guest, program: &str, job: &str) -> Result<ZoneOps> {
    let command = format!(
        "{program} --name=j --filename=/dev/nullb0 --zonemode=zbd --direct=1 {job} --output-format=json --output=/out/r"
    );
    let output = guest.run(&command, LIMIT)?;
    let text = std::fs::read_to_string(guest.out().join("r")).unwrap_or_default();
    let from = text
        .find('{')
        .with_context(|| format!("exit {}: {}", output.code, output.both()))?;
    let tree: Value = serde_json::from_str(&text[from..])?;
    let job = &tree["jobs"][0];
    let count = |op: &str| job[op]["total_ios"].as_u64().unwrap_or(0);
    let errors = job["error"].as_u64().unwrap_or(0);
    Ok(ZoneOps {
        reads: count("read"),
        writes: count("write"),
        trims: count("trim"),
        errors,
    })
}

/// Runs the same job without the zone mode. It must fail, which shows that the device enforces its rules.
fn elsewhere(guest: &mut Guest, program: &str) -> Result<String> {
    let command = format!(
        "{program} --name=j --filename=/dev/nullb0 --direct=1 --rw=randwrite --bs=64k --offset=128m --size=8m"
    );
    let output = guest.run(&command, LIMIT)?;
    ensure!(output.code != 0, "it went through: {}", output.stdout);
    Ok("as it should be".to_owned())
}

fn too_many(guest: &mut Guest, program: &str) -> Result<String> {
    let command = format!(
        "{program} --name=j --filename=/dev/nullb0 --direct=1 --zonemode=zbd --rw=randwrite --bs=64k --max_open_zones=20"
    );
    let output = guest.run(&command, LIMIT)?;
    let said = output
        .stderr
        .lines()
        .find(|line| line.contains("max_open_zones=20"))
        .unwrap_or_default();
    ensure!(
        output.code != 0 && said.contains("more than the limit of the device, 6;"),
        "{}",
        output.stderr
    );
    Ok(said.trim().to_owned())
}

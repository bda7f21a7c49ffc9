//! Compares traced runs with the ledger of the card: bytes and commands must be equal, and device time nearly so.
//!
//! Bytes and commands are compared in every attempt. Times are compared on a quiet host only, command by command: a
//! guest that waits for a processor measures more than the card charges. All commands with both times are written to
//! `target/rig/trace`.

mod compare;
mod interrupted;

pub(super) use compare::{ComparedCommand, TimeComparison, by_class, commands};

use super::cards;
use super::checks::Checks;
use super::fat::FatVolume;
use super::full::{self, RigSetup};
use super::host::{HostBusy, HostWatch};
use super::traced::{TracedJob, TracedMachine, TracedResult};
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use compare::CommandsAfterTrace;
use hakaru_model::io_path::{IoClass, IoPath};
use std::time::{Duration, Instant};

/// Accepted relative deviation of the device time.
pub(super) const TOLERANCE: f64 = 0.05;

/// Runs of a workload before its time counts as wrong, or as not judged.
const ATTEMPTS: u32 = 3;

/// After this time no workload is repeated, so that the group ends on a busy host, too.
const REPEATED_FOR: Duration = Duration::from_secs(420);

/// A layer: its name, the command that creates and mounts it, and the target of jobs in it.
type LayerSetup = (&'static str, &'static str, &'static str);

const LAYERS: [LayerSetup; 4] = [
    ("raw", "true", "--filename=/dev/mmcblk0"),
    (
        "vfat",
        "mkfs.vfat -F 32 -I /dev/mmcblk0 >&2 && mount /dev/mmcblk0 /mnt",
        "--directory=/mnt",
    ),
    (
        "ext4",
        "mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 /dev/mmcblk0 && mount /dev/mmcblk0 /mnt",
        "--directory=/mnt",
    ),
    (
        "f2fs",
        "mkfs.f2fs -q -f -t 0 /dev/mmcblk0 && mount -o nodiscard /dev/mmcblk0 /mnt",
        "--directory=/mnt",
    ),
];

/// A workload: its name, options of fio, and number of workers.
type TracedWorkload = (&'static str, &'static str, usize);

const WORKLOADS: [TracedWorkload; 4] = [
    (
        "sequential",
        "--rw=write --bs=256k --size=1m --direct=1 --end_fsync=1",
        1,
    ),
    (
        "random",
        "--rw=randwrite --bs=4k --size=512k --direct=1 --end_fsync=1",
        1,
    ),
    (
        "synced",
        // The last write is not followed by an fsync.
        "--rw=randwrite --bs=4k --size=128k --fsync=1 --end_fsync=1",
        1,
    ),
    (
        "sixteen",
        "--rw=randwrite --bs=4k --size=32k --direct=1 --end_fsync=1 --numjobs=16",
        16,
    ),
];

/// A file that grows: each write needs new space.
const APPENDED: TracedWorkload = (
    "appended",
    "--rw=write --bs=4k --size=128k --direct=1 --fsync=1 --end_fsync=1 --create_on_open=1 --fallocate=none",
    1,
);

/// Runs the group alone.
///
/// # Errors
/// If a check fails, or the host was too busy to judge most of the times.
pub(super) fn part(args: &[String]) -> Result<()> {
    let args: Vec<String> = args.iter().cloned().chain(["trace".to_owned()]).collect();
    let not_judged = full::run(&args)?.close()?;
    let times = LAYERS.len() * WORKLOADS.len() + LAYERS.len() - 1;
    ensure!(
        2 * not_judged <= times,
        "{not_judged} of {times} device times are not judged: repeat the test on a quiet host"
    );
    Ok(())
}

/// Tests each workload through each layer.
pub(super) fn main(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    // A card that absorbs gaps between commands charges more time than the guest waits.
    let card = cards::paced(cards::slow())?;
    let mut guest = rig.boot(&card)?;
    let until = Instant::now() + REPEATED_FOR;
    let mut machine = TracedMachine::new(&mut guest, &card, &rig.hakaru)?;
    for (layer, mount, target) in LAYERS {
        machine.prepare(&format!("umount /mnt 2>/dev/null; {mount}"))?;
        let appended = (layer != "raw").then_some(APPENDED);
        for workload in WORKLOADS.into_iter().chain(appended) {
            test(&mut machine, checks, layer, target, workload, until);
        }
    }
    guest.power_off()?;
    interrupted::main(rig, checks)
}

/// Tests one workload: its bytes and commands, and then its time, in several runs if the time is off.
fn test(
    machine: &mut TracedMachine<'_>,
    checks: &mut Checks,
    layer: &str,
    target: &str,
    (workload, options, workers): TracedWorkload,
    until: Instant,
) {
    let name = format!("{layer}-{workload}");
    let options = match layer {
        // Workers share the device, but each has a file of its own.
        "raw" if workers > 1 => format!("{options} --offset_increment=1m"),
        _ => options.to_owned(),
    };
    let (mut times, mut exact) = (Vec::new(), Ok(String::new()));
    for attempt in 1..=ATTEMPTS {
        if attempt > 1 && Instant::now() > until {
            break;
        }
        let watch = HostWatch::begin();
        let job = TracedJob {
            name: &format!("{name}-{attempt}"),
            options: &options,
            target,
            workers,
        };
        let result = machine.run(job);
        let compared = result.and_then(|result| compare(&result, layer, &name));
        let (shown, time) = match compared {
            Ok(compared) => compared,
            Err(error) => {
                let again = error.is::<CommandsAfterTrace>();
                exact = Err(error);
                if again {
                    continue;
                }
                break;
            }
        };
        exact = Ok(shown);
        let is_good = time.is_within(TOLERANCE);
        times.push((time, watch.busy()));
        if is_good {
            break;
        }
    }
    let failed = exact.is_err();
    checks.check(&format!("{layer}, {workload}"), || exact);
    if !failed {
        let name = format!("{layer}, {workload}: device time");
        checks.check(&name, || judge(&times));
    }
}

/// Judges the times of all attempts, of which the last one is good if any is.
fn judge(attempts: &[(TimeComparison, Option<String>)]) -> Result<String> {
    let shown: Vec<String> = attempts.iter().map(|(time, _)| time.to_string()).collect();
    let shown = shown.join("; again: ");
    let last = attempts.last().context("nothing was measured")?;
    if last.0.is_within(TOLERANCE) {
        return Ok(shown);
    }
    // One attempt on a quiet host suffices to fail.
    match attempts
        .iter()
        .map(|(_, busy)| busy.as_deref())
        .collect::<Option<Vec<_>>>()
    {
        Some(busy) => Err(HostBusy(format!("{}; {shown}", busy[0])).into()),
        None => bail!("{shown}"),
    }
}

/// Compares a path with the ledger of the same time.
fn compare(result: &TracedResult, layer: &str, name: &str) -> Result<(String, TimeComparison)> {
    let TracedResult {
        path, ledger, fat, ..
    } = result;
    let compared = commands(path, &ledger.commands)?;
    write_table(name, &compared)?;
    ensure_attributed(path, layer == "raw")?;
    if layer == "vfat" {
        ensure_classes(
            &compared,
            fat.as_ref().context("there is no FAT32 on the card")?,
        )?;
    }
    let times = TimeComparison::of(&compared).context("no commands")?;
    let shown = format!("{}; {} commands", by_class(path), compared.len());
    Ok((shown, times))
}

/// Writes both times of each command to a file.
fn write_table(name: &str, commands: &[ComparedCommand]) -> Result<()> {
    let dir = workspace::target().join("rig/trace");
    std::fs::create_dir_all(&dir)?;
    let file = dir.join(format!("{name}.csv"));
    std::fs::write(&file, compare::csv(commands))
        .with_context(|| format!("failed to write {}", file.display()))
}

/// Checks the class of each command by its address on the card.
pub(super) fn ensure_classes(commands: &[ComparedCommand], volume: &FatVolume) -> Result<()> {
    for command in commands {
        let class = volume.class_at(command.offset.0);
        ensure!(
            command.class == class,
            "{command:?} is {class:?} by its address"
        );
    }
    Ok(())
}

/// Checks that each request has a class, which on a raw card is always data.
pub(super) fn ensure_attributed(path: &IoPath, raw: bool) -> Result<()> {
    let is_foreign = |class: IoClass| class == IoClass::Unknown || raw && class != IoClass::Data;
    let foreign = path.classes.iter().find(|class| is_foreign(class.class));
    ensure!(
        foreign.is_none(),
        "{}; {:?}",
        by_class(path),
        path.layout_gaps
    );
    Ok(())
}

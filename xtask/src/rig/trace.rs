//! Compares traced runs with the ledger of the card: bytes and commands must be equal, and device time nearly so.
//!
//! Bytes and commands are compared in every attempt. Times are compared on a quiet host only, command by command: a
//! guest that waits for a processor measures more than the card charges. All commands with both times are written to
//! `target/rig/trace`.

mod compare;
mod interrupted;

pub(super) use compare::{ComparedCommand, TimeComparison, by_class, commands, commands_until_end};

use super::areas::CardAreas;
use super::cards;
use super::checks::Checks;
use super::full::{self, RigSetup};
use super::host::{HostBusy, HostWatch, Patience};
use super::product::record;
use super::traced::{TracedJob, TracedMachine, TracedResult, path_of};
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use compare::CommandsAfterTrace;
use hakaru_model::io_path::{ClassTraffic, IoClass, IoPath};
use hakaru_model::job::Op;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Accepted relative deviation of the device time.
pub(super) const TOLERANCE: f64 = 0.05;

/// Runs of a workload before its time counts as wrong, or as not judged. Whatever else the host does can only make them
/// longer.
const ATTEMPTS: u32 = 4;

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
    let mut machine = TracedMachine::new(&mut guest, &card, &rig.hakaru)?;
    let mut repeats = Repeats {
        until: Instant::now() + REPEATED_FOR,
        patience: Patience::new(),
    };
    for (layer, mount, target) in LAYERS {
        machine.prepare(&format!("umount /mnt 2>/dev/null; {mount}"))?;
        let appended = (layer != "raw").then_some(APPENDED);
        for workload in WORKLOADS.into_iter().chain(appended) {
            test(
                &mut machine,
                checks,
                (layer, target),
                workload,
                &mut repeats,
            );
        }
        if layer == "vfat" {
            checks.check("vfat, the file of bench", || unlinked(&mut machine, layer));
        }
    }
    guest.power_off()?;
    interrupted::main(rig, checks)
}

/// When workloads are repeated.
struct Repeats {
    /// After this time, none is.
    until: Instant,
    /// Before a repeat, the host should be quiet.
    patience: Patience,
}

impl Repeats {
    /// Waits until a repeat makes sense; whether it does.
    fn wait(&mut self) -> bool {
        let is_time_left = Instant::now() <= self.until;
        if is_time_left {
            self.patience.wait_for_quiet();
        }
        is_time_left
    }
}

/// Tests one workload: its bytes and commands, and then its time, in several runs if the time is off.
fn test(
    machine: &mut TracedMachine<'_>,
    checks: &mut Checks,
    (layer, target): (&str, &str),
    (workload, options, workers): TracedWorkload,
    repeats: &mut Repeats,
) {
    let name = format!("{layer}-{workload}");
    let options = match layer {
        // Workers share the device, but each has a file of its own.
        "raw" if workers > 1 => format!("{options} --offset_increment=1m"),
        _ => options.to_owned(),
    };
    let (mut times, mut exact) = (Vec::new(), Ok(String::new()));
    for attempt in 1..=ATTEMPTS {
        if attempt > 1 && !repeats.wait() {
            break;
        }
        let watch = HostWatch::begin();
        let job = TracedJob {
            name: &format!("{name}-{attempt}"),
            options: &options,
            target,
            workers,
        };
        let compared = machine.run(job).and_then(|result| {
            let areas = CardAreas::read(machine, layer)?;
            compare(&result, areas.as_ref(), &name)
        });
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

/// Compares a path with the ledger of the same time, and with the areas of the card, which a raw card does not have.
fn compare(
    result: &TracedResult,
    areas: Option<&CardAreas>,
    name: &str,
) -> Result<(String, TimeComparison)> {
    let TracedResult { path, ledger, .. } = result;
    let compared = commands(path, &ledger.commands)?;
    write_table(name, &compared)?;
    ensure_attributed(path, areas.is_none())?;
    if let Some(areas) = areas {
        let class_at = |offset| areas.class_at(offset);
        ensure_classes(&compared, class_at)?;
        ensure_bytes_by_class(path, &compared, class_at)?;
    }
    let times = TimeComparison::of(&compared).context("no commands")?;
    let shown = format!("{}; {} commands", by_class(path), compared.len());
    Ok((shown, times))
}

/// Checks that requests of a file without a name get the class of their address: `bench` removes the name of its file on
/// vfat, and then only the kernel knows where it is.
fn unlinked(machine: &mut TracedMachine<'_>, layer: &str) -> Result<String> {
    let hakaru = format!("{} --db /tmp/unlinked.db", machine.hakaru);
    let exported = machine.prepare(&format!(
        "cd /tmp && {hakaru} bench /mnt --quick --repeat 1 --size 16MiB --only rand-write --trace >&2 && {hakaru} export"
    ))?;
    let mut records = exported.lines().rev().filter_map(|line| record(line).ok());
    let path = records.find_map(|record| path_of(&record).ok());
    let path = path.with_context(|| format!("no round was traced: {exported:.2000}"))?;
    ensure_attributed(&path, false)?;
    let areas = CardAreas::read(machine, layer)?.context("there are no areas")?;
    let requests = path.sample.requests.iter();
    for request in requests.filter(|request| request.op.is_some()) {
        let class = areas.class_at(request.sector * 512);
        ensure!(
            request.class == class,
            "{request:?} is {class:?} by its address"
        );
    }
    let written =
        |class: &&ClassTraffic| (class.class, class.op) == (IoClass::Data, Some(Op::Write));
    let data = path.classes.iter().filter(written);
    let data: u64 = data.map(|class| class.bytes.0).sum();
    let asked = path.asked.iter().filter(|size| size.op == Op::Write);
    let asked: u64 = asked.map(|size| size.size.0 * size.count).sum();
    let edges = path.edges.at_start_bytes.0 + path.edges.at_end_bytes.0;
    ensure!(
        data > 0 && data.abs_diff(asked) <= edges,
        "{asked} bytes written, and {}; {:?}",
        by_class(&path),
        path.edges
    );
    Ok(by_class(&path))
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
pub(super) fn ensure_classes(
    commands: &[ComparedCommand],
    class_at: impl Fn(u64) -> IoClass,
) -> Result<()> {
    for command in commands {
        let class = class_at(command.offset.0);
        ensure!(
            command.class == class,
            "{command:?} is {class:?} by its address"
        );
    }
    Ok(())
}

/// Checks the bytes of each class: those that the card has logged, divided by address.
pub(super) fn ensure_bytes_by_class(
    path: &IoPath,
    commands: &[ComparedCommand],
    class_at: impl Fn(u64) -> IoClass,
) -> Result<()> {
    const SECTOR: u64 = 512;
    let mut by_card: BTreeMap<(&str, IoClass), u64> = BTreeMap::new();
    for command in commands {
        let end = command.offset.0 + command.len.0;
        for sector in (command.offset.0..end).step_by(SECTOR as usize) {
            let class = (command.op.name(), class_at(sector));
            *by_card.entry(class).or_default() += SECTOR;
        }
    }
    let mut traced: BTreeMap<(&str, IoClass), u64> = BTreeMap::new();
    for class in path.classes.iter().filter(|class| class.bytes.0 > 0) {
        if let Some(op) = class.op {
            *traced.entry((op.name(), class.class)).or_default() += class.bytes.0;
        }
    }
    ensure!(
        traced == by_card,
        "bytes by class: {traced:?} traced, and {by_card:?} by the addresses on the card"
    );
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

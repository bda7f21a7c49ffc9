//! Compares traced runs with the ledger of the card: bytes and commands must be equal, and device time nearly so.
//!
//! The ledger is taken when the workers are about to start and when the last one has ended: commands before and after
//! each job wait for the host. Reading the layout of the file system, before and after that, is not in the ledger.

use super::cards;
use super::checks::{Checks, poll};
use super::full::{self, RigSetup};
use super::host::{HostBusy, HostWatch};
use super::product::record;
use anyhow::{Context, Result, bail, ensure};
use hakaru_model::io_path::{IoClass, IoPath, SampledRequest};
use hakaru_model::job::Op;
use hakaru_rig::card::{CardLedger, SimulatedCard};
use hakaru_rig::guest::Guest;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(180);

/// Accepted relative deviation of the device time.
const TOLERANCE: f64 = 0.05;

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
        "--rw=write --bs=256k --size=4m --direct=1 --end_fsync=1",
        1,
    ),
    (
        "random",
        "--rw=randwrite --bs=4k --size=1m --direct=1 --end_fsync=1",
        1,
    ),
    (
        "synced",
        // The last write is not followed by an fsync.
        "--rw=randwrite --bs=4k --size=256k --fsync=1 --end_fsync=1",
        1,
    ),
    (
        "sixteen",
        "--rw=randwrite --bs=4k --size=64k --direct=1 --end_fsync=1 --numjobs=16 --offset_increment=1m",
        16,
    ),
];

/// Waits in the guest until the host has taken the ledger.
const GATE: &str = "touch /out/$1.$$\nwhile [ ! -e /out/$1.go ]; do sleep 0.05; done\n";

/// Runs the group alone.
///
/// # Errors
/// If a check fails.
pub(super) fn part(args: &[String]) -> Result<()> {
    let args: Vec<String> = args.iter().cloned().chain(["trace".to_owned()]).collect();
    full::main(&args)
}

/// Tests each workload through each layer.
pub(super) fn main(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    // A card that absorbs gaps charges more time than the guest waits.
    let card = Arc::new(SimulatedCard::new(cards::nimble(), 1)?);
    let mut guest = rig.boot(&card)?;
    std::fs::write(guest.out().join("gate.sh"), GATE)?;
    for (layer, mount, target) in LAYERS {
        card.hurry(true);
        guest.check_output(&format!("umount /mnt 2>/dev/null; {mount}"), LIMIT)?;
        card.hurry(false);
        for workload in WORKLOADS {
            checks.check(&format!("{layer}, {}", workload.0), || {
                let name = format!("{layer}-{}", workload.0);
                let watch = HostWatch::begin();
                let (path, ledger) = run(&mut guest, rig, &card, &name, target, workload)?;
                let exact = compare(&path, &ledger, layer == "raw")?;
                Ok(format!(
                    "{exact}; {}",
                    compare_times(&path, &ledger, &watch)?
                ))
            });
        }
    }
    Ok(guest.power_off()?)
}

/// Runs a traced job. Returns its path, and what the card did meanwhile.
fn run(
    guest: &mut Guest,
    rig: &RigSetup,
    card: &Arc<SimulatedCard>,
    name: &str,
    target: &str,
    (_, options, workers): TracedWorkload,
) -> Result<(IoPath, CardLedger)> {
    let (begin, end) = (format!("{name}.begin"), format!("{name}.end"));
    let script = format!(
        "cd /tmp && sync && {hakaru} --db /tmp/{name}.db fio --hakaru-trace=whole --name=job {target} {options} \
         --exec_prerun='sh /out/gate.sh {begin}' --exec_postrun='sh /out/gate.sh {end}' >&2 \
         && {hakaru} --db /tmp/{name}.db export",
        hakaru = rig.hakaru
    );
    let (out, of_host) = (guest.out().to_owned(), Arc::clone(card));
    let host = std::thread::spawn(move || -> Result<CardLedger> {
        open_gate(&out, &begin, workers, || drop(of_host.take_ledger()))?;
        open_gate(&out, &end, workers, || of_host.take_ledger())
    });
    let exported = guest.check_output(&script, LIMIT)?;
    let ledger = host
        .join()
        .ok()
        .context("the thread of the host panicked")??;
    let record = record(exported.lines().last().unwrap_or_default())?;
    let paths = record["phases"][0]["paths"].clone();
    let paths: Vec<IoPath> = serde_json::from_value(paths)
        .with_context(|| format!("no trace; caveats: {}", record["caveats"]))?;
    let path = paths.into_iter().next().context("no path")?;
    Ok((path, ledger))
}

/// Waits until all workers have come to a gate, does something, and opens the gate.
fn open_gate<T>(out: &Path, gate: &str, workers: usize, act: impl FnOnce() -> T) -> Result<T> {
    let waits = |file: &PathBuf| {
        let name = file.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(&format!("{gate}.")))
    };
    poll(LIMIT, || {
        let files = std::fs::read_dir(out).map_err(|error| error.to_string())?;
        let files = files.filter_map(|file| Some(file.ok()?.path()));
        match files.filter(waits).count() {
            all if all >= workers => Ok(()),
            some => Err(format!("{some} of {workers} workers at {gate}")),
        }
    })?;
    let result = act();
    std::fs::write(out.join(format!("{gate}.go")), "")?;
    Ok(result)
}

/// Compares a path with the ledger of the same time.
fn compare(path: &IoPath, ledger: &CardLedger, raw: bool) -> Result<String> {
    let by_class: Vec<String> = path
        .classes
        .iter()
        .map(|class| format!("{:?} {} in {}", class.class, class.bytes.0, class.requests))
        .collect();
    let shown = by_class.join(", ");
    ensure!(
        path.tracer.lost_share() == 0.0 && path.tracer.unseen_completions == 0,
        "events were lost: {:?}",
        path.tracer
    );
    let written = path.bytes(Op::Write);
    let counters = path.counters.context("no counters")?;
    ensure!(written == counters.written, "{counters:?}: {shown}");
    let (read, on_card) = (path.bytes(Op::Read), ledger.of(Op::Write));
    ensure!(
        (written, read) == (on_card.bytes, ledger.of(Op::Read).bytes),
        "the card wrote {} and read {}: {shown}",
        on_card.bytes.0,
        ledger.of(Op::Read).bytes.0
    );
    let foreign = path
        .classes
        .iter()
        .find(|class| class.class == IoClass::Unknown || raw && class.class != IoClass::Data);
    ensure!(foreign.is_none(), "{shown}; {:?}", path.layout_gaps);
    let sample = &path.sample;
    ensure!(
        sample.requests.len() as u64 == sample.drawn_from,
        "only {} of {} requests are in the sample",
        sample.requests.len(),
        sample.drawn_from
    );
    let commands = joined(&sample.requests);
    let counted = ledger.of(Op::Write).commands + ledger.of(Op::Read).commands;
    ensure!(
        commands == counted,
        "{commands} joined requests, and {counted} commands of the card: {shown}"
    );
    Ok(shown)
}

/// Compares the device time with that of the ledger, if the host was quiet: both clocks run on in a guest that waits for
/// a processor.
fn compare_times(path: &IoPath, ledger: &CardLedger, watch: &HostWatch) -> Result<String> {
    let commands = path
        .classes
        .iter()
        .filter_map(|class| class.commands.as_ref());
    let busy: u64 = commands.map(|commands| commands.busy.0).sum();
    let charged = ledger.busy().0;
    let device = busy as f64 / charged as f64 - 1.0;
    let shown = format!(
        "device time {:+.1}%: {busy} ns, {charged} ns by the ledger",
        device * 100.0
    );
    match watch.busy() {
        _ if device.abs() <= TOLERANCE => Ok(shown),
        Some(why) => Err(HostBusy(format!("{why}; {shown}")).into()),
        None => bail!("{shown}"),
    }
}

/// Counts requests as the ledger counts commands: those that continue the last one are one.
fn joined(requests: &[SampledRequest]) -> u64 {
    let (mut count, mut last) = (0, None);
    for request in requests.iter().filter(|request| request.sectors > 0) {
        count += u64::from(last != Some((request.op, request.sector)));
        last = Some((request.op, request.sector + u64::from(request.sectors)));
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::Nanos;

    #[test]
    fn consecutive_requests_are_one_command() {
        let request = |op: Op, sector: u64, sectors: u32| SampledRequest {
            sector,
            sectors,
            op: Some(op),
            class: IoClass::Data,
            queued: Nanos(0),
            waited: Nanos(0),
            served: Nanos(0),
        };
        let requests = [
            request(Op::Write, 0, 8),
            request(Op::Write, 8, 8),
            request(Op::Read, 16, 8),
            request(Op::Write, 24, 8),
            request(Op::Write, 40, 8),
        ];
        assert_eq!(joined(&requests), 4);
    }
}

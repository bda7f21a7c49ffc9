//! Traced runs on the emulated Raspberry Pi, whose kernel has the same events.
//!
//! The machine has no access to host files, so a job cannot wait for the host. Instead it writes to a place of its own on
//! the card before and after: between two such writes, the ledger has the commands of one job.

use super::{PART, START, partition};
use crate::rig::cards;
use crate::rig::checks::Checks;
use crate::rig::host::{HostBusy, HostWatch};
use crate::rig::layers::RigLayer;
use crate::rig::product::record;
use crate::rig::trace::{TOLERANCE, TimeComparison, by_class, commands, ensure_attributed};
use crate::rig::traced::{gate_that_runs, gates, path_of};
use anyhow::{Context, Result, bail, ensure};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;
use hakaru_rig::card::CardCommand;
use hakaru_rig::guest::{Pi, PiRun};
use hakaru_rig::kit::Kit;
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(600);

/// Place of the marks, before the first partition.
const MARK: u64 = 1 << 20;

/// A workload: its name, options of fio, and the number of workers.
type PiWorkload = (&'static str, &'static str, usize);

const WORKLOADS: [PiWorkload; 4] = [
    (
        "sequential",
        "--rw=write --bs=64k --size=256k --direct=1 --end_fsync=1",
        1,
    ),
    (
        "random",
        "--rw=randwrite --bs=4k --size=128k --direct=1 --end_fsync=1",
        1,
    ),
    (
        "synced",
        "--rw=randwrite --bs=4k --size=64k --fsync=1 --end_fsync=1",
        1,
    ),
    (
        "sixteen",
        "--rw=randwrite --bs=4k --size=8k --direct=1 --end_fsync=1 --numjobs=16",
        16,
    ),
];

/// Compares traced runs with the ledger of the card.
pub(super) fn main(checks: &mut Checks, hakaru: &Path) -> Result<()> {
    let card = cards::paced(DeviceModel {
        capacity: Bytes(1 << 30),
        ..cards::very_slow()
    })?;
    partition(&card)?;
    let watch = HostWatch::begin();
    let pi = Pi::with(&Kit::usual(), &card).program("hakaru", hakaru);
    let run = pi.run(&script(), LIMIT)?;
    let ledger = card.take_ledger();
    let busy = watch.busy();
    let jobs = between_marks(&ledger.commands);
    let mut number = 0;
    for layer in RigLayer::ALL {
        for (workload, ..) in WORKLOADS {
            let name = format!("trace on the Raspberry Pi: {}, {workload}", layer.name());
            let commands = jobs.get(number).map(Vec::as_slice);
            number += 1;
            let mut times = None;
            checks.check(&name, || {
                let (shown, compared) = compare(&run, layer, workload, commands)?;
                times = Some(compared);
                Ok(shown)
            });
            if let Some(times) = times {
                checks.check(&format!("{name}: device time"), || {
                    judge(&times, busy.as_deref())
                });
            }
        }
    }
    Ok(())
}

/// All jobs in one boot. Each is followed by its record.
fn script() -> String {
    let mark = format!(
        "dd if=/dev/zero of=/dev/mmcblk0 bs=4096 seek={} count=1 conv=notrunc,fsync",
        MARK / 4096
    );
    // The gates leave files in a directory that a machine with access to the host has.
    let gate = gate_that_runs(&format!("{mark} 2>/dev/null"));
    let mut lines = vec![
        format!("mkdir -p /out; cat >/out/gate.sh <<'END'\n{gate}END"),
        "code=0".to_owned(),
    ];
    for (number, layer) in RigLayer::ALL.into_iter().enumerate() {
        let (name, device) = (layer.name(), format!("/dev/mmcblk0p{}", number + 1));
        let target = if layer == RigLayer::Raw {
            format!("--filename={device}")
        } else {
            lines.push(format!("mount -t {name} {device} /mnt || code=1"));
            "--directory=/mnt".to_owned()
        };
        for (workload, options, workers) in WORKLOADS {
            // Workers share the device, but each has a file of its own.
            let apart = match layer {
                RigLayer::Raw if workers > 1 => "--offset_increment=1m",
                _ => "",
            };
            let [before, after] = gates(&format!("{name}-{workload}"), workers);
            let hakaru = format!("hakaru --db /tmp/{name}-{workload}.db");
            lines.push(format!(
                "{hakaru} fio --hakaru-trace=whole --name=job {target} {options} {apart} \\
                 '--{before}' '--{after}' >&2 || code=1
                 echo '=== {name}-{workload}'
                 {hakaru} export",
            ));
        }
        if layer != RigLayer::Raw {
            lines.push("umount /mnt || code=1".to_owned());
        }
    }
    lines.push("exit $code".to_owned());
    lines.join("\n")
}

/// Splits the ledger at the marks, and returns what is between the first and the second, the third and the fourth, and
/// so on.
fn between_marks(commands: &[CardCommand]) -> Vec<Vec<CardCommand>> {
    let is_mark = |command: &CardCommand| (MARK..MARK + 4096).contains(&command.offset.0);
    let is_written = |command: &CardCommand| is_mark(command) && command.op == Op::Write;
    let parts = commands.split(is_written).skip(1).step_by(2);
    // A mark is read before it is written for the first time.
    let without_marks = |part: &[CardCommand]| {
        let commands = part.iter().filter(|command| !is_mark(command));
        commands.copied().collect()
    };
    parts.map(without_marks).collect()
}

fn compare(
    run: &PiRun,
    layer: RigLayer,
    workload: &str,
    on_card: Option<&[CardCommand]>,
) -> Result<(String, TimeComparison)> {
    let stderr = || run.output.stderr.clone();
    let exported = super::part(run, &format!("{}-{workload}", layer.name()))?;
    let line = exported.lines().last().unwrap_or_default();
    let path = path_of(&record(line).with_context(stderr)?)?;
    let on_card = on_card.context("the job left no marks")?;
    let compared = commands(&path, on_card)?;
    ensure_attributed(&path, layer == RigLayer::Raw)?;
    let number = RigLayer::ALL.iter().position(|it| *it == layer);
    let start = START + PART * number.unwrap_or_default() as u64;
    let inside = |offset: u64| (start..start + PART).contains(&offset);
    ensure!(
        compared.iter().all(|command| inside(command.offset.0)),
        "commands outside of the partition: {compared:?}"
    );
    let times = TimeComparison::of(&compared).context("no commands")?;
    Ok((
        format!("{}; {} commands", by_class(&path), compared.len()),
        times,
    ))
}

fn judge(times: &TimeComparison, busy: Option<&str>) -> Result<String> {
    match busy {
        _ if times.is_within(TOLERANCE) => Ok(times.to_string()),
        Some(busy) => Err(HostBusy(format!("{busy}; {times}")).into()),
        None => bail!("{times}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::Nanos;

    #[test]
    fn jobs_are_what_is_between_their_marks() {
        let command = |op: Op, offset: u64| CardCommand {
            op,
            offset: Bytes(offset),
            len: Bytes(4096),
            begun_at: Nanos(0),
            busy: Nanos(0),
            ended_at: Nanos(0),
        };
        let (mark, read) = (command(Op::Write, MARK), command(Op::Read, MARK));
        let at = |number: u64| command(Op::Write, (8 << 20) + number * 8192);
        let commands = [
            at(0),
            read,
            mark,
            at(1),
            at(2),
            mark,
            at(3),
            mark,
            at(4),
            mark,
            at(5),
        ];
        assert_eq!(between_marks(&commands), [vec![at(1), at(2)], vec![at(4)]]);
    }
}

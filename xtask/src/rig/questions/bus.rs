//! Is the bus the limit? The same card behind one data line and behind four, read in large and in small blocks.
//!
//! QEMU does not slow a card down to its bus; the device model does. Blocks of 4 KiB are soon slowed down by a host that
//! does something else, so each workload runs three times, and the fastest run counts.

use super::Pages;
use crate::rig::cards;
use crate::rig::checks::Checks;
use crate::rig::full::RigSetup;
use crate::rig::product;
use crate::rig::trace::{commands, ensure_attributed};
use crate::rig::traced::{TracedJob, TracedMachine, TracedResult};
use anyhow::{Context, Result, ensure};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::job::Op;
use hakaru_model::units::Nanos;
use hakaru_rig::guest::SlotWiring;
use std::path::Path;

/// A wiring, and the rate of the card behind it in bytes per second: one line at 25 MHz leaves 2.9 MB/s of its 3.1 MB/s,
/// and the card itself reads 4 MB/s.
const WIRINGS: [(&str, SlotWiring, u64); 2] = [
    ("one line", SlotWiring::OneBit25MHz, 2_900_000),
    ("four lines", SlotWiring::FourBits25MHz, 4_000_000),
];

/// A workload: its name, and options of fio.
const WORKLOADS: [(&str, &str); 2] = [
    ("256k", "--rw=read --bs=256k --size=8m --direct=1"),
    ("4k", "--rw=read --bs=4k --size=2m --direct=1"),
];

/// Runs of a workload, of which the fastest counts: whatever else the host does can only slow an emulator down.
const ATTEMPTS: u32 = 3;

/// Speed of a workload.
struct BusSpeed {
    /// In bytes per second.
    speed: f64,
    /// Of the bus, in bytes per second.
    ceiling: f64,
    /// Of the card, in bytes per second.
    card: f64,
    /// Share of the time in which the device had work, as the product says.
    device_share: f64,
}

/// Measures both wirings, and returns the answer.
pub(super) fn main(rig: &RigSetup, checks: &mut Checks, pages: &Pages<'_>) -> Result<String> {
    let mut speeds = Vec::new();
    for (wiring, bus, rate) in WIRINGS {
        // A card that absorbed gaps between commands would hide the time in which it waits for the host.
        let card = cards::paced(DeviceModel {
            read_rate: rate,
            read_seek: Nanos(0),
            ..cards::nimble()
        })?;
        let dir = pages.out.join(wiring.replace(' ', "-"));
        std::fs::create_dir_all(&dir)?;
        let mut guest = rig.with(&card).bus(bus).out(&dir).boot()?;
        let mut machine = TracedMachine::new(&mut guest, &card, &rig.hakaru)?;
        for (workload, options) in WORKLOADS {
            let mut fastest: Option<BusSpeed> = None;
            for attempt in 1..=ATTEMPTS {
                let name = format!("{workload}-{attempt}");
                let job = TracedJob {
                    name: &name,
                    options,
                    target: "--filename=/dev/mmcblk0",
                    workers: 1,
                };
                let result = machine.run(job)?;
                checks.check(&format!("{wiring}, {name}"), || exact(&result));
                machine.prepare(&format!(
                    "for file in /tmp/{name}.db /tmp/{name}.db-wal; do [ ! -f $file ] || cp $file /out/; done"
                ))?;
                let speed = speed(&result, rate, pages, &dir.join(&name))?;
                if fastest.as_ref().is_none_or(|best| speed.speed > best.speed) {
                    fastest = Some(speed);
                }
            }
            speeds.extend(fastest);
        }
        guest.power_off()?;
    }
    let mut answer = String::new();
    checks.check("(d) is the bus the limit?", || {
        answer = judge(&speeds)?;
        Ok(answer.clone())
    });
    Ok(answer)
}

fn exact(result: &TracedResult) -> Result<String> {
    let TracedResult { path, ledger, .. } = result;
    let commands = commands(path, &ledger.commands)?.len();
    ensure_attributed(path, true)?;
    Ok(format!(
        "{} bytes read, {commands} commands",
        path.bytes(Op::Read).0
    ))
}

/// Determines speed and shares of a workload on a card of this rate, and writes its page; `stem` is the name of its files.
fn speed(result: &TracedResult, rate: u64, pages: &Pages<'_>, stem: &Path) -> Result<BusSpeed> {
    let found = pages.explain(&stem.with_extension("db"), "latest", stem)?;
    let (_, _, ceiling) = product::wires(&result.record["target"]);
    let window = result.path.window.as_secs_f64();
    Ok(BusSpeed {
        speed: result.path.bytes(Op::Read).0 as f64 / window,
        ceiling: ceiling as f64,
        card: rate as f64,
        device_share: found[0]["findings"]["device_share"]
            .as_f64()
            .context("no share of the device")?,
    })
}

/// Judges one line and four lines, with 256 KiB and 4 KiB each.
fn judge(speeds: &[BusSpeed]) -> Result<String> {
    let [large, small, four, four_small] = speeds else {
        anyhow::bail!("{} speeds", speeds.len())
    };
    let shown = |name: &str, speed: &BusSpeed| {
        format!(
            "{name}: {:.2} MB/s, {:.0}% of the bus with {:.2}, {:.0}% of the card with {:.2}, the device busy {:.0}% of the \
             time",
            speed.speed / 1e6,
            speed.speed / speed.ceiling * 100.0,
            speed.ceiling / 1e6,
            speed.speed / speed.card * 100.0,
            speed.card / 1e6,
            speed.device_share * 100.0
        )
    };
    let text = [
        shown("one line, 256 KiB", large),
        shown("one line, 4 KiB", small),
        shown("four lines, 256 KiB", four),
        shown("four lines, 4 KiB", four_small),
    ]
    .join("; ");
    let ratio = large.speed / large.ceiling;
    ensure!(ratio > 0.8 && ratio < 1.0, "{text}");
    ensure!(
        four.speed > 1.15 * large.speed && four.speed < 0.5 * four.ceiling,
        "{text}"
    );
    // Then only the card itself is left as the limit.
    ensure!(
        four.speed > 0.9 * four.card && four.device_share > 0.9,
        "{text}"
    );
    ensure!(
        large.device_share > 0.9 && small.device_share < large.device_share,
        "{text}"
    );
    // More lines cannot make a card slower: then the emulator was.
    ensure!(
        four_small.speed > 0.95 * small.speed && four_small.speed < four.speed,
        "{text}"
    );
    Ok(format!(
        "{text} (of {ATTEMPTS} runs each, the fastest). One line is the limit for large blocks; with four lines the card itself is. With 4 KiB neither is: the device \
         waits for the host {:.0}% of the time on one line and {:.0}% on four, so four lines bring {:.2} times the speed \
         instead of {:.2} times.",
        (1.0 - small.device_share) * 100.0,
        (1.0 - four_small.device_share) * 100.0,
        four_small.speed / small.speed,
        four.speed / large.speed
    ))
}

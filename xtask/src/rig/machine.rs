//! Tests of the rig itself, which the other checks rely on.

use super::cards::{self, make};
use super::checks::Checks;
use super::full::RigSetup;
use super::product;
use anyhow::{Context, Result, bail, ensure};
use hakaru_model::device_model::{DeviceModel, SlcCache, Stalls, Throttle};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_rig::card::SimulatedCard;
use hakaru_rig::guest::{Guest, GuestBuilder, GuestError, Output};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Accepted relative deviation from the device model, for cards that slow down.
const TOLERANCE: f64 = 0.03;

/// Checks that exit codes, output and files are returned, and that a panic is distinguished from a
/// timeout.
pub(super) fn main(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let mut guest = rig.boot(&make(cards::quick("any", Bytes(64 << 20)))?)?;
    let boot_time = guest.boot_time().as_secs_f64();
    // Shown for information: a boot on a busy host may take longer without failing.
    checks.check("start", || {
        Ok(format!("{boot_time:.1} s; the goal is 10 s"))
    });
    checks.check("returned output", || returned_output(&mut guest));
    checks.check("a panic", || {
        match guest.run("echo c >/proc/sysrq-trigger", LIMIT) {
            Err(GuestError::Panicked { .. }) => Ok("is reported as one".to_owned()),
            other => bail!("is reported as {other:?}"),
        }
    });
    let mut guest = GuestBuilder::new(&rig.kit).boot()?;
    checks.check("an endless script", || {
        match guest.run("sleep 100", Duration::from_secs(2)) {
            Err(GuestError::TimedOut { .. }) => Ok("is ended in time".to_owned()),
            other => bail!("ends with {other:?}"),
        }
    });
    Ok(())
}

fn returned_output(guest: &mut Guest) -> Result<String> {
    let script = "echo out; echo err >&2; echo kept >/out/file; exit 42";
    let output = guest.run(script, LIMIT)?;
    let Output {
        code,
        stdout,
        stderr,
    } = &output;
    ensure!(
        (*code, stdout.as_str(), stderr.as_str()) == (42, "out\n", "err\n"),
        "{output:?}"
    );
    let file = std::fs::read_to_string(guest.out().join("file"))?;
    ensure!(file == "kept\n", "the file contains {file:?}");
    Ok("exit code 42, both outputs and a file".to_owned())
}

/// A fast cache that fills, stalls, and thermal throttling: a stream of 12 MiB takes as long as the device model says.
pub(super) fn ageing(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    for stream in slowing_streams() {
        checks.check(stream.name, || {
            attempts(|| {
                // A used card keeps its state, so each attempt gets a new one.
                let card = make(stream.model.clone())?;
                let mut guest = rig.boot(&card)?;
                let shown = stream.run(&mut guest, &card, &rig.hakaru);
                guest.power_off()?;
                shown
            })
        });
    }
    Ok(())
}

fn slowing_streams() -> [SlowingStream; 3] {
    let plain = cards::nimble();
    let (mut cached, mut stalling, mut warm) = (plain.clone(), plain.clone(), plain);
    cached.write_rate = 1_000_000;
    cached.cache = Some(SlcCache {
        size: Bytes(4 << 20),
        write_rate: 4_000_000,
        drain_rate: 0,
        drain_delay: Nanos(0),
    });
    stalling.stalls = Some(Stalls {
        every: Bytes(4 << 20),
        lasts: Nanos::from_millis(500),
    });
    warm.throttle = Some(Throttle {
        after: Nanos::from_secs(2),
        percent: 200,
        until: None,
    });
    let (mib, plain_time) = (f64::from(1 << 20), f64::from(12 << 20) / 2.5e6);
    [
        (
            "a cache that fills",
            cached,
            4.0 * mib / 4e6 + 8.0 * mib / 1e6,
        ),
        ("stalls", stalling, plain_time + 3.0 * 0.5),
        ("heat", warm, 2.0 + 2.0 * (plain_time - 2.0)),
    ]
    .map(|(name, model, seconds)| SlowingStream {
        name,
        model,
        seconds,
    })
}

/// Repeats a comparison up to three times, as for speeds; prints every attempt.
fn attempts(mut attempt: impl FnMut() -> Result<String>) -> Result<String> {
    let mut failed = Vec::new();
    for _ in 0..3 {
        match attempt() {
            Ok(shown) => {
                failed.push(shown);
                return Ok(failed.join("; again: "));
            }
            Err(error) => failed.push(format!("{error:#}")),
        }
    }
    anyhow::bail!("{}", failed.join("; again: "))
}

/// A stream that slows down, and the time it takes by the device model.
struct SlowingStream {
    name: &'static str,
    model: DeviceModel,
    seconds: f64,
}

impl SlowingStream {
    fn run(&self, guest: &mut Guest, card: &SimulatedCard, hakaru: &str) -> Result<String> {
        let job = "--name=x --filename=/dev/mmcblk0 --rw=write --bs=256k --size=12M --direct=1 --output-format=json";
        card.take_ledger();
        let json = guest.check_output(&format!("{hakaru} fio {job}"), LIMIT)?;
        // On a busy host the machine sometimes sends its next request late, which is not the card's fault.
        let idle = card.take_ledger().idle.as_secs_f64();
        let write = &product::fio_job(&json)?["write"];
        let runtime_ms = write["runtime"].as_f64();
        let seconds = runtime_ms.context("fio's JSON has no runtime")? / 1e3;
        let off = (seconds - idle) / self.seconds - 1.0;
        let longest = product::known(write, &["clat_ns", "max"]).as_f64();
        let longest = longest.unwrap_or(0.0) / 1e9;
        let text = format!(
            "{seconds:.2} s, of which the card waited {idle:.2}; {:.2} by the device model ({:+.1}%); the longest \
             write took {longest:.3} s",
            self.seconds,
            off * 100.0
        );
        ensure!(off.abs() <= TOLERANCE, "{text}");
        ensure!(
            self.name != "stalls" || longest >= 0.5,
            "{text}, shorter than a stall"
        );
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_is_made_three_times_at_most() {
        for (good_at, expected) in [
            (1, Ok("1 good")),
            (3, Ok("1; again: 2; again: 3 good")),
            (4, Err("1; again: 2; again: 3")),
        ] {
            let mut count = 0;
            let shown = attempts(|| {
                count += 1;
                ensure!(count == good_at, "{count}");
                Ok(format!("{count} good"))
            });
            assert_eq!(
                shown.map_err(|error| error.to_string()),
                expected.map(str::to_owned).map_err(str::to_owned)
            );
            assert_eq!(count, good_at.min(3));
        }
    }
}

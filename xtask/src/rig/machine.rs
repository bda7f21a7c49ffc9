//! Tests of the rig itself, which the other checks rely on.

use super::cards::{self, make};
use super::checks::Checks;
use super::full::RigSetup;
use super::product;
use anyhow::{Context, Result, bail, ensure};
use hakaru_model::device_model::{DeviceModel, SlcCache, Stalls, Throttle};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_rig::card::SimulatedCard;
use hakaru_rig::guest::{Guest, GuestError};
use serde_json::Value;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Accepted relative deviation from the device model, for cards that slow down.
const TOLERANCE: f64 = 0.03;

/// Checks that exit codes, output and files are returned, and that a panic is distinguished from a
/// timeout.
pub(super) fn main(bench: &RigSetup, checks: &mut Checks) -> Result<()> {
    let card = make(cards::quick("any", Bytes(64 << 20)))?;
    let mut guest = Guest::builder(&bench.kit).card(&card).boot()?;
    let boot_time = guest.boot_time();
    checks.check("start", || {
        // Shown for information: a boot on a busy host may take longer without failing.
        Ok(format!(
            "{:.1} s, where ten are wanted",
            boot_time.as_secs_f64()
        ))
    });
    checks.check("what comes back", || {
        let output = guest.run(
            "echo out; echo err >&2; echo kept >/out/file; exit 42",
            LIMIT,
        )?;
        ensure!(
            (output.code, output.stdout.as_str(), output.stderr.as_str()) == (42, "out\n", "err\n"),
            "{output:?}"
        );
        ensure!(
            std::fs::read_to_string(guest.out().join("file"))? == "kept\n",
            "the file is not as it was written"
        );
        Ok("exit code 42, both outputs and a file".to_owned())
    });
    checks.check("a panic", || {
        match guest.run("echo c >/proc/sysrq-trigger", LIMIT) {
            Err(GuestError::Panicked { .. }) => Ok("is told as one".to_owned()),
            other => bail!("is told as {other:?}"),
        }
    });
    let mut guest = Guest::builder(&bench.kit).boot()?;
    checks.check("a script without end", || {
        match guest.run("sleep 100", Duration::from_secs(2)) {
            Err(GuestError::TimedOut { .. }) => Ok("is ended in time".to_owned()),
            other => bail!("ends with {other:?}"),
        }
    });
    Ok(())
}

/// A fast cache that fills, stalls, and thermal throttling: a stream of 12 MiB takes as long as the device model says.
pub(super) fn ageing(bench: &RigSetup, checks: &mut Checks) -> Result<()> {
    const MIB: f64 = (1 << 20) as f64;
    let plain = cards::nimble();
    let cache = SlcCache {
        size: Bytes(4 << 20),
        write_rate: 4_000_000,
        drain_rate: 0,
    };
    let cached = DeviceModel {
        cache: Some(cache),
        write_rate: 1_000_000,
        ..plain.clone()
    };
    let stalls = Stalls {
        every: Bytes(4 << 20),
        lasts: Nanos::from_millis(500),
    };
    let stalling = DeviceModel {
        stalls: Some(stalls),
        ..plain.clone()
    };
    let throttle = Throttle {
        after: Nanos::from_secs(2),
        percent: 200,
    };
    let warm = DeviceModel {
        throttle: Some(throttle),
        ..plain
    };
    let wanted = [
        (
            "a cache that fills",
            cached,
            4.0 * MIB / 4e6 + 8.0 * MIB / 1e6,
        ),
        ("stalls", stalling, 12.0 * MIB / 2.5e6 + 3.0 * 0.5),
        ("heat", warm, 2.0 + 2.0 * (12.0 * MIB / 2.5e6 - 2.0)),
    ];
    for (name, prices, seconds) in wanted {
        let ageing = SlowingStream {
            name,
            seconds,
            hakaru: &bench.hakaru,
        };
        checks.check(name, || {
            attempts(|| {
                // A used card keeps its state, so each attempt gets a new one.
                let card = make(prices.clone())?;
                let mut guest = Guest::builder(&bench.kit).card(&card).boot()?;
                let shown = ageing.shows(&mut guest, &card);
                guest.power_off()?;
                shown
            })
        });
    }
    Ok(())
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

/// A stream that slows down, and its total time.
struct SlowingStream<'a> {
    name: &'a str,
    seconds: f64,
    hakaru: &'a str,
}

impl SlowingStream<'_> {
    fn shows(&self, guest: &mut Guest, card: &SimulatedCard) -> Result<String> {
        let job = "--name=x --filename=/dev/mmcblk0 --rw=write --bs=256k --size=12M --direct=1 --output-format=json";
        card.take_ledger();
        let json = guest
            .run(&format!("{} fio {job}", self.hakaru), LIMIT)?
            .success()?;
        // On a busy host the machine sometimes sends its next request late, which is not the card's fault.
        let idle = card.take_ledger().idle.as_secs_f64();
        let tree: Value = serde_json::from_str(&json).context("fio printed no JSON")?;
        let write = &tree["jobs"][0]["write"];
        let took = write["runtime"]
            .as_f64()
            .context("fio's JSON has no runtime")?
            / 1e3;
        let off = (took - idle) / self.seconds - 1.0;
        let longest = product::known(write, &["clat_ns", "max"])
            .as_f64()
            .unwrap_or(0.0)
            / 1e9;
        let text = format!(
            "{took:.2} s, of which the card waited {idle:.2}, where the list says {:.2} ({:+.1} %), the longest write \
             {longest:.3} s",
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
            let told = attempts(|| {
                count += 1;
                ensure!(count == good_at, "{count}");
                Ok(format!("{count} good"))
            });
            assert_eq!(
                told.map_err(|error| error.to_string()),
                expected.map(str::to_owned).map_err(str::to_owned)
            );
            assert_eq!(count, good_at.min(3));
        }
    }
}

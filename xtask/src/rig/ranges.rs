//! Checks that writes stay within the named range, by digests of the card before and after.

use super::cards::{self, make};
use super::checks::Checks;
use super::full::RigSetup;
use super::product::ERASE;
use anyhow::{Result, ensure};
use hakaru_model::units::Bytes;
use hakaru_rig::card::SimulatedCard;
use std::ops::Range;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

const MIB: u64 = 1 << 20;
const SIZE: u64 = 64 * MIB;

/// A program, and the range it may write.
struct Attempt {
    name: &'static str,
    may_write: Range<u64>,
    script: &'static str,
}

const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "bench --size on the whole card",
        may_write: 0..16 * MIB,
        script: "HAKARU --db /tmp/a.db bench /dev/mmcblk0 --quick --repeat 1 --size 16MiB --only rand-write,seq-write ERASE",
    },
    Attempt {
        name: "bench on a partition",
        may_write: MIB..17 * MIB,
        script: "HAKARU --db /tmp/a.db bench /dev/mmcblk0p1 --quick --repeat 1 --only seq-write,rand-write ERASE",
    },
    Attempt {
        name: "fio --offset --size",
        may_write: 20 * MIB..24 * MIB,
        script: "HAKARU fio --name=x --filename=/dev/mmcblk0 --rw=randwrite --bs=4k --direct=1 --offset=20M --size=4M",
    },
    Attempt {
        name: "verify on a partition",
        may_write: MIB..17 * MIB,
        script: "HAKARU --db /tmp/a.db verify /dev/mmcblk0p1 ERASE",
    },
    Attempt {
        name: "prepare on a partition",
        may_write: MIB..17 * MIB,
        script: "HAKARU prepare /dev/mmcblk0p1 --fill=random --mkfs=ext4 ERASE",
    },
];

/// Runs each on a card full of random data, so that every change is detected.
pub(super) fn main(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let card = make(cards::quick("signed", Bytes(SIZE)))?;
    cards::scribble(&card)?;
    card.poke(0, &cards::two_partitions())?;
    let mut guest = rig.boot(&card)?;
    for attempt in ATTEMPTS {
        checks.check(attempt.name, || {
            let before = digests(&card, &attempt.may_write)?;
            let script = attempt.script.replace("HAKARU", &rig.hakaru);
            let script = script.replace("ERASE", ERASE) + " && sync";
            guest.check_output(&script, LIMIT)?;
            let after = digests(&card, &attempt.may_write)?;
            let Range { start, end } = attempt.may_write;
            ensure!(before[1] != after[1], "nothing was written");
            ensure!(
                before[0] == after[0],
                "something was written before byte {start}"
            );
            ensure!(
                before[2] == after[2],
                "something was written from byte {end} on"
            );
            Ok(format!(
                "bytes {start} to {end} changed, and none of the others"
            ))
        });
    }
    Ok(guest.power_off()?)
}

/// Digests of the data before, in and after a range.
fn digests(card: &SimulatedCard, range: &Range<u64>) -> Result<[u64; 3]> {
    Ok([
        card.digest(0..range.start)?,
        card.digest(range.clone())?,
        card.digest(range.end..SIZE)?,
    ])
}

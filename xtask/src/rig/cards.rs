//! The cards of the tests: three good ones with typical differences, and the expected speed of each workload on them.
//!
//! A guest transfers about 10 MB/s at most, so the cards are slower than that; their overheads are zero, because the
//! rig cannot detect where one command of a sequential stream ends and the next starts.

use anyhow::Result;
use hakaru_model::device_model::DeviceModel;
use hakaru_model::units::{Bytes, Nanos};
use hakaru_rig::card::SimulatedCard;
use std::sync::Arc;

/// Gaps to absorb: on a host with two busy cores, the emulator is descheduled for tens of milliseconds.
const GAPS: Nanos = Nanos::from_millis(60);

/// Gaps inside of a command to absorb where the time of each command counts: shorter than those of the guest between two
/// commands.
const GAPS_INSIDE: Nanos = Nanos(700_000);

/// Fast reads, fast seeks.
pub(super) fn nimble() -> DeviceModel {
    card(
        "nimble",
        (4_000_000, Nanos::from_millis(2)),
        (2_500_000, Nanos::from_millis(5)),
    )
}

/// Sequential writes almost as fast as reads, but very slow random writes: made for cameras.
fn endurance() -> DeviceModel {
    card(
        "endurance",
        (4_000_000, Nanos::from_millis(3)),
        (3_500_000, Nanos::from_millis(25)),
    )
}

/// Slow in everything.
fn old() -> DeviceModel {
    card(
        "old",
        (2_000_000, Nanos::from_millis(5)),
        (1_000_000, Nanos::from_millis(12)),
    )
}

/// A card for traces: so slow that even a command that continues the last one lasts many times as long as the emulator
/// needs for it, about 0.6 ms.
pub(super) fn slow() -> DeviceModel {
    card(
        "slow",
        (500_000, Nanos::from_millis(15)),
        (250_000, Nanos::from_millis(20)),
    )
}

/// A card for traces on the emulated Raspberry Pi, which needs about 2.5 ms for a write and what belongs to it.
pub(super) fn very_slow() -> DeviceModel {
    card(
        "very slow",
        (500_000, Nanos::from_millis(15)),
        (50_000, Nanos::from_millis(70)),
    )
}

/// A card on which each command lasts as long as it is charged: gaps before a command are not absorbed.
///
/// # Errors
/// If the host has no space for the data.
pub(super) fn paced(model: DeviceModel) -> Result<Arc<SimulatedCard>> {
    let card = SimulatedCard::new(model, 1)?;
    Ok(Arc::new(card.absorbing_inside(GAPS_INSIDE)))
}

/// A card whose speed does not matter.
pub(super) fn quick(name: &str, capacity: Bytes) -> DeviceModel {
    let fast = (1_000_000_000, Nanos(0));
    DeviceModel {
        capacity,
        flush: Nanos(0),
        ..card(name, fast, fast)
    }
}

/// A good card of 2 GiB, with rates in bytes per second and seek times for reads and writes.
fn card(name: &str, reads: (u64, Nanos), writes: (u64, Nanos)) -> DeviceModel {
    let mut model = DeviceModel::plain(name, Bytes(2 << 30));
    (model.read_rate, model.read_seek) = reads;
    (model.write_rate, model.write_seek) = writes;
    (model.read_overhead, model.write_overhead) = (Nanos(0), Nanos(0));
    model
}

/// Fills a card with random data, so that a change of any byte is detected.
///
/// # Errors
/// If the host has no space for the data.
pub(super) fn scribble(card: &SimulatedCard) -> Result<()> {
    let (mut state, mut buffer) = (1u64, vec![0; 1 << 20]);
    for at in (0..card.announced().0).step_by(buffer.len()) {
        for word in buffer.chunks_exact_mut(8) {
            // Any large odd constant is suitable; this is Knuth's 64-bit multiplier.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            word.copy_from_slice(&state.to_le_bytes());
        }
        card.poke(at, &buffer)?;
    }
    Ok(())
}

/// A partition table with two partitions of 16 MiB.
pub(super) fn two_partitions() -> [u8; 512] {
    let mut sector = [0; 512];
    for (number, start) in [(0, 2048u32), (1, 34816)] {
        let entry = &mut sector[446 + 16 * number..][..16];
        // Type "Linux", start, and number of sectors.
        entry[4] = 0x83;
        entry[8..12].copy_from_slice(&start.to_le_bytes());
        entry[12..].copy_from_slice(&32768u32.to_le_bytes());
    }
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    sector
}

/// The three cards whose speeds are compared.
pub(super) fn compared() -> [DeviceModel; 3] {
    [nimble(), endurance(), old()]
}

/// A card for the machines.
///
/// # Errors
/// If the host has no space for the data.
pub(super) fn make(model: DeviceModel) -> Result<Arc<SimulatedCard>> {
    Ok(Arc::new(SimulatedCard::new(model, 1)?.absorbing(GAPS)))
}

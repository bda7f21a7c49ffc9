//! Reads and writes in turn, to two units in turn where a card keeps two open, and flushes.

use super::units::{OrderedWrites, UnitGeometry};
use crate::lab::{Findings, Lab, Measured};
use crate::location::{SampleLocation, difference};
use hakaru_analysis::stats::median;
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty};

/// Rounds at most, bytes written at most, and the part of the capacity.
const ROUNDS: usize = 16_000;
const MOST: u64 = 450 << 20;
const PART: u64 = 30;

/// Longest time of the rounds, in ns.
const LONGEST: f64 = 240e9;

/// Flushes at most.
const FLUSHES: usize = 4000;

/// Smallest cost that is looked for, as a fraction of a small read, or of the write that it is part of.
const FLOOR: f64 = 0.012;
const FLOOR_OF_WRITE: f64 = 0.015;

pub(super) fn perform(lab: &mut Lab<'_>, known: &Anatomy) -> Measured<Findings> {
    let geometry = UnitGeometry::of(lab, known);
    let mut found = Findings::default();
    lab.drain()?;
    if UnitGeometry::keeps_two_open(known) {
        turns_and_seeks(lab, geometry, &mut found)?;
    } else {
        let seek = turns(lab, geometry, &mut found)?;
        subtract_seek(lab, known, seek, &mut found);
    }
    flushes(lab, geometry, &mut found)?;
    Ok(found)
}

/// Subtracts the seek of a write from the costs of writes that do not continue the last one, on a card that may keep only
/// one unit open.
fn subtract_seek(lab: &Lab<'_>, known: &Anatomy, seek: SampleLocation, found: &mut Findings) {
    let is_absent = |finding: &CardFinding| matches!(finding, CardFinding::Absent { .. });
    let seek_finding = found.findings.get(&CardProperty::WriteSeek);
    if seek_finding.is_some_and(is_absent) || known.size(CardProperty::OpenUnits).is_none() {
        return;
    }
    let seek = SampleLocation {
        value: seek.value.max(0.0),
        ..seek
    };
    for property in [CardProperty::RandomWrite, CardProperty::CollectionTime] {
        let Some(with_seek) = known.finding(property).known() else {
            continue;
        };
        let location = SampleLocation {
            value: with_seek.value,
            error: (with_seek.high - with_seek.low) / 5.2,
        };
        let without = location.minus(seek);
        let least = floor(lab).max(4.0 * without.error);
        found.set(property, without.finding(least));
        if property == CardProperty::CollectionTime
            && let Some(rate) = known.value(CardProperty::CollectionRate)
        {
            let bytes = rate * with_seek.value;
            let rate = without.divide(bytes).finding(0.0);
            found.set(CardProperty::CollectionRate, rate);
        }
    }
}

/// Bytes that may be written: the flushes and the cache need the other half of what is left.
fn most(lab: &Lab<'_>) -> u64 {
    MOST.min(lab.capacity() / PART).min(lab.left_to_write() / 2)
}

fn floor(lab: &Lab<'_>) -> f64 {
    FLOOR * lab.reference.unwrap_or(0.0)
}

/// Smallest cost that is looked for in writes of which these are some.
fn floor_of_writes(lab: &Lab<'_>, writes: &[f64]) -> f64 {
    floor(lab).max(FLOOR_OF_WRITE * median(writes).unwrap_or(0.0))
}

/// Two reads, two writes, and so on, to one unit. The first write of each pair turns around, and seeks unless the read
/// before ended where it begins. Returns the cost of the seek.
fn turns(
    lab: &mut Lab<'_>,
    geometry: UnitGeometry,
    found: &mut Findings,
) -> Measured<SampleLocation> {
    let (home, block, sigma, floor) = (lab.home(), lab.block(), lab.sigma(), floor(lab));
    let mut unit = OrderedWrites::begin(lab, geometry)?;
    let (mut sought, mut turned, mut continued) = (Vec::new(), Vec::new(), Vec::new());
    let mut reads: [Vec<f64>; 2] = Default::default();
    let limits = RoundLimits::new(lab);
    loop {
        for _ in 0..40 {
            unit.reserve(lab, 4)?;
            two_reads(lab, &mut reads)?;
            sought.push(unit.write(lab)?);
            continued.push(unit.write(lab)?);
            lab.read(home, block)?;
            lab.read(unit.next() - block, block)?;
            turned.push(unit.write(lab)?);
            continued.push(unit.write(lab)?);
        }
        let (Some(turn), Some(seek), Some(to_read)) = (
            difference(&turned, &continued, sigma),
            difference(&sought, &turned, sigma),
            difference(&reads[0], &reads[1], sigma),
        ) else {
            continue;
        };
        let floor_of_write = floor_of_writes(lab, &continued);
        let costs = [
            (turn, floor_of_write),
            (seek, floor_of_write),
            (to_read, floor),
        ];
        if limits.is_reached(lab, turned.len(), costs)? {
            found.set(CardProperty::ReadToWrite, turn.finding(floor_of_write));
            found.set(CardProperty::WriteSeek, seek.finding(floor_of_write));
            found.set(CardProperty::WriteToRead, to_read.finding(floor));
            return Ok(seek);
        }
    }
}

/// Account of written bytes and time, in ns, up to which rounds begin.
struct RoundLimits {
    written: u64,
    time: f64,
}

impl RoundLimits {
    fn new(lab: &Lab<'_>) -> RoundLimits {
        RoundLimits {
            written: lab.spent.written.0 + most(lab),
            time: lab.now() + LONGEST.min(lab.time_left() / 2.0),
        }
    }

    /// Returns whether costs are certain against the smallest ones that are looked for, or no more rounds may follow.
    fn is_reached(
        &self,
        lab: &mut Lab<'_>,
        rounds: usize,
        costs: [(SampleLocation, f64); 3],
    ) -> Measured<bool> {
        let is_certain = costs.iter().all(|(cost, floor)| cost.is_certain(*floor));
        Ok((is_certain && rounds >= 160)
            || rounds > ROUNDS
            || lab.spent.written.0 > self.written
            || lab.now() > self.time
            || !lab.stays_cool()?)
    }
}

/// Reads twice: the first one turns around.
fn two_reads(lab: &mut Lab<'_>, taken: &mut [Vec<f64>; 2]) -> Measured<()> {
    let (home, block) = (lab.home(), lab.block());
    taken[0].push(lab.read(home, block)?);
    taken[1].push(lab.read(home + (64 << 10), block)?);
    Ok(())
}

/// Two reads, two writes to one unit, two to another, and so on. The first write of each pair seeks, and that of the first
/// pair turns around, too, so that the two costs are parted by writes that differ in one of them alone.
fn turns_and_seeks(
    lab: &mut Lab<'_>,
    geometry: UnitGeometry,
    found: &mut Findings,
) -> Measured<()> {
    let (sigma, floor) = (lab.sigma(), floor(lab));
    let mut units = [
        OrderedWrites::begin(lab, geometry)?,
        OrderedWrites::begin(lab, geometry)?,
    ];
    let (mut turned, mut sought, mut continued) = (Vec::new(), Vec::new(), Vec::new());
    let mut reads: [Vec<f64>; 2] = Default::default();
    let limits = RoundLimits::new(lab);
    let mut knows_seek = false;
    loop {
        for _ in 0..40 {
            for unit in &mut units {
                unit.reserve(lab, 2)?;
            }
            two_reads(lab, &mut reads)?;
            for (unit, firsts) in units.iter_mut().zip([&mut turned, &mut sought]) {
                firsts.push(unit.write(lab)?);
                if !knows_seek {
                    continued.push(unit.write(lab)?);
                }
            }
        }
        let (Some(turn), Some(seek), Some(to_read)) = (
            difference(&turned, &sought, sigma),
            difference(&sought, &continued, sigma),
            difference(&reads[0], &reads[1], sigma),
        ) else {
            continue;
        };
        let floor_of_write = floor_of_writes(lab, &continued);
        let costs = [
            (turn, floor_of_write),
            (seek, floor_of_write),
            (to_read, floor),
        ];
        knows_seek = turned.len() >= 160 && seek.is_certain(floor_of_write);
        if limits.is_reached(lab, turned.len(), costs)? {
            found.set(CardProperty::ReadToWrite, turn.finding(floor_of_write));
            found.set(CardProperty::WriteSeek, seek.finding(floor_of_write));
            found.set(CardProperty::WriteToRead, to_read.finding(floor));
            return Ok(());
        }
    }
}

/// A write and a flush in turn.
fn flushes(lab: &mut Lab<'_>, geometry: UnitGeometry, found: &mut Findings) -> Measured<()> {
    let mut writes = OrderedWrites::begin(lab, geometry)?;
    let mut latencies = Vec::new();
    loop {
        for _ in 0..30 {
            writes.reserve(lab, 1)?;
            writes.write(lab)?;
            latencies.push(lab.flush()?);
        }
        let floor = 0.1 * floor(lab);
        if let Some(time) = SampleLocation::of(&latencies, lab.sigma())
            && (time.is_certain(floor) || latencies.len() > FLUSHES || !lab.stays_cool()?)
        {
            found.set(CardProperty::Flush, time.finding(floor));
            return Ok(());
        }
    }
}

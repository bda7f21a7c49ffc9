//! Reads and writes in turn, writes to two units in turn, and flushes.

use super::units::{UnitGeometry, WrittenUnit};
use crate::lab::{Findings, Lab, Measured};
use crate::location::{SampleLocation, difference};
use hakaru_analysis::stats::median;
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty, DeclineReason, PropertyValue};

/// Rounds at most, bytes written at most, and the part of the capacity.
const ROUNDS: usize = 8000;
const MOST: u64 = 300 << 20;
const PART: u64 = 40;

/// Flushes at most.
const FLUSHES: usize = 4000;

/// Smallest cost that is looked for, as a fraction of a small read, or of the write that it is part of.
const FLOOR: f64 = 0.012;
const FLOOR_OF_WRITE: f64 = 0.015;

/// A unit that is filled in order, and its successor when it is full. Writes that open a unit do not count.
struct OrderedWrites {
    geometry: UnitGeometry,
    unit: WrittenUnit,
    len: u64,
}

impl OrderedWrites {
    fn begin(lab: &mut Lab<'_>, geometry: UnitGeometry, len: u64) -> Measured<OrderedWrites> {
        let mut unit = WrittenUnit::fresh(lab, &geometry)?;
        unit.write(lab, &geometry)?;
        Ok(OrderedWrites {
            geometry,
            unit,
            len,
        })
    }

    /// Makes room for so many writes.
    fn reserve(&mut self, lab: &mut Lab<'_>, writes: u64) -> Measured<()> {
        if self.unit.next + writes * self.len > self.unit.start + self.geometry.unit {
            // The rest of a full unit needs no collection.
            while self.unit.next + self.len <= self.unit.start + self.geometry.unit {
                self.write(lab)?;
            }
            *self = OrderedWrites::begin(lab, self.geometry, self.len)?;
        }
        Ok(())
    }

    fn write(&mut self, lab: &mut Lab<'_>) -> Measured<f64> {
        let latency = lab.write(self.unit.next, self.len)?;
        self.unit.next += self.len;
        Ok(latency)
    }
}

pub(super) fn perform(lab: &mut Lab<'_>, known: &Anatomy) -> Measured<Findings> {
    let geometry = UnitGeometry::of(lab, known);
    let mut found = Findings::default();
    lab.drain()?;
    turns(lab, geometry, &mut found)?;
    flushes(lab, geometry, &mut found)?;
    seeks(lab, known, geometry, &mut found)?;
    subtract_seek(lab, known, &mut found);
    Ok(found)
}

/// Subtracts the cost of a write that does not continue the last one from the costs of writes that are such ones, too. A
/// write after a read is one: where the cost is unknown, it is at most that of such a write.
fn subtract_seek(lab: &Lab<'_>, known: &Anatomy, found: &mut Findings) {
    let of = |property| found.findings.get(&property).copied();
    let turn = of(CardProperty::ReadToWrite);
    let location = |value: PropertyValue| SampleLocation {
        value: value.value,
        error: (value.high - value.low) / 5.2,
    };
    let is_absent =
        |finding: Option<CardFinding>| matches!(finding, Some(CardFinding::Absent { .. }));
    let seek = of(CardProperty::WriteSeek);
    let rough = |finding: Option<CardFinding>| finding.and_then(|finding| finding.rough());
    let seek = match (rough(seek), rough(turn)) {
        _ if is_absent(seek) => return,
        (Some(seek), _) => location(seek),
        (None, Some(absent)) if is_absent(turn) => {
            let up_to = 2.0 * absent.high;
            found.set(CardProperty::WriteSeek, CardFinding::Absent { up_to });
            return;
        }
        (None, Some(turn)) => location(PropertyValue {
            value: turn.high / 2.0,
            low: 0.0,
            high: turn.high,
        }),
        // What needs it is declined in the end.
        (None, None) => return,
    };
    let others = [CardProperty::RandomWrite, CardProperty::CollectionTime];
    let others = others.map(|property| (property, Some(known.finding(property))));
    let both = [(CardProperty::ReadToWrite, turn)];
    for (property, finding) in both.into_iter().chain(others) {
        let Some(with_seek) = finding.and_then(|finding| finding.known()) else {
            continue;
        };
        let without = location(with_seek).minus(seek);
        found.set(
            property,
            without.finding(floor(lab).max(4.0 * without.error)),
        );
        if property == CardProperty::CollectionTime
            && let Some(rate) = known.value(CardProperty::CollectionRate)
        {
            let bytes = rate * with_seek.value;
            let rate = without.divide(bytes).finding(0.0);
            found.set(CardProperty::CollectionRate, rate);
        }
    }
}

fn most(lab: &Lab<'_>) -> u64 {
    MOST.min(lab.capacity() / PART)
}

fn floor(lab: &Lab<'_>) -> f64 {
    FLOOR * lab.reference.unwrap_or(0.0)
}

/// Smallest cost that is looked for in writes of which these are some.
fn floor_of_writes(lab: &Lab<'_>, writes: &[f64]) -> f64 {
    floor(lab).max(FLOOR_OF_WRITE * median(writes).unwrap_or(0.0))
}

/// Two writes, two reads, and so on: the first of each pair turns around.
fn turns(lab: &mut Lab<'_>, geometry: UnitGeometry, found: &mut Findings) -> Measured<()> {
    let (home, block, sigma, floor) = (lab.home(), lab.block(), lab.sigma(), floor(lab));
    // A card that gathers writes copies the start of a page when a write does not continue: only whole pages are clean.
    let len = geometry.len;
    let mut writes = OrderedWrites::begin(lab, geometry, len)?;
    let mut taken: [Vec<f64>; 4] = Default::default();
    let begun = lab.spent.written.0;
    let seek_free = [home, home + (64 << 10)];
    loop {
        for _ in 0..40 {
            writes.reserve(lab, 2)?;
            taken[0].push(writes.write(lab)?);
            taken[1].push(writes.write(lab)?);
            taken[2].push(lab.read(seek_free[0], block)?);
            taken[3].push(lab.read(seek_free[1], block)?);
        }
        let (Some(to_write), Some(to_read)) = (
            difference(&taken[0], &taken[1], sigma),
            difference(&taken[2], &taken[3], sigma),
        ) else {
            continue;
        };
        let n = taken[0].len();
        let floor_of_write = floor_of_writes(lab, &taken[1]);
        let certain = to_write.is_certain(floor_of_write) && to_read.is_certain(floor);
        let spent = n > ROUNDS || lab.spent.written.0 - begun > most(lab) || !lab.stays_cool()?;
        if (certain && n >= 120) || spent {
            found.set(CardProperty::ReadToWrite, to_write.finding(floor_of_write));
            found.set(CardProperty::WriteToRead, to_read.finding(floor));
            return Ok(());
        }
    }
}

/// A write and a flush in turn.
fn flushes(lab: &mut Lab<'_>, geometry: UnitGeometry, found: &mut Findings) -> Measured<()> {
    let mut writes = OrderedWrites::begin(lab, geometry, geometry.len)?;
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

/// Two writes to one unit, two to another, and so on: the first of each pair does not continue the last write.
fn seeks(
    lab: &mut Lab<'_>,
    known: &Anatomy,
    geometry: UnitGeometry,
    found: &mut Findings,
) -> Measured<()> {
    let open = known.finding(CardProperty::OpenUnits);
    let enough = match open {
        CardFinding::Known(units) => units.value >= 2.0,
        CardFinding::Absent { .. } => true,
        CardFinding::Unknown(_) => false,
    };
    if !enough {
        let needs = DeclineReason::Needs(CardProperty::OpenUnits);
        found.decline(&[CardProperty::WriteSeek], needs);
        return Ok(());
    }
    let mut both = [
        OrderedWrites::begin(lab, geometry, geometry.len)?,
        OrderedWrites::begin(lab, geometry, geometry.len)?,
    ];
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let begun = lab.spent.written.0;
    loop {
        for _ in 0..40 {
            for writes in &mut both {
                writes.reserve(lab, 2)?;
            }
            for writes in &mut both {
                first.push(writes.write(lab)?);
                second.push(writes.write(lab)?);
            }
        }
        let Some(cost) = difference(&first, &second, lab.sigma()) else {
            continue;
        };
        let floor = floor_of_writes(lab, &second);
        let spent =
            first.len() > ROUNDS || lab.spent.written.0 - begun > most(lab) || !lab.stays_cool()?;
        if (first.len() >= 160 && cost.is_certain(floor)) || spent {
            found.set(CardProperty::WriteSeek, cost.finding(floor));
            return Ok(());
        }
    }
}

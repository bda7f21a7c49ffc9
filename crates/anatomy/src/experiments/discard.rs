//! Discards: their time, and whether a discarded unit needs no collection.

use super::units::{UnitGeometry, WrittenUnit, collection_time, open_fresh};
use crate::lab::{Findings, Halt, Lab, Measured};
use crate::location::{SampleLocation, difference};
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty, DeclineReason, Experiment};

/// Discards for their time at least and at most.
const DISCARDS: (usize, usize) = (100, 4000);

/// Openings at most for their cost.
const OPENINGS: usize = 1500;

pub(super) fn perform(lab: &mut Lab<'_>, known: &Anatomy) -> Measured<Findings> {
    if !lab.can_discard() {
        return Err(Halt::Declined(DeclineReason::Unsupported));
    }
    let geometry = UnitGeometry::of(lab, known);
    let mut found = Findings::default();
    lab.drain()?;
    let at = lab.fresh(geometry.stride, geometry.stride)?;
    let mut latencies = Vec::new();
    let time = loop {
        for _ in 0..100 {
            latencies.push(lab.discard(at, geometry.unit)?);
        }
        if let Some(time) = SampleLocation::of(&latencies, lab.sigma())
            && (latencies.len() >= DISCARDS.0 && time.is_certain(0.0)
                || latencies.len() >= DISCARDS.1)
        {
            break time;
        }
    };
    found.set(CardProperty::Discard, time.finding(0.0));
    let collection = collection_time(known);
    let (Some(count), Some(collection)) = (known.size(CardProperty::OpenUnits), collection) else {
        let needs = DeclineReason::Needs(CardProperty::OpenUnits);
        found.decline(&[CardProperty::DiscardFrees], needs);
        return Ok(found);
    };
    if !geometry.is_known {
        let needs = DeclineReason::Needs(CardProperty::Unit);
        found.decline(&[CardProperty::DiscardFrees], needs);
        return Ok(found);
    }
    let mut freed = 0;
    for _ in 0..3 {
        freed += u32::from(frees(lab, &geometry, count, collection, &mut found)?);
    }
    let finding = match freed {
        0 => CardFinding::exact(0),
        3 => CardFinding::exact(1),
        _ => CardFinding::Unknown(DeclineReason::Ambiguous),
    };
    found.set(CardProperty::DiscardFrees, finding);
    if freed == 3 && known.finding(CardProperty::OpenCost).known().is_none() {
        opening(lab, &geometry, &mut found)?;
    }
    debug_assert!(
        found
            .findings
            .keys()
            .all(|p| super::properties(Experiment::Discard).contains(p))
    );
    Ok(found)
}

/// Discards the oldest of all open units and opens another: was nothing collected?
fn frees(
    lab: &mut Lab<'_>,
    geometry: &UnitGeometry,
    count: u64,
    collection: f64,
    found: &mut Findings,
) -> Measured<bool> {
    lab.may_copy((count + 1) * geometry.unit)?;
    let mut units = open_fresh(lab, geometry, count)?;
    let last = units.len() - 1;
    // With one open unit this is the oldest one, too.
    let base = units[last].write(lab, geometry)?;
    lab.discard(units[0].start, geometry.unit)?;
    let mut next = WrittenUnit::fresh(lab, geometry)?;
    let latency = next.write(lab, geometry)?;
    found.points.push((1.0, latency - base));
    let collected = latency > base + collection / 2.0;
    if !collected {
        lab.not_copied(geometry.unit);
    }
    Ok(!collected)
}

/// Measures the cost of opening a unit: opens, writes once more, discards. Both writes follow a discard, so that the time
/// to turn from a discard to a write is in both.
fn opening(lab: &mut Lab<'_>, geometry: &UnitGeometry, found: &mut Findings) -> Measured<()> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let floor = 0.02 * lab.reference.unwrap_or(0.0);
    // Nothing was written here.
    let empty = lab.fresh(geometry.stride, geometry.stride)?;
    lab.discard(empty, geometry.unit)?;
    loop {
        for _ in 0..25 {
            let mut unit = WrittenUnit::fresh(lab, geometry)?;
            let opened = unit.write(lab, geometry)?;
            first.push(opened);
            lab.discard(empty, geometry.unit)?;
            second.push(unit.write(lab, geometry)?);
            lab.discard(unit.start, geometry.unit)?;
        }
        let Some(cost) = difference(&first, &second, lab.sigma()) else {
            continue;
        };
        if cost.is_certain(floor) || first.len() > OPENINGS || !lab.stays_cool()? {
            found.set(CardProperty::OpenCost, cost.finding(floor));
            return Ok(());
        }
    }
}

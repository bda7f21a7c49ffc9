//! Writes out of order in open units: in how many of them, and at what cost.

use super::units::{OrderedWrites, UnitGeometry, collection_time, open_fresh, slow_limit};
use crate::lab::{Findings, Lab, Measured};
use crate::location::difference;
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty, DeclineReason};

/// Searches at most, two of which must agree.
const SEARCHES: u32 = 3;

/// Pairs of writes at most for the cost, and the bytes written for it; a third at most of what may be written.
const PAIRS: usize = 12_000;
const BYTES: u64 = 600 << 20;

/// Part of the capacity that is written for it at most.
const PART: u64 = 20;

/// Pages that a write out of order skips.
const SKIP: u64 = 2;

pub(super) fn perform(lab: &mut Lab<'_>, known: &Anatomy) -> Measured<Findings> {
    let mut found = Findings::default();
    let count = UnitGeometry::limit(known)?;
    let geometry = UnitGeometry::of(lab, known);
    let Some(collection) = collection_time(known) else {
        let needs = DeclineReason::Needs(CardProperty::CollectionTime);
        found.decline(
            &[CardProperty::RandomUnits, CardProperty::RandomWrite],
            needs,
        );
        return Ok(found);
    };
    lab.drain()?;
    let mut answers = Vec::new();
    for _ in 0..SEARCHES {
        let answer = search(lab, &geometry, collection, count, &mut found)?;
        if answers.contains(&answer) {
            return report(lab, known, &geometry, answer, found);
        }
        answers.push(answer);
    }
    found.decline(
        &[CardProperty::RandomUnits, CardProperty::RandomWrite],
        DeclineReason::Ambiguous,
    );
    Ok(found)
}

/// Opens all units and writes out of order in one after the other, twice in each; returns how many stayed fast.
fn search(
    lab: &mut Lab<'_>,
    geometry: &UnitGeometry,
    collection: f64,
    count: u64,
    found: &mut Findings,
) -> Measured<u64> {
    lab.may_copy(count * geometry.unit)?;
    let mut units = open_fresh(lab, geometry, count)?;
    let base = {
        let unit = &mut units[0];
        let latencies = [unit.write(lab, geometry)?, unit.write(lab, geometry)?];
        latencies[0].min(latencies[1])
    };
    let half =
        (base + collection / 2.0).max(slow_limit(lab, base, 0.0).min(base + 0.8 * collection));
    found.points.clear();
    for (index, unit) in units.iter_mut().enumerate() {
        lab.may_copy(geometry.unit)?;
        let first = unit.skip(lab, geometry, SKIP)?;
        found.points.push((index as f64 + 1.0, first));
        if first > half {
            return Ok(index as u64);
        }
        lab.not_copied(geometry.unit);
    }
    Ok(count)
}

fn report(
    lab: &mut Lab<'_>,
    known: &Anatomy,
    geometry: &UnitGeometry,
    answer: u64,
    mut found: Findings,
) -> Measured<Findings> {
    found.set(CardProperty::RandomUnits, CardFinding::exact(answer));
    if answer == 0 {
        let none = CardFinding::Unknown(DeclineReason::Needs(CardProperty::RandomUnits));
        found.set(CardProperty::RandomWrite, none);
        return Ok(found);
    }
    let two_units = UnitGeometry::keeps_two_open(known);
    lab.may_copy(geometry.unit * if two_units { 2 } else { 1 })?;
    let mut unit = open_fresh(lab, geometry, 1)?.remove(0);
    unit.skip(lab, geometry, SKIP)?;
    // Writes to two units in turn seek, like those out of order. Where only one is open, the seek is subtracted later.
    let mut ordered = match two_units {
        true => Some(OrderedWrites::begin(lab, *geometry)?),
        false => None,
    };
    let (mut skipped, mut usual) = (Vec::new(), Vec::new());
    let most = BYTES
        .min(lab.capacity() / PART)
        .min(lab.left_to_write() / 3);
    let until = lab.spent.written.0 + most;
    loop {
        for _ in 0..50 {
            if let Some(ordered) = &mut ordered {
                ordered.reserve(lab, 1)?;
            }
            skipped.push(unit.skip(lab, geometry, SKIP)?);
            usual.push(match &mut ordered {
                Some(ordered) => ordered.write(lab)?,
                None => unit.write(lab, geometry)?,
            });
        }
        let sigma = lab.sigma();
        let Some(cost) = difference(&skipped, &usual, sigma) else {
            continue;
        };
        let floor = 0.01 * lab.reference.unwrap_or(0.0);
        let spent = skipped.len() > PAIRS || lab.spent.written.0 > until || !lab.stays_cool()?;
        if skipped.len() >= 100 && cost.is_certain(floor) || spent {
            found.set(CardProperty::RandomWrite, cost.finding(floor));
            return Ok(found);
        }
    }
}

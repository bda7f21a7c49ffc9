//! Open units: how many, and what a collection costs.
//!
//! The set of open units only grows until one write too many makes every other write slow, so that a search costs about
//! one collection for each unit.

use super::units::{UnitGeometry, WrittenUnit, base, open_fresh, slow_limit};
use super::{unit_size, write_sizes};
use crate::lab::{Findings, Halt, Lab, Measured};
use crate::location::SampleLocation;
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty, DeclineReason};

/// Units that are tried.
const MOST: u64 = 64;

/// Least time of a write with a collection, as a multiple of one without.
const COLLECTION_FACTOR: f64 = 10.0;

/// Collections measured at least, and at most.
const COLLECTIONS: (usize, usize) = (14, 600);

/// Longest time of their writes in ns.
const LONGEST: f64 = 90e9;

/// Bytes copied for that at most.
const COPIED: u64 = 3 << 30;

pub(super) fn perform(lab: &mut Lab<'_>, known: &Anatomy) -> Measured<Findings> {
    let mut geometry = UnitGeometry::of(lab, known);
    let mut found = Findings::default();
    lab.drain()?;
    let (base, _) = base(lab, &geometry)?;
    let limit = slow_limit(lab, base, geometry.open);
    let most = MOST.min(lab.capacity() / geometry.stride / 3);
    let Some(count) = search(lab, &geometry, limit, most, &mut found)? else {
        let up_to = most as f64;
        found.set(CardProperty::OpenUnits, CardFinding::Absent { up_to });
        found.decline(
            &[CardProperty::CollectionTime, CardProperty::CollectionRate],
            DeclineReason::Needs(CardProperty::OpenUnits),
        );
        return Ok(found);
    };
    let Some(in_turn) = stays_fast(lab, &geometry, limit, count)? else {
        found.decline(
            super::properties(hakaru_model::anatomy::Experiment::OpenUnits),
            DeclineReason::Ambiguous,
        );
        return Ok(found);
    };
    let Some(visits) = collections(lab, &geometry, limit, base, count)? else {
        let (low, high) = (count as f64, 2.0 * count as f64);
        found.decline(
            super::properties(hakaru_model::anatomy::Experiment::OpenUnits),
            DeclineReason::SoftLimit { low, high },
        );
        return Ok(found);
    };
    // On a card that seeks to each write, writes to two places in turn are slow, too. Only a collection makes them many
    // times as slow.
    let typical = SampleLocation::of(&visits, lab.sigma()).map_or(0.0, |all| all.value);
    if count == 1 && typical < COLLECTION_FACTOR * base {
        found.decline(
            super::properties(hakaru_model::anatomy::Experiment::OpenUnits),
            DeclineReason::Ambiguous,
        );
        return Ok(found);
    }
    found.set(CardProperty::OpenUnits, CardFinding::exact(count));
    let mut open = known.finding(CardProperty::OpenCost);
    let unit = match geometry.is_known {
        true => None,
        false => match unit_size::find(lab, &geometry, limit, count) {
            // What was found until here needs no unit.
            Err(Halt::Budget) => None,
            other => other?,
        },
    };
    if let Some(unit) = unit {
        found.set(CardProperty::Unit, CardFinding::exact(unit));
        geometry = geometry.with_unit(unit);
        open = write_sizes::opening_cost(lab, &geometry)?;
        found.set(CardProperty::OpenCost, open);
    }
    // Writes to several units in turn seek, like those that collect one. Where only one is open, the seek is subtracted
    // later.
    let base = match count {
        1 => SampleLocation {
            value: base,
            error: lab.sigma() * base / 4.0,
        },
        _ => in_turn,
    };
    price(lab, open, &geometry, base, &visits, &mut found);
    Ok(found)
}

/// Opens one unit after the other until writes to all of them in turn are slow; returns how many were not too many.
fn search(
    lab: &mut Lab<'_>,
    geometry: &UnitGeometry,
    limit: f64,
    most: u64,
    found: &mut Findings,
) -> Measured<Option<u64>> {
    let mut units: Vec<WrittenUnit> = Vec::new();
    while (units.len() as u64) < most {
        let mut unit = WrittenUnit::fresh(lab, geometry)?;
        lab.may_copy(geometry.unit)?;
        lab.stays_cool()?;
        let opening = unit.write(lab, geometry)?;
        units.push(unit);
        let count = units.len() as f64;
        if opening <= limit {
            found.points.push((count, opening));
            lab.not_copied(geometry.unit);
            continue;
        }
        if units.len() < 2 {
            continue;
        }
        // A unit that was open before, or one of these?
        let mut again = Vec::new();
        for unit in &mut units {
            lab.may_copy(geometry.unit)?;
            lab.stays_cool()?;
            let latency = unit.write(lab, geometry)?;
            if latency <= limit {
                lab.not_copied(geometry.unit);
            }
            again.push(latency);
        }
        again.sort_by(f64::total_cmp);
        let second = again[again.len() - 2];
        found.points.push((count, second));
        if second > limit {
            return Ok(Some(units.len() as u64 - 1));
        }
    }
    Ok(None)
}

/// Writes to so many units in ascending, descending and random order. Returns the time of such a write, or `None` if they
/// do not stay open.
fn stays_fast(
    lab: &mut Lab<'_>,
    geometry: &UnitGeometry,
    limit: f64,
    count: u64,
) -> Measured<Option<SampleLocation>> {
    lab.may_copy(count * geometry.unit)?;
    let mut units = open_fresh(lab, geometry, count)?;
    let n = units.len();
    let mut shuffled: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        shuffled.swap(i, lab.rng.below(i as u64 + 1) as usize);
    }
    let orders = [(0..n).collect(), (0..n).rev().collect(), shuffled];
    let mut latencies = Vec::new();
    for order in orders {
        for index in order {
            latencies.push(units[index].write(lab, geometry)?);
        }
    }
    let slow = latencies.iter().filter(|latency| **latency > limit).count();
    let is_fast = slow * 10 <= latencies.len() || slow <= 1;
    Ok(SampleLocation::of(&latencies, lab.sigma()).filter(|_| is_fast))
}

/// Visits one unit more than can be open in turn: every visit collects one. `None` if fewer than 80% of the visits are
/// slow: it is not the oldest unit that is closed.
fn collections(
    lab: &mut Lab<'_>,
    geometry: &UnitGeometry,
    limit: f64,
    base: f64,
    count: u64,
) -> Measured<Option<Vec<f64>>> {
    let cycle = (count + 1) * geometry.unit;
    lab.may_copy(2 * cycle)?;
    let mut units = open_fresh(lab, geometry, count + 1)?;
    // The units opened first hold more than one write only after a cycle.
    for unit in &mut units {
        lab.stays_cool()?;
        unit.write(lab, geometry)?;
    }
    let copied = lab.spent.copied.0;
    let (mut visits, mut slow) = (Vec::new(), 0);
    loop {
        lab.may_copy(cycle)?;
        for unit in &mut units {
            lab.stays_cool()?;
            let latency = unit.write(lab, geometry)?;
            slow += u32::from(latency > limit);
            visits.push(latency);
        }
        if visits.len() < COLLECTIONS.0 && lab.left_to_copy() >= cycle {
            continue;
        }
        let enough = SampleLocation::of(&visits, lab.sigma())
            .is_some_and(|all| 2.6 * all.error < 0.02 * (all.value - base));
        let spent = visits.len() > COLLECTIONS.1
            || visits.iter().sum::<f64>() > LONGEST
            || lab.spent.copied.0 - copied > COPIED
            || lab.left_to_copy() < cycle
            || !lab.stays_cool()?;
        if enough || spent {
            break;
        }
    }
    Ok((slow as usize * 10 >= visits.len() * 8).then_some(visits))
}

/// Reports time and rate of a collection: each visit collects a unit that holds exactly one write.
fn price(
    lab: &Lab<'_>,
    open: CardFinding,
    geometry: &UnitGeometry,
    base: SampleLocation,
    visits: &[f64],
    found: &mut Findings,
) {
    let Some(all) = SampleLocation::of(visits, lab.sigma()) else {
        return;
    };
    let opening = all.minus(base);
    let open = match open {
        CardFinding::Known(open) => SampleLocation {
            value: open.value,
            error: (open.high - open.low) / 5.2,
        },
        CardFinding::Absent { up_to } => SampleLocation {
            value: up_to / 3.0,
            error: up_to / 4.0,
        },
        // Whatever the noise hid is small against a collection, or makes its time uncertain.
        unknown @ CardFinding::Unknown(_) => match unknown.rough() {
            Some(open) => SampleLocation {
                value: open.value,
                error: (open.high - open.low) / 5.2,
            },
            None => SampleLocation {
                value: 0.0,
                error: 1.5 * base.value,
            },
        },
    };
    let time = opening.minus(open);
    found.set(CardProperty::CollectionTime, time.finding(0.0));
    let rate = match geometry.is_known {
        true => time
            .divide((geometry.unit - geometry.len) as f64 * 1e9)
            .finding(0.0),
        false => CardFinding::Unknown(DeclineReason::Needs(CardProperty::Unit)),
    };
    found.set(CardProperty::CollectionRate, rate);
}

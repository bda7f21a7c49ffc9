//! Units at the start of the card that are always open, for the tables of FAT.

use super::units::{UnitGeometry, collection_time, open_fresh};
use crate::lab::{Findings, Halt, Lab, Measured};
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty, DeclineReason};

/// Bytes at the start that are searched.
const AREA: u64 = 512 << 20;

pub(super) fn perform(lab: &mut Lab<'_>, known: &Anatomy) -> Measured<Findings> {
    let count = UnitGeometry::limit(known)?;
    let geometry = UnitGeometry::of(lab, known);
    if !geometry.is_known {
        let needs = DeclineReason::Needs(CardProperty::Unit);
        return Err(Halt::Declined(needs));
    }
    let Some(collection) = collection_time(known) else {
        let needs = DeclineReason::Needs(CardProperty::CollectionTime);
        return Err(Halt::Declined(needs));
    };
    lab.drain()?;
    let mut found = Findings::default();
    let most = (AREA / geometry.unit).max(1);
    let (mut special, mut first_usual) = (0u64, None);
    let mut index = 0;
    loop {
        match is_special(lab, &geometry, count, collection, index)? {
            true => special = index + 1,
            false => {
                first_usual = Some(index);
                break;
            }
        }
        if index + 1 >= most {
            break;
        }
        index = (2 * index).max(index + 1).min(most - 1);
    }
    let Some(mut usual) = first_usual else {
        let reason = DeclineReason::Ambiguous;
        found.decline(&[CardProperty::FatUnits], reason);
        return Ok(found);
    };
    while usual > special {
        let middle = special.midpoint(usual);
        match is_special(lab, &geometry, count, collection, middle)? {
            true => special = middle + 1,
            false => usual = middle,
        }
    }
    let agrees = !is_special(lab, &geometry, count, collection, usual)?
        && (usual == 0 || is_special(lab, &geometry, count, collection, usual - 1)?);
    found.points.push((usual as f64, collection));
    let finding = match agrees {
        true => CardFinding::exact(usual),
        false => CardFinding::Unknown(DeclineReason::Ambiguous),
    };
    found.set(CardProperty::FatUnits, finding);
    Ok(found)
}

/// Returns whether writes to a unit at the start collect nothing although all units are open.
fn is_special(
    lab: &mut Lab<'_>,
    geometry: &UnitGeometry,
    count: u64,
    collection: f64,
    index: u64,
) -> Measured<bool> {
    lab.stays_cool()?;
    lab.may_copy((count + 1) * geometry.unit)?;
    let mut units = open_fresh(lab, geometry, count)?;
    let unit = units.last_mut();
    let base = match unit {
        Some(unit) => unit.write(lab, geometry)?,
        None => 0.0,
    };
    let latency = lab.write(index * geometry.unit, geometry.len)?;
    Ok(latency < base + collection / 2.0)
}

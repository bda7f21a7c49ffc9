//! The unit of a card whose reads and long writes do not show it, from its limit of open units.
//!
//! With one unit less than the limit open elsewhere, two writes in order on both sides of a place open one unit more if
//! they are in the same unit, and two if the place is a boundary. Two are one too many.

use super::units::{UnitGeometry, open_fresh};
use crate::lab::{Lab, Measured, REGION};

/// Candidates are 2^n and 3·2^n with these n: 256 KiB to 64 MiB, and 48 MiB.
const EXPONENTS: (u32, u32) = (18, 26);

/// Returns the unit; `None` if the tests contradict each other.
pub(super) fn find(
    lab: &mut Lab<'_>,
    geometry: &UnitGeometry,
    limit: f64,
    count: u64,
) -> Measured<Option<u64>> {
    let before = lab.counted_copies();
    // Odd multiples of 3·2^n are boundaries of all units 2^m and 3·2^m with m ≤ n, and of no other.
    let (mut low, mut high) = EXPONENTS;
    let mut tests = 0;
    let mut is_boundary = |lab: &mut Lab<'_>, size: u64, largest: u64| {
        tests += 1;
        lab.may_copy((count + 1) * largest.min(geometry.unit))?;
        closes_a_unit(lab, geometry, limit, count, size)
    };
    while low < high {
        let middle = low.midpoint(high);
        match is_boundary(lab, 3 << middle, 3 << high)? {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    let (power, largest) = (1 << low, 3 << low);
    // A unit consists of whole pages, and a write to parts of two pages would be slow for that reason.
    let in_pages = |size: u64| size.is_multiple_of(geometry.len);
    let unit = match in_pages(power) && is_boundary(lab, power, largest)? {
        true => power,
        false => 3 * power,
    };
    let mut agrees = is_boundary(lab, unit, unit)?;
    for other in [unit / 2, unit / 3 * 2, unit / 4 * 3] {
        let differs = in_pages(other) && !other.is_multiple_of(unit);
        agrees &= !differs || !is_boundary(lab, other, unit)?;
    }
    if !agrees {
        return Ok(None);
    }
    // Until here, this attempt counted units as large as they might have been.
    let ratio = unit as f64 / geometry.unit as f64;
    let copied = (before as f64 * ratio) as u64 + tests * (count + 1) * unit;
    lab.not_copied(lab.counted_copies().saturating_sub(copied));
    Ok(Some(unit))
}

/// Writes on both sides of an odd multiple of a size while one unit can still be opened; returns whether that was not
/// enough.
fn closes_a_unit(
    lab: &mut Lab<'_>,
    geometry: &UnitGeometry,
    limit: f64,
    count: u64,
    size: u64,
) -> Measured<bool> {
    lab.stays_cool()?;
    let first = lab.fresh((3 * size + geometry.len).next_multiple_of(REGION), REGION)?;
    // The region begins at a multiple of all units: this place is at one of those that divide the size, and of no other.
    let place = first + size;
    open_fresh(lab, geometry, count - 1)?;
    lab.write(place - geometry.len, geometry.len)?;
    let latency = lab.write(place, geometry.len)?;
    Ok(latency > limit)
}

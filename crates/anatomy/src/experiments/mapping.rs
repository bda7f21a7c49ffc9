//! Mapping cache: reads of more and more places in turn.

use crate::lab::{Findings, Lab, Measured};
use crate::location::{SampleLocation, difference};
use hakaru_model::anatomy::{CardFinding, CardProperty, DeclineReason};

/// Distance of the places: more than one entry covers.
const STRIDE: u64 = 16 << 20;

/// Places at most.
const PLACES: u64 = 1024;

/// Reads of a cycle between those that they are compared with.
const IN_TURN: u64 = 24;

/// Reads at most for the cost of loading an entry, and the longest time for them in ns.
const READS: usize = 12_000;
const READS_TIME: f64 = 20e9;

pub(super) fn perform(lab: &mut Lab<'_>) -> Measured<Findings> {
    let mut found = Findings::default();
    let most = (lab.capacity() / STRIDE).min(PLACES);
    if most < 8 {
        found.decline(
            &[
                CardProperty::MappingSlots,
                CardProperty::MappingChunk,
                CardProperty::MappingLoad,
            ],
            DeclineReason::TooSmall,
        );
        return Ok(found);
    }
    let (mut fast, mut slow) = (2, None);
    let mut places = 4;
    while places <= most {
        let cost = extra(lab, places, STRIDE)?;
        found.points.push((places as f64, cost.value));
        if is_slow(lab, cost) {
            slow = Some(places);
            break;
        }
        fast = places;
        places *= 2;
    }
    let Some(mut slow) = slow else {
        let up_to = fast as f64;
        found.set(CardProperty::MappingSlots, CardFinding::Absent { up_to });
        let reason = CardFinding::Unknown(DeclineReason::Needs(CardProperty::MappingSlots));
        found.set(CardProperty::MappingChunk, reason);
        found.set(CardProperty::MappingLoad, reason);
        return Ok(found);
    };
    while slow - fast > 1 {
        let middle = (slow + fast) / 2;
        let cost = extra(lab, middle, STRIDE)?;
        found.points.push((middle as f64, cost.value));
        match is_slow(lab, cost) {
            true => slow = middle,
            false => fast = middle,
        }
    }
    confirm(lab, fast, most, &mut found)?;
    Ok(found)
}

/// Returns whether the extra latency of a cycle shows that entries were loaded.
fn is_slow(lab: &Lab<'_>, cost: SampleLocation) -> bool {
    let usual = lab.reference.unwrap_or(0.0);
    cost.value > 5.0 * cost.error && cost.value > 0.03 * usual
}

/// Returns how much longer a read takes in a warm cycle over places than of two places in turn, in parts so short that a
/// host whose speed changes delays both alike.
fn extra(lab: &mut Lab<'_>, places: u64, stride: u64) -> Measured<SampleLocation> {
    let sigma = lab.sigma();
    let wanted = (125.0 * sigma).powi(2).clamp(64.0, 4000.0) as u64;
    let at = |place: u64| place % places * stride + (8 << 10);
    let block = lab.block();
    let (mut cycle, mut two) = (Vec::new(), Vec::new());
    if places <= 2 {
        return Ok(SampleLocation::exact(0.0));
    }
    for place in 0..places {
        lab.read(at(place), block)?;
    }
    let total = (2 * places).max((wanted * places / (places - 2)).next_multiple_of(places));
    let of_two = wanted.max(96).div_ceil(total.div_ceil(IN_TURN));
    for n in 0..total {
        let latency = lab.read(at(n), block)?;
        // The first two are those of the comparison, and therefore never the ones that were used the longest time ago.
        if n % places >= 2 {
            cycle.push(latency);
        }
        if (n + 1) % IN_TURN == 0 || n + 1 == total {
            lab.read(at(0), block)?;
            lab.read(at(1), block)?;
            for m in 0..of_two {
                two.push(lab.read(at(m % 2), block)?);
            }
        }
    }
    Ok(difference(&cycle, &two, sigma).unwrap_or(SampleLocation::exact(0.0)))
}

/// Checks the limit, and measures what an entry costs and covers.
fn confirm(lab: &mut Lab<'_>, slots: u64, most: u64, found: &mut Findings) -> Measured<()> {
    let cost = load(lab, slots)?;
    found.set(CardProperty::MappingLoad, cost.finding(0.0));
    let within = extra(lab, slots, STRIDE)?;
    let beyond = extra(lab, slots + 1, STRIDE)?;
    let both = [CardProperty::MappingSlots, CardProperty::MappingChunk];
    if is_slow(lab, within) || !is_slow(lab, beyond) {
        found.decline(&both, DeclineReason::Ambiguous);
        return Ok(());
    }
    if 2 * slots + 8 <= most {
        let near = extra(lab, slots + 8, STRIDE)?;
        let far = extra(lab, 2 * slots + 8, STRIDE)?;
        let near_error = 3.0 * near.error.hypot(far.error);
        if near.value + near_error < 0.8 * far.value || beyond.value < 0.6 * far.value {
            let (low, high) = (slots as f64, 2.0 * slots as f64);
            found.decline(&both, DeclineReason::SoftLimit { low, high });
            found.decline(
                &[CardProperty::MappingLoad],
                DeclineReason::Needs(CardProperty::MappingSlots),
            );
            return Ok(());
        }
    }
    // If one entry covered more than the distance of the places, fewer places would fit at twice the distance.
    if slots * 2 * STRIDE <= lab.capacity() {
        let spread = extra(lab, slots, 2 * STRIDE)?;
        if is_slow(lab, spread) {
            found.decline(&both, DeclineReason::Ambiguous);
            return Ok(());
        }
    }
    found.set(CardProperty::MappingSlots, CardFinding::exact(slots));
    let chunk = chunk(lab, slots, cost.value)?;
    found.set(CardProperty::MappingChunk, chunk);
    Ok(())
}

/// Measures the cost of loading an entry: a cycle over one place too many loads one each time.
fn load(lab: &mut Lab<'_>, slots: u64) -> Measured<SampleLocation> {
    let sigma = lab.sigma();
    let block = lab.block();
    let at = |place: u64| place * STRIDE + (8 << 10);
    let (mut missed, mut hit) = (Vec::new(), Vec::new());
    for place in 0..=slots {
        lab.read(at(place), block)?;
    }
    let begun = lab.now();
    loop {
        for place in 0..=slots {
            missed.push(lab.read(at(place), block)?);
        }
        for n in 0..slots.max(64) {
            let latency = lab.read(at(n % 2), block)?;
            if n >= 4 {
                hit.push(latency);
            }
        }
        for place in 0..=slots {
            lab.read(at(place), block)?;
        }
        if missed.len() >= 200
            && let Some(cost) = difference(&missed, &hit, sigma)
            && (cost.is_certain(0.0) || missed.len() >= READS || lab.now() - begun > READS_TIME)
        {
            return Ok(cost);
        }
    }
}

/// Finds what one entry covers: with all entries but one in use, two addresses around a boundary of entries make every
/// read of the cycle load one.
fn chunk(lab: &mut Lab<'_>, slots: u64, load: f64) -> Measured<CardFinding> {
    let unknown = CardFinding::Unknown(DeclineReason::Ambiguous);
    // Of the sizes 3·2^n, those from the entry's power of two on are boundaries.
    let (mut low, mut high) = (15u32, 24u32);
    if !divides(lab, slots, load, 3 << high)? {
        return Ok(unknown);
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        match divides(lab, slots, load, 3 << middle)? {
            true => high = middle,
            false => low = middle,
        }
    }
    let power = 1u64 << high;
    let size = match divides(lab, slots, load, power)? {
        true => power,
        false => 3 * power,
    };
    let below = if size == power {
        3 * (power / 2)
    } else {
        power
    };
    let sure = divides(lab, slots, load, size)?
        && divides(lab, slots, load, size * 3)?
        && !divides(lab, slots, load, below)?
        && !divides(lab, slots, load, size / 2)?;
    Ok(match sure {
        true => CardFinding::exact(size),
        false => unknown,
    })
}

/// Returns whether multiples of a size are boundaries of entries, by two places that must agree; a disagreement counts
/// as no.
fn divides(lab: &mut Lab<'_>, slots: u64, load: f64, size: u64) -> Measured<bool> {
    let block = lab.block();
    let mut votes = 0;
    for _ in 0..2 {
        let boundary = loop {
            let multiple = 1 + lab.rng.below((lab.capacity() / size).max(2) - 1);
            if (multiple % 2 == 1 && !multiple.is_multiple_of(3)) || lab.capacity() / size < 8 {
                break multiple * size;
            }
        };
        let far: Vec<u64> = (0..)
            .map(|place: u64| place * STRIDE + (8 << 10))
            .filter(|place| place.abs_diff(boundary) > 4 * STRIDE)
            .take(slots as usize - 1)
            .collect();
        let places: Vec<u64> = far
            .into_iter()
            .chain([boundary - 4096, boundary])
            .filter(|place| place + block <= lab.capacity())
            .collect();
        for place in &places {
            lab.read(*place, block)?;
        }
        let mut cycle = Vec::new();
        let wanted = (125.0 * lab.sigma()).powi(2).clamp(48.0, 2000.0) as usize;
        while cycle.len() < wanted.max(places.len()) {
            for place in &places {
                cycle.push(lab.read(*place, block)?);
            }
        }
        let middle = hakaru_analysis::stats::median(&cycle).unwrap_or(0.0);
        let usual = lab.reference.unwrap_or(0.0);
        votes += u32::from(middle > usual + load / 2.0);
    }
    Ok(votes == 2)
}

//! A long sequential write: the cache, and the unit from writes that open one.

use super::units::UnitGeometry;
use crate::change;
use crate::lab::{Findings, Lab, Measured, REGION};
use crate::location::SampleLocation;
use crate::periodic::{self, TimedWrite};
use hakaru_analysis::stats::median;
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty, DeclineReason, PropertyValue};

/// Bytes written at least and at most.
const LEAST: u64 = 448 << 20;
const MOST: u64 = 2 << 30;

/// Longest time in ns.
const LONGEST: f64 = 240e9;

/// Bytes written after the cache is full.
const AFTER: u64 = 256 << 20;

/// Idle time before, in which the card may empty its cache, in ns.
const BEFORE: f64 = 30e9;

/// Writes between reference measurements.
pub(crate) const PIECE: usize = 512;

pub(super) fn perform(lab: &mut Lab<'_>, known: &Anatomy) -> Measured<Findings> {
    let geometry = UnitGeometry::of(lab, known);
    let len = match geometry.len {
        page if (192u64 << 10).is_multiple_of(page) => 192 << 10,
        page => (384u64 << 10).next_multiple_of(page),
    };
    lab.idle(BEFORE)?;
    let mut found = Findings::default();
    let writes = fill(lab, len)?;
    let latencies: Vec<f64> = writes.iter().map(|write| write.latency).collect();
    for chunk in writes.chunks(writes.len().div_ceil(80).max(1)) {
        let of_chunk: Vec<f64> = chunk.iter().map(|write| write.latency).collect();
        let written = chunk[0].offset - writes[0].offset;
        found
            .points
            .push((written as f64, median(&of_chunk).unwrap_or(0.0)));
    }
    let rise = change::rise(&latencies);
    let (before, after) = writes.split_at(rise.map_or(0, |rise| rise.at));
    unit(known, &[before, after], &mut found);
    let total = writes.len() as u64 * len;
    let Some(rise) = rise else {
        let up_to = total as f64;
        let size = match change::disturbance(&latencies) {
            Some(spread) => CardFinding::Unknown(DeclineReason::Drift { spread }),
            None => CardFinding::Absent { up_to },
        };
        found.set(CardProperty::CacheSize, size);
        let none = CardFinding::Unknown(DeclineReason::Needs(CardProperty::CacheSize));
        found.set(CardProperty::CacheRate, none);
        return Ok(found);
    };
    lab.state.cache = Some((len, (rise.before * rise.after).sqrt()));
    lab.state.is_drained = true;
    cache(lab, &writes, rise.at, len, &mut found)?;
    Ok(found)
}

/// Writes in order until the answer is there, or the time, heat or bytes are spent.
fn fill(lab: &mut Lab<'_>, len: u64) -> Measured<Vec<TimedWrite>> {
    let most = (lab.capacity() / 25 * 3).min(MOST);
    let start = lab.fresh(most.max(LEAST).min(lab.capacity() / 2), REGION)?;
    let begun = lab.now();
    let mut writes: Vec<TimedWrite> = Vec::new();
    let mut offset = start;
    let mut risen_at: Option<u64> = None;
    let heat = lab
        .state
        .warmth
        .throttles_at
        .map_or(f64::MAX, |limit| 0.8 * limit);
    loop {
        let written = offset - start;
        let enough = match risen_at {
            Some(at) => written >= at + AFTER,
            None => written >= most,
        };
        let late = lab.now() - begun > LONGEST && written >= LEAST;
        if enough || late || lab.state.warmth.now > heat {
            break;
        }
        if written > 0 && writes.len().is_multiple_of(PIECE) {
            lab.reference_measurement()?;
            // This write follows a read.
            lab.write(offset, len)?;
            offset += len;
        }
        let latency = lab.write(offset, len)?;
        writes.push(TimedWrite {
            offset,
            len,
            latency,
        });
        offset += len;
        if risen_at.is_none() && writes.len().is_multiple_of(128) {
            let latencies: Vec<f64> = writes.iter().map(|write| write.latency).collect();
            risen_at = change::rise(&latencies).map(|rise| writes[rise.at].offset - start);
        }
    }
    Ok(writes)
}

/// Reports the unit, if its first writes are slow; reads must not disagree.
fn unit(known: &Anatomy, regimes: &[&[TimedWrite]], found: &mut Findings) {
    let slow = periodic::slow_unit(regimes);
    let by_writes = slow.filter(|slow| {
        slow.gain > 40.0 && slow.margin > 25.0 && slow.cost.value > 3.0 * slow.cost.error
    });
    let by_reads = known.finding(CardProperty::Unit);
    let in_pages = |unit: u64| {
        known
            .size(CardProperty::Page)
            .is_none_or(|page| unit.is_multiple_of(page))
    };
    let finding = match (by_reads, by_writes) {
        (CardFinding::Known(reads), Some(writes)) if reads.value as u64 != writes.unit => {
            CardFinding::Unknown(DeclineReason::Contradiction)
        }
        // A unit consists of whole pages.
        (_, Some(writes)) if !in_pages(writes.unit) => {
            CardFinding::Unknown(DeclineReason::Contradiction)
        }
        (CardFinding::Known(_), _) => by_reads,
        (_, Some(writes)) => CardFinding::exact(writes.unit),
        (other, None) => other,
    };
    found.set(CardProperty::Unit, finding);
}

/// Reports the cache, if a second filling after a rest is fast again, or if it is too large a step for drift.
fn cache(
    lab: &mut Lab<'_>,
    writes: &[TimedWrite],
    at: usize,
    len: u64,
    found: &mut Findings,
) -> Measured<()> {
    let both = [CardProperty::CacheSize, CardProperty::CacheRate];
    let fast: Vec<f64> = writes[..at].iter().map(|write| write.latency).collect();
    let slow: Vec<f64> = writes[at..].iter().map(|write| write.latency).collect();
    let sigma = lab.sigma();
    let (Some(fast), Some(slow)) = (
        SampleLocation::of(&fast, sigma),
        SampleLocation::of(&slow, sigma),
    ) else {
        found.decline(&both, DeclineReason::Ambiguous);
        return Ok(());
    };
    let step = slow.value / fast.value - 1.0;
    let spread = lab.transfer_drift();
    if spread * 4.0 > step {
        lab.state.cache = None;
        found.decline(&both, DeclineReason::Drift { spread });
        return Ok(());
    }
    // Part of the bytes of the write at the change were still fast.
    let edge = &writes[at.saturating_sub(1)..(at + 1).min(writes.len())];
    let part: f64 = edge
        .iter()
        .map(|write| ((slow.value - write.latency) / (slow.value - fast.value)).clamp(0.0, 1.0))
        .sum();
    let first = writes[0].offset;
    let size = (writes[at].offset - first) as f64 - len as f64 * (edge.len() as f64 - 1.0 - part);
    found.set(
        CardProperty::CacheSize,
        CardFinding::Known(PropertyValue {
            value: size,
            low: size - 2.0 * len as f64,
            high: size + 2.0 * len as f64,
        }),
    );
    // The rate follows from the fixed time of a write, which the next experiment finds.
    lab.state.fast_write = Some((len, fast));
    let needs = DeclineReason::Needs(CardProperty::WriteOverhead);
    found.decline(&[CardProperty::CacheRate], needs);
    Ok(())
}

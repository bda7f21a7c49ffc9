//! Writes after idle times: how fast the idle card empties its cache.

use crate::lab::{Findings, Halt, Lab, Measured, REGION};
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty, PropertyValue, UnknownReason};

/// Idle times in ns.
const IDLE: [f64; 6] = [2e9, 5e9, 10e9, 20e9, 40e9, 80e9];

pub(super) fn perform(lab: &mut Lab<'_>, known: &Anatomy) -> Measured<Findings> {
    let mut found = Findings::default();
    let both = [CardProperty::DrainRate, CardProperty::DrainDelay];
    let Some(size) = known.value(CardProperty::CacheSize) else {
        found.decline(&both, UnknownReason::Needs(CardProperty::CacheSize));
        return Ok(found);
    };
    let Some((len, fast)) = lab.state.cache else {
        return Err(Halt::Declined(UnknownReason::NotMeasured));
    };
    let mut points = Vec::new();
    for idle in IDLE {
        lab.drain()?;
        let before = lab.now();
        lab.idle(idle)?;
        let idle = lab.now() - before;
        let bytes = fast_bytes(lab, len, fast)?;
        found.points.push((idle, bytes));
        if bytes > 0.9 * size {
            break;
        }
        if bytes > len as f64 {
            points.push((idle, bytes));
        }
    }
    if found
        .points
        .iter()
        .all(|(_, bytes)| *bytes < 2.0 * len as f64)
    {
        let up_to = size / 80.0;
        found.set(CardProperty::DrainRate, CardFinding::Absent { up_to });
        found.decline(
            &[CardProperty::DrainDelay],
            UnknownReason::Needs(CardProperty::DrainRate),
        );
        return Ok(found);
    }
    match line(&points, len as f64) {
        Some((rate, delay)) => {
            found.set(CardProperty::DrainRate, rate);
            found.set(CardProperty::DrainDelay, delay);
        }
        None => found.decline(&both, UnknownReason::Ambiguous),
    }
    Ok(found)
}

/// Writes until six writes in a row are slow; returns the bytes of those that were fast.
fn fast_bytes(lab: &mut Lab<'_>, len: u64, fast: f64) -> Measured<f64> {
    let chunk = 64 << 20;
    let (mut slow, mut at, mut end) = (0, 0, 0);
    let mut bytes = 0.0;
    while slow < 6 {
        if at + len > end {
            at = lab.fresh(chunk, REGION / 3)?;
            end = at + chunk;
        }
        if lab.write(at, len)? > fast {
            slow += 1;
        } else {
            // A slow write between fast ones was a stall or opened a unit.
            bytes += len as f64 * f64::from(1 + slow);
            slow = 0;
        }
        at += len;
    }
    lab.state.is_drained = true;
    Ok(bytes)
}

/// Fits bytes = rate · (time − delay) by least squares with weights of a write and 1%.
fn line(points: &[(f64, f64)], len: f64) -> Option<(CardFinding, CardFinding)> {
    if points.len() < 2 {
        return None;
    }
    let weigh = |bytes: f64| 1.0 / (len * len / 3.0 + (0.01 * bytes).powi(2));
    let (mut w, mut x, mut y) = (0.0, 0.0, 0.0);
    for (time, bytes) in points {
        let weight = weigh(*bytes);
        w += weight;
        x += weight * time;
        y += weight * bytes;
    }
    let (x, y) = (x / w, y / w);
    let (mut xx, mut xy) = (0.0, 0.0);
    for (time, bytes) in points {
        let weight = weigh(*bytes);
        xx += weight * (time - x) * (time - x);
        xy += weight * (time - x) * (bytes - y);
    }
    let slope = xy / xx;
    if slope <= 0.0 {
        return None;
    }
    let error = 2.6 / xx.sqrt();
    let rate = slope * 1e9;
    let finding = match error / slope <= crate::location::WIDEST {
        true => CardFinding::Known(PropertyValue {
            value: rate,
            low: (slope - error) * 1e9,
            high: (slope + error) * 1e9,
        }),
        false => CardFinding::Unknown(UnknownReason::Noisy {
            value: rate,
            relative_error: error / slope,
        }),
    };
    let delay = x - y / slope;
    let spread = 2.6 * (1.0 / w + (x - delay).powi(2) / xx).sqrt() / slope;
    let delay = match (spread, delay) {
        (spread, delay) if delay.abs() + spread < 0.15e9 => CardFinding::Absent { up_to: 0.15e9 },
        (spread, delay) if spread < (0.1 * delay).max(0.1e9) => CardFinding::Known(PropertyValue {
            value: delay.max(0.0),
            low: (delay - spread).max(0.0),
            high: delay + spread,
        }),
        (spread, delay) => CardFinding::Unknown(UnknownReason::Noisy {
            value: delay,
            relative_error: spread / delay.abs().max(1e6),
        }),
    };
    Some((finding, delay))
}

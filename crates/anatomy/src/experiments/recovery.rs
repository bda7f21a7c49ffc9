//! Writes after idle times: how fast the idle card empties its cache.

use crate::lab::{Findings, Halt, Lab, Measured, PIECE};
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty, DeclineReason, PropertyValue};

/// First idle time, and the shortest and longest, in ns.
const IDLE: (f64, f64, f64) = (2e9, 0.05e9, 80e9);

/// Idle times for the search of one after which part of the cache is empty, and for the rate.
const TRIES: (u32, u32) = (12, 4);

/// Idle times shortly after the delay, for the delay.
const SHORT_TRIES: u32 = 3;

/// Bytes of which the rate is certain enough: a larger cache need not be refilled.
const ENOUGH: f64 = 160e6;

/// Standard deviations of noise between a fast write and the limit.
const APART: f64 = 2.5;

/// Most of the cache that may be empty: beyond it, more idle time may not have made more room.
const MOST: f64 = 0.85;

/// Idle times with the bytes that were fast after them.
struct DrainTrials {
    len: u64,
    /// Latency of a write that tells whether it was fast.
    fast: f64,
    size: f64,
    points: Vec<(f64, f64)>,
    all: Vec<(f64, f64)>,
}

impl DrainTrials {
    /// Measures one idle time; returns the bytes.
    fn measure(&mut self, lab: &mut Lab<'_>, idle: f64) -> Measured<f64> {
        lab.drain()?;
        let before = lab.now();
        lab.idle(idle)?;
        let idle = lab.now() - before;
        let bytes = fast_bytes(lab, self.len, self.fast)?;
        self.all.push((idle, bytes));
        if bytes > self.len as f64 && bytes <= MOST * self.size {
            self.points.push((idle, bytes));
        }
        Ok(bytes)
    }

    /// Fewest bytes from which a rate follows.
    fn least(&self) -> f64 {
        (0.1 * self.size.min(ENOUGH)).max(4.0 * self.len as f64)
    }

    /// Searches an idle time after which the cache is partly empty; returns the longest one that was too short.
    fn search(&mut self, lab: &mut Lab<'_>) -> Measured<Option<f64>> {
        let (mut idle, shortest, longest) = IDLE;
        let (mut short, mut long): (Option<f64>, Option<f64>) = (None, None);
        for _ in 0..TRIES.0 {
            let bytes = self.measure(lab, idle)?;
            match bytes {
                bytes if bytes > MOST * self.size => long = Some(idle),
                bytes if bytes < self.least() => short = Some(idle),
                _ => break,
            }
            idle = match (short, long) {
                (Some(short), Some(long)) => (short * long).sqrt(),
                (Some(short), None) => 2.5 * short,
                (None, Some(long)) => long / 4.0,
                (None, None) => break,
            };
            if !(shortest..=longest).contains(&idle) {
                break;
            }
        }
        Ok(short)
    }

    /// Measures more idle times until the bytes of two are far apart, then some shortly after the delay.
    fn refine(&mut self, lab: &mut Lab<'_>, short: Option<f64>) -> Measured<()> {
        // Shortest idle time that was too long.
        let mut long: Option<f64> = None;
        for _ in 0..TRIES.1 {
            let Some(&(idle, bytes)) = self.points.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
                return Ok(());
            };
            if bytes > 0.6 * self.size.min(ENOUGH) {
                break;
            }
            // The delay is not negative: the rate is at least this, and at most what no delay below `short` allows.
            let rate = match self.slope() {
                Some(rate) => rate,
                None => bytes / (idle - short.unwrap_or(0.0).min(0.9 * idle)),
            };
            let wanted = idle + (0.75 * self.size.min(ENOUGH) - bytes) / rate;
            let at_most = long.map_or(3.0 * idle, |long| (idle + long) / 2.0);
            let tried = wanted.min(at_most).min(IDLE.2);
            if self.measure(lab, tried)? > MOST * self.size {
                long = Some(tried);
            }
            if wanted > IDLE.2 {
                break;
            }
        }
        if self.slope().is_none()
            && let Some(&(idle, _)) = self.points.last()
        {
            let short = short.unwrap_or(0.0);
            self.measure(lab, short + 0.4 * (idle - short))?;
        }
        for _ in 0..SHORT_TRIES {
            let (Some(rate), Some(&(idle, bytes))) = (self.slope(), self.points.first()) else {
                return Ok(());
            };
            let delay = (idle - bytes / rate).max(0.0);
            self.measure(lab, delay + 12.0 * self.len as f64 / rate)?;
        }
        Ok(())
    }

    /// Returns bytes per ns between the two points that are farthest apart.
    fn slope(&self) -> Option<f64> {
        let by_idle = |a: &&(f64, f64), b: &&(f64, f64)| a.0.total_cmp(&b.0);
        let first = self.points.iter().min_by(by_idle)?;
        let last = self.points.iter().max_by(by_idle)?;
        let apart = last.1 - first.1 > self.least().min(0.1 * self.size);
        apart.then(|| (last.1 - first.1) / (last.0 - first.0))
    }
}

pub(super) fn perform(lab: &mut Lab<'_>, known: &Anatomy) -> Measured<Findings> {
    let mut found = Findings::default();
    let both = [CardProperty::DrainRate, CardProperty::DrainDelay];
    let Some(size) = known.value(CardProperty::CacheSize) else {
        found.decline(&both, DeclineReason::Needs(CardProperty::CacheSize));
        return Ok(found);
    };
    let Some((len, fast)) = lab.state.cache else {
        return Err(Halt::Declined(DeclineReason::NotMeasured));
    };
    let fast_write = lab.state.fast_write.map(|(_, fast)| fast.value);
    if fast_write.is_some_and(|write| !is_told(write, fast, lab.sigma())) {
        return Err(Halt::Declined(DeclineReason::Noisy {
            value: 0.0,
            relative_error: lab.sigma(),
        }));
    }
    let mut trials = DrainTrials {
        len,
        fast,
        size,
        points: Vec::new(),
        all: Vec::new(),
    };
    let short = trials.search(lab)?;
    trials.refine(lab, short)?;
    found.points = trials.all;
    found.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    if found
        .points
        .iter()
        .all(|(_, bytes)| *bytes < 2.0 * len as f64)
    {
        let up_to = size / 80.0;
        found.set(CardProperty::DrainRate, CardFinding::Absent { up_to });
        found.decline(
            &[CardProperty::DrainDelay],
            DeclineReason::Needs(CardProperty::DrainRate),
        );
        return Ok(found);
    }
    match line(&trials.points, len as f64) {
        Some((rate, delay)) => {
            found.set(CardProperty::DrainRate, rate);
            found.set(CardProperty::DrainDelay, delay);
        }
        None => found.decline(&both, DeclineReason::Ambiguous),
    }
    Ok(found)
}

/// Returns whether single writes show if they were fast: noise rarely reaches the limit between both speeds.
fn is_told(fast: f64, limit: f64, sigma: f64) -> bool {
    (limit / fast).ln() > APART * sigma
}

/// Writes until six writes in a row are slow; returns the bytes of those that were fast.
fn fast_bytes(lab: &mut Lab<'_>, len: u64, fast: f64) -> Measured<f64> {
    let chunk = PIECE;
    let (mut slow, mut at, mut end) = (0, 0, 0);
    let mut bytes = 0.0;
    while slow < 6 {
        if at + len > end {
            at = lab.fresh(chunk, PIECE)?;
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
        false => CardFinding::Unknown(DeclineReason::Noisy {
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
        (spread, delay) => CardFinding::Unknown(DeclineReason::Noisy {
            value: delay,
            relative_error: spread / delay.abs().max(1e6),
        }),
    };
    Some((finding, delay))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: of 30 cards with noise of 20%, three had a wrong rate or delay of recovery.
    #[test]
    fn noise_hides_whether_a_write_was_fast() {
        // The limit is half way between a fast write and one that takes twice as long.
        let (fast, limit) = (5e6, 5e6 * 2_f64.sqrt());
        assert!(is_told(fast, limit, 0.05));
        assert!(!is_told(fast, limit, 0.2));
        assert!(is_told(fast, 3.0 * fast, 0.2));
    }
}

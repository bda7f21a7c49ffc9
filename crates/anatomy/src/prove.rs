//! Measures advice against the default, in turn.

use crate::device::{DeviceError, TimedDevice, TimedRequest};
use hakaru_analysis::stats::median;
use hakaru_model::anatomy::{Anatomy, CardProperty as P, PropertyValue};
use hakaru_model::anatomy_record::{AdviceTrial, CardAdvice};
use hakaru_model::rng::Rng;

/// Pairs of rounds at least and at most.
const PAIRS: (usize, usize) = (6, 12);

/// Half width of the interval of the logarithm at which a trial ends.
const NARROW: f64 = 0.05;

/// First partition of most cards and tools, in bytes: at 1 MiB.
const USUAL_START: u64 = 1 << 20;

/// Length of a write of a stream in bytes.
const STREAM: u64 = 64 << 10;

/// Cluster or block of most file systems by default, in bytes.
const USUAL_CLUSTER: u64 = 4 << 10;

/// Bytes that are written in each part of a round.
const PART: u64 = 8 << 20;

/// Writes to places of its own: nothing is written twice.
struct Trial<'a> {
    device: &'a mut dyn TimedDevice,
    rng: Rng,
    unit: u64,
    next: u64,
    /// Bytes that may still be written.
    left: u64,
}

/// Measures each piece of advice that requests can show, within a number of written bytes, and returns the trials.
///
/// The default and the advice take turns, and the first of each pair is drawn, so that a drift of the card is in both.
///
/// # Errors
/// The I/O error, or the request to stop; the trials until then are in `trials`.
pub fn prove(
    device: &mut dyn TimedDevice,
    anatomy: &Anatomy,
    (most, seed): (u64, u64),
    trials: &mut Vec<AdviceTrial>,
) -> Result<(), DeviceError> {
    let Some(unit) = anatomy.size(P::Unit) else {
        return Ok(());
    };
    let next = (device.capacity().0 / 3).next_multiple_of(unit);
    let mut trial = Trial {
        device,
        rng: Rng::fork(seed, 0x7a1),
        unit,
        next,
        left: most,
    };
    for advice in crate::advise(anatomy) {
        if let Some(found) = trial.of(advice)? {
            trials.push(found);
        }
    }
    Ok(())
}

impl Trial<'_> {
    /// Measures a piece of advice; `None` if requests cannot show it, or the budget is spent.
    fn of(&mut self, advice: CardAdvice) -> Result<Option<AdviceTrial>, DeviceError> {
        let (mut usual, mut advised) = (Vec::new(), Vec::new());
        let mut ratio = None;
        while usual.len() < PAIRS.1 {
            let usual_first = self.rng.below(2) == 0;
            for is_advised in [!usual_first, usual_first] {
                let Some(rate) = self.round(advice, is_advised)? else {
                    return Ok(None);
                };
                let rates = if is_advised { &mut advised } else { &mut usual };
                rates.push(rate);
            }
            if usual.len() >= PAIRS.0 {
                let found = ratio_of(&usual, &advised);
                ratio = Some(found);
                if (found.high / found.low).ln() / 2.0 < NARROW {
                    break;
                }
            }
        }
        Ok(ratio.map(|ratio| AdviceTrial {
            advice,
            usual,
            advised,
            ratio,
        }))
    }

    /// Measures one round in bytes per second.
    fn round(&mut self, advice: CardAdvice, advised: bool) -> Result<Option<f64>, DeviceError> {
        match advice {
            CardAdvice::PartitionStart { align } => {
                let shift = if advised { 0 } else { USUAL_START % align.0 };
                self.blocks(shift)
            }
            CardAdvice::Cluster { size } => {
                let len = if advised { size.0 } else { USUAL_CLUSTER };
                self.scattered(len)
            }
            CardAdvice::Writers { most } => {
                let streams = if advised { most } else { most + 2 };
                self.streams(streams)
            }
            CardAdvice::Discard { worthwhile } if self.device.can_discard() => {
                self.rewritten(advised == worthwhile)
            }
            _ => Ok(None),
        }
    }

    /// Returns the start of a range of whole units that nothing has used; `None` at the end of the device or budget.
    fn fresh(&mut self, len: u64, written: u64) -> Option<u64> {
        let start = self.next;
        let len = len.next_multiple_of(self.unit) + self.unit;
        if start + len > self.device.capacity().0 || written > self.left {
            return None;
        }
        self.next = start + len;
        self.left -= written;
        Some(start)
    }

    fn write(&mut self, offset: u64, len: u64) -> Result<f64, DeviceError> {
        let latency = self.device.serve(TimedRequest::Write { offset, len })?;
        Ok(latency.0 as f64)
    }

    /// Writes blocks of the size of a unit that begin `shift` bytes behind boundaries, in random order.
    fn blocks(&mut self, shift: u64) -> Result<Option<f64>, DeviceError> {
        let count = (PART / self.unit).clamp(2, 8);
        let (apart, bytes) = (2 * self.unit, count * self.unit);
        let Some(start) = self.fresh(count * apart, bytes) else {
            return Ok(None);
        };
        let mut time = 0.0;
        for n in 0..count {
            let begin = start + n * apart + shift;
            let piece = self.unit.min(1 << 20);
            for at in (0..self.unit).step_by(piece as usize) {
                time += self.write(begin + at, piece.min(self.unit - at))?;
            }
        }
        Ok(Some(bytes as f64 / time * 1e9))
    }

    /// Writes blocks at random places of a unit.
    fn scattered(&mut self, len: u64) -> Result<Option<f64>, DeviceError> {
        let len = len.max(self.device.block());
        let count = (PART / 4 / len).clamp(16, 128);
        let Some(start) = self.fresh(self.unit, count * len) else {
            return Ok(None);
        };
        let mut time = 0.0;
        for _ in 0..count {
            let at = self.rng.below((self.unit / len).max(1)) * len;
            time += self.write(start + at, len)?;
        }
        Ok(Some((count * len) as f64 / time * 1e9))
    }

    /// Writes streams in turn, each in a unit of its own.
    fn streams(&mut self, streams: u64) -> Result<Option<f64>, DeviceError> {
        let each = (self.unit / STREAM).clamp(1, 16);
        let bytes = streams * each * STREAM;
        let Some(start) = self.fresh(streams * self.unit, bytes) else {
            return Ok(None);
        };
        let mut time = 0.0;
        for n in 0..each {
            for stream in 0..streams {
                time += self.write(start + stream * self.unit + n * STREAM, STREAM)?;
            }
        }
        Ok(Some(bytes as f64 / time * 1e9))
    }

    /// Writes the begin of more units than are usually open, each of them discarded after it was written, or none; the
    /// time of the discards counts.
    fn rewritten(&mut self, discards: bool) -> Result<Option<f64>, DeviceError> {
        const UNITS: u64 = 12;
        let Some(start) = self.fresh(UNITS * self.unit, UNITS * STREAM) else {
            return Ok(None);
        };
        let mut time = 0.0;
        for n in 0..UNITS {
            let offset = start + n * self.unit;
            time += self.write(offset, STREAM)?;
            if discards {
                let len = self.unit;
                let request = TimedRequest::Discard { offset, len };
                time += self.device.serve(request)?.0 as f64;
            }
        }
        Ok(Some((UNITS * STREAM) as f64 / time * 1e9))
    }
}

/// Returns the ratio of the rates of pairs with its 95% interval: the median of the logarithms, and the order statistics
/// of the sign test around it, which need no distribution. With 6 to 8 pairs, they are the extremes.
fn ratio_of(usual: &[f64], advised: &[f64]) -> PropertyValue {
    let pairs = usual.iter().zip(advised);
    let mut logs: Vec<f64> = pairs
        .map(|(usual, advised)| (advised / usual).ln())
        .collect();
    logs.sort_by(f64::total_cmp);
    let n = logs.len();
    // Largest number of pairs outside on either side whose probability is at most 2.5%.
    let (mut outside, mut below, mut probability) = (0, 0.5f64.powi(n as i32), 0.0);
    for k in 0..n / 2 {
        probability += below;
        if probability > 0.025 {
            break;
        }
        outside = k;
        below *= (n - k) as f64 / (k + 1) as f64;
    }
    PropertyValue {
        value: median(&logs).unwrap_or(0.0).exp(),
        low: logs[outside].exp(),
        high: logs[n - 1 - outside].exp(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_intervals_of_the_sign_test() {
        let usual = [1.0; 9];
        let advised = [1.8, 1.9, 2.0, 2.0, 2.0, 2.1, 2.2, 9.0, 0.1];
        let found = ratio_of(&usual, &advised);
        assert!((found.value - 2.0).abs() < 1e-9);
        // With 9 pairs, one on each side is outside: 2 · (1 + 9) / 512 = 3.9%.
        assert!((found.low - 1.8).abs() < 1e-9 && (found.high - 2.2).abs() < 1e-9);
        let few = ratio_of(&[1.0; 6], &[1.0, 2.0, 3.0, 3.5, 4.0, 5.0]);
        assert!((few.low - 1.0).abs() < 1e-9 && (few.high - 5.0).abs() < 1e-9);
    }
}

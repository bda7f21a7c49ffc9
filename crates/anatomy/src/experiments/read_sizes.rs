//! Read rate from the difference of two large reads, and the fixed time from small reads in sequence and repeated.

use crate::lab::{Findings, Lab, Measured};
use crate::location::{SampleLocation, difference};
use hakaru_model::anatomy::CardProperty;

/// Two sizes below the largest command of common hosts (512 KiB): a constant for the first pages cancels.
const SIZES: (u64, u64) = (192 << 10, 384 << 10);

/// The two sizes for a card of which a read of the larger one above takes longer than [`LONG`]. Their difference is a
/// larger part of the time, so that less than a quarter of the bytes give the same error. While such a card transfers
/// these, the next page is ready.
const SIZES_OF_SLOW: (u64, u64) = (64 << 10, 192 << 10);

/// Time of a read of 384 KiB below 10 MB/s, in ns.
const LONG: f64 = 40e6;

/// Largest standard error of the difference of two large reads, as a fraction: the interval of the rate is ± 1.6%.
const RATE_ERROR: f64 = 0.006;

/// Pairs of large reads at most.
const PAIRS: usize = 1200;

/// Time in ns after which a larger error of the difference is enough: the interval of the rate is ± 4%.
const PAIRS_TIME: f64 = 15e9;
const RATE_ERROR_LATE: f64 = 0.015;

/// Small reads at most, and the longest time for them in ns.
const SMALL: usize = 40_000;
const SMALL_TIME: f64 = 30e9;

/// Small reads of each kind in a round.
const READS: usize = 200;

/// Bytes at the start of a sequence of reads that may wait for a page, with blocks of 512 bytes.
const WAITING: u64 = 32 << 10;

/// Bytes of a sequence of longer reads: no unit of mapping is smaller.
const SEQUENCE: u64 = 256 << 10;

/// Most bytes by which these are longer.
const LONGEST_AS_LONG: u64 = 32 << 10;

/// Largest part of the time of a seek by which waits may change it.
const MOST_BY_WAIT: f64 = 0.3;

/// Longest time for the reads of one size of the chart before they are repeated, in ns.
const SWEEP_TIME: f64 = 0.6e9;

pub(super) fn perform(lab: &mut Lab<'_>) -> Measured<Findings> {
    let mut found = Findings::default();
    let (home, block) = (lab.home(), lab.block());
    sweep(lab, home, block, &mut found)?;
    let slope = slope(lab, home)?;
    found.set(CardProperty::ReadRate, slope.divide(1e9).finding(0.0));
    let mut samples = SeekSamples::default();
    let mut is_told = false;
    let begun = lab.now();
    loop {
        // On a noisy host, the path of the sequential reads needs many more samples than the difference.
        samples.measure(lab, slope, !is_told)?;
        let (Some(fixed), Some(extra)) = (
            SampleLocation::of(&samples.sequential, lab.sigma()),
            samples.extra(slope, block, lab.sigma()),
        ) else {
            continue;
        };
        let overhead = fixed.minus(slope.times(block as f64));
        let floor = 0.01 * (fixed.value + extra.value);
        let n = samples.sequential.len();
        is_told = extra.is_certain(floor) && n >= 800;
        let certain = is_told && overhead.is_certain(0.0);
        let spent = n + samples.repeated.len() > SMALL || lab.now() - begun > SMALL_TIME;
        if n >= 800 && (certain || spent) {
            found.set(CardProperty::ReadOverhead, overhead.finding(0.0));
            found.set(CardProperty::ReadSeek, extra.finding(floor));
            return Ok(found);
        }
    }
}

/// Latencies of small reads in sequence, small reads of one place, and longer reads in sequence.
#[derive(Debug, Default)]
struct SeekSamples {
    sequential: Vec<f64>,
    repeated: Vec<f64>,
    /// Reads in sequence that take as long as the repeated ones, and their length once it is known: a host takes longer
    /// to go on after a longer wait, which is in both then.
    as_long: Vec<f64>,
    len: Option<u64>,
}

impl SeekSamples {
    /// Measures [`READS`] or more reads of each kind, or of the sequential ones only.
    fn measure(&mut self, lab: &mut Lab<'_>, slope: SampleLocation, all: bool) -> Measured<()> {
        let (home, block) = (lab.home(), lab.block());
        in_sequence(
            lab,
            (WAITING / 512 + READS as u64) * block,
            block,
            &mut self.sequential,
        )?;
        if !all {
            return Ok(());
        }
        lab.read(home, block)?;
        for _ in 0..READS {
            self.repeated.push(lab.read(home, block)?);
        }
        let len = match self.len {
            Some(len) => len,
            None => {
                let extra = difference(&self.repeated, &self.sequential, lab.sigma());
                let bytes = extra.map_or(0.0, |extra| extra.value / slope.value);
                let bytes = bytes.clamp(0.0, LONGEST_AS_LONG as f64) as u64;
                *self.len.insert(block + bytes / block * block)
            }
        };
        let wanted = self.repeated.len();
        while len > block && self.as_long.len() < wanted {
            in_sequence(lab, SEQUENCE, len, &mut self.as_long)?;
        }
        Ok(())
    }

    /// Returns how much longer a small read takes that does not continue the last one.
    fn extra(&self, slope: SampleLocation, block: u64, sigma: f64) -> Option<SampleLocation> {
        let plain = difference(&self.repeated, &self.sequential, sigma)?;
        let bytes = self.len.unwrap_or(block).saturating_sub(block);
        if bytes == 0 || self.as_long.is_empty() {
            return Some(plain);
        }
        let equal = difference(&self.repeated, &self.as_long, sigma)?;
        let transfer = slope.times(bytes as f64);
        let extra = SampleLocation {
            value: equal.value + transfer.value,
            error: equal.error.hypot(transfer.error),
        };
        // Bytes whose time is not that of large reads tell nothing.
        let difference = (extra.value - plain.value).abs();
        match difference <= MOST_BY_WAIT * plain.value {
            true => Some(extra),
            false => Some(SampleLocation {
                error: plain.error.hypot(difference),
                ..plain
            }),
        }
    }
}

/// Reads in sequence; keeps the latencies of those that do not wait for the first page.
fn in_sequence(lab: &mut Lab<'_>, bytes: u64, len: u64, latencies: &mut Vec<f64>) -> Measured<()> {
    let home = lab.home();
    for n in 0..bytes / len {
        let latency = lab.read(home + n * len, len)?;
        if n * len >= WAITING / 512 * lab.block() {
            latencies.push(latency);
        }
    }
    Ok(())
}

/// Returns the time per byte in ns.
fn slope(lab: &mut Lab<'_>, home: u64) -> Measured<SampleLocation> {
    let (mut short, mut long) = (Vec::new(), Vec::new());
    lab.read(home, SIZES.1)?;
    let sizes = match lab.read(home, SIZES.1)? > LONG {
        true => SIZES_OF_SLOW,
        false => SIZES,
    };
    let begun = lab.now();
    loop {
        short.push(lab.read(home, sizes.0)?);
        long.push(lab.read(home, sizes.1)?);
        if short.len() < 24 {
            continue;
        }
        let took = lab.now() - begun;
        let enough = match took > PAIRS_TIME {
            true => RATE_ERROR_LATE,
            false => RATE_ERROR,
        };
        if let Some(extra) = difference(&long, &short, lab.sigma())
            && (extra.error < enough * extra.value
                || short.len() >= PAIRS
                || took > 3.0 * PAIRS_TIME)
        {
            return Ok(extra.times(1.0 / (sizes.1 - sizes.0) as f64));
        }
    }
}

/// Measures reads of all sizes up to 16 MiB, for the chart; of a slow card, up to 4 or 8 MiB.
fn sweep(lab: &mut Lab<'_>, home: u64, block: u64, found: &mut Findings) -> Measured<()> {
    let mut len = block;
    while len <= 16 << 20 && home + len <= lab.capacity() {
        // Those above 1 MiB take most of the time.
        let reads = if len <= 1 << 20 { 5 } else { 3 };
        let (mut latencies, mut took) = (Vec::new(), 0.0);
        while latencies.len() < reads && took < SWEEP_TIME {
            let latency = lab.read(home, len)?;
            latencies.push(latency);
            took += latency;
        }
        if let Some(middle) = hakaru_analysis::stats::median(&latencies) {
            found.points.push((len as f64, middle));
        }
        if latencies.len() == 1 {
            return Ok(());
        }
        len *= 2;
    }
    Ok(())
}

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

/// Longest time for the reads of one size of the chart before they are repeated, in ns.
const SWEEP_TIME: f64 = 0.6e9;

pub(super) fn perform(lab: &mut Lab<'_>) -> Measured<Findings> {
    let mut found = Findings::default();
    let (home, block) = (lab.home(), lab.block());
    sweep(lab, home, block, &mut found)?;
    let slope = slope(lab, home)?;
    found.set(CardProperty::ReadRate, slope.divide(1e9).finding(0.0));
    let (mut sequential, mut repeated) = (Vec::new(), Vec::new());
    let floor_of = |repeated: f64| 0.01 * repeated;
    let mut is_told = false;
    let begun = lab.now();
    loop {
        let start = home;
        for n in 0..264 {
            let latency = lab.read(start + n * block, block)?;
            // The first reads wait for the page.
            if n >= 64 {
                sequential.push(latency);
            }
        }
        // On a noisy host, the path of the sequential reads needs many more samples than the difference.
        if !is_told {
            lab.read(home, block)?;
            for _ in 0..200 {
                repeated.push(lab.read(home, block)?);
            }
        }
        let sigma = lab.sigma();
        let (Some(extra), Some(fixed), Some(again)) = (
            difference(&repeated, &sequential, sigma),
            SampleLocation::of(&sequential, sigma),
            SampleLocation::of(&repeated, sigma),
        ) else {
            continue;
        };
        let overhead = fixed.minus(slope.times(block as f64));
        let floor = floor_of(again.value);
        is_told = extra.is_certain(floor) && sequential.len() >= 800;
        let certain = is_told && overhead.is_certain(0.0);
        let spent = sequential.len() + repeated.len() > SMALL || lab.now() - begun > SMALL_TIME;
        if sequential.len() >= 800 && (certain || spent) {
            found.set(CardProperty::ReadOverhead, overhead.finding(0.0));
            found.set(CardProperty::ReadSeek, extra.finding(floor));
            return Ok(found);
        }
    }
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

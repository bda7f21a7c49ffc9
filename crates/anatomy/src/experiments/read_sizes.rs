//! Read rate from the difference of two large reads, and the fixed time from small reads in sequence and repeated.

use crate::lab::{Findings, Lab, Measured};
use crate::location::{SampleLocation, difference};
use hakaru_model::anatomy::CardProperty;

/// Two sizes below the largest command of common hosts (512 KiB): a constant for the first pages cancels.
const SIZES: (u64, u64) = (192 << 10, 384 << 10);

/// Largest standard error of the difference of two large reads, as a fraction: the interval of the rate is ± 1.6%.
const RATE_ERROR: f64 = 0.006;

/// Pairs of large reads at most.
const PAIRS: usize = 1200;

/// Small reads at most.
const SMALL: usize = 40_000;

pub(super) fn perform(lab: &mut Lab<'_>) -> Measured<Findings> {
    let mut found = Findings::default();
    let (home, block) = (lab.home(), lab.block());
    sweep(lab, home, block, &mut found)?;
    let slope = slope(lab, home)?;
    found.set(CardProperty::ReadRate, slope.divide(1e9).finding(0.0));
    let (mut sequential, mut repeated) = (Vec::new(), Vec::new());
    let floor_of = |repeated: f64| 0.01 * repeated;
    let mut is_told = false;
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
        if sequential.len() >= 800 && (certain || sequential.len() + repeated.len() > SMALL) {
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
    loop {
        short.push(lab.read(home, SIZES.0)?);
        long.push(lab.read(home, SIZES.1)?);
        if short.len() < 24 {
            continue;
        }
        if let Some(extra) = difference(&long, &short, lab.sigma())
            && (extra.error < RATE_ERROR * extra.value || short.len() >= PAIRS)
        {
            return Ok(extra.times(1.0 / (SIZES.1 - SIZES.0) as f64));
        }
    }
}

/// Measures reads of all sizes up to 16 MiB, for the chart.
fn sweep(lab: &mut Lab<'_>, home: u64, block: u64, found: &mut Findings) -> Measured<()> {
    let mut len = block;
    while len <= 16 << 20 && home + len <= lab.capacity() {
        // Those above 1 MiB take most of the time.
        let reads = if len <= 1 << 20 { 5 } else { 3 };
        let latencies = (0..reads)
            .map(|_| lab.read(home, len))
            .collect::<Measured<Vec<f64>>>()?;
        if let Some(middle) = hakaru_analysis::stats::median(&latencies) {
            found.points.push((len as f64, middle));
        }
        len *= 2;
    }
    Ok(())
}

//! Tests the claimed capacity in minutes, with samples instead of every byte.
//!
//! A segment at the start is written completely. Then single blocks are written across the device, starting from the
//! end, at distances of at most the length of the segment. If memory wraps after R bytes, at least one sample
//! overwrites a block in the segment for every R: the first sample beyond R wraps to within one distance of the start.
//! That nearest sample is written last, so the block that it overwrote gives R exactly.
//!
//! ```text
//!   |<- segment ->|      .      .      .      .      .      .      .   samples, written from the right
//!   |<------------------ R ------------------>|
//!         ^ the first sample beyond R overwrites a block here
//! ```
//!
//! Memory that ends shows as lost blocks; further samples between the last good and the first lost block find the end.
//! Some samples are whole chunks, for a coarse speed map.
//!
//! A cache must not hide missing memory. Before reading, more data than any cache holds is
//! rewritten unchanged between the samples at the end. If all samples are good, a second round
//! tests other locations with other content, from the start. Bad ranges between the samples are not
//! found. The content of the device is lost, unless a layer below restores it.

use super::error::{VerifyError, gone, is_full, is_gone};
use super::surface_scan::{Pass, PassResult, SurfaceScan};
use super::{SIZES, ScanSizes, chunks, verify_sized};
use crate::blockdev::{BlockDev, OnProgress};
use hakaru_model::integrity::{BlockState, Capacity, IntegrityVerdict, SpeedMap};
use hakaru_model::units::Bytes;
use std::ops::Range;

/// Maximum number of samples; each takes some milliseconds.
const MOST_SAMPLES: u64 = 1024;

/// Number of samples that are whole chunks; up to twice as many on small devices.
const WHOLE_CHUNKS: u64 = 32;

/// Size of a small sample in bytes: one page, so that no card needs a read-modify-write.
const SAMPLE: u64 = 4096;

/// Number of locations tested at once in the search for the true end; caches are flushed once for
/// all.
const SEARCHED: u64 = 64;

impl ScanSizes {
    /// Returns the length of the segment at the start in bytes.
    fn segment_of(self, size: u64) -> u64 {
        (size / MOST_SAMPLES)
            .max(self.segment)
            .next_multiple_of(self.chunk)
    }

    fn is_sampled(self, size: Bytes, block: u32) -> bool {
        let block = u64::from(block);
        size.0 >= 4 * self.segment_of(size.0)
            && block <= SAMPLE
            && block > 0
            && SAMPLE.is_multiple_of(block)
    }

    /// Returns the maximum number of overwritten bytes, without the search for the end.
    pub(super) fn overwrites(self, size: Bytes, block: u32) -> Bytes {
        if !self.is_sampled(size, block) {
            return size;
        }
        let segment = self.segment_of(size.0);
        let first: u64 = self
            .samples(segment, size.0)
            .iter()
            .map(|sample| sample.end - sample.start)
            .sum();
        let second = second_samples(segment, size.0).len() as u64 * SAMPLE;
        let steps = u64::from((segment / SAMPLE).ilog2() / SEARCHED.ilog2() + 1);
        Bytes((segment + first + second + steps * (SEARCHED + 1) * u64::from(block)).min(size.0))
    }

    /// Returns the samples from the end of the segment to the end of the device, in order.
    fn samples(self, segment: u64, size: u64) -> Vec<Range<u64>> {
        let count = size / segment;
        let every = (count / WHOLE_CHUNKS).max(1);
        let last = last_sample(size);
        let sample = |number: u64| {
            let start = number * segment;
            let whole = number.is_multiple_of(every) && start + self.chunk <= last;
            start..(start + if whole { self.chunk } else { SAMPLE })
        };
        // Samples up to the last one, so that the end is within one segment length.
        let inner = (1..=count).map(sample).filter(|sample| sample.end <= last);
        inner.chain(std::iter::once(last..last + SAMPLE)).collect()
    }
}

/// Returns the start of the last sample.
fn last_sample(size: u64) -> u64 {
    (size - SAMPLE) / SAMPLE * SAMPLE
}

/// Returns the samples of the second round: halfway between the samples of the first round, and the last sample again.
fn second_samples(segment: u64, size: u64) -> Vec<Range<u64>> {
    let last = last_sample(size);
    let middle = segment / 2 / SAMPLE * SAMPLE;
    let between = (1..=size / segment)
        .map(|number| number * segment + middle)
        .filter(|start| start + SAMPLE <= last);
    between
        .chain(std::iter::once(last))
        .map(|start| start..start + SAMPLE)
        .collect()
}

/// Whether a device is large enough for samples; smaller devices are verified completely.
pub fn is_sampled(size: Bytes, block: u32) -> bool {
    SIZES.is_sampled(size, block)
}

/// Tests with samples whether a device has its claimed capacity. Its content is lost.
///
/// Small devices are verified completely. The speed map covers the segment at the start and some chunks.
///
/// # Errors
/// A [`VerifyError`] if there is no verdict, also if stopped.
pub fn probe(
    device: &mut dyn BlockDev,
    seed: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<IntegrityVerdict, VerifyError> {
    probe_sized(SIZES, device, seed, on_progress)
}

pub(super) fn probe_sized(
    sizes: ScanSizes,
    device: &mut dyn BlockDev,
    seed: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<IntegrityVerdict, VerifyError> {
    let size = device.size().0;
    if !sizes.is_sampled(device.size(), device.block()) {
        return verify_sized(sizes, device, 0..size, seed, on_progress);
    }
    let segment = sizes.segment_of(size);
    let mut scan = SurfaceScan::new(device, seed, sizes.chunk, on_progress)?;
    let dense = chunks(0..segment, sizes.chunk);
    let samples = sizes.samples(segment, size);
    let second = second_samples(segment, size);
    let mut writing = write_samples(&mut scan, &dense, &samples)?;
    let caches = Caches::new(sizes, segment, size, [&samples[..], &second].concat());
    caches.empty(&mut scan, &[])?;
    let all = [dense.clone(), samples].concat();
    let mut reading = whole(scan.pass(Pass::Read, &all)?, Pass::Read)?;
    // The duration of one small block does not give a throughput.
    for map in [&mut writing, &mut reading] {
        map.points.retain(|point| point.len.0 >= sizes.chunk);
    }
    if scan.found.is_clean() {
        second_round(&mut scan, &caches, &dense, &second, seed)?;
    }
    let capacity = capacity(&mut scan, &caches, size)?;
    Ok(scan.verdict(Bytes(size), capacity, writing, reading))
}

/// Writes the segment at the start, then the samples that accept writes, starting from the end. Returns the speeds by
/// position.
fn write_samples(
    scan: &mut SurfaceScan<'_, '_>,
    dense: &[Range<u64>],
    samples: &[Range<u64>],
) -> Result<SpeedMap, VerifyError> {
    let near = whole(scan.pass(Pass::Write, dense)?, Pass::Write)?;
    let (answering, refused) = samples.split_at(answering(scan, samples)?);
    for sample in refused {
        scan.found
            .unwritable(sample.start, sample.end - sample.start);
    }
    let backwards: Vec<Range<u64>> = answering.iter().rev().cloned().collect();
    let far = whole(scan.pass(Pass::Write, &backwards)?, Pass::Write)?;
    let mut speeds = SpeedMap::default();
    speeds.points.extend(near.points);
    speeds.points.extend(far.points.into_iter().rev());
    scan.flush()?;
    Ok(speeds)
}

/// Tests other locations with other content, in the opposite order. The segment at the start must
/// be unchanged.
fn second_round(
    scan: &mut SurfaceScan<'_, '_>,
    caches: &Caches,
    dense: &[Range<u64>],
    second: &[Range<u64>],
    seed: u64,
) -> Result<(), VerifyError> {
    let again = scan.renew_seed();
    whole(scan.pass(Pass::Write, second)?, Pass::Write)?;
    scan.flush()?;
    caches.empty(scan, &[])?;
    let first = std::mem::take(&mut scan.found);
    scan.expect(seed);
    whole(scan.pass(Pass::Read, dense)?, Pass::Read)?;
    // The first round already counted these blocks.
    scan.found.good = 0;
    scan.expect(again);
    whole(scan.pass(Pass::Read, second)?, Pass::Read)?;
    scan.found.join(first);
    Ok(())
}

/// Data written to push the samples out of caches.
struct Caches {
    amount: u64,
    chunk: u64,
    /// The range that may be written.
    range: Range<u64>,
    /// Samples in the range, in order.
    samples: Vec<Range<u64>>,
}

impl Caches {
    fn new(sizes: ScanSizes, segment: u64, size: u64, mut samples: Vec<Range<u64>>) -> Caches {
        samples.sort_by_key(|sample| sample.start);
        Caches {
            amount: sizes.emptying(size),
            chunk: sizes.chunk,
            range: segment..last_sample(size),
            samples,
        }
    }

    /// Writes between the samples and `others`, which must not enter the cache again. Starts at the end of the device:
    /// a cache may serve only addresses beyond a fake end.
    fn empty(
        &self,
        scan: &mut SurfaceScan<'_, '_>,
        others: &[Range<u64>],
    ) -> Result<(), VerifyError> {
        let mut spared = [&self.samples[..], others].concat();
        spared.sort_by_key(|spared| spared.start);
        let (mut pieces, mut at) = (Vec::new(), self.range.start);
        for spared in spared
            .into_iter()
            .chain(std::iter::once(self.range.end..self.range.end))
        {
            if at < spared.start.min(self.range.end) {
                pieces.extend(chunks(at..spared.start.min(self.range.end), self.chunk));
            }
            at = at.max(spared.end);
        }
        pieces.reverse();
        scan.empty_caches(self.amount, &pieces)
    }
}

/// Returns the result of a pass that was not stopped.
fn whole(gone: PassResult, pass: Pass) -> Result<SpeedMap, VerifyError> {
    match gone.stopped_at {
        Some(at) => Err(VerifyError::Interrupted {
            doing: pass.name(false),
            at,
        }),
        None => Ok(gone.map),
    }
}

/// Returns the number of samples, counted from the first, that accept writes: beyond the end of memory all writes fail.
fn answering(scan: &mut SurfaceScan<'_, '_>, samples: &[Range<u64>]) -> Result<usize, VerifyError> {
    let mut takes = |index: usize| match scan.try_block(Pass::Write, samples[index].start) {
        Err(source) if is_gone(&source) => Err(gone(Bytes(samples[index].start), source)),
        Err(source) if is_full(&source) => Err(VerifyError::Full {
            at: Bytes(samples[index].start),
        }),
        answer => Ok(answer.is_ok()),
    };
    if takes(samples.len() - 1)? {
        return Ok(samples.len());
    }
    let (mut below, mut from) = (0, samples.len() - 1);
    while below < from {
        let middle = (below + from) / 2;
        if takes(middle)? {
            below = middle + 1
        } else {
            from = middle
        }
    }
    Ok(from)
}

/// Returns the capacity verdict. One misplaced block is sufficient proof: its address and check
/// cannot occur by chance.
fn capacity(
    scan: &mut SurfaceScan<'_, '_>,
    caches: &Caches,
    size: u64,
) -> Result<Capacity, VerifyError> {
    if let Some(real) = scan.found.wraps_after() {
        return Ok(Capacity::Wraps { real: Bytes(real) });
    }
    let Some(from) = scan.found.gone_since() else {
        return Ok(Capacity::AsClaimed);
    };
    let real = true_end(scan, caches, scan.found.good_until(), from)?;
    Ok(scan.found.ends(real, size))
}

/// Narrows the range between the last good and the first lost sample to one sample.
fn true_end(
    scan: &mut SurfaceScan<'_, '_>,
    caches: &Caches,
    kept: u64,
    lost: u64,
) -> Result<u64, VerifyError> {
    let (mut kept, mut lost) = (kept / SAMPLE, lost / SAMPLE);
    while kept < lost {
        let step = (lost - kept).div_ceil(SEARCHED);
        let places: Vec<u64> = (kept..lost).step_by(step as usize).collect();
        scan.renew_seed();
        let mut taken = vec![false; places.len()];
        for (place, taken) in places.iter().zip(&mut taken).rev() {
            *taken = scan.try_block(Pass::Write, place * SAMPLE).is_ok();
        }
        scan.flush()?;
        let sample = |place: &u64| place * SAMPLE..(place + 1) * SAMPLE;
        let written: Vec<_> = places.iter().map(sample).collect();
        caches.empty(scan, &written)?;
        let mut is_kept = |index: usize| {
            let mut read = || scan.try_block(Pass::Read, places[index] * SAMPLE);
            taken[index] && matches!(read(), Ok(BlockState::Good))
        };
        match (0..places.len()).find(|&index| !is_kept(index)) {
            Some(0) => lost = kept,
            Some(index) => (kept, lost) = (places[index - 1] + 1, places[index]),
            None => kept = places.last().map_or(lost, |last| last + 1),
        }
    }
    Ok(lost * SAMPLE)
}

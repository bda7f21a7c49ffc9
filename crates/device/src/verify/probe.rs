//! Is the claimed size real? Asked in under a minute, with samples instead of every byte.
//!
//! A stretch at the beginning is written without a gap, then single blocks all over the device, the furthest first and
//! never further apart than that stretch is long. Memory that begins anew after R bytes then must put at least one of
//! them into the stretch, whatever R is: the first one beyond R lands less than one distance after the beginning, and as
//! the nearest one is written last, the block it lands on tells R exactly.
//!
//! ```text
//!   |<- stretch ->|      .      .      .      .      .      .      .   what is written, the dots from the right
//!   |<------------------ R ------------------>|
//!         ^ here the first block beyond R is found
//! ```
//!
//! Memory that ends is told by blocks that are lost; halving finds where. Every few dots a whole chunk is written, for a
//! coarse picture of the speed. The stretch is longer than any cache of a card, so that reading it first leaves nothing
//! to caches. What it cannot find are bad places between the samples. What was on the device is lost, unless a layer below
//! keeps it and puts it back.

use super::walk::{Gone, Leg, Walk};
use super::{CHUNK, VerifyError, chunks, verify};
use crate::blockdev::{BlockDev, OnProgress};
use hakaru_model::integrity::{BlockState, Capacity, SpeedMap, Verdict};
use hakaru_model::units::Bytes;
use std::ops::Range;

/// Smallest stretch at the beginning.
const STRETCH: u64 = 64 << 20;

/// Samples are at most this many; each takes some milliseconds.
const MOST_SAMPLES: u64 = 1024;

/// So many of the samples are whole chunks, and up to twice as many where the device is not much larger.
const WHOLE_CHUNKS: u64 = 32;

/// A small sample: a page, so that no card has to read before it writes.
const SAMPLE: u64 = 4096;

/// Length of the stretch at the beginning.
fn stretch(size: u64) -> u64 {
    (size / MOST_SAMPLES).max(STRETCH).next_multiple_of(CHUNK)
}

/// Whether a device of this size and block is probed with samples; smaller ones are verified as a whole.
pub fn is_sampled(size: Bytes, block: u32) -> bool {
    let block = u64::from(block);
    size.0 >= 4 * stretch(size.0) && block <= SAMPLE && block > 0 && SAMPLE.is_multiple_of(block)
}

/// Bytes that probing a device of this size and block overwrites, at most: on one that is good, all but those of the
/// search for its end.
pub(super) fn overwrites(size: Bytes, block: u32) -> Bytes {
    if !is_sampled(size, block) {
        return size;
    }
    let stretch = stretch(size.0);
    let samples: u64 = samples(stretch, size.0).iter().map(|sample| sample.end - sample.start).sum();
    // Each step of the search halves what is left.
    let searched = u64::from((size.0 / SAMPLE).ilog2() + 1) * SAMPLE;
    Bytes((stretch + samples + searched).min(size.0))
}

/// Finds out with samples whether a device holds what it claims. What was on it is lost.
///
/// Small devices are verified as a whole. The speeds are those of the stretch at the beginning and of some chunks.
///
/// # Errors
/// A [`VerifyError`] when it cannot be brought to an end, and when it is stopped.
pub fn probe(device: &mut dyn BlockDev, seed: u64, on_progress: &mut OnProgress<'_>) -> Result<Verdict, VerifyError> {
    if !is_sampled(device.size(), device.block()) {
        return verify(device, seed, on_progress);
    }
    let (size, stretch) = (device.size().0, stretch(device.size().0));
    let mut walk = Walk::new(device, seed, on_progress)?;
    let (dense, samples) = (chunks(0..stretch), samples(stretch, size));
    let mut writing = SpeedMap::default();
    writing.points.extend(whole(walk.leg(Leg::Write, &dense)?, Leg::Write)?.points);
    let (answering, refused) = samples.split_at(answering(&mut walk, &samples)?);
    for sample in refused {
        walk.found.unwritable(sample.start, sample.end - sample.start);
    }
    let backwards: Vec<Range<u64>> = answering.iter().rev().cloned().collect();
    let mut far = whole(walk.leg(Leg::Write, &backwards)?, Leg::Write)?;
    far.points.reverse();
    writing.points.extend(far.points);
    walk.flush()?;
    let all = [dense, samples].concat();
    let mut reading = whole(walk.leg(Leg::Read, &all)?, Leg::Read)?;
    // How long one small block takes says nothing about bytes per second.
    for map in [&mut writing, &mut reading] {
        map.points.retain(|point| point.len.0 >= CHUNK);
    }
    let capacity = capacity(&mut walk, size)?;
    Ok(walk.verdict(Bytes(size), capacity, writing, reading))
}

/// A way over the samples that was not ended half-way.
fn whole(gone: Gone, leg: Leg) -> Result<SpeedMap, VerifyError> {
    match gone.stopped_at {
        Some(at) => Err(VerifyError::Interrupted { doing: leg.name(), at }),
        None => Ok(gone.map),
    }
}

/// From behind the stretch to the very end, in order.
fn samples(stretch: u64, size: u64) -> Vec<Range<u64>> {
    let count = size / stretch;
    let every = (count / WHOLE_CHUNKS).max(1);
    let last = (size - SAMPLE) / SAMPLE * SAMPLE;
    let sample = |number: u64| {
        let start = number * stretch;
        let whole = number.is_multiple_of(every) && start + CHUNK <= last;
        start..(start + if whole { CHUNK } else { SAMPLE })
    };
    // Up to the last one, so that the end is no further away than the stretch is long.
    let inner = (1..=count).map(sample).filter(|sample| sample.end <= last);
    inner.chain(std::iter::once(last..last + SAMPLE)).collect()
}

/// How many of the samples, from the first, can be written at all: where memory ends with errors, all beyond fail.
fn answering(walk: &mut Walk<'_, '_>, samples: &[Range<u64>]) -> Result<usize, VerifyError> {
    let mut takes = |index: usize| match walk.try_block(Leg::Write, samples[index].start) {
        Err(source) if super::is_gone(&source) => Err(VerifyError::Gone { at: Bytes(samples[index].start), source }),
        Err(source) if super::is_full(&source) => Err(VerifyError::Full { at: Bytes(samples[index].start) }),
        answer => Ok(answer.is_ok()),
    };
    if takes(samples.len() - 1)? {
        return Ok(samples.len());
    }
    let (mut below, mut from) = (0, samples.len() - 1);
    while below < from {
        let middle = (below + from) / 2;
        if takes(middle)? { below = middle + 1 } else { from = middle }
    }
    Ok(from)
}

/// What follows for the capacity. One block that was found at another's place is proof enough: its address and check
/// cannot come about by chance.
fn capacity(walk: &mut Walk<'_, '_>, size: u64) -> Result<Capacity, VerifyError> {
    if let Some(real) = walk.found.nearest() {
        return Ok(Capacity::Wraps { real: Bytes(real) });
    }
    let Some(from) = walk.found.gone_since() else { return Ok(Capacity::AsClaimed) };
    let real = true_end(walk, walk.found.good_until(), from)?;
    Ok(walk.found.ends(real, size))
}

/// Halves the gap between what was kept and what was not, until it is one sample.
fn true_end(walk: &mut Walk<'_, '_>, kept: u64, lost: u64) -> Result<u64, VerifyError> {
    let (mut kept, mut lost) = (kept / SAMPLE, lost / SAMPLE);
    while kept < lost {
        let middle = (kept + lost) / 2;
        let is_kept = {
            let written = walk.try_block(Leg::Write, middle * SAMPLE).is_ok();
            // A chunk in between, so that it is not a cache that answers.
            let between = walk.piece(Leg::Write, &(0..CHUNK), 1).is_ok();
            walk.flush()?;
            written && between && matches!(walk.try_block(Leg::Read, middle * SAMPLE), Ok(BlockState::Good))
        };
        if is_kept { kept = middle + 1 } else { lost = middle }
    }
    Ok(lost * SAMPLE)
}

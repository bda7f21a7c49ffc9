//! Reads for minutes until the card throttles, then rest until it is back.

use crate::budget::is_slow;
use crate::lab::{Findings, Halt, Lab, Measured};
use crate::location::{SampleLocation, WIDEST};
use hakaru_analysis::stats::median;
use hakaru_model::anatomy::{
    Anatomy, CardFinding, CardProperty, DeclineReason, Experiment, PropertyValue,
};

/// Size of a read, and of one from a slow card: what is measured while it is hot makes its rest longer.
const READ: u64 = 1 << 20;
const READ_OF_SLOW: u64 = 256 << 10;

/// Longest busy time in ns, and with reads only.
const LONGEST: f64 = 240e9;
const LONGEST_READ_ONLY: f64 = 120e9;

/// Time that is left for a card that throttles when the reads end, to measure its speed then. In ns.
const RESERVE: f64 = 15e9;

/// Longest rest from the work before, in ns. What is left of the work then counts as work.
const REST_BEFORE: f64 = 30e9;

/// The same for a slow card that is written: it worked for longer, and has more time.
const REST_OF_SLOW: f64 = 120e9;

/// Time for a step of a rest and its reference measurement, in ns.
const STEP: f64 = 5e9;

/// Largest half width of the interval of the slowdown, as a fraction.
const SLOWDOWN: f64 = 0.03;

/// Work before which no card is hot: what is slow earlier is the host, or something else in the device. In ns.
const EARLIEST: f64 = 5e9;

/// Work during which throttled reads stay slow, in ns.
const LASTS: f64 = 2e9;

/// Slowdown from which reads count as throttled.
const SLOW: f64 = 1.2;

/// Slowdown that must be seen before a card is said not to throttle.
const SEEN: f64 = 1.25;

/// Reads on either side of the step.
const AROUND: usize = 8;

/// Reads before which no step is looked for.
const LEAST: usize = 48;

/// Longest rest of a card that throttled, as a multiple of its work before.
const LONGER: f64 = 1.2;

/// Longest rest in ns.
const REST: f64 = 400e9;

pub(super) fn perform(lab: &mut Lab<'_>, known: &Anatomy) -> Measured<Findings> {
    let mut found = Findings::default();
    // The experiments before warmed the card.
    let warmth = lab.state.warmth.now;
    let has_time = is_slow(known) && !known.read_only;
    let longest_rest = if has_time { REST_OF_SLOW } else { REST_BEFORE };
    lab.idle((1.2 * warmth).min(longest_rest))?;
    let before = lab.state.warmth.now;
    let longest = match known.read_only {
        true => LONGEST_READ_ONLY,
        false => LONGEST,
    };
    let usual = lab.reference_measurement()?;
    let len = match is_slow(known) {
        true => READ_OF_SLOW,
        false => READ,
    };
    let mut reads: Vec<(f64, f64)> = Vec::new();
    let mut at = 0;
    let limit = SLOW.max(1.0 + 5.0 * lab.sigma() * 1.2533 / (AROUND as f64).sqrt());
    while lab.state.warmth.now < longest && lab.time_left() > RESERVE {
        let latency = lab.read(at, len)?;
        at = match at + 2 * len <= lab.capacity() {
            true => at + len,
            false => 0,
        };
        reads.push((lab.state.warmth.now, latency));
        if reads.len().is_multiple_of(AROUND) && reads.len() >= LEAST && is_step(&reads, limit) {
            let now = lab.reference_measurement()?;
            if lab.state.warmth.now > EARLIEST && now > limit.min(1.18) * usual {
                let cool = middle(&reads[..40.min(reads.len() - AROUND)]);
                if lasts(lab, len, limit * cool, usual)? {
                    return throttled(lab, len, &reads, (usual, before), found);
                }
            }
        }
    }
    if reads.len() < LEAST {
        return Err(Halt::Budget);
    }
    for chunk in reads.chunks(reads.len().div_ceil(60).max(1)) {
        found.points.push((chunk[0].0, middle(chunk)));
    }
    if limit > SEEN {
        let reason = DeclineReason::Noisy {
            value: 0.0,
            relative_error: lab.sigma(),
        };
        found.decline(super::properties(Experiment::Heat), reason);
        return Ok(found);
    }
    // Throttling that began with the last reads would not have been seen.
    // Nor does the card owe all the time before to its own work.
    let up_to = (reads[reads.len() - 2 * AROUND].0 - before).max(0.0);
    found.set(CardProperty::ThrottleAfter, CardFinding::Absent { up_to });
    let none = CardFinding::Absent { up_to: 100.0 };
    found.set(CardProperty::ThrottlePercent, none);
    found.set(
        CardProperty::ThrottleRecovery,
        CardFinding::Absent { up_to: 0.0 },
    );
    Ok(found)
}

fn middle(reads: &[(f64, f64)]) -> f64 {
    let latencies: Vec<f64> = reads.iter().map(|(_, latency)| *latency).collect();
    median(&latencies).unwrap_or(0.0)
}

/// Returns whether the last reads are slow, and became so at once: a speed that wanders is no throttling.
fn is_step(reads: &[(f64, f64)], limit: f64) -> bool {
    let n = reads.len();
    let now = middle(&reads[n - AROUND..]);
    let first = middle(&reads[..40.min(n - AROUND)]);
    let shortly_before = middle(&reads[n.saturating_sub(6 * AROUND)..n - 2 * AROUND]);
    now > limit * first && now / shortly_before - 1.0 > 0.7 * (now / first - 1.0)
}

/// Returns whether reads stay slower than a level: a host that was busy for a moment is back by then.
fn lasts(lab: &mut Lab<'_>, len: u64, level: f64, usual: f64) -> Measured<bool> {
    let until = lab.state.warmth.now + LASTS;
    let (mut latencies, mut at) = (Vec::new(), 0);
    while lab.state.warmth.now < until || latencies.len() < 48 {
        latencies.push(lab.read(at, len)?);
        at = (at + len) % (lab.capacity() / 2 / len * len).max(len);
    }
    let late = median(&latencies[latencies.len() / 2..]).unwrap_or(0.0);
    let now = lab.reference_measurement()?;
    let is_slow = lab.is_hot(now) && now > 1.18 * usual;
    if is_slow {
        lab.forget_references(1);
    }
    Ok(late > level && is_slow)
}

/// Reports busy time and slowdown, then rests until the card is back. `usual` is the reference measurement of the cool
/// card, and `before` the busy time of earlier experiments from which it has not rested yet.
fn throttled(
    lab: &mut Lab<'_>,
    len: u64,
    reads: &[(f64, f64)],
    (usual, before): (f64, f64),
    mut found: Findings,
) -> Measured<Findings> {
    let sigma = lab.sigma();
    let n = reads.len();
    let level = (middle(&reads[..n - 2 * AROUND]) * middle(&reads[n - AROUND..])).sqrt();
    let slow = |read: &(f64, f64)| read.1 > level;
    // The first of the last reads that are all slow, up to stalls and noise.
    let begin = (n - 2 * AROUND..n)
        .find(|&i| {
            slow(&reads[i]) && reads[i..].iter().filter(|r| slow(r)).count() * 4 > (n - i) * 3
        })
        .unwrap_or(n - AROUND);
    let after = reads[begin].0 - reads[begin].1;
    let mut at = 0;
    let mut hot = Vec::new();
    while hot.len() < 48.max((2.7 * sigma / SLOWDOWN).powi(2) as usize) {
        hot.push(lab.read(at, len)?);
        at = (at + len) % (lab.capacity() / 2 / len * len).max(len);
    }
    let cold: Vec<f64> = reads[..begin].iter().map(|(_, latency)| *latency).collect();
    let (Some(hot), Some(cold)) = (
        SampleLocation::of(&hot, sigma),
        SampleLocation::of(&cold, sigma),
    ) else {
        return Ok(found);
    };
    let ratio = hot.times(100.0 / cold.value);
    found.points = vec![
        (0.0, cold.value),
        (after, cold.value),
        (after, hot.value),
        (lab.state.warmth.now, hot.value),
    ];
    found.set(CardProperty::ThrottlePercent, ratio.finding(0.0));
    let edges = (
        reads[begin.saturating_sub(2)].0,
        reads[(begin + 2).min(n - 1)].0,
    );
    found.set(
        CardProperty::ThrottleAfter,
        work_before(after, before, edges),
    );
    let recovery = match recovery(lab, (after, ratio.value / 100.0), usual, (len, level)) {
        Err(Halt::Budget) => CardFinding::Unknown(DeclineReason::Budget),
        other => other?,
    };
    found.set(CardProperty::ThrottleRecovery, recovery);
    // A card that heats and cools at the same rate is back earlier, but not before it has rested as long as it worked
    // while it was hot: something else makes it slow.
    let is_contradiction = match recovery {
        CardFinding::Known(rest) => rest.low > LONGER * after,
        CardFinding::Unknown(reason) => reason == DeclineReason::Contradiction,
        CardFinding::Absent { .. } => false,
    };
    if is_contradiction {
        let all = super::properties(Experiment::Heat);
        found.decline(all, DeclineReason::Contradiction);
    }
    // The earliest: what is written later must not make the card hot.
    lab.state.warmth.throttles_at = Some(after - before);
    lab.forget_references(1);
    Ok(found)
}

/// Returns the finding for the busy time after which the card throttles. Of the busy time `before` the reads, an unknown
/// part was time of the host, in which the card rested.
fn work_before(after: f64, before: f64, (low, high): (f64, f64)) -> CardFinding {
    let value = after - before / 2.0;
    let relative_error = before / 2.0 / value;
    match relative_error <= WIDEST {
        true => CardFinding::Known(PropertyValue {
            value,
            low: low - before,
            high,
        }),
        false => CardFinding::Unknown(DeclineReason::Noisy {
            value,
            relative_error,
        }),
    }
}

/// Rests in steps of a second until small reads say that the card is back, and large ones, of which the host is a small
/// part, are below a level. Returns the idle time that a card needs that has just begun to throttle.
fn recovery(
    lab: &mut Lab<'_>,
    (after, ratio): (f64, f64),
    usual: f64,
    (len, level): (u64, f64),
) -> Measured<CardFinding> {
    let extra = lab.state.warmth.now - after;
    let begun = lab.now();
    // Reads whose median differs by five standard errors from halfway between hot and cool, so that few of them heat it.
    let half = ((ratio - 1.0) / 2.0).max(0.05);
    let enough = (5.0 * 1.2533 * lab.sigma() * ratio / half)
        .powi(2)
        .clamp(12.0, 400.0) as usize;
    let mut steps = 0u32;
    loop {
        if lab.time_left() < STEP {
            let is_contradiction = f64::from(steps) * 1e9 - extra > LONGER * after;
            return Ok(CardFinding::Unknown(match is_contradiction {
                true => DeclineReason::Contradiction,
                false => DeclineReason::Budget,
            }));
        }
        lab.idle(1e9)?;
        steps += 1;
        let now = lab.small_reads(enough)?;
        if now < (1.0 + (ratio - 1.0) / 2.0) * usual && is_back(lab, len, level)? {
            break;
        }
        if f64::from(steps) * 1e9 > REST {
            return Ok(CardFinding::Unknown(DeclineReason::Heat));
        }
    }
    // The reference measurements warm the card. It was back at some time during the last step.
    let idle = f64::from(steps) * 1e9;
    let rested = idle - (lab.now() - begun - idle) - extra - 0.5e9;
    if rested + 1e9 < 0.0 {
        return Ok(CardFinding::Unknown(DeclineReason::Contradiction));
    }
    Ok(CardFinding::Known(PropertyValue {
        value: rested.max(0.0),
        low: (rested - 1e9).max(0.0),
        high: rested + 1e9,
    }))
}

/// Returns whether large reads take less time than a level.
fn is_back(lab: &mut Lab<'_>, len: u64, level: f64) -> Measured<bool> {
    let reads = (0..AROUND as u64)
        .map(|n| lab.read(n * len, len))
        .collect::<Measured<Vec<f64>>>()?;
    Ok(median(&reads).unwrap_or(0.0) < level)
}

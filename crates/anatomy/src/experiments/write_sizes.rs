//! Writes by size: rate, fixed time, whether small writes are gathered, and the time to open a unit.

use super::units::UnitGeometry;
use crate::lab::{Findings, Lab, Measured};
use crate::location::{SampleLocation, difference};
use hakaru_analysis::stats::median;
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty, DeclineReason, Experiment};

/// Bytes written at most, and the part of the capacity.
const MOST: u64 = 640 << 20;
const PART: u64 = 25;

/// Small writes at most.
const SMALL: usize = 20_000;

/// Fraction of the large writes that may deviate from their median by more than noise.
const DEVIATING: f64 = 0.1;

/// Deviation of such a write beyond four standard deviations of noise, as a fraction.
const SLACK: f64 = 0.05;

/// Latencies of the writes by their kind.
#[derive(Debug, Default)]
struct Latencies {
    opening: Vec<f64>,
    pages: Vec<f64>,
    quarters: Vec<f64>,
    large: Vec<f64>,
}

/// Locations of these, and what follows from them.
#[derive(Clone, Copy, Debug)]
struct Derived {
    /// Time per byte.
    slope: SampleLocation,
    overhead: SampleLocation,
    open: SampleLocation,
    /// Time of a page less that of a quarter of it, as a fraction of three quarters of a page's bytes.
    gathered: SampleLocation,
}

pub(super) fn perform(lab: &mut Lab<'_>, known: &Anatomy) -> Measured<Findings> {
    let geometry = UnitGeometry::of(lab, known);
    let len = geometry.len;
    let large = large(&geometry);
    let mut found = Findings::default();
    let (mut open, mut latencies) = (None, Latencies::default());
    let most = MOST.min(lab.capacity() / PART);
    lab.drain()?;
    let begun = lab.spent.written.0;
    let derived = loop {
        stream(lab, &geometry, large, &mut open, &mut latencies)?;
        let spent = lab.spent.written.0 - begun > most || !lab.stays_cool()?;
        let derived = derive(lab, &latencies, len, large);
        if let Some(derived) = derived {
            let opening = !geometry.is_known || derived.open.is_certain(open_floor(lab));
            let enough = derived.slope.error < 0.006 * derived.slope.value
                && derived.overhead.is_certain(0.0)
                && opening
                && latencies.opening.len() >= 6;
            if enough || spent {
                break derived;
            }
        } else if spent {
            found.decline(
                super::properties(Experiment::WriteSizes),
                DeclineReason::Budget,
            );
            return Ok(found);
        }
    };
    for (size, samples) in [
        (len / 4, &latencies.quarters),
        (len, &latencies.pages),
        (large, &latencies.large),
    ] {
        let middle = median(samples).unwrap_or(0.0);
        found.points.push((size as f64, middle));
    }
    report(lab, known, &geometry, (&latencies, derived), found)
}

/// Derives the findings from the latencies.
fn report(
    lab: &mut Lab<'_>,
    known: &Anatomy,
    geometry: &UnitGeometry,
    (latencies, derived): (&Latencies, Derived),
    mut found: Findings,
) -> Measured<Findings> {
    if has_two_speeds(&latencies.large, lab.sigma()) {
        // A cache that the long write did not fill, because the card would have throttled.
        found.decline(
            super::properties(Experiment::WriteSizes),
            DeclineReason::Ambiguous,
        );
        found.decline(
            &[CardProperty::CacheSize, CardProperty::CacheRate],
            DeclineReason::Ambiguous,
        );
        return Ok(found);
    }
    found.set(
        CardProperty::WriteRate,
        derived.slope.divide(1e9).finding(0.0),
    );
    let gathers = gathers(&derived, known);
    found.set(CardProperty::GathersWrites, gathers);
    let overhead = match gathers.known() {
        Some(yes) if yes.value > 0.0 && !derived.overhead.is_certain(0.0) => {
            tiny(lab, geometry, derived.slope)?
        }
        _ => derived.overhead,
    };
    // Writes of another length than whole pages may take the time of more bytes than they have.
    let in_pages = known.value(CardProperty::Page).is_some() || by_bytes(&derived);
    match in_pages {
        true => {
            found.set(CardProperty::WriteOverhead, overhead.finding(0.0));
            cache_rate(lab, overhead, &mut found);
        }
        false => found.decline(
            &[CardProperty::WriteOverhead],
            DeclineReason::Needs(CardProperty::Page),
        ),
    }
    found.set(CardProperty::OpenCost, opening(lab, geometry, &derived));
    Ok(found)
}

/// Size of the large writes: whole pages, at least four to a unit.
fn large(geometry: &UnitGeometry) -> u64 {
    let len = geometry.len;
    ((1 << 20).min(geometry.unit / 4) / len * len).max(2 * len)
}

/// Measures the time to open a unit whose size was found later.
pub(super) fn opening_cost(lab: &mut Lab<'_>, geometry: &UnitGeometry) -> Measured<CardFinding> {
    let (len, large) = (geometry.len, large(geometry));
    let (mut open, mut latencies) = (None, Latencies::default());
    let most = MOST.min(lab.capacity() / PART);
    lab.drain()?;
    let begun = lab.spent.written.0;
    loop {
        stream(lab, geometry, large, &mut open, &mut latencies)?;
        let spent = lab.spent.written.0 - begun > most || !lab.stays_cool()?;
        let derived = derive(lab, &latencies, len, large);
        let enough = |derived: &Derived| {
            derived.open.is_certain(open_floor(lab)) && latencies.opening.len() >= 6
        };
        match derived {
            Some(derived) if spent || enough(&derived) => {
                return Ok(opening(lab, geometry, &derived));
            }
            None if spent => return Ok(CardFinding::Unknown(DeclineReason::Budget)),
            _ => {}
        }
    }
}

fn open_floor(lab: &Lab<'_>) -> f64 {
    0.02 * lab.reference.unwrap_or(0.0)
}

fn opening(lab: &Lab<'_>, geometry: &UnitGeometry, derived: &Derived) -> CardFinding {
    match geometry.is_known {
        true => derived.open.finding(open_floor(lab)),
        false => CardFinding::Unknown(DeclineReason::Needs(CardProperty::Unit)),
    }
}

/// Fills one open unit in order: pages, quarters of pages, large writes, pages. Then opens the next one at once: after a
/// pause, a host would need longer for that write.
fn stream(
    lab: &mut Lab<'_>,
    geometry: &UnitGeometry,
    large: u64,
    open: &mut Option<u64>,
    latencies: &mut Latencies,
) -> Measured<()> {
    let len = geometry.len;
    let start = match *open {
        Some(start) => start,
        None => {
            let (start, opening) = begin(lab, geometry)?;
            // Of a unit that is not known, this is no cost of opening one.
            if !geometry.is_known {
                latencies.opening.push(opening);
            }
            start
        }
    };
    let end = start + geometry.unit;
    let mut at = start + len;
    let pages = 16.min(geometry.unit / len / 8);
    for _ in 0..pages {
        latencies.pages.push(lab.write(at, len)?);
        at += len;
    }
    let quarter = len / 4;
    if quarter.is_multiple_of(lab.block()) && quarter > 0 {
        for n in 0..pages / 4 * 4 {
            let latency = lab.write(at, quarter)?;
            if n > 0 {
                latencies.quarters.push(latency);
            }
            at += quarter;
        }
    }
    let tail = len * pages;
    let mut count = 0;
    while at + large + tail <= end {
        lab.stays_cool()?;
        latencies.large.push(lab.write(at, large)?);
        at += large;
        count += 1;
        // Without a known unit there is nothing to close.
        if !geometry.is_known && count >= 24 {
            *open = None;
            return Ok(());
        }
    }
    while at + len <= end {
        latencies.pages.push(lab.write(at, len)?);
        at += len;
    }
    let (next, opening) = begin(lab, geometry)?;
    latencies.opening.push(opening);
    *open = Some(next);
    Ok(())
}

/// Opens a fresh unit; returns its start, and the latency of its first page.
fn begin(lab: &mut Lab<'_>, geometry: &UnitGeometry) -> Measured<(u64, f64)> {
    let start = lab.fresh(geometry.stride, geometry.stride)?;
    Ok((start, lab.write(start, geometry.len)?))
}

fn derive(lab: &Lab<'_>, latencies: &Latencies, len: u64, large: u64) -> Option<Derived> {
    let sigma = lab.sigma();
    if latencies.large.len() < 12 || latencies.pages.len() < 24 || latencies.opening.len() < 4 {
        return None;
    }
    let pages = SampleLocation::of(&latencies.pages, sigma)?;
    let extra = difference(&latencies.large, &latencies.pages, sigma)?;
    let slope = extra.times(1.0 / (large - len) as f64);
    let open = difference(&latencies.opening, &latencies.pages, sigma)?;
    let quarters = SampleLocation::of(&latencies.quarters, sigma);
    let gathered = quarters.map(|quarters| {
        pages
            .minus(quarters)
            .times(1.0 / (0.75 * len as f64 * slope.value))
    });
    Some(Derived {
        slope,
        overhead: pages.minus(slope.times(len as f64)),
        open,
        gathered: gathered.unwrap_or(SampleLocation {
            value: 0.5,
            error: 1.0,
        }),
    })
}

/// Returns whether writes of one kind were served at two speeds: more than stalls deviate from the median.
fn has_two_speeds(latencies: &[f64], sigma: f64) -> bool {
    let middle = median(latencies).unwrap_or(0.0).max(1.0);
    let deviates = |latency: &&f64| (**latency / middle).ln().abs() > 4.0 * sigma + SLACK;
    let count = latencies.iter().filter(deviates).count();
    count as f64 > DEVIATING * latencies.len() as f64
}

/// Returns whether a quarter of a write certainly takes a quarter of the time of its bytes.
fn by_bytes(derived: &Derived) -> bool {
    let share = derived.gathered;
    let is_near = (share.value - 1.0).abs() < 0.25 + 2.0 * share.error;
    is_near && share.value - 5.0 * share.error > 0.4
}

/// Decides whether small writes are gathered: a quarter of a page then takes a quarter of the time of its bytes.
fn gathers(derived: &Derived, known: &Anatomy) -> CardFinding {
    let Some(_) = known.value(CardProperty::Page) else {
        return CardFinding::Unknown(DeclineReason::Needs(CardProperty::Page));
    };
    let share = derived.gathered;
    let is_near_none = share.value.abs() < 0.25 + 2.0 * share.error;
    match (by_bytes(derived), is_near_none) {
        (true, false) => CardFinding::exact(1),
        (false, true) if share.value + 5.0 * share.error < 0.6 => CardFinding::exact(0),
        _ => CardFinding::Unknown(DeclineReason::Ambiguous),
    }
}

/// Measures the fixed time of a write with the smallest writes, in order within one unit.
fn tiny(
    lab: &mut Lab<'_>,
    geometry: &UnitGeometry,
    slope: SampleLocation,
) -> Measured<SampleLocation> {
    let block = lab.block();
    let sigma = lab.sigma();
    let mut latencies = Vec::new();
    loop {
        let start = lab.fresh(geometry.stride, geometry.stride)?;
        lab.write(start, geometry.len)?;
        let mut at = start + geometry.len;
        while at + block <= (start + geometry.unit / 2).min(start + (4 << 20)) {
            latencies.push(lab.write(at, block)?);
            at += block;
        }
        if let Some(all) = SampleLocation::of(&latencies, sigma) {
            let overhead = all.minus(slope.times(block as f64));
            let spent = latencies.len() > SMALL || !lab.stays_cool()?;
            if overhead.is_certain(0.0) || spent {
                return Ok(overhead);
            }
        }
    }
}

/// Reports the rate into the cache from the latency of the long write, less the fixed time.
fn cache_rate(lab: &Lab<'_>, overhead: SampleLocation, found: &mut Findings) {
    if let Some((len, fast)) = lab.state.fast_write {
        let rate = fast.minus(overhead).divide(len as f64 * 1e9);
        found.set(CardProperty::CacheRate, rate.finding(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{DeviceError, TimedDevice, TimedRequest};
    use hakaru_model::anatomy::Spent;
    use hakaru_model::units::{Bytes, Nanos};
    use std::cell::Cell;
    use std::rc::Rc;

    const UNIT: u64 = 4 << 20;
    const OPEN: u64 = 4_000_000;

    /// Units that cost [`OPEN`] to open, behind a host that needs 0.7 ms more for a request after a pause.
    struct SleepyHost {
        now: u64,
        has_paused: Rc<Cell<bool>>,
    }

    impl TimedDevice for SleepyHost {
        fn capacity(&self) -> Bytes {
            Bytes(8 << 30)
        }

        fn block(&self) -> u64 {
            512
        }

        fn now(&self) -> Nanos {
            Nanos(self.now)
        }

        fn serve(&mut self, request: TimedRequest) -> Result<Nanos, DeviceError> {
            let TimedRequest::Write { offset, len } = request else {
                panic!("{request:?}");
            };
            let opening = if offset.is_multiple_of(UNIT) { OPEN } else { 0 };
            let late = if self.has_paused.take() { 700_000 } else { 0 };
            let latency = 500_000 + len * 1000 / 3 + opening + late;
            self.now += latency;
            Ok(Nanos(latency))
        }

        fn read_at_depth(
            &mut self,
            _: &[u64],
            _: u64,
            _: usize,
        ) -> Result<Vec<Nanos>, DeviceError> {
            panic!("no reads");
        }

        fn idle(&mut self, time: Nanos) -> Result<(), DeviceError> {
            self.now += time.0;
            Ok(())
        }

        fn can_discard(&self) -> bool {
            false
        }
    }

    /// Regression: the computations between two streams were the pause after which each unit was opened.
    #[test]
    fn a_host_that_is_slow_after_a_pause_opens_no_units_late() {
        let has_paused = Rc::new(Cell::new(false));
        let mut host = SleepyHost {
            now: 0,
            has_paused: Rc::clone(&has_paused),
        };
        let limit = Spent {
            time: Nanos(u64::MAX),
            written: Bytes(u64::MAX),
            ..Spent::default()
        };
        let mut lab = Lab::new(&mut host, limit, 1);
        let geometry = UnitGeometry {
            len: 16 << 10,
            unit: UNIT,
            stride: UNIT,
            is_known: true,
            open: 0.0,
        };
        let (mut open, mut latencies) = (None, Latencies::default());
        for _ in 0..8 {
            has_paused.set(true);
            stream(&mut lab, &geometry, 1 << 20, &mut open, &mut latencies).unwrap();
        }
        let derived = derive(&lab, &latencies, geometry.len, 1 << 20).unwrap();
        let error = derived.open.value / OPEN as f64 - 1.0;
        assert!(error.abs() < 0.01, "{derived:?}");
    }

    #[test]
    fn a_cache_that_fills_meanwhile_is_two_speeds_and_stalls_are_not() {
        let writes = |fast: usize, slow: usize, ratio: f64| {
            let noise = |n: usize| 1.0 + 0.02 * ((n * 7 % 5) as f64 - 2.0) / 2.0;
            let of = |n: usize| 1e8 * noise(n) * if n < fast { 1.0 } else { ratio };
            (0..fast + slow).map(of).collect::<Vec<f64>>()
        };
        assert!(has_two_speeds(&writes(40, 60, 1.4), 0.02));
        assert!(has_two_speeds(&writes(80, 20, 1.4), 0.02));
        assert!(!has_two_speeds(&writes(98, 2, 9.0), 0.02));
        assert!(!has_two_speeds(&writes(100, 0, 1.0), 0.02));
        // Noise hides the difference.
        assert!(!has_two_speeds(&writes(40, 60, 1.4), 0.2));
    }
}

//! Reads across boundaries of all sizes: pages and units.

use crate::grid::{self, BoundaryCost, GridChoice};
use crate::lab::{Findings, Lab, Measured};
use crate::location::{SampleLocation, difference};
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty, DeclineReason};

/// Difference of χ² that decides.
const DECIDED: f64 = 25.0;

/// Difference of χ² at which sampling stops.
const ENOUGH: f64 = 40.0;

/// Boundaries of each size in a round.
const PLACES: usize = 6;

/// Rounds at least and at most.
const ROUNDS: (usize, usize) = (4, 30);

/// Rounds without any sign of a step after which there is none.
const SILENT: usize = 12;

/// Shortest time to sense a page, in ns: that of flash with one bit a cell.
const FASTEST_SENSE: f64 = 25e3;

/// Time after which no round begins, in ns: small reads of most cards need less for all of them.
const ROUNDS_TIME: f64 = 50e9;

/// Pairs of reads at most for the cost of a boundary of units, and the longest time for them in ns.
const PAIRS: usize = 12_000;
const PAIRS_TIME: f64 = 25e9;

pub(super) fn perform(lab: &mut Lab<'_>, known: &Anatomy) -> Measured<Findings> {
    let sizes: Vec<u64> = grid::pages()
        .into_iter()
        .chain(grid::units())
        .filter(|size| 16 * size <= lab.capacity())
        .collect();
    let mut samples: Vec<Vec<f64>> = vec![Vec::new(); sizes.len()];
    let mut found = Findings::default();
    let mut choice = None;
    let begun = lab.now();
    for round in 1..=ROUNDS.1 {
        if round > SILENT && lab.now() - begun > ROUNDS_TIME {
            break;
        }
        for (size, samples) in sizes.iter().zip(&mut samples) {
            for _ in 0..PLACES {
                let boundary = boundary(lab, *size);
                straddle(lab, boundary, samples)?;
            }
        }
        let costs = costs(lab, &sizes, &samples);
        choice = grid::choose(&costs);
        if round >= ROUNDS.0 && choice.as_ref().is_some_and(|c| is_enough(c, round)) {
            found.points = points(&costs);
            break;
        }
        found.points = points(&costs);
    }
    let Some(choice) = choice else {
        found.decline(
            super::properties(hakaru_model::anatomy::Experiment::Boundaries),
            DeclineReason::TooSmall,
        );
        return Ok(found);
    };
    let unit = report(lab, known, &choice, &mut found);
    crossing(lab, &choice, unit, &mut found)?;
    Ok(found)
}

fn points(costs: &[BoundaryCost]) -> Vec<(f64, f64)> {
    let point = |cost: &BoundaryCost| (cost.size as f64, cost.cost.value);
    costs.iter().map(point).collect()
}

/// Returns whether both choices are decided.
fn is_enough(choice: &GridChoice, round: usize) -> bool {
    let decided = |size: Option<u64>, margin: f64| match size {
        Some(_) => margin >= ENOUGH,
        None => round >= SILENT,
    };
    decided(choice.page, choice.page_margin) && decided(choice.unit, choice.unit_margin)
}

/// Returns a random odd multiple of a size that 3 does not divide: otherwise 3·2^n cannot be told from 2^n.
fn boundary(lab: &mut Lab<'_>, size: u64) -> u64 {
    // The first units may be special; of a small card, they are its first quarter.
    let special = (64 << 20).min(lab.capacity() / 4);
    let (first, last) = (1.max(special / size), lab.capacity() / size - 1);
    for _ in 0..100 {
        let multiple = first + lab.rng.below(last - first + 1);
        if multiple % 2 == 1 && !multiple.is_multiple_of(3) {
            return multiple * size;
        }
    }
    size * 5
}

/// Measures three times how much longer a read across a boundary takes than reads before and after it.
fn straddle(lab: &mut Lab<'_>, boundary: u64, samples: &mut Vec<f64>) -> Measured<()> {
    let block = lab.block();
    let len = 2 * block;
    for _ in 0..2 {
        lab.read(boundary - block, len)?;
    }
    for _ in 0..3 {
        let before = lab.read(boundary - len, len)?;
        let across = lab.read(boundary - block, len)?;
        let after = lab.read(boundary, len)?;
        samples.push(across - (before + after) / 2.0);
    }
    Ok(())
}

/// Returns the location of the samples of each size; their spread is at least that of three reads.
fn costs(lab: &Lab<'_>, sizes: &[u64], samples: &[Vec<f64>]) -> Vec<BoundaryCost> {
    let least = 0.85 * 1.22 * lab.sigma() * lab.reference.unwrap_or(0.0);
    let of = |(size, samples): (&u64, &Vec<f64>)| {
        let cost = SampleLocation::with_spread(samples, least)?;
        Some(BoundaryCost { size: *size, cost })
    };
    sizes.iter().zip(samples).filter_map(of).collect()
}

/// Reports page, unit, sensing and seek; returns the unit.
fn report(
    lab: &Lab<'_>,
    known: &Anatomy,
    choice: &GridChoice,
    found: &mut Findings,
) -> Option<u64> {
    let finding = |size: Option<u64>, margin: f64, largest: u64| match size {
        Some(size) if margin >= DECIDED => CardFinding::exact(size),
        None if margin > 0.0 => CardFinding::Absent {
            up_to: largest as f64,
        },
        _ => CardFinding::Unknown(DeclineReason::Ambiguous),
    };
    let rate = known.value(CardProperty::ReadRate);
    let repeated = known.finding(CardProperty::ReadSeek);
    // While the bytes before the boundary are transferred, the next page is sensed.
    let overlapped = rate.map_or(0.0, |rate| lab.block() as f64 / rate * 1e9);
    let up_to = lab.reference.unwrap_or(0.0) * 0.02;
    // Sensing that takes no longer than that shows at no boundary.
    let senses = repeated.rough().is_none_or(|extra| extra.high > up_to);
    let may_hide = overlapped > FASTEST_SENSE && senses;
    let page = match finding(choice.page, choice.page_margin, 128 << 10) {
        CardFinding::Absent { .. } if may_hide => CardFinding::Unknown(DeclineReason::Ambiguous),
        page => page,
    };
    let unit = finding(choice.unit, choice.unit_margin, 128 << 20);
    found.set(CardProperty::Page, page);
    found.set(CardProperty::Unit, unit);
    let (sense, seek) = match (page, repeated.known()) {
        (CardFinding::Known(_), Some(extra)) => {
            let step = choice.page_step.value + overlapped;
            let error = 3.0 * choice.page_step.error + 0.06 * extra.value;
            match (step - extra.value).abs() <= error.max(extra.value - extra.low) {
                true => (repeated, CardFinding::Absent { up_to: error }),
                false => {
                    let reason = CardFinding::Unknown(DeclineReason::Contradiction);
                    match step < extra.value {
                        true => {
                            let sense = SampleLocation {
                                value: step,
                                error: choice.page_step.error,
                            };
                            let total = SampleLocation {
                                value: extra.value,
                                error: (extra.high - extra.low) / 5.2,
                            };
                            (sense.finding(0.0), total.minus(sense).finding(0.0))
                        }
                        false => (reason, reason),
                    }
                }
            }
        }
        (CardFinding::Absent { .. }, _) => (CardFinding::Absent { up_to }, repeated),
        (CardFinding::Known(_), None) => (repeated, repeated),
        (CardFinding::Unknown(reason), _) => {
            let unknown = CardFinding::Unknown(reason);
            (unknown, unknown)
        }
    };
    found.set(CardProperty::Sense, sense);
    found.set(CardProperty::ReadSeek, seek);
    unit.known().map(|unit| unit.value as u64)
}

/// Measures the cost of boundaries of units against other boundaries of pages.
fn crossing(
    lab: &mut Lab<'_>,
    choice: &GridChoice,
    unit: Option<u64>,
    found: &mut Findings,
) -> Measured<()> {
    let floor = 0.012 * lab.reference.unwrap_or(0.0);
    let Some(unit) = unit else {
        // A step that lowers χ² by 12 would have been seen.
        let step = 3.5 * 2.0 * choice.page_step.error.max(floor / 3.0);
        let finding = match choice.unit {
            None => CardFinding::Absent { up_to: step },
            Some(_) => CardFinding::Unknown(DeclineReason::Needs(CardProperty::Unit)),
        };
        found.set(CardProperty::UnitCrossing, finding);
        return Ok(());
    };
    let page = choice.page.unwrap_or(64 << 10);
    let (block, sigma) = (lab.block(), lab.sigma());
    let (mut of_units, mut of_pages) = (Vec::new(), Vec::new());
    let begun = lab.now();
    loop {
        let of_unit = (1 + lab.rng.below(lab.capacity() / unit - 1)) * unit;
        let within = page * (1 + lab.rng.below((unit / page).saturating_sub(1).max(1)));
        let of_page = of_unit - unit + within;
        for (boundary, samples) in [(of_unit, &mut of_units), (of_page, &mut of_pages)] {
            lab.read(boundary - block, 2 * block)?;
            samples.push(lab.read(boundary - block, 2 * block)?);
        }
        if of_units.len() >= 100
            && let Some(cost) = difference(&of_units, &of_pages, sigma)
            && (cost.is_certain(floor) || of_units.len() >= PAIRS || lab.now() - begun > PAIRS_TIME)
        {
            found.set(CardProperty::UnitCrossing, cost.finding(floor));
            return Ok(());
        }
    }
}

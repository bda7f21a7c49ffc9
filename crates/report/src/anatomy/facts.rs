//! What an anatomy says in plain words.

use super::values::{bytes, rate};
use crate::number;
use crate::text::{self, AnatomyFact};
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty as P};

/// Length of the writes of an example in bytes.
const WRITE: f64 = 65536.0;

/// Sentences about the card, the most important first; empty if nothing is known.
pub(super) fn sentences(anatomy: &Anatomy) -> Vec<String> {
    let mut all = Vec::new();
    let mut say = |fact: AnatomyFact<'_>| all.push(text::anatomy_fact(&fact));
    open_units(anatomy, &mut say);
    cache(anatomy, &mut say);
    let reach = anatomy
        .size(P::MappingSlots)
        .zip(anatomy.size(P::MappingChunk));
    if let Some(((slots, chunk), load)) = reach.zip(anatomy.value(P::MappingLoad)) {
        say(AnatomyFact::Reach {
            size: &bytes(slots as f64 * chunk as f64),
            load: &number::nanos(load),
        });
    }
    if let (Some(after), Some(percent)) = (
        anatomy.value(P::ThrottleAfter),
        anatomy.value(P::ThrottlePercent),
    ) {
        say(AnatomyFact::Throttles {
            after: &number::nanos(after),
            percent: &number::significant(percent),
        });
    }
    if let Some(read) = anatomy.value(P::ReadRate) {
        say(AnatomyFact::Reads {
            rate: &rate(read),
            latency: &number::nanos(anatomy.noise.latency.0 as f64),
        });
    }
    let is_unknown = |property: &&P| matches!(anatomy.finding(**property), CardFinding::Unknown(_));
    let count = P::ALL.iter().filter(is_unknown).count() as u64;
    let of = P::ALL.len() as u64;
    if count > 0 && count < of {
        say(AnatomyFact::Unknown { count, of });
    }
    all
}

/// The most important sentence about the card.
pub(crate) fn headline(anatomy: &Anatomy) -> String {
    let first = sentences(anatomy).into_iter().next();
    first.unwrap_or_else(|| text::anatomy_empty().to_owned())
}

fn open_units(anatomy: &Anatomy, say: &mut impl FnMut(AnatomyFact<'_>)) {
    match anatomy.finding(P::OpenUnits) {
        CardFinding::Known(units) => {
            let units = units.value as u64;
            let size = anatomy.size(P::Unit).map(|size| bytes(size as f64));
            say(AnatomyFact::OpenUnits {
                units,
                size: &size.unwrap_or_default(),
            });
            if let Some(factor) = slowdown(anatomy) {
                say(AnatomyFact::TooManyWriters {
                    writers: units.saturating_add(1),
                    factor: &number::significant_digits(factor, 2),
                });
            }
            if let Some(random) = anatomy.size(P::RandomUnits) {
                let fact = AnatomyFact::RandomUnits {
                    units: random,
                    of: units,
                };
                say(fact);
            }
        }
        CardFinding::Absent { up_to } => {
            let up_to = up_to as u64;
            say(AnatomyFact::NoLimit { up_to });
        }
        CardFinding::Unknown(_) => {}
    }
}

/// How many times longer a write takes that has to close another unit.
fn slowdown(anatomy: &Anatomy) -> Option<f64> {
    let usual = anatomy.finding(P::WriteOverhead).rough()?.value
        + WRITE / anatomy.value(P::WriteRate)? * 1e9;
    let open = anatomy
        .finding(P::OpenCost)
        .rough()
        .map_or(0.0, |cost| cost.value);
    let collection = anatomy.value(P::CollectionTime)?;
    Some((usual + open + collection) / usual)
}

fn cache(anatomy: &Anatomy, say: &mut impl FnMut(AnatomyFact<'_>)) {
    match anatomy.finding(P::CacheSize) {
        CardFinding::Known(size) => {
            let rates = anatomy.value(P::CacheRate).zip(anatomy.value(P::WriteRate));
            if let Some((fast, slow)) = rates {
                say(AnatomyFact::Cache {
                    size: &bytes(size.value),
                    fast: &rate(fast),
                    slow: &rate(slow),
                });
            }
        }
        CardFinding::Absent { up_to } => say(AnatomyFact::NoCache {
            up_to: &bytes(up_to),
        }),
        CardFinding::Unknown(_) => {}
    }
}

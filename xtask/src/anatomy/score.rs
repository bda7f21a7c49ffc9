//! Comparison of findings with the truth of a model.

use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty as P};
use hakaru_model::device_model::DeviceModel;

/// Largest number of open units that the experiments try.
const OPEN_UNITS_TRIED: u32 = 64;

/// How a finding compares with the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Score {
    /// Equal, or within 5%.
    Right,
    /// Within 10%.
    Near,
    /// Unknown, with a reason.
    Declined,
    /// Anything else.
    Wrong,
    /// The model has no such property, and none was reported.
    NotApplicable,
}

/// Returns the true value; `None` if the model has no such part.
pub(crate) fn truth(model: &DeviceModel, property: P) -> Option<f64> {
    let flash = model.flash.as_ref()?;
    let limited = flash.open_units <= OPEN_UNITS_TRIED;
    let flag = |yes: bool| Some(f64::from(u8::from(yes)));
    let cache = model.cache.as_ref();
    let throttle = model.throttle.as_ref();
    let mapping = flash.mapping.as_ref();
    let copied = (flash.unit.0 - flash.page.0) as f64;
    match property {
        P::Page => Some(flash.page.0 as f64),
        P::Unit => Some(flash.unit.0 as f64),
        P::OpenUnits => limited.then_some(f64::from(flash.open_units)),
        P::RandomUnits => limited.then_some(f64::from(flash.random_units)),
        P::FatUnits => limited.then_some(f64::from(flash.fat_units)),
        P::GathersWrites => flag(flash.gathers_writes),
        P::DiscardFrees => flag(flash.discard_frees).filter(|_| limited),
        P::ParallelReads => Some(f64::from(model.parallel_reads)),
        P::MappingChunk => mapping.map(|m| m.chunk.0 as f64),
        P::MappingSlots => mapping.map(|m| f64::from(m.slots)),
        P::MappingLoad => mapping.map(|m| m.load.0 as f64),
        P::CacheSize => cache.map(|c| c.size.0 as f64),
        P::CacheRate => cache.map(|c| c.write_rate as f64),
        P::DrainRate => cache.map(|c| c.drain_rate as f64),
        P::DrainDelay => cache.map(|c| c.drain_delay.0 as f64),
        P::ReadOverhead => Some(model.read_overhead.0 as f64),
        P::ReadSeek => Some(model.read_seek.0 as f64),
        P::Sense => Some(flash.sense.0 as f64),
        P::ReadRate => Some(model.read_rate as f64),
        P::UnitCrossing => Some(flash.unit_crossing.0 as f64),
        P::WriteOverhead => Some(model.write_overhead.0 as f64),
        P::WriteSeek => Some(model.write_seek.0 as f64),
        P::WriteRate => Some(model.write_rate as f64),
        P::OpenCost => Some(flash.open.0 as f64),
        P::CollectionTime => limited.then_some(copied / flash.collection_rate as f64 * 1e9),
        P::CollectionRate => limited.then_some(flash.collection_rate as f64),
        P::RandomWrite => {
            (limited && flash.random_units > 0).then_some(flash.random_write.0 as f64)
        }
        P::WriteToRead => Some(model.write_to_read.0 as f64),
        P::ReadToWrite => Some(model.read_to_write.0 as f64),
        P::Flush => Some(model.flush.0 as f64),
        P::Discard => Some((model.write_overhead.0 + flash.discard.0) as f64),
        P::ThrottleAfter => throttle.map(|t| t.after.0 as f64),
        P::ThrottlePercent => throttle.map(|t| f64::from(t.percent)),
        P::ThrottleRecovery => {
            throttle.map(|t| (t.after.0 - t.until.map_or(t.after.0, |until| until.0)) as f64)
        }
    }
}

/// Compares one finding with the truth.
pub(crate) fn score(model: &DeviceModel, anatomy: &Anatomy, property: P) -> Score {
    let truth = truth(model, property);
    let (truth, found) = match (truth, anatomy.finding(property)) {
        (None, CardFinding::Known(_)) => return Score::Wrong,
        (None, CardFinding::Absent { .. }) => return Score::Right,
        (None, CardFinding::Unknown(_)) => return Score::NotApplicable,
        (Some(_), CardFinding::Unknown(_)) => return Score::Declined,
        (Some(truth), found) => (truth, found),
    };
    let of_heat = matches!(property, P::ThrottlePercent | P::ThrottleRecovery);
    if (property == P::WriteRate && never_filled(model, anatomy))
        || (of_heat && never_hot(model, anatomy))
    {
        return Score::Declined;
    }
    match found {
        CardFinding::Absent { up_to } => absent(property, truth, up_to),
        CardFinding::Known(known) if property.is_exact() => match known.value == truth {
            true => Score::Right,
            false => Score::Wrong,
        },
        CardFinding::Known(known) => {
            // Times of rests are measured in steps of a second, delays in writes.
            let slack = match property {
                P::ThrottleRecovery | P::ThrottleAfter => 1e9,
                P::DrainDelay => 0.1e9,
                _ => 0.0,
            };
            match (known.value - truth).abs() {
                error if error <= 0.05 * truth + slack => Score::Right,
                error if error <= 0.10 * truth + slack => Score::Near,
                _ => Score::Wrong,
            }
        }
        CardFinding::Unknown(_) => Score::Declined,
    }
}

/// Returns whether the cache of the model is larger than what was written.
fn never_filled(model: &DeviceModel, anatomy: &Anatomy) -> bool {
    let size = model
        .cache
        .as_ref()
        .map_or(0.0, |cache| cache.size.0 as f64);
    matches!(anatomy.finding(P::CacheSize), CardFinding::Absent { up_to } if up_to < size)
}

/// Returns whether the card of the model throttles only after more work than the longest of the anatomy, which says so.
fn never_hot(model: &DeviceModel, anatomy: &Anatomy) -> bool {
    let after = model.throttle.as_ref().map_or(0.0, |t| t.after.0 as f64);
    matches!(anatomy.finding(P::ThrottleAfter), CardFinding::Absent { up_to } if up_to < after)
}

fn absent(property: P, truth: f64, up_to: f64) -> Score {
    let right = match property {
        // No limit or cache up to the value.
        P::OpenUnits | P::MappingSlots | P::CacheSize | P::ThrottleAfter => truth >= up_to,
        P::Page | P::Unit => false,
        _ => truth <= 1.05 * up_to,
    };
    match (right, property) {
        (true, _) => Score::Right,
        // The page or unit does not show: nothing wrong was said.
        (false, P::Page | P::Unit) => Score::Declined,
        (false, _) => Score::Wrong,
    }
}

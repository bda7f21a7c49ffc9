//! The experiments, in the order in which they run.

mod boundaries;
mod depth;
mod discard;
mod fat;
mod heat;
mod long_write;
mod mapping;
mod mixing;
mod noise;
mod open_units;
mod random_units;
mod read_sizes;
mod recovery;
mod unit_size;
mod units;
mod write_sizes;

pub(crate) use long_write::PIECE;

use crate::lab::{Findings, Lab, Measured};
use hakaru_model::anatomy::{Anatomy, CardProperty, Experiment};

/// Runs an experiment on a card of which other experiments have found something.
pub(crate) fn perform(
    experiment: Experiment,
    lab: &mut Lab<'_>,
    known: &Anatomy,
) -> Measured<Findings> {
    match experiment {
        Experiment::Noise => noise::perform(lab),
        Experiment::ReadSizes => read_sizes::perform(lab),
        Experiment::Boundaries => boundaries::perform(lab, known),
        Experiment::Mapping => mapping::perform(lab),
        Experiment::Depth => depth::perform(lab),
        Experiment::Heat => heat::perform(lab, known),
        Experiment::LongWrite => long_write::perform(lab, known),
        Experiment::WriteSizes => write_sizes::perform(lab, known),
        Experiment::OpenUnits => open_units::perform(lab, known),
        Experiment::RandomUnits => random_units::perform(lab, known),
        Experiment::FatArea => fat::perform(lab, known),
        Experiment::Discard => discard::perform(lab, known),
        Experiment::Mixing => mixing::perform(lab, known),
        Experiment::Recovery => recovery::perform(lab, known),
    }
}

/// Returns the properties that an experiment may find.
pub(crate) fn properties(experiment: Experiment) -> &'static [CardProperty] {
    use CardProperty as P;
    match experiment {
        Experiment::Noise => &[],
        Experiment::ReadSizes => &[P::ReadRate, P::ReadOverhead, P::ReadSeek],
        Experiment::Boundaries => &[P::Page, P::Unit, P::Sense, P::ReadSeek, P::UnitCrossing],
        Experiment::Mapping => &[P::MappingSlots, P::MappingChunk, P::MappingLoad],
        Experiment::Depth => &[P::ParallelReads],
        Experiment::Heat => &[P::ThrottleAfter, P::ThrottlePercent, P::ThrottleRecovery],
        Experiment::LongWrite => &[P::CacheSize, P::CacheRate, P::Unit],
        Experiment::WriteSizes => &[
            P::WriteRate,
            P::WriteOverhead,
            P::GathersWrites,
            P::OpenCost,
        ],
        Experiment::OpenUnits => &[P::OpenUnits, P::CollectionTime, P::CollectionRate],
        Experiment::RandomUnits => &[P::RandomUnits, P::RandomWrite],
        Experiment::FatArea => &[P::FatUnits],
        Experiment::Discard => &[P::DiscardFrees, P::Discard, P::OpenCost],
        Experiment::Mixing => &[P::WriteToRead, P::ReadToWrite, P::WriteSeek, P::Flush],
        Experiment::Recovery => &[P::DrainRate, P::DrainDelay],
    }
}

//! The subjects of environment lines, and their grouping for the terminal.

use super::{FactLine, circumstances};
use crate::text;
use hakaru_model::finding::Summary;

/// Subject of an environment line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FactKey {
    Target,
    FileSystem,
    MountOptions,
    Device,
    Origin,
    ToolOverhead,
    Started,
    Series,
    SerialNumber,
    Chain,
    BlockSize,
    Scheduler,
    WriteCache,
    BusWidth,
    BusClock,
    BusTiming,
    BusCeiling,
    Bus,
    Manufacturer,
    CardName,
    Manufactured,
    SpeedClass,
    UhsGrade,
    VideoClass,
    ApplicationClass,
    AllocationUnit,
    Cid,
    Oddity,
    Host,
    Board,
    Processor,
    Governor,
    Memory,
    Kernel,
    Distribution,
    Load,
    IoPressure,
    Temperature,
    Throttling,
    Clock,
}

/// A line of the short form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FactGroup {
    Target,
    FileSystem,
    Device,
    Card,
    Bus,
    Suspicious,
    Host,
    Kernel,
    ToolOverhead,
    Series,
}

/// The subjects of each line of the short form.
const BRIEF: &[(FactGroup, &[FactKey])] = &[
    (FactGroup::Target, &[FactKey::Target]),
    (
        FactGroup::FileSystem,
        &[FactKey::FileSystem, FactKey::MountOptions],
    ),
    (
        FactGroup::Device,
        &[
            FactKey::Device,
            FactKey::SerialNumber,
            FactKey::Scheduler,
            FactKey::WriteCache,
        ],
    ),
    (
        FactGroup::Card,
        &[
            FactKey::Manufacturer,
            FactKey::CardName,
            FactKey::Manufactured,
            FactKey::SpeedClass,
            FactKey::UhsGrade,
            FactKey::VideoClass,
            FactKey::ApplicationClass,
            FactKey::AllocationUnit,
        ],
    ),
    (
        FactGroup::Bus,
        &[
            FactKey::Bus,
            FactKey::BusWidth,
            FactKey::BusClock,
            FactKey::BusTiming,
            FactKey::BusCeiling,
        ],
    ),
    (FactGroup::Suspicious, &[FactKey::Oddity]),
    (
        FactGroup::Host,
        &[
            FactKey::Host,
            FactKey::Board,
            FactKey::Processor,
            FactKey::Governor,
            FactKey::Memory,
        ],
    ),
    (FactGroup::Kernel, &[FactKey::Kernel, FactKey::Distribution]),
    (FactGroup::ToolOverhead, &[FactKey::ToolOverhead]),
    (FactGroup::Series, &[FactKey::Series]),
];

/// The known environment as a few lines of a name and its values.
pub(crate) fn brief(summary: &Summary) -> Vec<(&'static str, String)> {
    brief_of(&circumstances(summary))
}

/// The short form of existing lines.
pub(crate) fn brief_of(all: &[FactLine]) -> Vec<(&'static str, String)> {
    let gathered = BRIEF.iter().map(|&(group, keys)| {
        let values = keys.iter().flat_map(|&key| {
            let known = all.iter().filter(move |line| line.brief && line.key == key);
            known.map(move |line| text::fact_in_brief(key, &line.value))
        });
        (
            text::fact_group(group),
            text::enumerated(&values.collect::<Vec<_>>()),
        )
    });
    gathered.filter(|(_, values)| !values.is_empty()).collect()
}

//! Preparation steps of storage.

use super::duration;
use hakaru_model::campaign::{FillContent, StepKind};
use hakaru_model::units::Nanos;

pub(in crate::text) fn step(step: &StepKind) -> String {
    match step {
        StepKind::Filled { with } => format!("filled with {}", content(*with)),
        StepKind::Discarded { secure: false } => "discarded (TRIM)".to_owned(),
        StepKind::Discarded { secure: true } => "discarded securely".to_owned(),
        StepKind::Verified => "verified".to_owned(),
        StepKind::ImageWritten { image, size } => {
            format!("image {image} ({size}) written and verified")
        }
        StepKind::Partitioned => "partition table written".to_owned(),
        StepKind::Formatted { command } => command.join(" "),
        StepKind::Mounted { fs_type, options } if options.is_empty() => {
            format!("mounted as {fs_type}")
        }
        StepKind::Mounted { fs_type, options } => format!("mounted as {fs_type} with {options}"),
        StepKind::DirectoryCreated { path } => format!("directory {path} created"),
        StepKind::SpaceFilled { size } => {
            format!("{size} of the file system filled with random data")
        }
        StepKind::CachesDropped => "page cache dropped".to_owned(),
        StepKind::Described { what } => what.clone(),
    }
}

pub(in crate::text) fn content(with: FillContent) -> &'static str {
    match with {
        FillContent::Ones => "0xff",
        FillContent::Zeroes => "0x00",
        FillContent::Random => "random data",
    }
}

pub(in crate::text) fn step_took(step: &str, time: Nanos) -> String {
    format!("{step}, in {}", duration(time))
}

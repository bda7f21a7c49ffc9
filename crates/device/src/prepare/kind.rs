//! Converts journal steps to the step kinds of run records, without the device.

use super::fill::{DiscardKind, FillPattern};
use super::journal::PrepareStep;
use hakaru_model::campaign::{FillContent, StepKind};

impl From<FillPattern> for FillContent {
    fn from(pattern: FillPattern) -> FillContent {
        match pattern {
            FillPattern::Ones => FillContent::Ones,
            FillPattern::Zeroes => FillContent::Zeroes,
            FillPattern::Random { .. } => FillContent::Random,
        }
    }
}

impl From<&PrepareStep> for StepKind {
    fn from(step: &PrepareStep) -> StepKind {
        match step {
            PrepareStep::Fill { pattern, .. } => StepKind::Filled {
                with: (*pattern).into(),
            },
            PrepareStep::Discard { kind, .. } => StepKind::Discarded {
                secure: *kind == DiscardKind::Secure,
            },
            PrepareStep::Verify { .. } => StepKind::Verified,
            PrepareStep::WriteImage { image, size, .. } => StepKind::ImageWritten {
                image: image.display().to_string(),
                size: *size,
            },
            PrepareStep::Partition { .. } => StepKind::Partitioned,
            PrepareStep::Mkfs { command, .. } => StepKind::Formatted {
                command: command.clone(),
            },
            PrepareStep::Mount {
                fs_type, options, ..
            } => StepKind::Mounted {
                fs_type: fs_type.clone(),
                options: options.clone(),
            },
            PrepareStep::MakeFolder { path } => StepKind::DirectoryCreated {
                path: path.display().to_string(),
            },
            PrepareStep::FillLevel { size, .. } => StepKind::SpaceFilled { size: *size },
            PrepareStep::DropCaches => StepKind::CachesDropped,
        }
    }
}

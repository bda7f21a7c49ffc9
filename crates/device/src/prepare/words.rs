//! What was done, in words for people and for the record of a run.

use super::fill::{DiscardKind, FillPattern};
use super::journal::PrepareStep;
use std::fmt;

impl fmt::Display for FillPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FillPattern::Ones => "0xff",
            FillPattern::Zeroes => "0x00",
            FillPattern::Random { .. } => "random bytes",
        })
    }
}

impl fmt::Display for PrepareStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrepareStep::Fill { pattern, .. } => write!(f, "filled with {pattern}"),
            PrepareStep::Discard {
                kind: DiscardKind::Plain,
                ..
            } => f.write_str("discarded"),
            PrepareStep::Discard {
                kind: DiscardKind::Secure,
                ..
            } => f.write_str("discarded securely"),
            PrepareStep::Verify { .. } => f.write_str("verified"),
            PrepareStep::Partition { .. } => f.write_str("partition table written"),
            PrepareStep::Mkfs { command, .. } => f.write_str(&command.join(" ")),
            PrepareStep::Mount {
                fs_type, options, ..
            } if options.is_empty() => write!(f, "mounted as {fs_type}"),
            PrepareStep::Mount {
                fs_type, options, ..
            } => write!(f, "mounted as {fs_type} with {options}"),
            PrepareStep::MakeFolder { path } => write!(f, "folder {} made", path.display()),
            PrepareStep::FillLevel { size, .. } => {
                write!(f, "{size} of its space used up by random bytes")
            }
            PrepareStep::DropCaches => f.write_str("caches of the host emptied"),
        }
    }
}

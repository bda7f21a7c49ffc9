//! What was done, in words for people and for the record of a run.

use super::fill::{DiscardKind, FillPattern};
use super::journal::Step;
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

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Fill { pattern, .. } => write!(f, "filled with {pattern}"),
            Step::Discard { kind: DiscardKind::Plain, .. } => f.write_str("discarded"),
            Step::Discard { kind: DiscardKind::Secure, .. } => f.write_str("discarded securely"),
            Step::Verify { .. } => f.write_str("verified"),
            Step::Partition { .. } => f.write_str("partition table written"),
            Step::Mkfs { command, .. } => f.write_str(&command.join(" ")),
            Step::Mount { fs_type, options, .. } if options.is_empty() => write!(f, "mounted as {fs_type}"),
            Step::Mount { fs_type, options, .. } => write!(f, "mounted as {fs_type} with {options}"),
            Step::MakeFolder { path } => write!(f, "folder {} made", path.display()),
            Step::FillLevel { size, .. } => write!(f, "{size} of its space used up by random bytes"),
            Step::DropCaches => f.write_str("caches of the host emptied"),
        }
    }
}

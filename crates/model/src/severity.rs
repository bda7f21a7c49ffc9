//! Severity of warnings, caveats and findings, and what they do to a result.

use serde::{Deserialize, Serialize};

/// Severity of a problem, ordered from lowest to highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// For information; the figures are valid.
    Note,
    /// The figures are less meaningful than they seem.
    Weak,
    /// The benchmark does not measure what it claims to.
    Wrong,
}

impl Severity {
    /// Returns the name: `note`, `weak`, `wrong`.
    pub fn name(self) -> &'static str {
        ["note", "weak", "wrong"][self as usize]
    }
}

/// What a caveat does to a result, ordered from the most harmful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Impact {
    /// The figures are off: repeating the measurement gives the same wrong value.
    Bias,
    /// The figures are right, but comparing them misleads.
    Comparison,
    /// The figures are less precise or less complete than they look.
    Precision,
    /// The figures are not affected.
    Information,
}

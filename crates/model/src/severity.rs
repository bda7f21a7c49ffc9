//! Severity of warnings, caveats and findings.

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

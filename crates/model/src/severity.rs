//! How much it matters what is wrong with a result or an experiment.

use serde::{Deserialize, Serialize};

/// How much a slip matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know; the figures are what they say.
    Note,
    /// The figures mean less than they seem to.
    Weak,
    /// It does not measure what it says.
    Wrong,
}

impl Severity {
    /// `note`, `weak`, `wrong`.
    pub fn name(self) -> &'static str {
        ["note", "weak", "wrong"][self as usize]
    }
}

//! Origin of the figures of a series.

use serde::{Deserialize, Serialize};

/// Where the figures of a series come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "origin")]
pub enum SummaryOrigin {
    /// A series without runs.
    #[default]
    Unknown,
    /// Measured by our own engine.
    Measured {
        /// Version of hakaru.
        version: String,
    },
    /// Imported from the output of another program.
    Imported {
        /// Name of the program, with its version if known.
        program: String,
        /// Disks whose counters the output contains, joined by `+`; empty if there are none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        disks: String,
        /// Whether the start times were printed without a time zone, and one was assumed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        zone_assumed: bool,
    },
    /// Published means and deviations.
    Published {
        /// Name of the file with the figures.
        source: String,
    },
}

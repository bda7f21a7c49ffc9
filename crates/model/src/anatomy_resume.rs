//! What an unfinished anatomy needs to continue, besides its findings.

use crate::anatomy::{CardFinding, CardProperty, Spent};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// State between two experiments. It is stored with an unfinished anatomy only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnatomyResume {
    /// Findings before drift widened their intervals and before they were compared with the fitted model, which happens
    /// once, at the end.
    pub findings: BTreeMap<CardProperty, CardFinding>,
    /// Medians of all reference measurements, in ns.
    #[serde(default)]
    pub references: Vec<f64>,
    /// Times of the bytes of their large reads, in ns; empty in anatomies of older versions.
    #[serde(default)]
    pub transfers: Vec<f64>,
    /// Those of the device while it was cool, in ns.
    #[serde(default)]
    pub cool_references: Vec<f64>,
    /// The write that shows whether the cache is full; `None` if no cache was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<CacheWrite>,
    /// Spent by experiments that did not end, without those of a killed process.
    #[serde(default)]
    pub interrupted: Spent,
}

/// A write that takes longer if the cache is full.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheWrite {
    /// Length of the write.
    pub len: Bytes,
    /// Latency in ns below which the write went into the cache.
    pub fast_below: f64,
    /// Location of the latency of writes into the cache and its standard error, in ns, if they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<(f64, f64)>,
}

//! Values that several languages make sentences of.

use hakaru_model::io_path::IoClass;
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;

/// What each I/O of an operation became at the device.
pub(crate) struct BecameText<'a> {
    pub(crate) layer: Option<&'a str>,
    pub(crate) op: Op,
    /// Size of each I/O, if all have the same.
    pub(crate) size: Option<Bytes>,
    /// Requests per I/O.
    pub(crate) requests: f64,
    /// Bytes per I/O.
    pub(crate) bytes: f64,
    /// Requests per I/O of each class.
    pub(crate) classes: Vec<(IoClass, f64)>,
}

/// Traffic per I/O of a side, for a comparison.
pub(crate) struct SideTraffic<'a> {
    pub(crate) name: &'a str,
    /// Bytes at the device per byte of the application.
    pub(crate) bytes: f64,
    /// Requests per I/O.
    pub(crate) requests: f64,
}

/// One of several cards, with its figure.
pub(crate) struct Ranked<'a> {
    /// Name of the card.
    pub(crate) card: &'a str,
    /// Its figure with the unit.
    pub(crate) value: String,
}

/// Number of cards that a layer made slower or faster.
pub(crate) struct LayerEffect {
    /// Number of cards with a significantly lower figure.
    pub(crate) lower: usize,
    /// Number of cards with a significantly higher figure.
    pub(crate) higher: usize,
    /// Number of cards that are equivalent within 5%.
    pub(crate) same: usize,
    /// Number of cards with an inconclusive comparison.
    pub(crate) undecided: usize,
}

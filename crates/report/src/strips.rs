//! Results along the addresses of a device, sampled for one line of characters.

use hakaru_model::integrity::SpeedPoint;
use hakaru_model::units::Bytes;

/// Strips of the same address range, one above the other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AddressStrips {
    pub(crate) from: Bytes,
    pub(crate) to: Bytes,
    pub(crate) found: FoundStrip,
    pub(crate) levels: Vec<LevelStrip>,
}

/// Test results along the addresses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundStrip {
    /// Bad segments: start and end.
    pub(crate) bad: Vec<(u64, u64)>,
    /// End of the tested range.
    pub(crate) looked_until: u64,
}

impl FoundStrip {
    /// The character for the results between two addresses.
    pub(crate) fn mark(&self, from: u64, to: u64) -> char {
        match self
            .bad
            .iter()
            .any(|&(begin, end)| begin < to && end > from)
        {
            true => '✗',
            false if from < self.looked_until => '━',
            false => ' ',
        }
    }
}

/// Speed along the addresses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LevelStrip {
    pub(crate) name: &'static str,
    pub(crate) points: Vec<SpeedPoint>,
}

impl LevelStrip {
    /// Mean speed between two addresses; segments that are partly inside count in proportion.
    pub(crate) fn mean(&self, from: u64, to: u64) -> Option<f64> {
        let (mut bytes, mut nanos) = (0.0, 0.0);
        let end = |point: &SpeedPoint| point.offset.0.saturating_add(point.len.0);
        let touched = |point: &&SpeedPoint| point.offset.0 < to && end(point) > from;
        for point in self.points.iter().filter(touched) {
            let within = end(point).min(to).saturating_sub(point.offset.0.max(from));
            bytes += within as f64;
            nanos += point.elapsed.0 as f64 * within as f64 / point.len.0 as f64;
        }
        (nanos > 0.0).then(|| bytes / nanos * 1e9)
    }
}

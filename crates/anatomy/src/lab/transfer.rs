//! Large reads of a reference measurement.

use super::{Lab, Measured};
use crate::location::SampleLocation;

/// Lengths of the large reads of a reference measurement: of a device whose bytes take most of the time of the shorter
/// ones, and of others. Neither is longer than a command.
const TRANSFERS: (u64, u64) = (64 << 10, 256 << 10);

/// Multiple of the time of a small read above which bytes take most of the time.
const SHORT: f64 = 5.0;

/// Longest time for the large reads of a reference measurement, in ns.
pub(crate) const TRANSFER_TIME: f64 = 1e9;

impl Lab<'_> {
    /// Measures large reads at the place of the small ones; returns how much longer they take, in ns.
    pub(super) fn transfer(&mut self, small: f64) -> Measured<f64> {
        let home = self.home();
        let len = match self.transfer_len {
            Some(len) => len,
            None => {
                let is_fast = self.read(home, TRANSFERS.0)? < SHORT * small;
                *self.transfer_len.insert(match is_fast {
                    true => TRANSFERS.1,
                    false => TRANSFERS.0,
                })
            }
        };
        let wanted = (1.57 * self.sigma() / 0.01).powi(2).clamp(12.0, 600.0);
        let (mut latencies, mut took) = (Vec::new(), 0.0);
        while latencies.len() < 3 || (latencies.len() < wanted as usize && took < TRANSFER_TIME) {
            latencies.push(self.read(home, len)?);
            took += latencies[latencies.len() - 1];
        }
        let large = SampleLocation::of(&latencies, self.sigma());
        Ok(large.map_or(0.0, |large| large.value - small))
    }
}

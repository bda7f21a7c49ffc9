//! The headline figure of a phase: bandwidth or IOPS.

use hakaru_model::finding::{Estimate, HeadlineRate};
use hakaru_model::units::Bytes;

/// Average I/O size from which phases are represented by bandwidth instead of IOPS. Up to the pages of databases and
/// file systems, the cost per command dominates; above, the cost per byte.
///
/// With one block size the two rates are proportional, so testing both would only enlarge the family of tests.
pub(crate) const HEADLINE_BLOCK: Bytes = Bytes(64 << 10);

/// Maximum rounding error of the I/O size, as a fraction: imported rates are rounded separately.
const ROUNDING: f64 = 0.01;

/// Returns the headline rate of a phase with these rates.
pub fn headline(bandwidth: &Estimate, iops: &Estimate) -> HeadlineRate {
    let large = HEADLINE_BLOCK.0 as f64 * (1.0 - ROUNDING);
    match bandwidth.mean < large * iops.mean {
        true => HeadlineRate::Iops,
        false => HeadlineRate::Bandwidth,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate;

    fn of(block: f64, iops: f64) -> HeadlineRate {
        let rate = |value: f64| estimate(&[value]).unwrap();
        headline(&rate(block * iops), &rate(iops))
    }

    #[test]
    fn small_blocks_are_quoted_by_iops_and_large_ones_by_bandwidth() {
        for (block, rate) in [
            (512.0, HeadlineRate::Iops),
            (4096.0, HeadlineRate::Iops),
            (16384.0, HeadlineRate::Iops),
            (32768.0, HeadlineRate::Iops),
            (65536.0, HeadlineRate::Bandwidth),
            (262_144.0, HeadlineRate::Bandwidth),
        ] {
            for iops in [0.3, 7.0, 1e3 / 3.0, 1e6] {
                assert_eq!(of(block, iops), rate, "{block} × {iops}");
            }
        }
    }

    #[test]
    fn rounded_rates_of_64_kib_and_unknown_ones_are_quoted_by_bandwidth() {
        assert_eq!(of(65_100.0, 12.0), HeadlineRate::Bandwidth);
        assert_eq!(of(65536.0, 0.0), HeadlineRate::Bandwidth);
    }
}

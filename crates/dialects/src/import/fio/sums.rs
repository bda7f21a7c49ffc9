//! Sizes, counts and times of the operations of a report, and the base of its units.

use super::super::units::{Kilo, Ranged};
use hakaru_model::job::{BlockSize, Op, PerOp};
use hakaru_model::reported::{ReportedBlock, op_named};
use hakaru_model::units::Bytes;

/// Size, count and time of one operation, if reported.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct OpSums {
    pub(super) bytes: Option<Ranged>,
    /// Number of I/Os issued.
    pub(super) ios: Option<u64>,
    pub(super) runtime_ms: Option<u64>,
    /// Bytes per second.
    pub(super) bandwidth: Option<Ranged>,
    pub(super) iops: Option<Ranged>,
    pub(super) short: u64,
}

/// Sums of all operations of a report, and its syncs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ReportSums {
    pub(super) ops: PerOp<OpSums>,
    pub(super) syncs: u64,
    pub(super) kilo: Kilo,
}

impl ReportSums {
    pub(super) fn of(report: &ReportedBlock) -> ReportSums {
        let kilo = kilo_of(report);
        let mut sums = ReportSums {
            kilo,
            ..ReportSums::default()
        };
        let issued = report.part("issued");
        let count = |name: &str, letter: &str| {
            issued.and_then(|block| block.whole(&format!("{name} {letter}")))
        };
        for (op, letter) in Op::ALL.into_iter().zip(["r", "w", "t"]) {
            let Some(block) = report.part(op.name()) else {
                continue;
            };
            let ranged = |name: &str| block.get(name).and_then(|figure| Ranged::of(figure, kilo));
            sums.ops[op] = OpSums {
                bytes: ranged("io"),
                ios: count("total", letter),
                runtime_ms: ranged("runt").map(|time| (time.value / 1e6).round() as u64),
                bandwidth: ranged("BW"),
                iops: ranged("IOPS"),
                short: count("short", letter).unwrap_or(0),
            };
        }
        sums.syncs = count("total", "s").unwrap_or(0);
        sums
    }
}

impl OpSums {
    /// The block size as bytes divided by I/Os, if it is a whole number.
    pub(super) fn usual_block(&self) -> Option<Bytes> {
        let bytes = match self.ios.filter(|&n| n > 0) {
            Some(ios) => self.bytes?.value / ios as f64,
            None => self.bandwidth?.over(self.iops?)?.value,
        };
        let power = 2f64.powf(bytes.log2().round());
        let block = if (power / bytes - 1.0).abs() < 0.03 {
            power
        } else {
            (bytes / 512.0).round().max(1.0) * 512.0
        };
        (block.is_finite() && (1.0..=1e10).contains(&block)).then_some(Bytes(block as u64))
    }

    /// Completed I/Os: as printed, otherwise derived from the other figures.
    pub(super) fn completed(&self, block: &BlockSize) -> u64 {
        let by_size = || match block {
            BlockSize::Fixed(size) if size.0 > 0 => {
                Some((self.bytes?.value / size.0 as f64).round() as u64)
            }
            _ => None,
        };
        let by_rate = || Some((self.iops?.value * self.runtime_ms? as f64 / 1e3).round() as u64);
        self.ios.or_else(by_size).or_else(by_rate).unwrap_or(0)
    }

    /// Bytes transferred: I/Os times a fixed block size if that matches the rounded figure, otherwise as printed.
    pub(super) fn moved(&self, ios: u64, block: &BlockSize) -> u64 {
        let by_count = match block {
            BlockSize::Fixed(size) => ios.checked_mul(size.0),
            _ => None,
        };
        match (self.bytes, by_count) {
            (Some(printed), Some(exact))
                if self.short == 0 && printed.slack > 1.0 && near(printed, exact as f64) =>
            {
                exact
            }
            (Some(printed), _) => printed.value.round() as u64,
            (None, exact) => exact.unwrap_or(0),
        }
    }
}

/// Whether two figures agree within rounding. The tolerance is no larger, so that a sum that is off by one block does
/// not match.
fn near(printed: Ranged, exact: f64) -> bool {
    (printed.value - exact).abs() <= printed.slack * 1.001
}

/// Whether `KB`, `MB`, `GB` and so on are decimal or binary in a report.
///
/// Versions since 2.18 print each rate in both bases, `22.7MiB/s (23.8MB/s)`. Earlier ones print it once, without an
/// `i`, and mean multiples of 1024, unless `kb_base=1000` was set; then the figures only agree as multiples of 1000.
pub(super) fn kilo_of(report: &ReportedBlock) -> Kilo {
    let ops = || {
        report
            .blocks
            .iter()
            .filter(|block| op_named(&block.name).is_some() || block.name == "mixed")
    };
    let bare = |name: &str, block: &ReportedBlock| {
        block
            .get(name)
            .is_some_and(|figure| is_bare_prefix(&figure.unit))
    };
    let old = |block: &&ReportedBlock| {
        block.get("BW other").is_none() && (bare("BW", block) || bare("io", block))
    };
    if !ops().any(|block| old(&block)) {
        return Kilo::Si;
    }
    let issued = report.part("issued");
    let fit = |kilo: Kilo| {
        ops()
            .filter(old)
            .map(|block| op_fit(block, issued, kilo))
            .min()
    };
    if fit(Kilo::Si) > fit(Kilo::Binary) {
        Kilo::Si
    } else {
        Kilo::Binary
    }
}

/// Agreement between the figures of an operation in one base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// Bytes, time and rate contradict one another, or the I/O size is not a multiple of a sector.
    No,
    /// The figures agree.
    Sectors,
    /// The figures agree, and the I/O size is a power of two.
    PowerOfTwo,
}

/// Whether a unit such as `KB` or `MB/s` may use either base.
fn is_bare_prefix(unit: &str) -> bool {
    let bare = unit.strip_suffix("/s").unwrap_or(unit).trim_end();
    matches!(bare, "KB" | "MB" | "GB" | "TB" | "PB" | "EB")
}

fn op_fit(block: &ReportedBlock, issued: Option<&ReportedBlock>, kilo: Kilo) -> Fit {
    let ranged = |name: &str| block.get(name).and_then(|figure| Ranged::of(figure, kilo));
    let near = |a: Ranged, b: Ranged| {
        (a.value - b.value).abs() <= a.slack + b.slack + a.value.max(b.value) * 2e-3
    };
    let seconds = ranged("runt").map(|time| time.times(1e-9));
    let rate = ranged("io")
        .zip(seconds)
        .and_then(|(bytes, time)| bytes.over(time));
    if rate
        .zip(ranged("BW"))
        .is_some_and(|(follows, stated)| !near(follows, stated))
    {
        return Fit::No;
    }
    let letter = op_named(&block.name).map(|op| ["r", "w", "t"][op as usize]);
    let ios = letter
        .and_then(|letter| issued?.whole(&format!("total {letter}")))
        .filter(|&n| n > 0);
    let Some((ios, bytes)) = ios.zip(ranged("io")) else {
        return Fit::Sectors;
    };
    let (size, slack) = (bytes.value / ios as f64, bytes.slack / ios as f64);
    let is_near = |other: f64| (other - size).abs() <= slack.max(size * 1e-6);
    match () {
        () if is_near(2f64.powf(size.log2().round())) => Fit::PowerOfTwo,
        () if is_near((size / 512.0).round() * 512.0) => Fit::Sectors,
        () => Fit::No,
    }
}

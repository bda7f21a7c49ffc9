//! Bandwidth and IOPS of one row must agree: units that stand for others, figures that are cut off, contradictions.

use super::{PublishedRow, implied, job_of};
use hakaru_model::finding::Estimate;
use hakaru_report::both;

/// Minimum IOPS for checking a unit; below it, rounding is too coarse.
const TELLING_IOPS: f64 = 100.0;

/// What a published unit may stand for: bytes of a binary unit by those of the decimal one, the usual one first. Figures
/// in thousands of KiB are published as MB, too.
const BINARY_UNITS: [(&str, &[f64]); 3] = [
    ("MB/s", &[1_048_576.0 / 1e6, 1.024]),
    ("KB/s", &[1.024]),
    ("kB/s", &[1.024]),
];

/// Converts figures in decimal units that are binary according to the IOPS in the same rows, and reports the units.
pub(super) fn units(rows: &mut [PublishedRow<'_>]) -> Vec<String> {
    let mut notes = Vec::new();
    for (unit, factors) in BINARY_UNITS {
        let binary = factors[0];
        let in_unit = rows
            .iter()
            .filter(|row| row.unit == unit && row.iops.mean >= TELLING_IOPS);
        let ratios: Vec<f64> = in_unit
            .filter_map(|row| Some(implied(row)? / row.bandwidth.mean))
            .collect();
        let Some(ratio) = hakaru_analysis::stats::median(&ratios) else {
            continue;
        };
        if (ratio / binary - 1.0).abs() < 0.01 && (ratio - 1.0).abs() > 0.01 {
            let real = unit
                .replace("MB", "MiB")
                .replace("KB", "KiB")
                .replace("kB", "KiB");
            for row in rows.iter_mut().filter(|row| row.unit == unit) {
                let factor = stands_for(row, factors);
                scale(&mut row.bandwidth, factor);
            }
            // The factor between the units: that of the figures differs from it by their rounding.
            let more = (binary - 1.0) * 100.0;
            notes.push(both!(
                "The published figures in {unit} are {real} according to the IOPS beside them, and are converted: \
                they are about {more:.1}% larger here",
                "公表値の単位{unit}は併記のIOPSから見ると{real}。換算したため、ここでは公表値より約{more:.1}%大きい"
            ));
        }
    }
    notes
}

/// Most that is cut off whole IOPS: up to 1 from each run, and up to 1 from their mean.
const MOST_CUT_OFF: f64 = 2.0;

/// Computes IOPS below [`TELLING_IOPS`] from the bandwidth beside them where both agree: tables have whole numbers,
/// which fio cuts off, so that 0.33 IOPS are printed as 0 and 18.6 as 18.
pub(super) fn whole_iops(rows: &mut [PublishedRow<'_>]) -> Option<String> {
    let mut replaced = false;
    for row in rows {
        let Some((job, op)) = job_of(row.workload) else {
            continue;
        };
        let per_io = (job.block[op].max().0 as f64).recip();
        let from_bandwidth = row.bandwidth.mean * per_io;
        let is_whole = row.iops.mean.fract() == 0.0 && row.iops.mean < TELLING_IOPS;
        let slack = row.bandwidth.rounding * per_io;
        let agrees = (-slack..MOST_CUT_OFF + slack).contains(&(from_bandwidth - row.iops.mean));
        if is_whole && agrees {
            row.iops = row.bandwidth.clone();
            scale(&mut row.iops, per_io);
            replaced = true;
        }
    }
    replaced.then(|| {
        both!(
            "Published IOPS below 100 lack decimals: they are computed from the bandwidth beside them",
            "100未満の公表IOPSは小数部が切り捨てられているため、併記のスループットから計算"
        )
    })
}

/// Returns the factor that brings the bandwidth of a row closest to its IOPS; the usual one if they are too few to tell.
fn stands_for(row: &PublishedRow<'_>, factors: &[f64]) -> f64 {
    let ratio = implied(row).map(|implied| implied / row.bandwidth.mean);
    let Some(ratio) = ratio.filter(|_| row.iops.mean >= TELLING_IOPS) else {
        return factors[0];
    };
    let distance = |factor: &f64| (ratio / factor).ln().abs();
    let nearest = factors
        .iter()
        .copied()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.unwrap_or(1.0)
}

/// Multiplies an estimate by a factor.
fn scale(of: &mut Estimate, factor: f64) {
    for value in [
        &mut of.mean,
        &mut of.median,
        &mut of.mad,
        &mut of.min,
        &mut of.max,
        &mut of.rounding,
    ] {
        *value *= factor;
    }
    of.values.iter_mut().for_each(|value| *value *= factor);
    of.deviation = of.deviation.map(|deviation| deviation * factor);
    of.ci95 = of.ci95.map(|(low, high)| (low * factor, high * factor));
}

/// Maximum factor between bandwidth and IOPS that rounding, or decimal prefixes for binary units, can explain.
const AGREES: f64 = 1.25;

/// Returns the mistake that explains a factor between bandwidth and IOPS, if one is likely.
fn likely_mistake(factor: f64) -> String {
    let near = |of: f64| (factor / of - 1.0).abs() < 0.06;
    if near(1000.0) || near(1024.0) {
        both!(
            ", as if KB/s and MB/s were swapped",
            "（KB/sとMB/sの取り違えか）"
        )
    } else if near(8.0) {
        both!(
            ", as if bits were taken for bytes",
            "（ビットとバイトの取り違えか）"
        )
    } else {
        String::new()
    }
}

/// Reports a row whose bandwidth and IOPS contradict each other with any prefix of its unit.
pub(super) fn contradiction(row: &PublishedRow<'_>) -> Option<String> {
    let PublishedRow {
        card,
        layer,
        printed,
        unit,
        bandwidth,
        iops,
        workload,
        ..
    } = row;
    let ratio = Some(implied(row)? / bandwidth.mean)
        .filter(|ratio| ratio.is_finite() && iops.mean >= TELLING_IOPS)?;
    let times = ratio.max(ratio.recip());
    if times <= AGREES {
        return None;
    }
    let hint = likely_mistake(times);
    Some(both!(
        "{card}, {layer}, {}: {printed} {unit} and {} IOPS contradict each other by a factor of \
        {times:.1}{hint}; both are shown as published",
        "{card}、{layer}、{}: {printed} {unit}と{} IOPSに{times:.1}倍の矛盾{hint}。どちらも公表どおりに表示";
        workload.name,
        iops.mean
    ))
}

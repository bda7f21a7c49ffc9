//! Trends of a history: their layers and fill levels, what their comparisons prove, and retries of several hosts.

use super::*;
use hakaru_model::campaign::CampaignPoint;
use hakaru_model::facts::TargetKind;

fn filesystem(size: u64, free: u64) -> Filesystem {
    Filesystem {
        fs_type: "ext4".to_owned(),
        mount_point: "/mnt".into(),
        source: "/dev/mmcblk0p1".to_owned(),
        options: String::new(),
        size: Bytes(size),
        free: Bytes(free),
    }
}

/// The layer is that of the campaign, else the file system, else raw; each has its own trend.
#[test]
fn each_layer_has_its_own_trend() {
    let mut records = monthly(&[900.0, 800.0, 700.0, 600.0, 500.0, 400.0]);
    let of_campaign = |layer: &str| {
        Some(CampaignPoint {
            layer: layer.to_owned(),
            ..CampaignPoint::default()
        })
    };
    records[1].target.filesystem = Some(filesystem(1_000, 500));
    records[2].target.filesystem = Some(filesystem(1_000, 500));
    records[2].campaign = of_campaign("luks");
    records[3].target.kind = TargetKind::File;
    records[4].campaign = of_campaign("raw");
    records[5].target.filesystem = Some(filesystem(1_000, 500));
    let found = history(&records, &[], &[]);
    let series = |trend: &Trend| -> Vec<String> {
        let points = trend.points.iter();
        points.map(|point| point.series.clone()).collect()
    };
    let trends: Vec<(&str, Vec<String>)> = found
        .trends
        .iter()
        .map(|trend| (trend.layer.as_str(), series(trend)))
        .collect();
    let named = |months: &[u32]| -> Vec<String> {
        let names = months.iter().map(|month| format!("series-{month}"));
        names.collect()
    };
    let wanted = [
        ("raw", named(&[0, 4])),
        ("ext4", named(&[1, 5])),
        ("luks", named(&[2])),
        ("", named(&[3])),
    ];
    assert_eq!(trends, wanted);
}

/// A file system without a size has no fill level.
#[test]
fn the_fill_level_is_the_used_share_in_percent() {
    for (size, free, percent) in [
        (0, 0, None),
        (0, 5, None),
        (1, 0, Some(100)),
        (1_000, 250, Some(75)),
        (1_000, 246, Some(75)),
        (1_000, 1_000, Some(0)),
        (1_000, 2_000, Some(0)),
    ] {
        let found = used_percent(&filesystem(size, free));
        assert_eq!(found, percent, "{free} of {size}");
    }
}

/// A trend of six series, with these figures instead of those of its comparison.
fn compared(change: impl Fn(&mut Comparison)) -> Trend {
    let mut found = history(
        &monthly(&[900.0, 905.0, 895.0, 600.0, 604.0, 598.0]),
        &[],
        &[],
    );
    let mut trend = found.trends.remove(0);
    change(trend.comparison.as_mut().unwrap());
    trend
}

/// The later rate must be lower, proven, and not proven to be within the margin of equivalence.
#[test]
fn only_a_proven_relevant_fall_is_slower() {
    let (different, open) = (Verdict::Different, Verdict::Undecided { needed: None });
    for (verdict, ratio, p_equivalence, slower) in [
        (different, 0.8, Some(0.9), true),
        (different, 0.999, Some(0.06), true),
        (different, 0.8, None, true),
        (different, 0.999, Some(0.05), false),
        (different, 1.0, Some(0.9), false),
        (different, 1.2, Some(0.9), false),
        (open, 0.8, Some(0.9), false),
        (Verdict::Equivalent, 0.999, Some(0.01), false),
    ] {
        let trend = compared(|comparison| {
            comparison.verdict = verdict;
            comparison.ratio = ratio;
            comparison.p_equivalence = p_equivalence;
        });
        let found = is_slower(&trend);
        assert_eq!(found, slower, "{verdict:?} {ratio} {p_equivalence:?}");
    }
}

/// Equivalence excludes a fall by more than 5%, and so does an interval that begins at 1/1.05 = 0.95238 or above.
#[test]
fn a_rate_keeps_up_if_a_relevant_fall_is_excluded() {
    for (interval, p_equivalence, keeps) in [
        (Some((0.9, 1.0)), Some(0.06), false),
        (Some((0.9523, 1.3)), Some(0.9), false),
        (Some((0.9524, 1.3)), Some(0.9), true),
        (Some((0.9524, 1.3)), None, true),
        (Some((0.99, 1.3)), Some(0.9), true),
        (Some((1.02, 1.3)), Some(0.9), true),
        (Some((0.9, 1.0)), Some(0.05), true),
        (Some((0.96, 1.0)), Some(0.01), true),
        (None, Some(0.01), true),
        (None, Some(0.9), false),
        (None, None, false),
    ] {
        let trend = compared(|comparison| {
            comparison.ratio_ci95 = interval;
            comparison.p_equivalence = p_equivalence;
        });
        let found = keeps_up(trend.comparison.as_ref().unwrap());
        assert_eq!(found, keeps, "{interval:?} {p_equivalence:?}");
    }
}

/// Writes that became faster are well, although they are not equivalent.
#[test]
fn a_card_whose_writes_become_faster_is_well() {
    let records = monthly(&[900.0, 905.0, 895.0, 1_200.0, 1_204.0, 1_198.0]);
    let found = history(&records, &[verification(0)], &[]);
    assert_eq!((found.outlook, found.signs.len()), (Outlook::NoSign, 0));
    let more = |proof: &MissingProof| matches!(proof, MissingProof::MoreSeries { .. });
    assert!(!found.missing.iter().any(more), "{:?}", found.missing);
}

#[test]
fn a_trend_needs_four_series() {
    for count in 0..=6 {
        let found = history(&monthly(&vec![900.0; count]), &[], &[]);
        let wanted = MissingProof::Series {
            have: count as u32,
            needed: 4,
        };
        assert_eq!(found.missing.contains(&wanted), count < 4, "{count}");
        let compared = found.trends.iter().any(|trend| trend.comparison.is_some());
        assert_eq!(compared, count >= 4, "{count}");
    }
}

/// Runs of one host with one kernel are comparable.
#[test]
fn one_host_and_one_kernel_are_no_caveat() {
    let mut records = monthly(&[900.0, 900.0]);
    for (kernels, caveat) in [
        (["6.12", "6.12"], None),
        (["", "6.12"], None),
        (["6.12", "6.6"], Some(["6.12", "6.6"])),
    ] {
        for (record, kernel) in records.iter_mut().zip(kernels) {
            record.environment.kernel = kernel.to_owned();
        }
        let names = caveat.map(|names| names.map(str::to_owned).to_vec());
        let found = history(&records, &[], &[]).caveats;
        let of_kernels: Vec<&HistoryCaveat> = found
            .iter()
            .filter(|caveat| {
                matches!(
                    caveat,
                    HistoryCaveat::Kernels { .. } | HistoryCaveat::Hosts { .. }
                )
            })
            .collect();
        let wanted = names.map(|names| HistoryCaveat::Kernels { names });
        assert_eq!(of_kernels, Vec::from_iter(&wanted), "{kernels:?}");
    }
}

/// Without retries at first, k retries later have a probability of 1/2ᵏ. The limit is 2.5% divided by the number of
/// hosts.
#[test]
fn retries_are_tested_at_a_level_divided_by_the_hosts() {
    for (hosts, retries, proven) in [
        // 2.5%: 1/32 is 3.1%, and 1/64 is 1.6%.
        (1, 5, false),
        (1, 6, true),
        // 1.25%: 1/128 is 0.78%.
        (2, 6, false),
        (2, 7, true),
        // 0.83%
        (3, 6, false),
        (3, 7, true),
        // 0.625%: 1/256 is 0.39%.
        (4, 7, false),
        (4, 8, true),
    ] {
        for worn in [0, hosts - 1] {
            // Two series of each host, then one of a host that therefore has no test.
            let mut records = monthly(&vec![900.0; 2 * hosts + 1]);
            for (i, record) in records.iter_mut().enumerate() {
                let host = i / 2;
                record.environment.hostname = format!("pi{host}");
                let newest = if host == worn { retries } else { 0 };
                trace(record, newest * (i % 2) as u64);
            }
            let found = history(&records, &[], &[]).signs;
            let sign = WearSign::MoreRetries {
                first: 0.0,
                last: 1_000.0 * retries as f64,
            };
            let wanted = Vec::from_iter(proven.then_some(sign));
            assert_eq!(found, wanted, "{hosts} hosts, {retries} retries on {worn}");
        }
    }
}

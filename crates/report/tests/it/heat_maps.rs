//! Heat maps of latency over time: which ones a report has, their titles and their data.

use crate::charts::title;
use crate::support;
use hakaru_model::finding::{LatencyMap, LatencyMapColumn, SlowIos, SlowWhen};
use hakaru_model::record::LatencyStepCounts;
use hakaru_model::units::Nanos;
use hakaru_report::{Chart, Language, Section, campaign_charts, charts, with_language};

fn latency_map(slow: Option<SlowIos>) -> LatencyMap {
    let column = |nth: u32| LatencyMapColumn {
        from_s: f64::from(nth),
        to_s: f64::from(nth) + 1.0,
        counts: LatencyStepCounts::of([
            (16, 900),
            (18, u64::from(nth % 4)),
            (
                28,
                u64::from(slow.is_some() && nth > 40 && nth.is_multiple_of(5)),
            ),
        ]),
    };
    LatencyMap {
        runs: 2,
        columns: (0..60).map(column).collect(),
        limit: Some(Nanos(5_623_000)),
        slow,
    }
}

#[test]
fn a_campaign_has_a_heat_map_of_each_card_with_slow_ios() {
    let mut campaign = support::campaign::campaign();
    let slow = |count| SlowIos {
        from: Nanos::from_secs(1),
        count,
        when: SlowWhen::After(40.0),
    };
    // Of one card, through the layer of the answer: the workload with the most slow I/Os is drawn.
    let phases = &mut campaign.cards[1].layers[0].summary.phases;
    for (phase, count) in [("rand-write", 12), ("seq-write", 3)] {
        let phase = phases.iter_mut().find(|of| of.phase == phase).unwrap();
        phase.detail.latency_map = Some(latency_map(Some(slow(count))));
    }
    phases[0].detail.sync_map = Some(latency_map(None));
    let charts = campaign_charts(&campaign);
    let maps = charts
        .iter()
        .filter(|chart| chart.section == Section::Latency && chart.name.contains("-over-time-"));
    let maps: Vec<&Chart> = maps.collect();
    let titles: Vec<String> = maps.iter().map(|chart| title(chart)).collect();
    let wanted = "sandisk, random writes: 12 I/Os took 1 s or longer, all after 40.0 s";
    assert_eq!(titles, [wanted]);
    assert!(maps[0].csv().contains("\n45,46,1000000000,1778000000,1\n"));
    let page = hakaru_report::campaign_html(&campaign);
    assert!(page.contains("Latency over time, as heat maps</summary>") && page.contains(wanted));
    let none = hakaru_report::campaign_html(&support::campaign::campaign());
    assert!(!none.contains("as heat maps"));
}

#[test]
fn latency_over_time_is_a_heat_map_with_its_finding() {
    let mut summary = support::sandisk();
    let slow = SlowIos {
        from: Nanos::from_secs(1),
        count: 12,
        when: SlowWhen::After(40.0),
    };
    summary.phases[3].detail.latency_map = Some(latency_map(Some(slow)));
    summary.phases[3].detail.sync_map = Some(latency_map(None));
    let drawn = || charts(std::slice::from_ref(&summary));
    let all = drawn();
    let maps: Vec<&Chart> = all
        .iter()
        .filter(|chart| chart.name.contains("-over-time-"))
        .collect();
    let maps: Vec<&Chart> = maps
        .into_iter()
        .filter(|chart| chart.section == Section::Latency)
        .collect();
    assert_eq!(maps.len(), 2);
    let (map, sync) = (title(maps[0]), title(maps[1]));
    assert!(
        map.ends_with("12 I/Os took 1 s or longer, all after 40.0 s"),
        "{map}"
    );
    assert!(sync.ends_with("no fsync took 5.62 ms or longer"), "{sync}");
    let svg = maps[0].svg(720);
    assert!(svg.contains("2 runs together") && svg.contains(">1 s or longer</text>"));
    let csv = maps[0].csv();
    assert!(
        csv.starts_with("from_s,to_s,latency_from_ns,latency_to_ns,ios\n0,1,1000000,1778000,900\n")
    );
    assert!(csv.contains("\n45,46,1000000000,1778000000,1\n"), "{csv}");
    let page = hakaru_report::html(std::slice::from_ref(&summary));
    assert!(page.contains("Latency over time, as heat maps</summary>"));
    let japanese = with_language(Language::Japanese, || {
        let found = drawn();
        let found = found.iter().find(|chart| chart.name == maps[0].name);
        title(found.unwrap())
    });
    assert!(
        japanese.ends_with("1 s以上が12件（すべて40.0秒以降）"),
        "{japanese}"
    );
}

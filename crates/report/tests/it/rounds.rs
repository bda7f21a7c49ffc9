//! Charts of rounds that end in steady state, of write saturation, and of speeds over time that are known as ranges.

use crate::support;
use hakaru_model::campaign::CampaignSummary;
use hakaru_model::finding::{RoundMeans, RoundPoint, Rounds, RunLatency, SteadyWindow, Sustained};
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};
use hakaru_report::{Chart, Language, campaign_charts, charts, with_language};

/// A workload whose speed falls for two rounds and is then even.
fn point(read_percent: u32, block: u64, in_flight: u32) -> RoundPoint {
    let level = 1e7 * f64::from(read_percent + 10) / 60.0 * (block as f64 / 4096.0).sqrt();
    let bandwidth: Vec<f64> = [2.0, 1.5, 1.01, 0.99, 1.0, 1.0, 1.0]
        .map(|share| share * level)
        .to_vec();
    let latency = RunLatency {
        mean_ns: 1e9 * block as f64 / level,
        max: Nanos(50_000_000 + block),
    };
    RoundPoint {
        phase: format!("r{read_percent}-{block}"),
        watched: (read_percent, block) == (0, 4096),
        random: true,
        read_percent,
        block: Bytes(block),
        in_flight,
        iops: bandwidth.iter().map(|b| b / block as f64).collect(),
        latency: vec![latency; bandwidth.len()],
        window: Some(SteadyWindow {
            first_round: 2,
            rounds: 5,
            average: level,
            excursion: 0.02,
            slope: -0.004,
        }),
        means: RoundMeans {
            iops: level / block as f64,
            bandwidth: level,
            latency: Some(latency),
        },
        bandwidth,
    }
}

fn campaign(points: Vec<RoundPoint>, steady: bool) -> CampaignSummary {
    let mut summary = support::campaign::campaign();
    summary.cards.truncate(1);
    summary.cards[0].layers.truncate(1);
    summary.rounds = vec![Rounds {
        card: 0,
        layer: "raw".to_owned(),
        measured: 7,
        at_most: 25,
        steady,
        points,
    }];
    summary
}

fn mixes(in_flight: u32) -> Vec<RoundPoint> {
    let blocks = [512, 4096, 65536];
    let all = [100, 65, 0]
        .into_iter()
        .flat_map(|mix| blocks.map(|block| (mix, block)));
    all.map(|(mix, block)| point(mix, block, in_flight))
        .collect()
}

fn find<'c>(all: &'c [Chart], name: &str) -> &'c Chart {
    let names: Vec<&str> = all.iter().map(|chart| chart.name.as_str()).collect();
    let found = all.iter().find(|chart| chart.name == name);
    found.unwrap_or_else(|| panic!("no {name} among {names:?}"))
}

fn has(chart: &Chart, words: &[&str]) {
    for width in [350, 720, 1200] {
        let svg = chart.svg(width);
        for word in words {
            assert!(svg.contains(word), "{word} is not in {svg}");
        }
    }
}

#[test]
fn rounds_have_their_measurement_window_and_their_tables() {
    let all = campaign_charts(&campaign(mixes(32), true));
    let window = find(&all, "rounds-r0-4096");
    let title = "Random writes of 4 KiB: steady at 407 IOPS in rounds 3 to 7";
    has(window, &[title, "mean", "Round"]);
    let wide = window.svg(1200);
    assert!(wide.contains("+10%") && wide.contains("−10%"), "{wide}");
    has(
        find(&all, "rounds-all-0-reads"),
        &["7 rounds by block size"],
    );
    let table = find(&all, "steady-iops");
    has(
        table,
        &["IOPS, in steady state: from", "Block size", "65% reads"],
    );
    // The means of all runs, and the sweeps through them, would contradict the measurement window.
    let others =
        |chart: &&Chart| chart.name.contains("sweep") || chart.name.starts_with("speed-rand");
    assert_eq!(all.iter().find(others).map(|chart| &chart.name), None);
    let japanese = with_language(Language::Japanese, || {
        campaign_charts(&campaign(mixes(32), true))
    });
    let window = find(&japanese, "rounds-r0-4096");
    with_language(Language::Japanese, || {
        has(
            window,
            &["ランダム書き込み 4 KiB: ラウンド3〜7で定常状態", "平均"],
        );
    });
}

#[test]
fn one_io_in_flight_has_mean_and_maximum_latency() {
    let all = campaign_charts(&campaign(mixes(1), true));
    has(
        find(&all, "steady-mean-latency"),
        &["Mean latency, in steady state"],
    );
    has(
        find(&all, "steady-maximum-latency"),
        &["Maximum latency, in steady state"],
    );
    assert!(all.iter().all(|chart| chart.name != "steady-iops"));
}

#[test]
fn rounds_that_are_not_steady_say_so() {
    let all = campaign_charts(&campaign(mixes(32), false));
    has(find(&all, "rounds-r0-4096"), &["not steady after 7 rounds"]);
    has(find(&all, "steady-iops"), &["IOPS, not yet steady"]);
    let mut few = mixes(32);
    for point in &mut few {
        point.window = None;
    }
    let all = campaign_charts(&campaign(few, false));
    has(
        find(&all, "rounds-r0-4096"),
        &["five are needed for steady state"],
    );
}

#[test]
fn sequential_rounds_are_throughput() {
    let mut points = vec![point(0, 1 << 20, 32), point(100, 1 << 20, 32)];
    for point in &mut points {
        point.random = false;
        point.watched = true;
    }
    let all = campaign_charts(&campaign(points, true));
    has(
        find(&all, "steady-throughput"),
        &["Throughput, in steady state: from", "MB/s"],
    );
    has(
        find(&all, "rounds-r0-1048576"),
        &["Sequential writes of 1 MiB: steady at"],
    );
}

#[test]
fn writes_over_the_whole_device_have_iops_over_time() {
    let mut summary = support::campaign::campaign();
    summary.cards.truncate(1);
    let layer = &mut summary.cards[0].layers[0];
    let size = layer.summary.target.device.known().unwrap().size.0;
    let phases = &mut layer.summary.phases;
    let phase = phases.iter_mut().find(|phase| phase.phase == "rand-write");
    let phase = phase.unwrap();
    let mut line = phase.timelines[0][0];
    phase.timelines = vec![
        (1..400)
            .map(|nth| {
                line.at_s = f64::from(nth);
                line.iops = if nth < 100 { 2000.0 } else { 500.0 };
                line.bandwidth = BytesPerSec(line.iops * 4096.0);
                line
            })
            .collect(),
    ];
    phase.detail.moved = Bytes(4 * size);
    let mut shape = phase.detail.shape.unwrap_or_default();
    shape.random = true;
    phase.detail.shape = Some(shape);
    let all = campaign_charts(&summary);
    let found = all
        .iter()
        .find(|chart| chart.name.starts_with("saturation-"));
    has(
        found.unwrap(),
        &["2,000 IOPS in the first tenth of the run, 500 in the last"],
    );
}

/// Programs that print no intervals print their range.
#[test]
fn speeds_over_time_without_intervals_have_their_range() {
    let mut summary = support::sandisk();
    summary.phases.truncate(1);
    let phase = &mut summary.phases[0];
    phase.timelines.clear();
    // Regression: the mean of the intervals, as other programs print it, stood beside the bytes by time of all other
    // charts, and both were called the mean.
    phase.bandwidth.mean = 31.2e6;
    let [min, max, mean, deviation] = [29.4e6, 37.7e6, 32.8e6, 1.3e6].map(BytesPerSec);
    phase.sustained = Some(Sustained {
        min,
        max,
        mean,
        deviation,
        interval: Some(Nanos(502_000_000)),
        cliff: None,
        falls: Vec::new(),
        swing: None,
    });
    let all = charts(&[summary]);
    let found = all
        .iter()
        .find(|chart| chart.name.starts_with("spread-over-time-"));
    has(
        found.unwrap(),
        &[
            "slowest interval 29.4 MB/s, 94% of its mean",
            "of the intervals, each about 500 ms;",
            "31.2",
            "29.4 to 37.7",
        ],
    );
}

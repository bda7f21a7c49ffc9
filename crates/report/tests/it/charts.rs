//! The charts of sweeps, campaigns and comparisons: their form, titles, themes and data.
//!
//! With `HAKARU_LOOK=/some/folder` the charts are written to this directory for inspection.

use crate::support;
use hakaru_model::caveat::Caveat;
use hakaru_model::facts::Filesystem;
use hakaru_model::finding::{JobDescription, Summary, WorkloadShape};
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;
use hakaru_report::{
    Chart, ChartStyle, ChartTheme, Language, Section, campaign_charts, charts, comparison_charts,
    with_language,
};
use std::sync::Arc;

/// A series whose only phase has this shape; `factor` scales its speed.
fn point(shape: WorkloadShape, factor: f64) -> Summary {
    let mut summary = support::sandisk();
    summary.phases.retain(|phase| phase.phase == "rand-read");
    let phase = &mut summary.phases[0];
    phase.phase = format!("read-{}-{}-{}", shape.block.0, shape.iodepth, shape.workers);
    phase.detail.shape = Some(shape);
    for estimate in [&mut phase.bandwidth, &mut phase.iops] {
        for value in &mut estimate.values {
            *value *= factor;
        }
        estimate.mean *= factor;
        estimate.deviation = estimate.deviation.map(|d| d * factor);
        estimate.ci95 = estimate
            .ci95
            .map(|(low, high)| (low * factor * 0.97, high * factor * 1.03));
    }
    summary
}

fn shape(block: u64, iodepth: u32, workers: u32) -> WorkloadShape {
    WorkloadShape {
        random: true,
        read_percent: 100,
        block: Bytes(block),
        iodepth,
        workers,
        direct: true,
        ..WorkloadShape::default()
    }
}

/// One series with all phases of these.
fn joined(points: Vec<Summary>) -> Summary {
    let mut all = points[0].clone();
    all.phases = points.into_iter().flat_map(|point| point.phases).collect();
    all
}

fn block_sizes() -> Summary {
    let blocks = (0..9u32).map(|nth| {
        let factor = 18.0 * (1.0 - (-f64::from(nth + 1) / 3.0).exp());
        point(shape(4096 << nth, 1, 1), factor)
    });
    joined(blocks.collect())
}

fn depths_and_jobs() -> Summary {
    let all = [1, 4, 16].into_iter().flat_map(|jobs| {
        (0..6).map(move |nth| {
            let depth = 1 << nth;
            let load = f64::from(depth * jobs);
            point(shape(4096, depth, jobs), 6.0 * load / (load + 9.0))
        })
    });
    joined(all.collect())
}

fn named<'c>(all: &'c [Chart], prefix: &str) -> &'c Chart {
    let found = all.iter().find(|chart| chart.name.starts_with(prefix));
    found.unwrap_or_else(|| panic!("no {prefix} among {:?}", names(all)))
}

fn names(all: &[Chart]) -> Vec<&str> {
    all.iter().map(|chart| chart.name.as_str()).collect()
}

/// The title of a chart, as its document has it.
pub(crate) fn title(chart: &Chart) -> String {
    let document = chart.svg(720);
    let (_, from) = document.split_once("-t\">").unwrap();
    from.split_once("</title>").unwrap().0.to_owned()
}

#[test]
fn block_sizes_are_a_line_instead_of_bars() {
    let all = charts(&[block_sizes()]);
    let sweep = named(&all, "sweep-block-size-random-reads");
    assert_eq!(sweep.section, Section::Speed);
    let title = title(sweep);
    assert!(
        title.starts_with("Random reads: from ") && title.contains(" MB/s at 4 KiB to "),
        "{title}"
    );
    let csv = sweep.csv();
    assert_eq!(csv.lines().count(), 10);
    assert!(csv.starts_with("Block size,"), "{csv}");
    assert!(!names(&all).contains(&"bandwidth") && !names(&all).contains(&"iops"));
    named(&all, "sweep-block-size-latency-");
}

#[test]
fn depths_and_jobs_are_one_line_for_each_number_of_jobs() {
    let all = charts(&[depths_and_jobs()]);
    let sweep = named(&all, "sweep-queue-depth-random-reads");
    let csv = sweep.csv();
    let head = csv.lines().next().unwrap();
    assert_eq!(
        head,
        "Queue depth,\"1 job, IOPS\",\"4 jobs, IOPS\",\"16 jobs, IOPS\""
    );
    assert_eq!(csv.lines().count(), 7);
}

/// Series on a file system of increasing use are one sweep; with two levels, they remain bars.
#[test]
fn fill_levels_are_recognized_over_series() {
    let level = |used: u64| {
        let mut summary = point(shape(4096, 1, 1), 1.0 - used as f64 / 300.0);
        summary.target.filesystem = Some(Filesystem {
            fs_type: "ext4".into(),
            mount_point: "/mnt".into(),
            source: "/dev/sdb1".into(),
            options: String::new(),
            size: Bytes(100 << 30),
            free: Bytes((100 - used) << 30),
        });
        summary.series = format!("at-{used}");
        summary
    };
    let all = charts(&[level(10), level(50), level(90)]);
    assert!(named(&all, "sweep-fill-level-").csv().contains("\n90,"));
    assert!(!names(&all).contains(&"iops"));
    let two = charts(&[level(10), level(90)]);
    assert!(
        names(&two).contains(&"iops") && !names(&two).iter().any(|name| name.starts_with("sweep"))
    );
}

/// Results on several dates are a line, and bars as well: each is also a result of its own.
#[test]
fn dates_are_a_line_besides_the_bars() {
    let on = |day: i64| {
        let mut summary = point(shape(4096, 1, 1), 1.0 - day as f64 / 500.0);
        summary.started_unix_ms += day * 86_400_000;
        summary.series = format!("day-{day}");
        summary
    };
    let all = charts(&[on(0), on(31), on(120)]);
    assert!(named(&all, "sweep-date-").csv().contains("\n2026-02-05,"));
    assert!(names(&all).contains(&"iops"));
}

/// Two results at one position differ in something that is not known, so they are not points of one line.
#[test]
fn equal_positions_are_no_sweep() {
    let mut twice = joined(vec![
        point(shape(4096, 1, 1), 1.0),
        point(shape(8192, 1, 1), 1.5),
        point(shape(16384, 1, 1), 2.0),
        point(shape(16384, 1, 1), 1.0),
    ]);
    twice.phases[3].phase = "other".into();
    let all = charts(&[twice]);
    assert!(
        !names(&all).iter().any(|name| name.starts_with("sweep")),
        "{:?}",
        names(&all)
    );
}

#[test]
fn campaigns_order_cards_and_state_findings() {
    let all = campaign_charts(&support::campaign::campaign());
    let speed = named(&all, "speed-rand-write");
    let csv = speed.csv();
    let head = "name,series,unit,mean,deviation,n,letters";
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some(head));
    // Each figure has a column of its own, so that programs need not take text apart.
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        assert!(
            ["Raw device", "vfat (FAT32)"].contains(&cells[1]) && cells[2] == "IOPS",
            "{line}"
        );
        assert!(
            cells[3..6].iter().all(|cell| cell.parse::<f64>().is_ok()),
            "{line}"
        );
        assert!(!cells[6].is_empty(), "{line}");
    }
    assert!(csv.lines().count() > 4, "{csv}");
    let document = speed.svg(720);
    assert!(document.contains("same letter"), "letters are explained");
    assert!(
        named(&all, "cost-vfat-")
            .svg(720)
            .contains("a4.5 4.5 0 1 1")
    );
    let falls = named(&all, "over-time-sustained");
    assert!(title(falls).contains("fall"), "{}", title(falls));
}

/// Regression: bars of single runs had the letter `a`, as if a likeness had been shown.
#[test]
fn single_runs_have_no_letters() {
    let mut campaign = support::campaign::campaign();
    for layer in campaign.cards.iter_mut().flat_map(|card| &mut card.layers) {
        for phase in &mut layer.summary.phases {
            phase.bandwidth.values.truncate(1);
            phase.iops.values.truncate(1);
        }
    }
    let all = campaign_charts(&campaign);
    let speed = named(&all, "speed-rand-write");
    assert!(speed.csv().lines().skip(1).all(|line| line.ends_with(',')));
    assert!(!speed.svg(720).contains("same letter"));
}

/// A card in two hosts is one row with a bar for each host.
#[test]
fn cards_in_two_hosts_have_a_bar_for_each() {
    let mut campaign = support::campaign::campaign();
    let both = campaign.cards.clone().into_iter().map(|mut card| {
        card.host = "zero".into();
        card
    });
    let both: Vec<_> = both.collect();
    campaign.cards.extend(both);
    for card in &mut campaign.cards {
        card.layers.truncate(1);
    }
    let all = campaign_charts(&campaign);
    let csv = named(&all, "speed-rand-write").csv();
    let rows = csv
        .lines()
        .skip(1)
        .map(|line| line.split(',').take(2).collect::<Vec<_>>());
    let rows: Vec<Vec<&str>> = rows.collect();
    let wanted = [
        ["kingston", "pi4"],
        ["kingston", "zero"],
        ["sandisk", "pi4"],
        ["sandisk", "zero"],
    ];
    assert_eq!(rows, wanted);
    let page = hakaru_report::campaign_html(&campaign);
    assert!(page.contains("kingston (pi4)") && page.contains("sandisk (zero)"));
    // Regression: two cards were counted as four.
    let text = hakaru_report::campaign_markdown(&campaign, None);
    assert!(text.contains("2 cards · 2 hosts · 1 layer"), "{text}");
    assert!(text.contains("card-host pairs"), "{text}");
    assert!(!text.contains("four cards"), "{text}");
}

/// The title names the layer with the largest effect, not the first one.
#[test]
fn the_only_card_has_its_largest_effect_as_title() {
    let mut campaign = support::campaign::campaign();
    campaign.cards.truncate(1);
    let card = &mut campaign.cards[0];
    let mut f2fs = card.layers[1].clone();
    f2fs.layer = "f2fs".into();
    card.layers.push(f2fs);
    let mut cost = card.costs[0].clone();
    cost.comparison.ratio = 0.9;
    let mut larger = cost.clone();
    (larger.layer, larger.comparison.ratio) = ("f2fs".into(), 1.8);
    card.costs = vec![cost, larger];
    let all = campaign_charts(&campaign);
    let found = title(named(&all, "speed-rand-write"));
    assert!(
        found.to_lowercase().contains("f2fs reaches 180% of"),
        "{found}"
    );
}

#[test]
fn subtitles_describe_the_workload_in_the_language_of_the_reader() {
    let mut summary = support::sandisk();
    summary.phases.retain(|phase| phase.phase == "rand-read");
    summary.phases[0].detail.jobs = vec![JobDescription {
        op: Some(Op::Read),
        random: Some(true),
        iodepth: Some(1),
        numjobs: 1,
        ..JobDescription::default()
    }];
    let subtitle = |language| {
        with_language(language, || {
            let all = charts(std::slice::from_ref(&summary));
            named(&all, "iops").svg(900)
        })
    };
    assert!(subtitle(Language::English).contains("random read, 4 KiB"));
    let japanese = subtitle(Language::Japanese);
    assert!(
        japanese.contains("ランダム読み込み、キュー深度1"),
        "{japanese}"
    );
    assert!(!japanese.contains("random read"), "{japanese}");
}

#[test]
fn comparisons_begin_with_ratios() {
    let (a, b) = (support::sandisk(), support::sandisk_vfat());
    let all = comparison_charts(&a, &b, &support::comparisons());
    assert_eq!(all[0].name, "ratios");
    assert!(
        all[0]
            .csv()
            .starts_with("Figure,Ratio,95% interval,Verdict")
    );
}

/// Single runs prove nothing: the title has the ratio, and says so.
#[test]
fn comparisons_of_single_runs_say_so() {
    let mut comparisons = support::comparisons();
    for c in &mut comparisons {
        Arc::make_mut(&mut c.a).values.truncate(1);
        Arc::make_mut(&mut c.b).values.truncate(1);
    }
    let (a, b) = (support::sandisk(), support::sandisk_vfat());
    let all = comparison_charts(&a, &b, &comparisons);
    assert!(
        title(&all[0]).contains("measured once"),
        "{}",
        title(&all[0])
    );
}

#[test]
fn themes_titles_and_sources_are_those_requested() {
    let all = charts(&[support::small()]);
    let style = |theme| ChartStyle {
        theme,
        title: Some("My <card>".to_owned()),
        source: "n = 10".to_owned(),
        width: 480,
    };
    let draw = |theme| all[0].svg_with(&style(theme));
    let (light, dark, auto) = (
        draw(ChartTheme::Light),
        draw(ChartTheme::Dark),
        draw(ChartTheme::Auto),
    );
    for document in [&light, &dark, &auto] {
        support::well_formed(document).unwrap();
        assert!(
            document.contains(">My &lt;card&gt;</text>") && document.contains(">n = 10</text>")
        );
    }
    assert!(!light.contains("@media") && !light.contains("#0f1419"));
    assert!(!dark.contains("@media") && dark.contains("#0f1419"));
    assert!(auto.contains("@media(prefers-color-scheme:dark)"));
}

/// Above 30 runs, a box replaces the dots, which would cover each other.
#[test]
fn many_runs_are_a_box() {
    let mut summary = support::small();
    for phase in &mut summary.phases {
        for estimate in [&mut phase.bandwidth, &mut phase.iops] {
            let mean = estimate.mean;
            estimate.values = (0..31)
                .map(|i| mean * (1.0 + f64::from(i) / 300.0))
                .collect();
        }
    }
    let box_of = |summary: &Summary| {
        let all = charts(std::slice::from_ref(summary));
        named(&all, "iops")
            .svg(720)
            .matches("<path class=\"hk-box\"")
            .count()
    };
    assert!(box_of(&summary) > 0);
    for phase in &mut summary.phases {
        phase.bandwidth.values.truncate(30);
        phase.iops.values.truncate(30);
    }
    assert_eq!(box_of(&summary), 0);
}

#[test]
fn charts_to_look_at() {
    let mut all = charts(&[block_sizes()]);
    all.extend(charts(&[depths_and_jobs()]));
    all.extend(campaign_charts(&support::campaign::campaign()));
    let (a, b) = (support::sandisk(), support::sandisk_vfat());
    all.extend(
        comparison_charts(&a, &b, &support::comparisons())
            .into_iter()
            .take(1),
    );
    assert!(all.iter().any(|chart| chart.section == Section::LayerCost));
    let Some(directory) = std::env::var_os("HAKARU_LOOK") else {
        return;
    };
    for chart in all {
        for width in [720, 350] {
            let file = format!("{}-{width}.svg", chart.name);
            std::fs::write(
                std::path::Path::new(&directory).join(file),
                chart.svg(width),
            )
            .unwrap();
        }
    }
}

/// Regression: the source line of a saved chart did not say that the card was simulated.
#[test]
fn saved_charts_of_simulated_cards_say_so() {
    let measured = support::sandisk();
    let mut simulated = measured.clone();
    simulated.caveats.push(Caveat::Simulated);
    let source = |of: Summary| hakaru_report::chart_source(&[of]);
    assert!(!source(measured).contains("simulated"));
    let said = source(simulated);
    assert!(said.contains("simulated, not measured"), "{said}");
}

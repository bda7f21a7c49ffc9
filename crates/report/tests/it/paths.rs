//! The path of an I/O in every format.

use crate::support::paths::{self, traced};
use crate::support::{self, well_formed};
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::Summary;
use hakaru_model::io_path::{
    DepthSample, DeviceSplit, IoPath, OperationDifference, PathDifference, PriceRefusal, TimePart,
    TraceObstacle,
};
use hakaru_model::job::Op;
use hakaru_model::units::Nanos;
use hakaru_report::{
    AddressWindow, Section, campaign_charts, campaign_csv, campaign_html, csv, path_addresses,
    path_charts, path_html, path_markdown, path_terminal,
};

/// A page with plain blanks between numbers and units.
fn html(series: &[Summary]) -> String {
    hakaru_report::html(series).replace('\u{a0}', " ")
}

fn durable(path: IoPath) -> Summary {
    traced(support::sandisk(), vec![("durable", path)])
}

#[test]
fn explains_a_run_on_a_terminal() {
    let text = path_terminal(&paths::traced_ext4(), 80, false);
    let wide = text.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None);
    let of_path = text.split("\nTarget ").next().unwrap();
    insta::assert_snapshot!("path_terminal", of_path.trim_end());
}

#[test]
fn explains_a_run_in_markdown() {
    let page = path_markdown(&durable(paths::vfat()), Some("charts"));
    insta::assert_snapshot!("path_markdown", page.split("\n|  |").next().unwrap());
}

#[test]
fn marks_the_weaknesses_of_a_trace() {
    let text = path_terminal(&durable(paths::lossy()), 200, false);
    let marks: Vec<&str> = text.lines().filter(|line| line.starts_with("! ")).collect();
    insta::assert_snapshot!("path_marks", marks.join("\n"));
}

#[test]
fn marks_devices_that_this_host_serves() {
    let marked = |name: &str| {
        let mut path = paths::raw();
        path.disk.name = name.to_owned();
        path_terminal(&durable(path), 200, false).contains("is served by a thread of this host")
    };
    assert!(marked("loop7") && marked("nbd0"));
    assert!(!marked("mmcblk0") && !marked("sda"));
}

/// The sentences of a page.
fn said(page: &str) -> Vec<&str> {
    let items = page.split("<li>");
    items
        .filter_map(|item| item.split("</li>").next())
        .collect()
}

#[test]
fn explains_differences_between_layers() {
    let page = html(&paths::compared(vec![
        durable(paths::f2fs()),
        paths::traced_vfat(),
    ]));
    let said = said(&page);
    let longer = said.iter().find(|said| said.contains("longer on"));
    let wanted = "One traced run on a side proves no difference: a write with its fsync took 4.94 ms longer on vfat than on ext4: 96% is the device&#39;s work on \
                  metadata, −14% is file system and page cache (the remainder), 13% is completion and wake-up, 4.1% \
                  is the block queue";
    assert_eq!(longer.copied(), Some(wanted));
    let fewer = said.iter().find(|said| said.contains("fewer bytes"));
    let wanted = "vfat moves fewer bytes (1.39 against 2.00 bytes for each byte of the application) and is slower, \
                  because each I/O is 4.0 requests instead of 2.0";
    assert_eq!(fewer.copied(), Some(wanted));
}

/// Shares of parts with both signs would mislead, so their times are printed.
#[test]
fn prints_times_where_shares_would_mislead() {
    let vfat = traced(
        support::sandisk_vfat(),
        vec![("durable", paths::raw_durable())],
    );
    let page = html(&paths::compared(vec![paths::traced_ext4(), vfat]));
    let said = said(&page);
    let longer = said.iter().find(|said| said.contains("longer on")).unwrap();
    assert!(
        longer.contains("+2.18 ms the device&#39;s work on the data"),
        "{longer}"
    );
    assert!(
        longer.contains(", −490 µs completion and wake-up") && !longer.contains('%'),
        "{longer}"
    );
}

#[test]
fn refuses_differences_with_lost_events() {
    let page = html(&paths::compared(vec![
        paths::traced_ext4(),
        traced(support::sandisk_vfat(), vec![("durable", paths::lossy())]),
    ]));
    assert!(page.contains("Times are not compared: over 0.1% of the events of one side were lost"));
    assert!(!page.contains("longer on"));
}

#[test]
fn says_that_no_flush_is_sent() {
    let said = "The kernel sends no cache flushes to mmcblk0";
    assert!(path_html(&durable(paths::vfat())).contains(said));
    assert!(!path_html(&paths::traced_ext4()).contains(said));
    // Without fsync, nobody expects a flush.
    assert!(!path_html(&durable(paths::raw())).contains(said));
}

#[test]
fn many_requests_are_a_picture_of_pixels() {
    let page = path_html(&durable(paths::raw()));
    assert!(page.contains("12,000 of 20,000 requests drawn"));
    assert!(page.contains("href=\"data:image/png;base64,iVBOR") && page.contains("img-src data:"));
    assert!(page.len() < 200_000, "{}", page.len());
    assert!(!path_html(&paths::traced_ext4()).contains("img-src"));
}

/// Regression: a part of the picture of addresses did not say what its colors mean.
#[test]
fn every_part_of_the_addresses_names_its_colors() {
    let summary = paths::traced_ext4();
    let whole = path_addresses(&summary, "", None).unwrap();
    let ((from, until), (low, high)) = (whole.whole.seconds, whole.whole.bytes);
    let part = AddressWindow {
        seconds: (from, (from + until) / 2.0),
        bytes: (low, low + (high - low) / 1000.0),
    };
    let part = path_addresses(&summary, &whole.phase, Some(part)).unwrap();
    for page in [&whole.html, &part.html] {
        let picture = page.split("<figure").nth(1).unwrap();
        let picture = picture.split("</svg>").next().unwrap();
        for name in ["Test data", "Journal"] {
            assert!(picture.contains(name), "{name}: {picture}");
        }
    }
}

#[test]
fn pictures_share_one_scale() {
    let both = [paths::traced_ext4(), paths::traced_vfat()];
    let page = html(&both);
    let flow = |name: &str| {
        page.split(&format!("<figure id=\"{name}\">"))
            .nth(1)
            .unwrap()
    };
    let application = |name: &str| {
        let band = flow(name).split("class=\"hk-k0\"").nth(1).unwrap();
        band.split("height=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap()
            .to_owned()
    };
    let (ext4, vfat) = (
        application("path-flow-durable-ext4"),
        application("path-flow-durable-vfat"),
    );
    assert_eq!(ext4, vfat);
}

#[test]
fn charts_fit_every_width() {
    let all = [
        paths::traced_suite(),
        paths::traced_ext4(),
        durable(paths::f2fs()),
    ];
    for chart in all.iter().flat_map(path_charts) {
        assert_eq!(chart.section, Section::Path);
        for width in [280, 332, 459, 540, 720, 1120] {
            let document = chart.svg(width);
            well_formed(&document).unwrap();
            assert!(document.contains("role=\"img\"") && document.contains("<desc"));
        }
    }
}

#[test]
fn campaigns_explain_their_layers() {
    let campaign = paths::traced_campaign();
    let page = campaign_html(&campaign);
    well_formed(&page).unwrap();
    assert!(
        page.contains("Path of an I/O</h2>")
            && page.contains("takes")
            && page.contains("longer on vfat than on raw")
    );
    let names: Vec<String> = campaign_charts(&campaign)
        .into_iter()
        .map(|chart| chart.name)
        .collect();
    assert!(
        names.contains(&"path-flow-durable-vfat".to_owned()),
        "{names:?}"
    );
    let lines = campaign_csv(&campaign);
    assert!(lines.contains(",vfat,durable,write,path_fat2_requests,1,"));
}

/// A comparison of vfat with ext4 after a change of its difference.
fn changed(change: impl Fn(&mut PathDifference)) -> Vec<Summary> {
    let mut both = paths::compared(vec![paths::traced_ext4(), paths::traced_vfat()]);
    both[1].path_differences.iter_mut().for_each(change);
    both
}

fn operation(of: &mut PathDifference) -> &mut OperationDifference {
    let comparison = of.outcome.as_mut().expect("both sides are traced");
    &mut comparison.operations[0]
}

/// Parts of 100 µs in all: 71 for more requests and bytes, 29 for jumps.
const SPLIT: DeviceSplit = DeviceSplit {
    requests: 59e3,
    bytes: 12e3,
    jumps: 29e3,
    remainder: 0.0,
    runs: 5,
    misfit: 0.021,
};

#[test]
fn divides_the_device_time_into_writing_more_and_seeking() {
    let page = html(&changed(|of| operation(of).device = Some(SPLIT)));
    let wanted = "Of the 100 µs that vfat spends more on the device than ext4, 71% is writing more (59% more requests, \
                  12% more bytes), 29% is seeking (prices fitted to 5 traced runs of the raw device, missed by at most \
                  2.1%)";
    assert!(said(&page).contains(&wanted), "{:?}", said(&page));
    // The other side is slower on the device, and the prices explain too little for shares.
    let unexplained = DeviceSplit {
        requests: -59e3,
        bytes: -12e3,
        jumps: 0.0,
        remainder: -29e3,
        ..SPLIT
    };
    let page = html(&changed(|of| operation(of).device = Some(unexplained)));
    let wanted = "Of the 100 µs that ext4 spends more on the device than vfat, +59 µs more requests, +12 µs more \
                  bytes, +0 ns seeking, +29 µs not explained";
    let found = said(&page).into_iter().find(|it| it.starts_with("Of the"));
    assert!(
        found.is_some_and(|it| it.starts_with(wanted)),
        "{found:?} {wanted}"
    );
}

#[test]
fn says_why_device_time_is_not_divided() {
    let misfit = PriceRefusal::Misfit { misfit: 0.12 };
    let page = html(&changed(|of| of.without_prices = vec![(Op::Write, misfit)]));
    let wanted = "Device time of writes is not divided into writing more and seeking: prices fitted to the traced raw \
                  runs miss them by up to 12%, over the limit of 5%";
    assert!(page.contains(wanted));
}

#[test]
fn an_interval_around_zero_proves_no_difference() {
    let uncertain = |of: &mut PathDifference| {
        of.runs = (3, 4);
        let total = &mut operation(of).total;
        total.ci95 = Some((-total.value.abs(), 3.0 * total.value.abs()));
    };
    let page = html(&changed(uncertain));
    let said = said(&page);
    assert!(!said.iter().any(|said| said.contains("longer on")));
    let unproven = said
        .iter()
        .find(|it| it.starts_with("No difference is proven"));
    assert!(unproven.is_some_and(|it| it.ends_with("(4 and 3 traced runs)")));
}

#[test]
fn the_sum_of_the_parts_is_the_measured_ratio() {
    let page = html(&paths::compared(vec![
        paths::traced_ext4(),
        paths::traced_vfat(),
    ]));
    let sum = page.split("The parts add up: ").nth(1).unwrap_or_default();
    assert!(sum.starts_with("2.03 ms + "), "{sum:.80}");
    assert!(sum.split('.').any(|part| part.ends_with("x")), "{sum:.80}");
    assert!(page.contains("No intervals: 1 against 1 traced runs."));
}

#[test]
fn several_traced_runs_say_which_one_is_shown() {
    let mut summary = paths::traced_ext4();
    for micros in [100.0, 50.0] {
        let mut path = paths::ext4();
        path.operations[0]
            .mean
            .add(TimePart::FileSystem, micros * 1e3);
        summary = traced(summary, vec![("durable", path)]);
    }
    summary.traced[0].shown = 2;
    let page = path_html(&summary);
    assert!(page.contains("Pictures show traced run 3 of 3"));
    assert!(page.contains("(mean of 3 traced runs)"));
}

#[test]
fn charts_queue_depth_over_time() {
    let mut path = paths::ext4();
    let step = path.window.0 / 1000;
    path.depth = (0..1000)
        .map(|i| DepthSample {
            at: Nanos(i * step),
            queued: (i % 7) as f32,
            issued: 1.5,
        })
        .collect();
    let charts = path_charts(&durable(path));
    let depth = charts.iter().find(|it| it.name == "path-depth-durable");
    let drawn = depth.expect("a chart of queue depth").svg(720);
    assert!(drawn.contains("On the device") && drawn.contains("In the block queue"));
    assert!(drawn.len() < 12_000, "{}", drawn.len());
}

#[test]
fn campaigns_compare_the_layers_of_all_cards_in_one_table() {
    let campaign = paths::traced_campaign();
    let page = campaign_html(&campaign);
    let table = page
        .split("Why layers differ</h3>")
        .nth(1)
        .unwrap_or_default();
    let table = table.split("</table>").next().unwrap_or_default();
    for card in &campaign.cards {
        let row = format!("{}, vfat against raw", card.name);
        assert!(table.contains(&row), "{row} in {table}");
    }
    let short = hakaru_report::campaign_terminal(&campaign, 200, false);
    assert!(short.contains("Why layers differ") && short.contains("vfat against raw"));
}

#[test]
fn compared_csv_has_the_parts_of_the_difference() {
    let both = paths::compared(vec![paths::traced_ext4(), paths::traced_vfat()]);
    let differences = &both[1].path_differences;
    let comparisons = support::comparisons();
    let csv = hakaru_report::comparison_csv(&comparisons, ("ext4", "vfat"), differences);
    let columns: Vec<usize> = csv.lines().map(|line| line.matches(',').count()).collect();
    let traced = csv.lines().filter(|line| line.contains("path_synced_time"));
    assert_eq!(columns.last(), columns.first());
    assert_eq!(traced.count(), 8);
    let total = csv
        .lines()
        .find(|line| line.starts_with("durable write path_synced_time,"));
    let cells: Vec<&str> = total.unwrap_or_default().split(',').collect();
    let number = |index: usize| cells[index].parse::<f64>().unwrap();
    assert!(
        (number(4) + number(25) - number(8)).abs() < 0.01,
        "{cells:?}"
    );
}

#[test]
fn csv_has_the_figures_of_a_traced_run() {
    let text = csv(&[paths::traced_ext4()]);
    let line = |figure: &str| {
        let line = text
            .lines()
            .find(|line| line.contains(&format!(",{figure},")));
        line.unwrap_or_default()
            .split(",durable,")
            .nth(1)
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(
        line("path_journal_requests"),
        "write,path_journal_requests,1,,8192,,,,,,,,"
    );
    assert_eq!(
        line("path_flush_requests"),
        ",path_flush_requests,1,,8192,,,,,,,,"
    );
    assert_eq!(
        line("path_trace_cost"),
        ",path_trace_cost,1,8,0.011,,,,,,0.005,0.017,"
    );
    assert!(
        line("path_synced_time_wake_up")
            .starts_with("write,path_synced_time_wake_up,ns,4096,1161050,")
    );
    assert!(text.lines().all(|line| line.matches(',').count() == 18));
}

#[test]
fn a_run_without_a_trace_says_how_to_trace() {
    let text = path_terminal(&support::sandisk(), 200, false);
    assert!(text.contains("This run was not traced") && text.contains("bench --trace"));
    assert!(path_charts(&support::sandisk()).is_empty());
}

#[test]
fn without_a_trace_the_counters_of_the_disk_remain() {
    let mut summary = support::sandisk();
    let write = summary
        .phases
        .iter_mut()
        .find(|phase| phase.op == Op::Write);
    let write = write.unwrap();
    write.amplification = Some(support::estimate(&[1.39, 1.41]));
    summary.caveats.push(Caveat::NotTraced {
        because: TraceObstacle::MissingEvents {
            names: vec!["block_rq_issue".to_owned()],
        },
    });
    let text = path_terminal(&summary, 80, false);
    assert!(text.contains("Not traced: the kernel lacks the events block_rq_issue"));
    assert!(text.contains("What the counters of the disk say"), "{text}");
    assert!(text.contains("1.4"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

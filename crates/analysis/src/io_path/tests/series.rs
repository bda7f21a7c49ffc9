//! Several traced runs of a phase, and comparisons of all traced runs of two summaries.

mod phases;

use super::*;
use crate::testing::suite;
use hakaru_model::facts::{Bus, Fact};
use hakaru_model::finding::{Bottleneck, Summary, TracedPhase};
use hakaru_model::io_path::{PathDifference, PathFigure};

/// A summary whose runs of the phase `rand-write` were traced.
fn traced(series: &str, paths: Vec<IoPath>) -> Summary {
    let mut summary = suite(5);
    summary.series = series.to_owned();
    let phase = |(run, path): (usize, IoPath)| TracedPhase {
        phase: "rand-write".to_owned(),
        run: format!("{series}-{run}"),
        findings: path_findings(&path),
        path,
    };
    summary.paths = paths.into_iter().enumerate().map(phase).collect();
    summary.traced = traced_series(&summary.paths, &summary.target);
    summary
}

/// A run that takes so many microseconds longer.
fn slower(path: &IoPath, micros: f64) -> IoPath {
    let mut path = path.clone();
    path.operations[0]
        .mean
        .add(TimePart::FileSystem, micros * 1e3);
    path
}

#[test]
fn pictures_show_the_run_nearest_to_the_median() {
    let (raw, _) = raw_and_ext4();
    let runs = [900.0, 0.0, 30.0, 20.0, 700.0].map(|micros| slower(&raw, micros));
    let summary = traced("raw", runs.to_vec());
    let [series] = &summary.traced[..] else {
        panic!("one phase on one disk");
    };
    assert_eq!((series.runs.len(), series.shown), (5, 2));
    let figure = |wanted: PathFigure| {
        let found = series.figures.iter().find(|(figure, _)| *figure == wanted);
        found.map(|(_, estimate)| estimate.clone()).unwrap()
    };
    let (op, with_sync) = (Some(Op::Write), true);
    let latency = figure(PathFigure::Latency { op, with_sync });
    assert_eq!(latency.values.len(), 5);
    let parts = TimePart::ALL.map(|part| {
        figure(PathFigure::Part {
            op,
            with_sync,
            part,
        })
        .mean
    });
    assert!((parts.iter().sum::<f64>() - latency.mean).abs() < 1e-6);
    assert_eq!(
        figure(PathFigure::RequestsPerIo { op: Op::Write }).ci95,
        Some((1.0, 1.0))
    );
}

/// One run in which the device was the limit does not prove it for runs that scatter.
#[test]
fn a_limit_is_named_only_if_the_interval_proves_it() {
    let busy = |share: f64| {
        let (mut raw, _) = raw_and_ext4();
        raw.busy = Nanos((raw.window.0 as f64 * share) as u64);
        raw
    };
    let limit = |shares: &[f64]| {
        let runs = shares.iter().map(|&share| busy(share)).collect();
        traced("raw", runs).traced[0].limit
    };
    assert_eq!(limit(&[0.94]), PathLimit::Device);
    assert_eq!(limit(&[0.94, 0.95, 0.94]), PathLimit::Device);
    assert_eq!(limit(&[0.94, 0.99, 0.91]), PathLimit::Both);
    assert_eq!(limit(&[0.2, 0.21, 0.2]), PathLimit::Host);
    assert_eq!(limit(&[0.2, 0.8, 0.45]), PathLimit::Both);
}

/// A discard sends no data, reads and writes share some buses, and the bus of one disk says nothing about another.
#[test]
fn the_bus_carries_reads_and_writes_of_its_disk() {
    let carried = |bus: Bus, kname: &str, moved: &[(Op, u64)]| {
        let classes = moved
            .iter()
            .map(|&(op, bytes)| traffic_of(IoClass::Data, Some(op), 1, bytes, 1));
        let mut path = path(500_000_000, (1, 4096), classes.collect());
        path.disk.name = "sda".to_owned();
        let mut summary = traced("raw", vec![path]);
        let Fact::Known(device) = &mut summary.target.device else {
            panic!("the device of the suite is known");
        };
        (device.kname, device.bus) = (kname.to_owned(), bus);
        let series = traced_series(&summary.paths, &summary.target);
        series[0].bus.map(|bus| (bus.speed.0 / 1e6, bus.limit))
    };
    let usb = |speed: u64| Bus::Usb {
        speed_mbps: Fact::Known(speed),
    };
    let both = [(Op::Read, 20_000_000), (Op::Write, 20_000_000)];
    let (speed, limit) = carried(usb(480), "sda", &both).unwrap();
    assert_eq!((speed.round(), limit), (40.0, Bottleneck::Host));
    let (speed, _) = carried(usb(5000), "sda", &both).unwrap();
    assert_eq!(speed.round(), 20.0);
    let discarded = [(Op::Write, 1_000_000), (Op::Trim, 9_000_000_000)];
    let (speed, limit) = carried(usb(480), "sda", &discarded).unwrap();
    assert_eq!((speed.round(), limit), (1.0, Bottleneck::Card));
    assert_eq!(carried(usb(480), "sdb", &both), None);
}

#[test]
fn each_disk_of_a_phase_is_a_series_of_its_own() {
    let (raw, ext4) = raw_and_ext4();
    let on = |path: &IoPath, disk: &str| {
        let mut path = path.clone();
        path.disk.name = disk.to_owned();
        path
    };
    let two = |path: &IoPath| vec![on(path, "sda"), on(path, "sdb"), on(path, "sda")];
    let mut both = [traced("raw", two(&raw)), traced("ext4", two(&ext4))];
    let runs: Vec<_> = both[0].traced.iter().map(|it| it.runs.clone()).collect();
    assert_eq!(runs, [vec![0, 2], vec![1]]);
    compare_traced(&mut both, 0);
    let disks: Vec<_> = both[1]
        .path_differences
        .iter()
        .map(|it| (it.disk.as_str(), it.runs))
        .collect();
    assert_eq!(disks, [("sda", (2, 2)), ("sdb", (1, 1))]);
}

#[test]
fn all_traced_runs_of_both_sides_count() {
    let (raw, ext4) = raw_and_ext4();
    let mut both = [
        traced("raw", vec![raw.clone(), slower(&raw, 10.0)]),
        traced(
            "ext4",
            vec![ext4.clone(), slower(&ext4, 10.0), slower(&ext4, 80.0)],
        ),
    ];
    compare_traced(&mut both, 0);
    assert_eq!(both[0].path_differences, []);
    let [difference] = &both[1].path_differences[..] else {
        panic!("one phase");
    };
    assert_eq!((difference.base.as_str(), difference.runs), ("raw", (2, 3)));
    let comparison = difference.outcome.as_ref().unwrap();
    let write = &comparison.operations[0];
    assert!((write.total.value - (663.9 + (30.0 - 5.0) * 1e3)).abs() < 1e-6);
    assert!(write.total.ci95.is_some());
    assert_eq!(write.device, None);
    let refused = PriceRefusal::TooFewRuns { runs: 2, needed: 4 };
    assert_eq!(difference.without_prices, [(Op::Write, refused)]);
}

/// Refusals by phase.
fn refusals(summary: &Summary) -> Vec<(&str, Option<PathRefusal>)> {
    let refusal = |it: &PathDifference| it.outcome.as_ref().err().copied();
    let differences = summary.path_differences.iter();
    differences
        .map(|it| (it.phase.as_str(), refusal(it)))
        .collect()
}

#[test]
fn one_traced_side_is_refused() {
    let (raw, _) = raw_and_ext4();
    for traced_side in 0..2 {
        let mut both = [traced("a", Vec::new()), traced("b", Vec::new())];
        both[traced_side] = traced("c", vec![raw.clone()]);
        compare_traced(&mut both, 0);
        assert_eq!(
            refusals(&both[1]),
            [("rand-write", Some(PathRefusal::OneSideTraced))],
            "{traced_side}"
        );
    }
    // A phase that the other side does not have at all is not mentioned.
    let mut both = [traced("a", vec![raw]), traced("b", Vec::new())];
    both[1].phases.clear();
    compare_traced(&mut both, 0);
    assert_eq!(refusals(&both[1]), []);
}

/// Raw runs of several shapes give the prices that divide the difference on the device.
#[test]
fn raw_runs_of_all_phases_give_the_prices() {
    let mut runs = vec![
        raw_run(1000, 4096, 1000, 0.0),
        raw_run(1000, 4096, 1, 0.0),
        raw_run(200, 1 << 20, 1, 0.0),
        raw_run(300, 65_536, 150, 0.0),
    ];
    let device = |path: &mut IoPath, nanos: f64| {
        let mut of = operation(
            [0.0, nanos, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            &[(IoClass::Data, nanos)],
        );
        of.with_sync = false;
        path.operations = vec![of];
    };
    for path in &mut runs {
        let ios = path.asked[0].count as f64;
        let nanos = path.busy.0 as f64 / ios;
        device(path, nanos);
    }
    // vfat: four requests a write instead of one, each at another place.
    let mut vfat = raw_run(1000, 4096, 1000, 0.0);
    vfat.disk.filesystem = Some("vfat".to_owned());
    vfat.classes.push(traffic_of(
        IoClass::Fat1,
        Some(Op::Write),
        3000,
        3000 * 512,
        3000,
    ));
    let price = 4.0 * 5e5 + 5632.0 * 50.0 + 4.0 * 8e6;
    device(&mut vfat, price);
    let mut base = traced("raw", runs);
    for (phase, traced) in base.paths.iter_mut().enumerate().skip(1) {
        traced.phase = format!("other-{phase}");
    }
    base.traced = traced_series(&base.paths, &base.target);
    let mut both = [base, traced("vfat", vec![vfat])];
    compare_traced(&mut both, 0);
    let outcome = both[1].path_differences[0].outcome.as_ref().unwrap();
    let split = outcome.operations[0].device.expect("the prices fit");
    assert!((split.requests / 1.5e6 - 1.0).abs() < 1e-3, "{split:?}");
    assert!((split.jumps / 24e6 - 1.0).abs() < 1e-3);
    assert!(split.remainder.abs() < 1e-3 * split.total());
    assert!(split.shares_allowed());
    assert_eq!(both[1].path_differences[0].without_prices, []);
}

/// One slow traced run must not explain a difference that the repeats do not show.
#[test]
fn refuses_traced_runs_unlike_the_measured_runs() {
    let (raw, mut ext4) = raw_and_ext4();
    ext4.window = Nanos(9 * raw.window.0);
    let compared = |slower: f64| {
        let mut both = [
            traced("raw", vec![raw.clone()]),
            traced("ext4", vec![ext4.clone()]),
        ];
        for phase in &mut both[1].phases {
            phase.bandwidth.mean /= slower;
        }
        compare_traced(&mut both, 0);
        both[1].path_differences[0].outcome.clone()
    };
    let refused = compared(2.5).unwrap_err();
    let PathRefusal::NotRepresentative { traced, measured } = refused else {
        panic!("{refused:?}");
    };
    assert!((traced - 9.0).abs() < 1e-9 && (measured - 2.5).abs() < 1e-9);
    assert!(compared(5.9).is_err());
    assert!(compared(6.1).is_ok() && compared(13.4).is_ok());
    assert!(compared(13.6).is_err());
    // Without a measured bandwidth there is nothing to judge by.
    assert!(compared(f64::INFINITY).is_ok());
}

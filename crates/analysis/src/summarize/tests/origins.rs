//! Tests of the origin of a summary: program, disks, preparation, and traced runs.

use super::*;
use crate::io_path::tests::{path, traffic_of};
use hakaru_model::campaign::{CampaignPoint, DeviceSegment, StepKind};
use hakaru_model::facts::Filesystem;
use hakaru_model::io_path::IoClass;
use hakaru_model::reported::{Reported, ReportedBlock};

/// Returns a block with a name in it, such as that of a disk.
fn named(block: &str, name: &str) -> ReportedBlock {
    let mut block = ReportedBlock::new(block);
    block.word("name", name);
    block
}

/// Returns a run of another program with these blocks.
fn of_program(blocks: Vec<ReportedBlock>, zone_assumed: bool) -> RunRecord {
    let mut run = write_run(0, 20e6, 20);
    run.origin = Origin::Imported {
        program: "fio-3.39".into(),
        source: "a.json".into(),
        reported: Box::new(Reported {
            blocks,
            zone_assumed,
            ..Reported::default()
        }),
    };
    run
}

fn with_disks(disks: &[&str]) -> RunRecord {
    let blocks = disks.iter().map(|disk| named("disk", disk));
    of_program(blocks.collect(), false)
}

/// Names of disks do not depend on their order in the output, so that they can be compared.
#[test]
fn disks_of_an_import_are_those_with_printed_counters() {
    let cases: [(&[&str], &str); 5] = [
        (&[], ""),
        (&["sda"], "sda"),
        (&["dm-0", "sda"], "dm-0+sda"),
        (&["sda", "dm-0"], "dm-0+sda"),
        (&["sda", "sdb", "sda"], "sda+sdb"),
    ];
    for (disks, expected) in cases {
        assert_eq!(reported_disks(&with_disks(disks)), expected, "{disks:?}");
    }
    // Names of other blocks are no disks, nor is a disk without a name.
    let others = [
        named("group", "x"),
        named("disk", "sda"),
        named("start", "y"),
    ];
    let nameless = vec![ReportedBlock::new("disk")];
    for (blocks, expected) in [(others.to_vec(), "sda"), (nameless, "")] {
        assert_eq!(reported_disks(&of_program(blocks, false)), expected);
    }
    assert_eq!(reported_disks(&write_run(0, 20e6, 20)), "");
}

#[test]
fn a_summary_names_the_program_of_its_first_run() {
    let origin = |runs: &[RunRecord]| summarize(runs).origin;
    let measured = |version: &str| {
        let mut run = write_run(0, 20e6, 20);
        run.origin = Origin::Measured {
            version: version.into(),
        };
        run
    };
    let version = "0.1.0".to_owned();
    let expected = SummaryOrigin::Measured { version };
    assert_eq!(origin(&[measured("0.1.0"), measured("0.2.0")]), expected);
    for (disks, names) in [(vec!["sdb", "sda"], "sda+sdb"), (vec![], "")] {
        for zone_assumed in [false, true] {
            let blocks = disks.iter().map(|disk| named("disk", disk)).collect();
            let expected = SummaryOrigin::Imported {
                program: "fio-3.39".into(),
                disks: names.into(),
                zone_assumed,
            };
            assert_eq!(origin(&[of_program(blocks, zone_assumed)]), expected);
        }
    }
    assert_eq!(origin(&[]), SummaryOrigin::Unknown);
}

fn point(prepared: Vec<PreparedStep>) -> CampaignPoint {
    CampaignPoint {
        campaign: "campaign".into(),
        card: "card".into(),
        layer: "layer".into(),
        workload: "workload".into(),
        repeat: 0,
        definition: "definition".into(),
        prepared,
        laid_out: Bytes(0),
        assignment: None,
    }
}

/// The speed of a preparation is stored only with the first run after it, and belongs to no run.
#[test]
fn preparation_is_listed_without_its_measurements() {
    let segment = DeviceSegment {
        offset: Bytes(0),
        len: Bytes(1 << 20),
        elapsed: Nanos::from_secs(1),
    };
    let step = |step: &StepKind, speed: Vec<DeviceSegment>, written: u64| PreparedStep {
        step: step.clone(),
        elapsed: Nanos::from_secs(7),
        speed,
        written: Bytes(written),
    };
    let kinds = [
        StepKind::Discarded { secure: false },
        StepKind::Verified,
        StepKind::Partitioned,
    ];
    let mut runs = records(&[40e6, 40e6]);
    assert_eq!(summarize(&runs).prepared, []);
    let measured = kinds.iter().map(|kind| step(kind, vec![segment], 4096));
    runs[0].campaign = Some(point(measured.collect()));
    let later = step(&StepKind::Verified, Vec::new(), 0);
    runs[1].campaign = Some(point(vec![later]));
    let expected: Vec<PreparedStep> = kinds.iter().map(|kind| step(kind, vec![], 0)).collect();
    assert_eq!(summarize(&runs).prepared, expected);
}

/// Returns a run that traced the write of so many megabytes in one second.
fn traced(repeat: u32, megabytes: u64) -> RunRecord {
    let mut run = write_run(repeat, 20e6, 20);
    run.caveats = vec![Caveat::Traced];
    let bytes = megabytes * 1_000_000;
    let data = traffic_of(IoClass::Data, Some(Op::Write), megabytes, bytes, 1);
    let mut path = path(500_000_000, (megabytes, 1_000_000), vec![data]);
    path.disk.name = "mmcblk0".into();
    run.phases[0].paths = vec![path];
    run
}

/// The bus of the card in the test has a maximum of 50 MB/s.
#[test]
fn paths_of_traced_runs_belong_to_the_untraced_series() {
    let (untraced, traced) = (|repeat| write_run(repeat, 40e6, 20), traced);
    let series: [Vec<RunRecord>; 3] = [
        vec![untraced(0), traced(1, 20), untraced(2), traced(3, 30)],
        vec![traced(1, 20), traced(3, 30), untraced(0), untraced(2)],
        vec![traced(1, 20), traced(3, 30)],
    ];
    for runs in series {
        let summary = summarize(&runs);
        let paths = summary.paths.iter();
        let paths: Vec<(&str, &str)> = paths.map(|it| (&*it.phase, &*it.run)).collect();
        assert_eq!(paths, [("write", "run-1"), ("write", "run-3")]);
        for (found, run) in summary.paths.iter().zip([traced(1, 20), traced(3, 30)]) {
            assert_eq!(found.path, run.phases[0].paths[0]);
            assert_eq!(found.findings, path_findings(&found.path));
        }
        let [series] = &summary.traced[..] else {
            panic!("one phase on one disk: {:?}", summary.traced)
        };
        assert_eq!((&*series.phase, &*series.disk), ("write", "mmcblk0"));
        assert_eq!(series.runs, [0, 1]);
        let bus = series.bus.unwrap();
        assert_eq!((bus.speed.0, bus.ceiling.0), (25e6, 50e6));
        let speeds = &summary.phases[0].bandwidth.values;
        let expected = if runs.len() == 4 { 40e6 } else { 20e6 };
        assert!(
            speeds
                .iter()
                .all(|speed| (speed / expected - 1.0).abs() < 1e-3)
        );
        assert_eq!(speeds.len(), 2);
    }
    let untraced = summarize(&[untraced(0), untraced(2)]);
    assert_eq!((untraced.paths, untraced.traced), (vec![], vec![]));
}

/// Returns the caveats of runs that should be alike but are not.
fn pooled(runs: &[RunRecord]) -> Vec<Caveat> {
    let caveats = summarize(runs).caveats.into_iter();
    caveats
        .filter(|caveat| matches!(caveat, Caveat::Pooled { .. }))
        .collect()
}

fn several(count: Option<u32>, what: &str) -> Vec<Caveat> {
    let caveat = count.map(|count| Caveat::Pooled {
        count,
        what: what.into(),
    });
    caveat.into_iter().collect()
}

#[test]
fn runs_on_different_file_systems_are_reported() {
    let on = |fs_type: &&str| {
        let mut run = write_run(0, 20e6, 20);
        run.target.filesystem = Some(Filesystem {
            fs_type: (*fs_type).into(),
            mount_point: "/mnt".into(),
            source: "/dev/mmcblk0p1".into(),
            options: String::new(),
            size: Bytes(32 << 30),
            free: Bytes(30 << 30),
        });
        run
    };
    let unnamed = Filesystem::UNNAMED;
    let cases: [(&[&str], Option<u32>); 8] = [
        (&["ext4"], None),
        (&["ext4", "ext4"], None),
        (&["ext4", "vfat"], Some(2)),
        (&["ext4", "vfat", "ext4", "f2fs"], Some(3)),
        // A file system without a name may be the same.
        (&[unnamed, unnamed], None),
        (&["ext4", unnamed], None),
        (&[unnamed, "ext4", unnamed, "vfat"], Some(2)),
        (&[], None),
    ];
    for (kinds, count) in cases {
        let mut runs: Vec<RunRecord> = kinds.iter().map(on).collect();
        let expected = several(count, "file systems");
        assert_eq!(pooled(&runs), expected, "{kinds:?}");
        // The layer of a campaign says more than the type.
        for run in &mut runs {
            run.campaign = Some(point(Vec::new()));
        }
        assert_eq!(pooled(&runs), [], "{kinds:?}");
    }
    // Raw devices have none.
    assert_eq!(pooled(&records(&[20e6, 20e6])), []);
}

#[test]
fn runs_of_different_reported_disks_are_reported() {
    let cases: [(&[&[&str]], Option<u32>); 7] = [
        (&[&["sda"]], None),
        (&[&["sda"], &["sda"]], None),
        (&[&["sda"], &["sdb"]], Some(2)),
        (&[&["sda"], &["sdb"], &["sda"], &["sdc"]], Some(3)),
        (&[&["sda", "sdb"], &["sdb", "sda"]], None),
        (&[&["sda", "sdb"], &["sda"]], Some(2)),
        // A result without counters may be of the same disk.
        (&[&["sda"], &[]], None),
    ];
    for (disks, count) in cases {
        let runs: Vec<RunRecord> = disks.iter().map(|disks| with_disks(disks)).collect();
        assert_eq!(pooled(&runs), several(count, "disks"), "{disks:?}");
    }
}

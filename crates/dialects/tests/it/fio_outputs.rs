//! Snapshots of all output formats for a synthetic run. Programs and people read this output, so that any changed
//! character must be noticed.

use crate::support::{Lat, Numbers, OpNumbers, Reported, Run, Stat, args};
use hakaru_dialects::fio::output::{CpuIdleness, RunView, json, normal, terse};
use hakaru_model::facts::DiskStats;
use hakaru_model::job::PerOp;
use hakaru_model::units::Nanos;

fn lat(bins: &[(u64, u64)]) -> Lat {
    let n: u64 = bins.iter().map(|bin| bin.1).sum();
    let mean = bins.iter().map(|bin| (bin.0 * bin.1) as f64).sum::<f64>() / n as f64;
    let scatter: f64 = bins
        .iter()
        .map(|bin| (bin.0 as f64 - mean).powi(2) * bin.1 as f64)
        .sum();
    let (min, max) = (bins[0].0, bins[bins.len() - 1].0);
    Lat {
        stat: Stat {
            n,
            min,
            max,
            mean,
            dev: (scatter / (n - 1) as f64).sqrt(),
        },
        bins: Some(bins.to_vec()),
    }
}

fn spread(n: u64, mean: u64) -> Stat {
    Stat {
        n,
        min: mean * 9 / 10,
        max: mean * 11 / 10,
        mean: mean as f64 + 0.25,
        dev: mean as f64 / 20.0,
    }
}

const FIRST: [f64; 7] = [100.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
const FOUR: [f64; 7] = [0.0, 100.0, 0.0, 0.0, 0.0, 0.0, 0.0];

/// A 4 KiB write with an fsync after each, at the speed of a card.
fn durable() -> Numbers {
    let clat = lat(&[
        (890_000, 50),
        (1_950_000, 3500),
        (3_700_000, 1250),
        (9_000_000, 180),
        (22_931_000, 3),
    ]);
    let write = OpNumbers {
        ios: 4983,
        bytes: 4983 * 4096,
        runtime_ms: 30_003,
        lat: Lat {
            bins: None,
            ..clat.clone()
        },
        clat,
        bw: spread(60, 664),
        iops: spread(60, 166),
        ..OpNumbers::default()
    };
    Numbers {
        members: 1,
        pid: 1686,
        ops: PerOp {
            write,
            ..PerOp::default()
        },
        sync: lat(&[
            (2_065_000, 10),
            (3_900_000, 4800),
            (7_500_000, 170),
            (38_652_000, 3),
        ]),
        job_runtime_ms: 30_002,
        usr_cpu: 0.07,
        sys_cpu: 0.57,
        ctx: 9991,
        minf: 6,
        level: [200.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        submit: FOUR,
        complete: FOUR,
        ..Numbers::default()
    }
}

/// Two workers with mixed I/O at a queue depth of 8, at the speed of a drive.
fn mixed() -> Numbers {
    let slat = lat(&[(900, 400_000), (1_500, 90_000), (31_000, 10_000)]);
    let clat = lat(&[
        (14_000, 1000),
        (88_000, 480_000),
        (260_000, 18_000),
        (2_100_000, 999),
        (1_532_300_000, 1),
    ]);
    let op = |ios: u64| OpNumbers {
        ios,
        bytes: ios * 16_384,
        runtime_ms: 2001,
        slat: slat.clone(),
        lat: clat.clone(),
        clat: clat.clone(),
        bw: spread(6, ios * 16 / 2),
        iops: spread(6, ios / 2),
        ..OpNumbers::default()
    };
    Numbers {
        members: 2,
        pid: 2000,
        ops: PerOp {
            read: op(500_000),
            write: op(500_000),
            trim: OpNumbers::default(),
        },
        job_runtime_ms: 4002,
        usr_cpu: 12.5,
        sys_cpu: 31.25,
        ctx: 51_000,
        minf: 20,
        level: [0.1, 0.1, 0.1, 99.7, 0.0, 0.0, 0.0],
        submit: FOUR,
        complete: [0.0, 99.9, 0.1, 0.0, 0.0, 0.0, 0.0],
        ..Numbers::default()
    }
}

/// A write that fails immediately because the disk is full.
fn failed() -> Numbers {
    let write = OpNumbers {
        ios: 1,
        ..OpNumbers::default()
    };
    Numbers {
        members: 1,
        pid: 2100,
        errno: 28,
        total_errors: 1,
        ops: PerOp {
            write,
            ..PerOp::default()
        },
        level: FIRST,
        submit: FOUR,
        complete: [50.0, 50.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ..Numbers::default()
    }
}

fn disk(name: &str, factor: u64) -> DiskStats {
    DiskStats {
        name: name.to_owned(),
        read_ios: 10 * factor,
        read_merges: factor,
        read_sectors: 80 * factor,
        read_ticks: Nanos::from_millis(3 * factor),
        write_ios: 14_928 * factor,
        write_merges: 19_888 * factor,
        write_sectors: 278_528 * factor,
        write_ticks: Nanos::from_millis(29_663 * factor),
        discard_ios: 0,
        flush_ios: 0,
        busy: Nanos(98_610_000),
        queued: Nanos::from_millis(29_666 * factor),
        elapsed: Nanos(100_000_000),
    }
}

fn run() -> Run {
    let command = args::read(
        "--direct=1 --name=fsync --rw=write --bs=4k --fsync=1 \
         --name=pair --stonewall --rw=randrw --bs=16k --iodepth=8 --ioengine=libaio --numjobs=2 --group_reporting --lat_percentiles=1 --slat_percentiles=1 --percentile_list=50:99.9:100 \
         --name=full --rw=write --continue_on_error=all --description=on_a_full_disk --time_based",
    );
    let mut numbers = [durable(), mixed(), failed()].into_iter();
    let report = |(job, extras)| Reported {
        job,
        extras,
        numbers: numbers.next().unwrap(),
    };
    let phases = command.phases;
    let mut reports: Vec<Reported> = phases.into_iter().flatten().map(report).collect();
    let last = reports.split_off(1);
    Run::of(
        vec![reports, last],
        vec![disk("mmcblk0", 1), disk("dm-0", 2)],
    )
}

fn check(print: impl Fn(&RunView<'_>) -> String) -> String {
    let run = run();
    let global_options = [("direct".to_owned(), "1".to_owned())];
    let mut view = RunView {
        shown_unix_ms: 1_762_313_208_123,
        utc_offset_s: 9 * 3600,
        elapsed: Nanos(33_400_000_000),
        global_options: &global_options,
        idleness: Some(CpuIdleness {
            system: 96.953_068,
            per_cpu: vec![(0, 96.546_823), (1, 97.359_313)],
            unit_mean_us: 10.1065,
            unit_deviation_us: 0.016_263,
        }),
        ..run.view("fio-3.39")
    };
    view.disks[1].members = vec![disk("sda", 1), disk("sdb", 3)];
    print(&view)
}

#[test]
fn text() {
    insta::assert_snapshot!(check(normal));
}

#[test]
fn json_with_bins() {
    insta::assert_snapshot!(check(|view| json(view, true)));
}

#[test]
fn json_without_bins_is_the_same_but_for_them() {
    let strip = |text: &str| -> serde_json::Value {
        let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
        strip_bins(&mut value);
        value
    };
    let (with, without) = (
        check(|view| json(view, true)),
        check(|view| json(view, false)),
    );
    assert!(with.contains("\"bins\"") && !without.contains("\"bins\""));
    assert_eq!(strip(&with), strip(&without));
}

fn strip_bins(value: &mut serde_json::Value) {
    if let Some(object) = value.as_object_mut() {
        object.remove("bins");
        object.values_mut().for_each(strip_bins);
    }
    value
        .as_array_mut()
        .into_iter()
        .flatten()
        .for_each(strip_bins);
}

#[test]
fn terse_of_all_versions() {
    let text: String = (2..=5)
        .map(|version| check(|view| terse(view, version)))
        .collect();
    insta::assert_snapshot!(text.replace(';', "; "));
}

/// Clients parse `--minimal` by position: version 3 with one disk has 130 fields.
#[test]
fn terse_has_as_many_fields_as_its_readers_count_on() {
    let run = Run::of(
        vec![vec![{
            let (job, extras) = args::read("--name=a --rw=write").phases.remove(0).remove(0);
            Reported {
                job,
                extras,
                numbers: durable(),
            }
        }]],
        vec![disk("mmcblk0", 1)],
    );
    let line = |version| terse(&run.view("fio-3.39"), version);
    let three = line(3);
    let fields: Vec<&str> = three.trim_end().split(';').collect();
    assert_eq!(fields.len(), 130);
    assert_eq!(
        (fields[0], fields[1], fields[2], fields[4]),
        ("3", "fio-3.39", "a", "0")
    );
    assert_eq!(
        (fields[5], fields[6], fields[7]),
        ("0", "0", "0"),
        "read: KiB, KiB/s, IOPS"
    );
    assert_eq!(
        (fields[46], fields[47], fields[48], fields[49]),
        ("19932", "664", "166", "30003"),
        "write"
    );
    assert_eq!(line(9), three, "an unknown version is taken as 3");
}

#[test]
fn a_run_of_nothing_is_printed_too() {
    let run = Run::of(Vec::new(), Vec::new());
    let view = run.view("fio-3.39");
    assert_eq!(normal(&view), "\n");
    assert_eq!(terse(&view, 3), "");
    insta::assert_snapshot!(json(&view, true), @r#"
    {
      "fio version" : "fio-3.39",
      "timestamp" : 0,
      "timestamp_ms" : 0,
      "time" : "Thu Jan  1 00:00:00 1970",
      "jobs" : [
      ]
    }
    "#);
}

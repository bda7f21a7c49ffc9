//! Imports one run of the real fio from every output format: the records must agree, as far as each format has the
//! data.
//!
//! The jobs run on fio's null engine or on small temporary files. Without fio the test prints a note and passes.

use hakaru_dialects::import::{ImportedRun, SourceFormat, SourceText, import};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::{Job, Op};
use hakaru_model::record::{Latency, OpRecord, Samples, WorkerRecord};
use hakaru_model::reported::Percentile;
use std::process::Command;

/// Options of the jobs; `{dir}` is a directory of the test.
const JOBS: [&str; 30] = [
    "--name=a --ioengine=null --size=4m --bs=4k --rw=read",
    "--name=a --ioengine=null --size=4m --bs=4k --rw=write",
    "--name=a --ioengine=null --size=4m --bs=4k --rw=randread",
    "--name=a --ioengine=null --size=4m --bs=4k --rw=randwrite",
    "--name=a --ioengine=null --size=4m --bs=4k --rw=randrw --rwmixread=70",
    "--name=a --ioengine=null --size=4m --bs=4k --rw=rw",
    "--name=a --ioengine=null --size=64m --bs=1m --rw=read",
    "--name=a --ioengine=null --size=1m --bs=512 --rw=write",
    "--name=a --ioengine=null --size=4m --bs=4k --rw=read --numjobs=3",
    "--name=a --ioengine=null --size=4m --bs=4k --rw=write --numjobs=4 --group_reporting",
    "--name=a --ioengine=null --size=4m --bs=4k --rw=read --name=b --ioengine=null --size=8m --bs=16k --rw=write",
    "--name=a --ioengine=null --size=4m --rw=read --name=b --stonewall --ioengine=null --size=8m --rw=write",
    "--name=a --ioengine=null --size=4m --rw=read --percentile_list=50:95:99:99.9:99.999",
    "--name=a --ioengine=null --size=4m --rw=read --lat_percentiles=1",
    "--name=a --ioengine=null --size=4m --rw=read --clat_percentiles=0",
    "--name=a --ioengine=null --size=4m --rw=read --disable_clat=1",
    "--name=a --ioengine=null --size=4m --rw=read --gtod_reduce=1",
    "--name=a --ioengine=null --size=4m --rw=trim --bs=4k",
    "--name=a --ioengine=null --size=1g --rw=randread --time_based --runtime=1 --rate_iops=500",
    "--name=a --ioengine=null --size=1g --rw=randwrite --time_based --runtime=1 --rate=1m,1m",
    "--name=a --ioengine=null --size=4m --rw=write --description=about",
    "--name=a --ioengine=psync --directory={dir} --size=1m --bs=4k --rw=write --fsync=16",
    "--name=a --ioengine=psync --directory={dir} --size=2m --bs=64k --rw=read",
    "--name=a --ioengine=psync --directory={dir} --size=1m --bs=4k --rw=randrw --fdatasync=32",
    "--name=a --ioengine=psync --directory={dir} --size=1m --bsrange=4k-16k --rw=randread",
    "--name=a --ioengine=libaio --iodepth=8 --directory={dir} --size=2m --bs=4k --rw=randread",
    "--name=a --ioengine=libaio --iodepth=4 --directory={dir} --size=1m --bs=8k --rw=randwrite --end_fsync=1",
    "--name=a --ioengine=psync --filename={dir}/f --size=1m --bs=4k --rw=write --sync=1",
    "--name=a --ioengine=psync --filename={dir}/f --size=1m --bs=4k --rw=read --continue_on_error=all",
    "--bs=8k --rw=randread --ioengine=null --size=2m --name=first --name=second --iodepth=2",
];

fn fio(arguments: &str, directory: &str, version: usize) -> Option<String> {
    let arguments = arguments.replace("{dir}", directory);
    // Only versions 4 and 5 include trims.
    let version = format!(
        "--terse-version={}",
        if arguments.contains("trim") {
            4
        } else {
            version
        }
    );
    let words = arguments
        .split(' ')
        .chain(["--output-format=normal,json+,terse", &version]);
    let out = Command::new("fio").args(words).output().ok()?;
    Some(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Whether two values are equal within the coarser rounding step.
fn near(a: f64, b: f64, step: f64) -> bool {
    (a - b).abs() <= step * 1.001 + 1e-9 * a.abs()
}

/// Rounding steps of printed latencies: for means a hundredth of the unit, for minimum and maximum one unit.
struct Steps {
    extreme: f64,
    mean: f64,
}

/// The text chooses its unit by the values, so the rounding steps follow from them.
fn steps(format: SourceFormat, exact: &Samples) -> Steps {
    let deviation = exact.deviation().unwrap_or(0.0);
    let unit: f64 = match (format, exact.min, exact.max) {
        (SourceFormat::FioTerse, ..) => 1e3,
        (_, min, max) if min > 2_000_000 && max > 99_999_999 && deviation > 1e6 => 1e6,
        (_, min, max) if min > 2_000 && max > 99_999 && deviation > 1e3 => 1e3,
        _ => 1.0,
    };
    Steps {
        extreme: unit.max(exact.max as f64 * 1e-4),
        mean: if format == SourceFormat::FioTerse {
            1.0
        } else {
            unit / 100.0
        },
    }
}

fn compare_latency(what: &str, format: SourceFormat, exact: &Latency, other: &Latency) {
    let (exact, other) = (&exact.stat, &other.stat);
    if other.count == 0 {
        return;
    }
    let Steps { extreme, mean } = steps(format, exact);
    assert!(
        near(exact.min as f64, other.min as f64, extreme),
        "{what}: min {exact:?} {other:?}"
    );
    assert!(
        near(exact.max as f64, other.max as f64, extreme),
        "{what}: max {exact:?} {other:?}"
    );
    let means = (exact.mean().unwrap(), other.mean().unwrap());
    assert!(near(means.0, means.1, mean + 1.0), "{what}: mean {means:?}");
    let deviations = (exact.deviation().unwrap(), other.deviation().unwrap());
    assert!(
        near(deviations.0, deviations.1, mean + deviations.0 * 1e-3 + 1.0),
        "{what}: deviation {deviations:?}"
    );
}

fn compare_percentiles(what: &str, exact: &[Percentile], other: &[Percentile]) {
    if other.is_empty() {
        return;
    }
    assert_eq!(exact.len(), other.len(), "{what}");
    for (a, b) in exact.iter().zip(other) {
        assert_eq!(a.share, b.share, "{what}");
        let (a, b) = (a.value.0 as f64, b.value.0 as f64);
        // A change of unit divides by 1000, and rounds up in the text.
        assert!(
            near(a, b, 1.0) || near(a, b, 1e3) || near(a, b, 1e6) && a > 2e6,
            "{what}: {a} {b}"
        );
    }
}

fn workers(run: &ImportedRun) -> Vec<WorkerRecord> {
    let workers = run.phases.iter().flat_map(|phase| phase.workers.clone());
    workers.collect()
}

fn compare(what: &str, exact: &ImportedRun, other: &ImportedRun) {
    let (a, b) = (workers(exact), workers(other));
    assert_eq!(a.len(), b.len(), "{what}");
    let block = &exact.scenario.phases[0].jobs[0].block.read;
    let fixed = matches!(block, hakaru_model::job::BlockSize::Fixed(_));
    let reports = exact.reported.workers.iter().zip(&other.reported.workers);
    for ((a, b), (more_a, more_b)) in a.iter().zip(&b).zip(reports) {
        assert_eq!((&a.name, a.runtime), (&b.name, b.runtime), "{what}");
        if other.format == SourceFormat::FioText {
            assert_eq!(more_a.members, more_b.members, "{what}");
            assert_eq!(a.cpu, b.cpu, "{what}");
            compare_latency(&format!("{what} sync"), other.format, &a.sync, &b.sync);
            // The text does not count `fdatasync` calls.
            let counted = match what.contains("fdatasync") {
                true => 0,
                false => a.sync.stat.count,
            };
            assert_eq!(b.sync.stat.count, counted, "{what}");
            compare_percentiles(what, &more_a.sync, &more_b.sync);
        }
        for op in Op::ALL {
            let what = format!("{what} {}", op.name());
            compare_op(&what, other.format, &a.ops[op], &b.ops[op], fixed);
            if other.format == SourceFormat::FioText {
                compare_percentiles(&what, &more_a.ops[op].clat, &more_b.ops[op].clat);
                compare_percentiles(&what, &more_a.ops[op].lat, &more_b.ops[op].lat);
            }
        }
    }
}

/// Compares an operation; with a fixed block size, the number of I/Os follows from the bytes.
fn compare_op(what: &str, format: SourceFormat, x: &OpRecord, y: &OpRecord, fixed: bool) {
    let (bytes, ios) = ((x.bytes, y.bytes), (x.ios, y.ios));
    let near = |(a, b): (u64, u64), step: f64| near(a as f64, b as f64, step);
    match format {
        // Terse lines have whole KiB and no I/O counts.
        SourceFormat::FioTerse => assert!(near(bytes, 1024.0), "{what}: {bytes:?}"),
        _ => assert_eq!((x.ios, x.short), (y.ios, y.short), "{what}"),
    }
    let step = x.ios as f64 * 0.01;
    assert!(!fixed || near(ios, step), "{what}: {ios:?}");
    compare_latency(&format!("{what} clat"), format, &x.clat, &y.clat);
    compare_latency(&format!("{what} lat"), format, &x.lat, &y.lat);
    compare_latency(&format!("{what} slat"), format, &x.slat, &y.slat);
    if format == SourceFormat::FioText {
        let samples = |op: &OpRecord| (op.bw_samples.count, op.iops_samples.count);
        assert_eq!(samples(x), samples(y), "{what}");
    }
}

/// Alternatives of each option that changes the form of the output.
const CHOICES: [&[&str]; 9] = [
    &["--name=a", "--name=a-b_c", "--name=x=y"],
    &[
        "--rw=read",
        "--rw=write",
        "--rw=randread",
        "--rw=randwrite",
        "--rw=randrw --rwmixread=30",
        "--rw=rw",
    ],
    &[
        "--bs=512",
        "--bs=4k",
        "--bs=4k,16k",
        "--bs=1m",
        "--bs=3k",
        "--bsrange=1k-8k",
        "--bssplit=4k/60:64k/40",
    ],
    &["--size=1m", "--size=4m", "--size=63m", "--size=3000000"],
    &["--iodepth=1", "--iodepth=7", "--iodepth=64"],
    &[
        "--numjobs=1",
        "--numjobs=3",
        "--numjobs=3 --group_reporting",
    ],
    &[
        "",
        "--percentile_list=1:50:99.99",
        "--lat_percentiles=1",
        "--clat_percentiles=0",
        "--gtod_reduce=1",
    ],
    &["", "", "--kb_base=1000", "--unit_base=8", "--unit_base=1"],
    &[
        "",
        "",
        "--loops=3",
        "--time_based --runtime=1 --rate_iops=300",
    ],
];

/// Random option sets; the same sets in every run of the test.
fn drawn(count: usize) -> Vec<String> {
    let mut rng = hakaru_model::rng::Rng::new(14);
    let job = |_| {
        let words = CHOICES.map(|from| from[(rng.next_u64() % from.len() as u64) as usize]);
        let words = words.into_iter().filter(|word| !word.is_empty());
        let words: Vec<&str> = words.chain(["--ioengine=null"]).collect();
        words.join(" ")
    };
    (0..count).map(job).collect()
}

/// Whether figures of the text are rounded to three digits, with no exact count next to them.
fn rounded(arguments: &str) -> bool {
    ["bsrange", "bssplit", "bs=4k,16k", "kb_base", "unit_base"]
        .iter()
        .any(|option| arguments.contains(option))
}

#[test]
fn every_form_of_drawn_runs_has_the_same_figures() {
    for arguments in drawn(40) {
        let Some(output) = fio(&arguments, "", 3) else {
            eprintln!("SKIPPED: fio is not installed");
            return;
        };
        let found = import(&[SourceText {
            name: "out",
            text: &output,
        }]);
        assert_eq!(found.unread, [], "{arguments}");
        let of = |format: SourceFormat| {
            let mut runs = found.runs.iter().map(|found| &found.run);
            let run = runs.find(|run| run.format == format);
            run.unwrap_or_else(|| panic!("{arguments}: no {}", format.name()))
        };
        let exact = workers(of(SourceFormat::FioJson));
        for format in [SourceFormat::FioText, SourceFormat::FioTerse] {
            let other = of(format);
            assert_eq!(other.unread, [], "{arguments}: {}", format.name());
            compare_amounts(&arguments, format, &exact, &workers(other));
            let is_one = |c: &Caveat| matches!(c, Caveat::Contradiction { .. });
            let contradicts = other.caveats.iter().any(is_one);
            // A run of a few milliseconds has one-digit figures, which are too imprecise to compare.
            let long = exact.iter().all(|worker| worker.runtime.as_millis() >= 100);
            let caveats = &other.caveats;
            assert!(!long || !contradicts, "{arguments}: {caveats:?}");
        }
    }
}

/// Compares bytes, times and numbers of I/Os, as precisely as the format has them.
fn compare_amounts(
    arguments: &str,
    format: SourceFormat,
    exact: &[WorkerRecord],
    read: &[WorkerRecord],
) {
    let what = format!("{arguments}: {}", format.name());
    assert_eq!(exact.len(), read.len(), "{what}");
    for (a, b) in exact.iter().zip(read) {
        assert_eq!(a.runtime, b.runtime, "{what}");
        for op in Op::ALL {
            let (x, y) = (&a.ops[op], &b.ops[op]);
            let share = if rounded(arguments) { 6e-3 } else { 0.0 };
            let step = (x.bytes as f64 * share).max(1024.0);
            assert!(
                near(x.bytes as f64, y.bytes as f64, step),
                "{what}: {x:?} {y:?}"
            );
            if format == SourceFormat::FioText {
                assert_eq!(x.ios, y.ios, "{what}");
            }
        }
    }
}

#[test]
fn every_form_of_a_run_is_the_same_record() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().to_str().unwrap();
    for (index, arguments) in JOBS.into_iter().enumerate() {
        let Some(output) = fio(arguments, directory, 2 + index % 4) else {
            eprintln!("SKIPPED: fio is not installed");
            return;
        };
        let found = import(&[SourceText {
            name: "out",
            text: &output,
        }]);
        assert_eq!(found.unread, [], "{arguments}");
        let of = |format: SourceFormat| {
            let runs = found.runs.iter().map(|found| &found.run);
            let runs: Vec<&ImportedRun> = runs.filter(|run| run.format == format).collect();
            let [run] = runs[..] else {
                panic!("{arguments}: {} of {}", runs.len(), format.name())
            };
            assert_eq!(run.unread, [], "{arguments}: {}", format.name());
            run
        };
        let json = of(SourceFormat::FioJson);
        for form in [SourceFormat::FioText, SourceFormat::FioTerse] {
            compare(&format!("{arguments}, {}", form.name()), json, of(form));
        }
        let asked = |run: &ImportedRun| {
            let jobs = run.scenario.phases.iter().flat_map(|phase| &phase.jobs);
            let job = |job: &Job| {
                let (depth, numjobs) = (job.queue.iodepth, job.numjobs);
                (job.name.clone(), job.access.random, depth, numjobs)
            };
            jobs.map(job).collect::<Vec<_>>()
        };
        assert_eq!(asked(json), asked(of(SourceFormat::FioText)), "{arguments}");
    }
}

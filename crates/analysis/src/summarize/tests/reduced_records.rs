//! Tests of records that are reduced to what their summary reads.

use super::*;
use hakaru_model::job::PerOp;
use hakaru_model::record::{Latency, LatencyInterval, LatencyStepCounts};
use hakaru_model::reported::{Decimal, Reported, ReportedBlock};

/// Returns latencies with a histogram, and over time.
fn latencies(micros: u64) -> Latency {
    let mut all = Latency::with_histogram();
    (1..=500).for_each(|nth| all.record(Nanos(micros * 1_000 + nth)));
    let interval = |nth: u64| LatencyInterval {
        at: Nanos::from_secs(nth),
        length: Nanos::from_secs(1),
        counts: LatencyStepCounts::of([(12, 100)]),
    };
    all.over_time = (1..=5).map(interval).collect();
    all
}

/// Returns a run of two workers that read and write, with all kinds of latency.
fn full() -> RunRecord {
    let mut run = write_run(0, 20e6, 20);
    let worker = &mut run.phases[0].workers[0];
    worker.ops.read = worker.ops.write.clone();
    worker.sync = latencies(900);
    for op in [Op::Read, Op::Write] {
        let done = &mut worker.ops[op];
        done.slat = latencies(3);
        done.clat = latencies(100);
        done.lat = latencies(103);
    }
    let second = worker.clone();
    run.phases[0].workers.push(second);
    run
}

/// Returns a block with a figure, a word and a nested block.
fn block(name: &str) -> ReportedBlock {
    let mut block = ReportedBlock::new(name);
    block.word("name", "sda");
    block.figure("ios w", Decimal::whole(800), "");
    block.figure("ticks w", Decimal::whole(4_000), "");
    block.blocks = vec![ReportedBlock::new("inner")];
    block
}

fn imported_with(names: &[&str]) -> RunRecord {
    let mut run = full();
    run.origin = Origin::Imported {
        program: "fio-3.39".into(),
        source: "a.json".into(),
        reported: Box::new(Reported {
            blocks: names.iter().map(|name| block(name)).collect(),
            ..Reported::default()
        }),
    };
    run
}

fn reduced(run: &RunRecord) -> RunRecord {
    let mut run = run.clone();
    reduce(&mut run);
    run
}

#[test]
fn a_reduced_record_keeps_only_the_blocks_that_summaries_read() {
    let cases: [(&[&str], &[&str]); 4] = [
        (
            &["start", "job", "layout", "group", "disk", "other", "disk"],
            &["start", "layout", "disk", "disk"],
        ),
        (&["disk"], &["disk"]),
        (&["job", "job"], &[]),
        (&[], &[]),
    ];
    for (printed, kept) in cases {
        let Origin::Imported { reported, .. } = reduced(&imported_with(printed)).origin else {
            panic!("it was imported")
        };
        let without_parts = |name: &&str| ReportedBlock {
            blocks: Vec::new(),
            ..block(name)
        };
        let expected: Vec<ReportedBlock> = kept.iter().map(without_parts).collect();
        assert_eq!(reported.blocks, expected, "{printed:?}");
    }
}

#[test]
fn a_reduced_record_has_no_distribution_of_submission_latencies() {
    for run in [full(), imported_with(&["start", "disk"])] {
        let reduced = reduced(&run);
        let workers = |run: &RunRecord| run.phases[0].workers.clone();
        assert_eq!(reduced.phases[0].workers.len(), 2);
        for (before, after) in workers(&run).into_iter().zip(workers(&reduced)) {
            for op in Op::ALL {
                let slat = &after.ops[op].slat;
                assert_eq!(slat.stat, before.ops[op].slat.stat);
                assert!(slat.histogram.is_none() && slat.over_time.is_empty());
            }
            // Everything else of the worker is unchanged.
            let mut expected = before;
            expected.ops = PerOp {
                read: without_distribution(expected.ops.read),
                write: without_distribution(expected.ops.write),
                trim: expected.ops.trim,
            };
            assert_eq!(after, expected);
        }
    }
}

fn without_distribution(
    mut done: hakaru_model::record::OpRecord,
) -> hakaru_model::record::OpRecord {
    let stat = done.slat.stat;
    done.slat = Latency {
        stat,
        ..Latency::default()
    };
    done
}

#[test]
fn the_summary_of_reduced_records_is_that_of_the_whole_ones() {
    for run in [
        full(),
        imported_with(&["start", "job", "layout", "disk"]),
        imported_with(&["start", "job"]),
        imported_with(&["disk", "disk"]),
    ] {
        let whole = summarize(&[run.clone(), run.clone()]);
        assert_eq!(summarize(&[reduced(&run), reduced(&run)]), whole);
    }
}

//! Tests of which runs, counters and intervals a figure of a phase comes from.

use super::*;
use hakaru_model::job::PerOp;

/// Returns a run of 100 intervals whose speed drops to a third after some of them.
fn dropping(repeat: u32, at: usize) -> RunRecord {
    let mut run = write_run(repeat, 30e6, 50);
    for interval in &mut run.phases[0].workers[0].intervals[at..] {
        interval.ops.write.bytes /= 3;
    }
    run
}

/// The intervals before the drop in each run; those before the reported drop, and whether it is proven.
type DropCase<'a> = (&'a [usize], Option<(usize, bool)>);

/// A drop is proven if a tenth of the run follows.
#[test]
fn drops_are_those_of_the_first_run_with_a_permanent_one() {
    const NONE: usize = 100;
    const LATE: usize = 91;
    let cases: [DropCase<'_>; 8] = [
        (&[NONE, NONE], None),
        (&[60, NONE], Some((60, true))),
        (&[NONE, 60, 40], Some((60, true))),
        (&[LATE, 60], Some((60, true))),
        // Without a permanent one, a drop at the end is better than none.
        (&[LATE, NONE], Some((LATE, false))),
        (&[NONE, LATE], Some((LATE, false))),
        (&[NONE, NONE, LATE, 92], Some((LATE, false))),
        (&[NONE, LATE, 60], Some((60, true))),
    ];
    for (drops, expected) in cases {
        let runs: Vec<RunRecord> = (0..)
            .zip(drops)
            .map(|(repeat, &at)| dropping(repeat, at))
            .collect();
        let summary = summarize(&runs);
        let found = summary.phases[0].sustained.clone().unwrap();
        let seconds = found.falls.iter().map(|fall| fall.after_time.as_secs_f64());
        let seconds: Vec<f64> = seconds.collect();
        assert_eq!(seconds.len(), expected.iter().len(), "{drops:?}");
        for (found, (at, _)) in seconds.iter().zip(expected) {
            assert!((found - at as f64 / 2.0).abs() < 1e-6, "{drops:?} {found}");
        }
        let is_proven = expected.is_some_and(|(_, proven)| proven);
        assert_eq!(found.cliff.is_some(), is_proven, "{drops:?}");
        assert_eq!(
            found.cliff,
            found.falls.first().filter(|_| is_proven).cloned()
        );
        let is_cliff = |caveat: &Caveat| matches!(caveat, Caveat::Cliff { .. });
        assert_eq!(summary.caveats.iter().any(is_cliff), is_proven);
    }
}

#[test]
fn the_length_of_intervals_is_their_median() {
    for (lengths, seconds) in [
        (&[2.5][..], Some(2.5)),
        (&[0.5, 4.0, 0.25], Some(0.5)),
        (&[5.0, 1.0, 4.0, 2.0, 3.0], Some(3.0)),
        (&[0.5, 0.5, 0.5, 0.5, 9.0, 9.0, 0.1], Some(0.5)),
        (&[9.0, 9.0, 9.0, 9.0, 0.1, 0.1, 0.1], Some(9.0)),
        (&[], None),
    ] {
        let steps: Vec<(f64, f64)> = lengths.iter().map(|&length| (length, 7.0)).collect();
        let expected = seconds.map(|s: f64| Nanos((s * 1e9) as u64));
        assert_eq!(median_length(&steps), expected, "{lengths:?}");
    }
}

#[test]
fn moved_bytes_are_those_of_the_run_with_the_fewest() {
    let runs = records(&[100e6, 15e6, 248e6]);
    let bytes = |run: &RunRecord| run.phases[0].workers[0].ops.write.bytes;
    let moved = |runs: &[RunRecord]| summarize(runs).phases[0].detail.moved;
    assert_eq!(moved(&runs), Bytes(bytes(&runs[1])));
    assert_eq!(moved(&runs[2..]), Bytes(bytes(&runs[2])));
    // Runs that do not count have no part in it.
    let mut stopped = runs.clone();
    stopped[1].phases[0].workers[0].stop = StopReason::Stopped;
    assert_eq!(moved(&stopped), Bytes(bytes(&runs[0])));
}

fn disk(sectors: u64) -> DiskStats {
    DiskStats {
        name: "mmcblk0".into(),
        read_sectors: sectors,
        write_sectors: sectors,
        ..DiskStats::default()
    }
}

/// Returns the I/O amplification of the only phase, or why there is none.
fn amplification_of(run: &RunRecord) -> (Option<f64>, Option<NoAmplification>) {
    let phase = summarize(std::slice::from_ref(run)).phases.remove(0);
    let mean = phase.amplification.map(|all| all.mean);
    (mean, phase.detail.no_amplification)
}

/// A trim moves no data.
#[test]
fn trims_have_no_amplification() {
    let own = Some(Bytes(4096));
    let traffic = |own_written| MeasuredTraffic {
        disks: vec![disk(8)],
        own_read: own_written,
        own_written,
    };
    let traffics = [None, Some(traffic(None)), Some(traffic(own))];
    for traffic in traffics {
        for system_disk in [false, true] {
            let mut run = write_run(0, 30e6, 20);
            let worker = &mut run.phases[0].workers[0];
            worker.ops.trim = std::mem::take(&mut worker.ops.write);
            run.target.system_disk = system_disk;
            run.phases[0].disks = vec![disk(8)];
            run.phases[0].traffic.clone_from(&traffic);
            assert_eq!(amplification_of(&run), (None, None), "{traffic:?}");
        }
    }
}

/// Without counters there is nothing to explain, whether or not the bytes of the ramp time are known.
#[test]
fn no_amplification_without_counters_has_no_reason() {
    let ramps = [None, Some(PerOp::all(Bytes(1 << 20)))];
    for ramp_bytes in ramps {
        for ramp_s in [0, 5] {
            let mut run = write_run(0, 30e6, 20);
            run.scenario.phases[0].jobs[0].timing.ramp_time = Nanos::from_secs(ramp_s);
            run.phases[0].workers[0].ramp_bytes.clone_from(&ramp_bytes);
            assert_eq!(amplification_of(&run), (None, None), "{ramp_bytes:?}");
            // With counters, unknown bytes are the reason.
            run.phases[0].disks = vec![disk(1 << 20)];
            let is_unknown = ramp_bytes.is_none() && ramp_s > 0;
            let because = is_unknown.then_some(NoAmplification::RampNotCounted);
            assert_eq!(amplification_of(&run).1, because, "{ramp_bytes:?}");
        }
    }
}

/// Sixteen jobs printed 1,280 samples.
#[test]
fn printed_samples_of_no_time_have_no_length() {
    for (runtime, interval) in [
        (Nanos(0), None),
        (Nanos(1), None),
        (Nanos(80), Some(Nanos(1))),
        (Nanos::from_secs(40), Some(Nanos::from_millis(500))),
    ] {
        let mut run = imported(None);
        run.phases[0].workers[0].ops.write.runtime = Some(runtime);
        let found = summarize(&[run]).phases.remove(0).sustained.unwrap();
        assert_eq!(found.interval, interval, "{runtime:?}");
    }
}

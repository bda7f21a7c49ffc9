//! Publishes the progress of a run for other processes: twice a second, from the events that the observer receives
//! anyway.

use super::forwarding::ObserverHook;
use hakaru_device::{HostSensors, Roots};
use hakaru_engine::{LayoutProgress, PhaseProgress};
use hakaru_model::job::{Op, PerOp};
use hakaru_model::plan::{PhasePlan, Plan};
use hakaru_model::record::{Interval, LatencyStepCounts, PhaseRecord};
use hakaru_model::units::Nanos;
use hakaru_store::live::{
    LiveActivity, LivePhase, LivePhaseState, LivePublisher, LiveRate, LiveSample, STATE_PERIOD,
};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Interval between two readings of the sensors of the host.
const SENSOR_PERIOD: Duration = Duration::from_secs(2);

/// Publishes the phases of one run and samples of their rates.
#[derive(Debug)]
pub(super) struct Publishing {
    live: LivePublisher,
    index: usize,
    /// Intervals of each worker since the last sample. For a simulated card, they are in virtual time.
    pending: BTreeMap<usize, Interval>,
    /// Latencies of all workers since the last sample.
    latencies: PerOp<LatencyStepCounts>,
    last: Instant,
    sensors: HostSensors,
    sensors_read: Option<Instant>,
}

impl Publishing {
    /// Publishes that the phases of a plan are waiting.
    pub(super) fn begin(live: &LivePublisher, plan: &Plan) -> Publishing {
        let phases = plan.phases.iter().map(|phase| LivePhase {
            name: phase.name.clone(),
            state: LivePhaseState::Waiting,
            permille: None,
        });
        let phases = phases.collect();
        live.update(|state| {
            state.phases = phases;
            (state.activity, state.remaining_s) = (None, None);
        });
        Publishing {
            live: live.clone(),
            index: 0,
            pending: BTreeMap::new(),
            latencies: PerOp::default(),
            last: Instant::now(),
            sensors: HostSensors::default(),
            sensors_read: None,
        }
    }

    fn set_phase(&self, state: LivePhaseState, permille: Option<u32>) {
        self.live.update(|live| {
            live.activity = None;
            if let Some(phase) = live.phases.get_mut(self.index) {
                (phase.state, phase.permille) = (state, permille);
            }
        });
    }

    fn sensors(&mut self) -> HostSensors {
        let is_old = |at: Instant| at.elapsed() >= SENSOR_PERIOD;
        if self.sensors_read.is_none_or(is_old) {
            self.sensors = hakaru_device::host_sensors(&Roots::live());
            self.sensors_read = Some(Instant::now());
        }
        self.sensors
    }

    /// Publishes the rates since the last sample.
    fn sample(&mut self, phase: &str, progress: &PhaseProgress) {
        let pending = std::mem::take(&mut self.pending);
        let latencies = std::mem::take(&mut self.latencies);
        let rate = |op: Op| rate(op, &pending, &latencies[op], progress);
        let [read, write, trim] = Op::ALL.map(rate);
        let HostSensors {
            temperature,
            throttled,
        } = self.sensors();
        self.live.sample(LiveSample {
            seq: 0,
            at_unix_ms: crate::now_unix_ms(),
            phase: phase.to_owned(),
            measuring: progress.measuring,
            read,
            write,
            trim,
            temperature,
            throttled,
        });
    }
}

/// Returns the rate of one operation: of the pending intervals, or before the first interval that of the last moment.
fn rate(
    op: Op,
    pending: &BTreeMap<usize, Interval>,
    latencies: &LatencyStepCounts,
    progress: &PhaseProgress,
) -> Option<LiveRate> {
    let mut sum = LiveRate::default();
    for interval in pending.values() {
        let seconds = interval.length.as_secs_f64().max(1e-9);
        sum.bytes_per_s += interval.ops[op].bytes as f64 / seconds;
        sum.iops += interval.ops[op].ios as f64 / seconds;
    }
    if pending.is_empty() {
        sum.bytes_per_s = progress.bytes_per_s[op] as f64;
        sum.iops = progress.iops[op] as f64;
    }
    let is_used = progress.ios[op] > 0 || sum.iops > 0.0;
    let percentile = |share| latencies.percentile(share).map(|Nanos(ns)| ns);
    is_used.then(|| LiveRate {
        bytes_per_s: sum.bytes_per_s.round(),
        iops: (sum.iops * 10.0).round() / 10.0,
        p50_ns: percentile(0.5),
        p99_ns: percentile(0.99),
    })
}

impl ObserverHook for Publishing {
    fn phase_begins(&mut self, index: usize, _phase: &PhasePlan) {
        self.index = index;
        self.pending.clear();
        self.latencies = PerOp::default();
        self.last = Instant::now();
        self.set_phase(LivePhaseState::Ramp, None);
    }

    fn laying_out(&mut self, layout: &LayoutProgress<'_>) {
        let activity = LiveActivity {
            doing: "laying_out".to_owned(),
            done: layout.done,
            total: layout.file.size.0,
        };
        self.live.update(|state| state.activity = Some(activity));
    }

    fn latencies(&mut self, _worker: usize, latencies: &PerOp<LatencyStepCounts>) {
        for op in Op::ALL {
            self.latencies[op].add(&latencies[op]);
        }
    }

    fn interval(&mut self, worker: usize, interval: &Interval) {
        self.pending
            .entry(worker)
            .and_modify(|before| before.join(interval))
            .or_insert(*interval);
    }

    fn progress(&mut self, phase: &PhasePlan, progress: &PhaseProgress) {
        if self.last.elapsed() < STATE_PERIOD {
            return;
        }
        self.last = Instant::now();
        let state = match progress.measuring {
            true => LivePhaseState::Running,
            false => LivePhaseState::Ramp,
        };
        self.set_phase(state, progress.permille);
        let remaining = progress.remaining.map(|left| left.as_secs_f64());
        self.live.update(|live| live.remaining_s = remaining);
        self.sample(&phase.name, progress);
    }

    fn phase_ends<'r>(&mut self, record: &'r PhaseRecord) -> Cow<'r, PhaseRecord> {
        self.set_phase(LivePhaseState::Done, Some(1000));
        Cow::Borrowed(record)
    }
}

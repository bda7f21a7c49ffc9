//! Publishes what a command does, so that other processes such as `hakaru serve` see it and can stop it.

use crate::exit::Exit;
use crate::stop;
use hakaru_device::{HostSensors, Roots, ScanProgress};
use hakaru_model::facts::Identity;
use hakaru_store::live::{
    LiveActivity, LiveEnd, LivePublisher, LiveRate, LiveSample, LiveVerb, STATE_PERIOD,
};
use std::path::Path;
use std::time::Instant;

/// Begins to publish, unless `HAKARU_LIVE=0`. `None` if that is not possible; the command works all the same.
pub(crate) fn begin(database: &Path, verb: LiveVerb, target: &str) -> Option<LivePublisher> {
    let is_off = std::env::var_os("HAKARU_LIVE").is_some_and(|value| value == "0");
    if is_off {
        return None;
    }
    LivePublisher::begin(database, verb, target, stop::request)
}

/// Like [`begin`], for a command that works on one device or on a file system on it.
pub(crate) fn begin_on(
    database: &Path,
    verb: LiveVerb,
    identity: &Identity,
) -> Option<LivePublisher> {
    let live = begin(database, verb, &identity.display_name())?;
    let device = identity.device.known();
    let node = device.map(|device| device.node.display().to_string());
    live.update(|state| state.device = node);
    Some(live)
}

/// Publishes how a command ended, and returns its exit code. Without this call, it has failed.
pub(crate) fn ended(live: Option<&LivePublisher>, exit: Exit) -> Exit {
    if let Some(live) = live {
        live.end(match exit {
            Exit::Ok | Exit::Defective => LiveEnd::Completed,
            Exit::Interrupted | Exit::FioStopped | Exit::FioHungUp => LiveEnd::Stopped,
            _ => LiveEnd::Failed,
        });
    }
    exit
}

/// Whether the process was started by `hakaru serve`, without a terminal: its questions are answered there.
pub(crate) fn is_detached() -> bool {
    std::env::var_os("HAKARU_DETACHED").is_some_and(|value| value == "1")
}

/// Publishes the progress of passes over a device.
pub(crate) struct ScanPublisher {
    live: LivePublisher,
    doing: &'static str,
    /// Bytes of the pass at the last sample.
    done: u64,
    last: Instant,
}

impl ScanPublisher {
    pub(crate) fn new(live: LivePublisher) -> ScanPublisher {
        ScanPublisher {
            live,
            doing: "",
            done: 0,
            last: Instant::now(),
        }
    }

    /// Called after every chunk; publishes twice a second.
    pub(crate) fn report(&mut self, progress: &ScanProgress) {
        let is_new = self.doing != progress.doing;
        if is_new {
            (self.doing, self.done, self.last) = (progress.doing, progress.done.0, Instant::now());
        }
        let elapsed = self.last.elapsed();
        if elapsed < STATE_PERIOD && !is_new {
            return;
        }
        let activity = LiveActivity {
            doing: progress.doing.to_owned(),
            done: progress.done.0,
            total: progress.total.0,
        };
        let remaining = progress.left().map(|left| left.as_secs_f64());
        self.live.update(|state| {
            (state.activity, state.remaining_s) = (Some(activity), remaining);
        });
        if !is_new {
            let bytes = progress.done.0.saturating_sub(self.done) as f64;
            self.live
                .sample(sample(progress.doing, bytes / elapsed.as_secs_f64()));
            (self.done, self.last) = (progress.done.0, Instant::now());
        }
    }

    /// Publishes an activity of unknown duration.
    pub(crate) fn doing(&self, what: &str) {
        doing(&self.live, what);
    }
}

/// Publishes an activity of unknown duration.
pub(crate) fn doing(live: &LivePublisher, what: &str) {
    let activity = LiveActivity {
        doing: what.to_owned(),
        done: 0,
        total: 0,
    };
    live.update(|state| {
        (state.activity, state.remaining_s) = (Some(activity), None);
    });
}

/// Returns the sample of a pass; its latencies are not measured.
fn sample(doing: &str, bytes_per_s: f64) -> LiveSample {
    let rate = Some(LiveRate {
        bytes_per_s: bytes_per_s.round(),
        ..LiveRate::default()
    });
    let HostSensors {
        temperature,
        throttled,
    } = hakaru_device::host_sensors(&Roots::live());
    let sample = LiveSample {
        at_unix_ms: hakaru_campaign::now_unix_ms(),
        phase: doing.to_owned(),
        measuring: true,
        temperature,
        throttled,
        ..LiveSample::default()
    };
    match doing {
        "reading" | "reading again" => LiveSample {
            read: rate,
            ..sample
        },
        "discarding" => LiveSample {
            trim: rate,
            ..sample
        },
        _ => LiveSample {
            write: rate,
            ..sample
        },
    }
}

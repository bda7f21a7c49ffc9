//! The four workloads of a published comparison of cards, as typed by its authors, and their expected results.
//!
//! The missing dashes of `numjobs=1` are original too: fio stops there, but hakaru accepts it.

use super::product::fio_job;
use anyhow::{Context, Result};
use hakaru_model::device_model::DeviceModel;

/// One of the four workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RigWorkload {
    pub(super) rw: &'static str,
    pub(super) bs: &'static str,
}

pub(super) const ALL: [RigWorkload; 4] = [
    RigWorkload {
        rw: "write",
        bs: "1M",
    },
    RigWorkload {
        rw: "read",
        bs: "1M",
    },
    RigWorkload {
        rw: "randwrite",
        bs: "4K",
    },
    RigWorkload {
        rw: "randread",
        bs: "4K",
    },
];

impl RigWorkload {
    /// The command line after `fio`. The target is `--filename=` or `--directory=` with its value. The published sizes
    /// are 16G and 60 seconds.
    pub(super) fn command(self, target: &str, filesize: &str, runtime_s: u32) -> String {
        let RigWorkload { rw, bs } = self;
        format!(
            "--name=write_bandwidth_test {target} --filesize={filesize} --time_based --ramp_time=2s --runtime={runtime_s} \
             --ioengine=sync --direct=1 --bs={bs} --iodepth=1 numjobs=1 --rw={rw} --fsync_on_close=1 --invalidate=1"
        )
    }

    pub(super) fn writes(self) -> bool {
        self.rw.ends_with("write")
    }

    /// Expected bytes per second according to the device model, on a card that does nothing else.
    pub(super) fn expected(self, model: &DeviceModel) -> f64 {
        let (rate, seek) = match self.writes() {
            true => (model.write_rate, model.write_seek),
            false => (model.read_rate, model.read_seek),
        };
        match self.bs {
            // A sequential stream seeks once, before the measurement starts.
            "1M" => rate as f64,
            _ => 4096.0 / (4096.0 / rate as f64 + seek.as_secs_f64()),
        }
    }

    /// Measured bytes per second from fio's JSON.
    pub(super) fn measured(self, json: &str) -> Result<f64> {
        let job = fio_job(json)?;
        let side = &job[if self.writes() { "write" } else { "read" }];
        side["bw_bytes"]
            .as_f64()
            .context("fio's JSON has no bw_bytes")
    }
}

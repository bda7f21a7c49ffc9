//! The four workloads of a published comparison of cards, as its authors typed them, and what they must come to.
//!
//! `numjobs=1` without its dashes is theirs too: fio stops there, and ours understands it.

use anyhow::{Context, Result, bail};
use hakaru_model::device_model::DeviceModel;
use serde_json::Value;

/// One of the four.
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
    /// The command line after `fio`. The target is `--filename=` or `--directory=` with its value. They were printed with 16G
    /// and 60 seconds.
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

    /// Bytes per second by the list of prices, on a card that does nothing else.
    pub(super) fn by_list(self, prices: &DeviceModel) -> f64 {
        let (rate, seek) = match self.writes() {
            true => (prices.write_rate, prices.write_seek),
            false => (prices.read_rate, prices.read_seek),
        };
        match self.bs {
            // A stream seeks once, in the time before anything is measured.
            "1M" => rate as f64,
            _ => 4096.0 / (4096.0 / rate as f64 + seek.as_secs_f64()),
        }
    }

    /// Bytes per second, out of the JSON that fio prints.
    pub(super) fn measured(self, json: &str) -> Result<f64> {
        let tree: Value = serde_json::from_str(json).context("fio printed no JSON")?;
        let job = &tree["jobs"][0];
        if job["error"].as_i64() != Some(0) {
            bail!("fio's job ended with error {}", job["error"]);
        }
        let side = &job[if self.writes() { "write" } else { "read" }];
        side["bw_bytes"]
            .as_f64()
            .context("fio's JSON has no bw_bytes")
    }
}

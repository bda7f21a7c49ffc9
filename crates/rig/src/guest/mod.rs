//! A virtual machine that accesses simulated cards through Linux's own MMC stack, and runs scripts for a test.
//!
//! The machine is QEMU with an emulated CPU, so it needs neither a special host nor root. It mounts the host's files
//! read-only under a RAM disk overlay, so it runs the host's `mkfs` and newly built programs without copies. Files
//! written to `/out` are kept. One machine runs any number of scripts.

mod builder;
mod error;
mod monitor;
mod pi;
mod qemu;

pub use builder::{DISK_SIZE, GuestBuilder, GuestDisk, SlotWiring};
pub use error::{GuestError, Output};
pub use pi::{Pi, PiRun};

use crate::card::SimulatedCard;
use crate::nbd::Server;
use hakaru_model::units::Bytes;
use monitor::Monitor;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time limit of a boot. A boot takes six seconds on an idle host, and longer on a busy one.
const BOOT_LIMIT: Duration = Duration::from_secs(120);

/// Time a machine has to exit by itself before it is killed.
const FAREWELL: Duration = Duration::from_secs(20);

/// Loads the slot drivers, and waits until the expected number of cards has appeared.
const FIND_CARDS: &str = "modprobe sdhci-pci && modprobe mmc_block || exit 1
n=0
while [ \"$(ls -d /dev/mmcblk[0-9] 2>/dev/null | wc -l)\" -lt CARDS ]; do
    n=$((n + 1))
    [ $n -lt 600 ] || exit 1
    sleep 0.05
done
";

/// A running machine. Dropping it kills it.
#[derive(Debug)]
pub struct Guest {
    child: Child,
    orders: ChildStdin,
    answers: Receiver<String>,
    monitor: Monitor,
    cards: Vec<Arc<SimulatedCard>>,
    servers: Vec<Server>,
    scripts: u32,
    /// Duration of the boot.
    boot_time: Duration,
    out: PathBuf,
    dir: TempDir,
}

impl Guest {
    /// Duration of the boot, from the first instruction to the first command.
    pub fn boot_time(&self) -> Duration {
        self.boot_time
    }

    /// The host directory mounted as `/out`.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// All console output so far.
    fn console(&self) -> String {
        let bytes = std::fs::read(self.dir.path().join("console.log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\r', "")
    }

    /// Runs a script as root and waits for it to exit.
    ///
    /// # Errors
    /// If the machine exits or `limit` is exceeded; the machine is off in both cases.
    pub fn run(&mut self, script: &str, limit: Duration) -> Result<Output, GuestError> {
        self.begin(script)?;
        self.finish(limit)
    }

    /// Runs a script that must succeed, and returns its standard output.
    ///
    /// # Errors
    /// See [`Guest::run`], and [`GuestError::Script`] if the exit code is not 0.
    pub fn check_output(&mut self, script: &str, limit: Duration) -> Result<String, GuestError> {
        self.run(script, limit)?.success()
    }

    /// Starts a script without waiting; one at a time.
    ///
    /// # Errors
    /// If the script cannot be sent to the machine.
    pub fn begin(&mut self, script: &str) -> Result<(), GuestError> {
        self.scripts += 1;
        let number = self.scripts;
        let file = self.out.join(format!("{number}.sh"));
        std::fs::write(&file, script)
            .map_err(GuestError::host("cannot pass the script to the guest"))?;
        self.order(&number.to_string())
    }

    /// Waits for the script started last to exit.
    ///
    /// # Errors
    /// See [`Guest::run`].
    pub fn finish(&mut self, limit: Duration) -> Result<Output, GuestError> {
        let number = self.scripts;
        let during = format!("running script {number}");
        let start = format!("done {number} ");
        let code = self.await_answer(&during, limit, |line| {
            line.strip_prefix(&start)
                .and_then(|code| code.trim().parse::<i32>().ok())
        })?;
        let text = |kind: &str| {
            let bytes =
                std::fs::read(self.out.join(format!("{number}.{kind}"))).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Ok(Output {
            code,
            stdout: text("out"),
            stderr: text("err"),
        })
    }

    /// Removes a card from its slot at any time.
    ///
    /// # Errors
    /// If QEMU rejects the command.
    pub fn pull(&mut self, slot: usize) -> Result<(), GuestError> {
        self.monitor.order(&format!("eject -f c{slot}"))
    }

    /// Reinserts the card of a slot.
    ///
    /// # Errors
    /// If QEMU rejects the command.
    pub fn push(&mut self, slot: usize) -> Result<(), GuestError> {
        let socket = self
            .servers
            .get(slot)
            .map(|server| server.socket().display().to_string())
            .unwrap_or_default();
        self.monitor
            .order(&format!("change c{slot} nbd+unix:///?socket={socket} raw"))
    }

    /// Shuts the machine down cleanly, with all written data on the cards.
    ///
    /// # Errors
    /// If it does not exit.
    pub fn power_off(mut self) -> Result<(), GuestError> {
        self.order("off")?;
        let begun = Instant::now();
        while begun.elapsed() < FAREWELL {
            match self.child.try_wait() {
                Ok(Some(_)) => return Ok(()),
                Ok(None) => std::thread::sleep(Duration::from_millis(20)),
                Err(source) => return Err(GuestError::host("cannot wait for QEMU")(source)),
            }
        }
        Err(self.too_late("switching off", FAREWELL))
    }

    /// Cuts the power of the guest and its cards, and returns the data that each card lost although it was flushed.
    ///
    /// # Errors
    /// If the data of a card cannot be restored.
    pub fn cut_power(mut self) -> Result<Vec<Bytes>, GuestError> {
        self.kill();
        // No request may reach a card without power.
        self.servers.clear();
        self.cards
            .iter()
            .map(|card| card.power_cut().map_err(GuestError::Card))
            .collect()
    }

    /// Waits until all cards are detected.
    fn find_cards(&mut self) -> Result<(), GuestError> {
        if !self.cards.is_empty() {
            let script = FIND_CARDS.replace("CARDS", &self.cards.len().to_string());
            self.check_output(&script, BOOT_LIMIT)?;
        }
        Ok(())
    }

    fn order(&mut self, word: &str) -> Result<(), GuestError> {
        let sent = self
            .orders
            .write_all(format!("{word}\n").as_bytes())
            .and_then(|()| self.orders.flush());
        sent.map_err(|_| self.post_mortem("receiving an order"))
    }

    /// Waits for the answer that `wanted` recognizes.
    fn await_answer<T>(
        &mut self,
        during: &str,
        limit: Duration,
        wanted: impl Fn(&str) -> Option<T>,
    ) -> Result<T, GuestError> {
        let end = Instant::now() + limit;
        loop {
            match self
                .answers
                .recv_timeout(end.saturating_duration_since(Instant::now()))
            {
                Ok(line) => {
                    if let Some(answer) = wanted(&line) {
                        return Ok(answer);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Err(self.too_late(during, limit)),
                Err(RecvTimeoutError::Disconnected) => return Err(self.post_mortem(during)),
            }
        }
    }

    fn too_late(&mut self, during: &str, after: Duration) -> GuestError {
        self.kill();
        GuestError::timed_out(during, after, &self.console())
    }

    /// Determines why the machine exited.
    fn post_mortem(&mut self, during: &str) -> GuestError {
        // Its end of the connection is closed, so it is about to exit.
        let status = match self.child.wait() {
            Ok(status) => status,
            Err(source) => return GuestError::host("cannot wait for QEMU")(source),
        };
        let log = qemu::log(self.dir.path());
        GuestError::after_exit(status, during, &self.console(), &log)
    }

    fn kill(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.kill();
    }
}

//! A virtual machine that accesses simulated cards through Linux's own MMC stack, and runs scripts for a test.
//!
//! The machine is QEMU with an emulated CPU, so it needs neither a special host nor root. It mounts the host's files
//! read-only under a RAM disk overlay, so it runs the host's `mkfs` and newly built programs without copies. Files
//! written to `/out` are kept. One machine runs any number of scripts.

mod builder;
mod monitor;
mod pi;

pub use builder::{Builder, DISK_SIZE, GuestDisk, SlotWiring};
pub use pi::{Pi, PiRun};

use crate::card::{Refused, SimulatedCard};
use crate::kit::{Kit, KitError};
use crate::nbd::Server;
use hakaru_model::units::Bytes;
use monitor::Monitor;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time a machine has to exit by itself before it is killed.
const FAREWELL: Duration = Duration::from_secs(20);

/// Errors of the machine. A failed script is not an error, but an [`Output`].
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// The kit is missing.
    #[error(transparent)]
    Kit(#[from] KitError),
    /// An operation of the host failed.
    #[error("{what}: {source}")]
    Host {
        /// The operation.
        what: String,
        /// The cause.
        source: io::Error,
    },
    /// QEMU itself failed.
    #[error("QEMU ended ({status}) {during}: {said}")]
    Qemu {
        /// Exit status.
        status: ExitStatus,
        /// The operation in progress.
        during: String,
        /// Its output.
        said: String,
    },
    /// The guest's kernel panicked.
    #[error("the guest's kernel panicked {during}; last console output:\n{console}")]
    Panicked {
        /// The operation in progress.
        during: String,
        /// The end of the console output.
        console: String,
    },
    /// The machine exceeded its time limit and was killed.
    #[error("the guest timed out {during} after {} s; last console output:\n{console}", after.as_secs())]
    TimedOut {
        /// The operation in progress.
        during: String,
        /// The time limit.
        after: Duration,
        /// The end of the console output.
        console: String,
    },
    /// The machine exited unexpectedly.
    #[error("the guest exited {during}; last console output:\n{console}")]
    Ended {
        /// The operation in progress.
        during: String,
        /// The end of the console output.
        console: String,
    },
    /// A script failed.
    #[error("the script ended with {}\n{}{}", output.code, output.stdout, output.stderr)]
    Script {
        /// Its output.
        output: Output,
    },
    /// A QEMU monitor command failed.
    #[error("QEMU answered `{command}` with: {answer}")]
    Monitor {
        /// The command.
        command: String,
        /// The reply.
        answer: String,
    },
    /// A card could not be restored after a power cut.
    #[error(transparent)]
    Card(#[from] Refused),
}

impl GuestError {
    fn host(what: impl Into<String>) -> impl FnOnce(io::Error) -> GuestError {
        let what = what.into();
        move |source| GuestError::Host { what, source }
    }
}

/// Result of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Output {
    /// Returns standard output if the script succeeded.
    ///
    /// # Errors
    /// [`GuestError::Script`] with all its output if the exit code is not 0.
    pub fn success(self) -> Result<String, GuestError> {
        if self.code == 0 {
            Ok(self.stdout)
        } else {
            Err(GuestError::Script { output: self })
        }
    }
}

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
    folder: TempDir,
}

impl Guest {
    /// Returns a builder for a PC guest.
    pub fn builder(kit: &Kit) -> Builder {
        Builder::new(kit)
    }

    /// Duration of the boot, from the first instruction to the first command.
    pub fn boot_time(&self) -> Duration {
        self.boot_time
    }

    /// The host directory mounted as `/out`.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// All console output so far.
    pub fn console(&self) -> String {
        console(self.folder.path())
    }

    /// Runs a script as root and waits for it to exit.
    ///
    /// # Errors
    /// If the machine exits or `limit` is exceeded; the machine is off in both cases.
    pub fn run(&mut self, script: &str, limit: Duration) -> Result<Output, GuestError> {
        self.begin(script)?;
        self.finish(limit)
    }

    /// Starts a script without waiting; one at a time.
    ///
    /// # Errors
    /// If the script cannot be sent to the machine.
    pub fn begin(&mut self, script: &str) -> Result<(), GuestError> {
        self.scripts += 1;
        let number = self.scripts;
        let file = self.out.join(format!("{number}.sh"));
        std::fs::write(&file, script).map_err(GuestError::host(
            "cannot pass the script to the \
            guest",
        ))?;
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

    fn order(&mut self, word: &str) -> Result<(), GuestError> {
        let sent = self
            .orders
            .write_all(format!("{word}\n").as_bytes())
            .and_then(|()| self.orders.flush());
        sent.map_err(|_| self.post_mortem("being told what to do"))
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
        GuestError::TimedOut {
            during: during.to_owned(),
            after,
            console: last_words(&self.console()),
        }
    }

    /// Determines why the machine exited.
    fn post_mortem(&mut self, during: &str) -> GuestError {
        // Its end of the connection is closed, so it is about to exit.
        let status = match self.child.wait() {
            Ok(status) => status,
            Err(source) => return GuestError::host("cannot wait for QEMU")(source),
        };
        let during = during.to_owned();
        let console = self.console();
        if console.contains("Kernel panic") {
            return GuestError::Panicked {
                during,
                console: last_words(&console),
            };
        }
        if status.success() {
            return GuestError::Ended {
                during,
                console: last_words(&console),
            };
        }
        let said = std::fs::read_to_string(self.folder.path().join("qemu.log")).unwrap_or_default();
        GuestError::Qemu {
            status,
            during,
            said: said.trim().to_owned(),
        }
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

fn console(folder: &Path) -> String {
    let bytes = std::fs::read(folder.join("console.log")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\r', "")
}

fn last_words(console: &str) -> String {
    let lines: Vec<&str> = console.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// Reads lines in a separate thread, so that waiting can time out.
fn lines_of(from: impl io::Read + Send + 'static) -> Receiver<String> {
    let (to, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).split(b'\n') {
            let Ok(line) = line else { return };
            if to
                .send(
                    String::from_utf8_lossy(&line)
                        .trim_end_matches('\r')
                        .to_owned(),
                )
                .is_err()
            {
                return;
            }
        }
    });
    lines
}

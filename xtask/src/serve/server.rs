//! The server as a process.

use super::fixture;
use crate::pages::browser::Browser;
use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

/// A running server.
pub(super) struct ServeProcess {
    child: Child,
    pub(super) program: PathBuf,
    home: PathBuf,
    /// Address without a slash at the end.
    pub(super) url: String,
    /// The token, which only the first server of a database prints.
    token: Option<String>,
}

impl ServeProcess {
    /// Starts a server on a free port.
    pub(super) fn start(program: &Path, home: &Path) -> Result<ServeProcess> {
        ServeProcess::listening(program, home, "127.0.0.1:0")
    }

    fn listening(program: &Path, home: &Path, address: &str) -> Result<ServeProcess> {
        let mut child = fixture::hakaru(program, home)
            .args(["serve", "--listen", address])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the server")?;
        // The last line is about the token.
        let mut said = String::new();
        let mut out = BufReader::new(child.stdout.take().context("the server has no output")?);
        while !said.contains("token") {
            let read = out.read_line(&mut said)?;
            ensure!(read > 0, "the server ended: {said}");
        }
        let url = said
            .split_whitespace()
            .find(|word| word.starts_with("http"));
        let url = url.context("the server printed no address")?;
        let token = said.split("token=").nth(1);
        let token = token.and_then(|token| token.split_whitespace().next());
        Ok(ServeProcess {
            url: url.trim_end_matches('/').to_owned(),
            token: token.map(str::to_owned),
            child,
            program: program.to_owned(),
            home: home.to_owned(),
        })
    }

    /// Kills the server and starts another one at the same address, which the page reconnects to.
    pub(super) fn killed_and_restarted(mut self) -> Result<ServeProcess> {
        self.child.kill()?;
        self.child.wait()?;
        let address = self.url.trim_start_matches("http://").to_owned();
        ServeProcess::listening(&self.program, &self.home, &address)
    }

    /// Resident memory in bytes.
    pub(super) fn memory(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kib: u64 = kib.context("the kernel reports no memory")?.parse()?;
        Ok(kib << 10)
    }

    /// Processor time so far, of all threads.
    pub(super) fn cpu_time(&self) -> Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name in parentheses may contain spaces; user and system time are fields 14 and 15 (`proc_pid_stat(5)`).
        let fields = stat.rsplit(')').next().unwrap_or_default();
        let fields = fields.split_whitespace().skip(11).take(2);
        let ticks: Vec<u64> = fields.map(str::parse).collect::<Result<_, _>>()?;
        let tick = rustix::param::clock_ticks_per_second();
        Ok(Duration::from_secs(ticks.iter().sum()) / u32::try_from(tick)?)
    }

    /// Signs in by the link that the server has printed.
    pub(super) fn sign_in(&self, browser: &mut Browser) -> Result<()> {
        let token = self.token.as_deref().context("no token was printed")?;
        browser.resize(1280, false)?;
        browser.visit(&format!("{}/enter?token={token}", self.url))?;
        super::scenes::until(browser, "the sign-in", "location.pathname !== '/enter'")
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

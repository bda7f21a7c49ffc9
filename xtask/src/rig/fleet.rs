//! `cargo xtask rig fleet`: two emulated Raspberry Pis with emulated cards run the campaign of article E over a network;
//! one of them loses its power in the middle.
//!
//! As on real boards, the agent and its results are on the card, the network adapter is on USB, and no clock keeps the
//! time: both Pis start in 1970. The card is not written over with 0xff first, because the machines have no mkfs, and the
//! files are small, because an emulated Pi is slow.

use super::checks::Checks;
use super::pi::{card_with_layers, static_program};
use super::setup;
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use hakaru_fleet::directory::{FleetDirectory, NewFleet};
use hakaru_fleet::server;
use hakaru_model::record::RunRecord;
use hakaru_rig::card::SimulatedCard;
use hakaru_rig::guest::Pi;
use hakaru_rig::kit::Kit;
use hakaru_store::{OutcomeKind, Store};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Address of the host on the networks of the Pis.
const HOST: &str = "10.0.2.2";

const HOSTS: [&str; 2] = ["pi-1", "pi-2"];

/// The Pi that loses its power.
const VICTIM: usize = 1;

/// Number of repeats of each workload.
const REPEATS: u32 = 2;

/// Number of stored runs of the victim after which its power is cut.
const CUT_AFTER: usize = 4;

/// Maximum time of the campaign.
const MOST: Duration = Duration::from_secs(1800);

/// Runs the test.
///
/// # Errors
/// If a check fails, or the machines or the server cannot be started.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let mut args = args.to_vec();
    let inside = args.first().is_some_and(|word| word == "--inside");
    if inside {
        args.remove(0);
    }
    if !inside {
        return in_namespace(&args);
    }
    let program = static_program(&mut args)?;
    ensure!(
        args.is_empty(),
        "cargo xtask rig fleet takes nothing but --hakaru FILE"
    );
    setup::head_start();
    let mut checks = Checks::new();
    let room = PiRoom::open(program.file())?;
    let ended = room.carry_out(&checks);
    checks.check(
        "the campaign is complete, and every point is stored once",
        || room.check(&ended?),
    );
    checks.check(
        "start times are right although both Pis began in 1970",
        || room.check_clocks(),
    );
    checks.check("the report tells the hosts apart", || room.check_report());
    checks.conclude()
}

/// Runs this part again in a network namespace, in which the host has the address that the Pis know.
fn in_namespace(args: &[String]) -> Result<()> {
    // What is downloaded or built needs the network of the host.
    static_program(&mut args.to_vec())?;
    workspace::whole_program()?;
    let script = format!(
        "ip link set lo up && ip address add {HOST}/32 dev lo && exec \"$0\" rig fleet --inside \"$@\""
    );
    let status = Command::new("unshare")
        .args(["--net", "sh", "-c", &script])
        .arg(std::env::current_exe()?)
        .args(args)
        .status()
        .context("unshare")?;
    ensure!(status.success(), "the campaign failed");
    Ok(())
}

/// A fleet of two Pis.
struct PiRoom {
    folder: tempfile::TempDir,
    fleet: FleetDirectory,
    /// For each Pi, the word that enrolls it, and its card.
    boards: Vec<(String, Arc<SimulatedCard>)>,
    program: PathBuf,
    began_unix_ms: i64,
}

/// How the campaign ended.
struct RoomResult {
    output: serde_json::Value,
    /// Number of stored runs of the victim when its power was cut.
    cut_after: usize,
}

impl PiRoom {
    fn open(program: &Path) -> Result<PiRoom> {
        let folder = tempfile::tempdir()?;
        let new = NewFleet {
            addresses: vec![HOST.to_owned()],
            port: 4222,
            lease_seconds: 20,
        };
        let fleet = FleetDirectory::create(&folder.path().join("fleet"), &new)?;
        let mut boards = Vec::new();
        for host in HOSTS {
            boards.push((fleet.enroll(host)?.token()?, card_with_layers()?));
        }
        server::up(&fleet)?;
        let room = PiRoom {
            folder,
            fleet,
            boards,
            program: program.to_owned(),
            began_unix_ms: hakaru_campaign::now_unix_ms(),
        };
        std::fs::write(room.campaign(), campaign()?)?;
        Ok(room)
    }

    fn campaign(&self) -> PathBuf {
        self.folder.path().join("used.toml")
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("results.db")
    }

    fn hakaru(&self) -> Command {
        let mut command = Command::new(workspace::root().join("target/debug/hakaru"));
        command
            .env("HAKARU_LANG", "en")
            .env("HAKARU_FLEET", self.fleet.file(""));
        command
    }

    /// Starts a Pi in a thread, which runs its agent until the power is cut.
    fn power_on(&self, board: usize) -> PoweredPi {
        let (token, card) = &self.boards[board];
        let pi = Pi::with(&Kit::usual(), card)
            .networked()
            .program("hakaru", &self.program);
        let script = script(token, board);
        let powered = Arc::new(AtomicBool::new(true));
        let cut = Arc::clone(&powered);
        let thread = std::thread::spawn(move || match pi.run_while(&cut, &script, MOST) {
            Ok(None) => Ok(()),
            Ok(Some(run)) => bail!("the agent ended: {:?}", run.output),
            Err(error) => Err(error.into()),
        });
        PoweredPi { powered, thread }
    }

    /// Number of stored runs of a host that completed.
    fn stored(&self, host: &str) -> usize {
        let store = Store::read(self.database()).ok();
        let points = store.and_then(|store| store.points("article-e").ok());
        let points = points.unwrap_or_default();
        let done = points
            .iter()
            .filter(|point| point.host == host && point.outcome == OutcomeKind::Completed);
        done.count()
    }

    fn begin_operator(&self) -> Result<Child> {
        let file = |name: &str| std::fs::File::create(self.folder.path().join(name));
        let child = self
            .hakaru()
            .args(["fleet", "run", "--quiet", "--json", "--db"])
            .arg(self.database())
            .arg(self.campaign())
            .stdin(Stdio::null())
            .stdout(file("operator.json")?)
            .stderr(file("operator.log")?)
            .spawn()?;
        Ok(child)
    }

    fn carry_out(&self, checks: &Checks) -> Result<RoomResult> {
        let mut boards: Vec<PoweredPi> =
            (0..HOSTS.len()).map(|board| self.power_on(board)).collect();
        let begun = Instant::now();
        let mut operator = self.begin_operator()?;
        let mut cut_after = None;
        let status = loop {
            if let Some(status) = operator.try_wait()? {
                break status;
            }
            if begun.elapsed() >= MOST {
                operator.kill()?;
                bail!("not done after {MOST:?}: {}", self.said());
            }
            let stored = self.stored(HOSTS[VICTIM]);
            if cut_after.is_none() && stored >= CUT_AFTER {
                cut_after = Some(stored);
                boards.remove(VICTIM).cut()?;
                checks.say(&format!(
                    "{} loses its power after {stored} runs, {:.0} s after the start",
                    HOSTS[VICTIM],
                    begun.elapsed().as_secs_f64()
                ));
                boards.insert(VICTIM, self.power_on(VICTIM));
            }
            std::thread::sleep(Duration::from_millis(200));
        };
        for board in boards {
            board.cut()?;
        }
        ensure!(status.success(), "fleet run: {status}: {}", self.said());
        checks.say(&format!(
            "complete after {:.0} s",
            begun.elapsed().as_secs_f64()
        ));
        let output = std::fs::read_to_string(self.folder.path().join("operator.json"))?;
        Ok(RoomResult {
            output: serde_json::from_str(&output)?,
            cut_after: cut_after.context("the campaign ended before the power was cut")?,
        })
    }

    fn said(&self) -> String {
        let read = |name: &str| std::fs::read_to_string(self.folder.path().join(name));
        let parts = ["operator.json", "operator.log"].map(|name| read(name).unwrap_or_default());
        parts.concat()
    }

    fn records(&self) -> Result<Vec<RunRecord>> {
        let store = Store::read(self.database())?;
        let points = store.points("article-e")?;
        let runs = points.iter().map(|point| store.run(&point.run));
        Ok(runs.collect::<Result<_, _>>()?)
    }

    fn check(&self, ended: &RoomResult) -> Result<String> {
        let store = Store::read(self.database())?;
        let mut points: BTreeMap<(String, String, u32), u32> = BTreeMap::new();
        let mut cut_short = 0;
        for point in store.points("article-e")? {
            match point.outcome {
                OutcomeKind::Completed => {
                    *points
                        .entry((point.host, point.workload, point.repeat))
                        .or_default() += 1;
                }
                OutcomeKind::Interrupted | OutcomeKind::Failed => cut_short += 1,
            }
        }
        let wanted = HOSTS.len() * WORKLOADS.len() * REPEATS as usize;
        ensure!(
            points.len() == wanted,
            "{} of {wanted} points",
            points.len()
        );
        let twice = points.values().filter(|count| **count > 1).count();
        let reported = ended.output["duplicates"].as_array().map_or(0, Vec::len);
        ensure!(
            twice <= reported,
            "{twice} points twice, {reported} reported"
        );
        Ok(format!(
            "{wanted} points; power cut after {} runs of {}; {cut_short} runs cut short, {twice} measured twice",
            ended.cut_after, HOSTS[VICTIM]
        ))
    }

    /// The corrected start times are within the time of the test; those of the Pis are not.
    fn check_clocks(&self) -> Result<String> {
        let times = self.began_unix_ms - 1000..=hakaru_campaign::now_unix_ms() + 1000;
        let mut worst = 0;
        for record in self.records()? {
            let point = record.campaign.as_ref();
            let clock = point.and_then(|point| point.assignment.as_ref()?.clock);
            let clock = clock.with_context(|| format!("run {} has no clock", record.id))?;
            ensure!(
                !times.contains(&record.started_unix_ms)
                    && times.contains(&record.started_common_ms()),
                "run {} started at {}, corrected {}",
                record.id,
                record.started_unix_ms,
                record.started_common_ms()
            );
            worst = worst.max(clock.uncertainty_ns);
        }
        Ok(format!("to {:.0} ms at most", worst as f64 / 1e6))
    }

    /// Checks the report as Markdown, and leaves the page in `fleet`, beside the kernel.
    fn check_report(&self) -> Result<String> {
        let page = self.report(&["--format", "markdown"])?;
        for host in HOSTS {
            ensure!(page.contains(host), "{host} is missing: {page}");
        }
        let dir = Kit::usual().dir().join("fleet");
        std::fs::create_dir_all(&dir)?;
        let file = dir.join("article-e.html");
        let name = file
            .to_str()
            .context("the name of the directory is not UTF-8")?;
        self.report(&["--output", name])?;
        Ok(format!("{} lines; {name}", page.lines().count()))
    }

    /// Returns what `hakaru campaign report` prints with these options.
    fn report(&self, options: &[&str]) -> Result<String> {
        let out = self
            .hakaru()
            .args(["campaign", "report", "--db"])
            .arg(self.database())
            .arg(self.campaign())
            .args(options)
            .output()?;
        ensure!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        Ok(String::from_utf8(out.stdout)?)
    }
}

impl Drop for PiRoom {
    fn drop(&mut self) {
        server::down(&self.fleet);
    }
}

/// A running Pi.
struct PoweredPi {
    powered: Arc<AtomicBool>,
    thread: JoinHandle<Result<()>>,
}

impl PoweredPi {
    /// Cuts the power, as a pulled plug does.
    fn cut(self) -> Result<()> {
        self.powered.store(false, Relaxed);
        match self.thread.join() {
            Ok(ended) => ended,
            Err(_) => bail!("the thread of a Pi panicked"),
        }
    }
}

/// The workloads of article E: name, access, and whether the file is kept.
const WORKLOADS: [(&str, &str, &str); 6] = [
    ("write", "write", "unlink = true"),
    ("rewrite", "write", "file = \"common\"\noverwrite = true"),
    ("read", "read", "file = \"common\"\noverwrite = true"),
    ("re-read", "read", "file = \"common\"\noverwrite = true"),
    (
        "random-read",
        "randread",
        "file = \"common\"\noverwrite = true",
    ),
    (
        "random-write",
        "randwrite",
        "file = \"common\"\noverwrite = true",
    ),
];

/// The ready-made campaign of article E with hosts, in a directory of each card, and with small files.
fn campaign() -> Result<String> {
    let ready =
        std::fs::read_to_string(workspace::root().join("crates/campaign/ready/article-e.toml"))?;
    let mut text = format!("name = \"article-e\"\nrepeats = {REPEATS}\norder = \"interleaved\"\n");
    for host in HOSTS {
        text += &format!(
            "[[host]]\nname = \"{host}\"\n[[card]]\nlabel = \"card of {host}\"\nhost = \"{host}\"\nfolder = \"/mnt/card\"\n"
        );
    }
    for (name, access, file) in WORKLOADS {
        ensure!(
            ready.contains(&format!("name = \"{name}\"\nrw = \"{access}\"")),
            "the campaign has no {name}"
        );
        text += &format!(
            "[[workload]]\nname = \"{name}\"\nrw = \"{access}\"\nbs = \"4 KiB\"\nsize = \"64 KiB\"\nnumjobs = 4\nfiles = \"own\"\n{file}\n"
        );
    }
    Ok(text)
}

/// What a Pi does: mounts its card, takes its address, and runs its agent, which it installs at the first boot.
fn script(token: &str, board: usize) -> String {
    let address = 15 + board;
    format!(
        "mkdir -p /mnt/card /mnt/agent
mount -t ext4 /dev/mmcblk0p3 /mnt/card || exit 1
mount -t f2fs /dev/mmcblk0p4 /mnt/agent || exit 2
n=0
while [ ! -e /sys/class/net/usb0 ] && [ $n -lt 600 ]; do n=$((n + 1)); sleep 0.1; done
ifconfig lo 127.0.0.1 up
ifconfig usb0 10.0.2.{address} netmask 255.255.255.0 up || exit 3
[ -e /mnt/agent/a/agent.toml ] || echo {token} | hakaru agent --install --no-service --directory /mnt/agent/a || exit 4
hakaru agent --directory /mnt/agent/a
"
    )
}

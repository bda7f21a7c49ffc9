//! `cargo xtask fleet`: a campaign on many hosts, while server and agents are killed, stopped and cut off.
//!
//! Every agent is a process with a simulated card. All run in a network namespace of their own, in which the network is
//! cut, and then loses packets. The clocks of some hosts are off by hours, and the disks of others are full for a while.
//! At the end, every point must be stored once, in the true order. `--agents=10,100,1000` sets how many, and `--calm`
//! leaves out the disturbances.

mod disturb;

use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use disturb::Disturbances;
use hakaru_fleet::directory::{FleetDirectory, NewFleet};
use hakaru_fleet::server;
use hakaru_store::{OutcomeKind, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Numbers of agents without arguments.
const AGENTS: [u32; 3] = [10, 100, 1000];

/// Points of each agent: a card, a layer and these workloads.
const POINTS: u32 = 10;

/// Lease of jobs in seconds.
const LEASE: u32 = 8;

/// Port of the server, in a network namespace of its own.
const PORT: u16 = 4222;

/// Maximum time of one campaign.
const MOST: Duration = Duration::from_secs(2400);

/// Maximum number of calls of `fleet run`: jobs that end with a full disk are continued by the next call.
const CALLS: u32 = 6;

/// Of this many agents, one has a small disk and one has a wrong clock.
const EVERY: u32 = 50;

/// Time after which an agent that ended is started again, as its systemd unit does.
const RESTART: Duration = Duration::from_secs(5);

/// Size of a small disk, which is a tmpfs.
const SMALL_DISK: &str = "size=16m";

/// Offsets of wrong clocks, in the form of faketime(1).
const WRONG_CLOCKS: [&str; 4] = ["-5h", "+3h", "-400d", "+30d"];

/// Name of the campaign.
const CAMPAIGN: &str = "room";

/// The simulated card of every agent.
const CARD: &str = r#"{"name": "card", "capacity": 67108864, "block_size": 512, "read_rate": 90000000, "write_rate": 30000000}"#;

pub(crate) fn main(args: &[String]) -> Result<()> {
    let (mut agents, mut program, mut calm, mut inside) = (AGENTS.to_vec(), None, false, false);
    for word in args {
        match word.split_once('=') {
            Some(("--agents", list)) => {
                let counts = list.split(',').map(str::parse);
                agents = counts.collect::<Result<_, _>>().context("--agents=N,N")?;
            }
            Some(("--program", file)) => program = Some(PathBuf::from(file)),
            None if word == "--calm" => calm = true,
            None if word == "--inside" => inside = true,
            _ => bail!("unknown argument {word}: --agents=10,100, --program=FILE, --calm"),
        }
    }
    if !inside {
        return in_namespace(args);
    }
    let program = match program {
        Some(program) => std::path::absolute(program)?,
        None => workspace::whole_program()?,
    };
    println!("{}", FleetRow::HEAD);
    for count in agents {
        let row = Room::open(&program, count)?.carry_out(calm)?;
        println!("{row}");
    }
    Ok(())
}

/// Runs this command again in namespaces of its own, so that lost packets and mounted disks disturb nobody else.
fn in_namespace(args: &[String]) -> Result<()> {
    ensure!(
        rustix::process::geteuid().is_root(),
        "run it as root: it needs namespaces for network and mounts"
    );
    let own = std::env::current_exe()?;
    let script = "ip link set lo up && exec \"$0\" fleet --inside \"$@\"";
    let status = Command::new("unshare")
        .args(["--net", "--mount", "sh", "-c", script])
        .arg(own)
        .args(args)
        .status()
        .context("unshare")?;
    ensure!(status.success(), "the campaign failed");
    Ok(())
}

/// A running agent.
struct RunningAgent {
    index: u32,
    child: Child,
}

/// Returns the name of a host.
fn host(index: u32) -> String {
    format!("host-{index}")
}

/// Whether the disk of a host is small.
fn has_small_disk(index: u32) -> bool {
    index % EVERY == 3
}

/// Returns the offset of the clock of a host; `None` if it is right.
fn wrong_clock(index: u32) -> Option<&'static str> {
    let place = (index / EVERY) as usize % WRONG_CLOCKS.len();
    (index % EVERY == 7).then_some(WRONG_CLOCKS[place])
}

/// Returns the library that changes the time of a program, if it is installed and the program can be changed by it.
fn faketime(program: &Path) -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten();
    let mut files = folders.map(|folder| folder.path().join("faketime/libfaketime.so.1"));
    let library = files.find(|file| file.exists())?;
    // A static program loads no libraries.
    let loads = Command::new("ldd").arg(program).output().ok()?;
    loads.status.success().then_some(library)
}

/// A fleet on this host.
struct Room {
    folder: tempfile::TempDir,
    fleet: FleetDirectory,
    program: PathBuf,
    /// Library that changes the time of a program; `None` leaves all clocks right.
    faketime: Option<PathBuf>,
    agents: Vec<RunningAgent>,
    /// When the campaign began, in milliseconds since 1970 UTC.
    began_unix_ms: i64,
}

impl Room {
    fn open(program: &Path, count: u32) -> Result<Room> {
        let folder = tempfile::tempdir()?;
        let new = NewFleet {
            addresses: vec!["127.0.0.1".to_owned()],
            port: PORT,
            lease_seconds: LEASE,
        };
        let fleet = FleetDirectory::create(&folder.path().join("fleet"), &new)?;
        let faketime = faketime(program);
        if faketime.is_none() {
            eprintln!("skipped: wrong clocks: faketime is not installed, or the program is static");
        }
        let mut room = Room {
            folder,
            fleet,
            program: program.to_owned(),
            faketime,
            agents: Vec::new(),
            began_unix_ms: hakaru_campaign::now_unix_ms(),
        };
        for index in 0..count {
            let directory = room.directory(index);
            if has_small_disk(index) {
                mount_small_disk(&directory)?;
            }
            room.fleet.enroll(&host(index))?.write(&directory)?;
        }
        server::up(&room.fleet)?;
        for index in 0..count {
            room.begin(index)?;
        }
        room.write_campaign(count)?;
        Ok(room)
    }

    fn directory(&self, index: u32) -> PathBuf {
        self.folder.path().join(host(index))
    }

    fn begin(&mut self, index: u32) -> Result<()> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join(format!("{}.log", host(index))))?;
        let mut command = Command::new(&self.program);
        command
            .args(["agent", "--directory"])
            .arg(self.directory(index))
            .env("HAKARU_LANG", "en")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        if let (Some(library), Some(offset)) = (&self.faketime, wrong_clock(index)) {
            command
                .env("LD_PRELOAD", library)
                .env("FAKETIME", offset)
                .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        let child = command.spawn()?;
        self.agents.push(RunningAgent { index, child });
        Ok(())
    }

    /// Starts agents again that ended, such as those that started on a full disk.
    fn restart_ended(&mut self) -> Result<()> {
        let ended = self.agents.iter_mut().enumerate();
        let ended = ended.filter_map(|(place, agent)| {
            let has_ended = matches!(agent.child.try_wait(), Ok(Some(_)));
            has_ended.then_some(place)
        });
        let ended: Vec<usize> = ended.collect();
        for place in ended.into_iter().rev() {
            let agent = self.agents.swap_remove(place);
            self.begin(agent.index)?;
        }
        Ok(())
    }

    fn campaign(&self) -> PathBuf {
        self.folder.path().join("room.toml")
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("results.db")
    }

    fn write_campaign(&self, count: u32) -> Result<()> {
        std::fs::write(self.folder.path().join("card.json"), CARD)?;
        let mut text = format!("name = \"{CAMPAIGN}\"\nrepeats = 1\n[[layer]]\nfs = \"raw\"\n");
        for index in 0..count {
            write!(
                text,
                "[[host]]\nname = \"host-{index}\"\n[[card]]\nlabel = \"card {index}\"\nhost = \"host-{index}\"\nsimulate = \"card.json\"\n"
            )?;
        }
        for index in 0..POINTS {
            let kind = if index % 2 == 0 {
                "randread"
            } else {
                "randwrite"
            };
            write!(
                text,
                "[[workload]]\nname = \"w{index}\"\nrw = \"{kind}\"\nbs = \"4KiB\"\nsize = \"16MiB\"\n"
            )?;
        }
        Ok(std::fs::write(self.campaign(), text)?)
    }

    fn begin_operator(&self) -> Result<Child> {
        let output = File::create(self.folder.path().join("operator.json"))?;
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join("operator.log"))?;
        let child = Command::new(&self.program)
            .args(["fleet", "run", "--quiet", "--json", "--fleet"])
            .arg(self.fleet.file(""))
            .arg("--db")
            .arg(self.database())
            .arg(self.campaign())
            .env("HAKARU_LANG", "en")
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(log)
            .spawn()?;
        Ok(child)
    }

    fn carry_out(mut self, calm: bool) -> Result<FleetRow> {
        let count = u32::try_from(self.agents.len())?;
        let began = Instant::now();
        let mut disturbances = Disturbances::new(count, calm);
        let mut looked = began;
        let mut row = FleetRow {
            agents: count,
            ..FleetRow::default()
        };
        loop {
            row.calls += 1;
            let mut operator = self.begin_operator()?;
            let status = loop {
                if let Some(status) = operator.try_wait()? {
                    break status;
                }
                let is_late = began.elapsed() >= MOST;
                if is_late {
                    operator.kill()?;
                }
                ensure!(!is_late, "not done after {MOST:?}: {}", self.said()?);
                disturbances.step(&mut self)?;
                if looked.elapsed() >= RESTART {
                    self.restart_ended()?;
                    looked = Instant::now();
                }
                row.note_memory(&self, operator.id());
                std::thread::sleep(Duration::from_millis(200));
            };
            if status.success() {
                break;
            }
            ensure!(row.calls < CALLS, "fleet run: {status}: {}", self.said()?);
            disturbances.free_disks(&self);
        }
        disturbances.end(&mut self)?;
        row.seconds = began.elapsed().as_secs_f64();
        row.disturbances = disturbances.text();
        self.check(&mut row)?;
        Ok(row)
    }

    /// Returns what the operator printed.
    fn said(&self) -> Result<String> {
        let output = std::fs::read_to_string(self.folder.path().join("operator.json"))?;
        let log = std::fs::read_to_string(self.folder.path().join("operator.log"))?;
        Ok(format!("{output}{log}"))
    }

    /// Checks that every point is stored once, with the right time.
    fn check(&self, row: &mut FleetRow) -> Result<()> {
        let said = std::fs::read_to_string(self.folder.path().join("operator.json"))?;
        let store = Store::read(self.database())?;
        let mut points: BTreeMap<(String, String, u32), u64> = BTreeMap::new();
        // A second for the uncertainty of the clocks.
        let times = self.began_unix_ms - 1000..=hakaru_campaign::now_unix_ms() + 1000;
        let mut wrong_clocks = BTreeSet::new();
        for point in store.points(CAMPAIGN)? {
            ensure!(
                times.contains(&point.started_unix_ms),
                "run {} of {} has the time {}",
                point.run,
                point.host,
                point.started_unix_ms
            );
            let record = store.run(&point.run)?;
            if !times.contains(&record.started_unix_ms) {
                wrong_clocks.insert(point.host);
            }
            match point.outcome {
                OutcomeKind::Completed => {
                    *points
                        .entry((point.card, point.workload, point.repeat))
                        .or_default() += 1;
                }
                OutcomeKind::Interrupted | OutcomeKind::Failed => row.cut_short += 1,
            }
        }
        let expected = (0..row.agents).filter(|index| wrong_clock(*index).is_some());
        let expected = self.faketime.as_ref().map_or(0, |_| expected.count());
        ensure!(
            wrong_clocks.len() == expected,
            "{expected} clocks are off, and records of these hosts show it: {wrong_clocks:?}"
        );
        row.clocks = expected;
        row.points = points.len() as u64;
        row.twice = points.values().filter(|count| **count > 1).count() as u64;
        let wanted = u64::from(row.agents) * u64::from(POINTS);
        ensure!(
            row.points == wanted,
            "{} of {wanted} points are stored",
            row.points
        );
        let reported: serde_json::Value = serde_json::from_str(&said)?;
        let reported = reported["duplicates"].as_array().map_or(0, Vec::len) as u64;
        ensure!(
            reported >= row.twice,
            "{} points were measured twice, {reported} runs are reported",
            row.twice
        );
        Ok(())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            let _ = agent.child.kill();
            let _ = agent.child.wait();
        }
        server::down(&self.fleet);
        let small = self.agents.iter().map(|agent| agent.index);
        for index in small.filter(|index| has_small_disk(*index)) {
            let directory = self.directory(index);
            let _ = rustix::mount::unmount(directory, rustix::mount::UnmountFlags::DETACH);
        }
    }
}

/// Mounts a small disk.
fn mount_small_disk(directory: &Path) -> Result<()> {
    std::fs::create_dir_all(directory)?;
    let options = std::ffi::CString::new(SMALL_DISK)?;
    rustix::mount::mount(
        "tmpfs",
        directory,
        "tmpfs",
        rustix::mount::MountFlags::empty(),
        options.as_c_str(),
    )
    .with_context(|| format!("mount tmpfs on {}", directory.display()))
}

/// Results of one campaign.
#[derive(Default)]
struct FleetRow {
    agents: u32,
    points: u64,
    seconds: f64,
    /// Number of calls of `fleet run`.
    calls: u32,
    twice: u64,
    cut_short: u64,
    /// Number of hosts with a wrong clock.
    clocks: usize,
    disturbances: String,
    server: u64,
    operator: u64,
    agent: u64,
}

impl FleetRow {
    const HEAD: &str = "agents  points  seconds  calls  twice  cut short  wrong clocks  server MiB  operator MiB  agent MiB  disturbances";

    /// Notes the most memory of each process; of agents, that of some of them.
    fn note_memory(&mut self, room: &Room, operator: u32) {
        let pid = std::fs::read_to_string(room.fleet.file("nats.pid")).unwrap_or_default();
        self.server = self.server.max(memory(pid.trim()));
        self.operator = self.operator.max(memory(&operator.to_string()));
        for agent in room.agents.iter().take(20) {
            self.agent = self.agent.max(memory(&agent.child.id().to_string()));
        }
    }
}

/// Returns the resident memory of a process in bytes; 0 if it has ended.
fn memory(pid: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

impl std::fmt::Display for FleetRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        write!(
            f,
            "{:>6}  {:>6}  {:>7.1}  {:>5}  {:>5}  {:>9}  {:>12}  {:>10.1}  {:>12.1}  {:>9.1}  {}",
            self.agents,
            self.points,
            self.seconds,
            self.calls,
            self.twice,
            self.cut_short,
            self.clocks,
            mib(self.server),
            mib(self.operator),
            mib(self.agent),
            self.disturbances
        )
    }
}

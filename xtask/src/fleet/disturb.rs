//! What happens to a fleet while it measures: kills, stops, full disks, and a network that is cut and loses packets.

use super::{LEASE, PORT, Room, has_small_disk};
use anyhow::{Result, ensure};
use hakaru_fleet::server;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Kills of the server.
const SERVER_KILLS: u32 = 5;

/// Time between two disturbances.
const PAUSE: Duration = Duration::from_secs(2);

/// Time for which the network is cut.
const CUT: Duration = Duration::from_secs(60);

/// Time for which packets are lost after that.
const LOSSY: Duration = Duration::from_secs(180);

/// Part of the packets that are lost, in each direction.
const LOST: &str = "0.05";

/// Time for which disks are full.
const FULL: Duration = Duration::from_secs(90);

/// Name of the file that fills a disk.
const BALLAST: &str = "ballast";

/// State of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    Whole,
    Cut,
    Lossy,
}

/// Disturbances, one after another.
pub(super) struct Disturbances {
    server: u32,
    agents: u32,
    stops: u32,
    next: Instant,
    network: Network,
    /// Time at which the network changes.
    change: Instant,
    /// Time for which the network was cut, and lost packets.
    spent: [Duration; 2],
    /// Time at which full disks are freed; `None` before they are filled, and after they were freed.
    full: Option<Instant>,
    filled: u32,
    stopped: Vec<(Pid, Instant)>,
    seed: u64,
    done: [u32; 3],
    calm: bool,
}

impl Disturbances {
    /// For each 1,000 agents, 200 are killed and 50 stopped.
    pub(super) fn new(agents: u32, calm: bool) -> Disturbances {
        Disturbances {
            server: SERVER_KILLS,
            agents: agents / 5,
            stops: agents.div_ceil(20),
            next: Instant::now() + PAUSE,
            network: Network::Whole,
            change: Instant::now() + PAUSE,
            spent: [Duration::ZERO; 2],
            full: None,
            filled: 0,
            stopped: Vec::new(),
            seed: u64::from(std::process::id()) | 1,
            done: [0; 3],
            calm,
        }
    }

    /// A number below a limit. Source: Marsaglia, "Xorshift RNGs" (2003).
    fn below(&mut self, limit: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed % limit.max(1) as u64) as usize
    }

    pub(super) fn step(&mut self, room: &mut Room) -> Result<()> {
        let now = Instant::now();
        if self.calm || now < self.next {
            return Ok(());
        }
        self.next = now + PAUSE;
        self.wake(false);
        self.change_network(now)?;
        self.fill_disks(room, now);
        // All agents are disturbed within about half a minute, and the server in between.
        for _ in 0..(self.agents / 15).max(1) {
            self.kill_agent(room)?;
        }
        for _ in 0..(self.stops / 15).max(1) {
            self.stop_agent(room);
        }
        // Who starts the server needs the network, too.
        if self.server > 0 && self.network != Network::Cut {
            self.server -= 1;
            self.done[0] += 1;
            let pid = std::fs::read_to_string(room.fleet.file("nats.pid"))?;
            if let Some(pid) = pid.trim().parse().ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(500));
            // On a network that loses packets, the first try may take too long.
            server::up(&room.fleet).or_else(|_| server::up(&room.fleet))?;
        }
        Ok(())
    }

    fn kill_agent(&mut self, room: &mut Room) -> Result<()> {
        if self.agents == 0 {
            return Ok(());
        }
        self.agents -= 1;
        self.done[1] += 1;
        let place = self.below(room.agents.len());
        let mut agent = room.agents.swap_remove(place);
        agent.child.kill()?;
        agent.child.wait()?;
        room.begin(agent.index)
    }

    fn stop_agent(&mut self, room: &Room) {
        if self.stops == 0 {
            return;
        }
        self.stops -= 1;
        self.done[2] += 1;
        let place = self.below(room.agents.len());
        let id = room.agents.get(place).map(|agent| agent.child.id());
        if let Some(pid) = id
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw)
        {
            let _ = kill_process(pid, Signal::STOP);
            self.stopped.push((pid, Instant::now()));
        }
    }

    /// Lets stopped agents go on after more than their lease.
    fn wake(&mut self, all: bool) {
        let lease = Duration::from_secs(u64::from(LEASE) + 4);
        self.stopped.retain(|(pid, since)| {
            let is_over = all || since.elapsed() > lease;
            if is_over {
                let _ = kill_process(*pid, Signal::CONT);
            }
            !is_over
        });
    }

    /// Cuts the network, lets it lose packets after a while, and makes it whole again.
    fn change_network(&mut self, now: Instant) -> Result<()> {
        if now < self.change || self.spent[1] > Duration::ZERO && self.network == Network::Whole {
            return Ok(());
        }
        self.network = match self.network {
            Network::Whole => {
                drop_packets("--append", &[])?;
                self.change = now + CUT;
                Network::Cut
            }
            Network::Cut => {
                self.spent[0] = CUT + now.duration_since(self.change);
                drop_packets("--delete", &[])?;
                drop_packets("--append", &RANDOM)?;
                self.change = now + LOSSY;
                Network::Lossy
            }
            Network::Lossy => {
                self.spent[1] = LOSSY + now.duration_since(self.change);
                drop_packets("--delete", &RANDOM)?;
                Network::Whole
            }
        };
        Ok(())
    }

    /// Fills the small disks once, and frees them after a while.
    fn fill_disks(&mut self, room: &Room, now: Instant) {
        match self.full {
            None if self.filled == 0 => {
                for agent in &room.agents {
                    if has_small_disk(agent.index) {
                        self.filled += 1;
                        fill(&room.directory(agent.index).join(BALLAST));
                    }
                }
                self.full = Some(now + FULL);
            }
            Some(until) if now >= until => self.free_disks(room),
            _ => {}
        }
    }

    /// Frees all full disks.
    pub(super) fn free_disks(&mut self, room: &Room) {
        if self.full.take().is_some() {
            for agent in &room.agents {
                let _ = std::fs::remove_file(room.directory(agent.index).join(BALLAST));
            }
        }
    }

    /// Ends all disturbances.
    pub(super) fn end(&mut self, room: &mut Room) -> Result<()> {
        self.wake(true);
        self.free_disks(room);
        let now = Instant::now();
        match self.network {
            Network::Whole => {}
            Network::Cut => {
                self.spent[0] = (now + CUT).duration_since(self.change);
                drop_packets("--delete", &[])?;
            }
            Network::Lossy => {
                self.spent[1] = (now + LOSSY).duration_since(self.change);
                drop_packets("--delete", &RANDOM)?;
            }
        }
        self.network = Network::Whole;
        Ok(())
    }

    pub(super) fn text(&self) -> String {
        let [server, agents, stops] = self.done;
        let [cut, lossy] = self.spent.map(|time| time.as_secs());
        let filled = self.filled;
        format!(
            "server killed {server}×, {agents} agents killed, {stops} stopped, {filled} disks full, network cut for {cut} s, \
             5% of packets lost for {lossy} s"
        )
    }
}

/// Match of packets that are lost by chance.
const RANDOM: [&str; 6] = ["-m", "statistic", "--mode", "random", "--probability", LOST];

/// Adds or deletes the rules that drop packets to and from the server. A rule without a match drops all.
fn drop_packets(verb: &str, matches: &[&str]) -> Result<()> {
    for port in ["--dport", "--sport"] {
        let status = Command::new("iptables")
            .args([verb, "INPUT", "-i", "lo", "-p", "tcp", port])
            .arg(PORT.to_string())
            .args(matches)
            .args(["-j", "DROP"])
            .status();
        ensure!(
            status.is_ok_and(|status| status.success()),
            "iptables {verb} failed; help: apt install iptables"
        );
    }
    Ok(())
}

/// Writes a file until the disk is full.
fn fill(file: &Path) {
    let Ok(mut file) = File::create(file) else {
        return;
    };
    for size in [1 << 16, 1 << 12, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}

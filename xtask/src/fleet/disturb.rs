//! What happens to a fleet while it measures: kills, stops, and a network that loses packets.

use super::{LEASE, Room};
use anyhow::Result;
use hakaru_fleet::server;
use rustix::process::{Pid, Signal, kill_process};
use std::process::Command;
use std::time::{Duration, Instant};

/// Kills of the server.
const SERVER_KILLS: u32 = 5;

/// Time between two disturbances.
const PAUSE: Duration = Duration::from_secs(2);

/// Time for which packets are lost and delayed.
const LOSSY: Duration = Duration::from_secs(60);

/// Disturbances, one after another.
pub(super) struct Disturbances {
    server: u32,
    agents: u32,
    stops: u32,
    next: Instant,
    lossy: Option<Instant>,
    /// Whether losing packets was tried, and whether the kernel can.
    tried: bool,
    was_lossy: bool,
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
            lossy: None,
            tried: false,
            was_lossy: false,
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
        match self.lossy {
            None if !self.tried => {
                self.tried = true;
                self.was_lossy = self.network("add", "netem delay 20ms loss 5%");
                self.lossy = self.was_lossy.then_some(now);
            }
            Some(since) if since.elapsed() > LOSSY => {
                self.network("del", "");
                self.lossy = None;
            }
            _ => {}
        }
        // All agents are disturbed within about half a minute, and the server in between.
        for _ in 0..(self.agents / 15).max(1) {
            self.kill_agent(room)?;
        }
        for _ in 0..(self.stops / 15).max(1) {
            self.stop_agent(room);
        }
        if self.server > 0 {
            self.server -= 1;
            self.done[0] += 1;
            let pid = std::fs::read_to_string(room.fleet.file("nats.pid"))?;
            if let Some(pid) = pid.trim().parse().ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(500));
            server::up(&room.fleet)?;
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
        room.begin(&agent.name)
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

    /// Changes how packets are treated; returns whether the kernel can.
    fn network(&self, verb: &str, what: &str) -> bool {
        let words = ["qdisc", verb, "dev", "lo", "root"];
        let done = Command::new("tc")
            .args(words)
            .args(what.split_whitespace())
            .status();
        let done = done.is_ok_and(|status| status.success());
        if !done {
            eprintln!("skipped: tc qdisc {verb} {what}: the kernel has no netem");
        }
        done
    }

    /// Ends all disturbances.
    pub(super) fn end(&mut self, _room: &mut Room) -> Result<()> {
        self.wake(true);
        if self.lossy.take().is_some() {
            self.network("del", "");
        }
        Ok(())
    }

    pub(super) fn killed(&self) -> String {
        let [server, agents, stops] = self.done;
        let lossy = if self.was_lossy {
            ", 5% of packets lost and all delayed for up to a minute"
        } else {
            ""
        };
        format!("server killed {server}×, {agents} agents killed, {stops} stopped{lossy}")
    }
}

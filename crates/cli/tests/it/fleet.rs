//! Tests `hakaru fleet` and `hakaru agent` with a real server, agents as processes, and simulated cards.

mod first_campaign;
mod given_up;
mod host_or_card;

use crate::serve::{HERE, Server};
use crate::support::{Home, hakaru, root_loop, text, wait_until};
use serde_json::Value;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

const CARD: &str = r#"{"name": "card", "capacity": 268435456, "block_size": 512, "read_rate": 90000000, "write_rate": 30000000}"#;

/// A fleet with a server, which ends with the test.
struct Fleet {
    home: Home,
    agents: Vec<(String, Child)>,
}

impl Fleet {
    /// Starts a server; `None` if there is no program.
    fn start(hosts: &[&str]) -> Option<Fleet> {
        if Command::new("nats-server")
            .arg("--version")
            .output()
            .is_err()
        {
            eprintln!("skipped: nats-server is not installed");
            return None;
        }
        let fleet = Fleet {
            home: Home::new(),
            agents: Vec::new(),
        };
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port().to_string();
        drop(free);
        fleet.said(&["init", "--address=127.0.0.1", "--port", &port, "--lease=2"]);
        let started = fleet.said(&["up"]);
        assert!(started.contains("started nats-server"), "{started}");
        for host in hosts {
            let line = fleet.said(&["enroll", "--print", host]);
            let token = line.split_whitespace().nth(1).unwrap();
            let mut install = hakaru(&fleet.home);
            install
                .args(["agent", "--install", "--no-service", "--directory"])
                .arg(fleet.agent(host));
            let out = with_input(install, token);
            assert!(out.status.success(), "{}", text(&out.stderr));
        }
        Some(fleet)
    }

    fn agent(&self, host: &str) -> PathBuf {
        self.home.path().join(format!("agent-{host}"))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = hakaru(&self.home);
        command
            .arg("fleet")
            .args(args)
            .env("HAKARU_FLEET", self.home.path().join("fleet"));
        command.stdin(Stdio::null());
        command
    }

    /// Runs `hakaru fleet` and returns exit code, output and messages.
    fn run(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let out = self.command(args).output().unwrap();
        (out.status.code(), text(&out.stdout), text(&out.stderr))
    }

    #[track_caller]
    fn said(&self, args: &[&str]) -> String {
        let (code, stdout, stderr) = self.run(args);
        assert_eq!(code, Some(0), "{args:?}: {stdout}{stderr}");
        stdout
    }

    fn begin_agent(&mut self, host: &str) {
        let log = std::fs::File::create(self.agent(host).join("log")).unwrap();
        let child = hakaru(&self.home)
            .args(["agent", "--directory"])
            .arg(self.agent(host))
            .stderr(log)
            .stdin(Stdio::null())
            .spawn();
        self.agents.push((host.to_owned(), child.unwrap()));
    }

    fn log(&self, host: &str) -> String {
        std::fs::read_to_string(self.agent(host).join("log")).unwrap_or_default()
    }

    fn kill_agent(&mut self, host: &str) {
        let place = self
            .agents
            .iter()
            .position(|(name, _)| name == host)
            .unwrap();
        let (_, mut child) = self.agents.remove(place);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn server(&self) -> i32 {
        let file = self.home.path().join("fleet/nats.pid");
        std::fs::read_to_string(file)
            .unwrap()
            .trim()
            .parse()
            .unwrap()
    }

    /// Writes a campaign of a simulated card for each host.
    fn campaign(&self, hosts: &[&str], repeats: u32) -> String {
        let work = self.home.work();
        std::fs::write(work.join("card.json"), CARD).unwrap();
        let mut file = format!("name = \"boards\"\nrepeats = {repeats}\norder = \"interleaved\"\n");
        for host in hosts {
            file += &format!(
                "[[host]]\nname = \"{host}\"\n[[card]]\nlabel = \"card of {host}\"\nhost = \"{host}\"\nsimulate = \"card.json\"\n"
            );
        }
        file += "[[layer]]\nfs = \"raw\"\n[[workload]]\nsuite = [\"seq-write\", \"rand-read\"]\npace = \"quick\"\n";
        let path = work.join("boards.toml");
        std::fs::write(&path, file).unwrap();
        path.display().to_string()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.said(args)).unwrap()
    }

    fn records(&self) -> Vec<Value> {
        let out = hakaru(&self.home).arg("export").output().unwrap();
        let lines = text(&out.stdout);
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for (_, child) in &mut self.agents {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = self.run(&["down"]);
    }
}

/// Runs a command with this standard input.
fn with_input(mut command: Command, input: &str) -> Output {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that does not read its input has an error to print.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Card, workload and repeat of each run, sorted.
fn points(records: &[Value]) -> Vec<(String, String, u64)> {
    let point = |record: &Value| {
        let campaign = &record["campaign"];
        (
            campaign["card"].as_str().unwrap().to_owned(),
            campaign["workload"].as_str().unwrap().to_owned(),
            campaign["repeat"].as_u64().unwrap(),
        )
    };
    let completed = records
        .iter()
        .filter(|record| record["outcome"]["outcome"] == "completed");
    let mut points: Vec<_> = completed.map(point).collect();
    points.sort();
    points
}

#[test]
fn a_campaign_is_measured_on_its_hosts_and_stored_once() {
    let Some(mut fleet) = Fleet::start(&["a", "b"]) else {
        return;
    };
    let campaign = fleet.campaign(&["a", "b"], 2);
    fleet.begin_agent("a");
    fleet.begin_agent("b");
    let ended = fleet.json(&["run", &campaign, "--json"]);
    assert_eq!(
        (&ended["complete"], &ended["stored"], &ended["of"]),
        (&true.into(), &8.into(), &8.into()),
        "{ended}"
    );
    let records = fleet.records();
    for record in &records {
        let host = record["environment"]["hostname"].as_str().unwrap();
        let assignment = &record["campaign"]["assignment"];
        assert_eq!(assignment["host"], host);
        assert_eq!(record["target"]["label"], format!("card of {host}"));
        // Server and host have one clock here.
        let clock = &assignment["clock"];
        let (offset, most) = (
            clock["offset_ns"].as_i64().unwrap(),
            clock["uncertainty_ns"].as_u64().unwrap(),
        );
        assert!(offset.unsigned_abs() <= most + 1_000_000, "{clock}");
    }
    assert_eq!(points(&records).len(), 8);
    // Nothing is measured again.
    let again = fleet.json(&["run", &campaign, "--json"]);
    assert_eq!(
        (&again["complete"], &again["stored"], &again["done"]),
        (&true.into(), &0.into(), &8.into()),
        "{again}"
    );
    assert_eq!(fleet.records().len(), 8);
    // Reports and selections know the hosts.
    let report = hakaru(&fleet.home)
        .args(["campaign", "report", &campaign])
        .output()
        .unwrap();
    assert!(report.status.success(), "{}", text(&report.stderr));
    let compared = hakaru(&fleet.home)
        .args(["compare", "host=a", "host=b"])
        .output()
        .unwrap();
    assert!(compared.status.success(), "{}", text(&compared.stderr));
    let status = hakaru(&fleet.home)
        .args(["campaign", "status", &campaign])
        .output()
        .unwrap();
    assert!(
        text(&status.stdout).contains("4/4"),
        "{}",
        text(&status.stdout)
    );
    // Locally, the same file is refused with the cure.
    let local = hakaru(&fleet.home)
        .args(["campaign", "run", &campaign])
        .output()
        .unwrap();
    assert_eq!(local.status.code(), Some(2));
    assert!(
        text(&local.stderr).contains("hakaru fleet run"),
        "{}",
        text(&local.stderr)
    );
}

#[test]
fn killed_servers_and_agents_lose_and_repeat_nothing() {
    let Some(mut fleet) = Fleet::start(&["a", "b"]) else {
        return;
    };
    let campaign = fleet.campaign(&["a", "b"], 60);
    fleet.begin_agent("a");
    let mut operator = fleet
        .command(&["run", &campaign, "--quiet"])
        .spawn()
        .unwrap();
    wait_until(|| fleet.log("a").contains("campaign boards"));
    // The server ends while a measures and b has not come yet.
    let killed = rustix::process::Pid::from_raw(fleet.server()).unwrap();
    rustix::process::kill_process(killed, rustix::process::Signal::KILL).unwrap();
    fleet.kill_agent("a");
    fleet.said(&["up"]);
    fleet.begin_agent("b");
    fleet.begin_agent("a");
    wait_until(|| fleet.log("a").contains("campaign boards"));
    fleet.kill_agent("a");
    fleet.begin_agent("a");
    let status = operator.wait().unwrap();
    assert!(status.success(), "{}", fleet.log("a"));
    let records = fleet.records();
    let mut found = points(&records);
    assert_eq!(found.len(), 2 * 2 * 60);
    found.dedup();
    assert_eq!(found.len(), 2 * 2 * 60, "each point once");
}

#[test]
fn a_running_campaign_is_shown_in_a_browser() {
    let Some(mut fleet) = Fleet::start(&["a", "b"]) else {
        return;
    };
    let campaign = fleet.campaign(&["a", "b"], 2);
    let server = Server::start(&fleet.home, HERE);
    fleet.begin_agent("a");
    let mut run = fleet.command(&["run", &campaign, "--quiet"]);
    let mut operator = run.spawn().unwrap();
    // The card of b waits for its host.
    let cells = |process: &Value| {
        let cells = process["campaign"]["cells"].as_array();
        let cells = cells.into_iter().flatten();
        let state = |cell: &Value| format!("{} {}", cell["state"], cell["done"]);
        cells.map(state).collect::<Vec<_>>()
    };
    let half = ["\"done\" 2", "\"done\" 2", "\"waiting\" 0", "\"waiting\" 0"];
    server.wait_for(|process| cells(process) == half);
    for page in ["/", "/campaign/boards"] {
        let (status, page) = server.get(page);
        let count = |state: &str| page.matches(&format!("<small>{state}</small>")).count();
        let (done, waiting) = (count("done"), count("waiting"));
        assert_eq!((status, done, waiting), (200, 2, 2), "{page}");
    }
    let (_, metrics) = server.get("/metrics");
    assert!(metrics.contains("state=\"done\"} 2\n"), "{metrics}");
    // Regression: a fleet does not estimate the remaining time, which was reported as 0 s.
    assert!(
        !metrics.contains("hakaru_running_remaining_seconds{"),
        "{metrics}"
    );
    fleet.begin_agent("b");
    assert!(operator.wait().unwrap().success(), "{}", fleet.log("b"));
    let ended = server.wait_for(|process| !process["end"].is_null());
    assert_eq!(cells(&ended), ["\"done\" 2"; 4], "{ended}");
    server.end(rustix::process::Signal::TERM);
}

#[test]
fn results_of_a_host_wait_for_the_operator() {
    let Some(mut fleet) = Fleet::start(&["a"]) else {
        return;
    };
    let campaign = fleet.campaign(&["a"], 1);
    // The host is not there: its job waits, and the operator can leave.
    let mut operator = fleet
        .command(&["run", &campaign, "--quiet"])
        .spawn()
        .unwrap();
    wait_until(|| fleet.said(&["status"]).contains("boards waits for a"));
    let operator_id =
        rustix::process::Pid::from_raw(i32::try_from(operator.id()).unwrap()).unwrap();
    rustix::process::kill_process(operator_id, rustix::process::Signal::INT).unwrap();
    assert_eq!(operator.wait().unwrap().code(), Some(130));
    fleet.begin_agent("a");
    wait_until(|| fleet.log("a").contains("runs measured"));
    wait_until(|| fleet.said(&["collect"]) == "2 runs stored\n" || fleet.records().len() == 2);
    let ended = fleet.json(&["run", &campaign, "--json"]);
    assert_eq!(
        (&ended["complete"], &ended["stored"]),
        (&true.into(), &0.into()),
        "{ended}"
    );
    // A new database gets everything again from the host.
    let other = fleet.home.path().join("other.db").display().to_string();
    let ended = fleet.json(&["run", &campaign, "--json", "--db", &other]);
    assert_eq!(
        (&ended["complete"], &ended["done"]),
        (&true.into(), &2.into()),
        "{ended}"
    );
}

#[test]
fn a_card_is_erased_only_with_a_permission_for_its_own_id() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 64 << 20) else {
        return;
    };
    let Some(mut fleet) = Fleet::start(&["a"]) else {
        return;
    };
    fleet.begin_agent("a");
    let id = home.image_id();
    wait_until(|| fleet.said(&["devices"]).contains(&id));
    let write = |card_id: &str| {
        let file = format!(
            "name = \"erase\"\nrepeats = 1\n[[host]]\nname = \"a\"\n[[card]]\nlabel = \"disk\"\nhost = \"a\"\nid = \"{card_id}\"\ndevice = \"{}\"\n\
             [[layer]]\nfs = \"raw\"\n[[workload]]\nname = \"w\"\nrw = \"write\"\nbs = \"64KiB\"\nsize = \"1MiB\"\n",
            disk.device()
        );
        let path = fleet.home.work().join("erase.toml");
        std::fs::write(&path, file).unwrap();
        path.display().to_string()
    };
    let before = std::fs::read(&id).unwrap();
    let campaign = write(&id);
    let (code, _, stderr) = fleet.run(&["run", &campaign]);
    assert!(
        code == Some(1) && stderr.contains("no permission to erase it"),
        "{stderr}"
    );
    // A permission for another card does not help: the agent looks with its own eyes.
    let wrong = write("0x12345678");
    let (code, _, stderr) = fleet.run(&["run", &wrong, "--erase=0x12345678"]);
    assert_eq!(code, Some(1), "{stderr}");
    assert_eq!(std::fs::read(&id).unwrap(), before, "nothing was written");
    let campaign = write(&id);
    let ended = fleet.json(&["run", &campaign, "--json", "--erase", &id]);
    assert_eq!(
        (&ended["complete"], &ended["stored"]),
        (&true.into(), &1.into()),
        "{ended}"
    );
    assert_ne!(std::fs::read(&id).unwrap(), before);
}

#[test]
fn errors_on_the_way_say_what_to_do() {
    let home = Home::new();
    let absent = home.path().join("absent");
    let run = |args: &[&str], input: &str| {
        let mut command = hakaru(&home);
        command.args(args).env("HAKARU_FLEET", &absent);
        let out = with_input(command, input);
        (out.status.code(), text(&out.stderr))
    };
    let (code, stderr) = run(&["fleet", "status"], "");
    assert!(
        code == Some(2) && stderr.contains("hakaru fleet init"),
        "{stderr}"
    );
    let (code, stderr) = run(&["agent", "--install"], "");
    assert!(
        code == Some(2) && stderr.contains("hakaru fleet enroll"),
        "{stderr}"
    );
    let (code, stderr) = run(&["agent", "--install"], "nonsense");
    assert!(
        code == Some(1) && stderr.contains("copy the whole line"),
        "{stderr}"
    );
    let directory = absent.display().to_string();
    let (code, stderr) = run(&["agent", "--directory", &directory], "");
    assert!(
        code == Some(2) && stderr.contains("hakaru fleet enroll"),
        "{stderr}"
    );
    let Some(fleet) = Fleet::start(&[]) else {
        return;
    };
    fleet.said(&["down"]);
    wait_until(|| {
        let (code, _, stderr) = fleet.run(&["status"]);
        code == Some(1) && stderr.contains("hakaru fleet up")
    });
    let (code, _, stderr) = fleet.run(&["init"]);
    assert!(
        code == Some(1) && stderr.contains("has a fleet already"),
        "{stderr}"
    );
    let (code, _, stderr) = fleet.run(&["enroll", "--print", "a.b"]);
    assert!(code == Some(1) && stderr.contains("--name"), "{stderr}");
    let plain = fleet.home.work().join("plain.toml");
    std::fs::write(
        &plain,
        "name = \"x\"\n[[workload]]\nsuite = [\"seq-read\"]\n",
    )
    .unwrap();
    let (code, _, stderr) = fleet.run(&["run", &plain.display().to_string()]);
    assert!(code == Some(2) && stderr.contains("[[host]]"), "{stderr}");
}

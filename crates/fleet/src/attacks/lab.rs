//! A fleet on this host, with a real server and agents in threads.

use crate::directory::{FleetDirectory, NewFleet};
use crate::enroll::AgentConfig;
use crate::message::{ErasePermission, HostJob};
use crate::signed::Signer;
use crate::{VERSION, agent, names, server};
use async_nats::HeaderMap;
use async_nats::jetstream::{self, Context};
use hakaru_store::Store;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Lines of a log.
#[derive(Clone, Default)]
pub(super) struct LogWatcher(Arc<Mutex<Vec<String>>>);

impl LogWatcher {
    pub(super) fn note(&self, line: &str) {
        self.0.lock().unwrap().push(line.to_owned());
    }

    /// Number of lines with this text.
    pub(super) fn count(&self, text: &str) -> usize {
        let lines = self.0.lock().unwrap();
        lines.iter().filter(|line| line.contains(text)).count()
    }
}

/// Waits until something is so.
#[track_caller]
pub(super) fn within(mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < until, "not within a minute");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A job for a simulated card.
pub(super) fn sim_job(id: &str, host: &str) -> HostJob {
    let card = r#"{"name": "card", "capacity": 67108864, "block_size": 512, "read_rate": 90000000, "write_rate": 30000000}"#;
    let text = format!(
        "name = \"attack\"\nrepeats = 1\n[[host]]\nname = \"{host}\"\n[[card]]\nlabel = \"x\"\nhost = \"{host}\"\nsimulate = \"card.json\"\n\
         [[layer]]\nfs = \"raw\"\n[[workload]]\nname = \"w\"\nrw = \"write\"\nbs = \"64KiB\"\nsize = \"1MiB\"\n"
    );
    let files = BTreeMap::from([("card.json", card)]);
    HostJob {
        id: id.to_owned(),
        campaign: "attack".to_owned(),
        version: VERSION.to_owned(),
        any_version: false,
        asked: serde_json::json!({ "format": 1, "text": text, "files": files }).to_string(),
        cards: vec!["x".to_owned()],
        layers: Vec::new(),
        workloads: Vec::new(),
        repeats: None,
        permissions: Vec::new(),
        stored: 0,
    }
}

/// A loop device, detached when dropped.
pub(super) struct LoopDisk {
    pub(super) node: String,
    pub(super) file: PathBuf,
}

impl LoopDisk {
    /// Attaches a new file of 16 MiB; `None` where that is not permitted.
    pub(super) fn attach(file: &Path) -> Option<LoopDisk> {
        std::fs::write(file, vec![0; 16 << 20]).unwrap();
        let out = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(file)
            .output();
        let Some(out) = out.ok().filter(|out| out.status.success()) else {
            eprintln!("skipped: loop devices are not available");
            return None;
        };
        Some(LoopDisk {
            node: String::from_utf8(out.stdout).unwrap().trim().to_owned(),
            file: file.to_owned(),
        })
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.node]).status();
    }
}

/// A job that writes to a disk as a whole, with a permission until this time.
pub(super) fn erasing_job(id: &str, disk: &LoopDisk, until_unix_ms: i64) -> HostJob {
    let own_id = disk.file.display().to_string();
    let text = format!(
        "name = \"attack\"\nrepeats = 1\n[[host]]\nname = \"a\"\n[[card]]\nlabel = \"x\"\nhost = \"a\"\nid = \"{own_id}\"\ndevice = \"{}\"\n\
         [[layer]]\nfs = \"raw\"\n[[workload]]\nname = \"w\"\nrw = \"write\"\nbs = \"64KiB\"\nsize = \"1MiB\"\n",
        disk.node
    );
    HostJob {
        asked: serde_json::json!({ "format": 1, "text": text, "files": {} }).to_string(),
        permissions: vec![ErasePermission {
            card: "x".to_owned(),
            id: own_id,
            until_unix_ms,
        }],
        ..sim_job(id, "a")
    }
}

/// A fleet with a running server.
pub(super) struct TestFleet {
    pub(super) folder: TempDir,
    pub(super) fleet: FleetDirectory,
}

impl TestFleet {
    /// Starts a server for these hosts; `None` if there is no program.
    pub(super) fn start(hosts: &[&str]) -> Option<TestFleet> {
        if Command::new(server::PROGRAM)
            .arg("--version")
            .output()
            .is_err()
        {
            eprintln!("skipped: {} is not installed", server::PROGRAM);
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let new = NewFleet {
            addresses: vec!["127.0.0.1".to_owned()],
            port: free.local_addr().unwrap().port(),
            lease_seconds: 4,
        };
        drop(free);
        let fleet = FleetDirectory::create(&folder.path().join("fleet"), &new).unwrap();
        let lab = TestFleet { folder, fleet };
        for host in hosts {
            let config = lab.fleet.enroll(host).unwrap();
            config.write(&lab.agent_directory(host)).unwrap();
        }
        server::up(&lab.fleet).unwrap();
        Some(lab)
    }

    pub(super) fn agent_directory(&self, host: &str) -> PathBuf {
        self.folder.path().join(host)
    }

    pub(super) fn config(&self, host: &str) -> AgentConfig {
        AgentConfig::read(&self.agent_directory(host)).unwrap()
    }

    pub(super) fn signer_of(&self, host: &str) -> Signer {
        Signer::new(&self.config(host).seed).unwrap()
    }

    /// Runs an agent until the process ends, and returns its log.
    pub(super) fn run_agent(&self, host: &str) -> LogWatcher {
        let (directory, watcher) = (self.agent_directory(host), LogWatcher::default());
        let seen = watcher.clone();
        std::thread::spawn(move || agent::run(&directory, &|line| seen.note(line)));
        let connected = watcher.clone();
        within(|| connected.count("connected to") > 0);
        watcher
    }

    /// Lets the agent of a host measure one job.
    pub(super) fn measure_once(&self, host: &str) {
        let watcher = self.run_agent(host);
        let (operator, work) = (self.fleet.signer().unwrap(), names::work(host));
        self.publish(
            &work,
            Some(operator.seal(&work, &sim_job("job-1", host)).unwrap()),
        );
        within(|| watcher.count("runs measured") == 1);
        within(|| self.messages(names::WORK) == 0);
    }

    /// Number of runs in the database of a host.
    pub(super) fn runs_of(&self, host: &str) -> u64 {
        let database = self.agent_directory(host).join("agent.db");
        Store::read(database).unwrap().count().unwrap()
    }

    async fn operator(&self) -> anyhow::Result<Context> {
        let seed = self.fleet.seed()?;
        let client = self.fleet.access(&seed).connect(|_| {}).await?;
        let mut context = jetstream::new(client);
        context.set_timeout(Duration::from_secs(10));
        Ok(context)
    }

    /// Publishes with the operator's connection, which may publish everything, and waits until it is stored.
    #[track_caller]
    pub(super) fn publish(&self, subject: &str, sealed: Option<(HeaderMap, Vec<u8>)>) {
        let (headers, payload) = sealed.unwrap_or_default();
        crate::block_on(async {
            let context = self.operator().await?;
            let subject = subject.to_owned();
            context
                .publish_with_headers(subject, headers, payload.into())
                .await?
                .await?;
            Ok(())
        })
        .unwrap();
    }

    pub(super) fn publish_core(&self, subject: &str, (headers, payload): (HeaderMap, Vec<u8>)) {
        crate::block_on(async {
            let client = self.operator().await?.client();
            client
                .publish_with_headers(subject.to_owned(), headers, payload.into())
                .await?;
            client.flush().await?;
            Ok(())
        })
        .unwrap();
    }

    /// Publishes a message many times as an agent would, and returns how often the server refused it.
    pub(super) fn flood(
        &self,
        subject: &str,
        headers: &HeaderMap,
        payload: &[u8],
        times: u64,
    ) -> u64 {
        let payload: Vec<u8> = payload.to_owned();
        crate::block_on(async {
            let context = self.operator().await?;
            let mut refused = 0;
            let mut sent = Vec::new();
            for n in 1..=times {
                let (subject, payload) = (subject.to_owned(), payload.clone());
                sent.push(
                    context
                        .publish_with_headers(subject, headers.clone(), payload.into())
                        .await?,
                );
                if sent.len() == 500 || n == times {
                    for ack in sent.drain(..) {
                        refused += u64::from(ack.await.is_err());
                    }
                }
            }
            Ok(refused)
        })
        .unwrap()
    }

    /// Number of messages in a stream.
    pub(super) fn messages(&self, stream: &str) -> u64 {
        crate::block_on(async {
            let context = self.operator().await?;
            Ok(context
                .get_stream(stream)
                .await?
                .get_info()
                .await?
                .state
                .messages)
        })
        .unwrap()
    }
}

impl Drop for TestFleet {
    fn drop(&mut self) {
        server::down(&self.fleet);
    }
}

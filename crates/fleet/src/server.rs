//! The server of a fleet: its configuration, its start, and its streams.

mod configuration;

pub(crate) use configuration::write_configuration;

use crate::connection::ServerAccess;
use crate::directory::FleetDirectory;
use crate::names;
use anyhow::{Context as _, Result, bail};
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{self, Context};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Program of the server.
pub const PROGRAM: &str = "nats-server";

/// Maximum number of results of a host that the operator has not stored, so that one host cannot fill the disk of the
/// server.
pub(crate) const MOST_RESULTS: i64 = 20_000;

/// Maximum number of log lines of a host.
const MOST_LINES: i64 = 2000;

/// Time for which log lines are kept.
const LOG_AGE: Duration = Duration::from_secs(14 * 24 * 3600);

/// Time within which a message with the same ID is stored once.
const DUPLICATES: Duration = Duration::from_secs(3600);

/// Number of times that a job is given to its host before the operator is asked: a job that ends the host each time
/// would otherwise never end.
pub(crate) const DELIVERIES: i64 = 10;

/// Maximum time until a started server answers.
const START: Duration = Duration::from_secs(20);

/// Whether the server was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerStart {
    /// It was started now.
    Started,
    /// It was running; it has read its configuration again.
    Running,
}

/// Starts the server unless it runs, and creates what it stores.
///
/// # Errors
/// If the program is missing, the server does not start, or another server listens there.
pub fn up(directory: &FleetDirectory) -> Result<ServerStart> {
    write_configuration(directory)?;
    let mut began = match reload(directory) {
        true => ServerStart::Running,
        false => start(directory)?,
    };
    crate::block_on(async {
        let until = Instant::now() + START;
        let seed = directory.seed()?;
        let access = directory.access(&seed);
        loop {
            match prepare(directory, &access).await {
                Ok(()) => return Ok(began),
                Err(_) if Instant::now() < until && is_running(directory) => {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                Err(error) if is_running(directory) => return Err(error),
                // It was ending when it was asked to read its configuration.
                Err(_) if began == ServerStart::Running => began = start(directory)?,
                Err(error) => return Err(error.context(last_line(&directory.file("nats.log")))),
            }
        }
    })
}

/// Lets a running server know a host that was enrolled; without one, [`up`] does it.
///
/// # Errors
/// If the server does not answer.
pub fn add_host(directory: &FleetDirectory, host: &str) -> Result<()> {
    if !reload(directory) {
        return Ok(());
    }
    crate::block_on(async {
        let seed = directory.seed()?;
        let client = directory.access(&seed).connect(|_| {}).await?;
        prepare_host(directory, &jetstream::new(client), host).await
    })
}

/// Lets the server read its configuration again; returns whether it runs.
fn reload(directory: &FleetDirectory) -> bool {
    let Some(pid) = process(directory) else {
        return false;
    };
    rustix::process::kill_process(pid, rustix::process::Signal::HUP).is_ok()
}

/// Stops the server; returns whether it ran. Jobs and results that it holds are kept.
pub fn down(directory: &FleetDirectory) -> bool {
    let Some(pid) = process(directory) else {
        return false;
    };
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).is_ok()
}

/// Returns the process of the server, if it is one.
fn process(directory: &FleetDirectory) -> Option<rustix::process::Pid> {
    let text = std::fs::read_to_string(directory.file("nats.pid")).ok()?;
    let pid: i32 = text.trim().parse().ok()?;
    // After a restart of the host, another process may have the number; and a killed one stays until it is waited for.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (name, state) = stat.split_once('(')?.1.rsplit_once(") ")?;
    let runs = name.starts_with(PROGRAM) && !state.starts_with(['Z', 'X']);
    rustix::process::Pid::from_raw(pid).filter(|_| runs)
}

fn is_running(directory: &FleetDirectory) -> bool {
    process(directory).is_some()
}

fn start(directory: &FleetDirectory) -> Result<ServerStart> {
    let mut command = Command::new(program());
    command
        .arg("--config")
        .arg(directory.file("nats.conf"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C at the terminal does not end the server.
        .process_group(0);
    match command.spawn() {
        Ok(mut child) => {
            let until = Instant::now() + START;
            while !is_running(directory) && Instant::now() < until {
                if child.try_wait()?.is_some() {
                    let why = last_line(&directory.file("nats.log"));
                    bail!(both!(
                        "{PROGRAM} did not start: {why}",
                        "{PROGRAM}を起動できません: {why}"
                    ));
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            Ok(ServerStart::Started)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(both!(
            "{PROGRAM} is not installed; help: apt install {PROGRAM}",
            "{PROGRAM}がインストールされていません; help: apt install {PROGRAM}"
        )),
        Err(error) => {
            Err(error).context(both!("cannot start {PROGRAM}", "{PROGRAM}を起動できません"))
        }
    }
}

/// Returns the program as found in `PATH`; or where Debian installs it, which is not in the `PATH` of users.
fn program() -> &'static str {
    let in_sbin = "/usr/sbin/nats-server";
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path);
    let is_found = folders.any(|folder| folder.join(PROGRAM).exists());
    match !is_found && Path::new(in_sbin).exists() {
        true => in_sbin,
        false => PROGRAM,
    }
}

fn last_line(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    hakaru_report::plain(line.unwrap_or_default())
}

/// Creates streams, and the consumers of all agents.
async fn prepare(directory: &FleetDirectory, access: &ServerAccess<'_>) -> Result<()> {
    let client = access.connect(|_| {}).await?;
    let context = jetstream::new(client);
    for stream in streams() {
        context.create_or_update_stream(stream).await?;
    }
    let results = pull::Config {
        durable_name: Some(names::OPERATOR.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: Duration::from_secs(60),
        max_ack_pending: 4000,
        ..pull::Config::default()
    };
    create(&context, names::RESULT, results).await?;
    for agent in directory.agents()? {
        prepare_host(directory, &context, &agent.name).await?;
    }
    Ok(())
}

/// Creates the consumers of a host.
async fn prepare_host(directory: &FleetDirectory, context: &Context, host: &str) -> Result<()> {
    let lease = u64::from(directory.settings().lease_seconds);
    let jobs = worker(host, lease, 1);
    create(context, names::WORK, jobs).await?;
    let receipts = pull::Config {
        durable_name: Some(names::reader(host)),
        filter_subject: names::receipt(host),
        ack_policy: AckPolicy::Explicit,
        ack_wait: Duration::from_secs(60),
        ..pull::Config::default()
    };
    create(context, names::RECEIPT, receipts).await
}

/// Returns the consumer of a host's jobs, of which it may hold `parallel` at a time.
pub(crate) fn worker(host: &str, lease_seconds: u64, parallel: u32) -> pull::Config {
    pull::Config {
        durable_name: Some(names::worker(host)),
        filter_subject: names::work(host),
        ack_policy: AckPolicy::Explicit,
        ack_wait: Duration::from_secs(lease_seconds),
        max_deliver: DELIVERIES,
        max_ack_pending: i64::from(parallel),
        ..pull::Config::default()
    }
}

/// Creates a consumer, or changes the settings of an existing one.
pub(crate) async fn create(context: &Context, stream: &str, consumer: pull::Config) -> Result<()> {
    context.create_consumer_on_stream(consumer, stream).await?;
    Ok(())
}

/// Returns the streams of a fleet.
fn streams() -> Vec<Config> {
    let stream = |name: &str, subject: &str, retention| Config {
        name: name.to_owned(),
        subjects: vec![subject.to_owned()],
        retention,
        storage: StorageType::File,
        num_replicas: 1,
        duplicate_window: DUPLICATES,
        ..Config::default()
    };
    vec![
        stream(names::WORK, &names::work("*"), RetentionPolicy::WorkQueue),
        Config {
            max_messages_per_subject: MOST_RESULTS,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            ..stream(
                names::RESULT,
                &names::result("*"),
                RetentionPolicy::WorkQueue,
            )
        },
        stream(
            names::RECEIPT,
            &names::receipt("*"),
            RetentionPolicy::WorkQueue,
        ),
        Config {
            max_messages_per_subject: 1,
            allow_direct: true,
            ..stream(names::HOST, &names::host("*"), RetentionPolicy::Limits)
        },
        Config {
            max_messages_per_subject: MOST_LINES,
            max_age: LOG_AGE,
            ..stream(names::LOG, &names::log("*"), RetentionPolicy::Limits)
        },
    ]
}

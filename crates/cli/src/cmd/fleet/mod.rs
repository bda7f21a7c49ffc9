//! `hakaru fleet`: one campaign on many hosts.

mod enroll;
mod first_campaign;
mod reporter;
mod run;
mod setup;
mod show;

use crate::exit::Exit;
use anyhow::Result;
use clap::Subcommand;
use hakaru_fleet::directory::FleetDirectory;
use std::path::{Path, PathBuf};

const AFTER: &str = "  hakaru fleet init              on the host that keeps the results
  hakaru fleet up                start nats-server (apt install nats-server)
  hakaru fleet enroll pi@pi-1    for each host; without ssh: --print
  hakaru fleet run               measure the storage of each host, three times
  hakaru fleet devices           what the hosts have
  hakaru fleet run boards.toml   a campaign file with [[host]] (docs/FLEET.md)

Connections are encrypted, and each host has a key of its own. A card is erased only with a permission for its ID, which \
the host checks again.";

/// Arguments of `hakaru fleet`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct FleetArgs {
    /// Directory of the fleet: keys, settings, and what its server stores [default: $XDG_DATA_HOME/hakaru/fleet]
    #[arg(long, global = true, value_name = "DIR", env = "HAKARU_FLEET")]
    fleet: Option<PathBuf>,
    #[command(subcommand)]
    action: FleetAction,
}

#[derive(Debug, Subcommand)]
enum FleetAction {
    /// Create keys, certificates and the configuration of the server
    Init(setup::FleetInitArgs),
    /// Start the server, or let it read changes
    Up,
    /// Stop the server; jobs and results that it holds are kept
    Down,
    /// Add a host: install the agent over ssh, or print the line that does it
    Enroll(enroll::EnrollArgs),
    /// Show hosts, and jobs that have not ended
    Status(show::FleetJsonArgs),
    /// Show the disks of all hosts
    Devices(show::FleetJsonArgs),
    /// Run or resume a campaign on its hosts
    Run(run::FleetRunArgs),
    /// Store results that arrived while nothing ran
    Collect,
    /// Stop the jobs of a campaign, or all jobs
    Stop(show::FleetStopArgs),
    /// Show the last log lines of the hosts
    Logs(show::FleetLogsArgs),
}

/// Runs the subcommand.
pub(crate) fn main(args: &FleetArgs, db: Option<&Path>) -> Result<Exit> {
    let path = match &args.fleet {
        Some(path) => path.clone(),
        None => default_directory()?,
    };
    if let FleetAction::Init(init) = &args.action {
        return setup::init(&path, init);
    }
    let fleet = FleetDirectory::open(&path)?;
    match &args.action {
        FleetAction::Init(_) => Ok(Exit::Usage),
        FleetAction::Up => setup::up(&fleet),
        FleetAction::Down => setup::down(&fleet),
        FleetAction::Enroll(args) => enroll::main(&fleet, args),
        FleetAction::Status(args) => show::status(&fleet, args),
        FleetAction::Devices(args) => show::devices(&fleet, args),
        FleetAction::Run(args) => run::main(&fleet, args, db),
        FleetAction::Collect => run::collect(&fleet, db),
        FleetAction::Stop(args) => show::stop(&fleet, args),
        FleetAction::Logs(args) => show::logs(&fleet, args),
    }
}

/// Directory beside the default database.
fn default_directory() -> Result<PathBuf> {
    Ok(hakaru_store::default_path()?.with_file_name("fleet"))
}

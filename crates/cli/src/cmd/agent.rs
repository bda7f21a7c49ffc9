//! `hakaru agent`: measures on this host for the operator of a fleet.

use crate::exit::{Exit, usage};
use anyhow::{Context as _, Result};
use hakaru_fleet::agent;
use hakaru_fleet::enroll::{AgentConfig, DIRECTORY, UNIT};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Path of the program that the service runs.
const PROGRAM: &str = "/usr/local/bin/hakaru";

/// Unit file of the service.
const UNIT_FILE: &str = "/etc/systemd/system/hakaru-agent.service";

const AFTER: &str = "The agent carries out jobs that the operator of its fleet signed, and nothing else. It erases a card only with a \
signed permission for the ID of that card, after its own checks. Results stay in its directory until the operator has \
them. `hakaru fleet enroll` prints the line that installs it.";

/// Arguments of `hakaru agent`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct AgentArgs {
    /// Directory of the agent: its key, results and state
    #[arg(long, value_name = "DIR", default_value = DIRECTORY)]
    directory: PathBuf,
    /// Read a token from standard input, and install the agent as a service
    #[arg(long)]
    install: bool,
    /// With --install: only write the directory
    #[arg(long, requires = "install")]
    no_service: bool,
}

/// Runs or installs the agent.
pub(crate) fn main(args: &AgentArgs) -> Result<Exit> {
    if args.install {
        return install(args);
    }
    agent::run(&args.directory, &|line| {
        anstream::eprintln!("{}", hakaru_report::plain(line));
    })?;
    Ok(Exit::Ok)
}

fn install(args: &AgentArgs) -> Result<Exit> {
    let mut token = String::new();
    std::io::stdin().take(1 << 20).read_to_string(&mut token)?;
    if token.trim().is_empty() {
        return Err(usage(both!(
            "no token on standard input; help: use the whole line that `hakaru fleet enroll` prints",
            "標準入力にトークンがありません; help: hakaru fleet enrollが表示する行をそのまま使ってください"
        )));
    }
    let config = AgentConfig::from_token(&token)?;
    config.write(&args.directory)?;
    let name = &config.name;
    if args.no_service {
        let directory = args.directory.display();
        super::print(&both!(
            "{name} is enrolled; run `hakaru agent --directory {directory}`\n",
            "{name}を登録しました。hakaru agent --directory {directory}を実行してください\n"
        ))?;
        return Ok(Exit::Ok);
    }
    let program = install_program()?;
    let (program, directory) = (program.display(), args.directory.display());
    let unit = UNIT.replace(
        &format!("{PROGRAM} agent"),
        &format!("{program} agent --directory {directory}"),
    );
    // Source: sd_booted(3).
    if !Path::new("/run/systemd/system").exists() {
        return super::print(&both!(
            "{name} is enrolled; systemd does not run here, so start `{program} agent --directory {directory}` when the host boots\n",
            "{name}を登録しました。systemdが動いていないため、起動時に{program} agent --directory {directory}を実行してください\n"
        ))
        .map(|()| Exit::Ok);
    }
    std::fs::write(UNIT_FILE, unit).with_context(|| {
        both!(
            "cannot write {UNIT_FILE}; help: run it with sudo",
            "{UNIT_FILE}に書き込めません; help: sudoで実行してください"
        )
    })?;
    systemctl(&["daemon-reload"])?;
    systemctl(&["enable", "hakaru-agent.service"])?;
    systemctl(&["restart", "hakaru-agent.service"])?;
    super::print(&both!(
        "{name} is enrolled, and its agent runs as a service (log: journalctl -u hakaru-agent)\n",
        "{name}を登録し、エージェントをサービスとして起動しました（ログ: journalctl -u hakaru-agent）\n"
    ))?;
    Ok(Exit::Ok)
}

/// Returns the program that the service runs: this one if it is installed, or else a copy of it.
fn install_program() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    if own.starts_with("/usr/bin") || own.starts_with("/usr/local/bin") {
        return Ok(own);
    }
    // A running program cannot be overwritten, but its name can be given to another file.
    let new = format!("{PROGRAM}.new");
    std::fs::copy(&own, &new)
        .and_then(|_| std::fs::rename(&new, PROGRAM))
        .with_context(|| {
            both!(
                "cannot write {PROGRAM}; help: run it with sudo",
                "{PROGRAM}に書き込めません; help: sudoで実行してください"
            )
        })?;
    Ok(PathBuf::from(PROGRAM))
}

fn systemctl(args: &[&str]) -> Result<()> {
    let shown = args.join(" ");
    let failed = || {
        both!(
            "systemctl {shown} failed",
            "systemctl {shown}が失敗しました"
        )
    };
    let status = Command::new("systemctl")
        .args(args)
        .status()
        .with_context(failed)?;
    match status.success() {
        true => Ok(()),
        false => Err(anyhow::anyhow!(failed())),
    }
}

//! `hakaru fleet enroll`: gives a host a key, and installs its agent over ssh.

use crate::cmd::print;
use crate::exit::{Exit, usage};
use anyhow::{Context as _, Result, bail};
use hakaru_fleet::directory::{FleetDirectory, is_host_name};
use hakaru_fleet::enroll::AgentConfig;
use hakaru_fleet::server;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Copies the program to a new directory that only the user can change, and prints that directory. Not in `/tmp`, which is
/// mounted without permission to execute on some hosts.
const COPY: &str = "d=$(mktemp -d \"${HOME:-/tmp}/.hakaru-XXXXXX\") && cat > \"$d/hakaru\" && chmod 755 \"$d/hakaru\" && echo \"$d\"";

/// Arguments of `hakaru fleet enroll`.
#[derive(Debug, clap::Args)]
pub(super) struct EnrollArgs {
    /// Host, as ssh takes it; with --print, its name in the fleet
    #[arg(value_name = "USER@HOST")]
    host: String,
    /// Name of the host in the fleet [default: its hostname]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Print the line to run on the host, instead of using ssh
    #[arg(long)]
    print: bool,
    /// Program to install on a host with another processor, from its tarball or package
    #[arg(long, value_name = "FILE", conflicts_with = "print")]
    program: Option<PathBuf>,
}

/// Enrolls a host.
pub(super) fn main(fleet: &FleetDirectory, args: &EnrollArgs) -> Result<Exit> {
    if args.host.starts_with('-') {
        return Err(usage(
            both!("`{}` is not a host", "「{}」はホストではありません"; args.host),
        ));
    }
    match args.print {
        true => print_line(fleet, args),
        false => over_ssh(fleet, args),
    }
}

/// Creates the key, and lets the server know it.
fn enroll(fleet: &FleetDirectory, name: &str) -> Result<AgentConfig> {
    let config = fleet.enroll(name)?;
    server::add_host(fleet, name)?;
    Ok(config)
}

fn print_line(fleet: &FleetDirectory, args: &EnrollArgs) -> Result<Exit> {
    let host = args.host.rsplit('@').next().unwrap_or_default();
    let config = enroll(fleet, args.name.as_deref().unwrap_or(host))?;
    let token = config.token()?;
    anstream::eprintln!(
        "{}",
        both!(
            "Run this on {} (it contains its key, so keep it secret):",
            "次の行を{}で実行してください（鍵を含むため、他人に見せないでください）:";
            config.name
        )
    );
    print(&format!("echo {token} | sudo hakaru agent --install\n"))?;
    Ok(Exit::Ok)
}

fn over_ssh(fleet: &FleetDirectory, args: &EnrollArgs) -> Result<Exit> {
    let about = ssh(&args.host, "uname -m; uname -n", None)?;
    let mut lines = about.lines().map(str::trim);
    let (machine, hostname) = (
        lines.next().unwrap_or_default(),
        lines.next().unwrap_or_default(),
    );
    let name = args.name.clone().unwrap_or_else(|| hostname.to_owned());
    if !is_host_name(&name) {
        return Err(usage(both!(
            "`{}` cannot be the name of a host in a fleet; help: give it one with --name",
            "「{}」はフリートのホスト名に使えません; help: --nameで指定してください";
            hakaru_report::plain(&name)
        )));
    }
    let own = std::env::consts::ARCH;
    let program = match &args.program {
        Some(file) => file.clone(),
        None if same_processor(machine, own) => std::env::current_exe()?,
        None => {
            let machine = hakaru_report::plain(machine);
            return Err(usage(both!(
                "{name} has an {machine} processor, this host {own}; help: give the program for it with --program, or install its \
                 package there and use --print",
                "{name}のプロセッサは{machine}、このホストは{own}です; help: --programでプログラムを指定するか、パッケージをインストールして--printを使ってください"
            )));
        }
    };
    let file = File::open(&program)
        .with_context(|| both!("cannot read {}", "{}を読み込めません"; program.display()))?;
    let directory = ssh(&args.host, COPY, Some(SshInput::File(file)))?;
    let directory = directory.trim();
    if !is_plain_path(directory) {
        let directory = hakaru_report::plain(directory);
        bail!(both!(
            "{name} has no usable home directory (`{directory}`); help: install hakaru there, and use --print",
            "{name}のホームディレクトリ（「{directory}」）を使えません; help: hakaruをインストールし、--printを使ってください"
        ));
    }
    let config = enroll(fleet, &name)?;
    let script = format!(
        "sudo=; [ \"$(id -u)\" = 0 ] || sudo=sudo; $sudo {directory}/hakaru agent --install; end=$?; rm -rf {directory}; exit $end"
    );
    let printed = ssh(&args.host, &script, Some(SshInput::Text(config.token()?)))?;
    print(&hakaru_report::plain(printed.trim_end()))?;
    print("\n")?;
    Ok(Exit::Ok)
}

/// Whether a path needs no quoting in a shell.
fn is_plain_path(path: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    path.starts_with('/') && path.len() > 1 && path.chars().all(plain)
}

/// Whether a program for one processor runs on the other, which `uname -m` names.
fn same_processor(machine: &str, own: &str) -> bool {
    match own {
        "arm" => {
            machine.starts_with("armv6") || machine.starts_with("armv7") || machine == "aarch64"
        }
        own => machine == own,
    }
}

enum SshInput {
    File(File),
    Text(String),
}

/// Runs a command on a host, and returns what it prints.
fn ssh(host: &str, script: &str, input: Option<SshInput>) -> Result<String> {
    let mut command = Command::new("ssh");
    command.args(["--", host, script]).stdout(Stdio::piped());
    let text = match input {
        Some(SshInput::File(file)) => {
            command.stdin(file);
            None
        }
        Some(SshInput::Text(text)) => {
            command.stdin(Stdio::piped());
            Some(text)
        }
        None => {
            command.stdin(Stdio::null());
            None
        }
    };
    let mut child = command.spawn().with_context(|| {
        both!(
            "cannot run ssh; help: install it, or use --print",
            "sshを実行できません; help: インストールするか、--printを使ってください"
        )
    })?;
    if let (Some(text), Some(mut stdin)) = (text, child.stdin.take()) {
        // A broken pipe shows in the exit status.
        let _ = stdin.write_all(text.as_bytes());
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!(both!(
            "ssh {host} failed; help: check that `ssh {host}` works without a question, or use --print",
            "ssh {host}が失敗しました; help: ssh {host}が確認なしで動作するか調べるか、--printを使ってください"
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_need_no_quoting_are_used() {
        assert!(is_plain_path("/home/pi/.hakaru-a1B2c3"));
        for path in ["", "/", "a", "/a b", "/a;reboot", "/$HOME", "/a\n/b"] {
            assert!(!is_plain_path(path), "{path:?}");
        }
    }

    #[test]
    fn a_program_is_sent_to_processors_that_run_it() {
        assert!(same_processor("aarch64", "aarch64") && same_processor("armv6l", "arm"));
        assert!(!same_processor("aarch64", "x86_64") && !same_processor("armv7l", "aarch64"));
    }
}

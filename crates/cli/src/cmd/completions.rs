//! `hakaru completions`: prints the completion script of a shell.

use super::print;
use crate::args::Cli;
use crate::exit::Exit;
use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

const AFTER: &str = "For this user, with bash: hakaru completions bash > \
~/.local/share/bash-completion/completions/hakaru. With fish: hakaru completions fish > \
~/.config/fish/completions/hakaru.fish. With zsh: hakaru completions zsh > DIR/_hakaru, where DIR is in fpath. \
The Debian package installs them.";

/// Arguments of `hakaru completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct CompletionsArgs {
    /// Shell that reads the script
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Prints the script.
pub(crate) fn main(args: &CompletionsArgs) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hakaru", &mut script);
    print(&String::from_utf8(script)?)?;
    Ok(Exit::Ok)
}

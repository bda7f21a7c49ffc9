//! `hakaru fleet` and `hakaru agent` in a program that was built without the feature `fleet`: an error with its cure.

use std::ffi::OsString;

/// Any arguments of a command that this program lacks.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct IgnoredArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    args: Vec<OsString>,
}

/// `hakaru fleet`.
#[cfg(not(feature = "fleet"))]
pub(crate) mod fleet {
    pub(crate) type FleetArgs = super::IgnoredArgs;

    pub(crate) fn main(
        _: &FleetArgs,
        _: Option<&std::path::Path>,
    ) -> anyhow::Result<crate::exit::Exit> {
        Err(crate::exit::usage(super::message("fleet")))
    }
}

/// `hakaru agent`.
#[cfg(not(feature = "fleet"))]
pub(crate) mod agent {
    pub(crate) type AgentArgs = super::IgnoredArgs;

    pub(crate) fn main(_: &AgentArgs) -> anyhow::Result<crate::exit::Exit> {
        Err(crate::exit::usage(super::message("agent")))
    }
}

/// Describes that a command is missing, and how to get it.
fn message(command: &str) -> String {
    both!(
        "hakaru {command}: not in this program, which was built without the feature `fleet`; help: build it with \
         `cargo install --locked --path crates/cli --features fleet`, or install a package of hakaru",
        "hakaru {command}: このプログラムはfleet機能なしでビルドされています; help: \
         cargo install --locked --path crates/cli --features fleetでビルドするか、hakaruのパッケージをインストールしてください"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        args: IgnoredArgs,
    }

    /// A script that worked with a package gets the cure, and not an error about its arguments.
    #[test]
    fn any_arguments_lead_to_the_cure() {
        Program::command().debug_assert();
        for words in [
            &[][..],
            &["--help"],
            &["enroll", "--print", "pi-1"],
            &["--install", "--no-service", "--", "-x"],
        ] {
            let line = [&["hakaru"], words].concat();
            let parsed = Program::try_parse_from(&line).map(|program| program.args.args.len());
            assert_eq!(parsed.ok(), Some(words.len()), "{line:?}");
        }
        assert!(message("fleet").contains("--features fleet"));
    }
}

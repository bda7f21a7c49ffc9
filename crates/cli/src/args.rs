//! The command line of hakaru itself, as opposed to its fio and iozone front ends.

use crate::cmd;
use crate::exit::{Exit, complain, is_closed_pipe};
use crate::help;
use crate::language::LanguageArg;
use clap::builder::Resettable;
use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// Benchmarks SD cards, SSDs and file systems: repeats, compares, and reports what each is good for.
#[derive(Debug, Parser)]
#[command(name = "hakaru", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 success; 1 failure, or `lint` found a problem; 2 usage error, or no such file, device, run or database; 3 refused because data would be lost; 4 `verify` found defects; 130 interrupted (partial results are kept). `hakaru fio` and `iozone` use theirs; `fio --hakaru-trace` also traces."
)]
pub(crate) struct Cli {
    /// Database [default: $XDG_DATA_HOME/hakaru/hakaru.db]
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "HAKARU_DB",
        hide_env_values = true
    )]
    pub(crate) db: Option<PathBuf>,
    /// Language: auto (by locale), en or ja
    #[arg(
        long,
        global = true,
        value_name = "LANGUAGE",
        env = "HAKARU_LANG",
        default_value = "auto",
        hide_possible_values = true
    )]
    lang: LanguageArg,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Benchmark a directory or device with the standard suite
    Bench(cmd::bench::BenchArgs),
    /// Benchmark many cards through many layers from a file; resumes
    Campaign(cmd::campaign::CampaignArgs),
    /// Run one campaign on many hosts
    #[cfg_attr(not(feature = "fleet"), command(hide = true))]
    Fleet(cmd::fleet::FleetArgs),
    /// Measure on this host for the operator of a fleet
    #[cfg_attr(not(feature = "fleet"), command(hide = true))]
    Agent(cmd::agent::AgentArgs),
    /// List stored runs, newest first
    List(cmd::list::ListArgs),
    /// Show a stored run or series
    Show(cmd::show::ShowArgs),
    /// Serve results, and what runs now, as web pages
    Serve(cmd::serve::ServeArgs),
    /// Write a report on stored runs
    Report(cmd::report::ReportArgs),
    /// Show where the bytes and the time of a traced run went
    Explain(cmd::explain::ExplainArgs),
    /// Compare two sets of results: stored runs or result files
    Compare(cmd::compare::CompareArgs),
    /// Show one card over time: runs, verifications, signs of wear
    History(cmd::history::HistoryArgs),
    /// Rank cards for each use, and by speed for the money
    Rank(cmd::rank::RankArgs),
    /// Import results of fio, iozone, hdparm, dd and CSV tables
    Import(cmd::import::ImportArgs),
    /// Move old runs to another database, readable with `--db`
    Archive(cmd::archive::ArchiveArgs),
    /// Exchange results with another database: each gets what it lacks
    Sync(cmd::sync::SyncArgs),
    /// Export stored records as JSON lines
    Export(cmd::export::ExportArgs),
    /// Change label, title and note of stored results
    Relabel(cmd::relabel::RelabelArgs),
    /// Manage reference results that `bench` compares against
    #[command(alias = "shelf")]
    Reference(cmd::reference::ReferencesArgs),
    /// Check a fio job or a result for benchmarking mistakes
    Lint(cmd::lint::LintArgs),
    /// Show what is known about a device or path, and this host
    Info(cmd::info::InfoArgs),
    /// Find the units, cache and limits of a card, and how to format it
    Anatomy(cmd::anatomy::AnatomyArgs),
    /// Predict jobs on a card by its anatomy, or compare with a run
    Predict(cmd::predict::PredictArgs),
    /// Check real capacity and data integrity, and map speed
    Verify(cmd::verify::VerifyArgs),
    /// Bring a device into a known state: discard, fill, mkfs, mount
    Prepare(cmd::prepare::PrepareArgs),
    /// Recover interrupted runs and undo leftover preparation steps
    Recover(cmd::recover::RecoverArgs),
    /// Create links named fio and iozone to this program, or remove them
    Link(cmd::link::LinkArgs),
    /// Print the completion script of a shell
    Completions(cmd::completions::CompletionsArgs),
    /// Show the manual page of a command
    Man(cmd::man::ManArgs),
    /// Run a fio command line or job file on hakaru's own engine
    #[command(disable_help_flag = true)]
    Fio {
        /// Any fio option; see `hakaru fio --help`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Run an iozone command line on hakaru's own engine
    #[command(disable_help_flag = true)]
    Iozone {
        /// Any iozone option; see `hakaru iozone -h`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

fn parse(argv: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = help::grouped(help::localized(without_empty_variables(Cli::command())));
    let matches = command.try_get_matches_from_mut(argv)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Takes the environment variables that are set to nothing as not set.
fn without_empty_variables(command: clap::Command) -> clap::Command {
    let is_empty = |arg: &Arg| {
        let value = arg.get_env().and_then(std::env::var_os);
        value.is_some_and(|value| value.is_empty())
    };
    let arg = |arg: Arg| match is_empty(&arg) {
        true => arg.env(Resettable::Reset),
        false => arg,
    };
    command
        .mut_args(arg)
        .mut_subcommands(without_empty_variables)
}

/// Parses the command line and runs the subcommand.
pub(crate) fn main(argv: &[OsString]) -> Exit {
    let cli = match parse(argv) {
        Ok(cli) => cli,
        Err(error) => {
            help::print_clap(&error);
            return match error.use_stderr() {
                true => Exit::Usage,
                false => Exit::Ok,
            };
        }
    };
    cli.run().unwrap_or_else(|error| {
        if is_closed_pipe(&error) {
            return Exit::Ok;
        }
        complain(&error);
        Exit::of(&error)
    })
}

impl Cli {
    fn run(self) -> anyhow::Result<Exit> {
        let db = self.db.as_deref();
        match self.command {
            Command::Bench(args) => cmd::bench::main(&args, db),
            Command::Campaign(args) => cmd::campaign::main(&args, db),
            Command::Fleet(args) => cmd::fleet::main(&args, db),
            Command::Agent(args) => cmd::agent::main(&args),
            Command::List(args) => cmd::list::main(&args, db),
            Command::Show(args) => cmd::show::main(&args, db),
            Command::Serve(args) => cmd::serve::main(&args, db),
            Command::Report(args) => cmd::report::main(&args, db),
            Command::Explain(args) => cmd::explain::main(&args, db),
            Command::Compare(args) => cmd::compare::main(&args, db),
            Command::History(args) => cmd::history::main(&args, db),
            Command::Rank(args) => cmd::rank::main(&args, db),
            Command::Import(args) => cmd::import::main(&args, db),
            Command::Archive(args) => cmd::archive::main(&args, db),
            Command::Sync(args) => cmd::sync::main(&args, db),
            Command::Export(args) => cmd::export::main(&args, db),
            Command::Relabel(args) => cmd::relabel::main(&args, db),
            Command::Reference(args) => cmd::reference::main(&args, db),
            Command::Lint(args) => cmd::lint::main(&args),
            Command::Info(args) => cmd::info::main(&args),
            Command::Anatomy(args) => cmd::anatomy::main(&args, db),
            Command::Predict(args) => cmd::predict::main(&args, db),
            Command::Verify(args) => cmd::verify::main(&args, db),
            Command::Prepare(args) => cmd::prepare::main(&args, db),
            Command::Recover(args) => cmd::recover::main(&args, db),
            Command::Link(args) => cmd::link::main(&args),
            Command::Completions(args) => cmd::completions::main(&args),
            Command::Man(args) => cmd::man::main(&args),
            Command::Fio { args } => Ok(cmd::fio::main_of_hakaru(&args, db)),
            Command::Iozone { args } => Ok(cmd::iozone::main_of_hakaru(&args, db)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn readme_lists_every_command() {
        let readme = include_str!("../../../README.md");
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let listed = format!("`hakaru {name}");
            let second = format!(", `{name}`");
            assert!(
                readme.lines().any(|line| {
                    line.starts_with('|') && (line.contains(&listed) || line.contains(&second))
                }),
                "README.md: the table of commands has no row for `{name}`"
            );
        }
    }
}

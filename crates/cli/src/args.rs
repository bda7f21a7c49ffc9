//! Our own command line.

use crate::cmd;
use crate::exit::{Exit, complain, is_closed_pipe};
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// Measures cards, disks and file systems: repeats, compares, and says what each is good for.
#[derive(Debug, Parser)]
#[command(name = "hakaru", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 it failed, or something that matters was found (lint), 2 wrong usage, or \
                        what was named is not there, 3 refused because data would be lost, 4 defects found (verify), 130 \
                        interrupted (what was measured is kept). `hakaru fio` and `hakaru iozone` end as fio and iozone \
                        do."
)]
pub(crate) struct Cli {
    /// The database of results [default: $XDG_DATA_HOME/hakaru/hakaru.db]
    #[arg(long, global = true, value_name = "FILE", env = "HAKARU_DB")]
    pub(crate) db: Option<PathBuf>,
    #[command(subcommand)]
    command: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Measure a directory or device with the standard suite
    Bench(cmd::bench::BenchArgs),
    /// Measure many cards through many layers, as a file says; resumes where it was
    Campaign(cmd::campaign::CampaignArgs),
    /// List stored runs, newest first
    List(cmd::list::ListArgs),
    /// Show one stored run or series
    Show(cmd::show::ShowArgs),
    /// Write a report of stored runs
    Report(cmd::report::ReportArgs),
    /// Compare two things: stored ones, or results in files
    Compare(cmd::compare::CompareArgs),
    /// Read results of fio, iozone, hdparm, dd and tables into the store
    Import(cmd::import::ImportArgs),
    /// Write stored records as lines of JSON
    Export(cmd::export::ExportArgs),
    /// Published figures and your own, which results are put beside
    Shelf(cmd::shelf::ReferencesArgs),
    /// Tell what is wrong with an experiment of fio before it runs, or with a result
    Lint(cmd::lint::LintArgs),
    /// Tell what is known of a device or path, and of this host
    Info(cmd::info::InfoArgs),
    /// Check that a card or disk holds what it claims, and how fast it is where
    Verify(cmd::verify::VerifyArgs),
    /// Bring a device into a known state: discard, fill, partition, mkfs, mount
    Prepare(cmd::prepare::PrepareArgs),
    /// Keep what runs that were cut short had measured, and take back what a preparation left behind
    Recover(cmd::recover::RecoverArgs),
    /// Run a fio command line or job file on our own engine
    #[command(disable_help_flag = true)]
    Fio {
        /// Anything fio takes; `hakaru fio --help` tells what
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Run a command line of iozone on our own engine
    #[command(disable_help_flag = true)]
    Iozone {
        /// Anything iozone takes; `hakaru iozone -h` tells what
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

/// Parses and dispatches.
pub(crate) fn main(argv: &[OsString]) -> Exit {
    let cli = match Cli::try_parse_from(argv) {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe is no error of ours.
            let _ = error.print();
            return if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Ok
            };
        }
    };
    let db = cli.db.as_deref();
    let result = match cli.command {
        Verb::Bench(args) => cmd::bench::main(&args, db),
        Verb::Campaign(args) => cmd::campaign::main(&args, db),
        Verb::List(args) => cmd::list::main(&args, db),
        Verb::Show(args) => cmd::show::main(&args, db),
        Verb::Report(args) => cmd::report::main(&args, db),
        Verb::Compare(args) => cmd::compare::main(&args, db),
        Verb::Import(args) => cmd::import::main(&args, db),
        Verb::Export(args) => cmd::export::main(&args, db),
        Verb::Shelf(args) => cmd::shelf::main(&args, db),
        Verb::Lint(args) => cmd::lint::main(&args),
        Verb::Info(args) => cmd::info::main(&args),
        Verb::Verify(args) => cmd::verify::main(&args, db),
        Verb::Prepare(args) => cmd::prepare::main(&args),
        Verb::Recover(args) => cmd::recover::main(&args, db),
        Verb::Fio { args } => Ok(cmd::fio::main(&args)),
        Verb::Iozone { args } => Ok(cmd::iozone::main(&args)),
    };
    result.unwrap_or_else(|error| {
        if is_closed_pipe(&error) {
            return Exit::Ok;
        }
        complain(&error);
        Exit::of(&error)
    })
}

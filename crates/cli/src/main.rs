//! The command line: one module per subcommand, and the front ends selected by `argv[0]` as `fio` or `iozone`.

#![forbid(unsafe_code)]

#[macro_use]
extern crate hakaru_report;

mod args;
mod cmd;
mod exit;
mod fonts;
mod front_end;
mod help;
mod imports;
mod language;
mod live;
mod names;
mod output;
mod place;
mod rules;
mod scan_reporter;
mod sides;
mod status_reporter;
mod stop;

use hakaru_trace::recorder::{CLEANER_NAME, allow_cleaner, clean_up};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let argv: Vec<OsString> = std::env::args_os().collect();
    if argv.first().is_some_and(|name| name == CLEANER_NAME) {
        let instance = argv.get(1).cloned().unwrap_or_default();
        return ExitCode::from(u8::from(clean_up(&instance).is_err()));
    }
    allow_cleaner();
    hakaru_engine::map_large_blocks();
    let called_as = argv
        .first()
        .and_then(|name| Path::new(name).file_name())
        .unwrap_or_default()
        .to_owned();
    // The front ends have their own grammars, which differ from the hakaru command line.
    if called_as == "fio" {
        return cmd::fio::main(&argv[1..]).into();
    }
    if called_as == "iozone" {
        return cmd::iozone::main(&argv[1..]).into();
    }
    if argv.get(1).is_some_and(|word| word == "iozone") {
        return cmd::iozone::main_of_hakaru(&argv[2..], None).into();
    }
    if argv.get(1).is_some_and(|word| word == "fio") {
        return cmd::fio::main_of_hakaru(&argv[2..], None).into();
    }
    let language = language::chosen(&argv, |name| std::env::var(name).ok());
    hakaru_report::with_language(language, || args::main(&argv)).into()
}

//! Tests of the whole parser through two helpers: [`check`] for results, [`fails`] for error messages.

mod articles;
mod clients;
mod properties;
mod rules;
mod semantics;

use super::testing::{context, with_files};
use super::*;
use hakaru_model::job::{Job, Scenario};
use std::ffi::OsString;

/// Splits a command into words like a shell: blanks between words, `'…'`, `\ ` and continued lines.
fn words(command: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some(kept) => word.get_or_insert_default().push(kept),
            },
            '\'' => {
                let text = word.get_or_insert_default();
                text.extend(chars.by_ref().take_while(|c| *c != '\''));
            }
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words
        .into_iter()
        .chain(word)
        .skip_while(|w| w == "$" || w == "sudo" || w == "fio")
        .map(OsString::from)
        .collect()
}

/// Parses a command, without any files.
fn run(command: &str) -> Result<Invocation, FioError> {
    parse(&words(command), context())
}

/// Parses a job file, with the options of the command line before it.
fn run_file(options: &str, text: &str) -> Result<Invocation, FioError> {
    with_files(&[("job.fio", text)], |ctx| {
        parse(&words(&format!("fio {options} job.fio")), ctx)
    })
}

/// The jobs of a command that must parse without warnings.
fn jobs(command: &str) -> Vec<Job> {
    let invocation = run(command).unwrap_or_else(|e| panic!("{command}: {e}"));
    assert_eq!(invocation.warnings, [""; 0], "{command}");
    flat(&invocation.scenario)
}

fn flat(scenario: &Scenario) -> Vec<Job> {
    scenario
        .phases
        .iter()
        .flat_map(|phase| phase.jobs.clone())
        .collect()
}

/// The only job of a command.
fn job(command: &str) -> Job {
    let mut jobs = jobs(command);
    assert_eq!(jobs.len(), 1, "{command}");
    jobs.remove(0)
}

/// The error message of a command that must not parse.
fn fails(command: &str) -> String {
    match run(command) {
        Err(error) => error.to_string(),
        Ok(invocation) => panic!("{command} is understood: {:#?}", invocation.scenario),
    }
}

/// Summarizes names and groups by phase, such as `a0 b0 | c1`.
fn outline(invocation: &Invocation) -> String {
    let phases = invocation.scenario.phases.iter().map(|phase| {
        let jobs = phase
            .jobs
            .iter()
            .map(|job| format!("{}{}", job.name, job.group));
        jobs.collect::<Vec<_>>().join(" ")
    });
    phases.collect::<Vec<_>>().join(" | ")
}

//! `hakaru man`: shows, prints or writes the manual pages, one for each command.

use super::print;
use crate::args::Cli;
use crate::exit::{Exit, complain};
use crate::help;
use crate::output;
use anyhow::{Context, Result, anyhow};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use hakaru_dialects::{fio, iozone};
use hakaru_report::text::{self, FailedAction};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

const AFTER: &str = "On a terminal, the page is shown with man(1) if that is installed; elsewhere its roff source is \
printed. To install all pages for this user: hakaru man --dir ~/.local/share/man/man1";

/// Arguments of `hakaru man`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct ManArgs {
    /// Command that the page describes, such as `bench` or `campaign run` [default: hakaru itself]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write every page to a directory, such as hakaru-bench.1
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

/// Program and version in the footer of a page. Without it, clap_mangen prints the name of the subcommand.
const SOURCE: &str = concat!("hakaru ", env!("CARGO_PKG_VERSION"));

/// A manual page.
struct ManPage {
    /// Name without section, such as `hakaru-campaign-run`.
    name: String,
    roff: String,
}

/// Shows one page, or writes all of them.
pub(crate) fn main(args: &ManArgs) -> Result<Exit> {
    let pages = pages()?;
    if let Some(directory) = &args.dir {
        write_all(&pages, directory)?;
        return Ok(Exit::Ok);
    }
    let words = std::iter::once("hakaru").chain(args.command.iter().map(String::as_str));
    let name = words.collect::<Vec<_>>().join("-");
    let Some(page) = pages.iter().find(|page| page.name == name) else {
        complain(&anyhow!(text::no_manual_page(&args.command.join(" "))));
        return Ok(Exit::Usage);
    };
    if !std::io::stdout().is_terminal() || !show(&page.roff) {
        print(&page.roff)?;
    }
    Ok(Exit::Ok)
}

/// All manual pages, in the order of the commands.
fn pages() -> Result<Vec<ManPage>> {
    let mut root = help::localized(Cli::command()).disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    add_pages(&root, &mut pages)?;
    Ok(pages)
}

/// Adds the page of a command and of each of its subcommands. The front ends have pages from their own tables.
fn add_pages(command: &Command, pages: &mut Vec<ManPage>) -> Result<()> {
    let name = command
        .get_display_name()
        .unwrap_or_else(|| command.get_name())
        .to_owned();
    let roff = match name.as_str() {
        "hakaru-fio" => fio::man_page(),
        "hakaru-iozone" => iozone::man_page(),
        _ => {
            let mut source = Vec::new();
            Man::new(command.clone())
                .source(SOURCE)
                .render(&mut source)?;
            String::from_utf8(source)?
        }
    };
    pages.push(ManPage { name, roff });
    let subcommands = command.get_subcommands();
    for subcommand in subcommands.filter(|command| !command.is_hide_set()) {
        add_pages(subcommand, pages)?;
    }
    Ok(())
}

fn write_all(pages: &[ManPage], directory: &Path) -> Result<()> {
    let failed = |path: &Path| text::cannot(&FailedAction::Write(&path.display().to_string()));
    std::fs::create_dir_all(directory).with_context(|| failed(directory))?;
    for page in pages {
        let path = directory.join(format!("{}.1", page.name));
        output::write(&path, page.roff.as_bytes()).with_context(|| failed(&path))?;
    }
    Ok(())
}

/// Shows roff source with man(1); false if that is not possible.
fn show(roff: &str) -> bool {
    let started = std::process::Command::new("man")
        .args(["--local-file", "-"])
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut man) = started else {
        return false;
    };
    if let Some(mut stdin) = man.stdin.take() {
        // Ignored: a reader that ends early has seen enough.
        let _ = stdin.write_all(roff.as_bytes());
    }
    man.wait().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page() {
        let pages = pages().unwrap();
        let found = |name: &str| pages.iter().any(|page| page.name == name);
        for command in Cli::command().get_subcommands() {
            let name = format!("hakaru-{}", command.get_name());
            assert_eq!(found(&name), !command.is_hide_set(), "{name}");
        }
        assert!(found("hakaru") && found("hakaru-campaign-run"));
    }

    #[test]
    fn pages_are_complete_and_have_no_date() {
        for ManPage { name, roff } in pages().unwrap() {
            for section in [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"] {
                assert!(roff.contains(section), "{name}: no {section}");
            }
            let title = roff.lines().find(|line| line.starts_with(".TH ")).unwrap();
            let upper = name.to_uppercase();
            assert!(
                title
                    .replace('\\', "")
                    .to_uppercase()
                    .contains(&format!("{upper} 1")),
                "{title}"
            );
            assert!(!title.contains("20"), "a date: {title}");
            let has_own_source = ["hakaru-fio", "hakaru-iozone"].contains(&name.as_str());
            assert!(
                has_own_source || title.contains(SOURCE),
                "no version: {title}"
            );
        }
    }
}

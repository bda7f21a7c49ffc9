//! `hakaru --help`: the list of commands in groups, and the help in other languages.

mod ja;
mod translated;

pub(crate) use translated::{localized, print_clap};

use clap::Command;
use clap::builder::StyledStr;
use std::fmt::Write;

/// A group of commands: its title, and its commands.
type CommandGroup = (fn() -> String, &'static [&'static str]);

/// Commands by what somebody wants to do, in the order of the help.
const GROUPS: [CommandGroup; 4] = [
    (
        || both!("Measure", "測定"),
        &["bench", "campaign", "fleet", "agent", "fio", "iozone"],
    ),
    (
        || both!("See and compare results", "結果の表示と比較"),
        &[
            "list", "show", "report", "explain", "serve", "compare", "rank", "history",
        ],
    ),
    (
        || both!("Keep results", "結果の管理"),
        &[
            "import",
            "export",
            "archive",
            "sync",
            "relabel",
            "reference",
            "recover",
        ],
    ),
    (
        || both!("Check and set up", "検査と準備"),
        &[
            "anatomy",
            "predict",
            "verify",
            "info",
            "lint",
            "prepare",
            "link",
            "completions",
            "man",
        ],
    ),
];

/// Lists the commands of the program in groups.
pub(crate) fn grouped(command: Command) -> Command {
    let header = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let all: Vec<(String, String)> = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && command.get_name() != "help")
        .map(|command| {
            let about = command.get_about().map(StyledStr::to_string);
            (command.get_name().to_owned(), about.unwrap_or_default())
        })
        .collect();
    let widest = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut group = |title: &str, wanted: &dyn Fn(&str) -> bool, order: &[&str]| {
        let mut found: Vec<_> = all.iter().filter(|(name, _)| wanted(name)).collect();
        found.sort_by_key(|(name, _)| order.iter().position(|known| known == name));
        if found.is_empty() {
            return;
        }
        // Ignored: writing to a string does not fail.
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for (name, about) in found {
            let _ = writeln!(text, "  {literal}{name:<widest$}{literal:#}  {about}");
        }
        text.push('\n');
    };
    for (title, names) in GROUPS {
        group(&title(), &|name| names.contains(&name), names);
    }
    let is_known = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    group(&both!("Other", "その他"), &|name| !is_known(name), &[]);
    let template = format!(
        "{{about-with-newline}}{{usage-heading}} {{usage}}\n\n{text}{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;
    use hakaru_report::{Language, columns_of, with_language};
    use std::collections::BTreeSet;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Cli::command();
        let there: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).collect();
        let mut listed = BTreeSet::new();
        for name in GROUPS.iter().flat_map(|(_, names)| names.iter()) {
            assert!(listed.insert(*name), "{name} is listed twice");
        }
        assert_eq!(listed, there);
    }

    #[test]
    fn help_fits_a_screen() {
        let mut command = grouped(Cli::command()).color(clap::ColorChoice::Never);
        let help = command.try_get_matches_from_mut(["hakaru", "--help"]);
        let help = help.unwrap_err().to_string();
        assert!(help.lines().count() <= 50, "{help}");
        for line in [
            "Measure:",
            "  bench ",
            "Keep results:",
            "Options:",
            "Exit codes:",
        ] {
            assert!(help.contains(line), "{line} is missing in:\n{help}");
        }
        assert!(!help.contains("Other:"), "{help}");
    }

    #[test]
    fn each_command_takes_one_line_of_80_columns() {
        for language in [Language::English, Language::Japanese] {
            let help = with_language(language, || {
                let command = grouped(localized(Cli::command()));
                command
                    .color(clap::ColorChoice::Never)
                    .render_long_help()
                    .to_string()
            });
            for name in GROUPS.iter().flat_map(|(_, names)| names.iter()) {
                let start = format!("  {name} ");
                let line = help.lines().find(|line| line.starts_with(&start));
                let line = line.unwrap_or_default();
                assert!((20..=80).contains(&columns_of(line)), "{name}: {line}");
            }
        }
    }
}

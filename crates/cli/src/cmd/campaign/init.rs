//! `hakaru campaign init`: writes a campaign file from a template or interactively.

use super::line_reader::LineReader;
use crate::cmd::print;
use crate::exit::{Exit, NamedPath, complain, not_there};
use crate::stop;
use anyhow::{Result, bail};
use hakaru_campaign::campaign::ready::{self, READY};
use hakaru_campaign::campaign::resolve::slug;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Arguments of `hakaru campaign init`.
#[derive(Debug, clap::Args)]
pub(super) struct CampaignInitArgs {
    /// Template (see `--list`); prompts if omitted
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// List the templates
    #[arg(long)]
    list: bool,
    /// Write to FILE; `-` for standard output [default: NAME.toml in this directory]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

/// Lists the templates or writes a campaign file.
pub(super) fn main(args: &CampaignInitArgs) -> Result<Exit> {
    if args.list {
        let lines: String = READY
            .iter()
            .map(|ready| format!("{:<10} {}\n", ready.name, purpose(ready.text)))
            .collect();
        print(&lines)?;
        return Ok(Exit::Ok);
    }
    let (name, text) = match &args.name {
        Some(name) => {
            let names = READY.map(|ready| ready.name).join(", ");
            let ready = ready::ready(name);
            let ready = ready.ok_or_else(|| {
                not_there(format!(
                    "no ready-made campaign is named {name}: expected one of \
                    {names}"
                ))
            })?;
            (ready.name.to_owned(), ready.text.to_owned())
        }
        None if !LineReader::is_there() => {
            anstream::eprintln!(
                "\u{1b}[1;31merror\u{1b}[0m: no terminal for questions, and no ready-made \
                campaign named"
            );
            anstream::eprintln!("  help: list them with `hakaru campaign init --list`");
            return Ok(Exit::Usage);
        }
        None => {
            let mut asking = Asking {
                typist: LineReader::default(),
                stop: stop::flag(),
            };
            match asking.campaign() {
                Some(made) => made,
                None => {
                    anstream::eprintln!("Nothing was written.");
                    return Ok(Exit::Interrupted);
                }
            }
        }
    };
    if crate::place::is_stdout(args.output.as_deref()) {
        return print(&text).map(|()| Exit::Ok);
    }
    let path = args
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    if let Err(error) = write(&path, &text, args.force) {
        complain(&error);
        return Ok(Exit::Usage);
    }
    let shown = path.display();
    print(&format!("Created {shown}. Edit it as needed, then run:\n"))?;
    print(&format!(
        "  hakaru campaign check {shown}   show the steps, the time needed and what will be \
        erased\n"
    ))?;
    print(&format!("  hakaru campaign run {shown}     run it\n"))?;
    Ok(Exit::Ok)
}

/// Returns the description line of a template.
fn purpose(text: &str) -> &str {
    let line = text.lines().find_map(|line| line.strip_prefix("about = "));
    line.map_or("", |line| line.trim_matches('"'))
}

fn write(path: &Path, text: &str, replace: bool) -> Result<()> {
    let failed = || {
        format!(
            "cannot write {}; help: name another file with --output",
            path.display()
        )
    };
    if replace {
        return crate::output::write(path, text.as_bytes()).named(failed);
    }
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path);
    if file
        .as_ref()
        .is_err_and(|error| error.kind() == ErrorKind::AlreadyExists)
    {
        bail!(
            "{} exists already; help: name another file with --output, or replace it with --force",
            path.display()
        );
    }
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .named(failed)
}

/// Interactive questions to the user.
struct Asking<'a> {
    typist: LineReader,
    stop: &'a AtomicBool,
}

/// Answers of the user.
#[derive(Clone, Debug, Default)]
struct Answers {
    name: String,
    folder: Option<String>,
    cards: Vec<String>,
    layers: Vec<String>,
    workloads: Vec<String>,
    quick: bool,
    repeats: String,
}

const LAYERS: [&str; 7] = ["raw", "vfat", "exfat", "ext4", "f2fs", "xfs", "btrfs"];

const WORKLOADS: [&str; 8] = [
    "all",
    "seq-write",
    "seq-read",
    "rand-write",
    "rand-read",
    "mixed",
    "durable",
    "sustained",
];

impl Asking<'_> {
    /// Asks all questions; `None` if stopped.
    fn campaign(&mut self) -> Option<(String, String)> {
        anstream::eprintln!("Press Enter to accept the value in brackets.\n");
        let mut answers = Answers {
            name: self.text("Name of the campaign", "my cards", |name| {
                if slug(name).is_empty() {
                    Err("a name needs a letter or a digit".to_owned())
                } else {
                    Ok(())
                }
            })?,
            ..Answers::default()
        };
        let folder = self.text(
            "Directory to measure, or empty for cards in a reader",
            "",
            |folder| {
                let is_there = folder.is_empty() || Path::new(folder).is_dir();
                if is_there {
                    Ok(())
                } else {
                    Err(format!("{folder} is not a directory"))
                }
            },
        )?;
        if folder.is_empty() {
            let cards = self.text("Card labels, separated by commas", "card 1", |cards| {
                let names = list(cards);
                let doubled = names
                    .iter()
                    .enumerate()
                    .find(|(place, name)| names[..*place].contains(name));
                match doubled {
                    _ if names.is_empty() => Err("enter at least one".to_owned()),
                    Some((_, name)) => Err(format!("{name} is listed twice")),
                    None => Ok(()),
                }
            })?;
            answers.cards = list(&cards);
            let question = format!("Layers to measure ({})", LAYERS.join(", "));
            answers.layers = list(&self.text(&question, "raw, vfat, ext4", |layers| {
                known(layers, &LAYERS)
            })?);
        } else {
            answers.folder = Some(folder);
        }
        let question = format!("Workloads ({})", WORKLOADS.join(", "));
        answers.workloads = list(&self.text(&question, "all", |names| known(names, &WORKLOADS))?);
        let pace = self.text(
            "Time per workload: quick (seconds) or standard (a minute)",
            "standard",
            |pace| known(pace, &["quick", "standard"]),
        )?;
        answers.quick = pace == "quick";
        answers.repeats = self.text(
            "Repeats: a number, or a target interval such as 2%",
            "10",
            |repeats| {
                let number = repeats
                    .parse::<u32>()
                    .is_ok_and(|n| (1..=1000).contains(&n));
                let share = repeats
                    .strip_suffix('%')
                    .and_then(|s| s.trim().parse::<f64>().ok());
                let sound = number || share.is_some_and(|share| share > 0.0 && share <= 100.0);
                if sound {
                    Ok(())
                } else {
                    Err("expected a number from 1 to 1000, or a percentage such as 2%".to_owned())
                }
            },
        )?;
        Some((slug(&answers.name), file(&answers)))
    }

    /// Asks a question until the answer is valid.
    fn text(
        &mut self,
        question: &str,
        usual: &str,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Option<String> {
        let shown = if usual.is_empty() {
            String::new()
        } else {
            format!(" [{usual}]")
        };
        loop {
            let typed = self
                .typist
                .ask(&format!("{question}{shown}: "), self.stop)?;
            let answer = if typed.is_empty() {
                usual.to_owned()
            } else {
                typed
            };
            match check(&answer) {
                Ok(()) => return Some(answer),
                Err(why) => anstream::eprintln!("  Invalid answer: {why}."),
            }
        }
    }
}

/// Splits a list of names separated by commas.
fn list(text: &str) -> Vec<String> {
    text.split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

fn known(text: &str, names: &[&str]) -> Result<(), String> {
    let given = list(text);
    match given.iter().find(|name| !names.contains(&name.as_str())) {
        Some(name) => Err(format!("`{name}` is not one of {}", names.join(", "))),
        None if given.is_empty() => Err(format!("enter at least one of {}", names.join(", "))),
        None => Ok(()),
    }
}

/// Generates a campaign file from the answers.
fn file(answers: &Answers) -> String {
    let Answers {
        name,
        folder,
        cards,
        layers,
        workloads,
        quick,
        repeats,
    } = answers;
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let repeats = match repeats.strip_suffix('%') {
        Some(share) => format!(
            "{{ until = \"{}%\", at-least = 5, at-most = 20 }}",
            share.trim()
        ),
        None => repeats.clone(),
    };
    let mut text = format!(
        "# docs/CAMPAIGNS.md explains each key.\nname = {}\nrepeats = {repeats}\n",
        quoted(name)
    );
    if let Some(folder) = folder {
        text += &format!("\n[[card]]\nfolder = {}\n", quoted(folder));
    }
    if !cards.is_empty() {
        text += "\n# After the first run a card is recognized by its device ID. Rated values can be added and are compared with the\n\
                 # measured values: read = 100, write = 30 (MB/s), classes = [\"C10\", \"U3\", \"V30\", \"A1\"].\n";
    }
    for card in cards {
        text += &format!("[[card]]\nlabel = {}\nid = \"ask\"\n\n", quoted(card));
    }
    let layers: String = layers
        .iter()
        .map(|layer| format!("[[layer]]\nfs = \"{layer}\"\n\n"))
        .collect();
    let names: Vec<String> = workloads.iter().map(|name| quoted(name)).collect();
    let pace = if *quick { "quick" } else { "standard" };
    text = format!("{}\n\n{layers}", text.trim_end());
    format!(
        "{text}[[workload]]\nsuite = [{}]\npace = \"{pace}\"\n",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_campaign::campaign::resolve::{ResolveContext, campaign};

    fn check(answers: &Answers) -> hakaru_campaign::campaign::spec::Campaign {
        let around = ResolveContext {
            read_file: &|_| Err(String::new()),
            fio: &|_, _| Err(String::new()),
        };
        campaign(&file(answers), &around).unwrap()
    }

    #[test]
    fn answers_become_a_sound_file() {
        let answers = Answers {
            name: "six \"cards\"".into(),
            cards: vec!["kingston".into(), "sandisk \\ max".into()],
            layers: vec!["raw".into(), "vfat".into()],
            workloads: vec!["seq-write".into(), "rand-read".into()],
            repeats: "2 %".into(),
            ..Answers::default()
        };
        let made = check(&answers);
        assert_eq!(
            (made.cards.len(), made.layers.len(), made.workloads.len()),
            (2, 2, 2)
        );
        assert_eq!(
            (made.repeats.most(), made.cards[1].label.as_str()),
            (20, "sandisk \\ max")
        );
        let folder = Answers {
            name: "x".into(),
            folder: Some("/tmp".into()),
            workloads: vec!["all".into()],
            quick: true,
            repeats: "3".into(),
            ..Answers::default()
        };
        assert_eq!(check(&folder).workloads.len(), 7);
    }

    #[test]
    fn each_ready_one_says_what_it_is_for() {
        assert!(READY.iter().all(|ready| purpose(ready.text).len() > 20));
    }
}

//! `hakaru campaign init`: writes a campaign file from a template or interactively.

use super::line_reader::LineReader;
use crate::cmd::print;
use crate::exit::{Ended, Exit, NamedPath, complain, not_there};
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
        let ready = READY.iter();
        let lines = ready.map(|ready| format!("{:<10} {}\n", ready.name, purpose(ready.text)));
        print(&lines.collect::<String>())?;
        return Ok(Exit::Ok);
    }
    let (name, text) = match &args.name {
        Some(name) => ready_made(name)?,
        None => interactive()?,
    };
    if crate::place::is_stdout(args.output.as_deref()) {
        return print(&text).map(|()| Exit::Ok);
    }
    let path = args.output.clone();
    let path = path.unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    if let Err(error) = write(&path, &text, args.force) {
        complain(&error);
        return Ok(Exit::Usage);
    }
    let shown = path.display();
    print(&format!(
        "Created {shown}. Edit it as needed, then run:\n  \
        hakaru campaign check {shown}   show the steps, the time needed and what will be erased\n  \
        hakaru campaign run {shown}     run it\n"
    ))?;
    Ok(Exit::Ok)
}

/// Name and text of a template.
fn ready_made(name: &str) -> Result<(String, String)> {
    let Some(ready) = ready::ready(name) else {
        let names = READY.map(|ready| ready.name).join(", ");
        return Err(not_there(format!(
            "no ready-made campaign is named {name}: expected one of {names}"
        )));
    };
    Ok((ready.name.to_owned(), ready.text.to_owned()))
}

/// Name and text of a campaign from the answers to questions.
fn interactive() -> Result<(String, String)> {
    if !LineReader::is_there() {
        anstream::eprintln!(
            "\u{1b}[1;31merror\u{1b}[0m: no terminal for questions, and no ready-made \
            campaign named"
        );
        anstream::eprintln!("  help: list them with `hakaru campaign init --list`");
        return Err(Ended(Exit::Usage).into());
    }
    let mut questions = Questions {
        reader: LineReader::default(),
        stop: stop::flag(),
    };
    questions.campaign().ok_or_else(|| {
        anstream::eprintln!("Nothing was written.");
        Ended(Exit::Interrupted).into()
    })
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
struct Questions<'a> {
    reader: LineReader,
    stop: &'a AtomicBool,
}

/// Answers of the user.
#[derive(Clone, Debug, Default)]
struct Answers {
    name: String,
    directory: Option<String>,
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

impl Questions<'_> {
    /// Asks all questions; `None` if stopped.
    fn campaign(&mut self) -> Option<(String, String)> {
        anstream::eprintln!("Press Enter to accept the value in brackets.\n");
        let mut answers = Answers {
            name: self.text("Name of the campaign", "my cards", |name| {
                valid_if(!slug(name).is_empty(), "a name needs a letter or a digit")
            })?,
            ..Answers::default()
        };
        let question = "Directory to measure, or empty for cards in a reader";
        let directory = self.text(question, "", |directory| {
            let is_there = directory.is_empty() || Path::new(directory).is_dir();
            valid_if(is_there, format!("{directory} is not a directory"))
        })?;
        if directory.is_empty() {
            let cards = self.text("Card labels, separated by commas", "card 1", labels)?;
            answers.cards = list(&cards);
            answers.layers = self.several("Layers to measure", &LAYERS, "raw, vfat, ext4")?;
        } else {
            answers.directory = Some(directory);
        }
        answers.workloads = self.several("Workloads", &WORKLOADS, "all")?;
        let question = "Time per workload: quick (seconds) or standard (a minute)";
        let pace = |pace: &str| known(pace, &["quick", "standard"]);
        answers.quick = self.text(question, "standard", pace)? == "quick";
        let question = "Repeats: a number, or a target interval such as 2%";
        answers.repeats = self.text(question, "10", repeats)?;
        Some((slug(&answers.name), file(&answers)))
    }

    /// Asks for some of these names.
    fn several(&mut self, question: &str, names: &[&str], usual: &str) -> Option<Vec<String>> {
        let question = format!("{question} ({})", names.join(", "));
        let answer = self.text(&question, usual, |answer| known(answer, names))?;
        Some(list(&answer))
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
                .reader
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

fn valid_if(valid: bool, otherwise: impl Into<String>) -> Result<(), String> {
    match valid {
        true => Ok(()),
        false => Err(otherwise.into()),
    }
}

/// Checks the labels of cards.
fn labels(text: &str) -> Result<(), String> {
    let names = list(text);
    let is_double = |(place, name): &(usize, &String)| names[..*place].contains(name);
    match names.iter().enumerate().find(is_double) {
        _ if names.is_empty() => Err("enter at least one".to_owned()),
        Some((_, name)) => Err(format!("{name} is listed twice")),
        None => Ok(()),
    }
}

/// Checks a number of repeats, or the interval up to which they are repeated.
fn repeats(text: &str) -> Result<(), String> {
    let number = text.parse().is_ok_and(|n: u32| (1..=1000).contains(&n));
    let share = text.strip_suffix('%').and_then(|s| s.trim().parse().ok());
    let interval = share.is_some_and(|share: f64| share > 0.0 && share <= 100.0);
    valid_if(
        number || interval,
        "expected a number from 1 to 1000, or a percentage such as 2%",
    )
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
    let repeats = match answers.repeats.strip_suffix('%') {
        Some(share) => {
            let share = share.trim();
            format!("{{ until = \"{share}%\", at-least = 5, at-most = 20 }}")
        }
        None => answers.repeats.clone(),
    };
    let name = quoted(&answers.name);
    let mut text =
        format!("# docs/CAMPAIGNS.md explains each key.\nname = {name}\nrepeats = {repeats}\n");
    text += &cards(answers);
    text = format!("{}\n\n", text.trim_end());
    for layer in &answers.layers {
        text += &format!("[[layer]]\nfs = \"{layer}\"\n\n");
    }
    let names: Vec<String> = answers.workloads.iter().map(|name| quoted(name)).collect();
    let names = names.join(", ");
    let pace = if answers.quick { "quick" } else { "standard" };
    text + &format!("[[workload]]\nsuite = [{names}]\npace = \"{pace}\"\n")
}

fn cards(answers: &Answers) -> String {
    let mut text = String::new();
    if let Some(directory) = &answers.directory {
        text += &format!("\n[[card]]\nfolder = {}\n", quoted(directory));
    }
    if !answers.cards.is_empty() {
        text += "\n# After the first run a card is recognized by its device ID. Rated values can be added and are compared with the\n\
                 # measured values: read = 100, write = 30 (MB/s), classes = [\"C10\", \"U3\", \"V30\", \"A1\"].\n";
    }
    for card in &answers.cards {
        text += &format!("[[card]]\nlabel = {}\nid = \"ask\"\n\n", quoted(card));
    }
    text
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
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
        let directory = Answers {
            name: "x".into(),
            directory: Some("/tmp".into()),
            workloads: vec!["all".into()],
            quick: true,
            repeats: "3".into(),
            ..Answers::default()
        };
        assert_eq!(check(&directory).workloads.len(), 7);
    }

    #[test]
    fn each_ready_one_says_what_it_is_for() {
        assert!(READY.iter().all(|ready| purpose(ready.text).len() > 20));
    }
}

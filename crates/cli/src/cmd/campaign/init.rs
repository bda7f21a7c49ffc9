//! `hakaru campaign init`: writes a campaign file from a template or interactively.

use super::line_reader::LineReader;
use crate::cmd::{print, width};
use crate::exit::{Ended, Exit, NamedPath, complain, not_there};
use crate::stop;
use anyhow::{Result, bail};
use hakaru_campaign::campaign::ready::{self, READY};
use hakaru_campaign::campaign::resolve::slug;
use hakaru_report::text::MessagePrefix;
use hakaru_report::{padded, wrapped};
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
        let widest = READY
            .iter()
            .map(|ready| ready.name.len())
            .max()
            .unwrap_or(0);
        let lines = ready.map(|ready| {
            let name = padded(ready.name, widest);
            wrapped(&format!("{name}  "), ready.purpose(), width()) + "\n"
        });
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
    print(&both!(
        "Created {shown}. Edit it as needed, then run:\n  \
        hakaru campaign check {shown}   show the steps, the time needed and what will be erased\n  \
        hakaru campaign run {shown}     run it\n",
        "{shown}を作成しました。必要に応じて編集し、次を実行してください:\n  hakaru campaign check {shown}   手順、所要時間、消去されるデータを表示\n  hakaru campaign run {shown}     実行\n"
    ))?;
    Ok(Exit::Ok)
}

/// Name and text of a template.
fn ready_made(name: &str) -> Result<(String, String)> {
    let Some(ready) = ready::ready(name) else {
        let names: Vec<&str> = READY.iter().map(|ready| ready.name).collect();
        let names = names.join(", ");
        return Err(not_there(both!(
            "no ready-made campaign is named {name}: expected one of {names}",
            "{name}という既製のキャンペーンはありません（指定できる名前: {names}）"
        )));
    };
    Ok((ready.name.to_owned(), ready.localized()))
}

/// Name and text of a campaign from the answers to questions.
fn interactive() -> Result<(String, String)> {
    let Some(reader) = LineReader::new(None) else {
        let prefix = hakaru_report::text::prefix(MessagePrefix::Error);
        let why = both!(
            "no terminal for questions, and no ready-made campaign named",
            "質問できる端末がなく、既製のキャンペーンも指定されていません"
        );
        anstream::eprintln!("\u{1b}[1;31m{prefix}\u{1b}[0m: {why}");
        anstream::eprintln!(
            "{}",
            both!(
                "  help: list them with `hakaru campaign init --list`",
                "  対処: hakaru campaign init --listで一覧を確認してください"
            )
        );
        return Err(Ended(Exit::Usage).into());
    };
    let mut questions = Questions {
        reader,
        stop: stop::flag(),
    };
    questions.campaign().ok_or_else(|| {
        anstream::eprintln!(
            "{}",
            both!("Nothing was written.", "何も書き出していません。")
        );
        Ended(Exit::Interrupted).into()
    })
}

fn write(path: &Path, text: &str, replace: bool) -> Result<()> {
    let failed = || both!("cannot write {}; help: name another file with --output", "{}に書き込めません; help: --outputで別のファイルを指定してください"; path.display());
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
            both!("{} exists already; help: name another file with --output, or replace it with --force", "{}はすでにあります; help: --outputで別のファイルを指定するか、--forceで上書きしてください"; path.display())
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
        anstream::eprintln!(
            "{}",
            both!(
                "Press Enter to accept the value in brackets.\n",
                "括弧内の値でよければEnterを押してください。\n"
            )
        );
        let mut answers = Answers {
            name: self.text(
                &both!("Name of the campaign", "キャンペーンの名前"),
                "my cards",
                |name| {
                    valid_if(
                        !slug(name).is_empty(),
                        both!(
                            "a name needs a letter or a digit",
                            "名前には英数字が必要です"
                        ),
                    )
                },
            )?,
            ..Answers::default()
        };
        let question = both!(
            "Directory to measure, or empty for cards in a reader",
            "測定するディレクトリ（カードリーダーのカードなら空のまま）"
        );
        let directory = self.text(&question, "", |directory| {
            let is_there = directory.is_empty() || Path::new(directory).is_dir();
            valid_if(
                is_there,
                both!(
                    "{directory} is not a directory",
                    "{directory}はディレクトリではありません"
                ),
            )
        })?;
        if directory.is_empty() {
            let cards = self.text(
                &both!(
                    "Card labels, separated by commas",
                    "カードのラベル（コンマ区切り）"
                ),
                "card 1",
                labels,
            )?;
            answers.cards = list(&cards);
            answers.layers = self.several(
                &both!("Layers to measure", "測定するレイヤ"),
                &LAYERS,
                "raw, vfat, ext4",
            )?;
        } else {
            answers.directory = Some(directory);
        }
        answers.workloads = self.several(&both!("Workloads", "ワークロード"), &WORKLOADS, "all")?;
        let question = both!(
            "Time per workload: quick (seconds) or standard (a minute)",
            "ワークロードの時間: quick（数秒）またはstandard（1分）"
        );
        let pace = |pace: &str| known(pace, &["quick", "standard"]);
        answers.quick = self.text(&question, "standard", pace)? == "quick";
        let question = both!(
            "Repeats: a number, or a target interval such as 2%",
            "繰り返し: 回数、または目標とする信頼区間（例: 2%）"
        );
        answers.repeats = self.text(&question, "10", repeats)?;
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
                Err(why) => anstream::eprintln!(
                    "{}",
                    both!("  Invalid answer: {why}.", "  無効な回答: {why}。")
                ),
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
        _ if names.is_empty() => Err(both!("enter at least one", "1つ以上入力してください")),
        Some((_, name)) => Err(both!("{name} is listed twice", "{name}が2回あります")),
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
        both!(
            "expected a number from 1 to 1000, or a percentage such as 2%",
            "1から1000までの数、または2%などの割合を入力してください"
        ),
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
        Some(name) => Err(
            both!("`{name}` is not one of {}", "「{name}」は指定できません（指定できる値: {}）"; names.join(", ")),
        ),
        None if given.is_empty() => Err(
            both!("enter at least one of {}", "1つ以上入力してください（指定できる値: {}）"; names.join(", ")),
        ),
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
    let head = both!(
        "docs/CAMPAIGNS.md explains each key.",
        "各キーの説明はdocs/CAMPAIGNS.mdにあります。"
    );
    let mut text = format!("# {head}\nname = {name}\nrepeats = {repeats}\n");
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
        text += &both!(
            "\n# After the first run a card is recognized by its device ID. Rated values can be added and are compared with the\n\
             # measured values: read = 100, write = 30 (MB/s), classes = [\"C10\", \"U3\", \"V30\", \"A1\"].\n",
            "\n# 最初の測定の後は、カードをデバイスIDで認識します。公称値を書くと実測値と比較します:\n\
             # read = 100、write = 30（MB/s）、classes = [\"C10\", \"U3\", \"V30\", \"A1\"]\n"
        );
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
}

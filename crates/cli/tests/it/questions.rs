//! `docs/QUESTIONS.md`: every command in it runs, and every answer is a line of its output. With
//! `HAKARU_UPDATE_QUESTIONS=1` the page gets the current answers.

use crate::support::{self, Home, hakaru, text};
use hakaru_model::record::RunRecord;
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Simulated cards: name, read and write rates in bytes per second, and seek times in nanoseconds.
const CARDS: [(&str, u64, u64, u64, u64); 4] = [
    ("kingston", 40_000_000, 11_000_000, 400_000, 3_000_000),
    ("samsung", 90_000_000, 60_000_000, 200_000, 700_000),
    ("sandisk", 80_000_000, 30_000_000, 250_000, 1_200_000),
    ("worn", 85_000_000, 41_000_000, 220_000, 1_500_000),
];

const CAMPAIGN: &str = "name = \"cards\"\nrepeats = 2\n\
    [[card]]\nlabel = \"kingston\"\nsimulate = \"kingston.json\"\n\
    [[card]]\nlabel = \"samsung\"\nsimulate = \"samsung.json\"\n\
    [[card]]\nlabel = \"sandisk\"\nsimulate = \"sandisk.json\"\n\
    [[workload]]\nsuite = [\"seq-read\", \"seq-write\", \"rand-read\", \"rand-write\"]\npace = \"quick\"\n";

/// A campaign that is planned only.
const PLANNED: &str = "name = \"cards\"\nrepeats = 5\n[[card]]\nlabel = \"a\"\nfolder = \"disk\"\n\
    [[workload]]\nsuite = [\"seq-read\", \"seq-write\", \"rand-read\", \"rand-write\"]\n";

/// What runs for a command of the page.
struct StandIn {
    command: String,
    /// Whether the numbers of its answer depend on the host.
    of_host: bool,
    /// Whether its results would be among those of the later questions.
    aside: bool,
}

/// What runs instead of a command that needs a card.
fn stand_in(command: &str) -> StandIn {
    let simulated = |rest: &str| format!("bench --simulate=samsung.json --quick {rest}");
    let (command, of_host, aside) = match command {
        "bench /mnt/card --label samsung" => (simulated("--label samsung"), false, false),
        "bench /mnt/card --quick" => (simulated(""), false, true),
        "bench /dev/sdX --dry-run" => (simulated("--dry-run"), false, true),
        "bench /mnt/card --card=text" => (simulated("--card=text"), false, true),
        "bench /mnt/card --only=durable" => (simulated("--only=durable"), false, true),
        "verify /mnt/card" => ("verify . --size=16MiB".to_owned(), true, true),
        command if command.starts_with("fio ") => {
            let fio = "fio --hakaru-store --name=a --rw=randread --bs=4k --size=1m";
            (fio.to_owned(), true, true)
        }
        command => {
            let aside = ["recover", "campaign ", "compare card="];
            let aside = aside.iter().any(|start| command.starts_with(start));
            (command.to_owned(), aside, aside)
        }
    };
    StandIn {
        command,
        of_host,
        aside,
    }
}

/// Asks about cards of which more is measured than of the others.
const RANK_FOR_DATABASES: &str = "rank --use database";

/// Commands whose answers are those of the next one.
const SILENT: [&str; 2] = ["campaign init", "export -o all.jsonl"];

/// A command of the page with its answers, each with the number of its line.
struct Question {
    command: String,
    answers: Vec<(usize, String)>,
}

fn questions(page: &str) -> Vec<Question> {
    let mut all: Vec<Question> = Vec::new();
    for (number, line) in page.lines().enumerate() {
        let Some(code) = line.strip_prefix("    ") else {
            continue;
        };
        match code.strip_prefix("$ hakaru ") {
            Some(command) => all.push(Question {
                command: command.to_owned(),
                answers: Vec::new(),
            }),
            None => {
                let last = all.last_mut().expect("an answer follows its command");
                last.answers.push((number, code.to_owned()));
            }
        }
    }
    all
}

/// The words of a command line; quotes group them.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    let mut words: Vec<String> = Vec::new();
    for (nth, part) in parts {
        match nth % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// Masks IDs and dates, which differ at each run, and all numbers if `numbers`.
fn steady(line: &str, numbers: bool) -> String {
    let mut out = String::new();
    for word in line.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let hex = |c: char| c.is_ascii_hexdigit() || c == '-';
        let digits = bare.chars().filter(char::is_ascii_digit).count();
        let is_id = bare.len() >= 8 && digits > 1 && bare.chars().all(hex);
        let is_date = bare.starts_with("20") && bare.matches('-').count() == 2;
        let is_time = bare.matches(':').count() == 1 && digits == 4;
        let word = match () {
            () if is_date || is_time => "DATE".to_owned(),
            () if is_id => "ID".to_owned(),
            () if numbers => numberless(word),
            () => word.to_owned(),
        };
        out += &word;
        out.push(' ');
    }
    out.trim_end().to_owned()
}

/// A word with `0` in place of each number.
fn numberless(word: &str) -> String {
    let mut out = String::new();
    for c in word.chars() {
        let is_part = c.is_ascii_digit() || matches!(c, '.' | ',') && out.ends_with('0');
        match is_part {
            true if out.ends_with('0') => {}
            true => out.push('0'),
            false => out.push(c),
        }
    }
    out
}

/// Whether a line of output is an answer of the page, in which `…` stands for any text.
fn answers(line: &str, answer: &str, numbers: bool) -> bool {
    let line = steady(line, numbers);
    let mut rest = line.as_str();
    for (nth, part) in steady(answer, numbers).split('…').enumerate() {
        let part = part.trim();
        match rest.find(part) {
            Some(at) if nth > 0 || at == 0 => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    rest.trim().is_empty() || answer.trim_end().ends_with('…')
}

/// The current line for an answer: the one that begins most alike.
fn current(output: &str, answer: &str) -> String {
    let alike = |line: &str| {
        let pairs = line.trim().chars().zip(answer.trim().chars());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let best = output.lines().max_by_key(|line| alike(line));
    let line = best.unwrap_or_default().trim_end();
    match line.char_indices().nth(112) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

fn run(home: &Home, line: &str) -> (bool, String) {
    let mut command = hakaru(home);
    command.current_dir(home.work()).args(words(line));
    let out = command.output().unwrap();
    let said = text(&out.stdout) + &text(&out.stderr);
    (out.status.success(), said)
}

fn succeeds(home: &Home, line: &str) {
    let (good, said) = run(home, line);
    assert!(good, "{line}: {said}");
}

/// Stores a series that the worn card had, and an equal one from an earlier month.
fn store_two_months(home: &Home) {
    for (card, month, started) in [
        ("samsung", "may", 1_746_835_200_000_i64),
        ("worn", "november", 1_762_732_800_000),
    ] {
        let other = Home::new();
        write_cards(&other);
        let only = "--only=seq-write,rand-write";
        succeeds(
            &other,
            &format!("bench --simulate={card}.json --quick {only} --quiet --label samsung"),
        );
        let lines = support::records(&other).into_iter().map(|record| {
            let moved = RunRecord {
                started_unix_ms: started,
                ..record
            };
            serde_json::to_string(&moved).unwrap() + "\n"
        });
        let file = home.work().join(format!("{month}.jsonl"));
        std::fs::write(&file, lines.collect::<String>()).unwrap();
        succeeds(home, &format!("import {month}.jsonl"));
    }
}

fn write_cards(home: &Home) {
    for (name, read, write, read_seek, write_seek) in CARDS {
        let model = serde_json::json!({
            "name": name, "capacity": 32_u64 << 30, "block_size": 512, "read_rate": read, "write_rate": write,
            "read_seek": read_seek, "write_seek": write_seek, "flush": 2_000_000, "jitter_permille": 20,
        });
        let file = home.work().join(format!("{name}.json"));
        std::fs::write(file, model.to_string()).unwrap();
    }
}

/// Leaves a run behind that was killed.
fn kill_a_run(home: &Home) {
    let mut child = hakaru(home)
        .args([
            "bench",
            "--quick",
            "--only=rand-read,sustained",
            "--size=16MiB",
        ])
        .args(["--label=samsung"])
        .arg(home.work())
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let spools = || std::fs::read_dir(home.path().join("hakaru.db.spool"));
    // After the header, there is a line for the first workload once it is measured.
    let has_results = |entry: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(entry.unwrap().path());
        text.is_ok_and(|text| text.lines().count() > 1)
    };
    support::wait_until(|| spools().is_ok_and(|mut all| all.any(has_results)));
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
}

/// What has to be there before a command of the page.
fn arrange(home: &Home, command: &str) {
    match command {
        "recover" => kill_a_run(home),
        "campaign check cards.toml" => {
            std::fs::create_dir(home.work().join("disk")).unwrap();
            std::fs::write(home.work().join("cards.toml"), PLANNED).unwrap();
        }
        "campaign run cards.toml" => {
            std::fs::write(home.work().join("cards.toml"), CAMPAIGN).unwrap();
            succeeds(home, "campaign run cards.toml --repeat=1 --quiet");
        }
        RANK_FOR_DATABASES => {
            for card in ["kingston", "samsung", "sandisk"] {
                let only = "--only=rand-write,rand-read,durable";
                let bench =
                    format!("bench --simulate={card}.json {only} --repeat=5 --label {card}");
                succeeds(home, &format!("{bench} --quiet"));
            }
        }
        command if command.contains("date=") => store_two_months(home),
        command if command.starts_with("import --label microsd") => {
            let line = "268435456 bytes (268 MB, 256 MiB) copied, 2.0137 s, 133 MB/s\n";
            std::fs::write(home.work().join("results.txt"), line).unwrap();
        }
        _ => {}
    }
}

fn page_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/QUESTIONS.md")
}

#[test]
fn every_answer_is_printed_by_its_command() {
    let (home, other, three_cards) = (Home::new(), Home::new(), Home::new());
    for home in [&home, &other, &three_cards] {
        write_cards(home);
    }
    for card in ["kingston", "sandisk"] {
        succeeds(
            &home,
            &format!("bench --simulate={card}.json --quick --quiet --label {card}"),
        );
    }
    let page = std::fs::read_to_string(page_path()).unwrap();
    let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
    let mut stale = Vec::new();
    let all = questions(&page);
    let without = all.iter().filter(|question| question.answers.is_empty());
    let without: Vec<&String> = without.map(|question| &question.command).collect();
    let asked = page.split("\n**").skip(1);
    let silent: Vec<&str> = asked.filter(|asked| !asked.contains("\n    $ ")).collect();
    assert!(silent.is_empty(), "questions without a command: {silent:?}");
    let asked = page.matches("\n**").count();
    assert!(asked >= 30, "{asked} questions");
    for question in &all {
        let stand_in = stand_in(&question.command);
        let home = match &*question.command {
            RANK_FOR_DATABASES => &three_cards,
            _ if stand_in.aside => &other,
            _ => &home,
        };
        arrange(home, &question.command);
        let (command, numbers) = (stand_in.command, stand_in.of_host);
        let (_, output) = run(home, &command);
        assert!(!output.contains("panicked"), "{output}");
        // A command with a wrong name or option prints its usage.
        assert!(!output.contains("Usage: hakaru"), "{command}: {output}");
        for (number, answer) in &question.answers {
            if !output.lines().any(|line| answers(line, answer, numbers)) {
                lines[*number] = format!("    {}", current(&output, answer).trim_start());
                stale.push(format!("$ hakaru {}\n{answer}\n{output}", question.command));
            }
        }
    }
    if std::env::var_os("HAKARU_UPDATE_QUESTIONS").is_some() {
        std::fs::write(page_path(), lines.join("\n") + "\n").unwrap();
        return;
    }
    assert!(
        without
            .iter()
            .all(|command| SILENT.contains(&command.as_str())),
        "without an answer: {without:?}"
    );
    assert!(
        stale.is_empty(),
        "not printed any more; write the page anew with HAKARU_UPDATE_QUESTIONS=1:\n\n{}",
        stale.join("\n")
    );
}

#[test]
fn answers_are_recognized_whatever_differs_at_each_run() {
    let line = "bench of samsung; stored as run 01a207c0-01b6-7d15 (2026-11-23 09:32), 3 runs";
    assert!(answers(line, line, false));
    assert!(answers(line, "bench … stored as run …", false));
    let later = line.replace("01b6", "02c7").replace("09:32", "10:17");
    assert!(answers(&later, line, false));
    assert!(!answers(line, &line.replace("3 runs", "4 runs"), false));
    assert!(answers(line, &line.replace("3 runs", "4 runs"), true));
    assert!(!answers(line, "stored as run", false));
}

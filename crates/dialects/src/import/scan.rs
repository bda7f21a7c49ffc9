//! Finds results in texts: what begins where, and who reads it.
//!
//! Leaves out what the results say.

use super::fio::{jobs, json, logs, terse, text};
use super::lines::{Line, lines};
use super::{Format, Found, FoundRun, ImportedRun, Source, Unread, fio, iozone, simple};
use logs::LogFile;
use std::collections::BTreeMap;

/// Reads all results in some sources. Never fails: what is no result is passed over, and what looks like one and cannot
/// be read is told with its reason.
pub fn import(sources: &[Source<'_>]) -> Found {
    let mut found = Found { other_lines: vec![0; sources.len()], ..Found::default() };
    let mut log_files: BTreeMap<String, Vec<LogFile<'_>>> = BTreeMap::new();
    for (index, source) in sources.iter().enumerate() {
        match logs::name(source.name).filter(|_| logs::is_log(source.text)) {
            Some((prefix, job, kind)) => {
                let file = LogFile { source: index, job, kind, text: source.text };
                let folder = source.name.rsplit_once('/').map_or("", |(folder, _)| folder);
                log_files.entry(format!("{folder}/{prefix}")).or_default().push(file);
            }
            None => {
                let mut scanner = Scanner::new(index, source, &mut found);
                scanner.scan();
            }
        }
    }
    for (prefix, files) in &log_files {
        let source = files.iter().map(|file| file.source).min().unwrap_or(0);
        found.runs.push(FoundRun { source, run: logs::read(prefix, files) });
    }
    found.runs.sort_by_key(|run| run.source);
    found
}

/// What a command line in front of a result said.
#[derive(Default)]
struct Commands {
    fio: Option<Vec<String>>,
    dd: Option<simple::DdCommand>,
    /// `/dev/sda:`, as hdparm prints it.
    device: Option<String>,
    /// `256+0 records in`
    records: Option<String>,
}

/// How often broken JSON is tried again in one source: each time costs a look at all that follows.
const MOST_BROKEN: usize = 16;

struct Scanner<'a> {
    source: usize,
    lines: Vec<Line>,
    at: usize,
    commands: Commands,
    /// What fio printed before results that have not come yet, with its first line: where several forms were asked for
    /// at once, the others stand in between.
    head: Option<(Line, text::Reader)>,
    /// What looked like JSON and was none; after some of those nobody looks any more.
    broken_json: usize,
    found: &'a mut Found,
}

impl<'a> Scanner<'a> {
    fn new(source: usize, text: &Source<'_>, found: &'a mut Found) -> Scanner<'a> {
        Scanner {
            source,
            lines: lines(text.text),
            at: 0,
            commands: Commands::default(),
            head: None,
            broken_json: 0,
            found,
        }
    }

    fn scan(&mut self) {
        while let Some(line) = self.lines.get(self.at) {
            let text = line.trimmed().to_owned();
            let claimed = !text.is_empty()
                && (self.json(&text)
                    || self.terse(&text)
                    || text::begins(&text) && self.fio_text()
                    || iozone::begins(&text) && self.iozone()
                    || simple::is_hdparm(&text) && self.hdparm()
                    || simple::is_dd(&text) && self.dd()
                    || self.command(&text));
            if !claimed {
                self.found.other_lines[self.source] += usize::from(!text.is_empty());
                self.at += 1;
            }
        }
        self.give_up_head();
    }

    fn give_up_head(&mut self) {
        if let Some((line, _)) = self.head.take() {
            self.complain(line.number, line.trimmed(), "fio began here, and its results are missing");
        }
    }

    fn add(&mut self, run: ImportedRun) {
        self.found.runs.push(FoundRun { source: self.source, run });
    }

    fn complain(&mut self, line: usize, text: &str, why: &str) {
        let unread = Unread { line, text: super::Shorten::shortened(text, 60), why: why.to_owned() };
        self.found.unread.push((self.source, unread));
    }

    fn json(&mut self, text: &str) -> bool {
        if !text.starts_with('{') || self.broken_json > MOST_BROKEN {
            return false;
        }
        let near = self.lines[self.at..].iter().take(4);
        if !near.clone().any(|line| line.text.contains("\"fio version\"") || line.text.contains("\"jobs\"")) {
            return false;
        }
        let rest: Vec<&str> = self.lines[self.at..].iter().map(|line| line.text.as_str()).collect();
        let joined = rest.join("\n");
        let number = self.lines[self.at].number;
        let Some(object) = json::object(joined.trim_start()) else {
            self.complain(number, text, "this looks like JSON of fio and is none that can be read");
            self.broken_json += 1;
            self.at += 1;
            return true;
        };
        let skipped = joined.len() - joined.trim_start().len();
        let used = joined[..skipped + object.len].matches('\n').count() + 1;
        let last = self.lines.get(self.at + used - 1).map_or(number, |line| line.number);
        let mut raw = json::read(object, (number, last));
        if let (Err(why), Some(words)) = (&raw.asked, self.commands.fio.take())
            && why.is_empty()
        {
            raw.asked = jobs::command(&words);
        }
        match fio::finish(raw) {
            Some(run) => self.add(run),
            None => self.complain(number, text, "this JSON of fio holds no job"),
        }
        self.at += used;
        true
    }

    fn terse(&mut self, text: &str) -> bool {
        let Some(version) = terse::version(text) else { return false };
        let rest = &self.lines[self.at..];
        let used = rest.iter().take_while(|line| terse::version(&line.text) == Some(version)).count();
        let mut raw = terse::read(&rest[..used]);
        if let Some(words) = self.commands.fio.take() {
            raw.asked = jobs::command(&words);
        }
        let number = rest[0].number;
        match fio::finish(raw) {
            Some(run) => self.add(run),
            None => self.complain(number, text, "this looks like a terse line of fio and holds no result"),
        }
        self.at += used;
        true
    }

    fn fio_text(&mut self) -> bool {
        let first = self.at;
        let results_follow = text::is_report(self.lines[first].trimmed());
        let mut reader = match self.head.take() {
            Some((_, reader)) if results_follow => reader,
            head => {
                self.head = head;
                self.give_up_head();
                text::Reader::default()
            }
        };
        let mut last = first;
        for (index, line) in self.lines.iter().enumerate().skip(first) {
            if index > first && !text::begins(line.trimmed()) && self.begins_something_else(line.trimmed()) {
                break;
            }
            match reader.line(line) {
                text::Taken::Yes if line.trimmed().is_empty() => {}
                text::Taken::Yes => last = index,
                text::Taken::NextRun | text::Taken::No => break,
            }
        }
        self.at = last + 1;
        let number = self.lines[first].number;
        if reader.blocks.iter().all(|block| block.name != "report") {
            self.head = Some((self.lines[first].clone(), reader));
            return true;
        }
        let missing = missing(&reader);
        let asked = match self.commands.fio.take() {
            Some(words) => jobs::command(&words),
            None => Err(String::new()),
        };
        if reader.commas {
            let why = "the comma of a locale was read as the decimal point".to_owned();
            reader.unread.push(Unread { line: number, text: String::new(), why });
        }
        let run = fio::finish(fio::Raw {
            format: Format::FioText,
            program: reader.program,
            blocks: reader.blocks,
            histograms: Vec::new(),
            asked,
            shown_unix_ms: None,
            unread: reader.unread,
            not_numbers: reader.not_numbers,
            interrupted: reader.interrupted,
            missing,
            lines: (number, self.lines[last].number),
        });
        if let Some(run) = run {
            self.add(run);
        }
        true
    }

    /// Whether a line ends the text of fio, because another kind of result or a command line begins.
    fn begins_something_else(&self, text: &str) -> bool {
        text.starts_with('{')
            || terse::version(text).is_some()
            || iozone::begins(text)
            || simple::is_hdparm(text)
            || simple::is_dd(text)
            || command_words(&[text]).is_some()
    }

    fn iozone(&mut self) -> bool {
        match iozone::read(&self.lines[self.at..]) {
            Some((run, used)) => {
                self.add(run);
                self.at += used;
            }
            None => {
                let (number, text) = (self.lines[self.at].number, self.lines[self.at].trimmed().to_owned());
                self.complain(number, &text, "iozone began here, and its results are missing");
                self.at += 1;
            }
        }
        true
    }

    fn hdparm(&mut self) -> bool {
        match simple::hdparm(&self.lines[self.at..], self.commands.device.as_deref()) {
            Some((run, used)) => {
                self.add(run);
                self.at += used;
            }
            None => {
                let (number, text) = (self.lines[self.at].number, self.lines[self.at].trimmed().to_owned());
                self.complain(number, &text, "`… MB in … seconds = … MB/sec` is expected of hdparm");
                self.at += 1;
            }
        }
        true
    }

    fn dd(&mut self) -> bool {
        let line = self.lines[self.at].clone();
        let (records, command) = (self.commands.records.take(), self.commands.dd.take());
        let Some(run) = simple::dd(&line, records.as_deref(), command.as_ref()) else { return false };
        self.add(run);
        self.at += 1;
        true
    }

    /// A command line of fio or dd, or a line that hdparm or dd print in front of their results.
    fn command(&mut self, text: &str) -> bool {
        if let Some(device) = text.strip_suffix(':').filter(|name| name.starts_with("/dev/") && !name.contains(' ')) {
            self.commands.device = Some(device.to_owned());
            self.at += 1;
            return true;
        }
        let records = |text: &str| text.split(' ').next().is_some_and(|n| n.contains('+') && n.len() < 30);
        if text.len() < 60 && records(text) && text.starts_with(|c: char| c.is_ascii_digit()) {
            self.commands.records = Some(text.to_owned());
            self.at += 1;
            return true;
        }
        let pieces: Vec<&str> = self.lines[self.at..].iter().take(40).map(|line| line.trimmed()).collect();
        let Some((words, used)) = command_words(&pieces) else { return false };
        match words.first().map(String::as_str) {
            Some("fio") => self.commands.fio = Some(words[1..].to_vec()),
            _ => self.commands.dd = simple::dd_command(&words),
        }
        self.at += used;
        true
    }
}

/// What is missing at the end of a text of fio, in words.
fn missing(reader: &text::Reader) -> Option<String> {
    let reports = reader.blocks.iter().filter(|block| block.name == "report");
    let mut last_report = None;
    for report in reports {
        last_report = Some(report);
    }
    let report = last_report?;
    let group = reader.blocks.iter().any(|block| block.name == "group" && !block.blocks.is_empty());
    let parts = ["cpu", "IO depths", "submit", "complete", "issued"];
    let absent: Vec<&str> = parts.into_iter().filter(|name| report.part(name).is_none()).collect();
    match (absent.is_empty(), group) {
        (true, true) => None,
        (true, false) => Some("the summary of its groups".to_owned()),
        (false, _) => Some(format!("what stands in the lines {}", absent.join(", "))),
    }
}

/// The words of a command line of fio or dd that begins in the first of some lines, and how many lines it takes. The
/// first word is the program's name without its folder; prompts and `sudo` in front are left out.
fn command_words(lines: &[&str]) -> Option<(Vec<String>, usize)> {
    let first = lines.first()?;
    if first.len() > 2000 || !(first.contains("fio") || first.contains("dd")) {
        return None;
    }
    let mut text = String::new();
    let mut used = 0;
    for line in lines {
        // A line goes on after a backslash, and where the next one begins with an option.
        if used > 0 && !text.ends_with('\\') && !line.starts_with("--") {
            break;
        }
        let continued = text.ends_with('\\');
        if continued {
            text.pop();
        }
        text = format!("{text} {line}").trim().to_owned();
        used += 1;
    }
    let words = shell_words(text.trim_end_matches('\\'));
    let program = |word: &str| word.rsplit('/').next().map(str::to_owned).filter(|name| name == "fio" || name == "dd");
    let (place, name) = words.iter().enumerate().find_map(|(at, word)| Some((at, program(word)?)))?;
    let next = words.get(place + 1)?;
    let fits = match name.as_str() {
        "fio" => next.starts_with('-') || next.ends_with(".fio") || next.contains('='),
        _ => ["if=", "of=", "bs=", "count="].iter().any(|key| next.starts_with(key)),
    };
    // In front of it stand a prompt, `sudo`, `time` and variables, and no sentence.
    let in_front = |word: &String| {
        word.ends_with(['$', '#', '%', '>'])
            || word.contains('@')
            || word.contains('=')
            || word.contains('~')
            || ["sudo", "time", "nice", "ionice", "-c1", "-n0"].contains(&word.as_str())
    };
    (fits && words[..place].iter().all(in_front)).then(|| {
        let mut words = words[place + 1..].to_vec();
        // What follows is another command.
        if let Some(end) =
            words.iter().position(|word| matches!(word.as_str(), "|" | "&&" | "||" | ";" | ">" | ">>" | "2>&1" | "&"))
        {
            words.truncate(end);
        }
        words.insert(0, name);
        (words, used)
    })
}

/// Splits a line as a shell would: quotes hold words together.
fn shell_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(mark), c) if c == mark => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (_, '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(lines: &[&str]) -> Option<(String, usize)> {
        command_words(lines).map(|(words, used)| (words.join("|"), used))
    }

    #[test]
    fn commands_are_known_behind_prompts() {
        let of = |text: &str, used| Some((text.to_owned(), used));
        assert_eq!(
            words(&["$ fio --name=a --bs='4 k' \\", "    --size=1G \\", "--x", "a: (g=0)"]),
            of("fio|--name=a|--bs=4 k|--size=1G|--x", 3)
        );
        assert_eq!(words(&["pi@pi:~ $ sudo /usr/bin/fio -name=a > out.txt"]), of("fio|-name=a", 1));
        assert_eq!(words(&["# dd if=/dev/zero of=x bs=1M && sync"]), of("dd|if=/dev/zero|of=x|bs=1M", 1));
        for text in ["We ran fio --name=a today", "fio is a tool", "add if=x", "", "fio", "fio: pid=1"] {
            assert_eq!(words(&[text]), None, "{text}");
        }
    }

    #[test]
    fn shells_hold_quoted_words_together() {
        assert_eq!(shell_words(r#"a "b c"d 'e\' \f "" g"#), ["a", "b cd", "e\\", "f", "", "g"]);
    }
}

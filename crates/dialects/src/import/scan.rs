//! Finds results in texts, and passes each to its parser.
//!
//! Does not interpret the results.

use super::commands::command_words;
use super::context::{self, Tracker};
use super::fio::interim::{REPLACED, State, terse_runs};
use super::fio::{jobs, json, logs, terse, text};
use super::lines::{SourceLine, lines};
use super::{
    FoundRun, ImportResult, ImportedRun, SourceFormat, SourceText, Unread, fio, iozone, simple,
};
use hakaru_model::caveat::Caveat;
use logs::LogFile;
use std::collections::BTreeMap;

/// Imports all results in some sources. Never fails: text without results is skipped, and text that looks like a result
/// but cannot be parsed is reported with the reason.
pub fn import(sources: &[SourceText<'_>]) -> ImportResult {
    let mut found = ImportResult {
        other_lines: vec![0; sources.len()],
        ..ImportResult::default()
    };
    let mut log_files: BTreeMap<String, Vec<LogFile<'_>>> = BTreeMap::new();
    for (index, source) in sources.iter().enumerate() {
        if let Some((group, file)) = log_file(index, source) {
            log_files.entry(group).or_default().push(file);
        } else if logs::is_of_histograms(source.name) {
            let why = "histogram logs are not supported: use fio's json+ output".to_owned();
            let first = source.text.lines().next().unwrap_or_default();
            let text = super::Shorten::shortened(first, 60);
            found.unread.push((index, Unread { line: 1, text, why }));
        } else {
            SourceScanner::new(index, source, &mut found).scan();
        }
    }
    for (prefix, files) in &log_files {
        let source = files.iter().map(|file| file.source).min().unwrap_or(0);
        let run = logs::read(prefix, files);
        found.runs.push(FoundRun { source, run });
    }
    found.runs.sort_by_key(|run| run.source);
    found
}

/// The log file in a source, with its directory and prefix, which the logs of one run share.
fn log_file<'a>(index: usize, source: &SourceText<'a>) -> Option<(String, LogFile<'a>)> {
    let (prefix, job, kind) = logs::name(source.name).filter(|_| logs::is_log(source.text))?;
    let directory = source.name.rsplit_once('/').map_or("", |(dir, _)| dir);
    let file = LogFile {
        source: index,
        job,
        kind,
        text: source.text,
    };
    Some((format!("{directory}/{prefix}"), file))
}

/// Details from a command line before a result.
#[derive(Default)]
struct QuotedCommands {
    fio: Option<Vec<String>>,
    iozone: Option<Vec<String>>,
    dd: Option<simple::DdCommand>,
    /// Device in a line such as `/dev/sda:`, as hdparm prints it.
    device: Option<String>,
    /// Whole and partial blocks: `256+0 records in`.
    records: Option<(u64, u64)>,
}

/// The last fio text output, kept to detect interim results: `status-interval` repeats all results, and the last
/// repetition includes the others.
struct Interim {
    /// Process ID of its first report.
    pid: String,
    /// Index of the run, and its first line.
    run: usize,
    line: usize,
    head: text::Reader,
    command: Option<Vec<String>>,
}

/// The same for JSON, which has no process ID but has job start times.
struct InterimJson {
    state: State,
    run: usize,
    line: usize,
    command: Option<Vec<String>>,
}

/// All lines as one text, built on the first JSON because its parser does not work on lines.
struct Joined {
    text: String,
    /// Start offset of each line.
    starts: Vec<usize>,
}

/// Maximum number of attempts to parse broken JSON in one source; each attempt scans the rest of the text.
const MOST_BROKEN: usize = 16;

struct SourceScanner<'a> {
    source: usize,
    lines: Vec<SourceLine>,
    at: usize,
    commands: QuotedCommands,
    /// fio's header before results that have not appeared yet, with its first line. With several output formats, the
    /// other formats are printed in between.
    head: Option<(SourceLine, text::Reader)>,
    /// The last fio text output, while another one may be a later snapshot of the same run.
    interim: Option<Interim>,
    /// The last fio JSON output.
    interim_json: Option<InterimJson>,
    joined: Option<Joined>,
    tracker: Tracker,
    /// End of the dd lines already known to be results, so that each is scanned once.
    dd_results: usize,
    /// Number of attempts that looked like JSON but failed; after a limit, JSON is no longer tried.
    broken_json: usize,
    found: &'a mut ImportResult,
}

impl<'a> SourceScanner<'a> {
    fn new(source: usize, text: &SourceText<'_>, found: &'a mut ImportResult) -> SourceScanner<'a> {
        let lines = lines(text.text);
        SourceScanner {
            source,
            tracker: Tracker::of(text.name, &lines),
            lines,
            at: 0,
            commands: QuotedCommands::default(),
            head: None,
            interim: None,
            interim_json: None,
            joined: None,
            dd_results: 0,
            broken_json: 0,
            found,
        }
    }

    fn scan(&mut self) {
        while let Some(line) = self.lines.get(self.at) {
            let text = line.trimmed().to_owned();
            self.tracker.commands(&text);
            let claimed = !text.is_empty()
                && (self.json(&text)
                    || self.terse(&text)
                    || text::begins(&text) && self.fio_text()
                    || iozone::begins(&text) && self.iozone()
                    || simple::is_hdparm(&text) && self.hdparm()
                    || simple::is_dd(&text) && self.dd()
                    || self.command(&text));
            if !claimed {
                if self.tracker.line(&self.lines, self.at) {
                    // The device is unknown below a new heading until another line names it.
                    self.commands.device = None;
                }
                self.found.other_lines[self.source] += usize::from(!text.is_empty());
                self.at += 1;
            }
        }
        self.give_up_head();
    }

    fn give_up_head(&mut self) {
        if let Some((line, _)) = self.head.take() {
            self.complain(
                line.number,
                line.trimmed(),
                "fio started here, but its results are missing",
            );
        }
    }

    fn add(&mut self, mut run: ImportedRun) {
        run.context = self.tracker.context(&run.reported.blocks);
        self.found.runs.push(FoundRun {
            source: self.source,
            run,
        });
    }

    /// Removes a run that a later snapshot replaces.
    fn remove(&mut self, run: usize) {
        self.found.runs.remove(run);
        let places = self.interim.iter_mut().map(|last| &mut last.run);
        let places = places.chain(self.interim_json.iter_mut().map(|last| &mut last.run));
        places
            .filter(|place| **place > run)
            .for_each(|place| *place -= 1);
    }

    fn complain(&mut self, line: usize, text: &str, why: &str) {
        let unread = Unread {
            line,
            text: super::Shorten::shortened(text, 60),
            why: why.to_owned(),
        };
        self.found.unread.push((self.source, unread));
    }

    fn json(&mut self, text: &str) -> bool {
        if !text.starts_with('{') || self.broken_json > MOST_BROKEN {
            return false;
        }
        let is_of_fio = |line: &SourceLine| {
            line.text.contains("\"fio version\"") || line.text.contains("\"jobs\"")
        };
        if !self.lines[self.at..].iter().take(4).any(is_of_fio) {
            return false;
        }
        let joined = self.joined.get_or_insert_with(|| Joined::of(&self.lines));
        let rest = joined.text[joined.starts[self.at]..].trim_start();
        let number = self.lines[self.at].number;
        let Some(object) = json::object(rest) else {
            let why = "this looks like fio JSON, but it cannot be parsed";
            self.complain(number, text, why);
            self.broken_json += 1;
            self.at += 1;
            return true;
        };
        let used = rest[..object.len].matches('\n').count() + 1;
        let last = self.lines.get(self.at + used - 1);
        let last = last.map_or(number, |line| line.number);
        self.finish_json(json::read(object, (number, last)), text);
        self.at += used;
        true
    }

    fn finish_json(&mut self, mut raw: fio::Raw, text: &str) {
        let (line, state) = (raw.lines.0, State::of(&raw));
        let mut command = self.commands.fio.take();
        let last = self.interim_json.take();
        if let Some(last) = last.filter(|last| last.state.is_before(&state)) {
            self.remove(last.run);
            raw.unread.push(Unread::note(last.line, REPLACED));
            command = command.or(last.command);
        }
        if let (Err(why), Some(words)) = (&raw.asked, &command)
            && why.is_empty()
        {
            raw.asked = jobs::command(words);
        }
        let Some(run) = fio::finish(raw) else {
            return self.complain(line, text, "this fio JSON contains no job");
        };
        self.interim_json = Some(InterimJson {
            state,
            run: self.found.runs.len(),
            line,
            command,
        });
        self.add(run);
    }

    fn terse(&mut self, text: &str) -> bool {
        let Some(version) = terse::version(text) else {
            return false;
        };
        let rest = self.lines[self.at..].iter();
        let same = rest.take_while(|line| terse::version(&line.text) == Some(version));
        let end = self.at + same.count();
        let command = self.commands.fio.take();
        let asked = command.map_or(Err(String::new()), |words| jobs::command(&words));
        for found in terse_runs(&self.lines[self.at..end], asked.as_ref().ok()) {
            let lines = &self.lines[self.at..end];
            let number = lines[found.lines.start].number;
            let mut raw = terse::read(&lines[found.lines.clone()]);
            raw.asked.clone_from(&asked);
            let replaced = found.replaced.map(|place| lines[place].number);
            raw.unread
                .extend(replaced.map(|line| Unread::note(line, REPLACED)));
            let Some(mut run) = fio::finish(raw) else {
                let why = "this looks like a fio terse line, but contains no result";
                self.complain(number, text, why);
                continue;
            };
            let what = "whether lines of the same job are clones or consecutive runs: they were \
                        added up";
            run.caveats.extend(found.unclear.then(|| Caveat::Unstated {
                what: what.to_owned(),
            }));
            self.add(run);
        }
        self.at = end;
        true
    }

    fn fio_text(&mut self) -> bool {
        let first = self.at;
        let mut reader = self.text_reader();
        let mut last = first;
        for (index, line) in self.lines.iter().enumerate().skip(first) {
            if index > first
                && !text::begins(line.trimmed())
                && (self.begins_something_else(line.trimmed()) || context::is_heading(line))
            {
                break;
            }
            match reader.line(line) {
                text::Taken::Yes if line.trimmed().is_empty() => {}
                text::Taken::Yes => last = index,
                text::Taken::NextRun | text::Taken::No => break,
            }
        }
        self.at = last + 1;
        if reader.blocks.iter().all(|block| block.name != "report") {
            self.head = Some((self.lines[first].clone(), reader));
            return true;
        }
        self.finish_text(reader, (self.lines[first].number, self.lines[last].number));
        true
    }

    /// The text parser for output that begins here: a new one, one with an earlier header, or one for a later snapshot
    /// of a run.
    fn text_reader(&mut self) -> text::Reader {
        let line = self.lines[self.at].trimmed();
        let pid = text::pid(line).filter(|pid| *pid != "0");
        let interim = self.interim.take();
        let interim = interim.filter(|last| pid == Some(last.pid.as_str()));
        match self.head.take() {
            Some((_, reader)) if text::is_report(line) => return reader,
            head => self.head = head,
        }
        self.give_up_head();
        let Some(mut interim) = interim else {
            return text::Reader::default();
        };
        self.remove(interim.run);
        self.commands.fio = interim.command;
        let replaced = Unread::note(interim.line, REPLACED);
        interim.head.unread.push(replaced);
        interim.head
    }

    fn finish_text(&mut self, mut reader: text::Reader, lines: (usize, usize)) {
        let missing = missing(&reader);
        let command = self.commands.fio.take();
        let asked = command.as_deref().map_or(Err(String::new()), jobs::command);
        if reader.commas {
            let why = "a decimal comma was read as the decimal point";
            reader.unread.push(Unread::note(lines.0, why));
        }
        let pid = reader.pid();
        let head = reader.head_alone();
        let run = fio::finish(fio::Raw {
            format: SourceFormat::FioText,
            program: reader.program,
            blocks: reader.blocks,
            histograms: Vec::new(),
            asked,
            shown_unix_ms: None,
            unread: reader.unread,
            not_numbers: reader.not_numbers,
            interrupted: reader.interrupted,
            missing,
            lines,
        });
        let Some(run) = run else { return };
        self.interim = pid.map(|pid| Interim {
            pid,
            run: self.found.runs.len(),
            line: lines.0,
            head,
            command,
        });
        self.add(run);
    }

    /// Whether a line ends fio's text because another kind of result or a command line begins.
    fn begins_something_else(&self, text: &str) -> bool {
        text.starts_with('{')
            || terse::version(text).is_some()
            || iozone::begins(text)
            || simple::is_hdparm(text)
            || simple::is_dd(text)
            || context::is_command(text)
            || command_words(&[text]).is_some()
    }

    fn iozone(&mut self) -> bool {
        let command = self.commands.iozone.take();
        let run = iozone::read(&self.lines[self.at..], command.as_deref());
        self.take_lines(run, "iozone started here, but its results are missing")
    }

    fn hdparm(&mut self) -> bool {
        let run = simple::hdparm(&self.lines[self.at..], self.commands.device.as_deref());
        self.take_lines(run, "expected `… MB in … seconds = … MB/sec` from hdparm")
    }

    /// Adds a run with the number of its lines. Without a run, reports why the current line was not read.
    fn take_lines(&mut self, run: Option<(ImportedRun, usize)>, why: &str) -> bool {
        let used = match run {
            Some((run, used)) => {
                self.add(run);
                used
            }
            None => {
                let unread = Unread::new(&self.lines[self.at], why);
                self.found.unread.push((self.source, unread));
                1
            }
        };
        self.at += used;
        true
    }

    fn dd(&mut self) -> bool {
        if self.commands.records.is_none() && self.dd_progress() {
            return true;
        }
        let line = self.lines[self.at].clone();
        let (records, command) = (self.commands.records.take(), self.commands.dd.take());
        let Some(run) = simple::dd(&line, records, command.as_ref()) else {
            return false;
        };
        self.add(run);
        self.at += 1;
        true
    }

    /// Skips the lines of `status=progress`, if dd's record counts follow. Returns whether there were any.
    fn dd_progress(&mut self) -> bool {
        if self.at < self.dd_results {
            return false;
        }
        let other =
            |line: &SourceLine| !line.trimmed().is_empty() && !simple::is_dd(line.trimmed());
        let rest = &self.lines[self.at + 1..];
        let end = self.at + 1 + rest.iter().position(other).unwrap_or(rest.len());
        if self
            .lines
            .get(end)
            .and_then(|line| simple::records(line.trimmed()))
            .is_none()
        {
            self.dd_results = end;
            return false;
        }
        let line = self.lines[self.at].clone();
        self.complain(line.number, line.trimmed(), "interim result of dd");
        self.at = end;
        true
    }

    /// Parses a fio, dd or iozone command line, or a line that hdparm or dd print before their results.
    fn command(&mut self, text: &str) -> bool {
        let device = text.strip_suffix(':');
        if let Some(device) = device.filter(|name| name.starts_with("/dev/") && !name.contains(' '))
        {
            self.commands.device = Some(device.to_owned());
            self.at += 1;
            return true;
        }
        if let Some(records) = simple::records(text) {
            self.commands.records = Some(records);
            self.at += 1;
            return true;
        }
        let lines = self.lines[self.at..].iter().take(40);
        let pieces: Vec<&str> = match text.strip_prefix("Command line used: ") {
            Some(command) => vec![command],
            None => lines.map(|line| line.trimmed()).collect(),
        };
        let Some((words, used)) = command_words(&pieces) else {
            return false;
        };
        match words.first().map(String::as_str) {
            Some("fio") => self.commands.fio = Some(words[1..].to_vec()),
            Some("iozone") => self.commands.iozone = Some(words),
            _ => (self.commands.dd, self.commands.records) = (simple::dd_command(&words), None),
        }
        self.at += used;
        true
    }
}

impl Joined {
    fn of(lines: &[SourceLine]) -> Joined {
        let mut joined = Joined {
            text: String::new(),
            starts: Vec::with_capacity(lines.len()),
        };
        for line in lines {
            if !joined.starts.is_empty() {
                joined.text.push('\n');
            }
            joined.starts.push(joined.text.len());
            joined.text.push_str(&line.text);
        }
        joined
    }
}

/// Description of what is missing at the end of a fio text.
fn missing(reader: &text::Reader) -> Option<String> {
    let mut reports = reader.blocks.iter().filter(|block| block.name == "report");
    let report = reports.next_back()?;
    let group = reader
        .blocks
        .iter()
        .any(|block| block.name == "group" && !block.blocks.is_empty());
    let parts = ["cpu", "IO depths", "submit", "complete", "issued"];
    let absent: Vec<&str> = parts
        .into_iter()
        .filter(|name| report.part(name).is_none())
        .collect();
    match (absent.is_empty(), group) {
        (true, true) => None,
        (true, false) => Some("its group summary".to_owned()),
        (false, _) => Some(format!("lines {}", absent.join(", "))),
    }
}

//! What a command line asks for: first what was typed, then what it means.

use super::argv::{self, Token};
use super::error::{IozoneError, Place};
use super::figures::Unit;
use super::kind::Kind;
use super::options::State;
use hakaru_model::units::Nanos;
use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Files of this many kB and more are not measured with records under [`SMALL_RECORD_KB`] in auto mode, as the manual says.
const LARGE_FILE_KB: u64 = 32 << 10;
const SMALL_RECORD_KB: u64 = 64;

/// Bounds of auto mode in kB: files, records.
const AUTO_FILES: (u64, u64) = (64, 512 << 10);
const AUTO_RECORDS: (u64, u64) = (4, 16 << 10);

/// The largest size that is taken, in kB: 1 PiB.
const MOST_KB: u64 = 1 << 40;

/// Rows a table may have at most.
const MOST_ROWS: usize = 10_000;

/// A text that is printed instead of running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    Help,
    Version,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Print this.
    Print(String),
    /// Measure.
    Run(Box<Request>),
}

/// How results are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A table: size of file and of record of each row, in kB.
    Table {
        /// The rows, from the top.
        rows: Vec<(u64, u64)>,
    },
    /// Children at the same time.
    Throughput {
        /// How many, one group after another.
        children: Vec<u32>,
        /// Size of each child's file, in kB.
        size_kb: u64,
        /// Size of a record, in kB.
        record_kb: u64,
        /// Whether the fewest and the most were asked for (`-l`, `-u`).
        range: bool,
    },
}

/// A command line that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Table or throughput.
    pub mode: Mode,
    /// Tests, in the order they run in.
    pub kinds: Vec<Kind>,
    /// What figures are given in.
    pub unit: Unit,
    /// Lines about what was asked, in the order of the words.
    pub said: Vec<String>,
    /// What has no effect, for standard error.
    pub warnings: Vec<String>,
    /// All else.
    pub(super) draft: Draft,
}

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Draft {
    pub(super) tests: Vec<u32>,
    pub(super) auto: bool,
    pub(super) all_records: bool,
    pub(super) sizes_kb: Vec<u64>,
    pub(super) records_kb: Vec<u64>,
    pub(super) file_bounds: (Option<u64>, Option<u64>),
    pub(super) record_bounds: (Option<u64>, Option<u64>),
    pub(super) stride: u64,
    pub(super) retests: bool,
    pub(super) percent_read: Option<u32>,
    pub(super) pause_s: u64,
    pub(super) file: Option<PathBuf>,
    pub(super) files: Vec<PathBuf>,
    pub(super) keep_files: bool,
    pub(super) truncate: bool,
    pub(super) direct: bool,
    pub(super) sync: bool,
    pub(super) dsync: bool,
    pub(super) flush: bool,
    pub(super) close: bool,
    pub(super) mmap: bool,
    pub(super) map_flush: bool,
    pub(super) depth: Option<u32>,
    pub(super) cache_kb: u64,
    pub(super) line_bytes: u64,
    pub(super) groups: Vec<u32>,
    pub(super) fewest: Option<u32>,
    pub(super) most: Option<u32>,
    pub(super) threads: bool,
    pub(super) stonewall: bool,
    pub(super) delay_us: u64,
    pub(super) first_cpu: Option<u32>,
    pub(super) show_children: bool,
    pub(super) excel: bool,
    pub(super) workbook: Option<PathBuf>,
    pub(super) ops: bool,
    pub(super) micros: bool,
    pub(super) machine: bool,
    pub(super) cpu_use: bool,
    pub(super) page: Option<Page>,
    said: Vec<String>,
}

impl Default for Draft {
    fn default() -> Self {
        Draft {
            tests: Vec::new(),
            auto: false,
            all_records: false,
            sizes_kb: Vec::new(),
            records_kb: Vec::new(),
            file_bounds: (None, None),
            record_bounds: (None, None),
            stride: 17,
            retests: true,
            percent_read: None,
            pause_s: 0,
            file: None,
            files: Vec::new(),
            keep_files: false,
            truncate: true,
            direct: false,
            sync: false,
            dsync: false,
            flush: false,
            close: false,
            mmap: false,
            map_flush: false,
            depth: None,
            cache_kb: 1024,
            line_bytes: 32,
            groups: Vec::new(),
            fewest: None,
            most: None,
            threads: false,
            stonewall: true,
            delay_us: 0,
            first_cpu: None,
            show_children: false,
            excel: false,
            workbook: None,
            ops: false,
            micros: false,
            machine: false,
            cpu_use: false,
            page: None,
            said: Vec::new(),
        }
    }
}

/// Which bound of auto mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    FileMin,
    FileMax,
    RecordMin,
    RecordMax,
}

impl Draft {
    /// A line for the head of the output.
    pub(super) fn say(&mut self, line: &str) {
        self.said.push(line.to_owned());
    }

    pub(super) fn auto(&mut self) {
        self.auto = true;
        self.say("Auto Mode");
    }

    /// A whole number within bounds.
    pub(super) fn whole(&self, text: &[String], bounds: RangeInclusive<u64>) -> Result<u64, String> {
        let word = text.first().map_or("", |text| text.trim());
        let number = word.parse::<u64>().map_err(|_| "a whole number is wanted".to_owned())?;
        if bounds.contains(&number) {
            return Ok(number);
        }
        Err(format!("it has to be between {} and {}", bounds.start(), bounds.end()))
    }

    pub(super) fn test(&mut self, text: &[String]) -> Result<(), String> {
        let number = self.whole(text, 0..=12)? as u32;
        self.tests.push(number);
        Ok(())
    }

    pub(super) fn children(&mut self, text: &[String]) -> Result<(), String> {
        let count = self.whole(text, 1..=4096)? as u32;
        self.groups.push(count);
        Ok(())
    }

    pub(super) fn size(&mut self, text: &[String]) -> Result<(), String> {
        let kb = kilobytes(text)?;
        self.sizes_kb.push(kb);
        self.say(&format!("File size set to {kb} kB"));
        Ok(())
    }

    pub(super) fn record(&mut self, text: &[String]) -> Result<(), String> {
        let kb = kilobytes(text)?;
        if kb > 1 << 20 {
            return Err("a record has 1 GiB at most".to_owned());
        }
        self.records_kb.push(kb);
        self.say(&format!("Record Size {kb} kB"));
        Ok(())
    }

    pub(super) fn bound(&mut self, text: &[String], which: Bound) -> Result<(), String> {
        let kb = kilobytes(text)?;
        let (place, words) = match which {
            Bound::FileMin => (&mut self.file_bounds.0, format!("Using minimum file size of {kb} kilobytes.")),
            Bound::FileMax => (&mut self.file_bounds.1, format!("Using maximum file size of {kb} kilobytes.")),
            Bound::RecordMin => (&mut self.record_bounds.0, format!("Using Minimum Record Size {kb} kB")),
            Bound::RecordMax => (&mut self.record_bounds.1, format!("Using Maximum Record Size {kb} kB")),
        };
        *place = Some(kb);
        self.say(&words);
        Ok(())
    }
}

/// A size in kB: a number, and perhaps k, m, g or t. Without one it is in kB.
fn kilobytes(text: &[String]) -> Result<u64, String> {
    let word = text.first().map_or("", |text| text.trim());
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match word[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "k" => 1,
        "m" => 1 << 10,
        "g" => 1 << 20,
        "t" => 1 << 30,
        _ => return Err("after the number, only k, m, g or t may stand".to_owned()),
    };
    let number = digits.parse::<u64>().map_err(|_| "a whole number with k, m or g behind it is wanted".to_owned())?;
    match number.checked_mul(factor) {
        Some(0) => Err("it has to be 1 kB or more".to_owned()),
        Some(kb) if kb <= MOST_KB => Ok(kb),
        _ => Err("it is more than any file can have".to_owned()),
    }
}

/// Reads a command line of iozone, without the program's name.
///
/// # Errors
/// An [`IozoneError`] that names the option and its value, the cause and the cure, and where the word stands.
pub fn parse(args: &[OsString]) -> Result<Action, IozoneError> {
    if args.is_empty() {
        return Ok(Action::Print("iozone: help mode\n\n".to_owned() + &super::help::usage()));
    }
    let (tokens, other) = argv::lex(args)?;
    let mut draft = Draft::default();
    let mut warnings = Vec::new();
    for token in &tokens {
        apply(token, &mut draft, &mut warnings)?;
    }
    match draft.page {
        Some(Page::Help) => return Ok(Action::Print(super::help::usage())),
        Some(Page::Version) => return Ok(Action::Print(super::help::version())),
        None => {}
    }
    for word in other {
        warnings.push(format!("`{word}` belongs to no option and is passed over; -f FILE names the file of a test"));
    }
    let place = |name: &str| tokens.iter().rev().find(|token| token.opt.name == name).map(|token| token.at.clone());
    Request::new(draft, warnings, &place).map(|request| Action::Run(Box::new(request)))
}

/// What a command line says of its I/O, whichever iozone ran it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatedOptions {
    /// Direct I/O.
    pub(crate) direct: bool,
    /// A flush at the end counts.
    pub(crate) fsync: bool,
    /// Each write is durable when it returns.
    pub(crate) sync: bool,
    /// Size of a record in kB, where there is one size.
    pub(crate) record_kb: Option<u64>,
    /// Size of a file in kB, where there is one size.
    pub(crate) file_kb: Option<u64>,
    /// Options that are not known.
    pub(crate) unknown: Vec<String>,
}

/// Understands a command line of another iozone, without the program's name, as far as its options are known.
pub(crate) fn stated(words: &[String]) -> StatedOptions {
    let (tokens, unknown) = argv::lex_known(words);
    let mut draft = Draft::default();
    for token in &tokens {
        // A value that is refused here was accepted there.
        let _ = token.opt.set.map(|set| set(&mut draft, &token.values));
    }
    let only = |sizes: &[u64]| <[u64; 1]>::try_from(sizes).ok().map(|[size]| size);
    StatedOptions {
        direct: draft.direct,
        fsync: draft.flush,
        sync: draft.sync || draft.dsync,
        record_kb: only(&draft.records_kb),
        file_kb: only(&draft.sizes_kb),
        unknown,
    }
}

fn apply(token: &Token, draft: &mut Draft, warnings: &mut Vec<String>) -> Result<(), IozoneError> {
    let Token { opt, values, at } = token;
    match opt.state {
        State::Works => {}
        State::Accepted(because) => {
            warnings.push(format!("-{} has no effect: {because}", opt.name));
            return Ok(());
        }
        State::Refused { reason, instead } => {
            let message = format!("-{} is an option of iozone that cannot be used here: {reason}; {instead}", opt.name);
            return Err(IozoneError::at(message, at.clone()));
        }
    }
    let Some(set) = opt.set else { return Ok(()) };
    let bad = |why| IozoneError::at(format!("-{} {} cannot be used: {why}", opt.name, values.join(" ")), at.clone());
    set(draft, values).map_err(bad)
}

impl Request {
    fn new(draft: Draft, warnings: Vec<String>, place: &dyn Fn(&str) -> Option<Place>) -> Result<Request, IozoneError> {
        let wrong = |option: &str, message: &str| Err(IozoneError { message: message.to_owned(), at: place(option) });
        let throughput = !draft.groups.is_empty() || draft.fewest.is_some() || draft.most.is_some();
        if draft.ops && draft.micros {
            return wrong("N", "-N and -O contradict each other: use one of them");
        }
        if throughput && draft.micros {
            return wrong("N", "-N is for the table: with children use -O, or leave -t, -l and -u out");
        }
        if throughput && draft.auto {
            return wrong(
                "a",
                "-a makes a table, and -t, -l and -u measure children at the same time: use one of them",
            );
        }
        if draft.mmap && draft.depth.is_some() {
            return wrong("B", "-B and -H or -k contradict each other: a mapping has no queue");
        }
        let mode = if throughput { draft.throughput(place)? } else { draft.table(place)? };
        let kinds = draft.kinds(throughput, place)?;
        let mut warnings = warnings;
        warnings.extend(draft.ignored(throughput));
        let unit = match (draft.ops, draft.micros) {
            (true, _) => Unit::Ops,
            (_, true) => Unit::Micros,
            _ => Unit::KiloBytes,
        };
        Ok(Request { mode, kinds, unit, said: draft.said.clone(), warnings, draft })
    }

    /// Whether files stay when all is done.
    pub fn keeps_files(&self) -> bool {
        self.draft.keep_files
    }

    /// Whether files that are there are emptied before they are written.
    pub fn empties_files(&self) -> bool {
        self.draft.truncate && self.kinds.first().is_some_and(|kind| kind.makes_file())
    }

    /// Seconds between two tests.
    pub fn pause_s(&self) -> u64 {
        self.draft.pause_s
    }

    /// Time between the starts of two children.
    pub fn delay(&self) -> Nanos {
        Nanos(self.draft.delay_us.saturating_mul(1000))
    }

    /// Where a workbook goes.
    pub fn workbook(&self) -> Option<&std::path::Path> {
        self.draft.workbook.as_deref()
    }

    /// Whether to tell what the host is.
    pub fn tells_machine(&self) -> bool {
        self.draft.machine
    }
}

impl Draft {
    /// Options that were given and have no effect beside the others.
    fn ignored(&self, throughput: bool) -> Vec<String> {
        let mut ignored = Vec::new();
        let mut tell = |given: bool, text: &str| {
            if given {
                ignored.push(text.to_owned());
            }
        };
        let ((file_min, file_max), (record_min, record_max)) = (self.file_bounds, self.record_bounds);
        if throughput {
            tell(self.file.is_some(), "-f has no effect with children: -F names a file for each of them");
            let bounds = [("-n", file_min), ("-g", file_max), ("-y", record_min), ("-q", record_max)];
            for (name, _) in bounds.into_iter().filter(|(_, bound)| bound.is_some()) {
                tell(true, &format!("{name} has no effect with children: -s and -r give their sizes"));
            }
            tell(self.all_records, "-z has no effect with children: it goes with -a");
        } else {
            tell(!self.files.is_empty(), "-F has no effect in a table: -f names its file, and -t makes children");
            let auto = self.auto || file_max.is_some();
            tell(file_min.is_some() && !auto, "-n has no effect without -a or -g: -s gives the size of the file");
            let sized = auto && !self.sizes_kb.is_empty();
            tell(file_min.is_some() && sized, "-n has no effect beside -s: sizes begin with that of -s");
            tell(self.all_records && !auto, "-z has no effect without -a or -g");
        }
        tell(self.map_flush && !self.mmap, "-G has no effect without -B");
        ignored
    }

    fn kinds(&self, throughput: bool, place: &dyn Fn(&str) -> Option<Place>) -> Result<Vec<Kind>, IozoneError> {
        let wrong = |message: String| IozoneError { message, at: place("i") };
        let all: &[u32] = if throughput { &[0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12] } else { &[0, 1, 2, 3, 4, 5, 6, 7] };
        if let Some(odd) = self.tests.iter().find(|test| !all.contains(test)) {
            let why = if throughput {
                "not in throughput mode: leave -t, -l and -u out"
            } else {
                "only in throughput mode: add -t 1"
            };
            return Err(wrong(format!("-i {odd} cannot be used: the test is {why}")));
        }
        // The calls with vectors came late, and stay out unless they are asked for.
        let usual: Vec<u32> = all.iter().copied().filter(|&test| test < 11).collect();
        let tests = if self.tests.is_empty() { &usual } else { &self.tests };
        Ok(Kind::chosen(tests, throughput, self.retests))
    }

    fn throughput(&self, place: &dyn Fn(&str) -> Option<Place>) -> Result<Mode, IozoneError> {
        let range = self.fewest.is_some() || self.most.is_some();
        let children = match (self.fewest, self.most) {
            (None, None) => self.groups.clone(),
            (fewest, most) => {
                let from = fewest.unwrap_or(1);
                let to = most.unwrap_or(from);
                if from > to {
                    let message = format!("-l {from} is more than -u {to}");
                    return Err(IozoneError { message, at: place("l") });
                }
                (from..=to).collect()
            }
        };
        let needed = children.iter().copied().max().unwrap_or(1) as usize;
        if !self.files.is_empty() && self.files.len() < needed {
            let message = format!("-F names {} file(s) for {needed} children: name one for each", self.files.len());
            return Err(IozoneError { message, at: place("F") });
        }
        for (name, list) in [("s", &self.sizes_kb), ("r", &self.records_kb)] {
            if list.len() > 1 {
                let message = format!("-{name} is given {} times: children take one size only", list.len());
                return Err(IozoneError { message, at: place(name) });
            }
        }
        let size_kb = self.sizes_kb.first().copied().unwrap_or(512);
        let record_kb = self.records_kb.first().copied().unwrap_or(4);
        fits(size_kb, record_kb, place)?;
        Ok(Mode::Throughput { children, size_kb, record_kb, range })
    }

    fn table(&self, place: &dyn Fn(&str) -> Option<Place>) -> Result<Mode, IozoneError> {
        let auto = self.auto || self.file_bounds.1.is_some();
        let sizes = match (&self.sizes_kb[..], self.file_bounds) {
            ([], (min, max)) if auto => {
                doubling(min.unwrap_or(AUTO_FILES.0), max.unwrap_or(AUTO_FILES.1.max(min.unwrap_or(0))))
            }
            // A size and a largest size: from the one to the other.
            ([from], (_, Some(to))) => doubling(*from, to),
            ([], _) => vec![512],
            (sizes, _) => sizes.to_vec(),
        };
        let (min, max) = self.record_bounds;
        let bounded = min.is_some() || max.is_some();
        let records = match &self.records_kb[..] {
            [] if auto || bounded => doubling(min.unwrap_or(AUTO_RECORDS.0), max.unwrap_or(AUTO_RECORDS.1)),
            [] => vec![4],
            records => records.to_vec(),
        };
        let chosen = !self.records_kb.is_empty() || !self.sizes_kb.is_empty() || bounded || self.all_records;
        let mut rows = Vec::new();
        for &size in &sizes {
            let small = |record: u64| auto && !chosen && size >= LARGE_FILE_KB && record < SMALL_RECORD_KB;
            rows.extend(records.iter().filter(|&&r| r <= size && !small(r)).map(|&record| (size, record)));
        }
        if rows.is_empty() {
            let (size, record) = (sizes.first().copied().unwrap_or(0), records.first().copied().unwrap_or(0));
            let option = if self.records_kb.is_empty() { "s" } else { "r" };
            let message = match sizes.is_empty() || records.is_empty() {
                true => "the smallest size asked for is more than the largest".to_owned(),
                false => {
                    format!("a record of {record} kB is more than a file of {size} kB: use a smaller -r or a larger -s")
                }
            };
            return Err(IozoneError { message, at: place(option) });
        }
        if rows.len() > MOST_ROWS {
            return Err(IozoneError::nowhere(format!("{} rows are more than {MOST_ROWS}", rows.len())));
        }
        Ok(Mode::Table { rows })
    }
}

fn fits(size_kb: u64, record_kb: u64, place: &dyn Fn(&str) -> Option<Place>) -> Result<(), IozoneError> {
    if record_kb <= size_kb {
        return Ok(());
    }
    let message =
        format!("a record of {record_kb} kB is more than a file of {size_kb} kB: use a smaller -r or a larger -s");
    Err(IozoneError { message, at: place("r").or_else(|| place("s")) })
}

fn doubling(from: u64, to: u64) -> Vec<u64> {
    std::iter::successors(Some(from), |size| size.checked_mul(2)).take_while(|&size| size <= to).collect()
}

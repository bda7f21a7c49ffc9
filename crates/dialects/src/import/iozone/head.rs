//! Parses the header of iozone results and their command line.

use super::super::units::number;
use crate::iozone::{StatedOptions, stated};
use std::path::PathBuf;

/// Parsed header of an output.
#[derive(Debug, Default)]
pub(super) struct IozoneHead {
    pub(super) version: String,
    pub(super) record_kb: Option<u64>,
    pub(super) file_kb: Option<u64>,
    pub(super) direct: bool,
    pub(super) fsync: bool,
    pub(super) sync: bool,
    /// Results are operations per second instead of kB/s.
    pub(super) ops: bool,
    /// Results are microseconds per operation instead of rates.
    pub(super) micros: bool,
    pub(super) command: Option<String>,
    /// Whether a command line was parsed, so that options missing from it are known to be unset.
    pub(super) options_known: bool,
    /// Unknown options of the command line.
    pub(super) unknown: Vec<String>,
    pub(super) path: Option<PathBuf>,
}

/// Prefixes of header lines that carry no information, or only repeat the command line.
const KNOWN: [&str; 23] = [
    "CPU utilization ",
    "Iozone: Performance Test",
    "Compiled for",
    "Build:",
    "Contributors:",
    "Run began:",
    "Auto Mode",
    "Time Resolution",
    "Processor cache",
    "File stride",
    "Throughput test with",
    "Include close",
    "Setting no_unlink",
    "Min process",
    "Max process",
    "Excel chart",
    "Excel output",
    "No retest",
    "Machine = ",
    "Stonewall",
    "Using ",
    "POSIX ",
    "random",
];

impl IozoneHead {
    /// Parses a header line. Returns whether it is one.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let kb = |text: &str| number(text).and_then(|(n, _)| n.as_whole());
        let text = text.trim_start_matches('"');
        if let Some(rest) = text.strip_prefix("Version $Revision:") {
            self.version = rest.trim_matches([' ', '$']).to_owned();
        } else if let Some(rest) = text.strip_prefix("File size set to ") {
            self.file_kb = kb(rest);
        } else if let Some(rest) = text
            .strip_prefix("Record Size ")
            .or_else(|| text.strip_prefix("Record size = "))
        {
            self.record_kb = kb(rest).or(self.record_kb);
        } else if text.starts_with("O_DIRECT feature") {
            self.direct = true;
        } else if text.starts_with("Include fsync") {
            self.fsync = true;
        } else if text.starts_with("SYNC Mode") {
            self.sync = true;
        } else if text.starts_with("OPS Mode") {
            self.ops = true;
        } else if let Some(unit) = text.strip_prefix("Output is in ") {
            self.ops |= unit.starts_with("ops");
        } else if text.starts_with("Microseconds/op Mode") {
            self.micros = true;
        } else if let Some(rest) = text.strip_prefix("Command line used: ") {
            self.understand(rest.split_whitespace());
        } else if let Some((_, rest)) = text
            .split_once(" writes a ")
            .filter(|_| text.starts_with("Each "))
        {
            let mut sizes = rest.split(" in ");
            self.file_kb = sizes.next().and_then(kb).or(self.file_kb);
            self.record_kb = sizes.next().and_then(kb).or(self.record_kb);
        } else {
            return KNOWN.iter().any(|beginning| text.starts_with(beginning));
        }
        true
    }

    /// Applies the known options of a command line; unknown ones are skipped.
    pub(super) fn understand<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        let words: Vec<String> = words.map(str::to_owned).collect();
        self.path = file_of(&words).or(self.path.take());
        let StatedOptions {
            direct,
            fsync,
            sync,
            record_kb,
            file_kb,
            unknown,
        } = stated(words.get(1..).unwrap_or_default());
        self.direct |= direct;
        self.fsync |= fsync;
        self.sync |= sync;
        self.record_kb = self.record_kb.or(record_kb);
        self.file_kb = self.file_kb.or(file_kb);
        self.unknown = unknown;
        self.options_known = true;
        self.command = Some(words.join(" "));
    }
}

/// The file in a command line: the value of `-f`, or the first of `-F`.
fn file_of(words: &[String]) -> Option<PathBuf> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "-f" || word == "-F" {
            return words.next().map(PathBuf::from);
        }
        if let Some(rest) = word.strip_prefix("-f").filter(|rest| rest.contains('/')) {
            return Some(PathBuf::from(rest));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_says_how_it_was_done() {
        let mut head = IozoneHead::default();
        head.understand("./iozone -e -I -a -s 100M -r 4k -i 0 -f /ssd/test".split(' '));
        assert_eq!((head.direct, head.fsync, head.sync), (true, true, false));
        assert_eq!(head.path, Some("/ssd/test".into()));
        let mut odd = IozoneHead::default();
        odd.understand("iozone --no-such-thing -f x".split(' '));
        assert_eq!((odd.direct, odd.path), (false, Some("x".into())));
        let mut some = IozoneHead::default();
        some.understand("iozone -+u -+Q7 -I -r256k -i 0 -i 1 -s 1g -t 4".split(' '));
        assert_eq!(
            (some.direct, some.record_kb, some.file_kb),
            (true, Some(256), Some(1 << 20))
        );
        assert_eq!(some.unknown, ["-+Q"]);
    }
}

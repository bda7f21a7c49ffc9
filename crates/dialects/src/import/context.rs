//! Context around results: the headings above them, and the commands that created and mounted file systems.
//!
//! Results of one job under different headings, or on different disks or file systems, are not repeats. Does not decide
//! which results belong together.

use super::commands::{is_in_front, shell_words};
use super::lines::SourceLine;
use hakaru_model::reported::ReportedBlock;
use std::collections::BTreeMap;

/// Position of a result in its text, and the tested device as far as the surrounding text shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultContext {
    /// Headings above the result by level, outermost first; empty for a missing level.
    pub headings: Vec<String>,
    /// Type of the most recently created or mounted file system.
    pub filesystem: Option<String>,
    /// Device of that file system.
    pub device: Option<String>,
    /// Disks with counters in the result, sorted.
    pub disks: Vec<String>,
}

/// Number of heading levels: six of Markdown, and bold lines below them.
const LEVELS: usize = 7;

/// Maximum heading length in bytes; a longer line is a sentence.
const LONGEST: usize = 120;

/// Tracks headings and commands through a text.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    headings: Vec<String>,
    filesystem: Option<String>,
    device: Option<String>,
    /// File system types by device.
    made: BTreeMap<String, String>,
    /// Whether a line that starts with `# ` is a heading rather than a prompt.
    is_markdown: bool,
}

impl Tracker {
    pub(super) fn of(name: &str, lines: &[SourceLine]) -> Tracker {
        let is_markdown = name.ends_with(".md")
            || name.ends_with(".markdown")
            || lines
                .iter()
                .any(|line| line.fenced || line.text.starts_with("## "));
        Tracker {
            is_markdown,
            ..Tracker::default()
        }
    }

    /// Returns the context of a result that starts here.
    pub(super) fn context(&self, blocks: &[ReportedBlock]) -> ResultContext {
        let disks = blocks
            .iter()
            .filter(|block| block.name == "disk")
            .filter_map(|block| block.words_of("name"));
        let mut disks: Vec<String> = disks.map(str::to_owned).collect();
        disks.sort();
        disks.dedup();
        ResultContext {
            headings: self.headings.clone(),
            filesystem: self.filesystem.clone(),
            device: self.device.clone(),
            disks,
        }
    }

    /// Processes a line outside of results. Returns whether it is a heading.
    pub(super) fn line(&mut self, lines: &[SourceLine], at: usize) -> bool {
        let Some((level, text)) = heading(lines, at, self.is_markdown) else {
            return false;
        };
        self.headings.truncate(level - 1);
        self.headings.resize(level - 1, String::new());
        self.headings.push(text);
        true
    }

    /// Processes commands and messages that show which file system is where.
    pub(super) fn commands(&mut self, text: &str) {
        if !mentions_filesystems(text) {
            return;
        }
        if let Some((device, kind)) = mounted(text) {
            self.made.insert(device.clone(), kind.clone());
            (self.device, self.filesystem) = (Some(device), Some(kind));
        }
        for words in commands(text) {
            let device = words.iter().rev().find(|word| word.starts_with("/dev/"));
            let (device, kind) = (device.cloned(), behind(&words, "-t"));
            match (words[0].as_str(), device) {
                ("mount", None) => {}
                ("mount", Some(device)) => {
                    self.filesystem = kind.or_else(|| self.made.get(&device).cloned());
                    self.device = Some(device);
                }
                (program, device) => {
                    let kind = kind.or_else(|| made_by(program));
                    let kind = kind.map(|kind| match kind.as_str() {
                        "fat" => "vfat".to_owned(),
                        _ => kind,
                    });
                    if let (Some(device), Some(kind)) = (&device, &kind) {
                        self.made.insert(device.clone(), kind.clone());
                    }
                    (self.device, self.filesystem) = (device, kind);
                }
            }
        }
    }
}

/// File system type that a program creates without `-t`.
fn made_by(program: &str) -> Option<String> {
    let kind = match program {
        "mkdosfs" => Some("vfat"),
        "mke2fs" => Some("ext2"),
        _ => program.strip_prefix("mkfs."),
    };
    kind.map(str::to_owned)
}

fn mentions_filesystems(text: &str) -> bool {
    text.len() < 2000
        && ["mkfs", "mke2fs", "mkdosfs", "mount", " type "]
            .iter()
            .any(|word| text.contains(word))
}

/// Whether a line creates or mounts a file system.
pub(super) fn is_command(text: &str) -> bool {
    mentions_filesystems(text) && (mounted(text).is_some() || !commands(text).is_empty())
}

/// Commands of a line that create or mount file systems, each starting with the program name without directory.
fn commands(text: &str) -> Vec<Vec<String>> {
    let words = shell_words(text);
    let separates = |word: &String| matches!(word.as_str(), ";" | "&&" | "||" | "|");
    let command = |words: &[String]| {
        let name = |word: &String| word.rsplit('/').next().unwrap_or_default().to_owned();
        let known = |name: &str| {
            matches!(name, "mkfs" | "mke2fs" | "mkdosfs" | "mount") || name.starts_with("mkfs.")
        };
        let place = words.iter().position(|word| known(&name(word)))?;
        let begin = words[..place]
            .iter()
            .rposition(|word| word.ends_with(['$', '#', '%', '>']))
            .map_or(0, |at| at + 1);
        // A sentence that starts with the program name has no device or option after it.
        let meant = words[place + 1..]
            .iter()
            .any(|word| word.starts_with(['/', '-']));
        (meant && words[begin..place].iter().all(|word| is_in_front(word))).then(|| {
            let mut words = words[place..].to_vec();
            words[0] = name(&words[0]);
            words
        })
    };
    words.split(separates).filter_map(command).collect()
}

/// The value of an option, attached or in the next word.
fn behind(words: &[String], option: &str) -> Option<String> {
    let place = words.iter().position(|word| word.starts_with(option))?;
    let attached = words[place]
        .strip_prefix(option)
        .filter(|rest| !rest.is_empty());
    attached
        .map(str::to_owned)
        .or_else(|| words.get(place + 1).cloned())
}

/// Parses device and type from a line of `mount`: `/dev/sda1 on /mnt type ext4 (rw,relatime)`.
fn mounted(text: &str) -> Option<(String, String)> {
    let (device, rest) = text.trim().split_once(" on ")?;
    let (_, kind) = rest.split_once(" type ")?;
    let (kind, options) = kind.split_once(' ')?;
    (device.starts_with("/dev/") && !device.contains(' ') && options.starts_with('('))
        .then(|| (device.to_owned(), kind.to_owned()))
}

/// Whether a line is a Markdown heading that cannot be confused with a prompt.
pub(super) fn is_heading(line: &SourceLine) -> bool {
    !line.fenced && line.text.starts_with("## ")
}

/// Level and text of the heading in a line.
fn heading(lines: &[SourceLine], at: usize, is_markdown: bool) -> Option<(usize, String)> {
    let line = &lines[at];
    let text = line.trimmed();
    if line.fenced || text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let near = |at: Option<usize>| {
        let line = at.and_then(|at| lines.get(at));
        line.map_or("", SourceLine::trimmed)
    };
    let (above, below) = (near(at.checked_sub(1)), near(at.checked_add(1)));
    let marks = text.bytes().take_while(|&mark| mark == b'#').count();
    if (1..LEVELS).contains(&marks) && text[marks..].starts_with(' ') {
        let alone = above.is_empty() && below.is_empty();
        let may_be_prompt = marks == 1 && !is_markdown && !alone;
        let inner = text[marks..].trim_end_matches('#');
        return named(marks, inner).filter(|_| !may_be_prompt);
    }
    if let Some((level, inner)) = html_heading(text) {
        return named(level, inner);
    }
    // A heading such as `== Cards ==`.
    let equals = text.bytes().take_while(|&mark| mark == b'=').count();
    if (1..LEVELS).contains(&equals) && text.len() > 2 * equals && text[equals..].starts_with(' ') {
        let inner = text[equals..].strip_suffix(&text[..equals])?;
        return named(equals, inner).filter(|_| !inner.contains('='));
    }
    let bold = text.strip_prefix("**");
    if let Some(inner) = bold.and_then(|rest| rest.trim_end_matches(':').strip_suffix("**")) {
        return named(LEVELS, inner).filter(|_| !inner.contains("**"));
    }
    // A line of `===` or `---` below marks a heading, except below a table row.
    let may_be_underlined = is_markdown && !text.contains(['|', '=']) && above.is_empty();
    let level = underline_level(below).filter(|_| may_be_underlined)?;
    named(level, text)
}

/// A heading without its colon, unless nothing is left.
fn named(level: usize, text: &str) -> Option<(usize, String)> {
    let text = text.trim().trim_end_matches(':').trim();
    (!text.is_empty()).then(|| (level, text.to_owned()))
}

/// Level of a heading above a line of `===` or `---`.
fn underline_level(text: &str) -> Option<usize> {
    let of = |mark: char| text.len() >= 3 && text.chars().all(|c| c == mark);
    match (of('='), of('-')) {
        (true, _) => Some(1),
        (_, true) => Some(2),
        _ => None,
    }
}

/// Parses an HTML heading such as `<h2 id="x">Cards</h2>`.
fn html_heading(text: &str) -> Option<(usize, &str)> {
    let rest = text.strip_prefix("<h")?;
    let level = rest
        .chars()
        .next()?
        .to_digit(10)
        .filter(|level| (1..=6).contains(level))? as usize;
    let (_, inner) = rest.split_once('>')?;
    let inner = inner.rsplit_once("</h").map_or(inner, |(inner, _)| inner);
    (!inner.contains('<')).then_some((level, inner))
}

#[cfg(test)]
mod tests {
    use super::super::lines::lines;
    use super::*;

    /// The headings in effect at the last line.
    fn above(name: &str, text: &str) -> Vec<String> {
        let lines = lines(text);
        let mut tracker = Tracker::of(name, &lines);
        (0..lines.len()).for_each(|at| _ = tracker.line(&lines, at));
        tracker.context(&[]).headings
    }

    #[test]
    fn headings_are_kept_by_level() {
        assert_eq!(above("a.md", "# A\n## B\n### C\n## D\nx"), ["A", "D"]);
        assert_eq!(
            above("a.txt", "## B ##\n**C:**\nx"),
            ["", "B", "", "", "", "", "C"]
        );
        assert_eq!(
            above("a.html", "<h2 id=\"x\">SD &amp; card</h2>"),
            ["", "SD &amp; card"]
        );
        assert_eq!(above("a.wiki", "== SD card ==\nx"), ["", "SD card"]);
        assert_eq!(above("a.md", "SSD\n---\nx"), ["", "SSD"]);
    }

    #[test]
    fn prompts_code_and_rules_are_no_headings() {
        assert_eq!(above("a.txt", "x\n# sync\ny"), [""; 0]);
        assert_eq!(above("a.md", "```\n# sync\n## x\n```\nx"), [""; 0]);
        assert_eq!(
            above("a.md", "a | b\n---\n\n***\n#no\n====\nread: io=1\n---\n"),
            [""; 0]
        );
    }

    /// File system and device after some lines; empty if unknown.
    fn after(text: &str) -> (String, String) {
        let mut tracker = Tracker::default();
        text.lines().for_each(|line| tracker.commands(line));
        let context = tracker.context(&[]);
        let (kind, device) = (context.filesystem, context.device);
        (kind.unwrap_or_default(), device.unwrap_or_default())
    }

    #[test]
    fn file_systems_are_those_made_or_mounted_last() {
        for (text, kind, device) in [
            (
                "$ sudo mkfs.ext4 /dev/sda1\n$ sudo mount /dev/sda1 /mnt",
                "ext4",
                "/dev/sda1",
            ),
            (
                "# mkfs -t f2fs -f /dev/sda1 && mount /dev/sda1 /mnt",
                "f2fs",
                "/dev/sda1",
            ),
            (
                "pi@pi:~ $ mkfs.fat -F 32 /dev/sda1; mount /dev/sdb1 /mnt",
                "",
                "/dev/sdb1",
            ),
            (
                "/dev/mmcblk0p2 on / type ext4 (rw,noatime)",
                "ext4",
                "/dev/mmcblk0p2",
            ),
            ("I made it with mkfs.ext4 /dev/sda1", "", ""),
            ("the mount is on a type of disk", "", ""),
            ("mount it", "", ""),
        ] {
            assert_eq!(after(text), (kind.to_owned(), device.to_owned()), "{text}");
        }
    }
}

//! Compares the human-readable text line by line, with all measurements masked.
//!
//! Masked are numbers and everything that depends on their size: their units, and the number of lines of a
//! distribution. All other words, symbols and lines must match.

use super::compare::{OutputDifference, YOUNG_KEYS};

/// The differences between two texts: lines that only one of them has.
///
/// `minor` is the version of the original. With `counted`, the line that counts I/Os must match too.
pub(super) fn differences(
    theirs: &str,
    ours: &str,
    minor: u32,
    counted: bool,
) -> Vec<OutputDifference> {
    let mask = |text: &str| masked(text, |line| mask_line(line, minor, counted));
    let (theirs, ours) = (mask(theirs), mask(ours));
    let common = longest_common(&theirs, &ours);
    let mut found = Vec::new();
    let (mut at_theirs, mut at_ours) = (0, 0);
    for (next_theirs, next_ours) in common.into_iter().chain([(theirs.len(), ours.len())]) {
        let gone = theirs[at_theirs..next_theirs].join("\n");
        let new = ours[at_ours..next_ours].join("\n");
        if !gone.is_empty() || !new.is_empty() || next_theirs - at_theirs != next_ours - at_ours {
            found.push(OutputDifference::new(
                format!("line {}", at_theirs + 1),
                shown(&gone),
                shown(&new),
            ));
        }
        (at_theirs, at_ours) = (next_theirs + 1, next_ours + 1);
    }
    found
}

fn shown(lines: &str) -> String {
    if lines.is_empty() {
        "nothing".to_owned()
    } else {
        lines.replace('\n', " ⏎ ")
    }
}

/// The lines of a text, with measurements masked.
fn masked(text: &str, mask: impl Fn(&str) -> String) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !is_young(line)) {
        let line = mask(line);
        let continues = |start: &str| line.trim_start().starts_with(start);
        // Distributions take a variable number of lines.
        let folded = (continues("|") || continues("lat (T)")) && lines.last() == Some(&line);
        if !folded {
            lines.push(line);
        }
    }
    lines
}

/// Whether a JSON line is printed only by newer versions.
fn is_young(line: &str) -> bool {
    let key = line
        .trim_start()
        .strip_prefix('"')
        .and_then(|line| line.split_once("\" : "));
    key.is_some_and(|(key, _)| YOUNG_KEYS.iter().any(|(young, _)| *young == key))
}

/// Whether a line shows requested values, which are not measurements and must be identical.
fn is_request(line: &str) -> bool {
    line.contains(": (g=") || line.starts_with("Starting ") || line.contains(": Laying out ")
}

fn mask_line(line: &str, minor: u32, counted: bool) -> String {
    let trimmed = line.trim_start();
    let indent = &line[..line.len() - trimmed.len()];
    if trimmed.starts_with("fio-") {
        return "fio-#".to_owned();
    }
    if is_request(trimmed) || counted && trimmed.starts_with("issued rwts:") {
        return line.to_owned();
    }
    if trimmed.starts_with('|') {
        return format!("{indent}| percentiles");
    }
    if let Some((units, _)) = trimmed
        .strip_prefix("lat (")
        .and_then(|rest| rest.split_once("sec)   : "))
        && units.len() == 1
    {
        return format!("{indent}lat (T)");
    }
    let line = match trimmed.find(" pid=") {
        Some(at) => format!("{indent}{} pid=", &trimmed[..at]),
        None => line.to_owned(),
    };
    let mut line = mask_numbers(&line);
    // Printed only by newer versions.
    if minor < 39 {
        line = line.replace("sectors=#/#, ", "");
        if trimmed.starts_with("trim: ") {
            line = line.replace("; # zone resets", "");
        }
    }
    mask_units(&line)
}

/// Replaces each number with `#`, together with padding blanks, sign and unit prefix.
fn mask_numbers(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let within_word = out.chars().next_back().is_some_and(char::is_alphabetic);
        if c.is_ascii_digit() && !within_word {
            let end = rest
                .find(|c: char| !c.is_ascii_digit() && c != '.')
                .unwrap_or(rest.len());
            let number = rest[..end].trim_end_matches('.');
            let aligned = out.trim_end_matches(' ').len();
            if out[..aligned].ends_with(['=', '[', '(', ','])
                && aligned < out.len()
                && !out[..aligned].ends_with(',')
            {
                out.truncate(aligned);
            }
            out.push('#');
            rest = without_prefix(&rest[number.len()..]);
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// The text after a number, without its unit prefix `k`, `Mi` or `G`.
fn without_prefix(rest: &str) -> &str {
    let word = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .map_or(rest, |end| &rest[..end]);
    let bare = word.trim_start_matches(['K', 'k', 'M', 'G', 'T']);
    let cut = match bare {
        "" if word.len() == 1 => word.len(),
        "B" | "iB" => word.len() - 1,
        _ => 0,
    };
    &rest[cut..]
}

/// Masks units in parentheses, which depend on the size of the numbers after them.
fn mask_units(line: &str) -> String {
    let mut line = line.to_owned();
    for unit in ["nsec", "usec", "msec"] {
        line = line.replace(&format!("({unit})"), "(T)");
    }
    for unit in [
        "  B/s", "KiB/s", "MiB/s", "GiB/s", " kB/s", " MB/s", " GB/s",
    ] {
        line = line
            .replace(&format!("({unit})"), "(U)")
            .replace(&format!("(  {unit})"), "(U)");
    }
    line
}

/// Indices of a longest common subsequence of two lists of lines.
fn longest_common(a: &[String], b: &[String]) -> Vec<(usize, usize)> {
    let mut lens = vec![vec![0u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            lens[i][j] = if a[i] == b[j] {
                lens[i + 1][j + 1] + 1
            } else {
                lens[i + 1][j].max(lens[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lens[i + 1][j] >= lens[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_things_are_masked() {
        for (line, mask) in [
            (
                "  read: IOPS=12.3k, BW=48.1MiB/s (50.4MB/s)(4096KiB/85msec)",
                "  read: IOPS=#, BW=#B/s (#B/s)(#B/#msec)",
            ),
            (
                "  write: IOPS=5, BW=20B/s (20B/s)(1MiB/8msec); 0 zone resets",
                "  write: IOPS=#, BW=#B/s (#B/s)(#B/#msec); # zone resets",
            ),
            (
                "    clat (usec): min=43, max=481, avg=150.85, stdev=114.35",
                "    clat (T): min=#, max=#, avg=#, stdev=#",
            ),
            (
                "   bw (  KiB/s): min=  696, max=  744, per=100.00%, avg=715.07",
                "   bw (U): min=#, max=#, per=#%, avg=#",
            ),
            ("  lat (usec)   : 2=13.77%, 4=34.96%", "  lat (T)"),
            (
                "     lat (nsec): min=1, max=2",
                "     lat (T): min=#, max=#",
            ),
            (
                "a: (groupid=0, jobs=1): err= 0: pid=674: Sat Nov 21 2026",
                "a: (groupid=#, jobs=#): err=#: pid=",
            ),
            (
                "a: (g=0): rw=read, bs=(R) 4096B-4096B",
                "a: (g=0): rw=read, bs=(R) 4096B-4096B",
            ),
            (
                "  sda: ios=0/16169, sectors=0/4302, merge=0/2, util=98.11%",
                "  sda: ios=#/#, merge=#/#, util=#%",
            ),
            ("fio-3.33", "fio-#"),
        ] {
            assert_eq!(mask_line(line, 33, false), mask, "{line}");
        }
    }

    #[test]
    fn distributions_take_as_many_lines_as_they_need() {
        let short = "  a\n     | 1.00th=[ 1]\n  lat (usec)   : 2=1%\n  b\n";
        let long = "  a\n     | 1.00th=[ 1]\n     | 2.00th=[ 1]\n  lat (usec)   : 2=1%\n  lat (msec)   : 2=1%\n  b\n";
        assert!(differences(short, long, 33, true).is_empty());
    }

    #[test]
    fn other_lines_are_compared() {
        let found = differences("a\nb\nc\n", "a\nc\nd\n", 33, true);
        let found: Vec<_> = found
            .iter()
            .map(|d| (d.path.as_str(), d.theirs.as_str(), d.ours.as_str()))
            .collect();
        assert_eq!(
            found,
            [("line 2", "b", "nothing"), ("line 4", "nothing", "d")]
        );
        assert_eq!(differences("a\n\nb\n", "a\nb\n", 33, true).len(), 1);
    }
}

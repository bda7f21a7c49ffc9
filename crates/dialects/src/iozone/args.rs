//! The options of a command line as typed, before their meaning as a whole.

use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Maximum accepted size in kB: 1 PiB.
const MOST_KB: u64 = 1 << 40;

/// A text printed instead of running tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IozoneInfoText {
    Help,
    Version,
}

/// Options as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct IozoneArgs {
    pub(super) tests: Vec<u32>,
    pub(super) auto: bool,
    pub(super) all_records: bool,
    pub(super) sizes_kb: Vec<u64>,
    pub(super) records_kb: Vec<u64>,
    pub(super) file_bounds: (Option<u64>, Option<u64>),
    pub(super) record_bounds: (Option<u64>, Option<u64>),
    pub(super) stride: Option<u64>,
    pub(super) no_retests: bool,
    pub(super) percent_read: Option<u32>,
    pub(super) pause_s: u64,
    pub(super) file: Option<PathBuf>,
    pub(super) files: Vec<PathBuf>,
    pub(super) keep_files: bool,
    pub(super) keep_contents: bool,
    pub(super) direct: bool,
    pub(super) sync: bool,
    pub(super) dsync: bool,
    pub(super) flush: bool,
    pub(super) close: bool,
    pub(super) mmap: bool,
    pub(super) map_flush: bool,
    pub(super) depth: Option<u32>,
    pub(super) cache_kb: Option<u64>,
    pub(super) line_bytes: Option<u64>,
    pub(super) groups: Vec<u32>,
    pub(super) fewest: Option<u32>,
    pub(super) most: Option<u32>,
    pub(super) threads: bool,
    pub(super) no_stonewall: bool,
    pub(super) delay_us: u64,
    pub(super) first_cpu: Option<u32>,
    pub(super) show_children: bool,
    pub(super) excel: bool,
    pub(super) workbook: Option<PathBuf>,
    pub(super) ops: bool,
    pub(super) micros: bool,
    pub(super) machine: bool,
    pub(super) cpu_use: bool,
    pub(super) page: Option<IozoneInfoText>,
    pub(super) said: Vec<String>,
}

/// A bound of auto mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AutoBound {
    FileMin,
    FileMax,
    RecordMin,
    RecordMax,
}

impl IozoneArgs {
    /// Distance between the starts of consecutive records of the stride test, in records.
    pub(super) fn stride(&self) -> u64 {
        self.stride.unwrap_or(17)
    }

    /// Adds a line to the header of the output.
    pub(super) fn say(&mut self, line: &str) {
        self.said.push(line.to_owned());
    }

    pub(super) fn auto(&mut self) {
        self.auto = true;
        self.say("Auto Mode");
    }

    /// Parses an integer with bounds.
    pub(super) fn whole(
        &self,
        text: &[String],
        bounds: RangeInclusive<u64>,
    ) -> Result<u64, String> {
        let word = text.first().map_or("", |text| text.trim());
        let number = word
            .parse::<u64>()
            .map_err(|_| "expected a whole number".to_owned())?;
        if bounds.contains(&number) {
            return Ok(number);
        }
        Err(format!(
            "expected a value between {} and {}",
            bounds.start(),
            bounds.end()
        ))
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
            return Err("the maximum record size is 1 GiB".to_owned());
        }
        self.records_kb.push(kb);
        self.say(&format!("Record Size {kb} kB"));
        Ok(())
    }

    pub(super) fn bound(&mut self, text: &[String], which: AutoBound) -> Result<(), String> {
        let kb = kilobytes(text)?;
        let (place, words) = match which {
            AutoBound::FileMin => (
                &mut self.file_bounds.0,
                format!("Using minimum file size of {kb} kilobytes."),
            ),
            AutoBound::FileMax => (
                &mut self.file_bounds.1,
                format!("Using maximum file size of {kb} kilobytes."),
            ),
            AutoBound::RecordMin => (
                &mut self.record_bounds.0,
                format!("Using Minimum Record Size {kb} kB"),
            ),
            AutoBound::RecordMax => (
                &mut self.record_bounds.1,
                format!("Using Maximum Record Size {kb} kB"),
            ),
        };
        *place = Some(kb);
        self.say(&words);
        Ok(())
    }
}

/// Parses a size in kB: a number with an optional suffix k, m, g or t. Without a suffix the unit is kB.
fn kilobytes(text: &[String]) -> Result<u64, String> {
    let word = text.first().map_or("", |text| text.trim());
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match word[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "k" => 1,
        "m" => 1 << 10,
        "g" => 1 << 20,
        "t" => 1 << 30,
        _ => return Err("unknown unit: expected k, m, g or t after the number".to_owned()),
    };
    let number = digits
        .parse::<u64>()
        .map_err(|_| "expected a whole number followed by k, m or g".to_owned())?;
    match number.checked_mul(factor) {
        Some(0) => Err("the minimum is 1 kB".to_owned()),
        Some(kb) if kb <= MOST_KB => Ok(kb),
        _ => Err("the value is too large for a file".to_owned()),
    }
}

//! What an import counts and lists, in bounded memory.

/// Maximum number of series that are listed.
pub(crate) const SHOWN: usize = 20;

/// Maximum number of lines about what was read.
const MOST_NOTES: usize = 5_000;

/// Lines about what was read and what was not.
#[derive(Default)]
pub(crate) struct ImportNotes {
    pub(crate) text: String,
    lines: usize,
}

impl ImportNotes {
    pub(crate) fn add(&mut self, lines: &str) {
        for line in lines.lines() {
            self.lines += 1;
            if self.lines <= MOST_NOTES {
                self.text += line;
                self.text.push('\n');
            }
        }
    }

    /// Adds how many lines are missing.
    pub(crate) fn end(&mut self) {
        if self.lines > MOST_NOTES {
            let others = self.lines - MOST_NOTES;
            self.text += &both!("and {others} more lines\n", "ほか{others}行\n");
        }
    }
}

/// Runs or verifications of an import: their number, and the first of them.
#[derive(Default)]
pub(crate) struct ImportedIds {
    pub(crate) count: usize,
    /// All with `--json`, which lists them.
    pub(crate) ids: Vec<String>,
    /// Series of the first runs.
    pub(crate) series: Vec<String>,
}

impl ImportedIds {
    pub(crate) fn add(&mut self, id: &str, series: &str, all: bool) {
        self.count += 1;
        if all || self.ids.len() < SHOWN {
            self.ids.push(id.to_owned());
        }
        // Runs of one series usually follow each other. One more than are shown, to know that there are more.
        let is_last = self.series.last().is_some_and(|last| last == series);
        if !is_last
            && (all || self.series.len() <= SHOWN)
            && (all || self.series.iter().all(|known| known != series))
        {
            self.series.push(series.to_owned());
        }
    }
}

//! Derives the tests, the mode and the table rows from the options as a whole.

use super::{
    AUTO_FILES, AUTO_RECORDS, IozoneMode, LARGE_FILE_KB, MOST_ROWS, OptionLocations,
    SMALL_RECORD_KB,
};
use crate::iozone::args::IozoneArgs;
use crate::iozone::error::IozoneError;
use crate::iozone::kind::IozoneTest;

impl IozoneArgs {
    /// Whether the options select throughput mode.
    pub(super) fn is_throughput(&self) -> bool {
        !self.groups.is_empty() || self.fewest.is_some() || self.most.is_some()
    }

    /// The first contradiction between options: the option to point at, and the message.
    pub(super) fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        let throughput = self.is_throughput();
        if self.ops && self.micros {
            Some(("N", "-N and -O contradict each other: use one of them"))
        } else if throughput && self.micros {
            let message =
                "-N works only in table mode: with children use -O, or omit -t, -l and -u";
            Some(("N", message))
        } else if throughput && self.auto {
            let message = "-a selects table mode, and -t, -l and -u select throughput mode: use one \
                           of them";
            Some(("a", message))
        } else if self.mmap && self.depth.is_some() {
            let message = "-B and -H or -k contradict each other: a mapping has no queue";
            Some(("B", message))
        } else {
            None
        }
    }

    /// Returns a warning for each option that has no effect because of other options.
    pub(super) fn ignored(&self) -> Vec<&'static str> {
        let mut rules = if self.is_throughput() {
            self.ignored_with_children()
        } else {
            self.ignored_in_table()
        };
        let map_flush = self.map_flush && !self.mmap;
        rules.push((map_flush, "-G has no effect without -B"));
        let given = rules.into_iter().filter(|(given, _)| *given);
        given.map(|(_, warning)| warning).collect()
    }

    /// Options without effect in throughput mode: whether each was given, and its warning.
    fn ignored_with_children(&self) -> Vec<(bool, &'static str)> {
        let ((file_min, file_max), (record_min, record_max)) =
            (self.file_bounds, self.record_bounds);
        vec![
            (
                self.file.is_some(),
                "-f has no effect with children: name a file for each of them with -F",
            ),
            (
                file_min.is_some(),
                "-n has no effect with children: set their sizes with -s and -r",
            ),
            (
                file_max.is_some(),
                "-g has no effect with children: set their sizes with -s and -r",
            ),
            (
                record_min.is_some(),
                "-y has no effect with children: set their sizes with -s and -r",
            ),
            (
                record_max.is_some(),
                "-q has no effect with children: set their sizes with -s and -r",
            ),
            (
                self.all_records,
                "-z has no effect with children: it applies only to -a",
            ),
        ]
    }

    /// Options without effect in table mode: whether each was given, and its warning.
    fn ignored_in_table(&self) -> Vec<(bool, &'static str)> {
        let (file_min, file_max) = self.file_bounds;
        let auto = self.auto || file_max.is_some();
        let sized = auto && !self.sizes_kb.is_empty();
        vec![
            (
                !self.files.is_empty(),
                "-F has no effect in table mode: name the file with -f, or use -t for children",
            ),
            (
                file_min.is_some() && !auto,
                "-n has no effect without -a or -g: set the file size with -s",
            ),
            (
                file_min.is_some() && sized,
                "-n has no effect together with -s: sizes start at -s",
            ),
            (
                self.all_records && !auto,
                "-z has no effect without -a or -g",
            ),
        ]
    }

    pub(super) fn kinds(
        &self,
        throughput: bool,
        locations: &OptionLocations<'_>,
    ) -> Result<Vec<IozoneTest>, IozoneError> {
        let (all, why): (&[u32], _) = if throughput {
            let all = &[0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12];
            (all, "not available in throughput mode: omit -t, -l and -u")
        } else {
            let why = "only available in throughput mode: add -t 1";
            (&[0, 1, 2, 3, 4, 5, 6, 7], why)
        };
        if let Some(odd) = self.tests.iter().find(|test| !all.contains(test)) {
            let message = format!("-i {odd} cannot be used: the test is {why}");
            return Err(locations.error("i", message));
        }
        // The vectored I/O tests are recent additions, and run only on request.
        let usual: Vec<u32> = all.iter().copied().filter(|&test| test < 11).collect();
        let tests = if self.tests.is_empty() {
            &usual
        } else {
            &self.tests
        };
        Ok(IozoneTest::chosen(tests, throughput, !self.no_retests))
    }

    pub(super) fn throughput(
        &self,
        locations: &OptionLocations<'_>,
    ) -> Result<IozoneMode, IozoneError> {
        let children = self.children_of_groups(locations)?;
        let needed = children.iter().copied().max().unwrap_or(1) as usize;
        if !self.files.is_empty() && self.files.len() < needed {
            let files = self.files.len();
            let message =
                format!("-F names {files} files for {needed} children: name one for each");
            return Err(locations.error("F", message));
        }
        for (name, times) in [("s", self.sizes_kb.len()), ("r", self.records_kb.len())] {
            if times > 1 {
                let message = format!("-{name} is given {times} times: children use a single size");
                return Err(locations.error(name, message));
            }
        }
        let size_kb = self.sizes_kb.first().copied().unwrap_or(512);
        let record_kb = self.records_kb.first().copied().unwrap_or(4);
        if record_kb > size_kb {
            return Err(self.record_too_large(record_kb, size_kb, locations));
        }
        Ok(IozoneMode::Throughput {
            children,
            size_kb,
            record_kb,
            range: self.fewest.is_some() || self.most.is_some(),
        })
    }

    /// Number of children of each group: as given by `-t`, or each from `-l` to `-u`.
    fn children_of_groups(&self, locations: &OptionLocations<'_>) -> Result<Vec<u32>, IozoneError> {
        if self.fewest.is_none() && self.most.is_none() {
            return Ok(self.groups.clone());
        }
        let from = self.fewest.unwrap_or(1);
        let to = self.most.unwrap_or(from);
        if from > to {
            return Err(locations.error("l", format!("-l {from} is more than -u {to}")));
        }
        Ok((from..=to).collect())
    }

    pub(super) fn table(&self, locations: &OptionLocations<'_>) -> Result<IozoneMode, IozoneError> {
        let auto = self.auto || self.file_bounds.1.is_some();
        let (sizes, records) = (self.file_sizes(auto), self.record_sizes(auto));
        let (min, max) = self.record_bounds;
        let given = [&self.records_kb, &self.sizes_kb];
        let given = given.iter().any(|sizes| !sizes.is_empty());
        let chosen = given || min.is_some() || max.is_some() || self.all_records;
        let mut rows = Vec::new();
        for &size in &sizes {
            let small =
                |record: u64| auto && !chosen && size >= LARGE_FILE_KB && record < SMALL_RECORD_KB;
            let records = records.iter().copied();
            let fitting = records.filter(|&record| record <= size && !small(record));
            rows.extend(fitting.map(|record| (size, record)));
        }
        match (sizes.first(), records.first()) {
            (Some(&size), Some(&record)) if rows.is_empty() => {
                Err(self.record_too_large(record, size, locations))
            }
            _ if rows.is_empty() => {
                let message = "the minimum size is larger than the maximum size";
                Err(locations.error(self.size_option(), message))
            }
            _ if rows.len() > MOST_ROWS => {
                let message = format!("{} rows: the maximum is {MOST_ROWS}", rows.len());
                Err(IozoneError::nowhere(message))
            }
            _ => Ok(IozoneMode::Table { rows }),
        }
    }

    /// File sizes of the table in kB.
    fn file_sizes(&self, auto: bool) -> Vec<u64> {
        match (&self.sizes_kb[..], self.file_bounds) {
            ([], (min, max)) if auto => doubling(
                min.unwrap_or(AUTO_FILES.0),
                max.unwrap_or(AUTO_FILES.1.max(min.unwrap_or(0))),
            ),
            // A minimum and a maximum size: all doublings between them.
            ([from], (_, Some(to))) => doubling(*from, to),
            ([], _) => vec![512],
            (sizes, _) => sizes.to_vec(),
        }
    }

    /// Record sizes of the table in kB.
    fn record_sizes(&self, auto: bool) -> Vec<u64> {
        let (min, max) = self.record_bounds;
        match &self.records_kb[..] {
            [] if auto || min.is_some() || max.is_some() => {
                doubling(min.unwrap_or(AUTO_RECORDS.0), max.unwrap_or(AUTO_RECORDS.1))
            }
            [] => vec![4],
            records => records.to_vec(),
        }
    }

    /// The option to point at if sizes do not fit: the record size if it was given.
    fn size_option(&self) -> &'static str {
        if self.records_kb.is_empty() { "s" } else { "r" }
    }

    fn record_too_large(
        &self,
        record_kb: u64,
        size_kb: u64,
        locations: &OptionLocations<'_>,
    ) -> IozoneError {
        let message = format!(
            "record size {record_kb} kB is larger than file size {size_kb} kB: use a smaller -r or \
             a larger -s"
        );
        locations.error(self.size_option(), message)
    }
}

fn doubling(from: u64, to: u64) -> Vec<u64> {
    std::iter::successors(Some(from), |size| size.checked_mul(2))
        .take_while(|&size| size <= to)
        .collect()
}

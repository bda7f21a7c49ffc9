//! Derives the tests, the mode and the table rows from the options as a whole.

use super::{
    AUTO_FILES, AUTO_RECORDS, IozoneArgs, IozoneMode, LARGE_FILE_KB, MOST_ROWS, SMALL_RECORD_KB,
};
use crate::iozone::error::{IozoneError, WordLocation};
use crate::iozone::kind::IozoneTest;

impl IozoneArgs {
    /// Returns the options that have no effect because of other options.
    pub(super) fn ignored(&self, throughput: bool) -> Vec<String> {
        let mut ignored = Vec::new();
        let mut tell = |given: bool, text: &str| {
            if given {
                ignored.push(text.to_owned());
            }
        };
        let ((file_min, file_max), (record_min, record_max)) =
            (self.file_bounds, self.record_bounds);
        if throughput {
            tell(
                self.file.is_some(),
                "-f has no effect with children: name a file for each of them with -F",
            );
            let bounds = [
                ("-n", file_min),
                ("-g", file_max),
                ("-y", record_min),
                ("-q", record_max),
            ];
            for (name, _) in bounds.into_iter().filter(|(_, bound)| bound.is_some()) {
                tell(
                    true,
                    &format!("{name} has no effect with children: set their sizes with -s and -r"),
                );
            }
            tell(
                self.all_records,
                "-z has no effect with children: it applies only to -a",
            );
        } else {
            tell(
                !self.files.is_empty(),
                "-F has no effect in table mode: name the file with -f, or use -t for children",
            );
            let auto = self.auto || file_max.is_some();
            tell(
                file_min.is_some() && !auto,
                "-n has no effect without -a or -g: set the file size with -s",
            );
            let sized = auto && !self.sizes_kb.is_empty();
            tell(
                file_min.is_some() && sized,
                "-n has no effect together with -s: sizes start at -s",
            );
            tell(
                self.all_records && !auto,
                "-z has no effect without -a or -g",
            );
        }
        tell(self.map_flush && !self.mmap, "-G has no effect without -B");
        ignored
    }

    pub(super) fn kinds(
        &self,
        throughput: bool,
        place: &dyn Fn(&str) -> Option<WordLocation>,
    ) -> Result<Vec<IozoneTest>, IozoneError> {
        let wrong = |message: String| IozoneError {
            message,
            at: place("i"),
        };
        let all: &[u32] = if throughput {
            &[0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12]
        } else {
            &[0, 1, 2, 3, 4, 5, 6, 7]
        };
        if let Some(odd) = self.tests.iter().find(|test| !all.contains(test)) {
            let why = if throughput {
                "not available in throughput mode: omit -t, -l and -u"
            } else {
                "only available in throughput mode: add -t 1"
            };
            return Err(wrong(format!("-i {odd} cannot be used: the test is {why}")));
        }
        // The vectored I/O tests are recent additions, and run only on request.
        let usual: Vec<u32> = all.iter().copied().filter(|&test| test < 11).collect();
        let tests = if self.tests.is_empty() {
            &usual
        } else {
            &self.tests
        };
        Ok(IozoneTest::chosen(tests, throughput, self.retests))
    }

    pub(super) fn throughput(
        &self,
        place: &dyn Fn(&str) -> Option<WordLocation>,
    ) -> Result<IozoneMode, IozoneError> {
        let range = self.fewest.is_some() || self.most.is_some();
        let children = match (self.fewest, self.most) {
            (None, None) => self.groups.clone(),
            (fewest, most) => {
                let from = fewest.unwrap_or(1);
                let to = most.unwrap_or(from);
                if from > to {
                    let message = format!("-l {from} is more than -u {to}");
                    return Err(IozoneError {
                        message,
                        at: place("l"),
                    });
                }
                (from..=to).collect()
            }
        };
        let needed = children.iter().copied().max().unwrap_or(1) as usize;
        if !self.files.is_empty() && self.files.len() < needed {
            let message = format!(
                "-F names {} files for {needed} children: name one for each",
                self.files.len()
            );
            return Err(IozoneError {
                message,
                at: place("F"),
            });
        }
        for (name, list) in [("s", &self.sizes_kb), ("r", &self.records_kb)] {
            if list.len() > 1 {
                let message = format!(
                    "-{name} is given {} times: children use a single size",
                    list.len()
                );
                return Err(IozoneError {
                    message,
                    at: place(name),
                });
            }
        }
        let size_kb = self.sizes_kb.first().copied().unwrap_or(512);
        let record_kb = self.records_kb.first().copied().unwrap_or(4);
        fits(size_kb, record_kb, place)?;
        Ok(IozoneMode::Throughput {
            children,
            size_kb,
            record_kb,
            range,
        })
    }

    pub(super) fn table(
        &self,
        place: &dyn Fn(&str) -> Option<WordLocation>,
    ) -> Result<IozoneMode, IozoneError> {
        let auto = self.auto || self.file_bounds.1.is_some();
        let sizes = match (&self.sizes_kb[..], self.file_bounds) {
            ([], (min, max)) if auto => doubling(
                min.unwrap_or(AUTO_FILES.0),
                max.unwrap_or(AUTO_FILES.1.max(min.unwrap_or(0))),
            ),
            // A minimum and a maximum size: all doublings between them.
            ([from], (_, Some(to))) => doubling(*from, to),
            ([], _) => vec![512],
            (sizes, _) => sizes.to_vec(),
        };
        let (min, max) = self.record_bounds;
        let bounded = min.is_some() || max.is_some();
        let records = match &self.records_kb[..] {
            [] if auto || bounded => {
                doubling(min.unwrap_or(AUTO_RECORDS.0), max.unwrap_or(AUTO_RECORDS.1))
            }
            [] => vec![4],
            records => records.to_vec(),
        };
        let chosen =
            !self.records_kb.is_empty() || !self.sizes_kb.is_empty() || bounded || self.all_records;
        let mut rows = Vec::new();
        for &size in &sizes {
            let small =
                |record: u64| auto && !chosen && size >= LARGE_FILE_KB && record < SMALL_RECORD_KB;
            rows.extend(
                records
                    .iter()
                    .filter(|&&r| r <= size && !small(r))
                    .map(|&record| (size, record)),
            );
        }
        if rows.is_empty() {
            let (size, record) = (
                sizes.first().copied().unwrap_or(0),
                records.first().copied().unwrap_or(0),
            );
            let option = if self.records_kb.is_empty() { "s" } else { "r" };
            let message = match sizes.is_empty() || records.is_empty() {
                true => "the minimum size is larger than the maximum size".to_owned(),
                false => {
                    format!(
                        "record size {record} kB is larger than file size {size} kB: use a \
                        smaller -r or a larger -s"
                    )
                }
            };
            return Err(IozoneError {
                message,
                at: place(option),
            });
        }
        if rows.len() > MOST_ROWS {
            return Err(IozoneError::nowhere(format!(
                "{} rows: the maximum is {MOST_ROWS}",
                rows.len()
            )));
        }
        Ok(IozoneMode::Table { rows })
    }
}

fn fits(
    size_kb: u64,
    record_kb: u64,
    place: &dyn Fn(&str) -> Option<WordLocation>,
) -> Result<(), IozoneError> {
    if record_kb <= size_kb {
        return Ok(());
    }
    let message = format!(
        "record size {record_kb} kB is larger than file size {size_kb} kB: use a smaller -r or a \
        larger -s"
    );
    Err(IozoneError {
        message,
        at: place("r").or_else(|| place("s")),
    })
}

fn doubling(from: u64, to: u64) -> Vec<u64> {
    std::iter::successors(Some(from), |size| size.checked_mul(2))
        .take_while(|&size| size <= to)
        .collect()
}

//! iozone's tests: their names in each output, and the I/O they do.

use IozoneTest::*;
use hakaru_model::job::Op;

/// One test with a figure of its own; `-i 0` selects the first two. Ordered as in the table of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // Each is named by its row of the table.
pub enum IozoneTest {
    Write,
    Rewrite,
    Read,
    Reread,
    RandomRead,
    RandomWrite,
    BackwardRead,
    RecordRewrite,
    StrideRead,
    Fwrite,
    Frewrite,
    Fread,
    Freread,
    Mixed,
    Pwrite,
    Pread,
    Pwritev,
    Preadv,
}

/// Properties of a test.
struct Test {
    kind: IozoneTest,
    /// Number for `-i`.
    number: u32,
    op: Op,
    /// Names of the test: on its own, in throughput mode, in the spreadsheet table of throughput mode, and in the
    /// reports of auto mode.
    words: [&'static str; 4],
}

const fn test(kind: IozoneTest, number: u32, op: Op, words: [&'static str; 4]) -> Test {
    Test {
        kind,
        number,
        op,
        words,
    }
}

/// The tests in the column order of auto mode; the remaining ones occur in throughput mode only.
///
/// The names come from outputs of iozone 3.4xx and 3.506, except the last two: builds for Linux answer `-i 11` and
/// `-i 12` with "Selected test not available on the version", so their names follow those of the calls without vectors.
#[rustfmt::skip]
const TESTS: [Test; 18] = [
    test(Write, 0, Op::Write, ["write", "initial writers", "Initial write", "Writer"]),
    test(Rewrite, 0, Op::Write, ["rewrite", "rewriters", "Rewrite", "Re-writer"]),
    test(Read, 1, Op::Read, ["read", "readers", "Read", "Reader"]),
    test(Reread, 1, Op::Read, ["reread", "re-readers", "Re-read", "Re-Reader"]),
    test(RandomRead, 2, Op::Read, ["random read", "random readers", "Random read", "Random read"]),
    test(RandomWrite, 2, Op::Write, ["random write", "random writers", "Random write", "Random write"]),
    test(BackwardRead, 3, Op::Read, ["backward read", "reverse readers", "Reverse Read", "Backward read"]),
    test(RecordRewrite, 4, Op::Write, ["record rewrite", "record rewriters", "Record rewrite", "Record rewrite"]),
    test(StrideRead, 5, Op::Read, ["stride read", "stride readers", "Stride read", "Stride read"]),
    test(Fwrite, 6, Op::Write, ["fwrite", "fwriters", "Fwrite", "Fwrite"]),
    test(Frewrite, 6, Op::Write, ["frewrite", "frewriters", "Re-Fwrite", "Re-Fwrite"]),
    test(Fread, 7, Op::Read, ["fread", "freaders", "Fread", "Fread"]),
    test(Freread, 7, Op::Read, ["freread", "refreaders", "Re-Fread", "Re-Fread"]),
    test(Mixed, 8, Op::Read, ["mixed", "mixed workload", "Mixed workload", "Mixed workload"]),
    test(Pwrite, 9, Op::Write, ["pwrite", "pwrite writers", "Pwrite", "Pwrite"]),
    test(Pread, 10, Op::Read, ["pread", "pread readers", "Pread", "Pread"]),
    test(Pwritev, 11, Op::Write, ["pwritev", "pwritev writers", "Pwritev", "Pwritev"]),
    test(Preadv, 12, Op::Read, ["preadv", "preadv readers", "Preadv", "Preadv"]),
];

/// Number of columns in auto mode.
pub(crate) const COLUMNS: usize = 13;

/// Test order of throughput mode.
const THROUGHPUT: [IozoneTest; 15] = [
    Write,
    Rewrite,
    Read,
    Reread,
    BackwardRead,
    StrideRead,
    RandomRead,
    Mixed,
    RandomWrite,
    Pwrite,
    Pread,
    Pwritev,
    Preadv,
    Fwrite,
    Fread,
];

impl IozoneTest {
    fn test(self) -> &'static Test {
        &TESTS[self as usize]
    }

    /// All tests: first those with a column, in column order.
    pub fn all() -> impl Iterator<Item = IozoneTest> {
        TESTS.iter().map(|test| test.kind)
    }

    /// The test in a column of auto mode, from 0.
    pub(crate) fn of_column(column: usize) -> Option<IozoneTest> {
        TESTS[..COLUMNS].get(column).map(|test| test.kind)
    }

    /// Column in auto mode, from 0; `None` for tests of throughput mode only.
    pub(super) fn column(self) -> Option<usize> {
        Some(self as usize).filter(|&place| place < COLUMNS)
    }

    /// Number for `-i`.
    pub fn number(self) -> u32 {
        self.test().number
    }

    /// Name in throughput mode: `initial writers`.
    pub fn workers(self) -> &'static str {
        self.test().words[1]
    }

    /// Name in the spreadsheet table of throughput mode: `Initial write`.
    pub(crate) fn excel(self) -> &'static str {
        self.test().words[2]
    }

    /// Name in the reports of auto mode: `Writer`.
    pub fn report(self) -> &'static str {
        self.test().words[3]
    }

    /// Name of its phase: `write`.
    pub fn name(self) -> &'static str {
        self.test().words[0]
    }

    /// The operation; in `Mixed`, some children do the other one.
    pub fn op(self) -> Op {
        self.test().op
    }

    /// Whether records are accessed in random order.
    pub(crate) fn is_random(self) -> bool {
        matches!(self, RandomRead | RandomWrite | Mixed)
    }

    /// Whether it writes a new file.
    pub(crate) fn makes_file(self) -> bool {
        matches!(self, Write | Fwrite | Pwrite | Pwritev)
    }

    /// Whether it repeats another test; `-+n` skips it.
    pub(crate) fn is_retest(self) -> bool {
        matches!(self, Rewrite | Reread | Frewrite | Freread)
    }

    /// Whether it uses C library streams, whose buffer no option disables.
    pub(crate) fn is_stream(self) -> bool {
        matches!(self, Fwrite | Frewrite | Fread | Freread)
    }

    /// The tests selected by these numbers, in execution order.
    pub(super) fn chosen(numbers: &[u32], throughput: bool, retests: bool) -> Vec<IozoneTest> {
        let wanted =
            |kind: &IozoneTest| numbers.contains(&kind.number()) && (retests || !kind.is_retest());
        match throughput {
            true => THROUGHPUT.into_iter().filter(wanted).collect(),
            false => IozoneTest::all().take(COLUMNS).filter(wanted).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_order_of_the_names() {
        assert!(
            IozoneTest::all()
                .enumerate()
                .all(|(place, kind)| kind as usize == place)
        );
        assert_eq!(
            (IozoneTest::of_column(12), IozoneTest::of_column(13)),
            (Some(Freread), None)
        );
        assert_eq!((Freread.column(), Mixed.column()), (Some(12), None));
    }
}

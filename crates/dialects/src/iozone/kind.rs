//! The tests of iozone: what each is called in which output, and what it does.

use hakaru_model::job::Op;

/// One test, as its figure is printed: `-i 0` asks for the first two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // Each is named by its `names` below.
pub enum Kind {
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

use Kind::*;

/// The columns of the table, in their order.
pub const COLUMNS: [Kind; 13] = [
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
];

/// The order of throughput mode.
const THROUGHPUT: [Kind; 15] = [
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

/// What a test is called: in throughput mode, in its table for spreadsheets, in the reports of auto mode, by itself.
struct Names {
    workers: &'static str,
    excel: &'static str,
    report: &'static str,
    name: &'static str,
}

impl Kind {
    /// Its number behind `-i`.
    pub fn number(self) -> u32 {
        match self {
            Write | Rewrite => 0,
            Read | Reread => 1,
            RandomRead | RandomWrite => 2,
            BackwardRead => 3,
            RecordRewrite => 4,
            StrideRead => 5,
            Fwrite | Frewrite => 6,
            Fread | Freread => 7,
            Mixed => 8,
            Pwrite => 9,
            Pread => 10,
            Pwritev => 11,
            Preadv => 12,
        }
    }

    fn names(self) -> Names {
        let names = |workers, excel, report, name| Names { workers, excel, report, name };
        match self {
            Write => names("initial writers", "Initial write", "Writer", "write"),
            Rewrite => names("rewriters", "Rewrite", "Re-writer", "rewrite"),
            Read => names("readers", "Read", "Reader", "read"),
            Reread => names("re-readers", "Re-read", "Re-Reader", "reread"),
            RandomRead => names("random readers", "Random read", "Random read", "random read"),
            RandomWrite => names("random writers", "Random write", "Random write", "random write"),
            BackwardRead => names("reverse readers", "Reverse Read", "Backward read", "backward read"),
            RecordRewrite => names("record rewriters", "Record rewrite", "Record rewrite", "record rewrite"),
            StrideRead => names("stride readers", "Stride read", "Stride read", "stride read"),
            Fwrite => names("fwriters", "Fwrite", "Fwrite", "fwrite"),
            Frewrite => names("frewriters", "Re-Fwrite", "Re-Fwrite", "frewrite"),
            Fread => names("freaders", "Fread", "Fread", "fread"),
            Freread => names("refreaders", "Re-Fread", "Re-Fread", "freread"),
            Mixed => names("mixed workload", "Mixed workload", "Mixed workload", "mixed"),
            Pwrite => names("pwrite writers", "Pwrite", "Pwrite", "pwrite"),
            Pread => names("pread readers", "Pread", "Pread", "pread"),
            Pwritev => names("pwritev writers", "Pwritev", "Pwritev", "pwritev"),
            Preadv => names("preadv readers", "Preadv", "Preadv", "preadv"),
        }
    }

    /// `initial writers`
    pub fn workers(self) -> &'static str {
        self.names().workers
    }

    /// `Initial write`
    pub fn excel(self) -> &'static str {
        self.names().excel
    }

    /// `Writer`
    pub fn report(self) -> &'static str {
        self.names().report
    }

    /// `write`: the name of its phase.
    pub fn name(self) -> &'static str {
        self.names().name
    }

    /// What it does; of [`Kind::Mixed`] some children do the other.
    pub fn op(self) -> Op {
        match self {
            Write | Rewrite | RandomWrite | RecordRewrite | Fwrite | Frewrite | Pwrite | Pwritev => Op::Write,
            _ => Op::Read,
        }
    }

    /// Whether it writes a new file.
    pub fn makes_file(self) -> bool {
        matches!(self, Write | Fwrite | Pwrite | Pwritev)
    }

    /// Whether it comes again after another, so that `-+n` leaves it out.
    pub fn is_retest(self) -> bool {
        matches!(self, Rewrite | Reread | Frewrite | Freread)
    }

    /// Whether it goes through the streams of the C library, whose buffer no option takes away.
    pub fn is_stream(self) -> bool {
        matches!(self, Fwrite | Frewrite | Fread | Freread)
    }

    /// The tests that these numbers ask for, in the order they run in.
    pub(super) fn chosen(numbers: &[u32], throughput: bool, retests: bool) -> Vec<Kind> {
        let all = if throughput { &THROUGHPUT[..] } else { &COLUMNS[..] };
        all.iter().copied().filter(|kind| numbers.contains(&kind.number()) && (retests || !kind.is_retest())).collect()
    }
}

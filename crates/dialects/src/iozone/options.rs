//! The option table of the iozone dialect: one row an option, with all there is to say of it side by side.
//!
//! Parsing, `-h`, the manual page and the page that lists which options are known all come out of these rows. A known
//! option is never ignored in silence.

use super::request::IozoneArgs;

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionArity {
    /// No value.
    Nothing,
    /// One, called so in the help.
    One(&'static str),
    /// One or more, up to the next option.
    Several(&'static str),
}

/// Whether an option works here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IozoneOptionState {
    /// It does what it does in iozone.
    Works,
    /// It has no effect, and a warning says why.
    Accepted(&'static str),
    /// It is refused.
    Refused {
        /// Why.
        reason: &'static str,
        /// What to use in its place.
        instead: &'static str,
    },
}

/// What an option changes.
pub(super) type Setter = fn(&mut IozoneArgs, &[String]) -> Result<(), String>;

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct IozoneOption {
    /// Its letter, or `+` and a letter.
    pub name: &'static str,
    /// What it takes.
    pub takes: OptionArity,
    /// What it is for, in one line.
    pub help: &'static str,
    /// Whether it works here.
    pub state: IozoneOptionState,
    pub(super) set: Option<Setter>,
}

const fn works(
    name: &'static str,
    takes: OptionArity,
    help: &'static str,
    set: Setter,
) -> IozoneOption {
    IozoneOption {
        name,
        takes,
        help,
        state: IozoneOptionState::Works,
        set: Some(set),
    }
}

const fn accepted(
    name: &'static str,
    takes: OptionArity,
    help: &'static str,
    because: &'static str,
) -> IozoneOption {
    IozoneOption {
        name,
        takes,
        help,
        state: IozoneOptionState::Accepted(because),
        set: None,
    }
}

const fn refused(
    name: &'static str,
    takes: OptionArity,
    help: &'static str,
    reason: &'static str,
    instead: &'static str,
) -> IozoneOption {
    IozoneOption {
        name,
        takes,
        help,
        state: IozoneOptionState::Refused { reason, instead },
        set: None,
    }
}

use OptionArity::{Nothing, One, Several};

const KB: OptionArity = One("kB, or with k, m, g");
const FILE: OptionArity = One("file");
const NUMBER: OptionArity = One("number");

/// All options by what they are about.
pub const SECTIONS: &[(&str, &[IozoneOption])] = &[
    ("What is measured", WHAT),
    ("Files", FILES),
    ("How I/O is done", HOW),
    ("Children", CHILDREN),
    ("Output", OUTPUT),
    ("Options of many hosts, and of no use here", FOREIGN),
];

const WHAT: &[IozoneOption] = &[
    works(
        "i",
        NUMBER,
        "Test to run, may be repeated: 0 write, 1 read, 2 random, 3 backward, 4 record rewrite, 5 stride, 6 fwrite, 7 fread, 8 mix, 9 pwrite, 10 pread, 11 pwritev, 12 preadv",
        IozoneArgs::test,
    ),
    works(
        "a",
        Nothing,
        "Auto mode: files of 64 kB to 512 MB, records of 4 kB to 16 MB",
        |to, _| {
            to.auto();
            Ok(())
        },
    ),
    works(
        "A",
        Nothing,
        "Auto mode with small records for large files too, as -a -z",
        |to, _| {
            to.auto();
            to.all_records = true;
            Ok(())
        },
    ),
    works(
        "z",
        Nothing,
        "With -a: small records for large files too",
        |to, _| {
            to.all_records = true;
            Ok(())
        },
    ),
    works("s", KB, "Size of a file, may be repeated", |to, text| {
        to.size(text)
    }),
    works("r", KB, "Size of a record, may be repeated", |to, text| {
        to.record(text)
    }),
    works("n", KB, "Smallest file of auto mode", |to, text| {
        to.bound(text, super::request::AutoBound::FileMin)
    }),
    works("g", KB, "Largest file of auto mode", |to, text| {
        to.bound(text, super::request::AutoBound::FileMax)
    }),
    works("y", KB, "Smallest record of auto mode", |to, text| {
        to.bound(text, super::request::AutoBound::RecordMin)
    }),
    works("q", KB, "Largest record of auto mode", |to, text| {
        to.bound(text, super::request::AutoBound::RecordMax)
    }),
    works(
        "j",
        NUMBER,
        "Records from one read to the next of the stride test (17)",
        |to, text| {
            to.stride = to.whole(text, 1..=1 << 20)?;
            Ok(())
        },
    ),
    works(
        "+n",
        Nothing,
        "No retests: neither rewrite nor reread",
        |to, _| {
            to.retests = false;
            to.say("No retest option selected");
            Ok(())
        },
    ),
    works(
        "+p",
        NUMBER,
        "Hundredths of the children that read in the mix (-i 8); otherwise they take turns",
        |to, text| {
            to.percent_read = Some(to.whole(text, 0..=100)? as u32);
            Ok(())
        },
    ),
    works(
        "+q",
        NUMBER,
        "Seconds to wait between two tests",
        |to, text| {
            to.pause_s = to.whole(text, 0..=86_400)?;
            Ok(())
        },
    ),
];

const FILES: &[IozoneOption] = &[
    works(
        "f",
        FILE,
        "File of the table's tests (iozone.tmp)",
        |to, text| {
            to.file = text.first().map(Into::into);
            Ok(())
        },
    ),
    works(
        "F",
        Several("files"),
        "Files of throughput mode, one a child (iozone.DUMMY.0 and so on)",
        |to, text| {
            to.files = text.iter().map(Into::into).collect();
            Ok(())
        },
    ),
    works("w", Nothing, "Files stay when all is done", |to, _| {
        to.keep_files = true;
        to.say("Setting no_unlink");
        Ok(())
    }),
    works(
        "+N",
        Nothing,
        "A file that is there is written over rather than emptied first",
        |to, _| {
            to.truncate = false;
            Ok(())
        },
    ),
    refused(
        "U",
        One("mount point"),
        "Unmounts and mounts between tests",
        "nothing is mounted by this front end",
        "use -I, so that no cache is in between, or run one test at a time with -w and unmount between them",
    ),
    refused(
        "X",
        FILE,
        "Writes at the places a file lists",
        "lists of places are not read in this form",
        "use hakaru fio --read_iolog=FILE",
    ),
    refused(
        "Y",
        FILE,
        "Reads at the places a file lists",
        "lists of places are not read in this form",
        "use hakaru fio --read_iolog=FILE",
    ),
    refused(
        "W",
        Nothing,
        "Locks files while they are read or written",
        "no file is shared between children, so a lock would only cost time",
        "leave it out",
    ),
];

const HOW: &[IozoneOption] = &[
    works(
        "I",
        Nothing,
        "Direct I/O, past the page cache (not with fwrite and fread)",
        |to, _| {
            to.direct = true;
            to.say("O_DIRECT feature enabled");
            Ok(())
        },
    ),
    works(
        "o",
        Nothing,
        "Each write is on the device when it returns (O_SYNC)",
        |to, _| {
            to.sync = true;
            to.say("SYNC Mode. ");
            Ok(())
        },
    ),
    works(
        "+r",
        Nothing,
        "Opens with O_RSYNC, which is O_SYNC on Linux",
        |to, _| {
            to.sync = true;
            Ok(())
        },
    ),
    works(
        "+D",
        Nothing,
        "The data of each write is on the device when it returns (O_DSYNC)",
        |to, _| {
            to.dsync = true;
            Ok(())
        },
    ),
    works(
        "e",
        Nothing,
        "The time of a flush at the end counts",
        |to, _| {
            to.flush = true;
            to.say("Include fsync in write timing");
            Ok(())
        },
    ),
    works(
        "c",
        Nothing,
        "The time of closing the file counts",
        |to, _| {
            to.close = true;
            to.say("Include close in write timing");
            Ok(())
        },
    ),
    works(
        "B",
        Nothing,
        "Through a mapping of the file (mmap); a new file is first written in full, because a mapping cannot make it longer",
        |to, _| {
            to.mmap = true;
            to.say("Using mmap files");
            Ok(())
        },
    ),
    works(
        "G",
        Nothing,
        "With -B: what was stored is flushed at the end of a test, and that time counts",
        |to, _| {
            to.map_flush = true;
            Ok(())
        },
    ),
    accepted(
        "D",
        Nothing,
        "With -B: asks for what was stored to be written",
        "MS_ASYNC does nothing on Linux; -G flushes",
    ),
    works(
        "H",
        NUMBER,
        "So many reads or writes in flight of each child, as POSIX asynchronous I/O does it",
        |to, text| {
            to.depth = Some(to.whole(text, 1..=32_768)? as u32);
            to.say(&format!("POSIX async I/O. Depth {}", text.concat()));
            Ok(())
        },
    ),
    works(
        "k",
        NUMBER,
        "The same; data is copied here with neither",
        |to, text| {
            to.depth = Some(to.whole(text, 1..=32_768)? as u32);
            to.say(&format!(
                "POSIX Async I/O (no bcopy). Depth {}",
                text.concat()
            ));
            Ok(())
        },
    ),
    refused(
        "J",
        One("ms"),
        "Computes before each I/O",
        "nothing is computed between I/Os",
        "use hakaru fio --thinktime",
    ),
    refused(
        "K",
        Nothing,
        "Some random I/O among sequential",
        "how much of it is not documented",
        "use hakaru fio --percentage_random",
    ),
    refused(
        "Q",
        Nothing,
        "Writes files of offsets and latencies",
        "they are not written in this form",
        "use hakaru fio --write_lat_log=PREFIX --log_offset=1",
    ),
    refused(
        "V",
        One("pattern"),
        "Checks what is read against a pattern",
        "figures are not valid then",
        "use hakaru fio --verify=pattern --verify_pattern=…",
    ),
    refused(
        "Z",
        Nothing,
        "Mixes a mapping with file I/O",
        "a test does one or the other",
        "use -B, or leave it out",
    ),
    accepted(
        "p",
        Nothing,
        "Empties the processor's cache before each test",
        "storage does not feel the processor's cache",
    ),
    accepted(
        "m",
        Nothing,
        "Several buffers in turn",
        "storage does not feel which buffer data comes from",
    ),
    accepted(
        "E",
        Nothing,
        "Tests beyond those of every system",
        "-i 9 to -i 12 run them, and Linux always has them",
    ),
    works(
        "S",
        One("kB"),
        "Size of the processor's cache, only to be printed",
        |to, text| {
            to.cache_kb = to.whole(text, 1..=1 << 30)?;
            Ok(())
        },
    ),
    works(
        "L",
        One("bytes"),
        "Length of a line of the processor's cache, only to be printed",
        |to, text| {
            to.line_bytes = to.whole(text, 1..=1 << 20)?;
            Ok(())
        },
    ),
];

const CHILDREN: &[IozoneOption] = &[
    works(
        "t",
        NUMBER,
        "Throughput mode with so many children, may be repeated",
        IozoneArgs::children,
    ),
    works(
        "l",
        NUMBER,
        "Throughput mode: fewest children",
        |to, text| {
            to.fewest = Some(to.whole(text, 1..=4096)? as u32);
            Ok(())
        },
    ),
    works("u", NUMBER, "Throughput mode: most children", |to, text| {
        to.most = Some(to.whole(text, 1..=4096)? as u32);
        Ok(())
    }),
    works(
        "T",
        Nothing,
        "Children are called threads; they always are",
        |to, _| {
            to.threads = true;
            Ok(())
        },
    ),
    works(
        "x",
        Nothing,
        "Each child goes to its end; otherwise the first to end ends the others",
        |to, _| {
            to.stonewall = false;
            to.say("Stonewall disabled");
            Ok(())
        },
    ),
    works(
        "d",
        One("µs"),
        "Time between the starts of two children",
        |to, text| {
            to.delay_us = to.whole(text, 0..=3_600_000_000)?;
            Ok(())
        },
    ),
    works(
        "P",
        NUMBER,
        "Each child on a processor of its own, from this one on",
        |to, text| {
            to.first_cpu = Some(to.whole(text, 0..=65_535)? as u32);
            Ok(())
        },
    ),
    works("C", Nothing, "Shows what each child moved", |to, _| {
        to.show_children = true;
        Ok(())
    }),
];

const OUTPUT: &[IozoneOption] = &[
    works(
        "R",
        Nothing,
        "Reports for spreadsheets at the end",
        |to, _| {
            to.excel = true;
            to.say("Excel chart generation enabled");
            Ok(())
        },
    ),
    works(
        "b",
        FILE,
        "Writes the reports as a workbook: .xls by that name, else .xlsx",
        |to, text| {
            to.workbook = text.first().map(Into::into);
            Ok(())
        },
    ),
    works("O", Nothing, "Operations per second", |to, _| {
        to.ops = true;
        to.say("OPS Mode. Output is in operations per second.");
        Ok(())
    }),
    works(
        "N",
        Nothing,
        "Microseconds per operation, in the table",
        |to, _| {
            to.micros = true;
            to.say("Microseconds/op Mode. Output is in microseconds per operation.");
            Ok(())
        },
    ),
    works(
        "+u",
        Nothing,
        "Processor time of each test, and its share of the parent's time",
        |to, _| {
            to.cpu_use = true;
            to.say("CPU utilization Resolution = 0.000 seconds.");
            to.say("CPU utilization Excel chart enabled");
            Ok(())
        },
    ),
    works("M", Nothing, "Prints what this host is", |to, _| {
        to.machine = true;
        Ok(())
    }),
    works("v", Nothing, "Prints the version", |to, _| {
        to.page = Some(super::request::IozoneInfoText::Version);
        Ok(())
    }),
    works("h", Nothing, "Prints this help", |to, _| {
        to.page = Some(super::request::IozoneInfoText::Help);
        Ok(())
    }),
];

const NO_CLUSTER: &str = "children run on this host only";
const PER_HOST: &str = "start it on each host, as by ssh";

const FOREIGN: &[IozoneOption] = &[
    refused(
        "+m",
        FILE,
        "Children on the hosts a file lists",
        NO_CLUSTER,
        PER_HOST,
    ),
    refused(
        "+h",
        One("host"),
        "Name of the host that leads",
        NO_CLUSTER,
        PER_HOST,
    ),
    refused(
        "+t",
        Nothing,
        "Measures the network to the children",
        NO_CLUSTER,
        "use iperf3",
    ),
    refused(
        "+d",
        Nothing,
        "Checks every byte",
        "figures are not valid then",
        "use hakaru fio --verify=crc32c",
    ),
    refused(
        "+l",
        Nothing,
        "Locks each record",
        "no file is shared between children",
        "leave it out",
    ),
    refused(
        "+L",
        Nothing,
        "Locks each record, shared file",
        "no file is shared between children",
        "leave it out",
    ),
    refused(
        "+A",
        One("0-4"),
        "Advice about a mapping (madvise)",
        "a mapping is told what the test does",
        "leave it out",
    ),
    refused(
        "+B",
        Nothing,
        "Sequential mix",
        "the mix here is random",
        "use hakaru fio --rw=rw",
    ),
    refused(
        "+T",
        Nothing,
        "Time stamps",
        "they are not written in this form",
        "use hakaru fio --write_bw_log=PREFIX",
    ),
    refused(
        "+w",
        One("percent"),
        "Part of the data that repeats",
        "data does not repeat here",
        "use hakaru fio --dedupe_percentage",
    ),
    refused(
        "+y",
        One("percent"),
        "Part of the data that repeats within a file",
        "data does not repeat here",
        "use hakaru fio --dedupe_percentage",
    ),
    refused(
        "+C",
        One("percent"),
        "Part of the data that repeats across files",
        "data does not repeat here",
        "use hakaru fio --dedupe_percentage",
    ),
    refused(
        "+S",
        NUMBER,
        "Seed of the data that repeats",
        "data does not repeat here",
        "leave it out",
    ),
    refused(
        "+z",
        Nothing,
        "Histogram of latencies",
        "it is not written in this form",
        "use hakaru fio --output-format=json+",
    ),
    refused(
        "+O",
        NUMBER,
        "Holds a rate of operations",
        "speed is not limited here",
        "use hakaru fio --rate_iops",
    ),
    refused(
        "+V",
        Nothing,
        "Shared file",
        "each child has a file of its own",
        "use hakaru fio --filename=FILE --numjobs=N",
    ),
    refused(
        "+x",
        NUMBER,
        "Factor between two sizes",
        "sizes double from one to the next",
        "list them with -s and -r",
    ),
];

/// All options, in the order they are explained.
pub fn all() -> impl Iterator<Item = &'static IozoneOption> {
    SECTIONS.iter().flat_map(|(_, rows)| rows.iter())
}

/// The option of this name.
pub fn find(name: &str) -> Option<&'static IozoneOption> {
    all().find(|opt| opt.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_stands_once_and_is_complete() {
        let mut seen = std::collections::HashSet::new();
        for opt in all() {
            assert!(seen.insert(opt.name), "-{} stands twice", opt.name);
            assert!(
                !opt.help.is_empty() && !opt.help.ends_with('.'),
                "-{}",
                opt.name
            );
            assert_eq!(
                opt.set.is_some(),
                opt.state == IozoneOptionState::Works,
                "-{}",
                opt.name
            );
            if let IozoneOptionState::Refused { reason, instead } = opt.state {
                assert!(
                    !reason.is_empty() && !instead.is_empty() && !instead.ends_with('.'),
                    "-{}",
                    opt.name
                );
            }
        }
        // Every letter of the manual's synopsis.
        for letter in "aAsrfiEpmMtholuvRxdFVjTCBDGIHkUSOLKNQPcebJXYwWzZngyq".chars() {
            assert!(find(&letter.to_string()).is_some(), "-{letter}");
        }
        for letter in "dumnNprtlLDAhTw".chars() {
            assert!(find(&format!("+{letter}")).is_some(), "-+{letter}");
        }
    }
}

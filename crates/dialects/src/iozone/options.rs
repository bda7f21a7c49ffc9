//! The option table of the iozone dialect: one row per option, with everything about it in one place.
//!
//! Parsing, `-h`, the manual page and the compatibility page are all generated from these rows. A known option is never
//! ignored silently.

use super::args::{AutoBound, IozoneArgs, IozoneInfoText};

/// Number of values an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OptionArity {
    /// No value.
    Nothing,
    /// One value, with its metavariable.
    One(&'static str),
    /// One or more values, up to the next option.
    Several(&'static str),
}

/// Whether an option is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IozoneOptionState {
    /// Same effect as in iozone.
    Works,
    /// No effect; a warning gives the reason.
    Accepted(&'static str),
    /// Rejected.
    Refused {
        /// The reason.
        reason: &'static str,
        /// What to use instead.
        instead: &'static str,
    },
}

/// Function that applies an option to the parsed arguments.
pub(super) type ArgSetter = fn(&mut IozoneArgs, &[String]) -> Result<(), String>;

/// One iozone option.
#[derive(Clone, Copy, Debug)]
pub(super) struct IozoneOption {
    /// Option letter, or `+` and a letter.
    pub name: &'static str,
    /// Number of values.
    pub takes: OptionArity,
    /// One-line description.
    pub help: &'static str,
    /// Whether the option is supported.
    pub state: IozoneOptionState,
    pub(super) set: Option<ArgSetter>,
}

const fn works(
    name: &'static str,
    takes: OptionArity,
    help: &'static str,
    set: ArgSetter,
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

/// All options by topic.
pub(super) const SECTIONS: &[(&str, &[IozoneOption])] = &[
    ("Tests", WHAT),
    ("Files", FILES),
    ("I/O", HOW),
    ("Children", CHILDREN),
    ("Output", OUTPUT),
    ("Cluster and other unsupported options", FOREIGN),
];

const WHAT: &[IozoneOption] = &[
    works(
        "i",
        NUMBER,
        "Test to run (repeatable): 0 write, 1 read, 2 random, 3 backward, 4 record rewrite, 5 \
        stride, 6 fwrite, 7 fread, 8 mix, 9 pwrite, 10 pread, 11 pwritev, 12 preadv",
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
        "Auto mode with small records for large files, like -a -z",
        |to, _| {
            to.auto();
            to.all_records = true;
            Ok(())
        },
    ),
    works(
        "z",
        Nothing,
        "With -a: use small records for large files",
        |to, _| {
            to.all_records = true;
            Ok(())
        },
    ),
    works("s", KB, "File size (repeatable)", |to, text| to.size(text)),
    works("r", KB, "Record size (repeatable)", |to, text| {
        to.record(text)
    }),
    works("n", KB, "Smallest file size of auto mode", |to, text| {
        to.bound(text, AutoBound::FileMin)
    }),
    works("g", KB, "Largest file size of auto mode", |to, text| {
        to.bound(text, AutoBound::FileMax)
    }),
    works("y", KB, "Smallest record size of auto mode", |to, text| {
        to.bound(text, AutoBound::RecordMin)
    }),
    works("q", KB, "Largest record size of auto mode", |to, text| {
        to.bound(text, AutoBound::RecordMax)
    }),
    works(
        "j",
        NUMBER,
        "Stride of the stride test in records [default: 17]",
        |to, text| {
            to.stride = Some(to.whole(text, 1..=1 << 20)?);
            Ok(())
        },
    ),
    works(
        "+n",
        Nothing,
        "No retests (no rewrite and no reread)",
        |to, _| {
            to.no_retests = true;
            to.say("No retest option selected");
            Ok(())
        },
    ),
    works(
        "+p",
        NUMBER,
        "Percentage of children that read in the mixed test (-i 8) [default: alternating]",
        |to, text| {
            to.percent_read = Some(to.whole(text, 0..=100)? as u32);
            Ok(())
        },
    ),
    works("+q", NUMBER, "Seconds to wait between tests", |to, text| {
        to.pause_s = to.whole(text, 0..=86_400)?;
        Ok(())
    }),
];

const FILES: &[IozoneOption] = &[
    works("f", FILE, "Test file [default: iozone.tmp]", |to, text| {
        to.file = text.first().map(Into::into);
        Ok(())
    }),
    works(
        "F",
        Several("files"),
        "Files of throughput mode, one per child [default: iozone.DUMMY.0 and so on]",
        |to, text| {
            to.files = text.iter().map(Into::into).collect();
            Ok(())
        },
    ),
    works("w", Nothing, "Keep the test files", |to, _| {
        to.keep_files = true;
        to.say("Setting no_unlink");
        Ok(())
    }),
    works(
        "+N",
        Nothing,
        "Overwrite existing files without truncating them first",
        |to, _| {
            to.keep_contents = true;
            Ok(())
        },
    ),
    refused(
        "U",
        One("mount point"),
        "Unmount and mount between tests",
        "mounting is not supported",
        "use -I to bypass the cache, or run single tests with -w and remount between them",
    ),
    refused(
        "X",
        FILE,
        "Write at the offsets listed in a file",
        "offset lists in this format are not supported",
        "use hakaru fio --read_iolog=FILE",
    ),
    refused(
        "Y",
        FILE,
        "Read at the offsets listed in a file",
        "offset lists in this format are not supported",
        "use hakaru fio --read_iolog=FILE",
    ),
    refused(
        "W",
        Nothing,
        "Lock files during I/O",
        "children share no files, so a lock would only cost time",
        "omit it",
    ),
];

const HOW: &[IozoneOption] = &[
    works(
        "I",
        Nothing,
        "Direct I/O, bypassing the page cache (not for fwrite and fread)",
        |to, _| {
            to.direct = true;
            to.say("O_DIRECT feature enabled");
            Ok(())
        },
    ),
    works("o", Nothing, "Synchronous writes (O_SYNC)", |to, _| {
        to.sync = true;
        to.say("SYNC Mode. ");
        Ok(())
    }),
    works(
        "+r",
        Nothing,
        "Open with O_RSYNC, which is O_SYNC on Linux",
        |to, _| {
            to.sync = true;
            Ok(())
        },
    ),
    works(
        "+D",
        Nothing,
        "Synchronous data writes (O_DSYNC)",
        |to, _| {
            to.dsync = true;
            Ok(())
        },
    ),
    works(
        "e",
        Nothing,
        "Include fsync in the measured time",
        |to, _| {
            to.flush = true;
            to.say("Include fsync in write timing");
            Ok(())
        },
    ),
    works(
        "c",
        Nothing,
        "Include close in the measured time",
        |to, _| {
            to.close = true;
            to.say("Include close in write timing");
            Ok(())
        },
    ),
    works(
        "B",
        Nothing,
        "Use mmap; a new file is written completely first, because a mapping cannot extend it",
        |to, _| {
            to.mmap = true;
            to.say("Using mmap files");
            Ok(())
        },
    ),
    works(
        "G",
        Nothing,
        "With -B: flush with msync at the end of a test, included in the measured time",
        |to, _| {
            to.map_flush = true;
            Ok(())
        },
    ),
    accepted(
        "D",
        Nothing,
        "With -B: start an asynchronous msync",
        "MS_ASYNC does nothing on Linux; -G flushes",
    ),
    works(
        "H",
        NUMBER,
        "Number of asynchronous I/Os in flight per child (POSIX AIO)",
        |to, text| {
            to.depth = Some(to.whole(text, 1..=32_768)? as u32);
            to.say(&format!("POSIX async I/O. Depth {}", text.concat()));
            Ok(())
        },
    ),
    works(
        "k",
        NUMBER,
        "Like -H (neither option copies data here)",
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
        "Compute before each I/O",
        "computation between I/Os is not supported",
        "use hakaru fio --thinktime",
    ),
    refused(
        "K",
        Nothing,
        "Mix random I/O into sequential I/O",
        "the amount is not documented",
        "use hakaru fio --percentage_random",
    ),
    refused(
        "Q",
        Nothing,
        "Write files with offsets and latencies",
        "this format is not supported",
        "use hakaru fio --write_lat_log=PREFIX --log_offset=1",
    ),
    refused(
        "V",
        One("pattern"),
        "Verify read data against a pattern",
        "results would not be valid",
        "use hakaru fio --verify=pattern --verify_pattern=…",
    ),
    refused(
        "Z",
        Nothing,
        "Mix mmap with file I/O",
        "a test uses one or the other",
        "use -B, or omit it",
    ),
    accepted(
        "p",
        Nothing,
        "Purge the CPU cache before each test",
        "the CPU cache does not affect storage",
    ),
    accepted(
        "m",
        Nothing,
        "Use several buffers in turn",
        "the buffer does not affect storage",
    ),
    accepted(
        "E",
        Nothing,
        "Also run system-specific tests",
        "use -i 9 to -i 12, which Linux always supports",
    ),
    works(
        "S",
        One("kB"),
        "CPU cache size (only printed)",
        |to, text| {
            to.cache_kb = Some(to.whole(text, 1..=1 << 30)?);
            Ok(())
        },
    ),
    works(
        "L",
        One("bytes"),
        "CPU cache line size (only printed)",
        |to, text| {
            to.line_bytes = Some(to.whole(text, 1..=1 << 20)?);
            Ok(())
        },
    ),
];

const CHILDREN: &[IozoneOption] = &[
    works(
        "t",
        NUMBER,
        "Throughput mode with N children (repeatable)",
        IozoneArgs::children,
    ),
    works(
        "l",
        NUMBER,
        "Throughput mode: minimum number of children",
        |to, text| {
            to.fewest = Some(to.whole(text, 1..=4096)? as u32);
            Ok(())
        },
    ),
    works(
        "u",
        NUMBER,
        "Throughput mode: maximum number of children",
        |to, text| {
            to.most = Some(to.whole(text, 1..=4096)? as u32);
            Ok(())
        },
    ),
    works(
        "T",
        Nothing,
        "Call children threads (they always are threads)",
        |to, _| {
            to.threads = true;
            Ok(())
        },
    ),
    works(
        "x",
        Nothing,
        "Let every child finish; by default the first to finish ends the others",
        |to, _| {
            to.no_stonewall = true;
            to.say("Stonewall disabled");
            Ok(())
        },
    ),
    works(
        "d",
        One("µs"),
        "Delay between the starts of children",
        |to, text| {
            to.delay_us = to.whole(text, 0..=3_600_000_000)?;
            Ok(())
        },
    ),
    works(
        "P",
        NUMBER,
        "Bind each child to its own CPU, starting with this one",
        |to, text| {
            to.first_cpu = Some(to.whole(text, 0..=65_535)? as u32);
            Ok(())
        },
    ),
    works(
        "C",
        Nothing,
        "Show the transfer count of each child",
        |to, _| {
            to.show_children = true;
            Ok(())
        },
    ),
];

const OUTPUT: &[IozoneOption] = &[
    works(
        "R",
        Nothing,
        "Print spreadsheet reports at the end",
        |to, _| {
            to.excel = true;
            to.say("Excel chart generation enabled");
            Ok(())
        },
    ),
    works(
        "b",
        FILE,
        "Write the reports as a workbook: .xls if so named, otherwise .xlsx",
        |to, text| {
            to.workbook = text.first().map(Into::into);
            Ok(())
        },
    ),
    works("O", Nothing, "Report operations per second", |to, _| {
        to.ops = true;
        to.say("OPS Mode. Output is in operations per second.");
        Ok(())
    }),
    works(
        "N",
        Nothing,
        "Report microseconds per operation in the table",
        |to, _| {
            to.micros = true;
            to.say("Microseconds/op Mode. Output is in microseconds per operation.");
            Ok(())
        },
    ),
    works(
        "+u",
        Nothing,
        "Report the CPU time and utilization of each test",
        |to, _| {
            to.cpu_use = true;
            to.say("CPU utilization Resolution = 0.000 seconds.");
            to.say("CPU utilization Excel chart enabled");
            Ok(())
        },
    ),
    works("M", Nothing, "Print information about the host", |to, _| {
        to.machine = true;
        Ok(())
    }),
    works("v", Nothing, "Print the version", |to, _| {
        to.page = Some(IozoneInfoText::Version);
        Ok(())
    }),
    works("h", Nothing, "Print this help", |to, _| {
        to.page = Some(IozoneInfoText::Help);
        Ok(())
    }),
];

const NO_CLUSTER: &str = "children run only on this host";
const PER_HOST: &str = "start it on each host, for example with ssh";

const FOREIGN: &[IozoneOption] = &[
    refused(
        "+m",
        FILE,
        "Run children on the hosts listed in a file",
        NO_CLUSTER,
        PER_HOST,
    ),
    refused(
        "+h",
        One("host"),
        "Name of the controlling host",
        NO_CLUSTER,
        PER_HOST,
    ),
    refused(
        "+t",
        Nothing,
        "Measure the network to the children",
        NO_CLUSTER,
        "use iperf3",
    ),
    refused(
        "+d",
        Nothing,
        "Verify every byte",
        "results would not be valid",
        "use hakaru fio --verify=crc32c",
    ),
    refused(
        "+l",
        Nothing,
        "Lock each record",
        "children share no files",
        "omit it",
    ),
    refused(
        "+L",
        Nothing,
        "Lock each record of a shared file",
        "children share no files",
        "omit it",
    ),
    refused(
        "+A",
        One("0-4"),
        "Advice for a mapping (madvise)",
        "the matching advice is always given",
        "omit it",
    ),
    refused(
        "+B",
        Nothing,
        "Use sequential I/O in the mixed test",
        "the mixed test is always random",
        "use hakaru fio --rw=rw",
    ),
    refused(
        "+T",
        Nothing,
        "Log timestamps",
        "this format is not supported",
        "use hakaru fio --write_bw_log=PREFIX",
    ),
    refused(
        "+w",
        One("percent"),
        "Percentage of data to dedupe",
        "dedupable data is not supported",
        "use hakaru fio --dedupe_percentage",
    ),
    refused(
        "+y",
        One("percent"),
        "Percentage of data to dedupe within a file",
        "dedupable data is not supported",
        "use hakaru fio --dedupe_percentage",
    ),
    refused(
        "+C",
        One("percent"),
        "Percentage of data to dedupe across files",
        "dedupable data is not supported",
        "use hakaru fio --dedupe_percentage",
    ),
    refused(
        "+S",
        NUMBER,
        "Seed of the dedupable data",
        "dedupable data is not supported",
        "omit it",
    ),
    refused(
        "+z",
        Nothing,
        "Write a latency histogram",
        "this format is not supported",
        "use hakaru fio --output-format=json+",
    ),
    refused(
        "+O",
        NUMBER,
        "Limit the rate of operations",
        "rate limits are not supported",
        "use hakaru fio --rate_iops",
    ),
    refused(
        "+V",
        Nothing,
        "Share one file among the children",
        "each child has its own file",
        "use hakaru fio --filename=FILE --numjobs=N",
    ),
    refused(
        "+x",
        NUMBER,
        "Factor between sizes",
        "sizes always double",
        "list them with -s and -r",
    ),
];

/// All options, in the order of the documentation.
pub(super) fn all() -> impl Iterator<Item = &'static IozoneOption> {
    SECTIONS.iter().flat_map(|(_, rows)| rows.iter())
}

/// Returns the option with this name.
pub(super) fn find(name: &str) -> Option<&'static IozoneOption> {
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
    }

    /// All letters in the synopsis of the manual.
    #[test]
    fn each_letter_of_the_manual_is_known() {
        for letter in "aAsrfiEpmMtholuvRxdFVjTCBDGIHkUSOLKNQPcebJXYwWzZngyq".chars() {
            assert!(find(&letter.to_string()).is_some(), "-{letter}");
        }
        for letter in "dumnNprtlLDAhTw".chars() {
            assert!(find(&format!("+{letter}")).is_some(), "-+{letter}");
        }
    }
}

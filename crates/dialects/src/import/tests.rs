//! Tests of the whole import, from text to runs.

use super::{FoundRun, ImportResult, ImportedRun, SourceText, fio, import};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::BlockSize;
use hakaru_model::reported::JobProperty::{self, Direct, Engine, Operation, Order, QueueDepth};
use hakaru_model::reported::Percentile;
use hakaru_model::units::Bytes;

/// Published results of fio 3.12 to 3.39.
const LOGS: [(&str, &str); 14] = [
    (
        "f2fs-blog-ext4-1.txt",
        include_str!("../../tests/logs/f2fs-blog-ext4-1.txt"),
    ),
    (
        "f2fs-blog-ext4-2.txt",
        include_str!("../../tests/logs/f2fs-blog-ext4-2.txt"),
    ),
    (
        "f2fs-blog-f2fs-1.txt",
        include_str!("../../tests/logs/f2fs-blog-f2fs-1.txt"),
    ),
    (
        "f2fs-blog-f2fs-2.txt",
        include_str!("../../tests/logs/f2fs-blog-f2fs-2.txt"),
    ),
    (
        "pi5-1-seqrw-microsd.txt",
        include_str!("../../tests/logs/pi5-1-seqrw-microsd.txt"),
    ),
    (
        "pi5-1-seqrw-ssd.txt",
        include_str!("../../tests/logs/pi5-1-seqrw-ssd.txt"),
    ),
    (
        "pi5-2-randread-microsd.txt",
        include_str!("../../tests/logs/pi5-2-randread-microsd.txt"),
    ),
    (
        "pi5-2-randread-ssd.txt",
        include_str!("../../tests/logs/pi5-2-randread-ssd.txt"),
    ),
    (
        "pi5-3-fsync-microsd.txt",
        include_str!("../../tests/logs/pi5-3-fsync-microsd.txt"),
    ),
    (
        "pi5-3-fsync-ssd.txt",
        include_str!("../../tests/logs/pi5-3-fsync-ssd.txt"),
    ),
    (
        "pi5-4-sustain-microsd.txt",
        include_str!("../../tests/logs/pi5-4-sustain-microsd.txt"),
    ),
    (
        "pi5-4-sustain-ssd.txt",
        include_str!("../../tests/logs/pi5-4-sustain-ssd.txt"),
    ),
    (
        "sdio-1bit.txt",
        include_str!("../../tests/logs/sdio-1bit.txt"),
    ),
    (
        "sdio-4bit.txt",
        include_str!("../../tests/logs/sdio-4bit.txt"),
    ),
];

fn read(name: &str, text: &str) -> ImportResult {
    import(&[SourceText { name, text }])
}

fn only(name: &str, text: &str) -> ImportedRun {
    let mut found = read(name, text);
    assert_eq!(found.runs.len(), 1, "{name}: {:?}", found.unread);
    found.runs.remove(0).run
}

/// Non-empty lines with all blanks removed.
fn squeezed(text: &str) -> Vec<String> {
    let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join("");
    text.lines()
        .map(line)
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn published_logs_are_printed_back_line_by_line() {
    for (name, text) in LOGS {
        let run = only(name, text);
        assert_eq!(run.unread, [], "{name}");
        let start = text
            .lines()
            .position(|line| line.contains(": (g=0)"))
            .unwrap();
        let theirs: Vec<&str> = text.lines().skip(start).collect();
        let ours = fio::print(&run.reported, &run.program);
        assert_eq!(squeezed(&ours), squeezed(&theirs.join("\n")), "{name}");
        if !name.starts_with("f2fs") {
            // These logs kept their blanks; only trailing blanks are ignored.
            let exact = |text: &str| {
                text.lines()
                    .map(str::trim_end)
                    .filter(|l| !l.is_empty())
                    .collect::<Vec<_>>()
                    .join("\n")
            };
            assert_eq!(exact(&ours), exact(&theirs.join("\n")), "{name}");
        }
    }
}

/// A percentile in ns.
fn value_at(percentiles: &[Percentile], percent: f64) -> Option<u64> {
    let mut percentiles = percentiles.iter();
    let found = percentiles.find(|p| p.share.percent() == percent);
    found.map(|p| p.value.0)
}

/// Latency, percentiles and rates of each active operation, one line each.
fn summary(run: &ImportedRun) -> String {
    let mut text = String::new();
    for (p, phase) in run.phases.iter().enumerate() {
        for (w, worker) in phase.workers.iter().enumerate() {
            let more = run.reported.worker(p, w).unwrap();
            for (op, done) in worker.ops.iter().filter(|(_, done)| done.ios > 0) {
                let clat = &done.clat.stat;
                let percentiles = &more.ops[op].clat;
                text += &format!(
                    "{} {}: {} I/Os, {} bytes in {} ms by {}; clat {} {} {:.0} {:.0}; P99 {:?}; bw n={} {:.0}; sync n={} {:?}\n",
                    phase.name,
                    op.name(),
                    done.ios,
                    done.bytes,
                    worker.runtime.as_millis(),
                    more.members,
                    clat.min,
                    clat.max,
                    clat.mean().unwrap_or(0.0),
                    clat.deviation().unwrap_or(0.0),
                    value_at(percentiles, 99.0),
                    done.bw_samples.count,
                    done.bw_samples.mean().unwrap_or(0.0),
                    worker.sync.stat.count,
                    value_at(&more.sync, 99.9)
                );
            }
        }
    }
    text
}

#[test]
fn published_logs_become_records() {
    let mut text = String::new();
    for (name, log) in LOGS {
        let run = only(name, log);
        text += &summary(&run);
        let job = &run.scenario.phases[0].jobs[0];
        assert!(
            job.files.direct && run.path.is_some() && run.started_unix_ms.is_some(),
            "{name}"
        );
        assert!(
            run.phases[0]
                .workers
                .iter()
                .all(|w| w.ops.iter().all(|(_, op)| op.clat.histogram.is_none()))
        );
        let expected = if name.starts_with("pi5-4") { 1 } else { 0 };
        assert_eq!(run.caveats.len(), expected, "{name}: {:?}", run.caveats);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn results_are_found_wherever_they_were_pasted() {
    let quoted: String = LOGS[12]
        .1
        .lines()
        .map(|line| format!("> {line}\n"))
        .collect();
    let indented: String = LOGS[8]
        .1
        .lines()
        .map(|line| format!("    {line}\n"))
        .collect();
    let text = format!(
        "# A comparison\n\nI ran it like this, see below.\n\n{quoted}\n> Nice, mine says:\n\n```\n{}```\n\nand\n\n{indented}\nBest regards\n",
        LOGS[13].1
    );
    let found = read("mail.md", &text);
    assert_eq!(
        (found.runs.len(), found.unread.len(), found.other_lines[0]),
        (3, 0, 5)
    );
    let alone = [12, 13, 8].map(|i| only("x", LOGS[i].1));
    for (here, alone) in found.runs.iter().zip(&alone) {
        assert_eq!(here.run.phases, alone.phases);
        assert_eq!(here.run.reported, alone.reported);
        assert_eq!(here.run.scenario, alone.scenario);
    }
}

#[test]
fn a_log_that_is_cut_says_what_is_missing() {
    for (name, log) in LOGS {
        let lines: Vec<&str> = log.lines().collect();
        let is_result = |line: &&str| line.contains("(groupid=");
        let results = lines.iter().position(is_result).unwrap();
        for end in 0..lines.len() {
            let cut = lines[..end].join("\n");
            let found = read(name, &cut);
            match found.runs.as_slice() {
                [] => assert!(end <= results, "{name} cut at {end}"),
                [one] => {
                    let complete = cut.contains("Run status") && cut.contains("run=");
                    let is_cut = |c: &Caveat| matches!(c, Caveat::CutOff { .. });
                    let caveats = &one.run.caveats;
                    let marked = caveats.iter().any(is_cut);
                    assert_eq!(marked, !complete, "{name} cut at {end}: {caveats:?}");
                }
                many => panic!("{name} cut at {end}: {} runs", many.len()),
            }
        }
        let bytes = log.len() / 2;
        let end = (bytes..).find(|&at| log.is_char_boundary(at)).unwrap();
        let _ = read(name, &log[..end]);
    }
}

#[test]
fn results_alone_are_enough() {
    let log = LOGS[8].1;
    let start = log.find("fsync: (groupid=").unwrap();
    let run = only("x", &log[start..]);
    let whole = only("x", log);
    assert_eq!(run.phases[0].workers[0].ops, whole.phases[0].workers[0].ops);
    assert_eq!(run.scenario.phases[0].jobs[0].durability.fsync_every, 1);
    assert!(
        run.caveats
            .iter()
            .any(|c| matches!(c, Caveat::Unstated { .. })),
        "{:?}",
        run.caveats
    );
}

#[test]
fn a_command_that_is_not_theirs_is_not_believed() {
    let log = LOGS[8].1;
    let start = log.find("fsync: (g=0)").unwrap();
    for command in [
        "$ fio --name=other --rw=write --bs=4k --size=1M",
        "$ fio --name=fsync --rw=randread --bs=4k",
        "$ fio --name=fsync --rw=write --bs=1M",
        "$ fio test.fio",
    ] {
        let run = only("x", &format!("{command}\n{}", &log[start..]));
        assert!(
            run.unread.iter().any(|u| u.why.contains("command line")),
            "{command}: {:?}",
            run.unread
        );
        assert!(run.path.is_none());
    }
}

#[test]
fn damaged_numbers_are_skipped_with_a_caveat() {
    let log = LOGS[12]
        .1
        .replace("avg=", "avg=nan, x=")
        .replace("stdev=", "stdev=-");
    let run = only("x", &log);
    let counted = run
        .caveats
        .iter()
        .any(|c| matches!(c, Caveat::Unread { count, .. } if *count > 0));
    assert!(counted, "{:?}", run.caveats);
    assert_eq!(run.phases[0].workers[0].ops.write.clat.stat.count, 0);
    let huge = LOGS[12]
        .1
        .replace("1024MiB", "99999999999999999999999MiB")
        .replace("262144", "18446744073709551615");
    let _ = only("x", &huge);
    let wrong = LOGS[12]
        .1
        .replace("1626KiB/s (1665kB/s)", "1626MiB/s (1705MB/s)");
    let run = only("x", &wrong);
    assert!(
        run.caveats
            .iter()
            .any(|c| matches!(c, Caveat::Contradiction { hint, .. } if hint.contains("prefix"))),
        "{:?}",
        run.caveats
    );
}

#[test]
fn the_comma_of_a_locale_is_a_point() {
    let comma = |log: &str| {
        let mut out = String::new();
        let chars: Vec<char> = log.chars().collect();
        for (i, &c) in chars.iter().enumerate() {
            let digit = |at: Option<&char>| at.is_some_and(char::is_ascii_digit);
            let point = c == '.' && i > 0 && digit(chars.get(i - 1)) && digit(chars.get(i + 1));
            out.push(if point { ',' } else { c });
        }
        out
    };
    let (log, whole) = (
        comma(LOGS[8].1).replace("fio-3,39", "fio-3.39"),
        only("x", LOGS[8].1),
    );
    let start = log.find("fsync: (g=0)").unwrap();
    let run = only("x", &log[start..]);
    assert_eq!(run.phases[0].workers[0].ops, whole.phases[0].workers[0].ops);
    assert!(
        run.unread.iter().any(|u| u.why.contains("comma")),
        "{:?}",
        run.unread
    );
}

/// Two runs of fio 2.x, as printed.
const OLD: &str = include_str!("../../tests/logs/old-2x.txt");

#[test]
fn versions_before_3_have_their_own_words() {
    let found = read("old", OLD);
    assert_eq!(found.unread, []);
    let text: String = found
        .runs
        .iter()
        .map(|found| format!("{}\n{}", found.run.program, summary(&found.run)))
        .collect();
    for found in &found.runs {
        assert_eq!(found.run.unread, [], "{}", found.run.program);
        let contradiction = found
            .run
            .caveats
            .iter()
            .any(|c| matches!(c, Caveat::Contradiction { .. }));
        assert!(!contradiction, "{:?}", found.run.caveats);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn states_in_between_are_not_runs() {
    let (head, results) = LOGS[12].1.split_once("\nfile1: (groupid").unwrap();
    let state = |mib: u32| {
        let results = format!("file1: (groupid{results}");
        results.replace("(1024MiB/", &format!("({mib}MiB/"))
    };
    let text = format!("{head}\n{}\n{}\n{}", state(300), state(700), state(1024));
    let run = only("status-interval.txt", &text);
    assert_eq!(run.reported, only("sdio-1bit.txt", LOGS[12].1).reported);
    assert_eq!(
        (run.path, run.unread.len()),
        (Some("/mnt/sdcard/test1g".into()), 1)
    );
    // A different process ID is a different run.
    let other = format!("{text}\n{}", state(1024).replace("pid=", "pid=9"));
    assert_eq!(read("two.txt", &other).runs.len(), 2);
}

/// A terse line of version 3 with `kib` KiB read in `msec` ms.
fn terse(name: &str, kib: u64, msec: u64) -> String {
    format!(
        "3;fio-3.39;{name};0;0;{kib};{};{};{msec};0;0;0;0;1;2;1.5;0.5\n",
        kib * 1000 / msec,
        kib * 250 / msec
    )
}

/// Bytes and runtime in ms of each worker of each run.
fn read_by(text: &str) -> Vec<Vec<(u64, u64)>> {
    let of = |run: &ImportedRun| {
        let workers = run.phases.iter().flat_map(|phase| &phase.workers);
        workers
            .map(|worker| (worker.ops.read.bytes >> 10, worker.runtime.as_millis()))
            .collect()
    };
    read("out.txt", text)
        .runs
        .iter()
        .map(|found| of(&found.run))
        .collect()
}

/// Regression: three runs that a loop appended to one file became one run of three workers, three times as fast.
#[test]
fn terse_lines_of_a_loop_are_no_clones() {
    let lines = [
        terse("a", 400, 1000),
        terse("a", 300, 1000),
        terse("a", 500, 1000),
    ]
    .concat();
    let command = "$ fio --minimal --name=a --ioengine=null --size=1m --rw=read";
    let apart = [[(400, 1000)], [(300, 1000)], [(500, 1000)]];
    assert_eq!(read_by(&format!("{command}\n{lines}")), apart);
    assert_eq!(
        read_by(&format!("{command} --numjobs=3 --group_reporting\n{lines}")),
        apart
    );
    let clones = [vec![(400, 1000), (300, 1000), (500, 1000)]];
    assert_eq!(read_by(&format!("{command} --numjobs=3\n{lines}")), clones);
    assert_eq!(
        read_by(&format!("{command} --numjobs=3\n{lines}{lines}")).len(),
        2
    );
    // Without a command this is ambiguous, and a note says so.
    assert_eq!(read_by(&lines), clones);
    let unclear = |text: &str| {
        only("x", text)
            .caveats
            .iter()
            .any(|c| format!("{c:?}").contains("clones or consecutive runs"))
    };
    assert!(unclear(&lines) && !unclear(&[terse("a", 400, 1000), terse("b", 300, 1000)].concat()));
}

#[test]
fn terse_states_in_between_are_not_added_up() {
    let states = [
        terse("a", 360, 890),
        terse("a", 760, 1890),
        terse("a", 1160, 2891),
        terse("a", 1164, 2901),
    ]
    .concat();
    let command =
        "$ fio --minimal --name=a --ioengine=null --size=1m --rw=read --status-interval=1";
    for text in [states.clone(), format!("{command}\n{states}")] {
        assert_eq!(read_by(&text), [[(1164, 2901)]], "{text}");
        assert_eq!(only("x", &text).unread.len(), 1);
    }
    let twice = format!("{command}\n{states}{states}");
    assert_eq!(read_by(&twice), [[(1164, 2901)], [(1164, 2901)]]);
}

/// fio's JSON at one point in time; only version 3.39 includes job start times.
fn json_state(version: &str, shown: u64, began: Option<u64>, kib: u64, msec: u64) -> String {
    let began = began
        .map(|ms| format!("\"job_start\" : {ms},"))
        .unwrap_or_default();
    format!(
        "{{\n\"fio version\" : \"{version}\",\n\"timestamp_ms\" : {shown},\n\"jobs\" : [ {{ \"jobname\" : \"a\", \"groupid\" : 0, \
         {began} \"elapsed\" : {}, \"read\" : {{ \"io_bytes\" : {}, \"bw_bytes\" : 9, \"runtime\" : {msec} }} }} ]\n}}\n",
        msec.div_ceil(1000),
        kib << 10
    )
}

#[test]
fn json_states_in_between_are_not_runs() {
    for (version, first, second) in [
        ("fio-3.39", Some(1_000_000), Some(1_009_000)),
        ("fio-3.33", None, None),
    ] {
        let state =
            |shown: u64, began, kib, msec| json_state(version, 1_000_000 + shown, began, kib, msec);
        let one = [
            state(890, first, 360, 890),
            state(1893, first, 760, 1891),
            state(2004, first, 800, 2001),
        ]
        .concat();
        assert_eq!(read_by(&one), [[(800, 2001)]], "{version}");
        assert_eq!(only("x", &one).unread.len(), 1);
        let other = [
            state(9890, second, 360, 890),
            state(11_004, second, 800, 2001),
        ]
        .concat();
        assert_eq!(
            read_by(&(one.clone() + &other)),
            [[(800, 2001)], [(800, 2001)]],
            "{version}"
        );
    }
}

#[test]
fn thousands_of_json_results_are_read_in_one_go() {
    let text: String = (0..3000)
        .map(|n| json_state("fio-3.39", n * 9000, Some(n * 9000 + 1), 4, 1000))
        .collect();
    assert_eq!(read("all.json", &text).runs.len(), 3000);
}

#[test]
fn histogram_logs_are_reported_as_unread() {
    let found = read(
        "x_clat_hist.1.log",
        "1000, 0, 4096, 0, 0, 7, 0\n2000, 0, 4096, 0, 1, 7, 0\n",
    );
    assert!(
        found.runs.is_empty() && found.unread[0].1.why.contains("histogram"),
        "{found:?}"
    );
}

#[test]
fn thousands_of_lines_of_progress_are_one_result() {
    let line = |n: u64| {
        format!(
            "{} bytes (1 GB, 1 GiB) copied, {n} s, 1.0 MB/s",
            n * 1_000_000
        )
    };
    let lines: Vec<String> = (1..20_000).map(line).collect();
    let results = lines.join("\r");
    let run = only(
        "progress.txt",
        &format!(
            "{results}\n9+0 records in\n9+0 records out\n{}\n",
            line(30_000)
        ),
    );
    assert_eq!(run.phases[0].workers[0].ops.write.bytes, 30_000_000_000);
    // Without the closing record counts they are separate results, one after another.
    assert_eq!(
        read("results.txt", &lines[..100].join("\n")).runs.len(),
        100
    );
}

/// A report of fio 2.x with the given figures and no header.
fn report_2x(figures: &str, more: &str) -> String {
    format!(
        "seq: (groupid=0, jobs=1): err= 0: pid=2104: Sun Aug 23 18:02:11 2015\n  read : {figures}\n{more}"
    )
}

/// MB/s and IOPS of the first worker, each rounded.
fn speed(run: &ImportedRun) -> (u64, u64) {
    let worker = &run.phases[0].workers[0];
    let seconds = worker.runtime.as_secs_f64();
    let rate = |amount: u64, unit: f64| (amount as f64 / seconds / unit).round() as u64;
    (
        rate(worker.ops.read.bytes, 1e6),
        rate(worker.ops.read.ios, 1.0),
    )
}

fn contradicts(run: &ImportedRun) -> bool {
    run.caveats
        .iter()
        .any(|caveat| matches!(caveat, Caveat::Contradiction { .. }))
}

/// Regression: `MB` of fio 2.x was read as 10^6 bytes, which gave 6601 IOPS instead of 6918 and a false contradiction.
#[test]
fn sizes_of_fio_2_are_multiples_of_1024() {
    for (figures, expected) in [
        (
            "io=1024.0MB, bw=6918.1MB/s, iops=6918, runt=   148msec",
            (7255, 6919),
        ),
        (
            "io=7133.2GB, bw=12174MB/s, iops=12173, runt=600001msec",
            (12765, 12174),
        ),
        (
            "io=1024.0MB, bw=34136KB/s, iops=8533, runt= 30718msec",
            (35, 8534),
        ),
        // With kb_base=1000, only multiples of 1000 match bytes and time.
        (
            "io=1073.8MB, bw=34955KB/s, iops=8533, runt= 30718msec",
            (35, 8534),
        ),
    ] {
        let run = only("x", &report_2x(figures, ""));
        assert_eq!(speed(&run), expected, "{figures}");
        assert!(!contradicts(&run), "{figures}: {:?}", run.caveats);
    }
}

/// A number as printed before version 2.18: at least four digits, with the prefix that leaves at most five.
fn printed_2x(value: f64, base: f64) -> String {
    let (mut value, mut prefix) = (value, 0);
    while value >= 10_000.0 && prefix < 4 {
        (value, prefix) = (value / base, prefix + 1);
    }
    let unit = ["", "K", "M", "G", "T"][prefix];
    if value < 1000.0 || prefix > 0 && value.fract() > 0.0 {
        format!("{value:.1}{unit}B")
    } else {
        format!("{value:.0}{unit}B")
    }
}

#[test]
fn the_base_of_fio_2_units_follows_from_its_figures() {
    for block in [4096u64, 65_536, 1 << 20] {
        for ios in [1000u64, 4321, 262_144, 7_654_321] {
            for ms in [148u64, 5003, 600_001] {
                for base in [1024.0, 1000.0] {
                    let bytes = (block * ios) as f64;
                    let (io, bw) = (
                        printed_2x(bytes, base),
                        printed_2x(bytes * 1e3 / ms as f64, base),
                    );
                    let issued =
                        format!("     issued    : total=r={ios}/w=0/d=0, short=r=0/w=0/d=0\n");
                    let figures = format!(
                        "io={io}, bw={bw}/s, iops={}, runt={ms}msec",
                        ios * 1000 / ms
                    );
                    let run = only("x", &report_2x(&figures, &issued));
                    let read = run.phases[0].workers[0].ops.read.bytes as f64;
                    assert!(
                        (read / bytes - 1.0).abs() < 2e-3,
                        "{figures}: {read} rather than {bytes}"
                    );
                }
            }
        }
    }
}

/// Properties of the first job that the source does not state.
fn unstated(run: &ImportedRun) -> Vec<JobProperty> {
    let first = run.reported.unstated.first();
    first.map_or(Vec::new(), |job| job.properties.clone())
}

const FIGURES: &str = "io=1024.0MB, bw=6918.1MB/s, iops=6918, runt=   148msec";

/// Regression: without the job line, a sequential psync read with one I/O in flight was assumed.
#[test]
fn a_report_without_its_job_line_leaves_properties_unknown() {
    let none = only("x", &report_2x(FIGURES, ""));
    assert_eq!(unstated(&none), [Order, QueueDepth, Engine, Direct]);
    let list = "the queue depth, the I/O engine";
    let listed = |caveat: &Caveat| format!("{caveat:?}").contains(list);
    assert!(none.caveats.iter().any(listed), "{:?}", none.caveats);
}

#[test]
fn the_queue_depth_follows_from_the_report() {
    let target = "     latency   : target=0, window=0, percentile=100.00%, depth=64\n";
    let deep = only("x", &report_2x(FIGURES, target));
    assert_eq!(unstated(&deep), [Order, Engine, Direct]);
    assert_eq!(deep.scenario.phases[0].jobs[0].queue.iodepth, 64);
    let capped = |caveat: &Caveat| matches!(caveat, Caveat::DepthCapped { .. });
    assert!(!deep.caveats.iter().any(capped), "{:?}", deep.caveats);
    let levels = "1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%";
    let depths = format!("  IO depths    : {levels}\n");
    let one = only("x", &report_2x(FIGURES, &depths));
    assert_eq!(unstated(&one), [Order, Engine, Direct]);
}

/// The job line has everything except `direct`; a command line has everything.
#[test]
fn job_and_command_lines_state_properties() {
    let log = LOGS[12].1;
    let (head, _) = log.split_once("\nfile1: (groupid").unwrap();
    assert!(head.contains("fio -filename"));
    let without_command = log.lines().skip(1).collect::<Vec<_>>().join("\n");
    assert_eq!(unstated(&only("x", &without_command)), [Direct]);
    assert_eq!(unstated(&only("x", log)), []);
}

#[test]
fn lines_of_dd_and_hdparm_state_few_properties() {
    let dd = "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 45.6 s, 23.5 MB/s\n";
    assert!(unstated(&only("x", dd)).contains(&Operation));
    let hdparm =
        "/dev/sda:\n Timing buffered disk reads:  64 MB in  3.01 seconds =  21.25 MB/sec\n";
    let hdparm = unstated(&only("x", hdparm));
    assert!(hdparm.contains(&QueueDepth) && hdparm.contains(&Engine));
}

#[test]
fn results_know_their_headings_disks_and_file_systems() {
    let page = format!(
        "# Cards\n## SD card\n```\n{}```\n## SSD\n\n$ sudo mkfs.ext4 /dev/sda1 && sudo mount /dev/sda1 /mnt\n\n```\n{}```\n",
        LOGS[10].1, LOGS[11].1
    );
    let found = read("page.md", &page);
    let of = |index: usize| &found.runs[index].run.context;
    assert_eq!(
        (&of(0).headings[1], &of(1).headings[1]),
        (&"SD card".to_owned(), &"SSD".to_owned())
    );
    assert_eq!(
        (of(0).disks.join(","), of(1).disks.join(",")),
        ("mmcblk0".to_owned(), "sda".to_owned())
    );
    assert_eq!(
        (of(0).filesystem.as_deref(), of(1).filesystem.as_deref()),
        (None, Some("ext4"))
    );
}

/// Regression: an unknown option turned direct I/O into buffered I/O, and two runs without a title were merged.
#[test]
fn iozone_runs_without_a_title_are_separate() {
    let run = |rate: u32| {
        format!(
            "\tCommand line used: iozone -I -+u -+Q -r256k -s 1g -i 0 -t 4\n\tThroughput test with 4 processes\n\
             \tEach process writes a 1048576 kByte file in 256 kByte records\n\n\
             \tChildren see throughput for  4 initial writers \t=  {rate}.00 kB/sec\n\
             \tParent sees throughput for  4 initial writers \t=  {rate}.00 kB/sec\n"
        )
    };
    let found = read("two.txt", &(run(1000) + "\n" + &run(2000)));
    let rate = |one: &FoundRun| {
        let worker = one.run.reported.worker(0, 0).unwrap();
        worker.ops.write.bytes_per_s.unwrap().mean / 1024.0
    };
    let rates: Vec<f64> = found.runs.iter().map(rate).collect();
    assert_eq!(rates, [1000.0, 2000.0], "{:?}", found.unread);
    for FoundRun { run, .. } in &found.runs {
        let job = &run.scenario.phases[0].jobs[0];
        let buffered = run.caveats.contains(&Caveat::Buffered);
        assert!(job.files.direct && !buffered, "{:?}", run.caveats);
        assert_eq!(job.block.write, BlockSize::Fixed(Bytes(256 << 10)));
        let mut unread = run.unread.iter();
        let unknown = unread.any(|unread| unread.why.contains("-+Q"));
        assert!(unknown, "{:?}", run.unread);
    }
}

/// Regression: one wrongly rounded figure, as in fio 3.1, was reported as three contradictions.
#[test]
fn one_wrong_figure_is_one_contradiction() {
    let log = LOGS[12]
        .1
        .replace("1626KiB/s (1665kB/s)", "1726KiB/s (1665kB/s)");
    let run = only("x", &log);
    let all: Vec<String> = run
        .caveats
        .iter()
        .filter(|c| matches!(c, Caveat::Contradiction { .. }))
        .map(|caveat| format!("{caveat:?}"))
        .collect();
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(
        all[0].contains("bytes and time, and from IOPS") && all[0].contains("the other unit"),
        "{all:?}"
    );
}

#[test]
fn results_in_encoded_mails_are_read() {
    let mail = LOGS[12].1.replace('=', "=3D").replace("runt", "ru=\nnt");
    let (run, whole) = (only("mail.txt", &mail), only("x", LOGS[12].1));
    assert_eq!((run.phases, run.reported), (whole.phases, whole.reported));
}

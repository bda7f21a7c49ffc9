//! Imports damaged, foreign and huge texts: no panics, no invented data, and all skipped text is reported.

use hakaru_dialects::import::{ImportResult, SourceText, csv, fio, import};
use proptest::prelude::*;
use std::time::Instant;

const LOGS: [&str; 6] = [
    include_str!("../logs/pi5-1-seqrw-microsd.txt"),
    include_str!("../logs/pi5-2-randread-ssd.txt"),
    include_str!("../logs/pi5-3-fsync-microsd.txt"),
    include_str!("../logs/f2fs-blog-ext4-1.txt"),
    include_str!("../logs/sdio-1bit.txt"),
    include_str!("../logs/old-2x.txt"),
];

const OTHERS: &str = "\
\tIozone: Performance Test of File I/O\n\t        Version $Revision: 3.471 $\n\
\tChildren see throughput for  4 initial writers \t=  174754.01 kB/sec\n\
\tMin xfer \t\t\t\t\t=    1392.00 kB\n\niozone test complete.\n\
              kB  reclen    write  rewrite    read    reread    read     write\n\
            8192       4    57751    82155    57543    54677    63699    64052\n\
\"Writer report\"\n        \"4\"  \"8\"\n\"64\"   173944 0\n\
/dev/sda:\n Timing buffered disk reads:  64 MB in  3.01 seconds =  21.25 MB/sec\n\
256+0 records in\n256+0 records out\n268435456 bytes (268 MB, 256 MiB) copied, 2 s, 134 MB/s\n\
3;fio-3.33;n;0;0;3928;3928000;982000;1;0;0;0.000000;0.000000;0;6;0.031950;0.274399;1.000000%=0\n\
{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : [ { \"jobname\" : \"n\", \"read\" : { \"io_bytes\" : 4096, \"bw_bytes\" : 9, \"runtime\" : 5 } } ]\n}\n";

fn read(text: &str) -> ImportResult {
    let names = ["x.txt", "y_bw.1.log"];
    let found = import(&names.map(|name| SourceText { name, text }));
    for one in &found.runs {
        // Every imported run can be printed and stored.
        let (reported, phases) = (&one.run.reported, &one.run.phases);
        let _ = fio::print(reported, &one.run.program);
        let _ = format!("{:?}", one.run.caveats);
        let text = serde_json::to_string(reported).unwrap();
        let read: hakaru_model::reported::Reported = serde_json::from_str(&text).unwrap();
        assert_eq!(read, *reported);
        let text = serde_json::to_string(phases).unwrap();
        let read: Vec<hakaru_model::record::PhaseRecord> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, *phases);
        assert!(one.run.lines.0 <= one.run.lines.1);
    }
    found
}

#[test]
fn other_texts_are_results_too() {
    let found = read(OTHERS);
    let names: Vec<&str> = found
        .runs
        .iter()
        .filter(|f| f.source == 0)
        .map(|f| f.run.format.name())
        .collect();
    assert_eq!(
        names,
        [
            "iozone throughput",
            "iozone table",
            "hdparm",
            "dd",
            "fio terse",
            "fio JSON"
        ],
        "{:?}",
        found.unread
    );
}

#[test]
fn a_megabyte_of_noise_holds_no_result() {
    let mut rng = hakaru_model::rng::Rng::new(7);
    let bytes: Vec<u8> = (0..1 << 20).map(|_| rng.next_u64() as u8).collect();
    let printable: Vec<u8> = bytes
        .iter()
        .map(|b| b" \n=:;,|[]{}()0123456789abcfio%/\"-."[usize::from(*b) % 34])
        .collect();
    for noise in [
        String::from_utf8_lossy(&bytes),
        String::from_utf8_lossy(&printable),
    ] {
        let found = read(&noise);
        assert!(found.runs.is_empty(), "{:?}", found.runs[0].run.lines);
    }
    // An endless line, and lines with very large numbers.
    read(&"9".repeat(1 << 20));
    read(&"{\"fio version\":".repeat(10_000));
    read(&"[".repeat(1 << 18));
    read(&"a: (g=0): rw=read, bs=4K\n".repeat(20_000));
    read(&"{\n\"fio version\" : \"\n".repeat(10_000));
    read(&"a: (groupid=0, jobs=1): err= 0: pid=1\n".repeat(20_000));
    read(&"read: IOPS=1, BW=1KiB/s (1kB/s)(1KiB/1msec)\n".repeat(20_000));
}

#[test]
fn many_logs_take_little_time() {
    let texts: Vec<(String, &str)> = (0..600)
        .map(|i| (format!("log-{i}.txt"), LOGS[i % LOGS.len()]))
        .collect();
    let sources: Vec<SourceText<'_>> = texts
        .iter()
        .map(|(name, text)| SourceText { name, text })
        .collect();
    let begun = Instant::now();
    let found = import(&sources);
    assert_eq!(found.runs.len(), 700);
    // For information only: the test cannot know how fast the machine is.
    eprintln!("{:.0} logs a second", 600.0 / begun.elapsed().as_secs_f64());
}

/// Texts with parts removed, duplicated or replaced.
fn damaged() -> impl Strategy<Value = String> {
    let edits = prop::collection::vec(
        (
            any::<prop::sample::Index>(),
            0usize..40,
            "[ -~\n]{0,12}|[0-9]{1,30}|nan|-1|,|é",
        ),
        0..12,
    );
    (0..LOGS.len() + 1, edits).prop_map(|(which, edits)| {
        let mut text: Vec<char> = LOGS.get(which).copied().unwrap_or(OTHERS).chars().collect();
        for (at, len, new) in edits {
            let from = at.index(text.len() + 1);
            let to = (from + len).min(text.len());
            text.splice(from..to, new.chars());
        }
        text.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_results_are_read_as_far_as_they_go(text in damaged()) {
        let found = read(&text);
        prop_assert!(found.runs.len() < 20);
    }

    #[test]
    fn any_text_is_read_or_passed_over(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn any_table_is_read_or_passed_over(header in "[a-z,\"; ]{0,40}", body in "[-a-z0-9.,\"; \n/]{0,200}") {
        let text = format!("target,rw,bs,bandwidth,bandwidth_unit{header}\n{body}\n");
        let mapping = csv::mapping_of_header(text.lines().next().unwrap()).unwrap_or_default();
        let (runs, unread) = csv::import(&text, &mapping);
        prop_assert!(runs.len() + unread.len() <= text.lines().count() + 16);
    }
}

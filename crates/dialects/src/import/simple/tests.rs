//! Tests of the parent module.

use super::*;

fn line(text: &str) -> SourceLine {
    SourceLine {
        number: 1,
        text: text.to_owned(),
        fenced: false,
    }
}

fn measured(run: &ImportedRun) -> Vec<(String, u64, f64)> {
    let of = |phase: &PhaseRecord| {
        let worker = &phase.workers[0];
        let bytes = worker.ops.read.bytes + worker.ops.write.bytes;
        (phase.name.clone(), bytes, worker.runtime.as_secs_f64())
    };
    run.phases.iter().map(of).collect()
}

fn contradicts(run: &ImportedRun) -> bool {
    let is_one = |caveat: &Caveat| matches!(caveat, Caveat::Contradiction { .. });
    run.caveats.iter().any(is_one)
}

#[test]
fn dd_speaks_many_languages() {
    for text in [
        "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 45.6 s, 23.5 MB/s",
        "1073741824 Bytes (1,1 GB, 1,0 GiB) kopiert, 45,6 s, 23,5 MB/s",
        "1073741824 バイト (1.1 GB, 1.0 GiB) コピーされました、 45.6 s, 23.5 MB/s",
        "1073741824 bytes (1.0GB) copied, 45.6 seconds, 22.5MB/s",
        "1073741824 bytes transferred in 45.6 secs (23546970 bytes/sec)",
    ] {
        let run = dd(&line(text), records("1024+0 records out"), None).unwrap();
        assert_eq!(measured(&run), [("dd".to_owned(), 1 << 30, 45.6)], "{text}");
        assert_eq!(run.phases[0].workers[0].ops.write.ios, 1024);
        assert!(!contradicts(&run), "{text} {:?}", run.caveats);
    }
    let wrong = line("1073741824 bytes (1.1 GB, 1.0 GiB) copied, 45.6 s, 235 MB/s");
    assert!(contradicts(&dd(&wrong, None, None).unwrap()));
    for text in [
        "12 monkeys, 3 s, 4 B",
        "5 bytes",
        "1 2 3, 4, 5",
        "99, 3 s, 4 MB/s",
    ] {
        assert!(!is_dd(text), "{text}");
    }
}

fn command(text: &str) -> Option<DdCommand> {
    dd_command(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
}

#[test]
fn the_command_line_of_dd_gives_operation_path_and_flags() {
    let read = command("sudo dd if=/dev/sda of=/dev/null bs=1M count=256 iflag=direct");
    let text = "268435456 bytes (268 MB, 256 MiB) copied, 2 s, 134 MB/s";
    let run = dd(&line(text), None, read.as_ref()).unwrap();
    assert_eq!(run.path, Some("/dev/sda".into()));
    assert_eq!(run.phases[0].workers[0].ops.read.ios, 256);
    assert_eq!(run.caveats, []);
    assert_eq!(command("echo dd"), None);
}

/// The usual latency test: each block is durable before the next one starts, so no cache affects it.
#[test]
fn synchronous_writes_of_dd_are_not_buffered() {
    let synced = command("dd if=/dev/zero of=x bs=512 count=1000 oflag=dsync");
    let text = "512000 bytes (512 kB, 500 KiB) copied, 2 s, 256 kB/s";
    let run = dd(&line(text), None, synced.as_ref()).unwrap();
    let durability = &run.scenario.phases[0].jobs[0].durability;
    assert_eq!((durability.dsync, durability.sync), (true, false));
    assert!(!durability.end_fsync);
    assert_eq!(run.caveats, []);
    assert_eq!(run.phases[0].workers[0].ops.write.ios, 1000);
}

#[test]
fn sizes_of_dd_are_binary_unless_they_end_in_b() {
    for (text, bytes) in [
        ("4k", Some(4096)),
        ("1MB", Some(1_000_000)),
        ("512", Some(512)),
        ("x", None),
    ] {
        assert_eq!(dd_size(text), bytes, "{text}");
    }
}

#[test]
fn hdparm_counts_in_mebibytes() {
    let lines = [
        line(" Timing cached reads:   1234 MB in  2.00 seconds = 617.12 MB/sec"),
        line(" Timing buffered disk reads:  64 MB in  3.01 seconds =  21.25 MB/sec"),
        line("done"),
    ];
    let (run, used) = hdparm(&lines, Some("/dev/mmcblk0")).unwrap();
    assert_eq!((used, run.path.clone()), (2, Some("/dev/mmcblk0".into())));
    assert_eq!(
        measured(&run)[1],
        ("buffered disk reads".to_owned(), 64 << 20, 3.01)
    );
    assert!(!contradicts(&run), "{:?}", run.caveats);
}

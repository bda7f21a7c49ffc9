//! Tests verification on a fio command line: counts, messages and exit codes match the installed fio for the same
//! damage.

use crate::support::{self, Home, hakaru};
use std::path::Path;
use std::process::Command;

/// Result of a program.
#[derive(Debug, PartialEq, Eq)]
struct Observed {
    /// Exit code.
    code: Option<i32>,
    /// Error of the job, then I/Os and bytes of reads and writes, then the number of errors.
    numbers: [u64; 6],
    /// Standard error without values that can differ.
    errors: Vec<String>,
}

/// Masks checksums, process IDs and source positions, which differ, and keeps the rest of the message.
fn without_chance(line: &str) -> String {
    let word = |word: &str| {
        let hex = word.len() > 3
            && word.bytes().all(|b| b.is_ascii_hexdigit())
            && word.parse::<u64>().is_err();
        match word {
            _ if word.starts_with("pid=") => "pid".to_owned(),
            _ if word.starts_with("err=") => word.split('/').next().unwrap_or_default().to_owned(),
            _ if word.starts_with("flags=") => "flags".to_owned(),
            _ if hex => "hex".to_owned(),
            word => word.to_owned(),
        }
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn observed(program: &mut Command, directory: &Path, options: &str) -> Observed {
    let base = [
        "--name=j",
        "--filename=f",
        "--size=256k",
        "--bs=4k",
        "--output-format=json",
    ];
    let out = program
        .args(base)
        .args(options.split_whitespace())
        .current_dir(directory)
        .output()
        .unwrap();
    let text = support::text(&out.stdout);
    let json = text
        .find('{')
        .and_then(|start| serde_json::from_str::<serde_json::Value>(&text[start..]).ok());
    let job = json.map(|json| json["jobs"][0].clone()).unwrap_or_default();
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
    let numbers = [
        number(&job["error"]),
        number(&job["read"]["total_ios"]),
        number(&job["read"]["io_bytes"]),
        number(&job["write"]["total_ios"]),
        number(&job["write"]["io_bytes"]),
        number(&job["total_err"]),
    ];
    let errors = support::text(&out.stderr);
    Observed {
        code: out.status.code(),
        numbers,
        errors: errors.lines().map(without_chance).collect(),
    }
}

/// One of the two programs, in its own directory.
struct Side {
    home: Home,
    ours: bool,
}

impl Side {
    fn run(&self, options: &str) -> Observed {
        let mut program = if self.ours {
            hakaru(&self.home)
        } else {
            Command::new("fio")
        };
        if self.ours {
            program.arg("fio");
        }
        observed(&mut program, &self.home.work(), options)
    }

    fn damage(&self, at: usize) {
        let path = self.home.work().join("f");
        let mut content = std::fs::read(&path).unwrap();
        content[at] ^= 0x40;
        std::fs::write(path, content).unwrap();
    }
}

/// Returns hakaru, and fio if it is installed.
fn sides() -> Vec<Side> {
    let mut sides = vec![Side {
        home: Home::new(),
        ours: true,
    }];
    match Command::new("fio").arg("--version").output() {
        Ok(_) => sides.push(Side {
            home: Home::new(),
            ours: false,
        }),
        Err(_) => eprintln!("SKIPPED: fio is not installed, so ours is compared with nothing"),
    }
    sides
}

/// Runs both programs and compares the results. Returns the result of hakaru.
fn both(run: impl Fn(&Side) -> Observed) -> Observed {
    let mut all: Vec<Observed> = sides().iter().map(run).collect();
    if let Some(fios) = all.get(1) {
        assert_eq!(&all[0], fios, "ours, then fio's");
    }
    all.remove(0)
}

#[test]
fn whole_data_passes_and_is_counted_as_fio_counts_it() {
    for options in [
        "--rw=write --verify=crc32c",
        "--rw=randwrite --verify=md5 --verify_interval=1k",
        "--rw=randwrite --verify=crc32c --do_verify=0",
        "--rw=write --verify=xxhash --loops=3",
        "--rw=write --verify=sha256 --verify_async=2",
        "--rw=randwrite --verify=crc64 --verify_backlog=16",
        "--rw=randwrite --verify=crc32c --verify_backlog=16 --verify_backlog_batch=4",
        "--rw=write --verify=pattern --verify_pattern=0xdeadbeef%o",
        "--rw=write --verify=sha3-512 --verify_pattern=\"abc\"",
        "--rw=write --verify=meta --verify_fatal=1",
        "--rw=write --verify=null",
        "--rw=write --verify=crc7 --ioengine=libaio --iodepth=8",
    ] {
        let observed = both(|side| side.run(options));
        assert_eq!(
            (observed.code, observed.numbers[0]),
            (Some(0), 0),
            "{options}: {observed:?}"
        );
    }
}

#[test]
fn damage_is_reported_as_by_fio() {
    for (options, more) in [
        ("--verify=crc32c", ""),
        ("--verify=md5", "--verify_fatal=1"),
        // fio 3.33 detects no damage with sha512, nor in a segment of a block whose last segment is intact.
        ("--verify=sha256 --verify_interval=1k", "--verify_fatal=1"),
        ("--verify=crc32c", "--verify_dump=1"),
        ("--verify=xxhash", "--ioengine=libaio"),
    ] {
        let observed = both(|side| {
            side.run(&format!("--rw=write {options}"));
            side.damage(3 * 4096 + 3500);
            side.run(&format!("--rw=read {options} {more}"))
        });
        assert_eq!(observed.code, Some(1), "{options}: {observed:?}");
        assert_eq!(
            observed.numbers[..3],
            [84, 4, 16_384],
            "{options}: {observed:?}"
        );
    }
}

/// A plain pattern has no header, and fio 3.33 reports a length that it reads from the data: only the rest is compared.
#[test]
fn damage_of_a_pattern_is_reported_with_its_place() {
    let options = "--verify=pattern --verify_pattern=0xabcd";
    let run = |side: &Side| {
        side.run(&format!("--rw=write {options}"));
        side.damage(3 * 4096 + 3500);
        side.run(&format!("--rw=read {options}"))
    };
    let all: Vec<Observed> = sides().iter().map(run).collect();
    assert_eq!(
        (all[0].code, &all[0].numbers[..3]),
        (Some(1), &[84, 4, 16_384][..]),
        "{:?}",
        all[0]
    );
    assert_eq!(all[0].errors[1], "fio: bad pattern block offset 3500");
    for fio in &all[1..] {
        assert_eq!(
            (all[0].code, all[0].numbers, &all[0].errors[..2]),
            (fio.code, fio.numbers, &fio.errors[..2])
        );
    }
}

#[test]
fn a_later_run_only_verifies() {
    let options = "--rw=write --verify=crc32c --verify_only";
    let observed = both(|side| {
        side.run("--rw=write --verify=crc32c");
        let whole = side.run(options);
        assert_eq!(
            (whole.code, whole.numbers),
            (Some(0), [0, 64, 256 << 10, 64, 256 << 10, 0])
        );
        side.damage(5000);
        side.run(options)
    });
    assert_eq!((observed.code, observed.numbers[1]), (Some(1), 2));
}

#[test]
fn a_job_that_goes_on_counts_what_is_wrong() {
    let run = |side: &Side| {
        side.run("--rw=write --verify=crc32c");
        [5000, 50_000, 100_000]
            .into_iter()
            .for_each(|at| side.damage(at));
        side.run("--rw=read --verify=crc32c --continue_on_error=verify")
    };
    let mut all: Vec<Observed> = sides().iter().map(run).collect();
    let ours = all.remove(0);
    assert_eq!(
        (ours.code, ours.numbers),
        (Some(0), [84, 64, 256 << 10, 0, 0, 3])
    );
    for fio in all {
        assert_eq!(
            (ours.code, ours.numbers, &ours.errors),
            (fio.code, fio.numbers, &fio.errors)
        );
    }
}

/// With an interval, fio does not report a damaged segment if the last segment of its block is intact.
#[test]
fn damage_in_one_piece_of_a_block_is_not_forgotten() {
    let side = Side {
        home: Home::new(),
        ours: true,
    };
    side.run("--rw=write --verify=crc32c --verify_interval=512");
    side.damage(8192 + 3 * 512 + 100);
    let observed = side.run("--rw=read --verify=crc32c --verify_interval=512");
    assert_eq!((observed.code, observed.numbers[0]), (Some(1), 84));
    let first = "crc32c: verify failed at file f offset 9728, length 512 (requested block: offset=8192, length=4096, flags";
    assert_eq!(observed.errors[0], first);
}

#[test]
fn a_state_limits_what_is_verified() {
    let observed = both(|side| {
        side.run("--rw=write --verify=crc32c --do_verify=0 --number_ios=9");
        assert!(side.home.work().join("local-j-0-verify.state").exists());
        side.run("--rw=read --verify=crc32c --verify_state_load=1")
    });
    assert_eq!((observed.code, observed.numbers[1]), (Some(0), 9));
    let alone = Side {
        home: Home::new(),
        ours: true,
    };
    let observed = alone.run("--rw=read --verify=crc32c --verify_state_load=1");
    assert!(
        observed.code == Some(1) && observed.errors[0].contains("verify_state_load"),
        "{observed:?}"
    );
}

#[test]
fn what_cannot_be_is_refused_with_its_cure() {
    let side = Side {
        home: Home::new(),
        ours: true,
    };
    for (options, words) in [
        (
            "--rw=write --verify=sha512 --verify_interval=80",
            "the header does not fit",
        ),
        (
            "--rw=write --verify=crc32c --verify_offset=4090",
            "goes past the end of its block",
        ),
        ("--rw=write --verify=pattern", "needs verify_pattern"),
        (
            "--rw=write --verify=crc32c --ioengine=filecreate",
            "moves no data",
        ),
        ("--rw=write --verify=crc33", "did you mean"),
    ] {
        let observed = side.run(options);
        assert!(
            observed.code == Some(1) && observed.errors.concat().contains(words),
            "{options}: {observed:?}"
        );
    }
}

//! Tests triggers, the log of the total bandwidth, jobs that cannot start, and self-test options of the fio front end.
//! Compares with the installed fio and the same arguments if its version behaves the same.

use crate::support::{Home, hakaru, text};
use serde_json::Value;
use std::process::{Command, Output};

fn ours(home: &Home, words: &[&str]) -> Output {
    hakaru(home)
        .arg("fio")
        .args(words)
        .current_dir(home.work())
        .output()
        .unwrap()
}

fn json(out: &Output) -> Value {
    serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&out.stdout)))
}

/// Options of a job that runs much longer than any test.
const LONG: [&str; 8] = [
    "--output-format=json",
    "--ioengine=psync",
    "--rw=randwrite",
    "--bs=4k",
    "--size=1m",
    "--rate_iops=200",
    "--time_based",
    "--runtime=-1",
];

#[test]
fn a_trigger_ends_the_jobs_and_then_runs_its_command() {
    for set_off in ["--trigger-timeout=300ms", "--trigger-file=pull"] {
        let home = Home::new();
        let command = "--trigger=cp local-j-0-verify.state saved";
        let mut words = LONG.to_vec();
        words.extend(["--name=j", "--verify=crc32c", set_off, command]);
        if set_off.contains("file") {
            std::fs::write(home.work().join("pull"), "").unwrap();
        }
        let out = ours(&home, &words);
        assert_eq!(
            out.status.code(),
            Some(0),
            "{set_off}: {}",
            text(&out.stderr)
        );
        assert_eq!(json(&out)["jobs"][0]["error"], 0, "{set_off}");
        assert!(
            home.work().join("saved").exists(),
            "the state is saved before the command runs"
        );
        assert!(
            !home.work().join("pull").exists(),
            "the file sets off nothing twice"
        );
    }
}

#[test]
fn the_bandwidth_of_all_jobs_is_logged_together() {
    let home = Home::new();
    let words = "--bandwidth-log --ioengine=null --rw=randrw --bs=4k --size=1g --rate_iops=500,250 --time_based \
        --runtime=2 --bwavgtime=250 --numjobs=2 --name=j";
    let out = ours(&home, &words.split_whitespace().collect::<Vec<_>>());
    assert!(out.status.success(), "{}", text(&out.stderr));
    let lines = |op: &str| -> Vec<Vec<u64>> {
        let log = std::fs::read_to_string(home.work().join(format!("agg-{op}_bw.log"))).unwrap();
        let number = |field: &str| field.parse().unwrap();
        let fields = |line: &str| line.split(", ").map(number).collect();
        log.lines().map(fields).collect()
    };
    // Two jobs of 500 reads and 250 writes of 4 KiB per second each.
    for (op, direction, wanted) in [("read", 0, 4000), ("write", 1, 2000), ("trim", 2, 0)] {
        let lines = lines(op);
        assert!((2..=8).contains(&lines.len()), "{op}: {lines:?}");
        assert!(
            lines.iter().all(|line| line[2..] == [direction, 0, 0]),
            "{op}: {lines:?}"
        );
        let mean = lines.iter().map(|line| line[1]).sum::<u64>() / lines.len() as u64;
        assert!(
            mean.abs_diff(wanted) <= wanted / 4,
            "{op}: {mean} KiB/s, {lines:?}"
        );
    }
}

#[test]
fn jobs_run_beside_one_that_cannot() {
    let words = [
        "--output-format=json",
        "--bs=4k",
        "--rw=read",
        "--name=a",
        "--name=b",
        "--size=64k",
        "--name=c",
    ];
    let shape = |out: &Output| -> Vec<(String, i64, u64)> {
        let printed = text(&out.stdout);
        let answer: Value =
            serde_json::from_str(&printed[printed.find('{').unwrap_or(0)..]).expect(&printed);
        let job = |job: &Value| {
            let name = job["jobname"].as_str().unwrap().to_owned();
            (
                name,
                job["error"].as_i64().unwrap(),
                job["read"]["total_ios"].as_u64().unwrap(),
            )
        };
        answer["jobs"].as_array().unwrap().iter().map(job).collect()
    };
    let home = Home::new();
    let out = ours(&home, &words);
    let wanted = [
        ("a".to_owned(), 22, 0),
        ("b".to_owned(), 0, 16),
        ("c".to_owned(), 22, 0),
    ];
    assert_eq!(shape(&out), wanted);
    let printed = text(&out.stderr);
    assert!(
        printed.contains("a: you need to specify size=")
            && printed.contains("the other jobs run all the same"),
        "{printed}"
    );
    let theirs = Home::new();
    match Command::new("fio")
        .args(words)
        .current_dir(theirs.work())
        .output()
    {
        Ok(fio) => assert_eq!(
            (shape(&fio), fio.status.code()),
            (wanted.to_vec(), out.status.code())
        ),
        Err(_) => eprintln!("SKIPPED: fio is not installed, ours is looked at alone"),
    }
    let alone = ours(&home, &["--name=a", "--rw=read", "--bs=4k"]);
    // The result contains its error, as in fio: the text shows none of its figures.
    let printed = text(&alone.stdout);
    assert_eq!(alone.status.code(), Some(1));
    assert!(
        printed.contains("Run status group 0") && !printed.contains("\na: (groupid"),
        "{printed}"
    );
}

#[test]
fn directories_of_file_names_are_made_and_others_are_not() {
    let tree = |home: &Home| {
        ["a", "a/b", "a/b/c", "missing", "q/d/e"].map(|name| home.work().join(name).exists())
    };
    let fio = |home: &Home, words: &[&str]| {
        Command::new("fio")
            .args(words)
            .current_dir(home.work())
            .output()
    };
    let cases: [&[&str]; 6] = [
        &["--filename=a/b/c"],
        &["--filename=a/b/c", "--rw=read"],
        &["--directory=q", "--filename=d/e"],
        &["--filename=a/b/c", "--ioengine=null"],
        &["--directory=missing"],
        &["--directory=missing", "--ioengine=null"],
    ];
    for options in cases {
        let words = [&["--name=j", "--size=64k", "--rw=write"], options].concat();
        let homes = [Home::new(), Home::new()];
        homes
            .iter()
            .for_each(|home| std::fs::create_dir(home.work().join("q")).unwrap());
        let out = ours(&homes[0], &words);
        let missing = options.contains(&"--directory=missing");
        assert_eq!(
            out.status.success(),
            !missing,
            "{options:?}: {}",
            text(&out.stderr)
        );
        if missing {
            let printed = text(&out.stderr);
            assert!(
                printed.starts_with("fio: failed parsing directory=missing"),
                "{printed}"
            );
        }
        match fio(&homes[1], &words) {
            Ok(fio) => {
                assert_eq!(
                    (fio.status.code(), tree(&homes[1])),
                    (out.status.code(), tree(&homes[0])),
                    "{options:?}"
                );
            }
            Err(_) => eprintln!("SKIPPED: fio is not installed, ours is looked at alone"),
        }
    }
}

#[test]
fn a_stonewalled_job_runs_after_one_that_cannot() {
    let home = Home::new();
    let words = [
        "--bs=4k",
        "--rw=read",
        "--name=a",
        "--name=b",
        "--stonewall",
        "--size=64k",
    ];
    let out = ours(&home, &words);
    let printed = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1));
    assert!(
        printed.contains("\nb: (groupid=1, jobs=1): err= 0") && !printed.contains("\na: (groupid"),
        "{printed}"
    );
}

#[test]
fn checksums_and_clocks_are_tested() {
    let home = Home::new();
    let out = ours(&home, &["--crctest=crc32c,md5"]);
    let printed = text(&out.stdout);
    assert!(out.status.success(), "{printed}");
    assert_eq!(printed.lines().count(), 2, "{printed}");
    for (line, name) in printed.lines().zip(["crc32c", "md5"]) {
        let figure = line.strip_prefix(name);
        let figure = figure.and_then(|line| line.strip_prefix(':')?.strip_suffix(" MiB/sec"));
        let speed = figure.and_then(|figure| figure.trim().parse::<f64>().ok());
        assert!(speed.is_some_and(|speed| speed > 0.0), "{line}");
    }
    let unknown = ours(&home, &["--crctest=murmur3"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert_eq!(
        text(&unknown.stderr),
        "fio: unknown hash `murmur3`. Available:\n"
    );
    assert!(text(&unknown.stdout).lines().any(|name| name == "sha3-512"));
    let clock = ours(&home, &["--cpuclock-test"]);
    let printed = text(&clock.stdout);
    match clock.status.success() {
        true => assert!(printed.ends_with("cs: Pass!\n"), "{printed}"),
        false => assert_eq!(printed, "cs: reliable_tsc: no\n", "{}", text(&clock.stderr)),
    }
}

#[test]
fn a_job_that_reads_fills_its_file_system_first() {
    let home = Home::new();
    let image = home.work().join("image");
    let directory = home.work().join("mounted");
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(&image, vec![0; 8 << 20]).unwrap();
    let run = |program: &str, args: &[&str]| {
        Command::new(program)
            .args(args)
            .output()
            .is_ok_and(|o| o.status.success())
    };
    let (image, at) = (image.to_str().unwrap(), directory.to_str().unwrap());
    if !run("mkfs.ext2", &["-q", "-F", image]) || !run("mount", &["-o", "loop", image, at]) {
        eprintln!("SKIPPED: no file system can be made and mounted here");
        return;
    }
    let words =
        format!("--output-format=json --rw=randread --bs=64k --fill_device=1 --directory={at}");
    let words: Vec<&str> = words.split(' ').collect();
    let fill = |more: &[&str]| ours(&home, &[&words, more].concat());
    let (out, on_full) = (
        fill(&["--name=j", "--nrfiles=2"]),
        fill(&["--name=k", "--time_based", "--runtime=60"]),
    );
    let size = |name: &str| std::fs::metadata(directory.join(name)).map(|file| file.len());
    let sizes = [size("j.0.0"), size("j.0.1"), size("k.0.0")];
    let unmounted = run("umount", &[at]);
    assert!(
        unmounted && out.status.success() && on_full.status.success(),
        "{}",
        text(&out.stderr)
    );
    let [written, second, third] = sizes.map(Result::unwrap);
    assert!(written > 7 << 20, "{written} bytes of 8 MiB");
    let read = |out: &Output| json(out)["jobs"][0]["read"]["total_ios"].as_u64();
    assert_eq!(read(&out), Some(written / 65_536));
    // As in fio, files without space stay empty, and there is nothing to do.
    assert_eq!((second, third, read(&on_full)), (0, 0, Some(0)));
}

#[test]
fn states_are_numbered_through_all_jobs_and_commands_are_noted() {
    let words = "--rw=write --size=64k --verify=crc32c --exec_prerun=true --exec_postrun=true --name=a --name=b \
        --stonewall";
    let words: Vec<&str> = words.split_whitespace().collect();
    let shape = |home: &Home, out: &Output| {
        let entries = std::fs::read_dir(home.work()).unwrap();
        let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut states: Vec<String> = names.filter(|name| name.ends_with(".state")).collect();
        states.sort();
        let printed = text(&out.stdout);
        let notes = printed.lines().filter(|line| line.contains("Saving"));
        let notes: Vec<String> = notes.map(str::to_owned).collect();
        (states, notes)
    };
    let home = Home::new();
    let seen = shape(&home, &ours(&home, &words));
    assert_eq!(seen.0, ["local-a-0-verify.state", "local-b-1-verify.state"]);
    let first = "a : Saving output of prerun in a.prerun.txt";
    assert_eq!(seen.1.first().map(String::as_str), Some(first));
    let theirs = Home::new();
    let mut fio = Command::new("fio");
    match fio.args(words).current_dir(theirs.work()).output() {
        Ok(fio) => assert_eq!(seen, shape(&theirs, &fio)),
        Err(_) => eprintln!("SKIPPED: fio is not installed, ours is looked at alone"),
    }
}

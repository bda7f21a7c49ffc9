//! Tests that runs of the fio and iozone front ends are stored if the environment requests it: complete, recovered, or
//! not at all.

use crate::support::{self, Home, hakaru, records, text};
use hakaru_model::record::{FailureKind, Outcome, RunRecord, StopReason};
use std::process::{Command, Stdio};

fn front_end(home: &Home, line: &str) -> Command {
    let mut command = hakaru(home);
    command
        .current_dir(home.work())
        .args(line.split_whitespace());
    command
}

fn stored(home: &Home, line: &str) -> RunRecord {
    let out = front_end(home, line)
        .env("HAKARU_STORE", "1")
        .output()
        .unwrap();
    let printed = text(&out.stderr);
    assert!(printed.contains("stored as "), "{line}: {printed}");
    records(home).remove(0)
}

fn spooled(home: &Home) -> String {
    let spools = std::fs::read_dir(home.path().join("hakaru.db.spool"));
    let spools = spools.into_iter().flatten().flatten();
    spools
        .filter_map(|spool| std::fs::read_to_string(spool.path()).ok())
        .collect()
}

#[test]
fn fio_makes_a_database_only_where_that_is_asked_for() {
    let home = Home::new();
    let line = "fio --name=a --rw=write --size=64k --filename=x";
    for unset in ["", "0"] {
        let out = front_end(&home, line).env("HAKARU_STORE", unset).output();
        let out = out.unwrap();
        assert!(out.status.success() && text(&out.stderr).is_empty());
        assert!(!home.path().join("hakaru.db").exists());
    }
    let record = stored(&home, line);
    assert_eq!(record.outcome, Outcome::Completed);
    assert_eq!(record.phases[0].workers[0].ops.write.bytes, 64 << 10);
    assert!(record.target.filesystem.is_some() && !record.environment.kernel.is_empty());
    assert_eq!(spooled(&home), "", "the spool of a stored run is removed");
}

#[test]
fn a_stored_fio_run_says_which_job_could_not_begin() {
    let home = Home::new();
    let line = "fio --name=gone --rw=read --size=64k --allow_file_create=0 --filename=none \
                --name=there --rw=write --size=64k --filename=x";
    let record = stored(&home, line);
    let [gone, there] = &record.phases[0].workers[..] else {
        panic!("{:?}", record.phases)
    };
    assert_eq!((gone.name.as_str(), gone.stop), ("gone", StopReason::Error));
    assert_eq!(gone.errors.first[0].kind, FailureKind::NotStarted);
    assert_eq!(there.ops.write.bytes, 64 << 10);
}

/// Regression: results of killed fio and iozone front ends were lost, even rows that iozone had already printed.
#[test]
fn killed_front_ends_are_recovered_as_far_as_they_came() {
    let lines = [
        (
            "fio",
            "fio --name=first --rw=write --size=64k --filename=x --name=last --stonewall --rw=write \
             --size=64k --filename=x --time_based --runtime=600",
        ),
        ("iozone", "iozone -s 64k -r 4k -i 0 -i 1 -+q 600"),
    ];
    for (name, line) in lines {
        let home = Home::new();
        let mut child = front_end(&home, line)
            .env("HAKARU_STORE", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        support::wait_until(|| spooled(&home).contains("{\"done\""));
        child.kill().unwrap();
        child.wait().unwrap();
        let out = hakaru(&home).arg("recover").output().unwrap();
        let printed = text(&out.stdout);
        assert!(printed.contains("stored as run"), "{name}: {printed}");
        let record = records(&home).remove(0);
        assert_eq!(record.outcome, Outcome::Interrupted, "{name}");
        assert!(record.phases[0].workers[0].ops.write.bytes > 0, "{name}");
        assert!(!record.environment.kernel.is_empty(), "{name}");
    }
}

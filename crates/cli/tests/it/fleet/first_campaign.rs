//! `hakaru fleet run` without a campaign file.

use super::Fleet;

/// Both agents are on this host, so they measure its `/var/tmp` one after the other.
#[test]
fn without_a_file_the_storage_of_each_host_is_measured() {
    let Some(mut fleet) = Fleet::start(&["a", "b"]) else {
        return;
    };
    let work = fleet.home.work();
    let run = |fleet: &Fleet, args: &[&str]| {
        let mut command = fleet.command(&["run"]);
        let out = command.args(args).current_dir(&work).output().unwrap();
        let text = crate::support::text;
        (out.status.code(), text(&out.stdout), text(&out.stderr))
    };
    fleet.begin_agent("a");
    fleet.begin_agent("b");
    let quick = ["--repeat=1", "--only=rand-read", "--json"];
    let (code, stdout, stderr) = run(&fleet, &quick);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stderr.contains("Created fleet.toml"), "{stderr}");
    let ended: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (&ended["complete"], &ended["stored"]),
        (&true.into(), &2.into()),
        "{ended}"
    );
    let labels = fleet.records();
    let mut labels: Vec<&str> = labels
        .iter()
        .map(|record| record["target"]["label"].as_str().unwrap())
        .collect();
    labels.sort_unstable();
    assert_eq!(labels, ["storage of a", "storage of b"]);
    // A file that is there is used as it is.
    let file = work.join("fleet.toml");
    let changed = std::fs::read_to_string(&file)
        .unwrap()
        .replace("repeats = 3", "repeats = 2");
    std::fs::write(&file, &changed).unwrap();
    let (code, stdout, stderr) = run(&fleet, &["--only=rand-read", "--json"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(!stderr.contains("Created"), "{stderr}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), changed);
    assert!(!stderr.contains("not measured"), "{stderr}");
    assert_eq!(fleet.records().len(), 4);
    // A host that was enrolled later is not forgotten in silence.
    fleet.said(&["enroll", "--print", "c"]);
    let (code, _, stderr) = run(&fleet, &["--only=rand-read", "--json"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("not measured: c;"), "{stderr}");
}

#[test]
fn without_a_file_and_without_hosts_the_next_step_is_named() {
    let Some(fleet) = Fleet::start(&[]) else {
        return;
    };
    let work = fleet.home.work();
    let out = fleet.command(&["run"]).current_dir(&work).output().unwrap();
    let stderr = crate::support::text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("hakaru fleet enroll"), "{stderr}");
    assert!(!work.join("fleet.toml").exists());
}

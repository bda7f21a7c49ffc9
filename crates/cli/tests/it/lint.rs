//! Tests the findings and exit codes of `hakaru lint` for command lines, job files and results.

use crate::support::{Home, hakaru, text};
use std::process::Output;

fn lint(home: &Home, words: &[&str]) -> Output {
    hakaru(home)
        .current_dir(home.work())
        .arg("lint")
        .args(words)
        .output()
        .unwrap()
}

fn found(home: &Home, words: &[&str]) -> Vec<serde_json::Value> {
    let out = lint(home, &[&["--json"], words].concat());
    let json: serde_json::Value =
        serde_json::from_slice(&out.stdout).expect("JSON and nothing else");
    json["subjects"][0]["remarks"].as_array().unwrap().clone()
}

fn slips(remarks: &[serde_json::Value]) -> Vec<&str> {
    remarks
        .iter()
        .map(|remark| remark["slip"]["slip"].as_str().unwrap())
        .collect()
}

#[test]
fn the_slips_of_published_commands_are_found() {
    let home = Home::new();
    let line = "fio --name=sustain --filename=f --size=3G --bs=1M --rw=write --direct=1 --time_based=1 --runtime=120 --iodepth=2";
    let words: Vec<&str> = line.split(' ').collect();
    let remarks = found(&home, &words);
    assert_eq!(slips(&remarks), ["depth_ignored", "no_ramp", "one_run"]);
    let (from, to) = (
        remarks[0]["span"][0].as_u64().unwrap() as usize,
        remarks[0]["span"][1].as_u64().unwrap() as usize,
    );
    assert_eq!(&words[1..].join(" ")[from..to], "--iodepth=2");
    let out = lint(&home, &words);
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(
        said.contains("iodepth=2 has no effect") && said.contains("use ioengine=io_uring"),
        "{said}"
    );
    assert!(said.ends_with("1 wrong, 0 weak, 2 to note.\n"), "{said}");
    // An option that lost its dashes in print.
    let bare: Vec<&str> = "fio --name=x --filename=f --size=4g --direct=1 --rw=read numjobs=1"
        .split(' ')
        .collect();
    assert!(slips(&found(&home, &bare)).contains(&"misread"));
    assert_eq!(home.left_behind(), 0, "nothing is run");
}

#[test]
fn a_sound_command_is_left_alone() {
    let home = Home::new();
    let line = "fio --name=x --filename=f --size=4g --direct=1 --rw=randread --time_based --runtime=60 --ramp_time=2s";
    let out = lint(&home, &line.split(' ').collect::<Vec<_>>());
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stdout));
}

#[test]
fn job_files_are_judged_line_by_line() {
    let home = Home::new();
    let file = home.work().join("jobs.fio");
    let jobs =
        "[global]\nsize=1GB\nfilename=f\n[w]\nrw=write\n[r]\nstonewall\nrw=read\ninvalidate=0\n";
    std::fs::write(&file, jobs).unwrap();
    let remarks = found(&home, &[file.to_str().unwrap()]);
    let slips = slips(&remarks);
    for slip in ["not_flushed", "reads_back", "unit"] {
        assert!(slips.contains(&slip), "{slip}: {slips:?}");
    }
    let of = |name: &str| {
        remarks
            .iter()
            .find(|remark| remark["slip"]["slip"] == name)
            .unwrap()
    };
    let place = |name: &str| {
        let span = &of(name)["span"];
        &jobs[span[0].as_u64().unwrap() as usize..span[1].as_u64().unwrap() as usize]
    };
    assert_eq!(
        (place("unit"), place("reads_back"), place("not_flushed")),
        ("size=1GB", "invalidate=0", "rw=write")
    );
}

#[test]
fn results_are_judged_by_what_they_say() {
    let home = Home::new();
    let file = home.work().join("out.txt");
    std::fs::write(
        &file,
        "\tChildren see throughput for  4 readers \t\t=   18427.04 kB/sec\n",
    )
    .unwrap();
    let remarks = found(&home, &[file.to_str().unwrap()]);
    assert!(slips(&remarks).contains(&"found"), "{remarks:?}");
}

#[test]
fn refuses_what_is_not_understood() {
    let home = Home::new();
    let out = lint(&home, &["fio", "--name=x", "--bananas=1"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(
        text(&out.stderr).contains("bananas"),
        "{}",
        text(&out.stderr)
    );
    let out = lint(&home, &["/no/such/file"]);
    assert_eq!(
        out.status.code(),
        Some(2),
        "1 would say that something was found in it"
    );
    assert!(
        text(&out.stderr).contains("/no/such/file"),
        "{}",
        text(&out.stderr)
    );
}

/// fio 3.33 does not list a `--time_based` without a value: a run that lasted for its full runtime had this option.
#[test]
fn a_result_that_met_its_time_did_not_end_early() {
    let home = Home::new();
    let result = |ms: u64, bytes: u64, more: &str| {
        format!(
            r#"{{"fio version": "fio-3.33", "timestamp": 1763781785, "jobs": [{{"jobname": "a", "groupid": 0, "error": 0,
            "job options": {{"name": "a", "rw": "read", "bs": "1m", "size": "64m", "runtime": "20", "direct": "1"{more}}},
            "read": {{"io_bytes": {bytes}, "bw_bytes": {}, "iops": 100.0, "runtime": {ms}, "total_ios": {}}}}}]}}"#,
            bytes * 1000 / ms,
            bytes >> 20
        )
    };
    let file = home.work().join("a.json");
    for (ms, bytes, ended_early) in [
        (20_001, 640 << 20, false),
        (1500, 64 << 20, true),
        (20_000, 32 << 20, false),
    ] {
        std::fs::write(&file, result(ms, bytes, "")).unwrap();
        let remarks = found(&home, &[file.to_str().unwrap()]);
        assert_eq!(
            slips(&remarks).contains(&"ends_early"),
            ended_early,
            "{ms} ms, {bytes} bytes: {remarks:?}"
        );
    }
    // fio 3.39 lists it without a value.
    std::fs::write(&file, result(20_001, 640 << 20, ", \"time_based\": \"\"")).unwrap();
    assert!(!slips(&found(&home, &[file.to_str().unwrap()])).contains(&"ends_early"));
}

#[test]
fn of_several_files_each_is_named() {
    let home = Home::new();
    for name in ["a.fio", "b.fio"] {
        std::fs::write(
            home.work().join(name),
            "[x]\nfilename=f\nrw=read\nsize=4g\n",
        )
        .unwrap();
    }
    let said = text(&lint(&home, &["a.fio", "b.fio"]).stdout);
    assert!(
        said.contains("a.fio:\n") && said.contains("b.fio:\n"),
        "{said}"
    );
    let out = lint(&home, &["/dev/zero"]);
    assert!(
        out.status.code() == Some(2) && text(&out.stderr).contains("256 MiB"),
        "{}",
        text(&out.stderr)
    );
}

#[test]
fn one_cause_is_one_remark_with_all_its_jobs() {
    let home = Home::new();
    let file = home.work().join("jobs.fio");
    let jobs = "[global]\nfilename=f\nrw=randread\nsize=4g\ntime_based\nruntime=60\n[a]\ndirect=0\n[b]\nname=c\nstonewall\n\
                iodepth=4\ndirect=1\n";
    std::fs::write(&file, jobs).unwrap();
    let remarks = found(&home, &[file.to_str().unwrap()]);
    let of = |name: &str| {
        remarks
            .iter()
            .filter(|remark| remark["slip"]["slip"] == name)
            .collect::<Vec<_>>()
    };
    assert_eq!(of("no_ramp").len(), 1, "{remarks:?}");
    assert_eq!(of("no_ramp")[0]["jobs"], serde_json::json!(["a", "c"]));
    // A renamed job keeps its position in the file.
    let span = &of("depth_ignored")[0]["span"];
    assert_eq!(
        &jobs[span[0].as_u64().unwrap() as usize..span[1].as_u64().unwrap() as usize],
        "iodepth=4"
    );
}

#[test]
fn a_quoted_command_line_is_a_command_line() {
    let home = Home::new();
    let line = "fio --name=x --filename=f --size=1GB --direct=1 --rw=randread --time_based --runtime=60 --ramp_time=2s";
    for quoted in [line.to_owned(), format!("$ sudo {line}")] {
        let out = lint(&home, &[&quoted]);
        assert_eq!(
            out.status.code(),
            Some(0),
            "{}{}",
            text(&out.stdout),
            text(&out.stderr)
        );
        assert!(
            text(&out.stdout).contains("size=1GB is 1073741824 bytes"),
            "{}",
            text(&out.stdout)
        );
    }
}

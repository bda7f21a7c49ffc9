//! Compares logs, latency limits, steady state, interim results and CPU idleness of the fio front end with the
//! installed fio and the same arguments.

use crate::support::{Home, hakaru, text};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Runs both programs with the same arguments, each in its own directory. The result of fio is `None` if it is not
/// installed.
fn both(words: &str) -> (Home, Output, Option<(Home, Output)>) {
    let words: Vec<&str> = words.split_whitespace().collect();
    let (home, theirs) = (Home::new(), Home::new());
    let ours = hakaru(&home)
        .arg("fio")
        .args(&words)
        .current_dir(home.work())
        .output()
        .unwrap();
    let fio = Command::new("fio")
        .args(&words)
        .current_dir(theirs.work())
        .output();
    if fio.is_err() {
        eprintln!("SKIPPED: fio is not installed, ours is looked at alone");
    }
    (home, ours, fio.ok().map(|out| (theirs, out)))
}

/// Returns the sorted file names in a directory.
fn files(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Returns the name, number of lines and number of columns of each log.
fn shape(directory: &Path) -> Vec<(String, usize, usize)> {
    let logs = files(directory)
        .into_iter()
        .filter(|name| name.ends_with(".log"));
    let shape = |name: String| {
        let text = std::fs::read_to_string(directory.join(&name)).unwrap();
        let columns = text
            .lines()
            .next()
            .map_or(0, |line| line.split(", ").count());
        (name, text.lines().count(), columns)
    };
    logs.map(shape).collect()
}

fn json(out: &Output) -> Value {
    let text = text(&out.stdout);
    serde_json::from_str(&text[text.find('{').unwrap_or(0)..])
        .unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn logs_of_each_io_have_the_lines_of_fio() {
    let (home, ours, fio) = both(
        "--name=a --size=64k --rw=randrw --bs=4k --numjobs=2 --ioengine=libaio --iodepth=2 --write_bw_log=x \
         --write_iops_log=x --write_lat_log=x --write_hist_log=x --log_offset=1 --log_prio=1",
    );
    assert!(ours.status.success(), "{}", text(&ours.stderr));
    let shape_of_ours = shape(&home.work());
    assert_eq!(shape_of_ours.len(), 12);
    assert!(
        shape_of_ours
            .iter()
            .any(|log| *log == ("x_clat.2.log".to_owned(), 16, 6)),
        "{shape_of_ours:?}"
    );
    if let Some((theirs, _)) = fio {
        assert_eq!(shape_of_ours, shape(&theirs.work()));
    }
}

#[test]
fn windows_and_histograms_have_the_columns_of_fio() {
    let (home, ours, fio) = both(
        "--name=a --size=1m --rw=read --bs=4k --rate_iops=200 --runtime=1 --time_based --write_bw_log=x --write_lat_log=x \
         --write_hist_log=x --log_hist_msec=300 --log_hist_coarseness=3 --log_avg_msec=200 --per_job_logs=0",
    );
    assert!(ours.status.success(), "{}", text(&ours.stderr));
    let columns = |directory: &Path| {
        shape(directory)
            .into_iter()
            .map(|(name, _, columns)| (name, columns))
            .collect::<Vec<_>>()
    };
    let ours = columns(&home.work());
    assert!(
        ours.contains(&("x_clat_hist.log".to_owned(), 3 + 1856 / 8)),
        "{ours:?}"
    );
    if let Some((theirs, _)) = fio {
        assert_eq!(ours, columns(&theirs.work()));
    }
}

#[test]
fn a_log_that_cannot_be_made_is_refused_before_the_run() {
    let home = Home::new();
    let words = [
        "fio",
        "--name=a",
        "--size=64k",
        "--write_bw_log=no/such/folder",
    ];
    let out = hakaru(&home)
        .args(words)
        .current_dir(home.work())
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert!(
        text(&out.stderr).contains("no/such/folder_bw.1.log"),
        "{}",
        text(&out.stderr)
    );
    assert_eq!(home.left_behind(), 0);
}

#[test]
fn an_io_that_takes_too_long_fails_as_in_fio() {
    let words = "--name=a --size=64k --rw=read --max_latency=1us --name=b --stonewall --size=64k --rw=read --output-format=json";
    let (_home, ours, fio) = both(words);
    let outcome = |out: &Output| {
        let jobs = json(out)["jobs"].as_array().unwrap().clone();
        let of = |job: &Value| {
            (
                job["error"].as_u64().unwrap(),
                job["read"]["total_ios"].as_u64().unwrap(),
            )
        };
        (out.status.code(), jobs.iter().map(of).collect::<Vec<_>>())
    };
    assert_eq!(outcome(&ours), (Some(1), vec![(110, 1), (0, 16)]));
    assert!(
        text(&ours.stderr).contains("exceeds specified max (1000 nsec): "),
        "{}",
        text(&ours.stderr)
    );
    if let Some((_, fio)) = fio {
        assert_eq!(outcome(&ours), outcome(&fio));
    }
}

#[test]
fn a_steady_state_is_printed_with_the_keys_of_fio() {
    let words = "--name=a --size=4m --rw=randread --rate_iops=100 --runtime=20 --time_based --ss=iops:50% --ss_dur=2 \
                 --output-format=json";
    let (_home, ours, fio) = both(words);
    let steady = |out: &Output| json(out)["jobs"][0]["steadystate"].clone();
    let state = steady(&ours);
    assert_eq!(
        (state["ss"].as_str(), state["attained"].as_u64()),
        (Some("iops:50.000000%"), Some(1))
    );
    let keys = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    if let Some((_, fio)) = fio {
        let theirs = steady(&fio);
        assert_eq!(keys(&state), keys(&theirs));
        assert_eq!(keys(&state["data"]), keys(&theirs["data"]));
        assert_eq!(
            (&state["ss"], &state["duration"]),
            (&theirs["ss"], &theirs["duration"])
        );
    }
}

#[test]
fn results_in_between_and_idle_processors() {
    let words = "--name=a --size=1m --rw=randread --rate_iops=100 --runtime=2 --time_based --status-interval=1 --idle-prof=percpu";
    let home = Home::new();
    let ours = hakaru(&home)
        .arg("fio")
        .args(words.split_whitespace())
        .current_dir(home.work())
        .output()
        .unwrap();
    let printed = text(&ours.stdout);
    assert!(printed.matches("\na: (groupid=0").count() >= 2, "{printed}");
    assert_eq!(
        printed.matches("\nCPU idleness:\n  system: ").count(),
        1,
        "{printed}"
    );
    assert!(
        printed.contains("  percpu: ") && printed.contains("  unit work: mean="),
        "{printed}"
    );
    let calibrated = hakaru(&home)
        .args(["fio", "--idle-prof=calibrate"])
        .output()
        .unwrap();
    assert!(
        calibrated.status.success()
            && text(&calibrated.stdout).starts_with("CPU idleness:\n  unit work: mean=")
    );
}

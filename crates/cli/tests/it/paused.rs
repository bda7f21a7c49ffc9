//! Tests a run that is stopped and continued: the pause of the host must not affect the results of the device.

use crate::support::{Home, hakaru, records, text, wait_until};
use hakaru_model::caveat::Caveat;
use hakaru_model::measured::PauseKind;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Whether a process has a worker thread with this name.
fn works(pid: u32, name: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let mut names =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
    names.any(|found| found.trim() == name)
}

/// Regression: five seconds of SIGSTOP reduced 4938 IOPS to 775 without a note.
#[test]
fn a_stopped_run_says_so_and_leaves_the_stop_out() {
    let home = Home::new();
    let words = [
        "bench",
        "--quick",
        "--repeat=1",
        "--only=sustained",
        "--size=16MiB",
    ];
    let mut child = hakaru(&home)
        .args(words)
        .arg(home.work())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| works(child.id(), "sustained"));
    std::thread::sleep(Duration::from_millis(700));
    let pid = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    let begun = Instant::now();
    std::thread::sleep(Duration::from_millis(2500));
    let stopped = begun.elapsed();
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    let mut stdout = Vec::new();
    std::io::Read::read_to_end(&mut child.stdout.take().unwrap(), &mut stdout).unwrap();
    assert!(child.wait().unwrap().success());

    let records = records(&home);
    let found = records[0].caveats.iter().find_map(|caveat| match caveat {
        Caveat::Paused {
            kind: PauseKind::Stopped,
            total,
            ..
        } => Some(*total),
        _ => None,
    });
    let total = found
        .unwrap_or_else(|| panic!("{:?}", records[0].caveats))
        .as_secs_f64();
    // The program notices the pause up to 0.1 s late, and its threads notice it at different times.
    assert!(
        total > stopped.as_secs_f64() * 0.8,
        "{total} of {stopped:?}"
    );
    assert!(
        text(&stdout).contains("Intervals during a pause are left out"),
        "{}",
        text(&stdout)
    );

    let phase = &records[0].phases[0];
    let worker = &phase.workers[0];
    let with_stop = worker.ops.write.bytes as f64 / worker.runtime.as_secs_f64();
    let summary = hakaru_analysis::summarize(&records);
    let printed = summary.phases[0].bandwidth.mean;
    assert!(
        printed > 1.2 * with_stop,
        "{printed} B/s, and {with_stop} with the stop in it"
    );
    let pause = phase.host_pauses.as_ref().unwrap().pauses[0];
    assert!(
        pause.length.as_secs_f64() <= phase.elapsed.as_secs_f64() + 1.0,
        "{pause:?}"
    );
}

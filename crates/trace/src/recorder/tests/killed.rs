//! What is left after a recorder was killed.

use super::*;

/// Not a test of its own: other tests start this program again with [`CHILD`].
#[test]
fn records_until_killed() {
    let Ok(child) = std::env::var(CHILD) else {
        return;
    };
    let (disk, method) = child.split_once(' ').unwrap();
    let method = match method {
        "ftrace" => TraceMethod::Ftrace,
        _ => TraceMethod::Perf,
    };
    let disk = DiskNumber::parse(disk).unwrap();
    match EventRecorder::start(disk, &with_method(method)) {
        Ok(_recorder) => {
            eprintln!("recording");
            std::thread::sleep(std::time::Duration::from_secs(60));
        }
        Err(reason) => eprintln!("refused: {reason:?}"),
    }
}

/// Starts this program again to record a disk. Returns the process and its first line.
pub(super) fn start_child(
    disk: DiskNumber,
    method: &str,
    uid: Option<u32>,
) -> std::io::Result<(std::process::Child, String)> {
    use std::io::BufRead;
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args([
            "--exact",
            "recorder::tests::killed::records_until_killed",
            "--nocapture",
        ])
        .env(CHILD, format!("{disk} {method}"))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped());
    if let Some(uid) = uid {
        command.uid(uid).gid(uid);
    }
    let mut child = command.spawn()?;
    let mut line = String::new();
    std::io::BufReader::new(child.stderr.take().unwrap()).read_line(&mut line)?;
    Ok((child, line.trim().to_owned()))
}

/// Returns what a killed recorder could leave behind: mounts of tracefs, and whether events are enabled.
pub(super) fn traces_left(tracefs: &Tracefs) -> (Vec<String>, String) {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mounts = mounts.lines().filter(|line| line.contains(" - tracefs "));
    let enabled = tracefs.read("events/block/enable").unwrap_or_default();
    (mounts.map(str::to_owned).collect(), enabled)
}

#[test]
fn nothing_stays_after_a_kill() {
    let test = "nothing_stays_after_a_kill";
    let Some(device) = TestLoop::new(test) else {
        return;
    };
    let tracefs = Tracefs::find().unwrap();
    for method in ["perf", "ftrace"] {
        let before = traces_left(&tracefs);
        let (mut child, line) = start_child(device.number, method, None).unwrap();
        let instance = format!("hakaru-{}-0", child.id());
        if line == "recording" && method == "ftrace" {
            assert!(tracefs.instances().contains(&instance));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if line != "recording" {
            return eprintln!("SKIPPED {test}: {line}");
        }
        // An instance stays until the next start.
        if let Some(recorder) = recorder(device.number, &with_method(TraceMethod::Perf)) {
            drop(recorder);
        }
        assert!(!tracefs.instances().contains(&instance));
        assert_eq!(traces_left(&tracefs), before);
    }
}

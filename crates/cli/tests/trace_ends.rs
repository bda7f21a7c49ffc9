//! Traced runs that are interrupted, whose medium fails, or that cannot be traced. Tests that cannot trace here print that
//! they were skipped.

#[path = "it/support/mod.rs"]
mod support;

use hakaru_model::caveat::Caveat;
use hakaru_model::io_path::{IoPath, IssuerKind, TimePart, TraceObstacle};
use hakaru_model::job::Op;
use hakaru_model::record::RunRecord;
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use support::{
    Home, Loop, TracingState, descriptors_of, execute, hakaru, records, root_loop_in_memory,
    root_loop_sparse, text,
};

/// Starts a traced job of a minute on a loop device, and waits until it has done some I/Os. Returns `None`, with the
/// reason printed, if it is not traced.
fn start_traced(home: &Home, disk: &Loop, rw: &str) -> Option<Child> {
    let mut command = hakaru(home);
    command.args([
        "fio",
        "--hakaru-trace",
        "--name=job",
        "--direct=1",
        "--bs=4k",
    ]);
    command.args(["--size=8m", "--time_based=1", "--runtime=60"]);
    command.arg(format!("--filename={}", disk.device()));
    command.arg(format!("--rw={rw}"));
    let null = Stdio::null;
    let mut child = command.stdout(null()).stderr(null()).spawn().unwrap();
    let before = ios_of(disk);
    let mut traces = false;
    support::wait_until(|| {
        let open = descriptors_of(child.id());
        traces |= open
            .iter()
            .any(|name| name.contains("perf_event") || name.contains("trace_pipe_raw"));
        // More than the probe of the recorder reads, and than a segment without tracing, by which its cost is measured.
        ios_of(disk) > before + 5000 || open.is_empty()
    });
    if !traces {
        eprintln!("SKIPPED: kernel events cannot be recorded here");
        let _ = child.kill();
        let _ = child.wait();
        return None;
    }
    Some(child)
}

/// Returns how many reads and writes a disk has done.
fn ios_of(disk: &Loop) -> u64 {
    let name = Path::new(disk.device()).file_name().unwrap();
    let stat = Path::new("/sys/block").join(name).join("stat");
    let stat = std::fs::read_to_string(stat).unwrap_or_default();
    let fields: Vec<u64> = stat
        .split_whitespace()
        .filter_map(|w| w.parse().ok())
        .collect();
    fields.first().unwrap_or(&0) + fields.get(4).unwrap_or(&0)
}

/// Held by tests that look at the tracing of the whole host, and by the one that changes it.
static HOST: Mutex<()> = Mutex::new(());

/// Holds [`HOST`] and reads the state; `None`, with the reason printed, where it cannot be read.
fn tracing_of_host() -> Option<(MutexGuard<'static, ()>, TracingState)> {
    let held = HOST.lock().unwrap_or_else(PoisonError::into_inner);
    let state = TracingState::read();
    if state.is_none() {
        eprintln!("SKIPPED: tracefs cannot be read here");
    }
    Some((held, state?))
}

/// Returns the path of the only phase of the only record.
fn only_path(home: &Home) -> (RunRecord, IoPath) {
    let mut records = records(home);
    assert_eq!(records.len(), 1);
    let record = records.remove(0);
    let [path] = &record.phases[0].paths[..] else {
        panic!("one path: {:?}", record.phases[0].paths);
    };
    let path = path.clone();
    (record, path)
}

#[test]
fn keeps_the_path_of_an_interrupted_run() {
    for (signal, disk) in [
        (
            Signal::INT,
            root_loop_sparse as fn(&Home, u64) -> Option<Loop>,
        ),
        (Signal::TERM, root_loop_in_memory),
    ] {
        let home = Home::new();
        let Some(disk) = disk(&home, 16 << 20) else {
            return;
        };
        let Some((_held, before)) = tracing_of_host() else {
            return;
        };
        // At this moment the cost of tracing is being measured, so recording may be on or off.
        let Some(mut child) = start_traced(&home, &disk, "randwrite") else {
            return;
        };
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
        let (record, path) = only_path(&home);
        assert!(record.phases[0].workers[0].ops[Op::Write].ios > 0);
        assert!(
            path.window.0 > 0 && path.window.0 < 60_000_000_000,
            "{path:?}"
        );
        let requests: u64 = path.classes.iter().map(|class| class.requests).sum();
        assert!(requests > 0, "{path:?}");
        assert!(path.cost.is_some() || path.cost_unknown.is_some());
        before.check_left_by(child.id());
    }
}

#[test]
fn keeps_the_path_of_a_run_whose_medium_fails() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 16 << 20) else {
        return;
    };
    let Some((_held, before)) = tracing_of_host() else {
        return;
    };
    let Some(mut child) = start_traced(&home, &disk, "randread") else {
        return;
    };
    // The device is detached as soon as nobody uses it any more, and reads past the end of its file fail.
    disk.detach();
    std::fs::File::options()
        .write(true)
        .open(home.path().join("disk.img"))
        .and_then(|image| image.set_len(0))
        .unwrap();
    child.wait().unwrap();
    let (record, path) = only_path(&home);
    let errors: u64 = record.phases[0]
        .workers
        .iter()
        .map(|w| w.errors.total)
        .sum();
    assert!(errors > 0);
    let requests: u64 = path.classes.iter().map(|class| class.requests).sum();
    assert!(requests > 0, "{path:?}");
    before.check_left_by(child.id());
}

/// An event that another program records with ftrace; it stops when this is dropped.
struct OtherTracing(&'static str);

impl Drop for OtherTracing {
    fn drop(&mut self) {
        support::in_tracefs(&format!(
            "echo 0 > events/{}/enable; echo 0 > events/{0}/filter",
            self.0
        ));
    }
}

#[test]
fn leaves_events_that_others_enabled_as_they_are() {
    let home = Home::new();
    let Some(disk) = root_loop_in_memory(&home, 16 << 20) else {
        return;
    };
    let Some((_held, free)) = tracing_of_host() else {
        return;
    };
    let event = "block/block_rq_complete";
    if free.enables(event) {
        return eprintln!("SKIPPED: somebody records {event} here");
    }
    // No device has this number, so that nothing is recorded meanwhile.
    let enable =
        format!("echo 'dev == 1' > events/{event}/filter && echo 1 > events/{event}/enable");
    let other = OtherTracing("block/block_rq_complete");
    if support::in_tracefs(&enable).is_none() {
        return eprintln!("SKIPPED: events cannot be enabled here");
    }
    let filter = || support::in_tracefs(&format!("cat events/{event}/filter"));
    let (before, filtered) = (TracingState::read().unwrap(), filter());
    assert!(before.enables(event));
    for signal in [None, Some(Signal::TERM), Some(Signal::KILL)] {
        let Some(mut child) = start_traced(&home, &disk, "randread") else {
            return;
        };
        assert_eq!(TracingState::read().as_ref(), Some(&before));
        kill_process(Pid::from_child(&child), signal.unwrap_or(Signal::INT)).unwrap();
        child.wait().unwrap();
        before.check_left_by(child.id());
        assert_eq!(filter(), filtered);
    }
    drop(other);
    free.check_left_by(0);
    // The runs that could end have their paths.
    let records = records(&home);
    assert_eq!(records.len(), 2);
    for record in records {
        let requests = record.phases[0].paths[0].classes.iter();
        assert!(requests.map(|class| class.requests).sum::<u64>() > 0);
    }
}

/// Runs a short traced job with a shell script in which `hakaru` stands for the command line.
fn traced_in(home: &Home, disk: &Loop, wrapper: &[&str], before: &str) -> Option<Output> {
    let own = hakaru(home);
    let script = format!(
        "{before} exec {} fio --hakaru-trace=whole --name=job --rw=randwrite --bs=4k --size=1m --direct=1 --filename={}",
        own.get_program().display(),
        disk.device()
    );
    let mut command = Command::new(wrapper[0]);
    command.args(&wrapper[1..]).args(["sh", "-c", &script]);
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let out = command.output().ok()?;
    if records(home).is_empty() {
        eprintln!(
            "SKIPPED: {wrapper:?} does not work here: {}",
            text(&out.stderr)
        );
        return None;
    }
    Some(out)
}

/// Returns what prevented the trace of the only record; `None` if it was traced.
fn obstacle(home: &Home) -> Option<TraceObstacle> {
    let records = records(home);
    records[0].caveats.iter().find_map(|caveat| match caveat {
        Caveat::NotTraced { because } => Some(because.clone()),
        _ => None,
    })
}

#[test]
fn a_kernel_without_the_events_is_measured_without_a_trace() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 16 << 20) else {
        return;
    };
    let empty = home.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let hide = format!(
        "mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing || exit 9; \
         mount --bind {} /sys/kernel/tracing/events || exit 9;",
        empty.display()
    );
    let Some(out) = traced_in(&home, &disk, &["unshare", "-m"], &hide) else {
        return;
    };
    assert!(out.status.success(), "{}", text(&out.stderr));
    let said = text(&out.stderr);
    assert!(
        said.contains("Not traced: the kernel lacks the events block_bio_queue"),
        "{said}"
    );
    let Some(TraceObstacle::MissingEvents { names }) = obstacle(&home) else {
        panic!("{:?}", obstacle(&home));
    };
    assert!(names.contains(&"block_rq_issue".to_owned()));
    // The counters of the disk remain.
    let explained = execute(&home, "explain latest");
    assert_eq!(explained.status.code(), Some(1));
    let page = text(&explained.stdout);
    assert!(page.contains("What the counters of the disk say"));
    assert_eq!(page.matches("Not traced: ").count(), 1, "{page}");
}

/// Runs a traced job as root without the capabilities for tracing, after a command for its private mounts. Root of a
/// container is like this: it has user ID 0, and `sudo` would not help.
fn traced_as_restricted_root(home: &Home, disk: &Loop, mounts: &str) -> Option<Output> {
    let without = "-perfmon,-sys_admin,-dac_read_search";
    let script = format!(
        "{mounts} || exit 9; exec setpriv --inh-caps {without} --bounding-set {without} \"$@\""
    );
    traced_in(
        home,
        disk,
        &["unshare", "-m", "sh", "-c", &script, "sh"],
        "",
    )
}

#[test]
fn root_of_a_container_is_told_to_trace_on_the_host() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 16 << 20) else {
        return;
    };
    // tracefs may be mounted at either place: the kernel mounts it below debugfs as soon as somebody looks there.
    let hide = "for name in debug tracing; do test ! -d /sys/kernel/$name || \
                mount -t tmpfs none /sys/kernel/$name || exit 9; done";
    let Some(out) = traced_as_restricted_root(&home, &disk, hide) else {
        return;
    };
    let said = text(&out.stderr);
    let because = obstacle(&home);
    assert_eq!(because, Some(TraceObstacle::RestrictedRoot), "{said}");
    assert!(
        said.contains("run on the host") && !said.contains("sudo"),
        "{said}"
    );
}

/// The files of tracefs belong to root, so that a mounted one needs no capability.
#[test]
fn root_without_capabilities_traces_by_a_mounted_tracefs() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 16 << 20) else {
        return;
    };
    let mount = "mount -t tracefs none /sys/kernel/tracing";
    let Some(out) = traced_as_restricted_root(&home, &disk, mount) else {
        return;
    };
    assert_eq!(obstacle(&home), None, "{}", text(&out.stderr));
    let (_, path) = only_path(&home);
    let requests: u64 = path.classes.iter().map(|class| class.requests).sum();
    assert!(requests > 0, "{path:?}");
}

/// The kernel mounts tracefs below debugfs when a program opens that directory.
#[test]
fn does_not_mount_tracefs_below_debugfs() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 16 << 20) else {
        return;
    };
    let script = format!(
        "for name in tracing debug; do while umount -l /sys/kernel/$name 2>/dev/null; do :; done; done; \
         mount -t debugfs none /sys/kernel/debug || exit 9; \
         \"$@\"; status=$?; cp /proc/self/mounts {}/mounts; exit $status",
        home.path().display()
    );
    let wrapper = ["unshare", "-m", "sh", "-c", &script, "sh"];
    let Some(out) = traced_in(&home, &disk, &wrapper, "") else {
        return;
    };
    assert!(out.status.success(), "{}", text(&out.stderr));
    let mounts = std::fs::read_to_string(home.path().join("mounts")).unwrap();
    let below = |line: &&str| line.contains(" /sys/kernel/debug/tracing ");
    let mounted: Vec<&str> = mounts.lines().filter(below).collect();
    assert_eq!(mounted, [""; 0]);
    // It was traced by another way, or that was reported.
    let traced = !records(&home)[0].phases[0].paths.is_empty();
    assert_ne!(traced, obstacle(&home).is_some());
}

#[test]
fn root_of_a_user_namespace_is_told_to_trace_on_the_host() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 16 << 20) else {
        return;
    };
    let Some(out) = traced_in(&home, &disk, &["unshare", "-Ur"], "") else {
        return;
    };
    let said = text(&out.stderr);
    assert_eq!(
        obstacle(&home),
        Some(TraceObstacle::UserNamespace),
        "{said}"
    );
    assert!(said.contains("run on the host"), "{said}");
}

#[test]
fn threads_are_recognized_in_a_pid_namespace() {
    for wrapper in [&["unshare", "-pf"][..], &["unshare", "-pf", "--mount-proc"]] {
        let home = Home::new();
        let Some(disk) = root_loop_sparse(&home, 16 << 20) else {
            return;
        };
        let Some(out) = traced_in(&home, &disk, wrapper, "") else {
            return;
        };
        assert!(out.status.success(), "{}", text(&out.stderr));
        if let Some(obstacle) = obstacle(&home) {
            return eprintln!("SKIPPED: {obstacle:?}");
        }
        let (_, path) = only_path(&home);
        let issuers = path.classes.iter().flat_map(|class| &class.issuers);
        let by_workers: u64 = issuers
            .filter(|issuer| issuer.kind == IssuerKind::Worker)
            .map(|issuer| issuer.bytes.0)
            .sum();
        assert_eq!(by_workers, 1 << 20, "{wrapper:?}: {:?}", path.classes);
        assert!(!path.tracer.foreign_threads);
        let writes = path.operations.iter().find(|of| of.op == Some(Op::Write));
        assert!(writes.unwrap().mean.of(TimePart::Data) > 0.0);
    }
}

#[test]
fn a_benchmark_without_privileges_says_once_why_there_is_no_trace() {
    let home = Home::new();
    for directory in [home.path(), &home.work()] {
        std::fs::set_permissions(directory, PermissionsExt::from_mode(0o777)).unwrap();
    }
    let mut command = hakaru(&home);
    if rustix::process::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    let work = home.work().display().to_string();
    command.args(["bench", &work, "--trace", "--quick", "--repeat", "2"]);
    command.args(["--size", "16MiB", "--only", "rand-read", "-o"]);
    command.arg(home.path().join("page.html"));
    let out = match command.output() {
        Ok(out) => out,
        Err(error) => {
            return eprintln!("SKIPPED: another user cannot run the program: {error}");
        }
    };
    assert!(out.status.success(), "{}", text(&out.stderr));
    let records = records(&home);
    if records.iter().any(RunRecord::is_traced) {
        return eprintln!("SKIPPED: any user may trace here");
    }
    assert_eq!(records.len(), 2);
    let said = text(&out.stderr);
    assert_eq!(said.matches("Not traced: ").count(), 1, "{said}");
    let shown = text(&out.stdout);
    assert_eq!(shown.matches("Not traced: ").count(), 1, "{shown}");
}

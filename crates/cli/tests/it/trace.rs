//! Traced runs. Tracing needs root; tests that cannot trace here print that they were skipped.

use crate::support::{
    self, Home, Loop, TracingState, descriptors_of, execute, hakaru, records, root_loop_in_memory,
    root_loop_sparse, text,
};
use hakaru_model::campaign::CampaignPoint;
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{Summary, TracedPhase};
use hakaru_model::io_path::{
    IoClass, IoPath, Issuer, IssuerKind, NoTraceCost, TimePart, TraceMethod,
};
use hakaru_model::job::Op;
use hakaru_model::record::RunRecord;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

/// Runs `hakaru fio --hakaru-trace` with these options in a directory.
fn traced_fio(home: &Home, directory: &Path, options: &str) -> Output {
    let mut command = hakaru(home);
    command.args(["fio", "--hakaru-trace=whole", "--name=job"]);
    command.arg(format!("--directory={}", directory.display()));
    command.args(options.split_whitespace()).output().unwrap()
}

/// Whether nothing prevented a trace; otherwise prints what did.
fn is_traceable(record: &RunRecord) -> bool {
    let because = record
        .caveats
        .iter()
        .find(|caveat| matches!(caveat, Caveat::NotTraced { .. }));
    if let Some(because) = because {
        eprintln!("SKIPPED: {}", hakaru_report::text::caveat(because));
    }
    because.is_none()
}

/// A mounted ext4 on a loop device; `None` without root.
fn mounted(home: &Home) -> Option<(Loop, std::path::PathBuf)> {
    let disk = root_loop_sparse(home, 64 << 20)?;
    let mount = disk.mkfs_and_mount("ext4");
    Some((disk, mount))
}

/// Checks what holds for every path: all bytes have a class, and the classes add up to what the disk counted.
fn check_sums(path: &IoPath) {
    let tracer = &path.tracer;
    if tracer.lost_share() > 0.0 || tracer.unseen_completions > 0 {
        eprintln!("SKIPPED: events were lost: {tracer:?}");
        return;
    }
    let counters = path.counters.expect("the disk has counters");
    let written = path.bytes(Op::Write).0;
    // The disk counts requests that were in flight at an edge, and the trace does not know all of them.
    let edges = path.edges.at_start_bytes.0 + path.edges.at_end_bytes.0;
    assert!(
        counters.written.0.abs_diff(written) <= edges,
        "{written} bytes in classes, {counters:?}, {:?}",
        path.edges
    );
    let unknown = path.classes.iter().find(|c| c.class == IoClass::Unknown);
    assert_eq!(unknown, None);
}

#[test]
fn classes_of_a_traced_job_add_up_to_the_counters_of_the_disk() {
    let home = Home::new();
    let Some((_disk, mount)) = mounted(&home) else {
        return;
    };
    let options = "--rw=randwrite --bs=4k --size=2m --direct=1 --fsync=4";
    let out = traced_fio(&home, &mount, options);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let record = &records(&home)[0];
    if !is_traceable(record) {
        return;
    }
    assert!(record.caveats.contains(&Caveat::Traced));
    let [path] = &record.phases[0].paths[..] else {
        panic!("one path for one disk: {:?}", record.phases[0].paths);
    };
    assert_eq!(path.disk.filesystem.as_deref(), Some("ext4"));
    check_sums(path);
    let bytes = |class: IoClass| -> u64 {
        let of_class = path.classes.iter().filter(|c| c.class == class);
        of_class.map(|c| c.bytes.0).sum()
    };
    assert_eq!(bytes(IoClass::Data), 2 << 20);
    assert!(bytes(IoClass::Journal) > 0, "each fsync commits");
    let asked: u64 = path.asked.iter().map(|size| size.count).sum();
    assert_eq!(asked, 512);
    assert_eq!(path.cost_unknown, Some(NoTraceCost::Whole));
    for operation in &path.operations {
        let (sum, mean) = (operation.mean.total(), operation.mean_latency.0 as f64);
        assert!((sum / mean - 1.0).abs() < 0.02, "{operation:?}");
    }
    let writes = path.operations.iter().find(|o| o.op == Some(Op::Write));
    let on_device = writes.map(|writes| writes.mean.of(TimePart::Data));
    assert!(on_device > Some(0.0), "{writes:?}");
    explains(&home, &record.id);
}

/// Checks each output of `hakaru explain`.
fn explains(home: &Home, run: &str) {
    let shown = execute(home, &format!("explain {run}"));
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    assert!(
        text(&shown.stdout).contains("journal"),
        "{}",
        text(&shown.stdout)
    );
    for ending in ["html", "md", "json"] {
        let file = home.path().join(format!("path.{ending}"));
        let out = execute(home, &format!("explain {run} -o {}", file.display()));
        assert!(out.status.success(), "{}", text(&out.stderr));
        let content = std::fs::read_to_string(&file).unwrap();
        if ending == "json" {
            let paths: Vec<TracedPhase> = serde_json::from_str(&content).unwrap();
            assert_eq!(paths.len(), 1);
        }
    }
}

/// The files of Btrfs have device numbers that no mount has, and a new file has no path yet.
#[test]
fn a_new_file_on_btrfs_is_traced() {
    if !Command::new("mkfs.btrfs")
        .arg("--version")
        .output()
        .is_ok_and(|out| out.status.success())
    {
        eprintln!("SKIPPED: no mkfs.btrfs");
        return;
    }
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 256 << 20) else {
        return;
    };
    let mount = disk.mkfs_and_mount("btrfs");
    let options = "--rw=randwrite --bs=4k --size=2m --direct=1 --end_fsync=1";
    traced_fio(&home, &mount, options);
    let record = &records(&home)[0];
    let measured = &record.phases[0];
    assert!(
        measured
            .disks
            .iter()
            .any(|it| disk.device().ends_with(&it.name)),
        "{:?}",
        record.caveats
    );
    if !is_traceable(record) {
        return;
    }
    let path = &measured.paths[0];
    assert_eq!(path.disk.filesystem.as_deref(), Some("btrfs"));
    assert!(path.bytes(Op::Write).0 >= 2 << 20, "{:?}", path.classes);
}

#[test]
fn a_benchmark_traces_one_more_round_and_finds_its_unnamed_file() {
    let home = Home::new();
    let Some((_disk, mount)) = mounted(&home) else {
        return;
    };
    let line = format!(
        "bench {} --trace --quick --repeat 2 --size 16MiB --only durable -q -o {}",
        mount.display(),
        home.path().join("page.html").display()
    );
    let out = execute(&home, &line);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let mut records = records(&home);
    records.reverse();
    if !records.iter().all(is_traceable) {
        assert_eq!(records.len(), 2);
        return;
    }
    let [first, second, traced] = &records[..] else {
        panic!("two rounds and a traced one: {}", records.len());
    };
    assert!(!first.is_traced() && !second.is_traced() && traced.is_traced());
    assert!(first.phases[0].paths.is_empty());
    assert!(records.iter().all(|run| run.series == first.series));
    assert_eq!(traced.repeat, 2);
    // Elsewhere the counter of the CPU is not read directly.
    if cfg!(target_arch = "x86_64") {
        assert_ne!(first.environment.clock, "CLOCK_MONOTONIC_RAW");
    }
    assert_eq!(traced.environment.clock, "CLOCK_MONOTONIC_RAW");
    // Figures and findings are those of the rounds that were not traced.
    let untraced = hakaru_analysis::summarize(&records[..2]);
    let all = hakaru_analysis::summarize(&records);
    assert_eq!(all.paths.len(), 1);
    assert_eq!(
        Summary {
            paths: Vec::new(),
            traced: Vec::new(),
            ..all
        },
        untraced
    );

    let path = &traced.phases[0].paths[0];
    check_sums(path);
    assert!(path.cost.is_some() != path.cost_unknown.is_some());
    let data = path.classes.iter().find(|c| c.class == IoClass::Data);
    assert!(
        data.is_some_and(|data| data.bytes.0 > 0),
        "{:?}",
        path.classes
    );
    let page = std::fs::read_to_string(home.path().join("page.html")).unwrap();
    assert!(page.contains("Path of an I/O"));
    // Any run of the series leads to its path, and a traced run is marked where it is shown alone.
    for run in [&first.id, &traced.id, &"latest".to_owned()] {
        let shown = execute(&home, &format!("explain {run}"));
        assert!(shown.status.success(), "{}", text(&shown.stderr));
    }
    let shown = execute(&home, &format!("show {}", traced.id));
    assert!(text(&shown.stdout).contains("Traced: "));
    let shown = execute(&home, &format!("show {}", first.id));
    assert!(!text(&shown.stdout).contains("Traced: "));
}

/// Returns how often each recorded event occurred in the last run.
fn counted(path: &IoPath) -> BTreeMap<&str, u64> {
    let events = path.tracer.events.iter();
    events
        .map(|event| (event.name.as_str(), event.counted))
        .collect()
}

#[test]
fn records_two_events_a_request_at_depth_1_of_a_raw_device() {
    for (options, minimal) in [
        ("--iodepth=1", true),
        ("--iodepth=4", false),
        ("--iodepth=1 --fsync=8", false),
    ] {
        let home = Home::new();
        let Some(disk) = root_loop_in_memory(&home, 16 << 20) else {
            return;
        };
        let mut command = hakaru(&home);
        command.args(["fio", "--hakaru-trace=whole", "--name=job"]);
        command.args(["--rw=randwrite", "--bs=4k", "--size=2m", "--direct=1"]);
        command.args(["--ioengine=libaio", "--filename", disk.device()]);
        let out = command.args(options.split(' ')).output().unwrap();
        assert!(out.status.success(), "{}", text(&out.stderr));
        let record = &records(&home)[0];
        if !is_traceable(record) {
            return;
        }
        let path = &record.phases[0].paths[0];
        if path.tracer.lost_share() > 0.0 {
            return eprintln!("SKIPPED: events are lost here: {:?}", path.tracer);
        }
        let queue = disk.queue();
        if queue.contains("rotational 1") || !queue.contains("scheduler none") {
            return eprintln!("SKIPPED: loop devices are slow or scheduled here: {queue}");
        }
        check_sums(path);
        let events = counted(path);
        assert_eq!(events.contains_key("block_bio_queue"), !minimal);
        assert!(events["block_rq_issue"] >= 512, "{events:?}");
        // Even so, it is known whose requests they are and where their time went.
        assert_eq!(path.tracer.unmatched, 0);
        let data = path.classes.iter().find(|c| c.class == IoClass::Data);
        let issuers = &data.unwrap().issuers;
        let by_worker = |issuer: &&Issuer| issuer.kind == IssuerKind::Worker;
        let bytes = issuers
            .iter()
            .filter(by_worker)
            .map(|it| it.bytes.0)
            .sum::<u64>();
        assert_eq!(bytes, 2 << 20, "{issuers:?}");
        let writes = path.operations.iter().find(|of| of.op == Some(Op::Write));
        assert!(writes.unwrap().mean.of(TimePart::Data) > 0.0);
    }
}

#[test]
fn each_queue_depth_has_its_tracing_facility() {
    let home = Home::new();
    let Some(disk) = root_loop_in_memory(&home, 16 << 20) else {
        return;
    };
    let mut command = hakaru(&home);
    command.args(["fio", "--hakaru-trace=whole", "--rw=randwrite", "--bs=4k"]);
    command.args([
        "--size=2m",
        "--direct=1",
        "--ioengine=libaio",
        "--stonewall",
    ]);
    command.args(["--filename", disk.device()]);
    for (name, depth) in [("first", 1), ("second", 8), ("third", 1)] {
        command.args([format!("--name={name}"), format!("--iodepth={depth}")]);
    }
    let out = command.output().unwrap();
    assert!(out.status.success(), "{}", text(&out.stderr));
    let record = &records(&home)[0];
    if !is_traceable(record) {
        return;
    }
    let paths: Vec<&IoPath> = record.phases.iter().map(|phase| &phase.paths[0]).collect();
    assert_eq!(paths.len(), 3);
    let [first, second, third] = [0, 1, 2].map(|phase: usize| paths[phase].tracer.method);
    // Where ftrace cannot be used, or perf loses events, there is one facility for all.
    assert_eq!(first, third);
    assert!(first == second || (first, second) == (TraceMethod::Ftrace, TraceMethod::Perf));
    // All events are recorded of a slow device, at each depth.
    let is_slow = disk.queue().contains("rotational 1");
    if !is_slow && support::in_tracefs("mkdir instances/x && rmdir instances/x").is_some() {
        assert_eq!(first, TraceMethod::Ftrace);
    }
    for path in paths {
        if path.tracer.lost_share() > 0.0 {
            return eprintln!("SKIPPED: events are lost here: {:?}", path.tracer);
        }
        check_sums(path);
        let data = path.classes.iter().find(|c| c.class == IoClass::Data);
        assert_eq!(data.unwrap().bytes.0, 2 << 20);
    }
}

/// Runs a command as an unprivileged user, if this user is privileged.
fn unprivileged(mut command: Command) -> Command {
    if rustix::process::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    command
}

#[test]
fn a_user_without_privileges_measures_and_learns_why_there_is_no_trace() {
    let home = Home::new();
    for directory in [home.path(), &home.work()] {
        std::fs::set_permissions(directory, PermissionsExt::from_mode(0o777)).unwrap();
    }
    let mut command = unprivileged(hakaru(&home));
    command.current_dir(home.work());
    command.args([
        "fio",
        "--hakaru-trace",
        "--name=job",
        "--rw=write",
        "--size=1m",
    ]);
    let out = match command.output() {
        Ok(out) => out,
        Err(error) => {
            eprintln!("SKIPPED: another user cannot run the program: {error}");
            return;
        }
    };
    assert!(out.status.success(), "{}", text(&out.stderr));
    let record = &records(&home)[0];
    if record.caveats.contains(&Caveat::Traced) {
        eprintln!("SKIPPED: any user may trace here");
        return;
    }
    assert!(record.phases[0].paths.is_empty());
    assert_eq!(record.phases[0].workers[0].ops[Op::Write].bytes, 1 << 20);
    let said = text(&out.stderr);
    assert!(said.contains("Not traced: "), "{said}");
    let explained = execute(&home, &format!("explain {}", record.id));
    assert_eq!(explained.status.code(), Some(1));
    let page = text(&explained.stdout);
    assert_eq!(page.matches("Not traced: ").count(), 1, "{page}");
    assert!(text(&explained.stderr).contains("has no trace"));
}

#[test]
fn a_run_that_was_not_traced_says_what_would_trace_it() {
    let home = Home::new();
    let mut command = hakaru(&home);
    command.current_dir(home.work()).env("HAKARU_STORE", "1");
    command.args(["fio", "--name=job", "--rw=write", "--size=1m"]);
    assert!(command.output().unwrap().status.success());
    let out = execute(&home, "explain latest");
    assert_eq!(out.status.code(), Some(1));
    // The page says it once, and the error does not repeat it.
    let page = text(&out.stdout);
    assert_eq!(page.matches("--hakaru-trace").count(), 1, "{page}");
    assert_eq!(text(&out.stderr), "error: run latest has no trace\n");
    let out = execute(&home, "explain nothing");
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn the_option_is_not_part_of_the_language_of_fio() {
    let home = Home::new();
    let mut command = hakaru(&home);
    command.arg0("fio").current_dir(home.work());
    command.args(["--hakaru-trace", "--name=job", "--rw=write", "--size=1m"]);
    let out = command.output().unwrap();
    assert!(!out.status.success());
    assert_eq!(home.left_behind(), 0);
}

#[test]
fn a_killed_run_leaves_nothing_behind() {
    let home = Home::new();
    let Some((_disk, mount)) = mounted(&home) else {
        return;
    };
    let Some(before) = TracingState::read() else {
        return eprintln!("SKIPPED: tracefs cannot be read here");
    };
    let mut command = hakaru(&home);
    command.args(["fio", "--hakaru-trace", "--name=job", "--rw=randwrite"]);
    command.args(["--size=2m", "--time_based=1", "--runtime=60", "--direct=1"]);
    command.arg(format!("--directory={}", mount.display()));
    let null = std::process::Stdio::null;
    let mut child = command.stdout(null()).stderr(null()).spawn().unwrap();
    let mut traces = false;
    support::wait_until(|| {
        let open = descriptors_of(child.id());
        traces = open
            .iter()
            .any(|name| name.contains("perf_event") || name.contains("trace_pipe_raw"));
        let works = || std::fs::read_dir(&mount).unwrap().count() > 1;
        traces || open.is_empty() || works()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    if !traces {
        eprintln!("SKIPPED: kernel events cannot be recorded here");
        return;
    }
    before.check_left_by(child.id());
}

#[test]
fn a_campaign_traces_one_more_run_of_each_point() {
    let home = Home::new();
    let folder = home.work().display().to_string();
    let file = format!(
        "name = \"traced\"\nrepeats = 2\n[trace]\n[[card]]\nlabel = \"folder\"\nfolder = \"{folder}\"\n\
         [[workload]]\nname = \"w\"\nrw = \"write\"\nbs = \"64 KiB\"\nsize = \"1 MiB\"\nfile = \"data\"\n"
    );
    let path = home.path().join("traced.toml");
    std::fs::write(&path, file).unwrap();
    for _ in 0..2 {
        let out = execute(&home, &format!("campaign run {}", path.display()));
        assert!(out.status.success(), "{}", text(&out.stderr));
    }
    let records = records(&home);
    let (traced, untraced): (Vec<_>, Vec<_>) =
        records.iter().partition(|record| record.is_traced());
    assert_eq!((traced.len(), untraced.len()), (1, 2));
    let point = traced[0].campaign.as_ref();
    assert!(point.is_some_and(CampaignPoint::is_traced));
    assert!(untraced.iter().all(|run| run.series != traced[0].series));
    let csv = execute(
        &home,
        &format!("campaign report {} --format csv", path.display()),
    );
    assert!(csv.status.success(), "{}", text(&csv.stderr));
    let summary = hakaru_analysis::summarize(&records);
    assert_eq!(summary.runs.len(), 2);
    if !is_traceable(traced[0]) {
        return;
    }
    // The figures are those of the others; what comes from the traced run has names of its own.
    let csv = text(&csv.stdout);
    assert!(csv.contains(",path_") && !csv.contains(",traced,"), "{csv}");
    let parquet = home.path().join("traced.parquet");
    for (form, file) in [("html", "traced.html"), ("markdown", "traced.md")] {
        let file = home.path().join(file);
        let line = format!(
            "campaign report {} --format {form} -o {}",
            path.display(),
            file.display()
        );
        assert!(execute(&home, &line).status.success());
        let page = std::fs::read_to_string(&file).unwrap();
        assert!(
            page.contains("Traced run: its figures are not pooled"),
            "{form}"
        );
    }
    let line = format!(
        "campaign report {} --format parquet -o {}",
        path.display(),
        parquet.display()
    );
    assert!(execute(&home, &line).status.success());
    let table = std::fs::read(&parquet).unwrap();
    assert!(table.windows(11).any(|bytes| bytes == b"path_window"));
}

//! Compares output with the real fio: fio runs a small job, its JSON is imported into records, and hakaru's output of
//! those records must match fio's output in keys, types, lines and, except for rounding, numbers.
//!
//! Needs fio; prints a warning if it is not installed. No performance figures are judged, so a busy host does not
//! matter.

use crate::support::{
    Lat, Numbers, OpNumbers, Reported, Run, Stat, args, differences, masked, spread_part,
};
use hakaru_dialects::fio::output::{CpuIdleness, RunView, StartView, banner, json, normal, terse};
use hakaru_model::facts::DiskStats;
use hakaru_model::job::PerOp;
use hakaru_model::units::Nanos;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Version of the installed fio, such as `fio-3.33`.
fn installed() -> Option<String> {
    let output = Command::new("fio").arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs a job in a separate directory and returns its standard output.
fn run_fio(dir: &Path, line: &str, terse_version: u8) -> String {
    let output = Command::new("fio")
        .args(line.split_whitespace())
        .args([
            "--output-format=json+,terse,normal",
            &format!("--terse-version={terse_version}"),
        ])
        .current_dir(dir)
        .env("TZ", "UTC")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The results in three formats, and the lines before them.
struct Printed {
    head: String,
    terse: String,
    json: String,
    normal: String,
}

fn split(stdout: &str) -> Printed {
    let (before, rest) = stdout
        .split_once("\n{\n")
        .unwrap_or_else(|| panic!("no JSON in:\n{stdout}"));
    let (json, normal) = rest.split_once("\n}\n").unwrap();
    let is_terse = |line: &&str| line.contains(";0%=0;") || line.starts_with(';');
    let is_head = |line: &&str| {
        line.contains(": (g=")
            || *line == "..."
            || line.starts_with("fio-3")
            || line.starts_with("Starting")
    };
    let pick = |keep: &dyn Fn(&&str) -> bool| {
        before
            .lines()
            .filter(keep)
            .map(|line| format!("{line}\n"))
            .collect()
    };
    Printed {
        head: pick(&is_head),
        terse: pick(&is_terse),
        json: format!("{{\n{json}\n}}\n"),
        normal: normal.to_owned(),
    }
}

fn stat(object: &Value, names: [&str; 5]) -> Stat {
    let [n, min, max, mean, dev] = names.map(|name| &object[name]);
    Stat {
        n: n.as_u64().unwrap(),
        min: min.as_u64().unwrap(),
        max: max.as_u64().unwrap(),
        mean: mean.as_f64().unwrap(),
        dev: dev.as_f64().unwrap(),
    }
}

fn latency(object: &Value) -> Lat {
    let bins = object.get("bins").and_then(Value::as_object).map(|bins| {
        bins.iter()
            .map(|(value, count)| (value.parse().unwrap(), count.as_u64().unwrap()))
            .collect()
    });
    Lat {
        stat: stat(object, ["N", "min", "max", "mean", "stddev"]),
        bins,
    }
}

fn operation(object: &Value) -> OpNumbers {
    if object.is_null() {
        return OpNumbers::default();
    }
    let whole = |name: &str| object[name].as_u64().unwrap();
    OpNumbers {
        ios: whole("total_ios"),
        bytes: whole("io_bytes"),
        short: whole("short_ios"),
        runtime_ms: whole("runtime"),
        slat: latency(&object["slat_ns"]),
        clat: latency(&object["clat_ns"]),
        lat: latency(&object["lat_ns"]),
        bw: stat(
            object,
            ["bw_samples", "bw_min", "bw_max", "bw_mean", "bw_dev"],
        ),
        iops: stat(
            object,
            [
                "iops_samples",
                "iops_min",
                "iops_max",
                "iops_mean",
                "iops_stddev",
            ],
        ),
    }
}

fn shares(object: &Value, names: [&str; 7]) -> [f64; 7] {
    names.map(|name| object[name].as_f64().unwrap())
}

fn numbers(job: &Value, members: u64, pid: u32) -> Numbers {
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    let depths = ["1", "2", "4", "8", "16", "32", ">=64"];
    // With unified reporting, all operations count as reads here: the output does not separate them.
    let read = job.get("mixed").unwrap_or(&job["read"]);
    let whole = |name: &str| job[name].as_u64().unwrap();
    let sync = job.get("sync").map(|sync| latency(&sync["lat_ns"]));
    Numbers {
        members,
        pid,
        errno: job["error"].as_i64().unwrap() as i32,
        total_errors: job["total_err"].as_u64().unwrap_or(0),
        ops: PerOp {
            read: operation(read),
            write: operation(&job["write"]),
            trim: operation(&job["trim"]),
        },
        sync: sync.unwrap_or_default(),
        job_runtime_ms: whole("job_runtime"),
        usr_cpu: job["usr_cpu"].as_f64().unwrap(),
        sys_cpu: job["sys_cpu"].as_f64().unwrap(),
        ctx: whole("ctx"),
        majf: whole("majf"),
        minf: whole("minf"),
        level: shares(&job["iodepth_level"], depths),
        submit: shares(&job["iodepth_submit"], batches),
        complete: shares(&job["iodepth_complete"], batches),
    }
}

fn disk(object: &Value) -> DiskStats {
    let whole = |name: &str| object[name].as_u64().unwrap_or(0);
    DiskStats {
        name: object["name"].as_str().unwrap().to_owned(),
        read_ios: whole("read_ios"),
        read_merges: whole("read_merges"),
        read_sectors: whole("read_sectors"),
        read_ticks: Nanos::from_millis(whole("read_ticks")),
        write_ios: whole("write_ios"),
        write_merges: whole("write_merges"),
        write_sectors: whole("write_sectors"),
        write_ticks: Nanos::from_millis(whole("write_ticks")),
        discard_ios: 0,
        flush_ios: 0,
        busy: Nanos((object["util"].as_f64().unwrap() * 1e7).round() as u64),
        queued: Nanos::from_millis(whole("in_queue")),
        elapsed: Nanos(1_000_000_000),
    }
}

fn idleness(object: &Value) -> Option<CpuIdleness> {
    let object = object.as_object()?;
    let float = |name: &str| object[name].as_f64().unwrap();
    let per_cpu = (0..)
        .map_while(|cpu| Some((cpu, object.get(&format!("cpu-{cpu}"))?.as_f64()?)))
        .collect();
    let (unit_mean_us, unit_deviation_us) = (float("unit_mean"), float("unit_stddev"));
    Some(CpuIdleness {
        system: float("system"),
        per_cpu,
        unit_mean_us,
        unit_deviation_us,
    })
}

/// Records of fio's report, distributed over the original number of workers.
fn record(command: &args::Command, json: &Value, normal: &str) -> Run {
    let mut reported = json["jobs"].as_array().unwrap().iter();
    let headers = normal.lines().filter(|line| line.contains("groupid="));
    let mut pids = headers.map(|line| {
        let pid = line.rsplit("pid=").next().unwrap();
        pid.split(':').next().unwrap().parse().unwrap()
    });
    let mut phases = Vec::new();
    for jobs in &command.phases {
        let mut phase = Vec::new();
        for (job, extras) in jobs {
            let (reports, members) = match job.group_reporting {
                true => (1, job.numjobs),
                false => (job.numjobs, 1),
            };
            for _ in 0..reports {
                let pid = pids.next().unwrap_or(0);
                let numbers = numbers(reported.next().unwrap(), u64::from(members), pid);
                phase.push(Reported {
                    job: job.clone(),
                    extras: extras.clone(),
                    numbers,
                });
            }
        }
        phases.push(phase);
    }
    let disks = json["disk_util"].as_array().into_iter().flatten();
    Run::of(phases, disks.map(disk).collect())
}

/// Whether a line has a latency distribution. Rebuilt from histogram bins, it may differ from one counted per I/O.
fn is_latency_share(line: &str) -> bool {
    line.trim_start().starts_with("lat (") && line.contains('%')
}

fn without_shares(text: &str) -> String {
    text.lines()
        .filter(|line| !is_latency_share(line))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// JSON with all latency percentages set to one number.
fn with_flat_shares(text: &str) -> String {
    let mut inside = false;
    let line = |line: &str| {
        let was_inside = inside;
        inside = if line.contains("\"latency_") && line.ends_with('{') {
            true
        } else {
            inside && !line.contains('}')
        };
        match (was_inside && inside, line.split_once(" : ")) {
            (true, Some((name, value))) => format!(
                "{name} : 0.5{}\n",
                if value.ends_with(',') { "," } else { "" }
            ),
            _ => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

/// Terse lines with the 22 latency percentages set to one number. They follow seven queue depth percentages with one
/// decimal.
fn terse_with_flat_shares(text: &str) -> String {
    let flatten = |line: &str| {
        let mut fields: Vec<String> = line.split(';').map(str::to_owned).collect();
        let is_depth = |field: &String| {
            field.ends_with('%') && field.split('.').nth(1).is_some_and(|d| d.len() == 2)
        };
        if let Some(first) = fields.iter().position(is_depth) {
            fields
                .iter_mut()
                .skip(first + 7)
                .take(22)
                .for_each(|field| "0.5%".clone_into(field));
        }
        fields.join(";") + "\n"
    };
    text.lines().map(flatten).collect()
}

/// Numbers in a text, with their number of decimals.
fn numbers_of(text: &str) -> Vec<(f64, usize)> {
    let pieces = text
        .split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .filter(|p| p.chars().any(|c| c.is_ascii_digit()));
    let number = |piece: &str| {
        Some((
            piece.parse().ok()?,
            piece.split_once('.').map_or(0, |(_, d)| d.len()),
        ))
    };
    pieces.filter_map(number).collect()
}

/// Whether two texts have the same numbers: integers exactly, others within printing precision.
fn same_numbers(ours: &str, theirs: &str) -> bool {
    let close = |(a, b): (&(f64, usize), &(f64, usize))| {
        let slack = if a.1 == 0 {
            0.0
        } else {
            1.01 / 10f64.powi(a.1.min(3) as i32)
        };
        (a.0 - b.0).abs() <= slack + b.0.abs() * if a.1 == 0 { 0.0 } else { 1e-6 }
    };
    let (ours, theirs) = (numbers_of(ours), numbers_of(theirs));
    ours.len() == theirs.len() && ours.iter().zip(&theirs).all(close)
}

fn compare(what: &str, line: &str, ours: &str, theirs: &str) {
    let (shape, real_shape) = (masked(ours), masked(theirs));
    assert!(
        shape == real_shape,
        "{what} of `{line}`, without numbers:\n{}",
        differences(&shape, &real_shape)
    );
    for (ours, theirs) in ours.lines().zip(theirs.lines()) {
        // A heading includes the time of printing, and after an error the line of fio's source code.
        let fine = theirs.contains("(groupid=") || same_numbers(ours, theirs);
        assert!(fine, "{what} of `{line}`\n  ours: {ours}\n  fio:  {theirs}");
    }
}

/// Converts the output to that of versions before 3.39: no zone resets for trims, and no options without a value.
fn as_of(version: &str, text: &str) -> String {
    let minor: u32 = version
        .rsplit('.')
        .next()
        .and_then(|minor| minor.parse().ok())
        .unwrap_or(u32::MAX);
    if minor >= 39 {
        return text.to_owned();
    }
    let mut kept: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.trim_end_matches(',').ends_with("\" : \"\"") {
            // If the last option is removed, the comma before it goes too.
            if let Some(before) = kept
                .last_mut()
                .filter(|before| !line.ends_with(',') && before.ends_with(','))
            {
                before.pop();
            }
        } else if line.trim_start().starts_with("trim: ") {
            kept.push(line.split("; ").next().unwrap_or_default().to_owned());
        } else {
            kept.push(line.to_owned());
        }
    }
    kept.join("\n") + "\n"
}

/// Whether this process may run on all CPUs of the host.
fn may_run_everywhere() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    allowed.map(str::trim) == Some(online.trim())
}

/// Runs the job with fio, and compares all its output with hakaru's output for the same results.
fn check(line: &str, terse_version: u8) {
    let Some(version) = installed() else {
        eprintln!(
            "SKIPPED: fio is not installed, so the outputs of `{line}` were compared with nothing"
        );
        return;
    };
    if line.contains("--idle-prof") && !may_run_everywhere() {
        eprintln!("SKIPPED: fio hangs with --idle-prof where a cpuset keeps processors from it");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let printed = split(&run_fio(dir.path(), line, terse_version));
    let real: Value = serde_json::from_str(&printed.json).unwrap();
    let command = args::read(line);
    let jobs = command.phases.iter().flatten();
    let start = StartView {
        version: &version,
        jobs: jobs.map(|(job, extras)| (job, extras)).collect(),
        global_options: &command.global_options,
    };
    compare("banner", line, &banner(&start), &printed.head);
    let run = record(&command, &real, &printed.normal);
    let view = RunView {
        shown_unix_ms: real["timestamp_ms"].as_i64().unwrap(),
        elapsed: Nanos::from_secs(real["jobs"][0]["elapsed"].as_u64().unwrap()),
        eta_s: real["jobs"][0]["eta"].as_u64().unwrap(),
        global_options: &command.global_options,
        idleness: idleness(&real["cpu_idleness"]),
        ..run.view(&version)
    };
    compare_results(line, &view, terse_version, &printed);
}

/// Compares the results in each format.
fn compare_results(line: &str, view: &RunView<'_>, terse_version: u8, printed: &Printed) {
    let ours = with_flat_shares(&as_of(view.version, &json(view, true)));
    compare("JSON", line, &ours, &with_flat_shares(&printed.json));
    let ours = without_shares(&as_of(view.version, &normal(view)));
    compare("text", line, &ours, &without_shares(&printed.normal));
    let ours = terse_with_flat_shares(&terse(view, terse_version));
    compare(
        "terse",
        line,
        &ours,
        &terse_with_flat_shares(&printed.terse),
    );
}

/// Regression: a mean of 1777 KiB/s divided among three workers added up to 1776.99999, and the percentage of the group
/// lost one KiB/s.
#[test]
fn a_mean_dealt_to_members_adds_up_again() {
    for (mean, n) in (1770..1790).flat_map(|mean| (3..9).map(move |n| (mean, n))) {
        let stat = Stat {
            n,
            mean: f64::from(mean),
            ..Stat::default()
        };
        let parts = (0..3).map(|index| spread_part(&stat, 3, index, 1024));
        let sum: f64 = parts
            .map(|part| part.sum as f64 / 1024.0 / part.count as f64)
            .sum();
        assert_eq!(sum, f64::from(mean), "of {n} samples");
    }
}

macro_rules! beside_fio {
    ($($test:ident $version:literal $line:literal,)*) => {$(
        #[test]
        fn $test() {
            check($line, $version);
        }
    )*};
}

beside_fio! {
    durable_writes 3 "--name=a --rw=write --size=256k --bs=4k --fsync=4",
    mixed 2 "--name=a --rw=rw --size=256k",
    chosen_percentiles 3 "--name=a --rw=randread --size=256k --lat_percentiles=1 --percentile_list=95:99:99.9",
    deep_queue 5 "--name=a --rw=randwrite --size=256k --ioengine=libaio --iodepth=8 --slat_percentiles=1",
    trims 4 "--name=a --rw=randtrim --ioengine=null --size=1M",
    trims_and_writes_in_bits 5 "--name=a --rw=trimwrite --ioengine=null --size=1M --unit_base=1",
    thousands 3 "--name=a --rw=read --size=1M --kb_base=1000",
    a_group_as_one 3 "--name=a --rw=write --size=256k --numjobs=3 --group_reporting",
    one_after_another 3 "--bs=8k --size=256k --name=a --rw=write --name=b --stonewall --rw=read --numjobs=2",
    two_groups 2 "--bs=8k --size=256k --rw=write --name=a --group_reporting --numjobs=2 --name=b --new_group --group_reporting --numjobs=2",
    over_time 5 "--name=a --rw=randrw --size=1M --runtime=1 --time_based --rate_iops=150,90 --numjobs=2",
    a_group_over_time 3 "--name=a --rw=randrw --size=1M --runtime=1 --time_based --rate_iops=150,90 --numjobs=3 --group_reporting",
    operations_as_one 3 "--name=a --rw=rw --size=256k --ioengine=null --unified_rw_reporting=1",
    no_times 3 "--name=a --rw=rw --size=256k --gtod_reduce=1",
    a_described_thread 2 "--name=a --rw=write --size=256k --description=words --thread",
    a_full_disk 3 "--name=a --rw=write --filename=/dev/full --size=64k",
    a_full_disk_gone_over 3 "--name=a --rw=write --filename=/dev/full --size=64k --continue_on_error=all",
    many_figures 3 "--name=a --rw=randwrite --bsrange=1k-16k --size=1M --significant_figures=7",
    no_percentiles 3 "--name=a --rw=write --size=64k --clat_percentiles=0",
    idle_processors 3 "--name=a --rw=write --size=64k --idle-prof=percpu",
    files_only 3 "--name=a --rw=read --size=64k --create_only=1",
    one_write 3 "--name=a --rw=write --size=4k",
}

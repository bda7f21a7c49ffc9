//! Compares the parser with the real fio, if installed: accepted command lines, sizes, times, job names, groups and
//! options as typed must match.
//!
//! Without `fio` on the PATH, each test prints a note and passes. Nothing is measured: the tests use `--parse-only`, or
//! a few bytes on the `null` engine.

use hakaru_dialects::fio::{FioAction, Invocation, ParseContext, options, parse};
use hakaru_model::job::{Job, SizeSpec};
use hakaru_model::units::Bytes;
use std::ffi::OsString;
use std::process::{Command, Stdio};

/// Runs the real fio in a separate directory; `None` if fio is not installed.
fn real(args: &[&str], files: &[(&str, &str)]) -> Option<(bool, String)> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (name, text) in files {
        std::fs::write(directory.path().join(name), text).expect("a file there");
    }
    let output = Command::new("fio")
        .args(args)
        .current_dir(&directory)
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            Some((output.status.success(), text))
        }
        Err(_) => {
            eprintln!("SKIPPED: no fio is installed, so nothing was compared with it");
            None
        }
    }
}

fn ours(args: &[&str], files: &[(&str, &str)]) -> Result<Invocation, String> {
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    let find = |path: &std::path::Path| {
        files
            .iter()
            .find(|(name, _)| std::path::Path::new(name) == path)
    };
    let context = ParseContext {
        env: &|name| std::env::var(name).ok(),
        read_file: &|path| {
            find(path)
                .map(|(_, text)| text.as_bytes().to_vec())
                .ok_or_else(|| std::io::ErrorKind::NotFound.into())
        },
        path_exists: &|path| find(path).is_some(),
        cpu_count: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        page_size: 4096,
        memory_mb: 1024,
    };
    parse(&args, &context).map_err(|e| e.to_string())
}

fn jobs(invocation: &Invocation) -> Vec<Job> {
    invocation
        .scenario
        .phases
        .iter()
        .flat_map(|phase| phase.jobs.clone())
        .collect()
}

#[test]
fn each_option_of_fio_is_known() {
    let Some((_, text)) = real(&["--cmdhelp=all"], &[]) else {
        return;
    };
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name.trim())
        .collect();
    assert!(names.len() > 200, "{} options", names.len());
    let unknown: Vec<&&str> = names
        .iter()
        .filter(|name| options::find(name).is_none())
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// Engines with options of their own.
const ENGINES_WITH_OPTIONS: [&str; 6] = ["io_uring", "libaio", "pvsync2", "mmap", "sg", "rados"];

#[test]
fn each_engine_of_fio_is_known_with_its_options() {
    let Some((_, text)) = real(&["--enghelp"], &[]) else {
        return;
    };
    let engines = text.lines().skip(1).map(str::trim);
    for engine in engines.filter(|name| !name.is_empty()) {
        let mut known = options::ENGINES.iter();
        let known = known.any(|known| known.names.contains(&engine));
        assert!(known, "engine {engine}");
        if !ENGINES_WITH_OPTIONS.contains(&engine) {
            continue;
        }
        let Some((_, text)) = real(&[&format!("--enghelp={engine}")], &[]) else {
            return;
        };
        for (name, _) in text.lines().filter_map(|line| line.split_once(':')) {
            assert!(
                options::find(name.trim()).is_some(),
                "option {name} of {engine}"
            );
        }
    }
}

/// Command lines that both programs accept, or both reject.
const COMMANDS: [&str; 67] = [
    "--rw=randread:8 --rw_sequencer=identical",
    "--rw=read:-8k",
    "--rw=READ",
    "-rw randread -bs 1k,2k -numjob=2",
    "--readw=write",
    "--iodepth_batch_c=4",
    "--iodep=4",
    "--bs=1k,2k,4k",
    "--bs=,2k,",
    "--bs=0",
    "--bsrange=1k-2k,2k-4k",
    "--bsrange=1k:2k",
    "--bsrange=2k",
    "--bssplit=1k/10:2k/90,4k",
    "--direct=2",
    "--direct=yes",
    "--direct 1",
    "--time_based=0 --thread=1 --group_reporting",
    "--group_reporting=abc",
    "--rwmixread=101",
    "--rwmixread=70%",
    "--random_distribution=zipf:1.2 --norandommap",
    "--random_distribution=zipf:1",
    "--random_distribution=pareto:1.1",
    "--random_distribution=zoned:60/10:30/20:8/30:2/40",
    "--random_distribution=zoned:60/10:30/20",
    "--random_distribution=foo",
    "--cpus_allowed=0",
    "--percentile_list=99.9:50",
    "--percentile_list=101",
    "--percentile_list=a",
    "--fallocate=keep",
    "--fallocate=foo",
    "--sync=dsync",
    "--sync=foo",
    "--rate=1m,500k --rate_process=poisson",
    "--rate=,500k",
    "--thinktime=1s --thinktime_blocks=4",
    "--buffer_pattern=0xdeadbeef",
    "--buffer_pattern=abcd",
    "--buffer_pattern=0x",
    "--continue_on_error=io",
    "--continue_on_error=foo",
    "--unified_rw_reporting=both",
    "--verify=foo",
    "--verify=0",
    "--mem=foo",
    "--log_entries=1",
    "--ioengine=linuxaio",
    "--ioengine=foo",
    "--foo=3",
    "--size=",
    "--runtime=1h --ramp_time=1m",
    "--runtime=x",
    "--readonly --rw=write",
    "--output-format=json,normal",
    "--output-format=yaml",
    "--terse-version=6",
    "--section=x --eta=never --status-interval=500ms",
    "--minimal --append-terse --max-jobs=4",
    "nowhere.fio",
    "-- nowhere.fio",
    "--kb_base=1000 --unit_base=8 --significant_figures=6",
    "--significant_figures=0",
    "--zonemode=none --lockfile=none --write_hint=none",
    "--number_ios=10 --io_size=4k --filesize=8k --offset=10%",
    "--ioengine=io_uring --hipri --fixedbufs --registerfiles --sqthread_poll=1",
];

#[test]
fn the_same_command_lines_are_understood() {
    let mut differing = Vec::new();
    for command in COMMANDS {
        let words: Vec<&str> = ["--parse-only", "--name=x", "--size=64k"]
            .into_iter()
            .chain(command.split_whitespace())
            .collect();
        let Some((understood, said)) = real(&words, &[]) else {
            return;
        };
        let parsed = ours(&words, &[]);
        if understood != parsed.is_ok() {
            differing.push(format!(
                "{command}\n  fio: {understood} {said}\n  ours: {:?}",
                parsed.err()
            ));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// Values as fio parses them, from its parser debug output. One call for all values.
fn real_values(option: &str, values: &[&str], before: &[&str]) -> Option<Vec<u64>> {
    let typed: Vec<String> = values
        .iter()
        .map(|value| format!("--{option}={value}"))
        .collect();
    let words = ["--debug=parse", "--parse-only", "--name=x"]
        .iter()
        .chain(before)
        .copied();
    let words: Vec<&str> = words.chain(typed.iter().map(String::as_str)).collect();
    let (_, said) = real(&words, &[])?;
    let mark = format!("__handle_option={option},");
    let values = said.split(mark.as_str()).skip(1);
    let number = |text: &str| {
        text.split("out=")
            .nth(1)?
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    };
    Some(
        values
            .map(|text| number(text).expect("fio prints the number"))
            .collect(),
    )
}

/// The job with these options.
fn parsed(options: &[&str]) -> Job {
    jobs(&ours(&[&["--name=x"], options].concat(), &[]).expect("ours reads it")).remove(0)
}

#[test]
fn sizes_are_the_same_numbers() {
    let sizes = [
        "4k", "4K", "4kB", "4ki", "4KiB", "1m", "1MiB", "0x1000", "4096b", "1t", "1pib", "1g",
        "+4k", "010",
    ];
    for before in [&[][..], &["--kb_base=1000"]] {
        let Some(wanted) = real_values("size", &sizes, before) else {
            return;
        };
        assert_eq!(wanted.len(), sizes.len());
        for (size, wanted) in sizes.iter().zip(wanted) {
            let typed = format!("--size={size}");
            let got = parsed(&[before, &[&typed]].concat()).extent.size;
            assert_eq!(
                got,
                Some(SizeSpec::Bytes(Bytes(wanted))),
                "size={size} {before:?}"
            );
        }
    }
}

#[test]
fn times_are_the_same_numbers() {
    let times = [
        "10", "10s", "10m", "2h", "1d", "10ms", "500us", "10usec", "10msec", "10S", "010",
    ];
    let Some(seconds) = real_values("runtime", &times, &[]) else {
        return;
    };
    let Some(micros) = real_values("thinktime", &times, &[]) else {
        return;
    };
    assert_eq!((seconds.len(), micros.len()), (times.len(), times.len()));
    for (index, time) in times.iter().enumerate() {
        let job = parsed(&[&format!("--runtime={time}"), &format!("--thinktime={time}")]);
        assert_eq!(
            job.timing.runtime.map(|t| t.0),
            Some(seconds[index] * 1000),
            "runtime={time}"
        );
        assert_eq!(
            job.rate.thinktime.0,
            micros[index] * 1000,
            "thinktime={time}"
        );
    }
}

/// The key-value pairs of a JSON object of strings, in order, including duplicates.
fn pairs(object: &str) -> Vec<(String, String)> {
    let lines = object
        .lines()
        .filter_map(|line| line.trim().trim_end_matches(',').split_once(" : "));
    let text = |json: &str| serde_json::from_str::<String>(json).unwrap_or_default();
    lines
        .map(|(name, value)| (text(name), text(value)))
        .collect()
}

fn object<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let start = text.find(&format!("\"{name}\" : {{"))?;
    let body = &text[start..];
    Some(&body[body.find('{')? + 1..body.find('}')?])
}

/// Runs a command line with both programs, and compares the names, groups and typed options of the jobs.
fn compare_jobs(command: &str, files: &[(&str, &str)]) {
    let words: Vec<&str> = ["--output-format=json"]
        .into_iter()
        .chain(command.split_whitespace())
        .collect();
    let Some((_, said)) = real(&words, files) else {
        return;
    };
    let parsed = ours(&words, files).unwrap_or_else(|e| panic!("{command}: {e}"));
    assert_eq!(parsed.action, FioAction::Run);
    let head = &said[..said.find("\"jobs\"").expect("a result")];
    let globals = object(head, "global options").map(pairs);
    let globals = globals.unwrap_or_default();
    assert_eq!(parsed.global_options, globals, "{command}");
    let texts: Vec<&str> = said.split("\"jobname\" : ").skip(1).collect();
    let jobs = jobs(&parsed);
    assert_eq!(jobs.len(), texts.len(), "{command}");
    for (job, text) in jobs.iter().zip(texts) {
        let name = text.lines().next().unwrap_or_default();
        let name: String = serde_json::from_str(name.trim_end_matches(',')).unwrap();
        assert_eq!(job.name, name, "{command}");
        let group = text.split("\"groupid\" : ").nth(1);
        let group = group.and_then(|text| text.split(',').next());
        assert_eq!(Some(job.group.to_string().as_str()), group, "{command}");
        let options = object(text, "job options").map(pairs).unwrap_or_default();
        assert_eq!(job.options, options, "{command}: {name}");
    }
}

#[test]
fn jobs_of_command_lines_have_the_same_names_groups_and_options() {
    for command in [
        "--ioengine=null --size=8k --bs=4k --name=a --blocksize=2k --rw=randrw --readwrite=write --time_based=0",
        "--name=a --ioengine=null --size=8k --stonewall --name=b --ioengine=null --size=8k --stonewall --name=c --ioengine=null --size=8k --new_group --name=d --ioengine=null --size=8k",
        "--name=global --ioengine=null --size=8k --name=a --name=global --bs=1k --name=b --stonewall=0",
    ] {
        compare_jobs(command, &[]);
    }
}

#[test]
fn jobs_of_files_have_the_same_names_groups_and_options() {
    let null = "ioengine=null\nsize=8k\n";
    let renamed = format!(
        "[global]\n{null}bs=1k ; c\n[a]\nbs = 2k\nthread\n[global]\nbs=4k\n[b c]\nname=z\nsize=2*$pagesize\n"
    );
    compare_jobs("a.fio", &[("a.fio", &renamed)]);
    let a = format!("[a]\n{null}[a2]\n{null}");
    let b = format!("[global]\n{null}[b]\nstonewall\n[c]\n");
    compare_jobs(
        "--bs=1k a.fio b.fio --name=z --ioengine=null --size=4k",
        &[("a.fio", &a), ("b.fio", &b)],
    );
    let included = format!("[global]\n{null}[a]\n[b]\ninclude c.inc\n");
    let common = "bs=1k\ndescription=x # y\n";
    compare_jobs(
        "--section=b a.fio",
        &[("a.fio", &included), ("c.inc", common)],
    );
}

#[test]
fn fio_shows_job_files_as_commands_that_mean_the_same() {
    let text = "[global]\nioengine=null\nsize=8k\nbs=4k\n[seq]\nrw=write\nstonewall\n[rand]\nrw=randrw\nrwmixread=70\nnumjobs=2\niodepth=4\n";
    let files = [("a.fio", text)];
    let Some((_, shown)) = real(&["--showcmd", "a.fio"], &files) else {
        return;
    };
    let words: Vec<&str> = shown.split_whitespace().skip(1).collect();
    let (from_fio, from_file) = (
        ours(&words, &[]).unwrap(),
        ours(&["a.fio"], &files).unwrap(),
    );
    let without_options = |invocation: &Invocation| {
        let mut scenario = invocation.scenario.clone();
        scenario
            .phases
            .iter_mut()
            .flat_map(|phase| &mut phase.jobs)
            .for_each(|job| job.options.clear());
        scenario
    };
    assert_eq!(without_options(&from_fio), without_options(&from_file));
}

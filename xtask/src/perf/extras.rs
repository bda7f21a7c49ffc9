//! Figures other than rates: instructions per I/O, time from start to exit, memory.

use super::contest::{PerfSetup, median};
use crate::workspace::{find_program, output};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// One figure of hakaru, next to fio's.
pub(crate) struct ExtraFigure {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    pub(crate) ours: f64,
    pub(crate) fio: Option<f64>,
    /// Absolute upper limit.
    pub(crate) at_most: Option<f64>,
    /// Upper limit as a fraction of fio's figure.
    pub(crate) at_most_share: Option<f64>,
}

impl ExtraFigure {
    /// Whether the limits are met; `None` without a comparison value.
    pub(crate) fn holds(&self) -> Option<bool> {
        let outright = self.at_most.map(|most| self.ours <= most);
        let share = self
            .at_most_share
            .and_then(|most| Some(self.ours <= most * self.fio?));
        match (outright, share) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(true) && b.unwrap_or(true)),
        }
    }

    pub(crate) fn text(&self) -> String {
        let fio = self
            .fio
            .map_or_else(|| "not measured".to_owned(), |v| format!("{v:.0}"));
        let wanted = match (self.at_most, self.at_most_share) {
            (Some(most), _) => format!(", wanted at most {most:.0}"),
            (_, Some(share)) => format!(", wanted at most {share} of fio's"),
            _ => String::new(),
        };
        format!(
            "{}: {:.0} {} (fio: {fio}){wanted}",
            self.name, self.ours, self.unit
        )
    }
}

fn job(engine: &str, rw: &str, file: &Path, ios: u64) -> Vec<String> {
    let job = format!(
        "--name=j --ioengine={engine} --rw={rw} --bs=4k --size=256m --io_size={} --direct=1 --invalidate=0 --filename={} --output-format=json",
        ios * 4096,
        file.display()
    );
    job.split_whitespace().map(str::to_owned).collect()
}

/// User-space instructions per I/O, by callgrind: the difference between two run lengths, so that startup and exit
/// cancel out.
pub(crate) fn instructions(bench: &PerfSetup) -> Result<Vec<ExtraFigure>> {
    if find_program("valgrind").is_none() {
        println!("SKIPPED: valgrind is not installed: no instructions are counted");
        return Ok(Vec::new());
    }
    let mut lines = Vec::new();
    for (engine, rw, at_most) in [
        ("psync", "randread", Some(320.0)),
        ("psync", "randwrite", Some(320.0)),
        ("null", "randread", None),
        ("null", "randrw", None),
    ] {
        let an_io = |program: &Path, words: &[&str]| -> Result<f64> {
            let (few, many) = (20_000, 40_000);
            let count = |ios| callgrind(program, words, &job(engine, rw, &bench.tmpfs, ios));
            Ok((count(many)? - count(few)?) / (many - few) as f64)
        };
        let ours = an_io(&bench.ours, &["fio"])?;
        // fio runs its jobs in the same process only as threads; callgrind would not see other processes.
        let fio = bench.fio.as_ref().map(|fio| an_io(fio, &[])).transpose()?;
        lines.push(ExtraFigure {
            name: format!("{engine}, {rw} 4k: instructions an I/O in user space"),
            unit: "instructions",
            ours,
            fio,
            at_most,
            at_most_share: None,
        });
    }
    Ok(lines)
}

fn callgrind(program: &Path, words: &[&str], job: &[String]) -> Result<f64> {
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(words)
        .args(job);
    command.args(["--thread"]);
    let out = command.output()?;
    let said = String::from_utf8_lossy(&out.stderr);
    let refs = said
        .lines()
        .rfind(|line| line.contains("refs:"))
        .context("callgrind counted nothing")?;
    let digits: String = refs
        .rsplit("refs:")
        .next()
        .unwrap_or_default()
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    Ok(digits.parse()?)
}

/// Time from start to exit for one 4 KiB I/O, and peak memory for many jobs.
pub(crate) fn start_and_memory(bench: &PerfSetup, rounds: usize) -> Result<Vec<ExtraFigure>> {
    let mut lines = Vec::new();
    let one = job("psync", "randread", &bench.tmpfs, 1);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds.max(5) {
        ours.push(elapsed_ms(Command::new(&bench.ours).arg("fio").args(&one))?);
        if let Some(fio) = &bench.fio {
            theirs.push(elapsed_ms(Command::new(fio).args(&one))?);
        }
    }
    ours.sort_by(f64::total_cmp);
    theirs.sort_by(f64::total_cmp);
    lines.push(ExtraFigure {
        name: "start to exit, one 4k read".to_owned(),
        unit: "ms",
        ours: median(&ours),
        fio: (!theirs.is_empty()).then(|| median(&theirs)),
        at_most: None,
        at_most_share: Some(1.0),
    });
    for jobs in [1, 16, 64] {
        let mut words = job("psync", "randread", &bench.tmpfs, 256);
        words.push(format!("--numjobs={jobs}"));
        let ours = peak_kib(&bench.ours, &["fio"], &words)?;
        let fio = bench
            .fio
            .as_ref()
            .map(|fio| peak_kib(fio, &[], &words))
            .transpose()?;
        lines.push(ExtraFigure {
            name: format!("peak memory, {jobs} job(s)"),
            unit: "KiB",
            ours,
            fio,
            at_most: None,
            at_most_share: Some(0.25),
        });
    }
    Ok(lines)
}

/// Number of files of a job with many.
const FILES: u32 = 10_000;

/// Time of a job over many small files, which it makes first, and over the same files again.
pub(crate) fn many_files(bench: &PerfSetup, rounds: usize) -> Result<Vec<ExtraFigure>> {
    let place = bench.tmpfs.with_extension("files");
    let directory = place.display();
    let job = format!(
        "--name=j --ioengine=psync --rw=read --bs=4k --nrfiles={FILES} --filesize=4k --directory={directory} --output-format=json"
    );
    let words: Vec<&str> = job.split_whitespace().collect();
    // Of a measurement that was interrupted.
    let _ = std::fs::remove_dir_all(&place);
    // By new and existing files, then by program.
    let mut times: [[Vec<f64>; 2]; 2] = Default::default();
    for _ in 0..rounds.clamp(3, MOST_ROUNDS) {
        let mut ours = Command::new(&bench.ours);
        ours.arg("fio");
        let fio = bench.fio.as_ref().map(Command::new);
        for (program, command) in [Some(ours), fio].into_iter().enumerate() {
            let Some(mut command) = command else { continue };
            command.args(&words);
            std::fs::create_dir(&place)?;
            for times in &mut times {
                times[program].push(elapsed_ms(&mut command)?);
            }
            std::fs::remove_dir_all(&place)?;
        }
    }
    let figure = |(what, times): (&str, &mut [Vec<f64>; 2])| {
        times
            .iter_mut()
            .for_each(|times| times.sort_by(f64::total_cmp));
        let [ours, fio] = times;
        ExtraFigure {
            name: format!("{FILES} files of 4 KiB, {what}"),
            unit: "ms",
            ours: median(ours),
            fio: (!fio.is_empty()).then(|| median(fio)),
            at_most: None,
            at_most_share: Some(1.2),
        }
    };
    let kinds = ["new", "existing"].into_iter().zip(&mut times);
    Ok(kinds.map(figure).collect())
}

/// Maximum number of rounds of jobs that take seconds.
const MOST_ROUNDS: usize = 7;

fn elapsed_ms(command: &mut Command) -> Result<f64> {
    let begun = Instant::now();
    output(command)?;
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

/// Peak memory of a program and its children: the sum of their proportional set sizes (PSS), sampled frequently.
///
/// fio runs its jobs as processes that share memory, and PSS counts a shared page only once.
fn peak_kib(program: &Path, words: &[&str], job: &[String]) -> Result<f64> {
    let mut child = Command::new(program)
        .args(words)
        .args(job)
        // Long enough to be sampled while all jobs are running.
        .args(["--runtime=1", "--time_based", "--rate_iops=50"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut peak: f64 = 0.0;
    while child.try_wait()?.is_none() {
        peak = peak.max(family(child.id()).iter().map(|&pid| pss_kib(pid)).sum());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Ok(peak)
}

/// A process and its children.
fn family(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    for task in tasks {
        let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        all.extend(
            text.split_whitespace()
                .filter_map(|word| word.parse::<u32>().ok())
                .flat_map(family),
        );
    }
    all
}

fn pss_kib(pid: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok())
        .unwrap_or(0.0)
}

//! Traced jobs in a machine, with the ledger of the card over the same time.
//!
//! The ledger is taken when the workers are about to start and when the last one has ended: commands before and after
//! each job wait for the host. Reading the layout of the file system, before and after that, is not in the ledger, and
//! costs no time.

use super::checks::poll;
use super::fat::FatVolume;
use super::product::record;
use anyhow::{Context, Result, ensure};
use hakaru_model::io_path::IoPath;
use hakaru_rig::card::{CardLedger, SimulatedCard};
use hakaru_rig::guest::Guest;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(180);

/// Where a gate waits for the host.
const AWAIT_HOST: &str = "while [ ! -e /out/$name.$gate-open ]; do sleep 0.05; done";

/// The script of a gate that runs a command instead of waiting for the host: before the workers start, and after the
/// last one has ended.
pub(super) fn gate_that_runs(command: &str) -> String {
    GATE.replace(AWAIT_HOST, command)
}

/// Waits in the guest until the host has taken the ledger. Before the job, all that was written earlier is on the card.
/// A job can pass its gates again and again.
///
/// The emulated processor is slow: only the worker with the last ticket polls for the host, and the others wait without
/// using it. Tickets are files that only one worker can create: listings of a directory may miss what others create.
const GATE: &str = "name=$1 gate=$2 workers=$3 ticket=1
if [ $gate = begin ]; then
    sync
    [ -p /tmp/$name.fifo ] || mkfifo /tmp/$name.fifo
fi
set -C
while ! true >/tmp/$name.$gate.$ticket; do ticket=$((ticket + 1)); done 2>/dev/null
set +C
: >/out/$name.$gate.$$
if [ $ticket -lt $workers ]; then
    [ $gate = end ] || : </tmp/$name.fifo
    exit 0
fi
while [ ! -e /out/$name.$gate-open ]; do sleep 0.05; done
if [ $gate = end ]; then
    rm -f /out/$name.begin-open /tmp/$name.begin.*
    [ $workers = 1 ] || kill $(cat /tmp/$name.pid)
else
    rm -f /out/$name.end-open /tmp/$name.end.*
    # Opened for reading and writing it never blocks. It stays open for those that come late.
    [ $workers = 1 ] || { sleep 600 <>/tmp/$name.fifo >/dev/null 2>&1 & echo $! >/tmp/$name.pid; }
fi
exit 0
";

/// Options of fio that let a job wait at its gates.
pub(super) fn gates(name: &str, workers: usize) -> [String; 2] {
    let gate = |gate: &str| format!("sh /out/gate.sh {workers}-{name} {gate} {workers}");
    [
        format!("exec_prerun={}", gate("begin")),
        format!("exec_postrun={}", gate("end")),
    ]
}

/// What the card did between the gates of a job.
pub(super) struct GatedLedger {
    /// Name of the job.
    pub(super) job: String,
    pub(super) ledger: CardLedger,
    /// Layout of the FAT32 volume on the card at the end, if there is one.
    pub(super) fat: Option<FatVolume>,
}

/// Opens the gates of the next job, and returns its ledger; `None` if no job comes any more. The card takes time for
/// commands between the gates only.
pub(super) fn open_gates(
    out: &Path,
    card: &SimulatedCard,
    is_over: impl Fn() -> bool,
) -> Result<Option<GatedLedger>> {
    let Some(begun) = await_gate(out, "begin", &is_over)? else {
        return Ok(None);
    };
    // Those of the job before.
    for file in waiting(out, "end")?.into_values().flatten() {
        std::fs::remove_file(file)?;
    }
    card.hurry(false);
    card.take_ledger();
    begun.open(out)?;
    let Some(ended) = await_gate(out, "end", &is_over)? else {
        return Ok(None);
    };
    ensure!(
        begun.name == ended.name,
        "{} ended before {}",
        ended.name,
        begun.name
    );
    let ledger = card.take_ledger();
    card.hurry(true);
    for file in &begun.files {
        std::fs::remove_file(file)?;
    }
    ended.open(out)?;
    let job = ended.name.split_once('-').map_or("", |(_, job)| job);
    Ok(Some(GatedLedger {
        job: job.to_owned(),
        ledger,
        fat: FatVolume::read(card).ok(),
    }))
}

/// A gate at which all workers wait.
struct ClosedGate {
    /// Number of workers and name of the job.
    name: String,
    gate: &'static str,
    /// One per worker.
    files: Vec<PathBuf>,
}

impl ClosedGate {
    fn open(&self, out: &Path) -> Result<()> {
        std::fs::write(out.join(format!("{}.{}-open", self.name, self.gate)), "")?;
        Ok(())
    }
}

/// Waits until all workers of a job have come to a gate.
fn await_gate(
    out: &Path,
    gate: &'static str,
    is_over: impl Fn() -> bool,
) -> Result<Option<ClosedGate>> {
    poll(LIMIT, || {
        let waiting = waiting(out, gate).map_err(|error| error.to_string())?;
        let workers = |name: &str| name.split_once('-')?.0.parse::<usize>().ok();
        let is_complete =
            |(name, files): &(&String, &Vec<PathBuf>)| workers(name) == Some(files.len());
        match waiting.iter().find(is_complete) {
            Some((name, files)) => Ok(Some(ClosedGate {
                name: name.clone(),
                gate,
                files: files.clone(),
            })),
            None if is_over() => Ok(None),
            None => Err(format!("{gate}: {:?}", waiting.keys())),
        }
    })
}

/// Returns the files of the workers at a gate by job.
fn waiting(out: &Path, gate: &str) -> Result<BTreeMap<String, Vec<PathBuf>>> {
    let mut waiting: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for file in std::fs::read_dir(out)? {
        let file = file?.path();
        if let Some(name) = gated(&file, gate) {
            waiting.entry(name).or_default().push(file);
        }
    }
    Ok(waiting)
}

/// Returns the job of a file that a worker creates at a gate: `16-job.begin.4711`.
fn gated(file: &Path, gate: &str) -> Option<String> {
    let name = file.file_name()?.to_str()?;
    let (name, process) = name.rsplit_once('.')?;
    let (name, at) = name.rsplit_once('.')?;
    (at == gate && process.parse::<u32>().is_ok()).then(|| name.to_owned())
}

/// A job to trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct TracedJob<'a> {
    /// Unique in its machine.
    pub(super) name: &'a str,
    /// Options of fio, without name and target.
    pub(super) options: &'a str,
    /// `--filename=` or `--directory=` with its value.
    pub(super) target: &'a str,
    pub(super) workers: usize,
}

/// Result of a traced job.
pub(super) struct TracedResult {
    pub(super) path: IoPath,
    /// The complete record.
    pub(super) record: Value,
    /// What the card did meanwhile.
    pub(super) ledger: CardLedger,
}

/// A machine in which jobs are traced.
pub(super) struct TracedMachine<'a> {
    pub(super) guest: &'a mut Guest,
    pub(super) card: &'a Arc<SimulatedCard>,
    /// Path of hakaru in the machine.
    pub(super) hakaru: &'a str,
}

impl<'a> TracedMachine<'a> {
    /// Prepares a machine for traced jobs.
    pub(super) fn new(
        guest: &'a mut Guest,
        card: &'a Arc<SimulatedCard>,
        hakaru: &'a str,
    ) -> Result<TracedMachine<'a>> {
        std::fs::write(guest.out().join("gate.sh"), GATE)?;
        Ok(TracedMachine {
            guest,
            card,
            hakaru,
        })
    }

    /// Runs a script that costs the card no time.
    pub(super) fn prepare(&mut self, script: &str) -> Result<String> {
        self.prepare_for(script, LIMIT)
    }

    /// The same for a script that takes up to `limit`.
    pub(super) fn prepare_for(&mut self, script: &str, limit: Duration) -> Result<String> {
        self.card.hurry(true);
        let output = self.guest.check_output(script, limit);
        self.card.hurry(false);
        Ok(output?)
    }

    /// Runs a traced job.
    pub(super) fn run(&mut self, job: TracedJob<'_>) -> Result<TracedResult> {
        let TracedJob {
            name,
            options,
            target,
            workers,
        } = job;
        let hakaru = format!("{} --db /tmp/{name}.db", self.hakaru);
        let [before, after] = gates(name, workers);
        let script = format!(
            "cd /tmp && {hakaru} fio --hakaru-trace=whole --name={name} {target} {options} '--{before}' '--{after}' >&2 \
             && {hakaru} export",
        );
        let (out, card) = (self.guest.out().to_owned(), Arc::clone(self.card));
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let host =
            std::thread::spawn(move || open_gates(&out, &card, || is_over.load(Ordering::Relaxed)));
        let exported = self.prepare(&script);
        over.store(true, Ordering::Relaxed);
        let gated = host
            .join()
            .ok()
            .context("the thread of the host panicked")?;
        let exported = exported?;
        let GatedLedger { ledger, .. } = gated?.context("the job did not pass its gates")?;
        let record = record(exported.lines().last().unwrap_or_default())?;
        Ok(TracedResult {
            path: path_of(&record)?,
            record,
            ledger,
        })
    }
}

/// Returns the path in a record with one traced phase.
///
/// # Errors
/// If nothing was traced.
pub(super) fn path_of(record: &Value) -> Result<IoPath> {
    let paths = record["phases"][0]["paths"].clone();
    let paths: Vec<IoPath> = serde_json::from_value(paths)
        .with_context(|| format!("no trace; caveats: {}", record["caveats"]))?;
    paths.into_iter().next().context("no path")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_gate_that_runs_a_command_does_not_wait_for_the_host() {
        let script = super::gate_that_runs("sh /tmp/mark.sh");
        assert!(script.contains("\nsh /tmp/mark.sh\n"), "{script}");
        assert!(!script.contains("sleep 0.05"), "{script}");
    }

    use super::*;
    use hakaru_model::device_model::DeviceModel;
    use hakaru_model::units::Bytes;

    #[test]
    fn only_files_of_workers_wait_at_a_gate() {
        let job = |file: &str| gated(Path::new(file), "begin");
        assert_eq!(job("/out/16-a.b.begin.4711").as_deref(), Some("16-a.b"));
        for other in [
            "/out/16-a.end.4711",
            "/out/16-a.begin-open",
            "/out/1.sh",
            "",
        ] {
            assert_eq!(job(other), None, "{other}");
        }
    }

    #[test]
    fn a_job_passes_its_gates_when_all_workers_wait() {
        let dir = tempfile::tempdir().unwrap();
        let has = |name: &str| dir.path().join(name).exists();
        let touch = |name: &str| std::fs::write(dir.path().join(name), "").unwrap();
        touch("2-job.begin.7");
        let gate = await_gate(dir.path(), "begin", || true).unwrap();
        assert!(gate.is_none(), "one worker is missing");
        touch("2-job.begin.8");
        touch("1-earlier.end.3");
        let card = SimulatedCard::new(DeviceModel::plain("t", Bytes(1 << 20)), 1).unwrap();
        let host = || open_gates(dir.path(), &card, || false);
        let gated = std::thread::scope(|scope| {
            let host = scope.spawn(host);
            while !has("2-job.begin-open") {
                std::thread::yield_now();
            }
            assert!(has("2-job.begin.8"), "a worker may not have counted yet");
            touch("2-job.end.9");
            touch("2-job.end.10");
            host.join().unwrap()
        });
        assert_eq!(gated.unwrap().unwrap().job, "job");
        assert!(has("2-job.end-open") && has("2-job.end.10") && !has("2-job.begin.7"));
    }
}

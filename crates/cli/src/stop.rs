//! Signal handling: the first Ctrl-C ends the run and keeps the results, a later one ends the program.

use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI32};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

static STOP: AtomicBool = AtomicBool::new(false);
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static REPORT: AtomicBool = AtomicBool::new(false);
static ARMED: OnceLock<()> = OnceLock::new();

/// Maximum time between signals of one event: `timeout` signals the program, and again its process group.
const ONE_EVENT: Duration = Duration::from_secs(1);

/// Effect of another Ctrl-C after a stop request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecondInterrupt {
    /// Ends the program at once.
    Exits,
    /// No effect, as in fio.
    Ignored,
}

/// Returns the signal that stopped the run; `None` before that.
pub(crate) fn signal() -> Option<i32> {
    Some(SIGNAL.load(Relaxed)).filter(|&signal| signal > 0)
}

/// Returns the flag that SIGINT, SIGTERM and SIGHUP set. From the first call on they no longer kill
/// immediately.
pub(crate) fn flag() -> &'static AtomicBool {
    ARMED.get_or_init(|| catch(&[SIGINT, SIGTERM], SecondInterrupt::Exits));
    &STOP
}

/// Like [`flag`], for a front end with signal handling as in fio: SIGUSR1 requests a report, a second Ctrl-C has no
/// effect, and a closed pipe ends the program.
pub(crate) fn flag_as_in_fio() -> &'static AtomicBool {
    ARMED.get_or_init(|| {
        catch(&[SIGINT, SIGTERM, SIGUSR1], SecondInterrupt::Ignored);
        let always = Arc::new(AtomicBool::new(true));
        warn_if_not_caught(
            SIGPIPE,
            signal_hook::flag::register_conditional_default(SIGPIPE, always).map(drop),
        );
    });
    &STOP
}

/// Sets the flag, because another process asked for it.
pub(crate) fn request() {
    STOP.store(true, Relaxed);
}

/// Whether SIGUSR1 requested a report since the last call.
pub(crate) fn report_wanted() -> bool {
    REPORT.swap(false, Relaxed)
}

/// Installs permanent handlers for these signals, and for SIGHUP unless it is ignored (`nohup`).
fn catch(signals: &[i32], second: SecondInterrupt) {
    let mut signals = signals.to_vec();
    if !is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    let caught = Signals::new(signals).and_then(|caught| {
        let handle = move || handle(caught, second);
        std::thread::Builder::new()
            .name("signals".to_owned())
            .stack_size(64 << 10)
            .spawn(handle)
            .map(drop)
    });
    warn_if_not_caught(SIGINT, caught);
}

fn warn_if_not_caught(signal: i32, caught: std::io::Result<()>) {
    if let Err(error) = caught {
        anstream::eprintln!(
            "{}",
            both!(
                "warning: signal {signal} cannot be caught ({error}): Ctrl-C will lose the run",
                "警告: シグナル{signal}を捕捉できません（{error}）。Ctrl-Cで測定が失われます"
            )
        );
    }
}

fn handle(mut signals: Signals, second: SecondInterrupt) {
    let mut stopped_at: Option<Instant> = None;
    for signal in signals.forever() {
        if signal == SIGUSR1 {
            REPORT.store(true, Relaxed);
            continue;
        }
        let again = stopped_at.is_some_and(|at| at.elapsed() >= ONE_EVENT);
        if signal == SIGINT && again && second == SecondInterrupt::Exits {
            signal_hook::low_level::exit(130);
        }
        stopped_at.get_or_insert_with(Instant::now);
        SIGNAL.store(signal, Relaxed);
        STOP.store(true, Relaxed);
    }
}

/// Whether the program was started with this signal ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

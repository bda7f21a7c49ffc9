//! Ctrl-C: the first one ends the run and keeps what was measured, the second one ends the program.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, OnceLock};

static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
static SIGNAL: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// The signal that came last; `None` before any.
pub(crate) fn signal() -> Option<usize> {
    SIGNAL.get().map(|signal| signal.load(Relaxed)).filter(|&signal| signal > 0)
}

/// The flag that SIGINT, SIGTERM and SIGHUP set. From the first call on they no longer kill at once.
pub(crate) fn flag() -> &'static AtomicBool {
    STOP.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let which = SIGNAL.get_or_init(Arc::default);
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
            // The order matters: the second Ctrl-C finds the flag set and ends the program. Other signals come twice
            // without being meant so: `timeout` sends its own to the program, and to the group that it is in.
            let at_once = signal == signal_hook::consts::SIGINT;
            let armed = match at_once {
                true => signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag)).map(drop),
                false => Ok(()),
            };
            let armed = armed
                .and_then(|()| signal_hook::flag::register_usize(signal, Arc::clone(which), signal as usize))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)));
            if let Err(error) = armed {
                anstream::eprintln!("warning: signal {signal} cannot be caught ({error}): Ctrl-C will lose the run");
            }
        }
        flag
    })
}

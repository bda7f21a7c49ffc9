//! IDs of the threads of this process, as kernel events have them.
//!
//! Perf events have the IDs of the PID namespace of this process, ftrace those of the initial one.

use hakaru_model::io_path::TraceMethod;

/// Inode of the initial PID namespace. Source: `PROC_PID_INIT_INO` of the kernel's `include/linux/proc_ns.h`.
const INITIAL_NAMESPACE: &str = "pid:[4026531836]";

/// IDs of the threads of this process.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ThreadIds {
    /// Own ID and ID in the events of each thread.
    pairs: Vec<(u32, u32)>,
    /// Whether the IDs in the events are not known.
    pub(super) are_foreign: bool,
}

impl ThreadIds {
    /// Reads the IDs of all threads that exist now.
    pub(super) fn of_process(method: TraceMethod) -> ThreadIds {
        let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten();
        let statuses = threads
            .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("status")).ok());
        let namespace = std::fs::read_link("/proc/self/ns/pid");
        let is_initial = namespace.is_ok_and(|it| it.to_str() == Some(INITIAL_NAMESPACE));
        ThreadIds::parse(&statuses.collect::<Vec<_>>(), method, is_initial)
    }

    fn parse(statuses: &[String], method: TraceMethod, is_initial: bool) -> ThreadIds {
        // From the namespace of the mounted /proc down to the thread's own.
        let ids = |status: &String| -> Option<Vec<u32>> {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("NSpid:"))?;
            line.split_whitespace().map(|id| id.parse().ok()).collect()
        };
        let ids: Vec<Vec<u32>> = statuses.iter().filter_map(ids).collect();
        let pairs = ids.iter().filter_map(|ids| {
            let own = *ids.last()?;
            Some((
                own,
                match method {
                    TraceMethod::Perf => own,
                    TraceMethod::Ftrace => *ids.first()?,
                },
            ))
        });
        // A /proc of a namespace below the initial one does not show the outer IDs.
        let are_outer_known = ids.iter().any(|ids| ids.len() > 1);
        ThreadIds {
            pairs: pairs.collect(),
            are_foreign: method == TraceMethod::Ftrace && !is_initial && !are_outer_known,
        }
    }

    /// Returns the ID of a thread in the events.
    pub(super) fn in_events(&self, own: u32) -> u32 {
        let pair = self.pairs.iter().find(|(id, _)| *id == own);
        pair.map_or(own, |(_, in_events)| *in_events)
    }

    /// Returns the IDs of all threads in the events.
    pub(super) fn all(&self) -> Vec<u32> {
        self.pairs.iter().map(|(_, in_events)| *in_events).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(ids: &str) -> String {
        format!("Name:\thakaru\nPid:\t1\nNSpid:\t{ids}\nVmPeak:\t1 kB\n")
    }

    #[test]
    fn ftrace_has_the_outermost_ids() {
        let statuses = ["900\t1", "901\t2"].map(status);
        let outside = ThreadIds::parse(&statuses, TraceMethod::Ftrace, false);
        assert_eq!((outside.in_events(2), outside.all()), (901, vec![900, 901]));
        assert!(!outside.are_foreign);
        let perf = ThreadIds::parse(&statuses, TraceMethod::Perf, false);
        assert_eq!((perf.in_events(2), perf.all()), (2, vec![1, 2]));
    }

    #[test]
    fn ids_that_proc_does_not_show_are_foreign() {
        let statuses = [status("1"), status("2")];
        let ids = |method, initial| ThreadIds::parse(&statuses, method, initial).are_foreign;
        assert!(ids(TraceMethod::Ftrace, false));
        assert!(!ids(TraceMethod::Ftrace, true));
        assert!(!ids(TraceMethod::Perf, false));
        let unknown = ThreadIds::parse(&[], TraceMethod::Perf, true);
        assert_eq!(unknown.in_events(7), 7);
    }
}

//! Thread setup and commands of a worker: priorities, CPUs of NUMA nodes, commands before and
//! after.

use crate::error::RunError;
use hakaru_model::job::rules::{MemoryMode, MemoryPolicy, Priority};
use hakaru_model::plan::WorkerPlan;
use hakaru_model::record::{FailureKind, IoError};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_sys::Errno;
use std::process::{Command, ExitStatus, Stdio};

/// Applies the CPU, memory and priority settings of a worker to the calling thread.
pub(crate) fn settle_in(plan: &WorkerPlan) -> Result<(), RunError> {
    let mut cpus = plan.placement.cpus_allowed.clone();
    for &node in &plan.placement.numa_cpu_nodes {
        cpus.extend(cpus_of_node(plan, node)?);
    }
    if !cpus.is_empty() {
        hakaru_sys::thread::pin(&cpus).map_err(|errno| RunError::Pin {
            job: plan.name.clone(),
            cpus: cpus.clone(),
            errno,
            online: std::thread::available_parallelism().map_or(1, usize::from),
        })?;
    }
    if let Some(policy) = &plan.placement.memory {
        place_memory(plan, policy)?;
    }
    set_priorities(plan)
}

/// Sets the NUMA policy for memory that this thread allocates from now on.
fn place_memory(plan: &WorkerPlan, policy: &MemoryPolicy) -> Result<(), RunError> {
    let MemoryPolicy { mode, nodes } = policy;
    let (number, needs) = match mode {
        MemoryMode::Default => (0, false),
        MemoryMode::Prefer => (1, true),
        MemoryMode::Bind => (2, true),
        MemoryMode::Interleave => (3, true),
        MemoryMode::Local => (4, false),
    };
    let all = if needs && nodes.is_empty() {
        let online = std::fs::read_to_string("/sys/devices/system/node/online").ok();
        online
            .and_then(|text| list(&text))
            .unwrap_or_else(|| vec![0])
    } else {
        nodes.clone()
    };
    hakaru_sys::thread::set_memory_policy(number, &all).map_err(|errno| {
        let what = format!("memory of the NUMA nodes {all:?} (numa_mem_policy)");
        RunError::Priority {
            job: plan.name.clone(),
            what,
            errno,
        }
    })
}

fn set_priorities(plan: &WorkerPlan) -> Result<(), RunError> {
    let Priority {
        nice,
        io_class,
        io_level,
    } = plan.placement.priority;
    let failed = |what: String| {
        move |errno| RunError::Priority {
            job: plan.name.clone(),
            what,
            errno,
        }
    };
    if nice != 0 {
        hakaru_sys::thread::set_nice(nice).map_err(failed(format!("nice={nice}")))?;
    }
    match (io_class, io_level) {
        (None, None) => Ok(()),
        (class, level) => {
            // The kernel has priority levels only within a class; best effort is the default class of a thread.
            let (class, level) = (class.unwrap_or(BEST_EFFORT), level.unwrap_or(0));
            let what = format!("prioclass={class}, prio={level}");
            hakaru_sys::thread::set_io_priority(class, level).map_err(failed(what))
        }
    }
}

/// The kernel's default I/O priority class.
const BEST_EFFORT: u32 = 2;

fn cpus_of_node(plan: &WorkerPlan, node: u32) -> Result<Vec<u32>, RunError> {
    let path = format!("/sys/devices/system/node/node{node}/cpulist");
    let text = std::fs::read_to_string(path).ok();
    text.and_then(|text| list(&text))
        .ok_or_else(|| RunError::Node {
            job: plan.name.clone(),
            node,
        })
}

/// Parses a list such as `0-3,5`, in the format of the kernel.
fn list(text: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        all.extend(first..=last);
    }
    Some(all)
}

/// The shell could not be started, or its output file could not be written.
pub(crate) fn command_failed(when: &str, errno: Errno) -> IoError {
    let (action, file) = (format!("exec_{when}"), "sh".to_owned());
    IoError {
        action,
        op: None,
        kind: FailureKind::Command,
        file,
        offset: Bytes(0),
        len: Bytes(0),
        errno: errno.raw_os_error(),
        at: Nanos(0),
        mismatches: Vec::new(),
    }
}

/// Runs a shell command. Its output goes to `JOB.WHEN.txt` in the current directory.
///
/// # Errors
/// The error that prevented the command from running. A failing command is not an error: its status
/// is returned.
pub(crate) fn run_command(job: &str, when: &str, command: &str) -> Result<ExitStatus, Errno> {
    let errno = |e: std::io::Error| Errno::from_io_error(&e).unwrap_or(Errno::IO);
    let out = std::fs::File::create(format!("{job}.{when}.txt")).map_err(errno)?;
    let both = out.try_clone().map_err(errno)?;
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(both);
    shell.status().map_err(errno)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_the_kernel_are_read() {
        assert_eq!(list("0-3,5\n"), Some(vec![0, 1, 2, 3, 5]));
        assert_eq!(list("\n"), Some(vec![]));
        assert_eq!(list("a-b"), None);
    }
}

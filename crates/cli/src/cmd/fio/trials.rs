//! Self-tests instead of jobs: `--crctest` and `--cpuclock-test`.

use crate::exit::Exit;
use hakaru_engine::{checksum_names, checksum_speed, test_clocks};

/// Prints the speed of checksum algorithms: those in a comma-separated list, or all.
pub(super) fn checksums(which: Option<&str>) -> Exit {
    let known: Vec<&str> = checksum_names().collect();
    let asked: Vec<&str> = match which {
        None | Some("all") => known.clone(),
        Some(list) => list.split(',').map(str::trim).collect(),
    };
    if let Some(other) = asked.iter().find(|name| !known.contains(name)) {
        if *other != "help" {
            anstream::eprintln!("fio: unknown hash `{other}`. Available:");
        }
        let list: String = known.iter().map(|name| format!("{name}\n")).collect();
        let _ = crate::cmd::print(&list);
        return Exit::Failed;
    }
    for name in asked {
        let mib_per_s = checksum_speed(name).unwrap_or_default() / f64::from(1 << 20);
        let label = format!("{name}:");
        if crate::cmd::print(&format!("{label:<16} {mib_per_s:>8.2} MiB/sec\n")).is_err() {
            return Exit::Failed;
        }
    }
    Exit::Ok
}

/// Tests whether the clocks of all CPUs agree.
pub(super) fn clock() -> Exit {
    let seen = match test_clocks() {
        Ok(seen) => seen,
        Err(because) => {
            anstream::eprintln!("fio: the counter of the processor is not used here: {because}");
            let _ = crate::cmd::print("cs: reliable_tsc: no\n");
            return Exit::Failed;
        }
    };
    let mut text = format!("cs: reliable_tsc: yes\ncs: Testing {} CPUs\n", seen.len());
    for cpu in &seen {
        text += &format!(
            "cs: cpu{:>3}: {} clocks seen, first {}\n",
            cpu.cpu, cpu.reads, cpu.first
        );
    }
    let steps: u64 = seen.iter().map(|cpu| cpu.backwards).sum();
    match steps {
        0 => text += "cs: Pass!\n",
        steps => text += &format!("cs: Failed: {steps} clocks are less than one seen before\n"),
    }
    let printed = crate::cmd::print(&text).is_ok();
    if steps == 0 && printed {
        Exit::Ok
    } else {
        Exit::Failed
    }
}

//! `cargo xtask serve --disturbance`: whether a browser disturbs what is measured.
//!
//! Pairs of the same measurement, one with a client that follows the events of the page and one without, in alternating
//! order. Every processor of the host measures, so that all time of the server is taken from a measurement. The mean
//! difference must be within the noise of the pairs (95% interval), and the server must use less than 1% of one core.

use super::fixture::hakaru;
use super::http::HttpClient;
use super::server::ServeProcess;
use crate::workspace;
use anyhow::{Context, Result, anyhow, ensure};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Number of pairs, and Student's t for its 95% interval (29 degrees of freedom).
const PAIRS: usize = 30;
const T_95: f64 = 2.045;

/// Maximum share of one core that the server may use.
const MOST_CPU: f64 = 0.01;

/// A measurement with its rate, and what the server used meanwhile.
struct PairSide {
    iops: f64,
    /// Processor time of the server as a share of one core.
    cpu: f64,
}

/// Measures the pairs and prints a table.
///
/// # Errors
/// If the difference is beyond the noise, or the server uses too much processor time.
pub(super) fn main(program: &Path) -> Result<()> {
    let home = tempfile::Builder::new()
        .prefix("disturbance-")
        .tempdir_in(workspace::target())?;
    // In memory: a disk would hide the processor time.
    let place = tempfile::Builder::new().tempdir_in("/dev/shm")?;
    let server = ServeProcess::start(program, home.path())?;
    let measure =
        |is_followed: bool| side(program, home.path(), place.path(), &server, is_followed);
    // The first run creates the file and the database.
    measure(true)?;
    println!("pair  without, IOPS     with, IOPS  difference  server, share of a core");
    let (mut differences, mut cpu) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let is_first = pair % 2 == 0;
        let (a, b) = (measure(is_first)?, measure(!is_first)?);
        let (with, without) = if is_first { (a, b) } else { (b, a) };
        let difference = (with.iops / without.iops).ln();
        println!(
            "{:>4} {:>14.0} {:>14.0} {:>+10.2}% {:>8.3}% with, {:.3}% without",
            pair + 1,
            without.iops,
            with.iops,
            difference * 100.0,
            with.cpu * 100.0,
            without.cpu * 100.0
        );
        differences.push(difference);
        cpu.push(with.cpu);
    }
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let squares = differences.iter().map(|value| (value - mean).powi(2));
    let deviation = (squares.sum::<f64>() / (n - 1.0)).sqrt();
    let margin = T_95 * deviation / n.sqrt();
    let cpu = cpu.iter().sum::<f64>() / n;
    println!(
        "mean difference {:+.2}% (95% interval {:+.2}% to {:+.2}%), deviation of a pair {:.2}%; server {:.3}% of a core",
        mean * 100.0,
        (mean - margin) * 100.0,
        (mean + margin) * 100.0,
        deviation * 100.0,
        cpu * 100.0
    );
    ensure!(mean.abs() <= margin, "the difference is beyond the noise");
    ensure!(cpu < MOST_CPU, "the server uses too much processor time");
    Ok(())
}

/// Measures once, with or without a client of the events.
fn side(
    program: &Path,
    home: &Path,
    place: &Path,
    server: &ServeProcess,
    is_followed: bool,
) -> Result<PairSide> {
    let has_ended = AtomicBool::new(false);
    let jobs = std::thread::available_parallelism()?;
    let mut command = hakaru(program, home);
    command.current_dir(place).stdin(Stdio::null()).args([
        "fio",
        "--name=pair",
        "--rw=randread",
        "--bs=4k",
        "--size=16m",
        "--time_based",
        "--runtime=2",
        "--ioengine=psync",
        "--filename=pair.tmp",
        "--group_reporting",
        "--output-format=json",
        "--hakaru-store",
        &format!("--numjobs={jobs}"),
    ]);
    std::thread::scope(|scope| {
        let client = is_followed.then(|| {
            scope.spawn(|| {
                let client = HttpClient::connect(&server.url)?;
                client.follow("/live/events?at=home", &has_ended, |_| {})
            })
        });
        let (begun, used) = (Instant::now(), server.cpu_time()?);
        let text = workspace::output(&mut command);
        let (elapsed, used) = (begun.elapsed(), server.cpu_time()? - used);
        has_ended.store(true, Ordering::Relaxed);
        if let Some(client) = client {
            let joined = client.join();
            joined.map_err(|_| anyhow!("the client panicked"))??;
        }
        let text = text?;
        let json = text.find('{').map_or("", |at| &text[at..]);
        let json: serde_json::Value = serde_json::from_str(json)?;
        let iops = json["jobs"][0]["read"]["iops"].as_f64();
        Ok(PairSide {
            iops: iops.context("the output has no IOPS")?,
            cpu: used.as_secs_f64() / elapsed.max(Duration::from_millis(1)).as_secs_f64(),
        })
    })
}

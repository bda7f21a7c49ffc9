//! `cargo xtask serve --load`: many clients of a server with a large database.
//!
//! The database has the results of the browser test, and copies of a run on a simulated card. 50 clients request all
//! pages, then 200 clients follow the live events of a measurement. Limits: start in 100 ms, 99th percentile of each page
//! 150 ms, and 25 MB of memory.

use super::fixture::{self, hakaru};
use super::http::HttpClient;
use super::server::ServeProcess;
use crate::scale;
use crate::workspace;
use anyhow::{Context, Result, anyhow, ensure};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Clients that request pages, and requests of each.
const CLIENTS: usize = 50;
const REQUESTS: usize = 240;
/// Pause of a client between two pages: that of a person who hardly looks.
const PAUSE: Duration = Duration::from_millis(250);
/// Clients that follow live events.
const FOLLOWERS: usize = 200;
/// Pages of one kind, such as `/run/A` and `/run/B`.
const MOST_OF_A_KIND: usize = 3;

const MOST_START: Duration = Duration::from_millis(100);
const MOST_P99: Duration = Duration::from_millis(150);
const MOST_MEMORY: u64 = 25_000_000;

/// Measures the server under load.
///
/// # Errors
/// If a page fails, or a limit is exceeded.
pub(super) fn main(program: &Path, runs: u64) -> Result<()> {
    let home = fixture::stored_results(program)?;
    fill(program, home.path(), runs)?;
    let mut broken = Vec::new();
    let mut limit = |what: &str, is_over: bool, value: String| {
        let mark = if is_over { "  over the limit" } else { "" };
        println!("{what:<44} {value}{mark}");
        if is_over {
            broken.push(format!("{what}: {value}"));
        }
    };
    let (server, start) = fastest_start(program, home.path())?;
    limit("start", start > MOST_START, format!("{start:.1?}"));
    let before = server.memory()?;
    limit(
        "memory after the start",
        before > MOST_MEMORY,
        megabytes(before),
    );
    let pages = pages(&server.url)?;
    let times = request_all(&server.url, &pages)?;
    for (page, mut times) in times {
        times.sort_unstable();
        let (p50, p99) = (percentile(&times, 50), percentile(&times, 99));
        let value = format!("P50 {p50:>7.1?}  P99 {p99:>7.1?}  {} requests", times.len());
        limit(&page, p99 > MOST_P99, value);
    }
    limit("memory after all pages", false, megabytes(server.memory()?));
    let lag = follow_all(program, home.path(), &server.url)?;
    limit(
        "lag of live events, P99",
        lag > MOST_P99 * 2,
        format!("{lag:.1?}"),
    );
    // Workers of the server that have nothing to do end after 10 s.
    std::thread::sleep(Duration::from_secs(12));
    let after = server.memory()?;
    limit(
        "memory after the load",
        after > MOST_MEMORY,
        megabytes(after),
    );
    ensure!(
        broken.is_empty(),
        "over the limit:\n  {}",
        broken.join("\n  ")
    );
    Ok(())
}

/// Adds copies of a run on a simulated card to the database.
fn fill(program: &Path, home: &Path, runs: u64) -> Result<()> {
    let mut command = hakaru(program, home);
    command.env("HAKARU_DB", home.join("template.db"));
    let line = "bench --quick --only=rand-read,seq-write --quiet --simulate even.json";
    workspace::output(command.args(line.split(' ')))?;
    let mut export = hakaru(program, home);
    export.env("HAKARU_DB", home.join("template.db"));
    let template = workspace::output(export.arg("export"))?;
    let template = template.lines().next().context("no run was exported")?;
    let mut import = hakaru(program, home);
    import.args(["import", "-"]);
    let begun = Instant::now();
    scale::pipe_copies(&mut import, template, runs)?;
    println!("{runs} runs stored in {:.1?}", begun.elapsed());
    Ok(())
}

/// The fastest of several starts: other processes of the host only make it slower.
fn fastest_start(program: &Path, home: &Path) -> Result<(ServeProcess, Duration)> {
    let mut fastest = Duration::MAX;
    loop {
        let begun = Instant::now();
        let server = ServeProcess::start(program, home)?;
        let time = begun.elapsed();
        if fastest != Duration::MAX && (time >= fastest || fastest < MOST_START) {
            return Ok((server, fastest.min(time)));
        }
        fastest = time;
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let at = (sorted.len() * percent).div_ceil(100);
    sorted
        .get(at.saturating_sub(1))
        .copied()
        .unwrap_or_default()
}

/// Follows all links from the first page on, and returns a few pages of each kind, and documents for programs.
fn pages(url: &str) -> Result<Vec<String>> {
    let mut client = HttpClient::connect(url)?;
    let first = [
        "/",
        "/compare?set=even&set=sprinter",
        "/path/label=traced",
        "/results?kind=verifications",
        "/api/v1/series",
        "/api/v1/series/latest/report",
        "/api/v1/runs/latest",
        "/api/v1/compare?set=even&set=sprinter",
        "/api/v1/campaigns",
        "/api/v1/cards/even",
        "/api/v1/references",
        "/api/v1/live",
        "/metrics",
    ];
    let mut open = VecDeque::from(first.map(str::to_owned));
    let (mut seen, mut kinds) = (BTreeSet::new(), BTreeMap::new());
    let mut pages = Vec::new();
    while let Some(path) = open.pop_front() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let kind = match path.starts_with("/api/") {
            true => path.clone(),
            false => path.split(['/', '?']).nth(1).unwrap_or_default().to_owned(),
        };
        let count = kinds.entry(kind).or_insert(0);
        *count += 1;
        if *count > MOST_OF_A_KIND {
            continue;
        }
        let (status, body) = client.get(&path)?;
        if path == "/path/label=traced" && status == 404 {
            continue;
        }
        ensure!(status == 200 || status == 303, "{path}: status {status}");
        let links = body.split("href=\"/").skip(1);
        let links = links.filter_map(|rest| rest.split('"').next());
        let links = links.map(|link| format!("/{}", link.replace("&amp;", "&")));
        // The description of all answers is a file, and disks of the host are no matter of the database.
        open.extend(links.filter(|link| !link.starts_with("/api/v1/disks")));
        pages.push(path);
    }
    Ok(pages)
}

/// Requests pages by all clients at the same time, each in an order of its own; returns the times by page.
fn request_all(url: &str, pages: &[String]) -> Result<BTreeMap<String, Vec<Duration>>> {
    let times: Mutex<BTreeMap<String, Vec<Duration>>> = Mutex::default();
    let one = |client: usize| -> Result<()> {
        let mut connection = HttpClient::connect(url)?;
        std::thread::sleep(PAUSE.mul_f64(client as f64 / CLIENTS as f64));
        let mut own = Vec::new();
        for request in 0..REQUESTS {
            // Steps of a number without a common factor with the count of pages reach all of them.
            let page = &pages[(client * 7 + request * (client % 5 * 2 + 1)) % pages.len()];
            let begun = Instant::now();
            let (status, _) = connection.get(page)?;
            own.push((page, begun.elapsed()));
            ensure!(status == 200 || status == 303, "{page}: status {status}");
            std::thread::sleep(PAUSE);
        }
        let mut all = times.lock().map_err(|_| anyhow!("a client panicked"))?;
        for (page, time) in own {
            all.entry(page.clone()).or_default().push(time);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| scope.spawn(move || one(client)))
            .collect();
        let ended = clients.into_iter().map(|client| match client.join() {
            Ok(ended) => ended,
            Err(_) => Err(anyhow!("a client panicked")),
        });
        ended.collect::<Result<()>>()
    })?;
    times.into_inner().map_err(|_| anyhow!("a client panicked"))
}

/// Follows the events of a measurement by all clients; returns the 99th percentile of how much later than the first
/// client each one received an event. Each must receive the last sample.
fn follow_all(program: &Path, home: &Path, url: &str) -> Result<Duration> {
    let arrivals: Mutex<BTreeMap<String, Vec<Instant>>> = Mutex::default();
    let has_ended = AtomicBool::new(false);
    let one = |client: usize| {
        let path = ["/live/events?at=home", "/api/v1/events"][client % 2];
        HttpClient::connect(url)?.follow(path, &has_ended, |id| {
            if let Ok(mut all) = arrivals.lock() {
                all.entry(id.to_owned()).or_default().push(Instant::now());
            }
        })
    };
    let line = "fio --name=followed --rw=randread --bs=4k --size=8m --time_based --runtime=20 --filename=disk/z \
        --ioengine=psync --rate_iops=1000 --hakaru-store --output=followed.txt";
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..FOLLOWERS)
            .map(|client| scope.spawn(move || one(client)))
            .collect();
        let mut command = hakaru(program, home);
        command.args(line.split_whitespace()).stdin(Stdio::null());
        let measured = workspace::run(command.stdout(Stdio::null()));
        // The last samples are on their way.
        std::thread::sleep(Duration::from_secs(2));
        has_ended.store(true, Ordering::Relaxed);
        for client in clients {
            let joined = client.join();
            joined.map_err(|_| anyhow!("a client panicked"))??;
        }
        measured
    })?;
    let arrivals = arrivals.into_inner();
    let arrivals = arrivals.map_err(|_| anyhow!("a client panicked"))?;
    let last = |(id, _): &(&String, &Vec<Instant>)| {
        let seq = id.rsplit('=').next().unwrap_or_default();
        seq.parse::<u64>().unwrap_or(0)
    };
    let (id, of_last) = arrivals.iter().max_by_key(last).context("no event")?;
    ensure!(
        of_last.len() == FOLLOWERS,
        "only {} of {FOLLOWERS} clients received the last samples, {id}",
        of_last.len()
    );
    let mut lags = Vec::new();
    for times in arrivals.values() {
        let first = times.iter().min().context("no arrival")?;
        lags.extend(times.iter().map(|at| at.duration_since(*first)));
    }
    println!(
        "{} events reached {FOLLOWERS} clients up to the last, {id}",
        arrivals.len()
    );
    lags.sort_unstable();
    Ok(percentile(&lags, 99))
}

//! Records the events of a disk for some seconds and prints their counts:
//! `cargo run -p hakaru-trace --example record 7:0 5 [lean|full] [perf|ftrace]`

use hakaru_model::io_path::TraceMethod;
use hakaru_trace::recorder::{DiskNumber, EventRecorder, EventSet, RecorderOptions};
use std::time::{Duration, Instant};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| args.iter().any(|arg| arg == word);
    let (Some(disk), Some(seconds)) = (
        args.first().and_then(|arg| DiskNumber::parse(arg)),
        args.get(1).and_then(|arg| arg.parse().ok()),
    ) else {
        eprintln!("usage: record MAJOR:MINOR SECONDS [lean|full] [perf|ftrace]");
        std::process::exit(2);
    };
    let method = match (has("perf"), has("ftrace")) {
        (true, _) => Some(TraceMethod::Perf),
        (_, true) => Some(TraceMethod::Ftrace),
        _ => None,
    };
    let options = RecorderOptions {
        events: if has("lean") {
            EventSet::Lean
        } else {
            EventSet::Full
        },
        filesystem: Some(disk),
        method,
        ..RecorderOptions::default()
    };
    let begin = Instant::now();
    let recorder = match EventRecorder::start(disk, &options) {
        Ok(recorder) => recorder,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    };
    println!("{:?}, started in {:?}", recorder.disk(), begin.elapsed());
    let (mut events, mut late, mut last) = (0, 0, 0);
    let mut add = |batch: Vec<_>| {
        events += batch.len();
        for event in batch {
            let event: hakaru_trace::event::TraceEvent = event;
            late += usize::from(event.time < last);
            last = last.max(event.time);
            if has("print") {
                println!("{event:?}");
            }
        }
    };
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(seconds) {
        std::thread::sleep(Duration::from_millis(100));
        add(recorder.take());
    }
    let (rest, report) = recorder.finish();
    add(rest);
    println!(
        "{:?}, ring {} bytes, {events} events, {late} out of order, {:.4} % not received",
        report.method,
        report.ring.0,
        report.lost_share() * 100.0
    );
    for count in report.events {
        println!(
            "{:28} counted {:9} recorded {:9} lost {:7} missing {:7}",
            count.name, count.counted, count.recorded, count.lost, count.missing
        );
    }
    let begin = Instant::now();
    drop(recorder);
    println!("closed in {:?}", begin.elapsed());
}

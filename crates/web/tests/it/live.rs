//! What runs now, over HTTP: events, catching up, stopping and answering.

use hakaru_store::live::{
    LiveEnd, LivePhase, LivePhaseState, LivePromptKind, LivePublisher, LiveRate, LiveSample,
    LiveVerb,
};
use hakaru_web::{ServeOptions, TokenFile, serve};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// A server in this process. It ends with the process.
struct Server {
    _dir: tempfile::TempDir,
    database: PathBuf,
    address: SocketAddr,
    token: String,
}

impl Server {
    fn begin() -> Server {
        Server::with_program(Path::new("/nonexistent/hakaru"))
    }

    fn with_program(program: &Path) -> Server {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("hakaru.db");
        drop(hakaru_store::Store::open(&database).unwrap());
        let (file, token) = TokenFile::open(&TokenFile::path(&database), false).unwrap();
        let options = ServeOptions {
            listen: "127.0.0.1:0".parse().unwrap(),
            hosts: Vec::new(),
            read_only: false,
            database: database.clone(),
            program: program.to_owned(),
        };
        let (sender, started) = channel();
        std::thread::spawn(move || {
            serve(options, file, "test".to_owned(), |started| {
                sender.send(started.address).unwrap();
                Ok(())
            })
        });
        Server {
            _dir: dir,
            database,
            address: started.recv_timeout(Duration::from_secs(20)).unwrap(),
            token: token.unwrap().as_str().to_owned(),
        }
    }

    /// Sends a request, and returns the connection.
    fn send(&self, request: &str, headers: &str, body: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let length = body.len();
        let host = self.address;
        let text = format!(
            "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(text.as_bytes()).unwrap();
        BufReader::new(stream)
    }

    fn get(&self, path: &str) -> String {
        let mut text = String::new();
        self.send(&format!("GET {path}"), "", "")
            .read_to_string(&mut text)
            .unwrap();
        text
    }

    /// Sends a form with the token, as a program does.
    fn post(&self, path: &str, body: &str) -> String {
        let headers = format!(
            "Authorization: Bearer {}\r\nContent-Type: application/x-www-form-urlencoded\r\n",
            self.token
        );
        let mut text = String::new();
        self.send(&format!("POST {path}"), &headers, body)
            .read_to_string(&mut text)
            .unwrap();
        text
    }

    fn events(&self, path: &str, last: &str) -> Events {
        let headers = match last {
            "" => String::new(),
            last => format!("Last-Event-ID: {last}\r\n"),
        };
        Events(self.send(&format!("GET {path}"), &headers, ""))
    }

    /// Waits for what a page shows.
    fn wait_for(&self, path: &str, is_it: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let text = self.get(path);
            if is_it(&text) {
                return text;
            }
            assert!(Instant::now() < until, "{text}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// An event: its name, ID and data.
type Event = (String, String, String);

/// A stream of events.
struct Events(BufReader<TcpStream>);

impl Events {
    /// Returns the next event.
    fn next(&mut self) -> Event {
        let mut event = Event::default();
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            let line = line.trim_end();
            for (field, of) in [("event: ", 0), ("id: ", 1), ("data: ", 2)] {
                if let Some(value) = line.strip_prefix(field) {
                    let place = match of {
                        0 => &mut event.0,
                        1 => &mut event.1,
                        _ => &mut event.2,
                    };
                    value.clone_into(place);
                }
            }
            if line.is_empty() && !event.2.is_empty() {
                return event;
            }
        }
    }

    fn named(&mut self, name: &str) -> Event {
        loop {
            let event = self.next();
            if event.0 == name {
                return event;
            }
        }
    }
}

fn publish(server: &Server, stop: &Arc<AtomicBool>) -> LivePublisher {
    let stop = Arc::clone(stop);
    let on_stop = move || stop.store(true, Relaxed);
    let target = "<script>alert(1)</script>";
    let live = LivePublisher::begin(&server.database, LiveVerb::Bench, target, on_stop).unwrap();
    live.update(|state| {
        state.phases = vec![LivePhase {
            name: "seq-write".to_owned(),
            state: LivePhaseState::Running,
            permille: Some(250),
        }];
    });
    live
}

fn sample(live: &LivePublisher, at_unix_ms: i64) {
    live.sample(LiveSample {
        at_unix_ms,
        measuring: true,
        write: Some(LiveRate {
            bytes_per_s: 1e6,
            iops: 10.0,
            p50_ns: Some(1000),
            p99_ns: Some(2000),
        }),
        ..LiveSample::default()
    });
}

fn times(data: &str) -> Vec<i64> {
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let samples = data["samples"].as_array().unwrap().iter();
    samples
        .map(|sample| sample["at_unix_ms"].as_i64().unwrap())
        .collect()
}

#[test]
fn a_page_shows_what_runs_without_the_script() {
    let server = Server::begin();
    assert!(server.get("/").contains("Nothing is running."));
    let live = publish(&server, &Arc::default());
    let page = server.wait_for("/", |page| page.contains("Sequential"));
    assert!(
        page.contains("Benchmark of &lt;script&gt;alert(1)&lt;/script&gt;"),
        "{page}"
    );
    assert!(
        !page.contains("<script>alert") && page.contains("value=\"250\""),
        "{page}"
    );
    // Nobody has signed in, so nothing can be stopped.
    assert!(!page.contains("/live/stop"));
    live.end(LiveEnd::Completed);
    server.wait_for("/", |page| page.contains("Completed"));
}

#[test]
fn a_client_that_reconnects_receives_what_followed() {
    let server = Server::begin();
    let live = publish(&server, &Arc::default());
    (1..=3).for_each(|at| sample(&live, at));
    server.wait_for("/api/v1/live", |text| text.contains("\"samples\":3"));
    let mut first = server.events("/live/events?at=home", "");
    let (_, _, data) = first.named("state");
    assert!(data.contains("data-process"), "{data}");
    let (_, id, data) = first.named("samples");
    assert_eq!(times(&data), [1, 2, 3]);
    drop(first);
    (4..=5).for_each(|at| sample(&live, at));
    server.wait_for("/api/v1/live", |text| text.contains("\"samples\":5"));
    let mut again = server.events("/live/events?at=home", &id);
    let (_, id, data) = again.named("samples");
    assert_eq!(times(&data), [4, 5]);
    // Another server, as after a restart, continues from the same place.
    let options = ServeOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        hosts: Vec::new(),
        read_only: false,
        database: server.database.clone(),
        program: "hakaru".into(),
    };
    let (file, _) = TokenFile::open(&TokenFile::path(&server.database), false).unwrap();
    let (sender, started) = channel();
    std::thread::spawn(move || {
        serve(options, file, String::new(), |started| {
            Ok(sender.send(started.address)?)
        })
    });
    let restarted = Server {
        _dir: tempfile::tempdir().unwrap(),
        database: server.database.clone(),
        address: started.recv_timeout(Duration::from_secs(20)).unwrap(),
        token: server.token.clone(),
    };
    sample(&live, 6);
    let mut after = restarted.events("/api/v1/events", &id);
    let (_, _, data) = after.named("state");
    let state: serde_json::Value = serde_json::from_str(&data).unwrap();
    assert_eq!(state["verb"], "bench");
    let (_, _, data) = after.named("samples");
    assert_eq!(times(&data), [6]);
}

#[test]
fn stopping_and_answering_need_the_token() {
    let server = Server::begin();
    let stopped = Arc::<AtomicBool>::default();
    let live = publish(&server, &stopped);
    live.ask(LivePromptKind::Erase {
        card: "a card".to_owned(),
        device: "a device".to_owned(),
        name: "sdz".to_owned(),
        losses: vec!["everything".to_owned()],
        wrong: None,
    });
    server.wait_for("/", |page| {
        page.contains("all data on this device will be erased")
    });
    let list = server.get("/api/v1/live");
    let body: serde_json::Value =
        serde_json::from_str(list.rsplit("\r\n\r\n").next().unwrap()).unwrap();
    let id = body["running"][0]["id"].as_str().unwrap();
    let prompt = body["running"][0]["prompt"]["number"].as_u64().unwrap();
    let answer = format!("id={id}&prompt={prompt}&text=sdz");
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let origin = format!("{form}Origin: http://{}\r\n", server.address);
    for headers in [form, &origin] {
        let mut text = String::new();
        let mut sent = server.send("POST /live/answer", headers, &answer);
        sent.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 403"), "{text}");
    }
    assert_eq!(live.take_answer(), None);
    let done = server.post("/live/answer", &answer);
    assert!(done.starts_with("HTTP/1.1 303"), "{done}");
    let mut answers = Vec::new();
    let until = Instant::now() + Duration::from_secs(10);
    while answers.is_empty() && Instant::now() < until {
        answers.extend(live.take_answer());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(answers, ["sdz"]);
    let done = server.post("/live/stop", &format!("id={id}"));
    assert!(done.starts_with("HTTP/1.1 303"), "{done}");
    server.wait_for("/", |_| stopped.load(Relaxed));
    for id in ["", "1-1", "../../etc/passwd", "1-1.json"] {
        let refused = server.post("/live/stop", &format!("id={id}"));
        assert!(refused.starts_with("HTTP/1.1 404"), "{id}: {refused}");
    }
}

#[test]
fn a_start_without_device_or_program_is_explained() {
    let server = Server::begin();
    let refused = server.post("/start", "verb=bench&device=../../etc/passwd");
    assert!(refused.starts_with("HTTP/1.1 400"), "{refused}");
    let refused = server.post("/start", "verb=campaign&campaign=nobody");
    assert!(refused.starts_with("HTTP/1.1 400"), "{refused}");
    assert!(server.get("/start?device=..").starts_with("HTTP/1.1 404"));
}

/// Resident memory of this process in KiB.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Number of open files of this process.
fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn many_reconnects_and_clients_leave_nothing_behind() {
    let server = Server::begin();
    let live = publish(&server, &Arc::default());
    (1..=600).for_each(|at| {
        sample(&live, at);
        if at % 50 == 0 {
            std::thread::sleep(Duration::from_millis(600));
        }
    });
    server.wait_for("/api/v1/live", |text| text.contains("\"samples\":600"));
    let reconnect = |times: usize| {
        for _ in 0..times {
            server.events("/live/events?at=home", "").named("samples");
        }
    };
    reconnect(500);
    let (before, files) = (memory(), open_files());
    let count = std::env::var("HAKARU_RECONNECTS")
        .ok()
        .and_then(|n| n.parse().ok());
    reconnect(count.unwrap_or(2_000));
    let mut clients: Vec<Events> = Vec::new();
    for _ in 0..200 {
        clients.push(server.events("/live/events?at=home", ""));
    }
    clients
        .iter_mut()
        .for_each(|client| _ = client.named("samples"));
    sample(&live, 601);
    for client in &mut clients {
        let (_, _, data) = client.named("samples");
        assert_eq!(times(&data), [601]);
    }
    drop(clients);
    let until = Instant::now() + Duration::from_secs(20);
    // The server notices closed connections when it sends to them.
    while open_files() > files + 20 && Instant::now() < until {
        sample(&live, 602);
        std::thread::sleep(Duration::from_millis(200));
    }
    let (after, left) = (memory(), open_files());
    eprintln!("memory {before} -> {after} KiB, open files {files} -> {left}");
    assert!(left <= files + 20, "{files} -> {left} open files");
    assert!(after < before + 20_000, "{before} -> {after} KiB");
}

//! `hakaru serve` with clients that mean harm, and with a database that cannot be read.

use super::{HERE, Server};
use crate::support::{Home, descriptors_of, execute, records, text, wait_until};
use hakaru_model::record::RunRecord;
use hakaru_store::{Appended, Store};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

/// Number of connections that a client may open and leave.
const HALF_OPEN: usize = 1000;
/// Growth of the server's memory that an allocator may cause, in KiB.
const MOST_GROWTH: u64 = 8 << 10;

/// Resident memory of the server, in KiB.
fn memory(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.split("VmRSS:").nth(1).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// Permits this process as many open files as the system allows it.
fn raise_limit_of_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, raised).unwrap();
}

#[test]
fn requests_of_other_sites_do_nothing() {
    let home = Home::new();
    let server = Server::start(&home, HERE);
    let token = server.token.clone().unwrap();
    let (_, answer) = server.get(&format!("/enter?token={token}"));
    let session = answer.split("set-cookie: ").nth(1).unwrap();
    let cookie = session.split(';').next().unwrap();
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let start = "verb=campaign&campaign=x";
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
        let headers = format!("{form}Cookie: {cookie}\r\nOrigin: {origin}\r\n");
        assert_eq!(
            server.send("POST /start", &headers, start).0,
            403,
            "{origin}"
        );
    }
    // Without an origin, an action needs the token itself.
    let headers = format!("{form}Cookie: {cookie}\r\n");
    assert_eq!(server.send("POST /start", &headers, start).0, 403);
    // The name of an attacker that he has pointed at this address.
    let mut stream = TcpStream::connect(server.address).unwrap();
    write!(
        stream,
        "GET /api/v1/live HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 421"), "{answer}");
    assert!(server.live().is_empty());
    server.end(Signal::TERM);
}

#[test]
fn an_address_that_guesses_has_to_wait() {
    let home = Home::new();
    let server = Server::start(&home, &[HERE, &["--host", "lab.example"]].concat());
    let token = server.token.clone().unwrap();
    let with = |token: &str| {
        let headers = format!("Authorization: Bearer {token}\r\n");
        server.send("GET /api/v1/live", &headers, "").0
    };
    assert_eq!(with(&token), 200);
    for guess in 0..5 {
        assert_eq!(with(&format!("{guess:064}")), 401);
    }
    assert_eq!(with("0"), 429);
    assert_eq!(with(&token), 429);
    server.end(Signal::TERM);
}

#[test]
fn no_path_of_a_client_reaches_the_file_system() {
    let home = Home::new();
    let ran = execute(&home, "bench --quick --only=rand-read --size=16MiB --quiet");
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let server = Server::start(&home, HERE);
    let places = [
        "/run/",
        "/verification/",
        "/device/",
        "/card/",
        "/campaign/",
        "/path/",
        "/api/v1/runs/",
        "/api/v1/verifications/",
        "/api/v1/path/",
        "/api/v1/campaigns/",
        "/api/v1/cards/",
        "/",
    ];
    let names = [
        "../../../../etc/passwd",
        "..%2f..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "%2fetc%2fpasswd",
        "....//....//etc/passwd",
        "%00",
        "%ff%fe",
        "%2e",
        "'%20OR%201=1--",
        &"a".repeat(4000),
    ];
    for place in places {
        for name in names {
            let (status, answer) = server.get(&format!("{place}{name}"));
            assert!((400..500).contains(&status), "{place}{name}: {answer}");
            assert!(!answer.contains("root:x:"), "{place}{name}");
        }
    }
    for query in [
        "/api/v1/series?limit=-1",
        "/api/v1/series?limit=x",
        "/start?device=../sda",
    ] {
        let (status, answer) = server.get(query);
        assert!((400..500).contains(&status), "{query}: {answer}");
        let is_json = answer.contains("content-type: application/json");
        assert_eq!(is_json, query.starts_with("/api/"), "{answer}");
    }
    let (status, answer) = server.send("DELETE /api/v1/series", "", "");
    assert!(status == 403 && answer.contains("\"error\""), "{answer}");
    server.end(Signal::TERM);
}

#[test]
fn names_are_never_markup() {
    let home = Home::new();
    const SCRIPT: &str = "<script>alert(1)</script>";
    const IMAGE: &str = "\"'><img/src=x/onerror=alert(2)>&amp;";
    for (label, note) in [(SCRIPT, IMAGE), (IMAGE, SCRIPT)] {
        let line = format!(
            "bench --quick --only=rand-read --size=16MiB --quiet --label={label} --note={note} --title={label}"
        );
        let ran = execute(&home, &line);
        assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    }
    let runs = records(&home);
    let server = Server::start(&home, HERE);
    let mut pages = vec![
        "/".to_owned(),
        "/results".to_owned(),
        "/compare".to_owned(),
        "/references".to_owned(),
    ];
    pages.extend(runs.iter().map(|run| format!("/run/{}", run.id)));
    pages.push(format!(
        "/compare?set=series={}&set=series={}",
        runs[0].id, runs[1].id
    ));
    pages.push(format!(
        "/compare?set={}",
        "%3Cscript%3Ealert(1)%3C/script%3E"
    ));
    pages.push("/card/%3Cscript%3Ealert(1)%3C%2Fscript%3E".to_owned());
    pages.push("/run/%3Cscript%3Ealert(1)%3C%2Fscript%3E".to_owned());
    let mut shown = 0;
    for page in pages {
        let (_, answer) = server.get(&page);
        assert!(answer.contains("text/html"), "{page}: {answer}");
        assert!(
            !answer.contains("<script>alert") && !answer.contains("<img/"),
            "{page}"
        );
        shown += usize::from(answer.contains("alert(1)"));
    }
    assert!(shown >= 4, "the names are shown as text");
    server.end(Signal::TERM);
}

#[test]
fn half_open_clients_do_not_keep_others_out() {
    raise_limit_of_open_files();
    let home = Home::new();
    let server = Server::start(&home, HERE);
    assert_eq!(server.get("/").0, 200);
    let (before, files) = (memory(&server), descriptors_of(server.child.id()).len());
    let begun = Instant::now();
    let mut clients = Vec::new();
    for n in 0..HALF_OPEN {
        let mut stream = TcpStream::connect(server.address).unwrap();
        // Ignored: the server may have closed it already.
        let _ = write!(stream, "GET /?n={n} HTTP/1.1\r\nHost: ");
        clients.push(stream);
    }
    assert_eq!(server.get("/").0, 200);
    let open = clients.iter().filter(|client| {
        client.set_nonblocking(true).unwrap();
        let seen = client.peek(&mut [0]);
        seen.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    });
    let open = open.count();
    // Later, the limit of 10 s for a head has closed them.
    if begun.elapsed() < Duration::from_secs(8) {
        assert!(
            open >= 500,
            "only as many give way as necessary: {open} are open"
        );
    }
    drop(clients);
    wait_until(|| descriptors_of(server.child.id()).len() <= files + 2);
    let after = memory(&server);
    assert!(
        after < before + MOST_GROWTH,
        "{before} KiB, then {after} KiB"
    );
    server.end(Signal::TERM);
}

/// Follows the events until the first line, and leaves. `HAKARU_RECONNECTS` sets how often.
#[test]
fn clients_that_reconnect_leave_nothing_behind() {
    let home = Home::new();
    let server = Server::start(&home, HERE);
    let follow = |last: &str| {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let host = server.address;
        write!(
            stream,
            "GET /api/v1/events HTTP/1.1\r\nHost: {host}\r\nLast-Event-ID: {last}\r\n\r\n"
        )
        .unwrap();
        let mut lines = BufReader::new(stream).lines();
        assert!(lines.any(|line| line.unwrap().starts_with("retry:")));
    };
    let many = "9-9=99999999999999999999,".repeat(150);
    let hostile = ["", "1-1=5", "x", "1-1=-1", ",,,==", &many];
    let count = std::env::var("HAKARU_RECONNECTS").map_or(400, |count| count.parse().unwrap());
    for last in hostile.iter().cycle().take(60) {
        follow(last);
    }
    let files = descriptors_of(server.child.id()).len();
    let before = memory(&server);
    for last in hostile.iter().cycle().take(count) {
        follow(last);
    }
    wait_until(|| descriptors_of(server.child.id()).len() <= files);
    let after = memory(&server);
    assert!(
        after < before + MOST_GROWTH,
        "{before} KiB, then {after} KiB"
    );
    assert_eq!(server.get("/").0, 200);
    server.end(Signal::TERM);
}

#[test]
fn a_huge_body_is_not_read() {
    let home = Home::new();
    let server = Server::start(&home, HERE);
    let token = server.token.clone().unwrap();
    let before = memory(&server);
    let length = format!("Content-Length: {}", 1 << 30);
    for framing in [&length[..], "Transfer-Encoding: chunked"] {
        for path in ["/start", "/settings", "/enter", "/live/answer"] {
            let mut stream = TcpStream::connect(server.address).unwrap();
            let host = server.address;
            write!(
                stream,
                "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
                 Content-Type: application/x-www-form-urlencoded\r\n{framing}\r\n\r\n"
            )
            .unwrap();
            let mut block = b"10000\r\n".to_vec();
            block.resize(block.len() + (64 << 10), b'a');
            block.extend(b"\r\n");
            let mut sent = 0_usize;
            while sent < 1 << 30 && stream.write_all(&block).is_ok() {
                sent += block.len();
            }
            assert!(sent < 64 << 20, "{path}: {sent} bytes");
        }
    }
    let (status, answer) = server.post(&token, "/start", &"a".repeat(70_000));
    assert_eq!(status, 413, "{answer}");
    assert!(answer.contains("64 KiB"), "{answer}");
    let after = memory(&server);
    assert!(
        after < before + MOST_GROWTH,
        "{before} KiB, then {after} KiB"
    );
    server.end(Signal::TERM);
}

#[test]
fn a_damaged_database_is_an_error_until_it_is_whole_and_a_lock_is_none() {
    let home = Home::new();
    let ran = execute(
        &home,
        "bench --quick --only=rand-read --size=16MiB --quiet --label=mine",
    );
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let server = Server::start(&home, HERE);
    assert!(server.get("/results").1.contains("mine"));
    let path = home.path().join("hakaru.db");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, "damaged").unwrap();
    for page in ["/results", "/api/v1/series", "/metrics"] {
        let (status, answer) = server.get(page);
        assert_eq!(status, 503, "{answer}");
        assert_eq!(answer.contains("application/json"), page != "/results");
    }
    std::fs::write(&path, &whole).unwrap();
    assert!(server.get("/results").1.contains("mine"));

    // The records are taken while the transaction that stores them has locked the database.
    let mut other = Store::open(path).unwrap();
    let all = records(&home).into_iter();
    let all: Vec<RunRecord> = all.map(|run| other.raw_run(&run.id).unwrap()).collect();
    let while_locked = all.iter().inspect(|_| {
        for page in ["/results?limit=1", "/api/v1/series", "/metrics"] {
            let (status, answer) = server.get(page);
            assert_eq!(status, 200, "{page}: {answer}");
        }
    });
    let appended = other.append_all(while_locked).unwrap();
    assert_eq!(appended, vec![Appended::AlreadyThere; all.len()]);
    drop(other);
    assert!(server.get("/results").1.contains("mine"));
    server.end(Signal::TERM);
}

#[test]
fn a_full_file_system_leaves_results_readable() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: mounting a small file system needs root");
        return;
    }
    let home = Home::new();
    struct Mounted<'a>(&'a Home);
    impl Drop for Mounted<'_> {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
        }
    }
    let mount = ["-t", "tmpfs", "-o", "size=40m", "tmpfs"];
    let mounted = Command::new("mount").args(mount).arg(home.path()).status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("skipped: a tmpfs cannot be mounted here");
        return;
    }
    let _mounted = Mounted(&home);
    std::fs::create_dir_all(home.work()).unwrap();
    let ran = execute(
        &home,
        "bench --quick --only=rand-read --size=16MiB --quiet --label=mine",
    );
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let server = Server::start(&home, HERE);
    let token = server.token.clone().unwrap();
    let mut filler = std::fs::File::create(home.path().join("filler")).unwrap();
    while filler.write_all(&[0; 4096]).is_ok() {}
    for page in ["/", "/results", "/run/mine", "/api/v1/series", "/metrics"] {
        let (status, answer) = server.get(page);
        assert_eq!(status, 200, "{page}: {answer}");
    }
    let (status, answer) = server.post(&token, "/start", "verb=campaign&campaign=x");
    assert!((400..600).contains(&status), "{answer}");
    drop(filler);
    std::fs::remove_file(home.path().join("filler")).unwrap();
    assert!(server.get("/results").1.contains("mine"));
    server.end(Signal::TERM);
}

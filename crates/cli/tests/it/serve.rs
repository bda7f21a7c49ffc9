//! `hakaru serve` as a client on the network sees it: pages, the token, and measurements that it starts.

mod attacks;
mod new_campaign;
mod openapi;
mod proxy;
mod schema;

use crate::anatomy_kept::examined;
use crate::support::{Home, execute, hakaru, records, root_loop_sparse, text, wait_until};
use hakaru_model::record::Outcome;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

/// A server as a process.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    /// What it printed before it accepted requests.
    said: String,
    token: Option<String>,
}

impl Server {
    pub(crate) fn start(home: &Home, args: &[&str]) -> Server {
        let mut child = hakaru(home)
            .arg("serve")
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The last line is about the token.
        let mut said = String::new();
        let mut out = BufReader::new(child.stdout.as_mut().unwrap());
        while !said.contains("token") {
            assert!(out.read_line(&mut said).unwrap() > 0, "it ended: {said}");
        }
        let url = said.split("http://").nth(1).unwrap();
        let address = url.split('/').next().unwrap().parse().unwrap();
        let token = said.split("token=").nth(1);
        Server {
            address,
            token: token.map(|token| token.split_whitespace().next().unwrap().to_owned()),
            said: said.clone(),
            child,
        }
    }

    /// Sends a request, and returns status, head and body of the response.
    fn send(&self, request: &str, headers: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let (host, length) = (self.address, body.len());
        write!(
            stream,
            "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer)
    }

    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        self.send(&format!("GET {path}"), "", "")
    }

    /// Sends a form with the token.
    fn post(&self, token: &str, path: &str, body: &str) -> (u16, String) {
        let headers = format!(
            "Authorization: Bearer {token}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        );
        self.send(&format!("POST {path}"), &headers, body)
    }

    /// The processes that run.
    fn live(&self) -> Vec<serde_json::Value> {
        let (status, answer) = self.get("/api/v1/live");
        assert_eq!(status, 200, "{answer}");
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        body["running"].as_array().unwrap().clone()
    }

    /// Waits for a process, and returns it.
    pub(crate) fn wait_for(&self, is_it: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        let mut found = None;
        wait_until(|| {
            found = self.live().into_iter().find(&is_it);
            found.is_some()
        });
        found.unwrap()
    }

    /// Ends the server by a signal, and returns its exit code and what it printed on standard error.
    pub(crate) fn end(mut self, signal: Signal) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let code = self.child.wait().unwrap().code();
        let mut said = String::new();
        let errors = self.child.stderr.as_mut().unwrap();
        errors.read_to_string(&mut said).unwrap();
        (code, said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Ignored: most have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Arguments for a server on a free port of this host.
pub(crate) const HERE: &[&str] = &["--listen", "127.0.0.1:0"];

#[test]
fn results_are_served_until_a_signal() {
    let home = Home::new();
    let ran = execute(
        &home,
        "bench --quick --only=rand-read --size=16MiB --quiet --label=mine",
    );
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    for signal in [Signal::INT, Signal::TERM] {
        let server = Server::start(&home, HERE);
        let is_first = signal == Signal::INT;
        assert_eq!(server.token.is_some(), is_first, "{}", server.said);
        for path in [
            "/",
            "/results",
            "/run/mine",
            "/compare",
            "/campaigns",
            "/references",
            "/settings",
        ] {
            let (status, page) = server.get(path);
            assert_eq!(status, 200, "{path}");
            assert!(page.contains("</html>"), "{path}");
        }
        assert!(server.get("/results").1.contains("mine"));
        assert_eq!(server.get("/../../etc/passwd").0, 404);
        assert_eq!(server.end(signal), (Some(0), String::new()));
    }
}

#[test]
fn what_cannot_be_served_is_an_error_with_its_cure() {
    let home = Home::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let refused = execute(&home, &format!("serve --listen {address}"));
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("cannot listen on {address}")) && said.contains("help: "));
    std::fs::write(home.path().join("hakaru.db"), "no database at all").unwrap();
    let refused = execute(&home, "serve --listen 127.0.0.1:0");
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stderr));
    let refused = execute(&home, "serve --host http://pi");
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}

#[test]
fn a_name_for_a_proxy_makes_the_token_necessary() {
    let home = Home::new();
    let server = Server::start(&home, &[HERE, &["--host", "lab.example"]].concat());
    let token = server.token.clone().unwrap();
    assert_eq!(server.get("/").0, 303);
    assert_eq!(server.get("/api/v1/live").0, 401);
    let bearer = format!("Authorization: Bearer {token}\r\n");
    assert_eq!(server.send("GET /", &bearer, "").0, 200);
    let (status, answer) = server.get(&format!("/enter?token={token}"));
    assert_eq!(status, 303);
    let session = answer.split("set-cookie: ").nth(1).unwrap();
    assert!(session.contains("HttpOnly; SameSite=Strict"), "{session}");
    let cookie = session.split(';').next().unwrap();
    let (status, page) = server.send("GET /", &format!("Cookie: {cookie}\r\n"), "");
    assert_eq!(status, 200, "{page}");
    server.end(Signal::TERM);
    let renewed = Server::start(&home, &[HERE, &["--new-token"]].concat());
    assert_ne!(renewed.token.clone().unwrap(), token);
    let form = "verb=campaign&campaign=x";
    assert_eq!(renewed.post(&token, "/start", form).0, 403);
    renewed.end(Signal::TERM);
}

#[test]
fn a_server_that_only_reads_starts_nothing() {
    let home = Home::new();
    let server = Server::start(&home, &[HERE, &["--read-only"]].concat());
    let token = server.token.clone().unwrap();
    let (status, page) = server.post(&token, "/start", "verb=campaign&campaign=x");
    assert_eq!(status, 403);
    assert!(page.contains("--read-only"), "{page}");
    server.end(Signal::TERM);
}

/// Ctrl-C in the terminal of the server, too, does not end what it started.
#[test]
fn a_benchmark_started_from_a_page_goes_on_without_the_server() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 64 << 20) else {
        return;
    };
    let name = disk.device().trim_start_matches("/dev/").to_owned();
    let server = Server::start(&home, HERE);
    let token = server.token.clone().unwrap();
    let form = format!("verb=bench&device={name}&length=quick");
    assert_eq!(server.send("POST /start", "", &form).0, 403);
    let (status, page) = server.post(&token, "/start", &form);
    assert_eq!(status, 303, "{page}");
    let process = server.wait_for(|process| process["verb"] == "bench");
    let id = process["id"].as_str().unwrap();
    let bench: i32 = id.split('-').next().unwrap().parse().unwrap();
    let groups = [bench, server.child.id() as i32].map(|process| {
        rustix::process::getpgid(Pid::from_raw(process))
            .unwrap()
            .as_raw_nonzero()
    });
    assert_ne!(groups[0], groups[1]);
    let (_, said) = server.end(Signal::KILL);
    assert!(
        said.contains(&format!("127.0.0.1 start bench /dev/{name} --quick")),
        "{said}"
    );
    wait_until(|| records(&home).len() == 1);
    assert_eq!(records(&home)[0].outcome, Outcome::Completed);
}

#[test]
fn a_disk_is_verified_from_a_page_only_with_its_id() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 64 << 20) else {
        return;
    };
    let name = disk.device().trim_start_matches("/dev/").to_owned();
    let server = Server::start(&home, HERE);
    let token = server.token.clone().unwrap();
    let form =
        |identity: &str| format!("verb=verify&device={name}&length=quick&identity={identity}");
    assert_eq!(server.post(&token, "/start", &form("")).0, 400);
    let (status, page) = server.post(&token, "/start", &form("0xWRONG"));
    assert_eq!(status, 409, "{page}");
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let (_, page) = server.send(&format!("GET /start?device={name}"), &bearer, "");
    assert!(page.contains("All data on it will be lost."), "{page}");
    let (status, page) = server.post(&token, "/start", &form(&home.image_id()));
    assert_eq!(status, 303, "{page}");
    let database = home.path().join("hakaru.db");
    wait_until(|| {
        hakaru_store::Store::open(&database).is_ok_and(|store| {
            store
                .verifications(9)
                .is_ok_and(|found| found.records.len() == 1)
        })
    });
    server.end(Signal::TERM);
}

/// The server is killed while a campaign runs that it did not start; the next server shows it, and answers for it.
#[test]
fn a_campaign_is_answered_by_the_next_server() {
    let home = Home::new();
    std::fs::create_dir(home.work().join("disk")).unwrap();
    let file = "name = \"live\"\nrepeats = 2\n\
        [[card]]\nlabel = \"absent\"\nid = \"0xNOBODY\"\n\
        [[card]]\nlabel = \"here\"\nfolder = \"disk\"\n\
        [[workload]]\nname = \"short\"\nrw = \"randread\"\nbs = \"4 KiB\"\nsize = \"1 MiB\"\nruntime = \"1 s\"\n";
    std::fs::write(home.work().join("live.toml"), file).unwrap();
    let first = Server::start(&home, HERE);
    let token = first.token.clone().unwrap();
    let campaign = hakaru(&home)
        .env("HAKARU_DETACHED", "1")
        .args(["campaign", "run", "live.toml", "--quiet"])
        .current_dir(home.work())
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let asks = |process: &serde_json::Value| !process["prompt"].is_null();
    first.wait_for(asks);
    first.end(Signal::KILL);
    let second = Server::start(&home, HERE);
    second.wait_for(asks);
    assert!(second.get("/").1.contains("absent"));
    // The question has another number when a disk appears or leaves, and an answer to the earlier one does not count.
    wait_until(|| {
        let Some(process) = second.live().into_iter().find(asks) else {
            return true;
        };
        let id = process["id"].as_str().unwrap();
        let number = &process["prompt"]["number"];
        let form = format!("id={id}&prompt={number}&text=s");
        // It may have ended, or not have taken the answer before, meanwhile.
        let (status, page) = second.post(&token, "/live/answer", &form);
        assert!(matches!(status, 303 | 404 | 503), "{page}");
        false
    });
    let ended = campaign.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{}", text(&ended.stderr));
    assert_eq!(records(&home).len(), 2);
    let (status, page) = second.get("/campaigns");
    assert_eq!(status, 200);
    assert!(page.contains("live"), "{page}");
    second.end(Signal::TERM);
}

/// Regression: a page that followed a run of fio had no link to its result.
#[test]
fn a_run_of_fio_ends_with_its_result() {
    let home = Home::new();
    let server = Server::start(&home, HERE);
    let at = home.work().display().to_string();
    let line = format!(
        "fio --name=a --rw=write --size=1m --directory={at} --hakaru-store --output={at}/out.txt"
    );
    let ran = execute(&home, &line);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let process = server.wait_for(|process| process["end"] == "completed");
    let series = &records(&home)[0].series;
    assert_eq!(process["stored"], **series);
    assert!(server.get("/").1.contains(&format!("/run/{series}")));
    server.end(Signal::TERM);
}

/// Returns the addresses on this server to which a page links.
fn links(page: &str) -> Vec<String> {
    let links = page.split("href=\"/").skip(1);
    let links = links.map(|rest| format!("/{}", rest.split('"').next().unwrap()));
    links.map(|link| link.replace("&amp;", "&")).collect()
}

/// Follows every link from the first page on.
#[test]
fn no_link_is_dead_and_every_document_has_its_schema() {
    let home = Home::new();
    let folder = home.work().join("disk");
    std::fs::create_dir(&folder).unwrap();
    let at = folder.display();
    for label in ["mine", "yours"] {
        let line =
            format!("bench {at} --quick --only=rand-read --size=16MiB --quiet --label={label}");
        let ran = execute(&home, &line);
        assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    }
    let ran = execute(&home, &format!("verify {at} --size=16MiB --quiet"));
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    examined(&home, "kitchen");
    let file = format!(
        "name = \"live\"\nrepeats = 1\n[[card]]\nlabel = \"here\"\nfolder = \"{at}\"\n\
         [[workload]]\nname = \"short\"\nrw = \"randread\"\nbs = \"4 KiB\"\nsize = \"1 MiB\"\nruntime = \"1 s\"\n"
    );
    std::fs::write(home.work().join("live.toml"), file).unwrap();
    let file = home.work().join("live.toml");
    let ran = execute(&home, &format!("campaign run {} --quiet", file.display()));
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let server = Server::start(&home, HERE);
    let mut open = vec![
        "/".to_owned(),
        "/compare?set=mine&set=yours".to_owned(),
        "/api/v1/campaigns/live/report".to_owned(),
        "/api/v1/campaigns".to_owned(),
        "/api/v1/disks".to_owned(),
        "/api/v1/cards/mine".to_owned(),
        format!("/api/v1/runs/{}", records(&home)[0].id),
    ];
    let (mut seen, mut schemas) = (BTreeSet::new(), BTreeSet::new());
    while let Some(path) = open.pop() {
        if !seen.insert(path.clone()) || path.starts_with("/start") {
            continue;
        }
        assert!(seen.len() < 200, "{seen:?}");
        let (status, answer) = server.get(&path);
        assert!(status == 200 || status == 303, "{path}: {answer}");
        if answer.contains("content-type: text/html") {
            open.extend(links(&answer));
        }
        if path.starts_with("/api/v1/") && path != "/api/v1/live" {
            let (_, body) = answer.split_once("\r\n\r\n").unwrap();
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            schemas.insert(body["schema"].as_str().unwrap().to_owned());
        }
    }
    let expected = [
        "hakaru.anatomy/1",
        "hakaru.campaign-report/1",
        "hakaru.campaign-status/1",
        "hakaru.compare/1",
        "hakaru.history/1",
        "hakaru.info/1",
        "hakaru.list/1",
        "hakaru.record/1",
        "hakaru.report/1",
        "hakaru.verification/1",
    ];
    assert_eq!(schemas.iter().collect::<Vec<_>>(), expected);
    let (status, answer) = server.get("/api/v1/runs/nothing");
    assert_eq!(status, 404);
    assert!(answer.contains("application/json"), "{answer}");
    assert_eq!(server.get("/api/v1/compare?set=mine").0, 400);
    server.end(Signal::TERM);
}

/// Pages read records without distributions of latencies, which must not change what they show.
#[test]
fn a_card_has_the_history_that_the_command_line_prints() {
    let home = Home::new();
    for _ in 0..2 {
        let line =
            "bench --quick --only=rand-read,durable --size=16MiB --repeat=2 --quiet --label=mine";
        let ran = execute(&home, line);
        assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    }
    let server = Server::start(&home, HERE);
    let (status, answer) = server.get("/api/v1/cards/mine");
    assert_eq!(status, 200, "{answer}");
    let of = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
    let served = of(answer.split_once("\r\n\r\n").unwrap().1);
    let printed = execute(&home, "history mine --json");
    assert_eq!(served, of(&text(&printed.stdout)));
    assert_eq!(served["series"], 2, "{served}");
    server.end(Signal::TERM);
}

#[test]
fn an_anatomy_is_listed_and_shown_in_both_languages() {
    let home = Home::new();
    let id = examined(&home, "kitchen");
    let server = Server::start(&home, HERE);
    let link = format!("href=\"/anatomy/{id}\"");
    for (language, list, title) in [
        ("en", "Anatomies of cards", "Anatomy of kitchen"),
        ("ja", "カードの構造調査", "kitchenの構造"),
    ] {
        let get = |path: &str| {
            let header = format!("Accept-Language: {language}\r\n");
            let (status, page) = server.send(&format!("GET {path}"), &header, "");
            assert_eq!(status, 200, "{path}: {page}");
            page
        };
        for path in ["/", "/results", "/results?kind=anatomies"] {
            let page = get(path);
            assert!(
                page.contains(list) && page.contains(&link),
                "{path}: {page}"
            );
        }
        assert!(!get("/results?kind=verifications").contains(&link));
        assert!(!get("/results?page=1").contains(&link));
        let page = get(&format!("/anatomy/{id}"));
        assert!(page.contains(title) && page.contains("<svg"), "{page}");
    }
    let (_, answer) = server.get(&format!("/api/v1/anatomies/{}", &id[..20]));
    let served = answer.split_once("\r\n\r\n").unwrap().1;
    let printed = execute(&home, &format!("show {id} --json"));
    assert_eq!(served, text(&printed.stdout));
    assert_eq!(server.get("/anatomy/nothing").0, 404);
    assert_eq!(server.get("/api/v1/anatomies/nothing").0, 404);
    server.end(Signal::TERM);
}

//! The description of the interface, compared with real answers.

use super::{HERE, Server, schema};
use crate::support::{Home, execute, hakaru, records, text};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Stdio;

/// A simulated card whose write speed drops, so that there are caveats and findings.
const CARD: &str = r#"{"name": "sprinter", "capacity": 34359738368, "block_size": 512, "read_rate": 45000000,
    "write_rate": 12000000, "write_seek": 4000000, "cache": {"size": 134217728, "write_rate": 60000000}}"#;

/// Stores results of every kind; returns whether one of them is traced, which the host may not permit.
fn fill(home: &Home) -> bool {
    let at = home.work().join("disk");
    std::fs::create_dir(&at).unwrap();
    std::fs::write(home.work().join("card.json"), CARD).unwrap();
    let campaign = "name = \"live\"\nrepeats = 2\n[[card]]\nsimulate = \"card.json\"\n[[card]]\nlabel = \"here\"\n\
        folder = \"disk\"\n[[workload]]\nname = \"short\"\nrw = \"randread\"\nbs = \"4 KiB\"\nsize = \"1 MiB\"\n\
        runtime = \"1 s\"\n";
    std::fs::write(home.work().join("live.toml"), campaign).unwrap();
    std::fs::write(
        home.work().join("job.fio"),
        "[global]\nsize=1m\ndirectory=disk\nverify=crc32c\n[a]\nrw=randrw\nbs=4k\n[b]\nrw=write\nioengine=libaio\niodepth=8\nthinktime=10\n",
    )
    .unwrap();
    let logs = concat!(env!("CARGO_MANIFEST_DIR"), "/../dialects/tests/logs");
    for line in [
        "bench disk --quick --only=rand-read --size=16MiB --quiet --label=mine",
        "bench disk --quick --only=rand-read --size=16MiB --quiet --label=yours --title=Title",
        "bench --quick --simulate card.json --repeat 4 --quiet",
        "verify disk --size=16MiB --quiet",
        "anatomy --simulate card.json --read-only --seed 7 --quiet",
        "campaign run live.toml --quiet",
        "fio job.fio --hakaru-store --output=job.txt",
        "iozone -s 1m -r 64k -i 0 -i 1 -f disk/iozone --hakaru-store",
        &format!("import {logs}/pi5-3-fsync-ssd.txt {logs}/pi5-2-randread-ssd.txt"),
        "relabel mine --note=noted",
    ] {
        run(home, line);
    }
    // A failed run, whose errors are stored: it writes beyond the end of a full device.
    let failing = "fio --name=full --rw=write --bs=4k --size=64k --filename=/dev/full --hakaru-store --output=full.txt";
    let mut command = hakaru(home);
    command.current_dir(home.work()).stdin(Stdio::null());
    let failed = command.args(failing.split(' ')).output().unwrap();
    assert_ne!(failed.status.code(), Some(0));
    run(
        home,
        "fio --name=traced --rw=randwrite --bs=4k --size=4m --fsync=1 --filename=disk/x --hakaru-trace=whole \
         --hakaru-store --output=traced.txt --hakaru-label=traced",
    );
    records(home).iter().any(|run| run.is_traced())
}

fn run(home: &Home, line: &str) {
    let mut command = hakaru(home);
    command.current_dir(home.work()).stdin(Stdio::null());
    let ran = command.args(line.split_whitespace()).output().unwrap();
    assert!(ran.status.success(), "{line}: {}", text(&ran.stderr));
}

/// The document.
struct Description {
    document: Value,
    components: Value,
}

impl Description {
    fn of(server: &Server) -> Description {
        let document = body(&server.get("/api/v1/openapi.json"));
        let components = document["components"]["schemas"].clone();
        Description {
            document,
            components,
        }
    }

    /// The schema of the answer of a path.
    fn answer(&self, path: &str) -> Value {
        let content = &self.document["paths"][path]["get"]["responses"]["200"]["content"];
        content["application/json"]["schema"].clone()
    }

    /// Checks a value against a schema, and returns what is wrong.
    fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
        schema::check(schema, &self.components, value)
    }
}

fn body((status, answer): &(u16, String)) -> Value {
    assert_eq!(*status, 200, "{answer}");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"))
}

#[test]
fn every_answer_is_as_described_and_nothing_more() {
    let home = Home::new();
    let is_traced = fill(&home);
    let server = Server::start(&home, HERE);
    let of = Description::of(&server);
    let runs = records(&home);
    let list = body(&server.get("/api/v1/series?limit=1000"));
    let verification = list["verifications"][0]["id"].as_str().unwrap().to_owned();
    let mut seen = 0;
    for path in of.document["paths"].as_object().unwrap().keys() {
        let names: Vec<String> = match &path[..] {
            "/api/v1/events" => continue,
            "/api/v1/path/{name}" if !is_traced => {
                eprintln!("skipped: this host does not permit tracing");
                continue;
            }
            "/api/v1/path/{name}" => {
                let traced = runs.iter().filter(|run| run.is_traced());
                traced.map(|run| run.id.to_string()).collect()
            }
            "/api/v1/runs/{id}" => runs.iter().map(|run| run.id.to_string()).collect(),
            "/api/v1/series/{name}/report" => {
                let series = list["series"].as_array().unwrap().iter();
                series
                    .map(|of| of["series"].as_str().unwrap().to_owned())
                    .collect()
            }
            "/api/v1/verifications/{id}" => vec![verification.clone()],
            "/api/v1/anatomies/{id}" => {
                vec![list["anatomies"][0]["id"].as_str().unwrap().to_owned()]
            }
            "/api/v1/cards/{name}" => vec!["mine".to_owned(), "sprinter".to_owned()],
            "/api/v1/compare" => vec![
                "?set=mine&set=yours".to_owned(),
                "?set=mine&set=yours&set=traced".to_owned(),
            ],
            _ if path.contains('{') => vec!["live".to_owned()],
            _ => vec![String::new()],
        };
        assert!(!names.is_empty(), "{path}");
        for name in names {
            let address = match path.contains('{') {
                true => path.replace("{name}", &name).replace("{id}", &name),
                false => format!("{path}{name}"),
            };
            let value = body(&server.get(&address));
            let schema = of.answer(path);
            if path == "/api/v1/openapi.json" {
                assert_eq!(value, of.document);
                continue;
            }
            of.check(&schema, &value)
                .unwrap_or_else(|wrong| panic!("{address}: {wrong}"));
            let mut more = value.clone();
            more["unlisted"] = true.into();
            assert!(of.check(&schema, &more).is_err(), "{address}");
            seen += 1;
        }
    }
    assert!(seen > runs.len(), "{seen}");
    let error = server.get("/api/v1/runs/nothing");
    let (_, error) = error.1.split_once("\r\n\r\n").unwrap();
    let error: Value = serde_json::from_str(error).unwrap();
    let schema = json!({ "$ref": "#/components/schemas/ErrorJson" });
    of.check(&schema, &error).unwrap();
    server.end(Signal::TERM);
}

/// A property that a schema does not list makes the check of a real answer fail, wherever it is.
#[test]
fn a_property_missing_from_the_description_is_noticed() {
    let home = Home::new();
    let ran = execute(&home, "bench --quick --only=rand-read --size=16MiB --quiet");
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let server = Server::start(&home, HERE);
    let of = Description::of(&server);
    let run = &records(&home)[0].id;
    let value = body(&server.get(&format!("/api/v1/runs/{run}")));
    let schema = of.answer("/api/v1/runs/{id}");
    of.check(&schema, &value).unwrap();
    for (component, property) in [
        ("AnnotatedResultOfRunRecord", "origin"),
        ("WorkerRecord", "cpu"),
        ("Samples", "sum_sq"),
        ("Environment", "kernel"),
        ("Scenario", "phases"),
    ] {
        let mut components = of.components.clone();
        let properties = &mut components[component]["properties"];
        let removed = properties.as_object_mut().unwrap().remove(property);
        assert!(removed.is_some(), "{component} has no {property}");
        let required = components[component]["required"].as_array_mut().unwrap();
        required.retain(|name| name != property);
        assert!(
            schema::check(&schema, &components, &value).is_err(),
            "{property}"
        );
    }
    server.end(Signal::TERM);
}

#[test]
fn events_are_as_described() {
    let home = Home::new();
    let server = Server::start(&home, HERE);
    let of = Description::of(&server);
    let at = home.work().display().to_string();
    let mut measures = hakaru(&home)
        .args([
            "fio",
            "--name=a",
            "--rw=randrw",
            "--size=1m",
            "--time_based",
            "--runtime=3",
        ])
        .arg(format!("--directory={at}"))
        .arg(format!("--output={at}/out.txt"))
        .args(["--hakaru-store"])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut stream = TcpStream::connect(server.address).unwrap();
    let host = server.address;
    write!(
        stream,
        "GET /api/v1/events HTTP/1.1\r\nHost: {host}\r\n\r\n"
    )
    .unwrap();
    let path = &of.document["paths"]["/api/v1/events"]["get"]["responses"]["200"];
    let events = path["content"]["text/event-stream"]["schema"]["x-events"].clone();
    let (mut name, mut seen) = (String::new(), std::collections::BTreeMap::new());
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap();
        if let Some(event) = line.strip_prefix("event: ") {
            name = event.to_owned();
        }
        if let Some(data) = line.strip_prefix("data: ") {
            let value: Value = serde_json::from_str(data).unwrap();
            of.check(&events[&name], &value)
                .unwrap_or_else(|wrong| panic!("{name}: {wrong}\n{data}"));
            *seen.entry(name.clone()).or_insert(0) += 1;
            if name == "state" && !value["end"].is_null() {
                break;
            }
        }
    }
    assert!(seen["state"] > 1 && seen["samples"] > 1, "{seen:?}");
    assert!(measures.wait().unwrap().success());
    server.end(Signal::TERM);
}

//! JSON output of the commands: each names its schema, and its keys stay as they are.

use crate::support::{Home, hakaru, records, text};
use hakaru_model::caveat::Caveat;
use hakaru_model::units::Nanos;
use serde_json::Value;
use std::collections::BTreeSet;

const MODEL: &str = r#"{"name": "card", "capacity": 1073741824, "block_size": 512, "read_rate": 40000000, "write_rate": 20000000}"#;

const CAMPAIGN: &str = "name = \"c\"\nrepeats = 2\n[[card]]\nsimulate = \"card.json\"\n[[workload]]\nsuite = [\"seq-read\"]\npace = \"quick\"\n";

fn home() -> Home {
    let home = Home::new();
    std::fs::write(home.work().join("card.json"), MODEL).unwrap();
    std::fs::write(home.work().join("c.toml"), CAMPAIGN).unwrap();
    home
}

/// Runs a command; returns its standard output and standard error.
fn run(home: &Home, line: &str) -> (String, String) {
    let mut command = hakaru(home);
    command.current_dir(home.work());
    let out = command.args(line.split_whitespace()).output().unwrap();
    let (stdout, stderr) = (text(&out.stdout), text(&out.stderr));
    assert!(out.status.success(), "{line}: {stderr}");
    (stdout, stderr)
}

fn json(home: &Home, line: &str) -> Value {
    let (stdout, _) = run(home, line);
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{line}: {error}: {stdout}"))
}

/// Returns the paths of all keys. What depends on the host (`target`, `environment`) and the kinds of caveats are left
/// out.
fn keys(value: &Value) -> BTreeSet<String> {
    fn collect(value: &Value, path: &str, keys: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let path = format!("{path}{key}");
                    keys.insert(path.clone());
                    if !["target", "environment", "caveats"].contains(&key.as_str()) {
                        collect(value, &format!("{path}."), keys);
                    }
                }
            }
            Value::Array(items) => {
                for item in items {
                    collect(item, path, keys);
                }
            }
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    collect(value, "", &mut found);
    found
}

fn check(name: &str, schema: &str, value: &Value) {
    assert_eq!(value["schema"], schema, "{name}");
    let keys: Vec<String> = keys(value).into_iter().collect();
    insta::assert_snapshot!(name, keys.join("\n"));
}

#[test]
fn results_are_printed_as_json() {
    let home = home();
    let bench =
        "bench --simulate=card.json --quick --only=seq-read,rand-read --quiet --json --label";
    let of_a = json(&home, &format!("{bench}=a --note=first"));
    check("bench", "hakaru.bench/1", &of_a);
    assert_eq!(of_a["series"][0]["label"], "a");
    assert_eq!(of_a["series"][0]["note"], "first");
    json(&home, &format!("{bench}=b --seed=7"));
    check(
        "report",
        "hakaru.report/1",
        &json(&home, "report a b --json"),
    );
    let compared = json(&home, "compare a b --json");
    check("compare", "hakaru.compare/1", &compared);
    assert_eq!(compared["sides"], serde_json::json!(["a", "b"]));
    check("rank", "hakaru.rank/1", &json(&home, "rank --json"));
    let history = json(&home, "history a --json");
    check("history", "hakaru.history/1", &history);
    assert_eq!(
        (&history["name"], &history["series"]),
        (&"a".into(), &1.into())
    );
    let listed = json(&home, "list --json");
    check("list", "hakaru.list/1", &listed);
    assert_eq!(listed["series"][0]["label"], "b");
    let shown = json(&home, "show latest --json");
    assert_eq!(shown["schema"], "hakaru.record/1");
    assert_eq!(shown["format"], 1);
    let all = json(&home, "show a --series --json");
    assert_eq!(all[1]["schema"], "hakaru.record/1");
    let sets = json(&home, "compare a b a --json");
    assert_eq!(sets["schema"], "hakaru.compare/1");
    assert!(sets["rows"].as_array().is_some_and(|rows| !rows.is_empty()));
}

#[test]
fn other_commands_print_json() {
    let home = home();
    std::fs::write(
        home.work().join("ssd.txt"),
        "268435456 bytes (268 MB, 256 MiB) copied, 2.0137 s, 133 MB/s\n",
    )
    .unwrap();
    let imported = json(&home, "import ssd.txt --json");
    check("import", "hakaru.import/1", &imported);
    let again = json(&home, "import ssd.txt --json");
    assert_eq!(again["known"], imported["new"]);
    check(
        "recover",
        "hakaru.recover/1",
        &json(&home, "recover --json"),
    );
    check(
        "reference",
        "hakaru.reference/1",
        &json(&home, "reference --json"),
    );
    let renamed = json(&home, "relabel latest --label=disk --json");
    check("relabel", "hakaru.relabel/1", &renamed);
    let named = &renamed["results"][0];
    assert_eq!(
        (&renamed["changed"], &named["label"]),
        (&true.into(), &"disk".into())
    );
    assert_eq!(named["history"][0]["value"], "disk");
    let shown = json(&home, "relabel disk --json");
    assert_eq!(shown["changed"], false);
    assert_eq!(shown["results"], renamed["results"]);
    assert_eq!(json(&home, "info . --json")["schema"], "hakaru.info/1");
    let verified = json(&home, "verify . --size=16MiB --quiet --json --label=tmp");
    assert_eq!(verified["schema"], "hakaru.verification/1");
    assert_eq!(json(&home, "show tmp --json")["id"], verified["id"]);
}

#[test]
fn campaigns_print_json() {
    let home = home();
    let checked = json(&home, "campaign check c.toml --json");
    check("campaign-check", "hakaru.campaign-check/1", &checked);
    let ran = json(&home, "campaign run c.toml --quiet --json");
    check("campaign-run", "hakaru.campaign-run/1", &ran);
    assert_eq!(
        (ran["end"].as_str(), ran["stored"].as_u64()),
        (Some("complete"), Some(2))
    );
    let status = json(&home, "campaign status c.toml --json");
    check("campaign-status", "hakaru.campaign-status/1", &status);
    let all = json(&home, "campaign status --json");
    assert_eq!(all["campaigns"][0]["stored"], 2);
    let report = json(&home, "campaign report c.toml --json");
    check("campaign-report", "hakaru.campaign-report/1", &report);
    assert_eq!(report["runs"], 2);
}

#[test]
fn progress_is_printed_as_json_lines() {
    let home = home();
    let line = "bench --simulate=card.json --quick --repeat=2 --only=seq-read --progress=json";
    let (_, stderr) = run(&home, line);
    let events: Vec<Value> = stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let mut names = BTreeSet::new();
    for event in &events {
        assert_eq!(event["schema"], "hakaru.progress/1");
        names.insert(event["event"].as_str().unwrap());
    }
    for wanted in ["phase_started", "phase_ended", "run_stored"] {
        assert!(names.contains(wanted), "{names:?}");
    }
    let ended = events.iter().find(|event| event["event"] == "phase_ended");
    assert_eq!(
        ended.unwrap()["rates"]["read"]["bytes_per_s"]
            .as_f64()
            .map(f64::round),
        Some(4e7)
    );
}

#[test]
fn campaign_progress_is_printed_as_json_lines() {
    let home = home();
    let (_, stderr) = run(&home, "campaign run c.toml --progress=json");
    let events = stderr.lines().map(|line| {
        let event: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(event["schema"], "hakaru.progress/1");
        event
    });
    let events: Vec<Value> = events.collect();
    let all = |kind: &str| -> Vec<&Value> {
        let of_kind = events.iter().filter(|event| event["event"] == kind);
        of_kind.collect()
    };
    let started = all("point_started");
    assert_eq!(started.len(), 2);
    assert_eq!(
        (&started[1]["number"], &started[1]["of"]),
        (&2.into(), &2.into())
    );
    assert_eq!(started[0]["card"], "card");
    assert_eq!(all("run_stored").len(), 2);
    assert_eq!(all("phase_ended").len(), 2);
}

#[test]
fn a_run_without_a_trace_is_explained_as_json() {
    let home = home();
    run(
        &home,
        "bench --simulate=card.json --quick --only=seq-read --quiet --label=a",
    );
    let mut command = hakaru(&home);
    let out = command.args(["explain", "a", "--json"]).output().unwrap();
    // Printed, and an error because there is no trace.
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    let explained: Value = serde_json::from_slice(&out.stdout).unwrap();
    check("explain", "hakaru.explain/1", &explained);
    assert_eq!(explained["paths"], serde_json::json!([]));
}

#[test]
fn a_pdf_is_refused_before_anything_is_measured() {
    let home = home();
    for line in [
        "bench --simulate=card.json --quick -o x.pdf",
        "report latest -o x.PDF",
        "compare a b -o x.pdf",
    ] {
        let mut command = hakaru(&home);
        command
            .current_dir(home.work())
            .args(line.split_whitespace());
        let out = command.output().unwrap();
        assert_eq!(out.status.code(), Some(2), "{line}");
        let said = text(&out.stderr);
        assert!(
            said.contains("PDF is not supported: write a .html file"),
            "{said}"
        );
    }
    assert!(!home.path().join("hakaru.db").exists());
}

/// Regression: the list averaged runs that the report leaves out because the host was busy.
#[test]
fn the_list_has_the_rates_of_the_report() {
    let home = home();
    let bench = "bench --simulate=card.json --quick --repeat=3 --only=seq-read --quiet";
    run(&home, bench);
    let mut series = records(&home);
    let disturbed = &mut series[1];
    let phase = disturbed.phases.last_mut().unwrap();
    for worker in &mut phase.workers {
        worker.runtime.0 *= 3;
    }
    disturbed.caveats.push(Caveat::Descheduled {
        phase: phase.name.clone(),
        waited: Nanos(2_000_000_000),
        measured: Nanos(3_000_000_000),
    });
    let other = self::home();
    let lines = series
        .iter()
        .map(|record| serde_json::to_string(record).unwrap() + "\n");
    std::fs::write(other.work().join("all.jsonl"), lines.collect::<String>()).unwrap();
    run(&other, "import all.jsonl");
    let listed = json(&other, "list --json");
    let rate = |rates: &Value| rates[0]["bytes_per_s"].as_f64().unwrap();
    let rate = rate(&listed["series"][0]["rates"]);
    let summary = hakaru_analysis::summarize(&series);
    let mean = summary.phases[0].bandwidth.mean;
    assert_eq!(summary.phases[0].bandwidth.values.len(), 2);
    assert!((rate / mean - 1.0).abs() < 1e-9, "{rate} for {mean}");
}

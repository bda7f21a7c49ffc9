//! Tests `hakaru anatomy` and `hakaru predict` from the command line: simulated cards, and a loop device.

use crate::support::{Home, execute, hakaru, root_loop, text, wait_until};
use hakaru_model::anatomy::{CardFinding, CardProperty, Experiment};
use hakaru_model::anatomy_record::{AnatomyRecord, AnatomyScope};
use hakaru_model::device_model::{DeviceModel, Flash, Noise, SlcCache};
use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns `HAKARU_TEST_SEED`, to repeat a failed test, or a seed that no earlier run had.
fn fresh_seed() -> u64 {
    if let Ok(seed) = std::env::var("HAKARU_TEST_SEED") {
        return seed.parse().expect("HAKARU_TEST_SEED is a number");
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_nanos() as u64 % 1_000_000_007
}

/// Draws a card with a limit of open units and a cache.
fn drawn(seed: u64) -> DeviceModel {
    let mut rng = Rng::new(seed);
    let mut between = |low: u64, high: u64| low + rng.below(high - low + 1);
    let mut model = DeviceModel::plain("drawn", Bytes(between(29_000, 31_000) << 20));
    (model.read_seek, model.write_seek) = (Nanos(0), Nanos(0));
    model.read_overhead = Nanos(between(150_000, 600_000));
    model.write_overhead = Nanos(between(200_000, 900_000));
    model.read_rate = between(20, 80) * 1_000_000;
    model.write_rate = between(8, 30) * 1_000_000;
    let open_units = between(2, 6) as u32;
    model.flash = Some(Flash {
        page: Bytes(8 << 10 << between(0, 2)),
        sense: Nanos(between(50_000, 120_000)),
        gathers_writes: true,
        unit: Bytes(4 << 20 << between(0, 2)),
        open: Nanos(between(800_000, 3_000_000)),
        unit_crossing: Nanos(between(50_000, 250_000)),
        open_units,
        random_units: between(1, u64::from(open_units)) as u32,
        random_write: Nanos(between(200_000, 900_000)),
        collection_rate: between(20, 60) * 1_000_000,
        fat_units: between(0, 4) as u32,
        mapping: None,
        discard: Nanos(between(100_000, 900_000)),
        discard_frees: true,
    });
    model.cache = Some(SlcCache {
        size: Bytes(between(100, 500) << 20),
        write_rate: model.write_rate * 2,
        drain_rate: between(8, 40) * 1_000_000,
        drain_delay: Nanos(1_000_000_000),
    });
    model.noise = Some(Noise {
        sigma_permille: between(10, 25) as u32,
        ..Noise::default()
    });
    model
}

/// Writes the model of a card into the home, and returns its path.
fn card_file(home: &Home, model: &DeviceModel) -> String {
    let path = home.path().join("card.json");
    std::fs::write(&path, serde_json::to_string(model).unwrap()).unwrap();
    path.display().to_string()
}

/// A random card and the result of its anatomy, stored in a home directory of its own.
struct Examined {
    home: Home,
    seed: u64,
    model: DeviceModel,
    /// Path of the device model that was simulated.
    card: String,
    /// Path of the device model that the anatomy exported.
    export: String,
    record: AnatomyRecord,
}

fn examined(seed: u64) -> Examined {
    println!("seed {seed}");
    let home = Home::new();
    let model = drawn(seed);
    let card = card_file(&home, &model);
    let export = home.path().join("found.json").display().to_string();
    let line = format!("anatomy --simulate {card} --seed {seed} --export {export} --json --prove");
    let out = execute(&home, &line);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("budget: at most 30 minutes"));
    let record = serde_json::from_slice(&out.stdout).unwrap();
    Examined {
        home,
        seed,
        model,
        card,
        export,
        record,
    }
}

#[test]
fn a_drawn_card_is_found_exported_predicted_and_compared() {
    let mut examined = examined(fresh_seed());
    if examined.record.anatomy.model.is_none() {
        // Less than 1 of 300 cards is said to fit no model although it does: two in a row are a defect.
        examined = self::examined(examined.seed + 1);
    }
    let Examined {
        home,
        seed,
        model,
        card,
        export,
        record,
    } = examined;
    assert!(record.completed && record.scope == AnatomyScope::Simulated);
    let written: u64 = record
        .anatomy
        .experiments
        .iter()
        .map(|e| e.spent.written.0)
        .sum();
    assert!(written <= record.budget.written.0);
    let flash = model.flash.as_ref().unwrap();
    for (property, truth) in [
        (CardProperty::Page, flash.page.0),
        (CardProperty::Unit, flash.unit.0),
        (CardProperty::OpenUnits, u64::from(flash.open_units)),
        (CardProperty::RandomUnits, u64::from(flash.random_units)),
    ] {
        match record.anatomy.finding(property) {
            CardFinding::Known(found) => {
                assert_eq!(found.value as u64, truth, "{property:?}, seed {seed}")
            }
            CardFinding::Unknown(_) => {}
            absent => panic!("{property:?}: {absent:?}, seed {seed}"),
        }
    }
    // At least one piece of advice was measured, and aligned partitions are not slower than others.
    assert!(!record.trials.is_empty(), "seed {seed}");
    let exported: DeviceModel =
        serde_json::from_str(&std::fs::read_to_string(&export).unwrap()).unwrap();
    assert_eq!(exported.flash.as_ref().map(|f| f.unit), Some(flash.unit));
    is_shown_in_every_form(&home, &record.id);
    predictions_hold(&home, &card, seed);
}

fn is_shown_in_every_form(home: &Home, id: &str) {
    let shown = text(&execute(home, &format!("show {id}")).stdout);
    assert!(
        shown.contains("Allocation unit") && shown.contains("How to format"),
        "{shown}"
    );
    let japanese = text(&execute(home, &format!("--lang ja show {id}")).stdout);
    assert!(japanese.contains("アロケーションユニット"), "{japanese}");
    for form in ["html", "markdown", "terminal"] {
        let out = execute(home, &format!("report {id} --format {form} --output -"));
        assert_eq!(out.status.code(), Some(0), "{form}: {}", text(&out.stderr));
        assert!(text(&out.stdout).contains("Allocation unit"), "{form}");
    }
    let page = text(&execute(home, &format!("report {id} --output -")).stdout);
    assert!(page.contains("<svg") && page.contains("Reads across boundaries"));
    let refused = execute(home, &format!("report {id} --format csv"));
    assert_ne!(refused.status.code(), Some(0));
}

/// Measures the suite on the true card, and compares it with the prediction of the fitted one.
fn predictions_hold(home: &Home, card: &str, seed: u64) {
    let out = execute(
        home,
        &format!("bench --simulate {card} --quick --quiet --repeat 1"),
    );
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let out = execute(home, "predict drawn --compare latest --json");
    let json: serde_json::Value =
        serde_json::from_slice(&out.stdout).unwrap_or_else(|_| panic!("{}", text(&out.stderr)));
    let (mut near, mut right, mut all) = (0, 0, 0);
    for phase in json["phases"].as_array().unwrap() {
        let bandwidth = &phase["outcome"]["figures"]["bandwidth"];
        let Some(measured) = bandwidth["measured"].as_f64() else {
            continue;
        };
        let [predicted, low, high] =
            ["value", "low", "high"].map(|of| bandwidth["predicted"][of].as_f64().unwrap());
        let is_near = (predicted / measured - 1.0).abs() < 0.15;
        all += 1;
        near += u32::from(is_near);
        right += u32::from(is_near || (low..=high).contains(&measured));
    }
    // Random and mixed writes are slow in bursts. If too many predictions are not near, each of these has to be in its
    // interval.
    let is_explained = right == all && near * 2 >= all;
    assert!(
        all >= 6 && (near * 10 >= all * 7 || is_explained),
        "of {all}, {near} are near and {right} near or in their intervals; seed {seed}\n{json:#}"
    );
    let shown = text(&execute(home, "predict drawn --suite").stdout);
    assert!(shown.contains("random writes"), "{shown}");
}

#[test]
fn a_read_only_anatomy_says_what_needs_writes() {
    let home = Home::new();
    let card = card_file(&home, &drawn(fresh_seed()));
    let out = execute(
        &home,
        &format!("anatomy --simulate {card} --read-only --json"),
    );
    let record: AnatomyRecord = serde_json::from_slice(&out.stdout).unwrap();
    let experiments = &record.anatomy.experiments;
    assert!(experiments.iter().all(|e| e.spent.written.0 == 0));
    assert!(!experiments.iter().any(|e| e.experiment.writes()));
    let shown = text(&execute(&home, &format!("show {}", record.id)).stdout);
    assert!(shown.contains("needs writes"), "{shown}");
    let line = format!("predict {} --suite --json", record.id);
    let json: serde_json::Value = serde_json::from_slice(&execute(&home, &line).stdout).unwrap();
    let needs = |phase: &serde_json::Value| phase["outcome"]["needs"].is_string();
    assert!(
        json["phases"].as_array().unwrap().iter().all(needs),
        "{json:#}"
    );
}

#[test]
fn wrong_targets_are_refused_before_anything_is_written() {
    let home = Home::new();
    let code = |line: &str| execute(&home, line).status.code();
    assert_eq!(code("anatomy /nonexistent"), Some(2));
    assert_eq!(code("anatomy /etc/passwd"), Some(2));
    assert_eq!(code("anatomy --read-only ."), Some(2));
    assert_eq!(code("predict nothing --suite"), Some(2));
    assert_eq!(code("anatomy . --dry-run"), Some(0));
    assert_eq!(home.left_behind(), 0);
}

#[test]
fn a_loop_device_is_read_only_with_permission_and_until_a_signal() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 64 << 20) else {
        return;
    };
    let before = std::fs::read(home.path().join("disk.img")).unwrap();
    let device = disk.device();
    let refused = execute(&home, &format!("anatomy {device}"));
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
    let child = hakaru(&home)
        .args(["anatomy", "--read-only", device])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stored = || {
        let path = home.path().join("hakaru.db");
        let store = hakaru_store::Store::read(path).ok()?;
        store.anatomies(1).ok()?.records.pop()
    };
    // Only the first experiment is short on every host: read sizes may take a minute on one that is busy.
    wait_until(|| {
        stored().is_some_and(|record| record.completed || record.anatomy.has_run(Experiment::Noise))
    });
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::INT,
    )
    .unwrap();
    let out = child.wait_with_output().unwrap();
    let record = stored().unwrap();
    let code = if record.completed { Some(0) } else { Some(130) };
    assert_eq!(out.status.code(), code, "{}", text(&out.stderr));
    assert_eq!(record.scope, AnatomyScope::ReadOnly);
    assert!(record.anatomy.has_run(Experiment::Noise));
    if !record.completed {
        let shown = text(&execute(&home, "show latest").stdout);
        assert!(shown.contains("Incomplete"), "{shown}");
    }
    assert_eq!(std::fs::read(home.path().join("disk.img")).unwrap(), before);
}

/// Regression: a card that seeks to each write was said to keep one unit open, and advised against a second writer.
#[test]
fn a_card_that_seeks_has_no_limit_of_open_units() {
    let home = Home::new();
    let mut model = DeviceModel::plain("seeks", Bytes(32 << 30));
    (model.read_seek, model.write_seek) = (Nanos(0), Nanos(1_000_000));
    (model.read_overhead, model.write_overhead) = (Nanos(100_000), Nanos(200_000));
    (model.read_rate, model.write_rate) = (45_000_000, 20_000_000);
    let card = card_file(&home, &model);
    let out = execute(&home, &format!("anatomy --simulate {card}"));
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let said = text(&out.stdout);
    assert!(!said.contains("unit open for writing"), "{said}");
    assert!(!said.contains("Write at most"), "{said}");
}

/// Units that neither reads nor long writes show: the limit of open units does. The place of writes has to fit pages of
/// 48 KiB, which do not begin at every multiple of 64 MiB.
#[test]
fn silent_units_are_found_by_the_limit_of_open_ones() {
    let seed = fresh_seed();
    println!("seed {seed}");
    for (page, unit, random) in [(16 << 10, 8 << 20, 2), (48 << 10, 6 << 20, 0)] {
        let home = Home::new();
        let mut model = drawn(seed);
        model.cache = None;
        let flash = model.flash.as_mut().unwrap();
        (flash.page, flash.unit) = (Bytes(page), Bytes(unit));
        (flash.unit_crossing, flash.open) = (Nanos(0), Nanos(0));
        (flash.open_units, flash.random_units) = (3, random);
        flash.gathers_writes = false;
        let card = card_file(&home, &model);
        let line = format!("anatomy --simulate {card} --seed {seed} --json --quiet");
        let out = execute(&home, &line);
        let record: AnatomyRecord = serde_json::from_slice(&out.stdout).unwrap();
        let found = |property| record.anatomy.value(property);
        assert_eq!(found(CardProperty::Unit), Some(unit as f64), "seed {seed}");
        assert_eq!(found(CardProperty::OpenUnits), Some(3.0), "seed {seed}");
        if let Some(overhead) = found(CardProperty::WriteOverhead) {
            let truth = model.write_overhead.0 as f64;
            assert!(
                (overhead / truth - 1.0).abs() < 0.1,
                "{overhead}, seed {seed}"
            );
        }
    }
}

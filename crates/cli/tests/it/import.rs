//! Tests results of other programs from the command line: imported, listed, shown, compared, exported.

use crate::support::{Home, hakaru, records, text};
use hakaru_model::record::{Origin, RunRecord};
use std::path::PathBuf;
use std::process::Stdio;

fn logs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../dialects/tests/logs")
}

fn log(name: &str) -> String {
    logs().join(format!("{name}.txt")).display().to_string()
}

/// Runs hakaru and returns its output; anything on standard error fails the test.
fn said(home: &Home, args: &[&str]) -> String {
    let out = hakaru(home).args(args).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
    assert_eq!(text(&out.stderr), "", "{args:?}");
    text(&out.stdout)
}

#[test]
fn published_logs_are_stored_once_and_come_back_figure_by_figure() {
    let home = Home::new();
    let directory = logs().display().to_string();
    let printed = said(&home, &["import", &directory]);
    assert!(printed.ends_with("16 runs imported.\n"), "{printed}");
    let again = said(&home, &["import", &directory]);
    assert!(
        again.ends_with("0 runs imported, 16 were stored already.\n"),
        "{again}"
    );
    let stored = records(&home);
    assert_eq!(stored.len(), 16);
    for record in stored
        .iter()
        .filter(|record| record.target.display_name().starts_with("pi5"))
    {
        let Origin::Imported { source, .. } = &record.origin else {
            panic!("{:?}", record.origin)
        };
        let original = std::fs::read_to_string(source).unwrap();
        let shown = said(&home, &["show", &record.id, "--format", "fio"]);
        let lines = |text: &str| {
            text.lines()
                .map(str::trim_end)
                .filter(|l| !l.is_empty())
                .collect::<Vec<_>>()
                .join("\n")
        };
        let original = lines(
            &original[original
                .find(": (g=0)")
                .and_then(|at| original[..at].rfind('\n'))
                .unwrap()..],
        );
        assert_eq!(lines(&shown), original, "{source}");
    }
    assert!(said(&home, &["list"]).contains("sdio-1bit"));
    assert!(said(&home, &["show", "latest"]).contains("(imported)"));
}

#[test]
fn runs_of_one_thing_are_one_series() {
    let home = Home::new();
    said(&home, &["import", &log("f2fs-blog-ext4-1")]);
    said(
        &home,
        &[
            "import",
            &log("f2fs-blog-ext4-2"),
            &log("f2fs-blog-f2fs-1"),
            &log("f2fs-blog-f2fs-2"),
        ],
    );
    let all = records(&home);
    let series = |label: &str| -> Vec<(String, u32)> {
        let of = all
            .iter()
            .filter(|r| r.target.label.as_deref() == Some(label));
        of.map(|r| (r.series.clone(), r.repeat)).collect()
    };
    let ext4 = series("f2fs-blog-ext4");
    assert!(
        ext4.len() == 2 && ext4[0].0 == ext4[1].0 && ext4[0].1 + ext4[1].1 == 1,
        "{ext4:?}"
    );
    let page = home.path().join("b.md");
    let printed = said(
        &home,
        &[
            "compare",
            "f2fs-blog-ext4",
            "f2fs-blog-f2fs",
            "-o",
            page.to_str().unwrap(),
        ],
    );
    assert!(
        printed.contains("n = 2") && printed.contains("1.95×"),
        "{printed}"
    );
    let page = std::fs::read_to_string(page).unwrap();
    for said in [
        "Latency P99: 69 ms to 108 ms (f2fs-blog-f2fs), 326 ms to 489 ms",
        "2 of 4 runs wrote a new file",
        "only 3.67 ms of 46.5 ms (f2fs-blog-ext4) and 1.42 ms of 23.8 ms (f2fs-blog-f2fs) pass in the block layer",
        "either, so far: both are far better than needed; f2fs-blog-f2fs better: random write 1.95×",
    ] {
        assert!(page.contains(said), "{page}");
    }
}

#[test]
fn a_card_and_a_disk_are_compared_as_published() {
    let home = Home::new();
    for thing in ["microsd", "ssd"] {
        let files: Vec<String> = ["1-seqrw", "2-randread", "3-fsync", "4-sustain"]
            .iter()
            .map(|experiment| log(&format!("pi5-{experiment}-{thing}")))
            .collect();
        let mut args = vec!["import", "--label", thing];
        args.extend(files.iter().map(String::as_str));
        said(&home, &args);
    }
    insta::assert_snapshot!(said(&home, &["compare", "microsd", "ssd"]));
    // The page has the ratios that the verdict on each use rests on, as the article has.
    let file = home.path().join("pair.md");
    let output = file.display().to_string();
    said(&home, &["compare", "microsd", "ssd", "-o", &output]);
    let page = std::fs::read_to_string(file).unwrap();
    let row = page
        .lines()
        .find(|row| row.starts_with("| database and logs"));
    let ratios = "| ssd, so far; ssd better in 3 of 4: fsync P99 24% shorter · \
         fsync P99.9 62% shorter · random read 1.39×; worse: mean fsync 26% longer |";
    assert!(row.is_some_and(|row| row.ends_with(ratios)), "{page}");
    // What every measured figure favors is the choice so far, with what speaks against it.
    let chosen = "| ssd, so far; ssd better: sequential write 6.32× · sequential read of a mix 6.34×; worse: slowest interval 6.29 MB/s, against 29.4 MB/s |";
    assert!(page.contains(chosen), "{page}");
    assert!(
        page.contains("| ssd, so far; ssd better in all 3: random read 1.39×"),
        "{page}"
    );
    // A mean of 207 MB/s hides that the disk nearly stopped.
    let stalled = "sequential write 207 MB/s (needs 100), slowest interval 6.29 MB/s";
    assert!(page.contains(stalled), "{page}");
}

#[test]
fn files_are_compared_without_being_stored() {
    let home = Home::new();
    let page = home.path().join("bus.html");
    let printed = said(
        &home,
        &[
            "compare",
            &log("sdio-1bit"),
            &log("sdio-4bit"),
            "--output",
            page.to_str().unwrap(),
        ],
    );
    assert!(printed.contains("1.42×"), "{printed}");
    // The names say how wide the bus was, so the times say how much of an I/O is its transfer.
    assert!(
        printed.contains("take 2.26 ms for an I/O of 4 KiB over 1 bit and 1.66 ms"),
        "{printed}"
    );
    let page = std::fs::read_to_string(page).unwrap();
    let circumstance = "sdio-1bit wrote a new file, sdio-4bit over an existing one";
    assert!(page.contains(circumstance), "{page}");
    assert_eq!(records(&home).len(), 0);
    let refused = hakaru(&home)
        .args(["compare", &log("sdio-1bit"), &log("pi5-2-randread-ssd")])
        .output()
        .unwrap();
    assert!(!refused.status.success() && text(&refused.stderr).contains("no workload in common"));
}

#[test]
fn records_travel_from_store_to_store() {
    let (home, other) = (Home::new(), Home::new());
    said(
        &home,
        &["import", &log("sdio-1bit"), &log("pi5-3-fsync-ssd")],
    );
    let exported = said(&home, &["export"]);
    assert_eq!(exported.lines().count(), 2);
    let file = home.path().join("all.jsonl");
    std::fs::write(&file, &exported).unwrap();
    assert!(said(&other, &["import", file.to_str().unwrap()]).contains("2 records of hakaru"));
    let sorted = |home: &Home| {
        let mut all: Vec<RunRecord> = records(home);
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all
    };
    assert_eq!(sorted(&home), sorted(&other));
    // The indented form can also be imported.
    let third = Home::new();
    let shown = said(&home, &["show", "latest", "--json"]);
    std::fs::write(&file, shown).unwrap();
    said(&third, &["import", file.to_str().unwrap()]);
    assert_eq!(records(&third).len(), 1);
}

#[test]
fn standard_input_and_tables_are_read() {
    let home = Home::new();
    let mut child = hakaru(&home)
        .args(["import", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let result = b"268435456 bytes (268 MB, 256 MiB) copied, 2 s, 134 MB/s\n";
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), result).unwrap();
    let out = child.wait_with_output().unwrap();
    let shown = text(&out.stdout);
    assert!(shown.contains("dd of dd"), "{shown}");
    let (table, map) = (home.path().join("t.csv"), home.path().join("t.toml"));
    std::fs::write(&table, "card,what,speed,io\nkingston,rr,7.7,1973\n").unwrap();
    let columns = "bandwidth_unit = \"KB/s\"\n[columns]\ntarget = [\"card\"]\nworkload = \"what\"\nbandwidth = \"speed\"\niops = \"io\"\n[workloads.rr]\nrw = \"randread\"\nbs = \"4KiB\"\n";
    std::fs::write(&map, columns).unwrap();
    let (table, map) = (table.to_str().unwrap(), map.to_str().unwrap());
    let printed = said(&home, &["import", table, "--map", map]);
    assert!(printed.contains("prefix is probably wrong"), "{printed}");
    assert!(printed.contains("1 run imported"), "{printed}");
}

/// Regression: rows with equal figures were treated as duplicates: of three repeats only two were stored.
#[test]
fn repeats_that_print_alike_are_repeats() {
    let home = Home::new();
    let (table, copy) = (home.path().join("t.csv"), home.path().join("copy.csv"));
    let head = "target,rw,bs,bandwidth,bandwidth_unit\n";
    let row = |speed: &&str| format!("a,read,1MiB,{speed},MB/s\n");
    let rows = |speeds: &[&str]| speeds.iter().map(row).collect::<String>();
    for file in [&table, &copy] {
        std::fs::write(file, head.to_owned() + &rows(&["22.4", "22.4", "22.5"])).unwrap();
    }
    let (table, copy) = (table.to_str().unwrap(), copy.to_str().unwrap());
    let printed = said(&home, &["import", table]);
    assert!(printed.ends_with("3 runs imported.\n"), "{printed}");
    let mut repeats: Vec<u32> = records(&home).iter().map(|record| record.repeat).collect();
    repeats.sort_unstable();
    assert_eq!(repeats, [0, 1, 2]);
    // The same text again, even under another name, adds nothing.
    let again = said(&home, &["import", table, copy]);
    assert!(
        again.ends_with("0 runs imported, 6 were stored already.\n"),
        "{again}"
    );
    std::fs::write(copy, head.to_owned() + &rows(&["23.5", "23.5"])).unwrap();
    let compared = said(&home, &["compare", table, copy]);
    let runs = compared.lines().find(|line| line.starts_with("runs"));
    let runs: Vec<&str> = runs.unwrap().split_whitespace().collect();
    assert!(runs.contains(&"3"), "{compared}");
}

#[test]
fn few_runs_of_each_workload_are_few_however_many_there_are_together() {
    let home = Home::new();
    let table = |name: &str, speed: f64| {
        let mut text = "target,rw,bs,bandwidth,bandwidth_unit\n".to_owned();
        for rw in ["read", "write", "randread"] {
            text += &format!(
                "{name},{rw},1MiB,{speed},MB/s\n{name},{rw},1MiB,{},MB/s\n",
                speed + 0.1
            );
        }
        let path = home.path().join(format!("{name}.csv"));
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let printed = said(&home, &["compare", &table("a", 20.0), &table("b", 30.0)]);
    assert_eq!(
        printed
            .matches("Only 2 runs: variation between runs is poorly known")
            .count(),
        2,
        "{printed}"
    );
}

/// Names of targets, scenarios and programs are untrusted: none of their bytes may control the terminal.
#[test]
fn nothing_foreign_commands_the_terminal() {
    let home = Home::new();
    let (table, other) = (home.path().join("t.csv"), home.path().join("o.csv"));
    let row = |name: &str| {
        format!(
            "target,workload,rw,bs,bandwidth,bandwidth_unit\n{name}\u{7},x\u{202e}y,read,1MiB,22.4,MB/s\n"
        )
    };
    std::fs::write(&table, row("evil") + "z\u{7},x,unknown\u{7},1MiB,1,MB/s\n").unwrap();
    std::fs::write(&other, row("worse")).unwrap();
    let (table, other) = (table.to_str().unwrap(), other.to_str().unwrap());
    for words in [
        &["import", table][..],
        &["list"],
        &["show", "latest"],
        &["compare", table, other],
    ] {
        let printed = said(&home, words);
        assert!(printed.contains('\u{fffd}'), "{words:?}: {printed}");
        assert!(
            !printed
                .chars()
                .any(|c| c.is_control() && c != '\n' || c == '\u{202e}'),
            "{words:?}: {printed:?}"
        );
    }
}

#[test]
fn nothing_is_said_to_be_nothing() {
    let home = Home::new();
    let file = home.path().join("prose.txt");
    std::fs::write(&file, "There is no result in here.\n").unwrap();
    let out = hakaru(&home)
        .args(["import", file.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert!(
        text(&out.stdout).contains("No results were found"),
        "{}",
        text(&out.stdout)
    );
    assert!(
        said(&home, &["import", "--dry-run", &log("sdio-1bit")]).contains("nothing was stored")
    );
    let missing = hakaru(&home)
        .args(["import", "/no/such/file"])
        .output()
        .unwrap();
    assert!(text(&missing.stderr).contains("/no/such/file"));
}

#[test]
fn results_stand_beside_published_ones_and_ones_own() {
    let home = Home::new();
    said(&home, &["import", &log("pi5-2-randread-microsd")]);
    said(&home, &["import", &log("pi5-2-randread-ssd")]);
    let listed = said(&home, &["reference"]);
    assert!(
        listed.contains("suneast") && listed.contains("27.6 ± 3.36"),
        "{listed}"
    );
    let run = &records(&home)[0].id;
    assert!(said(&home, &["reference", "add", "spare", run]).contains("added 1 figure of spare"));
    let twice = hakaru(&home)
        .args(["reference", "add", "spare"])
        .output()
        .unwrap();
    assert!(!twice.status.success() && text(&twice.stderr).contains("exists already"));
    assert!(said(&home, &["reference", "list"]).contains("your reference results"));
    // Concurrent additions must not overwrite each other.
    let add = |n: u32| {
        hakaru(&home)
            .args(["reference", "add", &format!("copy-{n}"), run])
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let all: Vec<_> = (0..6).map(add).collect();
    assert!(
        all.into_iter()
            .all(|mut child| child.wait().unwrap().success())
    );
    let listed = said(&home, &["reference"]);
    assert!(
        (0..6).all(|n| listed.contains(&format!("copy-{n}"))),
        "{listed}"
    );
    assert!(said(&home, &["reference", "remove", "spare"]).contains("removed"));
    assert!(!said(&home, &["reference"]).contains("spare"));
    let gone = hakaru(&home)
        .args(["reference", "remove", "suneast"])
        .output()
        .unwrap();
    assert!(
        text(&gone.stderr).contains("no reference result of yours"),
        "{}",
        text(&gone.stderr)
    );
}

/// Imports a result through a pipe, and returns the output.
fn piped(home: &Home, result: &str) -> String {
    let mut child = hakaru(home)
        .args(["import", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), result.as_bytes()).unwrap();
    text(&child.wait_with_output().unwrap().stdout)
}

/// Regression: text and JSON of one run were stored as two runs with equal figures, and so was the same result from a
/// pipe.
#[test]
fn one_measurement_in_two_forms_is_one_run() {
    let home = Home::new();
    let file = format!("--filename={}", home.work().join("f").display());
    let job = [
        "fio",
        "--name=a",
        "--rw=randrw",
        "--bs=4k",
        "--size=1m",
        "--output-format=json,normal",
        "--unlink=1",
        &file,
    ];
    let both = said(&home, &job);
    let (json, normal) = both.split_at(both.rfind("\n}\n").map_or(0, |at| at + 3));
    let (a, b, all) = (
        home.path().join("a.json"),
        home.path().join("b.txt"),
        home.path().join("all.txt"),
    );
    for (path, content) in [(&a, json), (&b, normal), (&all, both.as_str())] {
        std::fs::write(path, content).unwrap();
    }
    let (a, b, all) = (
        a.to_str().unwrap(),
        b.to_str().unwrap(),
        all.to_str().unwrap(),
    );
    let printed = said(&home, &["import", b, a]);
    assert!(
        printed.contains("b.txt: the same measurement as in")
            && printed.contains(
                "which is imported \
            too"
            ),
        "{printed}"
    );
    assert!(
        printed.ends_with("1 run imported, 1 was stored already.\n"),
        "{printed}"
    );
    assert_eq!(
        records(&home)[0].target.label.as_deref(),
        Some("a"),
        "the one that tells more is stored"
    );
    for again in [&["import", b][..], &["import", all], &["import", a]] {
        let printed = said(&home, again);
        assert!(printed.contains("0 runs imported"), "{again:?}: {printed}");
    }
    for content in [json, normal] {
        let printed = piped(&home, content);
        assert!(
            printed.contains("is stored as run")
                && printed.ends_with("0 runs imported, 1 was stored already.\n"),
            "{printed}"
        );
    }
    assert_eq!(records(&home).len(), 1);
    // A new name given by the user is a further label of it.
    let named = said(&home, &["import", "--label=other", b]);
    assert!(
        named.contains("0 runs imported") && named.contains("other is now a further label"),
        "{named}"
    );
    assert!(said(&home, &["show", "other"]).contains("(imported)"));
    // Another run of the same job is another run.
    std::fs::write(a, said(&home, &job)).unwrap();
    assert!(said(&home, &["import", a]).contains("1 run imported"));
}

#[test]
fn what_comes_through_a_pipe_is_known_by_its_content() {
    let home = Home::new();
    let result = "268435456 bytes (268 MB, 256 MiB) copied, 2.0137 s, 133 MB/s\n";
    let file = home.path().join("card.txt");
    std::fs::write(&file, result).unwrap();
    assert!(said(&home, &["import", file.to_str().unwrap()]).contains("1 run imported"));
    for _ in 0..2 {
        let printed = piped(&home, result);
        assert!(
            printed.ends_with("0 runs imported, 1 was stored already.\n"),
            "{printed}"
        );
    }
    assert!(piped(&home, &result.replace("2.0137", "2.0138")).contains("1 run imported"));
}

/// Text results contain the local time of the host of the run.
#[test]
fn the_time_of_text_is_that_of_a_time_zone() {
    let started = |zone: &str| {
        let home = Home::new();
        let out = hakaru(&home)
            .env("TZ", zone)
            .args(["import", &log("pi5-1-seqrw-ssd")])
            .output()
            .unwrap();
        let printed = text(&out.stdout);
        assert!(
            printed.contains("assuming the time zone of this host"),
            "{printed}"
        );
        records(&home)[0].started_unix_ms
    };
    // The same local time is nine hours later in a time zone nine hours further west.
    assert_eq!(started("UTC0") - started("JST-9"), 9 * 3_600_000);
}

fn content(name: &str) -> String {
    std::fs::read_to_string(log(name)).unwrap()
}

/// Returns the names of the imported targets, each with its number of runs.
fn things(home: &Home) -> Vec<(String, usize)> {
    let mut counted = std::collections::BTreeMap::new();
    for record in records(home) {
        *counted.entry(record.target.display_name()).or_insert(0) += 1;
        let repeats = records(home)
            .iter()
            .filter(|other| other.series == record.series)
            .count();
        assert!(record.repeat < repeats as u32);
    }
    counted.into_iter().collect()
}

fn of(things: &[(&str, usize)]) -> Vec<(String, usize)> {
    things
        .iter()
        .map(|(name, runs)| ((*name).to_owned(), *runs))
        .collect()
}

/// Regression: a card and a disk in one text became two repeats of one target, "120 ± 123 MB/s".
#[test]
fn headings_separate_devices_on_one_page() {
    let card = content("pi5-4-sustain-microsd");
    let disk = content("pi5-4-sustain-ssd");
    let page = format!("# Results\n## SD card\n```\n{card}```\n## SSD\n```\n{disk}```\n");
    let home = Home::new();
    let file = home.path().join("page.md");
    std::fs::write(&file, &page).unwrap();
    let file = file.to_str().unwrap();
    let notes = said(&home, &["import", file]);
    assert!(notes.contains("differ in their heading"), "{notes}");
    assert!(notes.contains("--label \"SD card=NAME\""), "{notes}");
    let both = of(&[("page (SD card)", 1), ("page (SSD)", 1)]);
    assert_eq!(things(&home), both);
    assert!(said(&home, &["import", file]).contains("0 runs imported, 2 were stored already"));
    let home = Home::new();
    let labels = ["--label", "sd card=microsd", "--label", "SSD=ssd"];
    said(&home, &[&["import"], &labels[..], &[file]].concat());
    assert_eq!(things(&home), of(&[("microsd", 1), ("ssd", 1)]));
    let mut command = hakaru(&home);
    let refused = command.args(["import", "--label", "HDD=x", file]).output();
    let stderr = text(&refused.unwrap().stderr);
    assert!(stderr.contains("expected one of:"), "{stderr}");
    assert!(stderr.contains("`SD card`, `SSD`, `mmcblk0`"), "{stderr}");
}

#[test]
fn disks_and_file_systems_separate_devices_in_one_text() {
    let disks = content("pi5-4-sustain-microsd") + "\n" + &content("pi5-4-sustain-ssd");
    let hdparm = ["sda", "sdb"].map(|disk| {
        format!(
            "/dev/{disk}:\n Timing buffered disk reads:  64 MB in  3.01 seconds =  21.25 MB/sec\n\n"
        )
    });
    let of_logs = |kind: &str| {
        let logs = [1, 2]
            .map(|run| content(&format!("f2fs-blog-{kind}-{run}")))
            .concat();
        format!("$ sudo mkfs.{kind} /dev/sda1\n$ sudo mount /dev/sda1 /mnt\n{logs}")
    };
    let kinds = of_logs("ext4") + &of_logs("f2fs");
    for (content, expected) in [
        (disks, &[("x (mmcblk0)", 1), ("x (sda)", 1)]),
        (hdparm.concat(), &[("x (/dev/sda)", 1), ("x (/dev/sdb)", 1)]),
        (kinds, &[("x (ext4)", 2), ("x (f2fs)", 2)]),
    ] {
        let home = Home::new();
        let file = home.path().join("x.txt");
        std::fs::write(&file, &content).unwrap();
        let printed = said(&home, &["import", file.to_str().unwrap()]);
        assert_eq!(things(&home), of(expected), "{printed}");
    }
}

#[test]
fn headings_that_count_runs_leave_repeats_together() {
    let home = Home::new();
    let file = home.path().join("x.md");
    let page = [1, 2].map(|run| {
        format!(
            "## Run {run}\n{}\n",
            content(&format!("f2fs-blog-ext4-{run}"))
        )
    });
    std::fs::write(&file, page.concat()).unwrap();
    said(&home, &["import", file.to_str().unwrap()]);
    assert_eq!(things(&home), of(&[("x", 2)]));
    assert_eq!(
        records(&home).iter().map(|record| record.repeat).max(),
        Some(1)
    );
}

/// One name given to two disks makes one series with a caveat.
#[test]
fn unlike_runs_of_one_series_are_a_caveat() {
    let home = Home::new();
    said(
        &home,
        &[
            "import",
            "--label=x",
            &log("pi5-4-sustain-microsd"),
            &log("pi5-4-sustain-ssd"),
        ],
    );
    assert_eq!(things(&home), of(&[("x", 2)]));
    let printed = said(&home, &["report", "latest", "--format=terminal"]);
    assert!(
        printed.contains("differences between 2 disks: their runs are pooled"),
        "{printed}"
    );
}

/// Regression: an ID selected its whole series, so two runs of one series were compared with themselves.
#[test]
fn compare_takes_exactly_the_runs_named() {
    let home = Home::new();
    let kinds = ["ext4", "f2fs"];
    for kind in kinds {
        said(
            &home,
            &[
                "import",
                &log(&format!("f2fs-blog-{kind}-1")),
                &log(&format!("f2fs-blog-{kind}-2")),
            ],
        );
    }
    let of_kind = |kind: &str| -> Vec<RunRecord> {
        let all = records(&home).into_iter();
        all.filter(|record| record.target.display_name() == format!("f2fs-blog-{kind}"))
            .collect()
    };
    let [ext4, f2fs] = kinds.map(of_kind);
    let out = hakaru(&home)
        .args(["compare", &ext4[0].id, &ext4[1].id])
        .output()
        .unwrap();
    let printed = text(&out.stdout);
    assert!(
        printed.contains("n = 1") && !printed.contains("n = 2") && !printed.contains("1.00x"),
        "{printed}"
    );
    assert!(
        text(&out.stderr).contains("is one of 2 runs of its series; use series="),
        "{}",
        text(&out.stderr)
    );
    let printed = said(
        &home,
        &[
            "compare",
            &format!("series={}", &ext4[0].series[..8]),
            "f2fs-blog-f2fs",
        ],
    );
    assert!(
        printed.contains("n = 2") && !printed.contains("n = 1"),
        "{printed}"
    );
    assert_eq!(f2fs.len(), 2);
    // Percentiles of several runs of another program cannot be merged: the lowest and the highest are shown.
    let p99 = printed
        .lines()
        .find(|line| line.contains("latency, P99 "))
        .unwrap_or_default();
    assert_eq!(p99.matches(" to ").count(), 2, "{printed}");
}

/// Regression: properties that a result does not state were printed as if it did.
#[test]
fn unknown_properties_are_not_shown() {
    let home = Home::new();
    let log = content("old-2x");
    let start = log.find("random-write-test: (groupid").unwrap();
    let end = log.find("seqread: (g=0)").unwrap();
    let file = home.path().join("x.txt");
    std::fs::write(&file, &log[start..end]).unwrap();
    said(&home, &["import", file.to_str().unwrap()]);
    let shown = said(&home, &["show", "latest"]);
    assert!(shown.contains("write, 4 KiB, queue depth 64"), "{shown}");
    let workload = shown
        .lines()
        .find(|line| line.contains("queue depth 64"))
        .unwrap();
    assert!(
        !["sequential", "random write", "psync", "cache"]
            .iter()
            .any(|word| workload.contains(word)),
        "{shown}"
    );
}

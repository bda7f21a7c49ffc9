//! Tests archives and large imports: an archive is a database for every command, and no import is read whole.

use crate::support::{Home, hakaru, records, text};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// Runs hakaru and returns its output; anything on standard error fails the test.
#[track_caller]
fn said(home: &Home, args: &[&str]) -> String {
    let out = hakaru(home).args(args).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
    assert_eq!(text(&out.stderr), "", "{args:?}");
    text(&out.stdout)
}

fn logs() -> String {
    let logs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../dialects/tests/logs");
    logs.display().to_string()
}

#[test]
fn every_reading_command_takes_an_archive() {
    let home = Home::new();
    said(&home, &["import", &logs()]);
    said(&home, &["relabel", "latest", "--label", "the last card"]);
    let before = said(&home, &["export"]);
    let archive = home.path().join("old.db").display().to_string();
    let printed = said(&home, &["archive", &archive, "--keep", "1"]);
    assert!(printed.contains("moved to"), "{printed}");
    let left = said(&home, &["export"]).lines().count();
    let moved = said(&home, &["export", "--db", &archive]);
    assert!(left > 0 && left + moved.lines().count() == 16, "{left}");
    let page = home.path().join("page.html").display().to_string();
    for command in [
        &["list"][..],
        &["show", "latest"],
        &["show", "latest", "--json", "--series"],
        &["report", "latest", "-o", &page],
        &["report", "latest", "--card=text"],
        &["compare", "f2fs-blog-ext4", "f2fs-blog-f2fs"],
        &["compare", "label=f2fs-blog-ext4", "label=f2fs-blog-f2fs"],
        &["export", "latest"],
        &["rank"],
        &["history", "f2fs-blog-ext4"],
        &["reference", "list"],
    ] {
        let words = [command, &["--db", &archive]].concat();
        let printed = said(&home, &words);
        assert!(!printed.is_empty(), "{command:?}");
    }
    let listed = said(&home, &["list", "--db", &archive]);
    assert!(listed.contains("f2fs-blog-ext4"), "{listed}");
    // Moved back, everything is as it was, the label too.
    said(&home, &["import", &archive]);
    assert!(said(&home, &["export"]) == before);
    assert!(said(&home, &["list"]).contains("the last card"));
    let again = said(&home, &["import", &archive]);
    assert!(again.contains("0 runs imported"), "{again}");
}

/// Changes the check of a packed record. Its ID is followed by the hash of its scenario and the packed text, which begins
/// with the number of its form and its length.
fn damage(database: &Path, id: &str) {
    let mut bytes = std::fs::read(database).unwrap();
    let is_record = |at: &usize| {
        let packed = &bytes[at + id.len() + 8..];
        let length = packed.get(1..5).map(|length| length.try_into().unwrap());
        let length = length.map_or(0, u32::from_le_bytes);
        packed.first() == Some(&1) && (1_000..1_000_000).contains(&length)
    };
    let ids = bytes.windows(id.len()).enumerate();
    let mut ids = ids.filter(|(_, bytes)| *bytes == id.as_bytes());
    let at = ids.find(|(at, _)| is_record(at)).unwrap().0;
    bytes[at + id.len() + 8 + 5] ^= 0xff;
    std::fs::write(database, bytes).unwrap();
}

/// Regression: the first record that could not be read stopped every later archive.
#[test]
fn a_damaged_record_keeps_only_its_series_from_the_archive() {
    let home = Home::new();
    said(&home, &["import", &logs()]);
    let all = records(&home);
    let oldest = all.last().unwrap().series.clone();
    let old_runs = all.iter().filter(|run| run.series == oldest).count();
    damage(&home.path().join("hakaru.db"), &oldest);
    let archive = home.path().join("old.db").display().to_string();
    let out = hakaru(&home)
        .args(["archive", &archive, "--keep", "1"])
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(1));
    let warned = text(&out.stderr);
    assert!(
        warned.contains(&format!("series {oldest} was not moved")),
        "{warned}"
    );
    let listed = said(&home, &["list", "--json"]);
    assert!(listed.contains(&oldest), "{listed}");
    let newest = all.iter().filter(|run| run.series == all[0].series).count();
    let moved = said(&home, &["export", "--db", &archive]).lines().count();
    assert_eq!(moved, all.len() - old_runs - newest);
}

/// Regression: a campaign that was continued after its runs were moved measured and wrote everything again.
#[test]
fn a_campaign_keeps_its_runs_unless_asked() {
    let home = Home::new();
    let card = r#"{"name": "card", "capacity": 68719476736, "block_size": 512, "read_rate": 90000000, "write_rate": 30000000}"#;
    std::fs::write(home.work().join("card.json"), card).unwrap();
    let file = home.work().join("c.toml");
    let campaign = "name = \"worn\"\nrepeats = 1\n[limits]\nwritten = \"1 GiB\"\n[[card]]\nlabel = \"card\"\n\
        simulate = \"card.json\"\n[[workload]]\nname = \"w\"\nrw = \"write\"\nbs = \"4 KiB\"\nsize = \"1 MiB\"\n";
    std::fs::write(&file, campaign).unwrap();
    let file = file.to_str().unwrap();
    let run = |args: &[&str]| {
        let out = hakaru(&home)
            .current_dir(home.work())
            .args(args)
            .output()
            .unwrap();
        assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
        text(&out.stdout)
    };
    run(&["campaign", "run", file]);
    let archive = home.path().join("old.db").display().to_string();
    for dry in [&["--dry-run"][..], &[]] {
        let printed = run(&[&["archive", &archive, "--keep", "0"], dry].concat());
        assert!(
            printed.starts_with("1 series of campaigns are kept"),
            "{printed}"
        );
        assert_eq!(records(&home).len(), 1);
    }
    run(&["archive", &archive, "--keep", "0", "--campaigns"]);
    assert!(records(&home).is_empty());
    let page = home.path().join("page.html").display().to_string();
    run(&["--db", &archive, "campaign", "report", "worn", "-o", &page]);
}

/// Regression: runs of two cards, in files that are read one after the other because they are long, became one series.
#[test]
fn headings_separate_devices_across_batches() {
    let home = Home::new();
    let log =
        std::fs::read_to_string(Path::new(&logs()).join("pi5-4-sustain-microsd.txt")).unwrap();
    let log = log.split("Disk stats").next().unwrap();
    for (file, heading, ios) in [
        ("card-1.md", "SanDisk", "3756"),
        ("card-2.md", "Kingston", "3700"),
        ("card-3.md", "SanDisk", "3800"),
    ] {
        // Longer than what is read at a time.
        let more = "no result\n".repeat(500_000);
        let run = log.replace("3756", ios);
        let page = format!("# {heading}\n```\n{run}```\n{more}");
        std::fs::write(home.work().join(file), page).unwrap();
    }
    let notes = said(&home, &["import", home.work().to_str().unwrap()]);
    let mut names: Vec<String> = records(&home)
        .iter()
        .map(|run| run.target.display_name())
        .collect();
    names.sort();
    assert_eq!(names, ["card", "card", "card (Kingston)"], "{notes}");
    assert!(notes.contains("differ in their heading"), "{notes}");
}

/// Regression: a note advised `--label "=NAME"`, which was refused, for a run without a heading after one with a heading.
#[test]
fn advised_labels_are_accepted() {
    let log =
        std::fs::read_to_string(Path::new(&logs()).join("pi5-4-sustain-microsd.txt")).unwrap();
    let log = log.split("Disk stats").next().unwrap();
    // Longer than what is read at a time.
    let more = ("no result ".repeat(100) + "\n").repeat(5_000);
    for headings in [
        ["# SanDisk\n", ""],
        ["# SanDisk, A1\n", "# Kingston, A2\n"],
        ["# Card, run 1\n", "# Other card, run 2\n"],
        ["# bs=4k\n", "# bs=8k\n"],
        ["# \"Fast\" card\n", "# Card for $9 `new`\n"],
    ] {
        let home = Home::new();
        for (file, (heading, ios)) in ["card-1.md", "card-2.md"]
            .iter()
            .zip(headings.iter().zip(["3756", "3700"]))
        {
            let run = log.replace("3756", ios);
            let page = format!("{heading}```\n{run}```\n{more}");
            std::fs::write(home.work().join(file), page).unwrap();
        }
        let work = home.work().display().to_string();
        let notes = said(&home, &["import", "--dry-run", &work]);
        let advised = notes.split_once("--label \"").unwrap().1;
        let of = advised.split_once("=NAME\"").unwrap().0;
        // Between double quotes a shell would change these.
        assert!(!of.contains(['"', '$', '`', '\\', '!']), "{notes}");
        let label = format!("{of}=renamed");
        said(&home, &["import", "--label", &label, &work]);
        let mut names: Vec<String> = records(&home)
            .iter()
            .map(|run| run.target.display_name())
            .collect();
        names.sort();
        assert_eq!(names, ["card", "renamed"], "{notes}");
    }
}

/// Rows of a table with some in each part that cannot be read, and some that are repeats of another part.
fn table(path: &Path, comment: &str, rows: usize) {
    let mut text = format!("{comment}target,rw,bs,bandwidth,bandwidth_unit\n");
    for row in 0..rows {
        let rate = match row % 400 {
            0 => "5.5".to_owned(),
            1 => "fast".to_owned(),
            _ => format!("{row}.25"),
        };
        writeln!(text, "card {},randwrite,4KiB,{rate},MB/s", row % 8).unwrap();
    }
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_long_table_is_stored_part_by_part() {
    let home = Home::new();
    let (path, map) = (home.path().join("t.csv"), home.path().join("t.toml"));
    table(&path, "# made for a test\n", 2800);
    assert!(path.metadata().unwrap().len() > 64 << 10, "one part only");
    let columns = "[columns]\ntarget = [\"target\"]\nrw = \"rw\"\nbs = \"bs\"\nbandwidth = \"bandwidth\"\n\
        bandwidth_unit = \"bandwidth_unit\"\n";
    std::fs::write(&map, columns).unwrap();
    let (path, map) = (path.to_str().unwrap(), map.to_str().unwrap());
    let args = ["import", path, "--map", map, "--title", "speeds"];
    let printed = said(&home, &args);
    assert!(printed.ends_with("2793 runs imported.\n"), "{printed}");
    // Lines are those of the file: the first row is the third, and the last row that cannot be read is in another part.
    for line in [4, 2404] {
        assert!(
            printed.contains(&format!("t.csv:{line}: not read")),
            "{line}"
        );
    }
    let stored = records(&home);
    let mut of: Vec<(String, usize)> = Vec::new();
    for record in &stored {
        let name = record.target.display_name();
        match of.iter_mut().find(|(known, _)| *known == name) {
            Some((_, runs)) => *runs += 1,
            None => of.push((name, 1)),
        }
    }
    of.sort();
    assert_eq!(of.len(), 8, "{of:?}");
    let equal = stored.iter().filter(|record| {
        let figures = serde_json::to_string(&record.origin).unwrap();
        figures.contains("5500000.0")
    });
    assert_eq!(equal.count(), 7, "equal rows are repeats");
    let series: std::collections::BTreeSet<&str> =
        stored.iter().map(|record| record.series.as_str()).collect();
    assert_eq!(series.len(), 8, "rows of one card are one series");
    let listed = said(&home, &["list", "--json"]);
    assert_eq!(listed.matches("speeds").count(), 8, "{listed}");
    let again = said(&home, &args);
    assert!(
        again.ends_with("0 runs imported, 2793 were stored already.\n"),
        "{again}"
    );
    // A name that nothing has is an error also where it could be in any part.
    let out = hakaru(&home)
        .args([
            "import",
            path,
            "--map",
            map,
            "--dry-run",
            "--label",
            "nothing=x",
        ])
        .output()
        .unwrap();
    assert!(!out.status.success());
    assert!(
        text(&out.stderr).contains("is named `nothing`"),
        "{}",
        text(&out.stderr)
    );
}

/// Runs hakaru, and returns the most memory it had, in bytes.
fn peak(home: &Home, args: &[&str], input: Stdio) -> u64 {
    let mut command = hakaru(home);
    command
        .args(args)
        .stdin(input)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let own = std::fs::read_link("/proc/self/exe").unwrap();
    let [program, status] = ["exe", "status"].map(|file| format!("/proc/{}/{file}", child.id()));
    // Regression: a new process has the memory of this one until its program is loaded, which a busy host delays.
    let is_loaded = || std::fs::read_link(&program).is_ok_and(|program| program != own);
    let mut most = 0;
    loop {
        if let Some(ended) = child.try_wait().unwrap() {
            assert!(ended.success(), "{args:?}");
            return most;
        }
        let is_loaded = is_loaded();
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let line = line.filter(|_| is_loaded);
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        most = most.max(kib.unwrap_or(0) << 10);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn the_memory_of_an_import_does_not_grow_with_the_table() {
    let home = Home::new();
    let path = |rows: usize| home.path().join(format!("{rows}.csv"));
    let of_file = |rows: usize| {
        let args = ["import", "--dry-run", path(rows).to_str().unwrap()].map(str::to_owned);
        peak(&home, &args.each_ref().map(String::as_str), Stdio::null())
    };
    // A pipe, which is not known to be a table before its first line.
    let of_pipe = |rows: usize| {
        let mut cat = std::process::Command::new("cat");
        let mut cat = cat.arg(path(rows)).stdout(Stdio::piped()).spawn().unwrap();
        let input = cat.stdout.take().unwrap();
        let most = peak(&home, &["import", "--dry-run", "-"], input.into());
        assert!(cat.wait().unwrap().success());
        most
    };
    for rows in [4_000, 40_000] {
        table(&path(rows), "", rows);
    }
    // The bytes of a row are few, and those of its record many.
    for memory in [&of_file as &dyn Fn(usize) -> u64, &of_pipe] {
        let (short, long) = (memory(4_000), memory(40_000));
        assert!(
            long < short + (32 << 20),
            "{} MiB for 4,000 rows, {} MiB for 40,000",
            short >> 20,
            long >> 20
        );
    }
}

/// Regression: tables of up to 64 KiB were read together, 58 at once, and each of their rows became a record.
#[test]
fn the_memory_of_an_import_does_not_grow_with_short_tables() {
    let home = Home::new();
    let of_files = |files: usize| {
        let directory = home.path().join(format!("{files} tables"));
        std::fs::create_dir(&directory).unwrap();
        for file in 0..files {
            table(&directory.join(format!("{file}.csv")), "", 300);
        }
        let args = ["import", "--dry-run", directory.to_str().unwrap()];
        peak(&home, &args, Stdio::null())
    };
    let (few, many) = (of_files(2), of_files(40));
    assert!(
        many < few + (32 << 20),
        "{} MiB for 2 tables, {} MiB for 40",
        few >> 20,
        many >> 20
    );
}

#[test]
fn a_table_from_a_pipe_is_stored_part_by_part() {
    let home = Home::new();
    let path = home.path().join("t.csv");
    table(&path, "", 2800);
    let out = hakaru(&home)
        .args(["import", "-"])
        .stdin(std::fs::File::open(&path).unwrap())
        .output()
        .unwrap();
    let printed = text(&out.stdout);
    assert!(printed.ends_with("2793 runs imported.\n"), "{printed}");
    // Lines are those of the input.
    for line in [3, 2403] {
        assert!(
            printed.contains(&format!("input:{line}: not read")),
            "{line}: {printed}"
        );
    }
    let again = said(&home, &["import", path.to_str().unwrap()]);
    assert!(
        again.ends_with("0 runs imported, 2793 were stored already.\n"),
        "{again}"
    );
}

/// Regression: what was kept of each file with a label of its own was as long as the file, and many short files were
/// read at once.
#[test]
fn the_memory_of_an_import_does_not_grow_with_the_labels() {
    let home = Home::new();
    let directory = |files: usize| home.path().join(format!("{files} files"));
    for files in [500, 4_000] {
        std::fs::create_dir(directory(files)).unwrap();
        for file in 0..files {
            let dd = format!("1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5{file:06} s, 2.0 MB/s\n");
            let name = format!("card {file} of the batch.txt");
            std::fs::write(directory(files).join(name), dd).unwrap();
        }
    }
    let memory = |files: usize| {
        let directory = directory(files).display().to_string();
        peak(&home, &["import", "--dry-run", &directory], Stdio::null())
    };
    let (few, many) = (memory(500), memory(4_000));
    assert!(
        many < few + (8 << 20),
        "{} MiB for 500 files, {} MiB for 4,000",
        few >> 20,
        many >> 20
    );
}

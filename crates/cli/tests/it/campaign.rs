//! Tests `hakaru campaign` from the command line: planned, run, killed and resumed, without leftovers.

mod interrupted;

use crate::support::{self, Home, Loop, hakaru, pty, records, root_loop_sparse, text};
use hakaru_model::campaign::StepKind;
use hakaru_model::device_model::DeviceModel;
use hakaru_model::record::{Outcome, RunRecord};
use hakaru_model::units::Bytes;
use pty::Terminal;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Returns a command that stores everything in the home of the test.
fn campaign(home: &Home, args: &[&str]) -> Command {
    let mut command = hakaru(home);
    command
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_DATA_HOME")
        .arg("campaign")
        .args(args);
    command.current_dir(home.work());
    command
}

#[track_caller]
fn run(home: &Home, args: &[&str]) -> Output {
    campaign(home, args).stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
fn succeeds(home: &Home, args: &[&str]) -> String {
    let out = run(home, args);
    assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
    text(&out.stdout)
}

fn write(home: &Home, name: &str, content: &str) -> PathBuf {
    let path = home.work().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// Creates simulated cards of one model, some with slower writes.
fn simulated_cards(home: &Home, top: &str) {
    let mut cards = String::new();
    for (name, write_rate) in [
        ("one", 20_000_000),
        ("two", 20_000_000),
        ("slow", 12_000_000),
    ] {
        let mut model = DeviceModel::plain(name, Bytes(64 << 30));
        (model.write_rate, model.jitter_permille) = (write_rate, 10);
        write(
            home,
            &format!("{name}.json"),
            &serde_json::to_string(&model).unwrap(),
        );
        cards += &format!("[[card]]\nlabel = \"{name}\"\nsimulate = \"{name}.json\"\nread = 90\n");
    }
    let workloads = "[[workload]]\nsuite = [\"seq-write\", \"rand-read\"]\npace = \"quick\"\n";
    write(
        home,
        "three.toml",
        &format!("name = \"three cards\"\n{top}\n{cards}{workloads}"),
    );
}

/// Counts the completed runs of each point.
fn completed(home: &Home) -> BTreeMap<(String, String, String, u32), u32> {
    let mut points = BTreeMap::new();
    for record in records(home)
        .into_iter()
        .filter(|record| record.outcome == Outcome::Completed)
    {
        let point = record.campaign.expect("all runs here belong to a campaign");
        *points
            .entry((point.card, point.layer, point.workload, point.repeat))
            .or_default() += 1;
    }
    points
}

#[track_caller]
fn each_once(home: &Home, count: usize) {
    let points = completed(home);
    assert_eq!(
        (points.len(), points.values().max()),
        (count, Some(&1)),
        "{points:?}"
    );
}

/// Checks that no mount, no journal and nothing to recover is left.
#[track_caller]
fn nothing_is_left(home: &Home) {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(home.path().to_str().unwrap()), "{mounts}");
    let mut recover = hakaru(home);
    let out = recover
        .env_remove("XDG_STATE_HOME")
        .arg("recover")
        .output()
        .unwrap();
    assert!(
        text(&out.stdout).starts_with("Nothing to recover"),
        "{}",
        text(&out.stdout)
    );
    assert!(locks(home.path()).is_empty(), "{:?}", locks(home.path()));
}

/// Returns the lock files of campaigns in all directories.
fn locks(directory: &Path) -> Vec<PathBuf> {
    let entries: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let is_lock = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "lock")
    };
    let here = entries.iter().map(|entry| entry.path()).filter(is_lock);
    let below = entries
        .iter()
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .flat_map(|entry| locks(&entry.path()));
    here.chain(below).collect()
}

#[test]
fn simulated_cards_are_planned_measured_and_reported() {
    let home = Home::new();
    simulated_cards(&home, "repeats = 5");
    let plan = succeeds(&home, &["check", "three.toml"]);
    assert!(
        plan.contains("3 cards, 1 layer, 2 workloads, each point 5 times")
            && plan.contains("simulated"),
        "{plan}"
    );
    assert!(records(&home).is_empty());
    let out = run(&home, &["run", "three.toml"]);
    let said = text(&out.stderr);
    assert!(
        out.status.success() && said.contains("30 runs measured, 30 in total: complete"),
        "{said}"
    );
    each_once(&home, 30);
    assert!(succeeds(&home, &["status", "three.toml"]).contains("complete."));
    // A second run has nothing to do; a higher repeat count adds runs.
    assert!(
        text(&run(&home, &["run", "three.toml"]).stderr).contains("0 runs measured, 30 in total")
    );
    let more = run(
        &home,
        &["run", "three.toml", "--repeat=6", "--only=slow,rand-read"],
    );
    assert!(
        text(&more.stderr).contains("1 run measured, 6 in total: complete"),
        "{}",
        text(&more.stderr)
    );
    each_once(&home, 31);
    // The store finds the campaign by its ID, without its file and the files it names.
    std::fs::rename(home.work(), home.path().join("gone")).unwrap();
    std::fs::create_dir(home.work()).unwrap();
    assert!(succeeds(&home, &["status"]).contains("three-cards  31 runs"));
    let report = succeeds(&home, &["report", "three-cards"]);
    let row = |name: &str| {
        report
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap_or_default()
            .to_owned()
    };
    assert!(
        row("slow ").contains("(b)") && row("one ").contains("(a)") && row("two ").contains("(a)"),
        "{report}"
    );
    assert!(report.contains("read up to 90 MB/s"), "{report}");
}

/// Regression: the named device did not exist, and the disk named by `--erase` was erased instead.
#[test]
fn a_named_device_that_is_absent_is_not_replaced() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 32 << 20) else {
        return;
    };
    let image = home.path().join("disk.img");
    std::fs::write(&image, vec![0x5a; 32 << 20]).unwrap();
    let card = "[[card]]\nlabel = \"mine\"\ndevice = \"/dev/hakaru-absent\"\n";
    let text = format!("name = \"binds\"\nrepeats = 1\n{card}{WRITE_8_MIB}");
    write(&home, "binds.toml", &text);
    let out = run(&home, &["run", "binds.toml", "--erase", &home.image_id()]);
    let said = support::text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("mine skipped"), "{said}");
    let content = std::fs::read(&image).unwrap();
    let unchanged = content.iter().all(|byte| *byte == 0x5a);
    assert!(unchanged, "{} was written to", disk.device());
    nothing_is_left(&home);
}

const WRITE_8_MIB: &str =
    "[[workload]]\nname = \"write\"\nrw = \"write\"\nbs = \"1 MiB\"\nsize = \"8 MiB\"\n";

/// One card in two variants at a named device: no prompt is possible, and none is needed.
#[test]
fn variants_of_a_named_device_need_no_terminal() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 32 << 20) else {
        return;
    };
    let device = disk.device();
    let card = |label: &str, variant: &str| {
        format!("[[card]]\nlabel = \"{label}\"\ndevice = \"{device}\"\nvariant = \"{variant}\"\n")
    };
    let cards = card("in slot one", "one") + &card("in slot two", "two");
    let toml = format!("name = \"variants\"\nrepeats = 2\n{cards}{WRITE_8_MIB}");
    write(&home, "variants.toml", &toml);
    let id = home.image_id();
    let out = run(&home, &["run", "variants.toml", "--erase", &id]);
    let said = text(&out.stderr);
    assert!(out.status.success(), "{said}");
    let complete = "4 runs measured, 4 in total: complete";
    assert!(said.contains(complete), "{said}");
    each_once(&home, 4);
    nothing_is_left(&home);
}

/// fio uses the same offsets in each run by default; all repeats of a campaign would be identical.
#[test]
fn repeats_of_a_fio_job_differ_unless_it_says_otherwise() {
    for (option, same) in [
        ("", false),
        ("randrepeat=1\n", true),
        ("randseed=7\n", true),
        ("randrepeat=0\n", false),
    ] {
        let home = Home::new();
        let model = DeviceModel::plain("card", Bytes(1 << 30));
        write(&home, "card.json", &serde_json::to_string(&model).unwrap());
        let card = "[[card]]\nlabel = \"card\"\nsimulate = \"card.json\"\n";
        let job = format!("[job]\nrw=randread\nbs=4k\nsize=1m\n{option}");
        let workload = format!("[[workload]]\nname = \"job\"\nfio-text = \"\"\"\n{job}\"\"\"\n");
        let toml = format!("name = \"job\"\nrepeats = 2\n{card}{workload}");
        write(&home, "job.toml", &toml);
        assert!(run(&home, &["run", "job.toml"]).status.success());
        // The seed of the offsets: the seed of the job, or of the run.
        let seed = |record: &RunRecord| {
            let job = &record.scenario.phases[0].jobs[0];
            job.seed.unwrap_or(record.scenario.seed)
        };
        let seeds: Vec<u64> = records(&home).iter().map(seed).collect();
        assert_eq!(seeds.len(), 2, "{option}");
        assert_eq!(seeds[0] == seeds[1], same, "{option}: {seeds:?}");
    }
}

#[test]
fn a_broken_rule_of_a_job_is_shown_as_such() {
    for (rule, name) in [
        ("max_latency=1", "max_latency=1us"),
        ("rate_iops_min=1g", "rate_iops_min=1073741824"),
    ] {
        let home = Home::new();
        let model = DeviceModel::plain("card", Bytes(1 << 30));
        write(&home, "card.json", &serde_json::to_string(&model).unwrap());
        let job = format!("[j]\nrw=randread\nsize=64m\ntime_based\nruntime=9\n{rule}\n");
        let workload = format!("[[workload]]\nname = \"job\"\nfio-text = \"\"\"\n{job}\"\"\"\n");
        let card = "[[card]]\nlabel = \"card\"\nsimulate = \"card.json\"\n";
        write(
            &home,
            "rule.toml",
            &format!("name = \"{name}\"\nrepeats = 1\n{card}{workload}"),
        );
        let out = run(&home, &["run", "rule.toml"]);
        let record = records(&home).pop().unwrap();
        let Outcome::Failed { error } = &record.outcome else {
            panic!("{}", text(&out.stderr))
        };
        let shown = hakaru(&home).args(["show", &record.id]).output().unwrap();
        let page = hakaru(&home)
            .args(["report", &record.id, "--output=-", "--format=csv"])
            .output()
            .unwrap();
        let (shown, page) = (text(&shown.stdout), text(&page.stdout));
        let (option, _) = name.split_once('=').unwrap();
        assert_eq!(*error, format!("{option}: read"));
        assert!(
            shown.contains(&format!("Ended early by {name}: read ")),
            "{shown}"
        );
        assert!(
            !format!("{shown}{page}{error}").contains("os error"),
            "{shown}\n{error}"
        );
        let count = page
            .lines()
            .find(|line| line.contains(",errors,"))
            .unwrap_or_else(|| panic!("{page}"));
        assert!(count.contains("read") && count.contains(",1,"), "{count}");
    }
}

#[test]
fn what_is_wrong_in_a_file_is_pointed_at() {
    let home = Home::new();
    write(
        &home,
        "job.fio",
        "[global]\nbs=4k\n[job]\nrw=randwirte\nsize=1m\n",
    );
    let workload = "[[workload]]\nsuite = [\"all\"]\n";
    let cases = [
        format!("name = \"x\"\nrepaets = 3\n{workload}"),
        format!("name = \"x\"\n[[card]]\nlabel = \"a\"\nclasses = [\"C10\", \"V31\"]\n{workload}"),
        format!("name = \"x\"\n[[card]]\nid = \"0x1234\"\n[[card]]\nid = \"0x1234\"\n{workload}"),
        "name = \"x\"\n[[workload]]\nname = \"mine\"\nfio-text = \"\"\"\n[job]\nrw=write\nbz=4k\nsize=1m\n\"\"\"\n"
            .to_owned(),
        "name = \"x\"\n[[workload]]\nfio = \"job.fio\"\n".to_owned(),
        "name = \"x\"\n[[workload]]\nfio = \"none.fio\"\n".to_owned(),
        "name = \"x\n".to_owned(),
    ];
    let printed = cases.iter().map(|content| {
        write(&home, "wrong.toml", content);
        let out = run(&home, &["check", "wrong.toml"]);
        assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
        text(&out.stderr)
    });
    insta::assert_snapshot!(printed.collect::<Vec<_>>().join("\n"));
    let out = run(&home, &["run", "nowhere"]);
    assert!(
        text(&out.stderr).contains("article-a") && out.status.code() == Some(2),
        "{}",
        text(&out.stderr)
    );
    simulated_cards(&home, "");
    let out = run(&home, &["run", "three.toml", "--only=for"]);
    assert!(
        text(&out.stderr).contains(
            "workload `for`: expected one of one, two, slow, raw, seq-write, \
        rand-read"
        ),
        "{}",
        text(&out.stderr)
    );
    assert!(records(&home).is_empty());
}

#[test]
fn ready_ones_are_listed_written_and_checked() {
    let home = Home::new();
    let list = succeeds(&home, &["init", "--list"]);
    let articles = ["a", "b", "c", "d", "e"].map(|letter| format!("article-{letter}"));
    let others = ["quick", "full", "snia-pts-iops", "snia-pts-saturation"].map(str::to_owned);
    for name in articles.iter().chain(&others) {
        assert!(list.contains(name));
        let said = succeeds(&home, &["init", name]);
        let next = format!("hakaru campaign run {name}.toml");
        assert!(said.contains(&next), "{said}");
        let plan = succeeds(&home, &["check", &format!("{name}.toml")]);
        assert!(plan.contains("About ") && plan.contains(name), "{plan}");
    }
    let again = run(&home, &["init", "quick"]);
    let said = text(&again.stderr);
    assert!(
        !again.status.success() && said.contains("--force"),
        "{said}"
    );
    let nobody = run(&home, &["init"]);
    let said = text(&nobody.stderr);
    assert_eq!(nobody.status.code(), Some(2), "{said}");
    assert!(said.contains("--list"), "{said}");
}

/// The latency test of the SNIA specification, shortened, on a simulated card: rounds until each point is steady.
#[test]
fn rounds_of_the_snia_latency_test_reach_steady_state() {
    let home = Home::new();
    succeeds(&home, &["init", "snia-pts-latency"]);
    let file = home.work().join("snia-pts-latency.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let short = text
        .replace("id = \"ask\"", "simulate = \"even.json\"")
        .replace("\"60 s\"", "\"1 s\"")
        .replace("\"16 TiB\"", "\"64 MiB\"")
        .replace("ioengine = \"io_uring\"\n", "")
        .replace(
            "discard = \"where-offered\"\nfill = \"random\"\nfill-passes = 2\n",
            "",
        );
    std::fs::write(&file, short).unwrap();
    let model = r#"{"name": "even", "capacity": 34359738368, "read_rate": 44000000, "read_seek": 300000,
        "write_rate": 30000000, "write_seek": 2000000, "read_overhead": 120000, "write_overhead": 120000, "block_size": 512, "flush": 3000000, "jitter_permille": 20}"#;
    write(&home, "even.json", model);
    succeeds(&home, &["run", "snia-pts-latency.toml"]);
    // Nine points in five rounds of at most 25: an even card is steady at once.
    each_once(&home, 45);
    succeeds(&home, &["run", "snia-pts-latency.toml"]);
    each_once(&home, 45);
    let csv = succeeds(
        &home,
        &["report", "snia-pts-latency.toml", "--format", "csv"],
    );
    let steady = csv.lines().filter(|line| line.contains("steady")).count();
    assert!(steady >= 9, "{csv:.400}");
}

#[test]
fn a_directory_is_measured_with_a_job_file_and_left_as_it_was() {
    let home = Home::new();
    std::fs::create_dir(home.work().join("disk")).unwrap();
    write(
        &home,
        "job.fio",
        "[global]\nbs=4k\nsize=1m\nfilename=/etc/never\n[w]\nrw=randwrite\n[r]\nstonewall\nrw=randread\n",
    );
    let card = "name = \"folder\"\nrepeats = 2\n[[card]]\nlabel = \"here\"\nfolder = \"disk\"\n";
    let workloads = "[[workload]]\nfio = \"job.fio\"\n[[workload]]\nname = \"read\"\nrw = \"read\"\nsize = \"1 MiB\"\n";
    write(&home, "folder.toml", &format!("{card}{workloads}"));
    let out = run(&home, &["run", "folder.toml"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    each_once(&home, 4);
    assert_eq!(
        std::fs::read_dir(home.work().join("disk")).unwrap().count(),
        0
    );
    let report = succeeds(&home, &["report", "folder.toml"]);
    assert!(
        report.contains("job/w") && report.contains("job/r") && report.contains("as-is"),
        "{report}"
    );
    nothing_is_left(&home);
}

/// Whether the kernel of this host supports a file system.
fn kernel_has(fs: &str) -> bool {
    let listed = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let found = listed
        .lines()
        .any(|line| line.split_whitespace().next_back() == Some(fs));
    if !found {
        eprintln!("SKIPPED: the kernel of this host has no {fs}");
    }
    found
}

/// Whether the kernel lists the partitions of a table that is written to a disk.
fn kernel_reads_tables(disk: &Loop) -> bool {
    let sfdisk = Command::new("sfdisk")
        .args(["--quiet", disk.device()])
        .stdin(Stdio::piped())
        .spawn();
    let written = sfdisk.and_then(|mut sfdisk| {
        std::io::Write::write_all(&mut sfdisk.stdin.take().unwrap(), b"start=2048\n")?;
        sfdisk.wait()
    });
    let found = written.is_ok() && Path::new(&format!("{}p1", disk.device())).exists();
    if !found {
        eprintln!(
            "SKIPPED: the kernel of this host reads no partition tables, or there is no sfdisk"
        );
    }
    found
}

/// Creates a campaign for a card in a reader, raw and through the supported file systems. Returns the number of layers
/// and the ID that confirms the card.
fn loop_campaign(home: &Home, disk: &Loop, top: &str) -> (usize, String) {
    let systems = ["ext4", "vfat", "f2fs"].into_iter();
    let systems: Vec<&str> = systems.filter(|fs| kernel_has(fs)).collect();
    let layer = |fs: &&str| format!("[[layer]]\nfs = \"{fs}\"\nmount = \"noatime\"\n");
    let layers: String = systems.iter().map(layer).collect();
    let partition = match systems.contains(&"ext4") && kernel_reads_tables(disk) {
        true => {
            "[[layer]]\nname = \"partition\"\nfs = \"ext4\"\npartition = \"mbr\"\nmkfs = [\"-O\", \"^has_journal\"]\n"
        }
        false => "",
    };
    let workloads = "[[workload]]\nname = \"write\"\nrw = \"write\"\nbs = \"64 KiB\"\nsize = \"4 MiB\"\nfsync-on-close = true\n\
                     [[workload]]\nname = \"randread\"\nrw = \"randread\"\nsize = \"1 MiB\"\n";
    let device = disk.device();
    let card = format!("[[card]]\nlabel = \"loop\"\ndevice = \"{device}\"\n");
    let text = format!(
        "name = \"on a loop\"\n{top}\n{card}[[layer]]\nfs = \"raw\"\n{layers}{partition}{workloads}"
    );
    write(home, "loop.toml", &text);
    let layers = 1 + systems.len() + usize::from(!partition.is_empty());
    (layers, home.image_id())
}

#[test]
fn a_card_is_erased_only_with_permission_and_given_back() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 128 << 20) else {
        return;
    };
    let precious = b"precious";
    let image = home.path().join("disk.img");
    let head = |path: &Path| std::fs::read(path).unwrap()[..8].to_vec();
    let (layers, id) = loop_campaign(
        &home,
        &disk,
        "repeats = 2\n[preparation]\nfill = \"ones\"\n",
    );
    std::os::unix::fs::FileExt::write_at(
        &std::fs::File::options().write(true).open(&image).unwrap(),
        precious,
        0,
    )
    .unwrap();
    let plan = succeeds(&home, &["check", "loop.toml"]);
    assert!(
        plan.contains("WILL BE ERASED") && plan.contains(disk.device()),
        "{plan}"
    );
    let out = run(&home, &["run", "loop.toml"]);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(3), "{said}");
    assert!(
        said.contains(&format!("--erase=ID with one of {id}")),
        "{said}"
    );
    assert_eq!(head(&image), precious);
    let out = run(&home, &["run", "loop.toml", "--erase", &id]);
    let said = text(&out.stderr);
    assert!(out.status.success(), "{said}");
    assert!(
        said.contains("preparing: filling the card") && said.contains("preparing: making ext4"),
        "{said}"
    );
    each_once(&home, layers * 4);
    nothing_is_left(&home);
    let all = records(&home);
    let steps = |layer: &str| {
        let of = all
            .iter()
            .filter_map(|record| record.campaign.as_ref())
            .find(|point| point.layer == layer)
            .unwrap();
        of.prepared
            .iter()
            .map(|step| hakaru_report::text::step(&step.step))
            .collect::<Vec<_>>()
            .join("; ")
    };
    assert!(
        steps("raw").starts_with("filled with 0xff"),
        "{}",
        steps("raw")
    );
    if kernel_has("ext4") {
        assert!(
            steps("ext4").contains("mounted as ext4 with noatime"),
            "{}",
            steps("ext4")
        );
    }
    if all.iter().any(|record| {
        record
            .campaign
            .as_ref()
            .is_some_and(|point| point.layer == "partition")
    }) {
        let partition = steps("partition");
        assert!(
            partition.contains("partition table written") && partition.contains("^has_journal"),
            "{partition}"
        );
    }
    let report = succeeds(&home, &["report", "on-a-loop"]);
    assert!(
        report.contains("raw") && report.contains("loop"),
        "{report}"
    );
}

#[test]
fn questions_make_a_file() {
    let home = Home::new();
    let Some(mut terminal) = Terminal::run(&campaign(&home, &["init"])) else {
        return;
    };
    for (question, answer) in [
        ("Name of the campaign [my cards]: ", "six cards"),
        ("Directory to measure", ""),
        (
            "separated by commas [card 1]: ",
            "kingston, sandisk, kingston",
        ),
        ("kingston is listed twice", "kingston, sandisk"),
        ("Layers to measure", "raw, ntfs"),
        ("`ntfs` is not one of raw, vfat", "raw, vfat"),
        ("Workloads", ""),
        ("[standard]: ", "quick"),
        ("[10]: ", ""),
    ] {
        terminal.expect(question);
        terminal.type_line(answer);
    }
    terminal.expect("Created six-cards.toml");
    let status = terminal.end();
    assert!(status.success());
    let plan = succeeds(&home, &["check", "six-cards.toml"]);
    let wanted = "2 cards, 2 layers, 7 workloads, each point 10 times";
    assert!(plan.contains(wanted), "{plan}");
}

#[test]
fn a_card_is_asked_for_and_its_name_typed() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 64 << 20) else {
        return;
    };
    let workload =
        "[[workload]]\nname = \"write\"\nrw = \"write\"\nbs = \"64 KiB\"\nsize = \"1 MiB\"\n";
    write(
        &home,
        "ask.toml",
        &format!(
            "name = \"ask\"\nrepeats = 2\n[[card]]\nlabel = \"kingston\"\nid = \"ask\"\n[[card]]\nlabel = \"none\"\n{workload}"
        ),
    );
    let name = disk.device().trim_start_matches("/dev/").to_owned();
    let Some(mut terminal) = Terminal::run(&campaign(&home, &["run", "ask.toml"])) else {
        return;
    };
    terminal.expect("Insert kingston (card 1 of 2): device ID not known yet");
    terminal.expect("q = stop: ");
    terminal.type_line("what?");
    terminal.expect("`what?` is not a valid answer.");
    terminal.expect("q = stop: ");
    terminal.type_line(disk.device());
    let question = terminal.expect("to erase it, or press Enter to skip: ");
    assert!(question.contains(&format!("Type {name}")), "{question}");
    terminal.type_line("sda");
    terminal.expect("You typed `sda`, and the name is");
    terminal.expect("or press Enter to skip: ");
    terminal.type_line(&name);
    // The prompt for the next card; the ID of the first one is known now.
    terminal.expect("Insert none (card 2 of 2)");
    let question = terminal.expect("q = stop: ");
    assert!(question.contains("measured as kingston"), "{question}");
    terminal.type_line("s");
    terminal.expect("2 runs measured, 2 in total: incomplete");
    let status = terminal.end();
    assert_eq!(status.code(), Some(1));
    each_once(&home, 2);
    nothing_is_left(&home);
    // The card is recognized by its ID, so the prompt asks only for permission to erase it.
    let out = run(&home, &["run", "ask.toml", "--only=kingston", "--repeat=3"]);
    let said = text(&out.stderr);
    assert!(
        out.status.code() == Some(3) && said.contains("this would erase it"),
        "{said}"
    );
}

#[test]
fn a_card_that_is_discarded_before_each_run_is_judged_as_an_erased_one() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 64 << 20) else {
        return;
    };
    let id = home
        .path()
        .join("disk.img")
        .canonicalize()
        .unwrap()
        .display()
        .to_string();
    let file = |each: &str| {
        let preparation =
            format!("[preparation]\ndiscard = \"where-offered\"\neach = \"{each}\"\n");
        let card = format!(
            "[[card]]\nlabel = \"loop\"\ndevice = \"{}\"\nclasses = [\"C10\"]\n",
            disk.device()
        );
        let workload =
            "[[workload]]\nname = \"write\"\nrw = \"write\"\nbs = \"1 MiB\"\nsize = \"32 MiB\"\n";
        format!("name = \"{each}\"\nrepeats = 2\n{card}{preparation}{workload}")
    };
    let unmet = "no erase is recorded";
    for (each, printed) in [("card", true), ("run", false)] {
        write(&home, &format!("{each}.toml"), &file(each));
        let out = run(&home, &["run", &format!("{each}.toml"), "--erase", &id]);
        let said = text(&out.stderr);
        assert!(out.status.success(), "{said}");
        let stored = records(&home);
        let steps = |record: &RunRecord| {
            record
                .campaign
                .clone()
                .map(|point| (point.campaign, point.prepared))
        };
        let of_this = || {
            stored
                .iter()
                .filter_map(steps)
                .filter(|(campaign, _)| campaign == each)
        };
        if of_this().any(|(_, prepared)| {
            prepared
                .iter()
                .all(|step| !matches!(step.step, StepKind::Discarded { .. }))
        }) {
            eprintln!("SKIPPED: the loop devices of this host take no discard");
            return;
        }
        assert!(said.contains("preparing: discarding the card"), "{said}");
        let page = succeeds(
            &home,
            &["report", &format!("{each}.toml"), "--format", "markdown"],
        );
        assert!(
            page.contains("C10") && page.contains(unmet) == printed,
            "{each}: {page}"
        );
    }
    nothing_is_left(&home);
}

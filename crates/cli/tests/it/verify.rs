//! Tests `hakaru verify` from the command line: genuine and fake storage, free space, and leftovers after a stop.

use crate::support::{self, Home, hakaru, root_loop, root_loop_sparse, text};
use hakaru_model::integrity::{Capacity, Scope, Verification};
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn content(home: &Home) -> Vec<u8> {
    std::fs::read(home.path().join("disk.img")).unwrap()
}

fn erase(home: &Home) -> String {
    format!("--erase={}", home.image_id())
}

fn stored(home: &Home) -> Vec<Verification> {
    hakaru_store::Store::open(home.path().join("hakaru.db"))
        .unwrap()
        .verifications(99)
        .unwrap()
        .records
}

fn verify(home: &Home, args: &[&str]) -> Output {
    hakaru(home).arg("verify").args(args).output().unwrap()
}

#[test]
fn a_good_device_is_verified_stored_and_reported() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 24 << 20) else {
        return;
    };
    let out = verify(&home, &[disk.device(), &erase(&home)]);
    let (said, errors) = (text(&out.stdout), text(&out.stderr));
    assert_eq!(out.status.code(), Some(0), "{errors}");
    assert!(
        said.contains("Good: all 24 MiB came back as written"),
        "{said}"
    );
    assert!(said.contains("Reading"), "{said}");
    let found = &stored(&home)[0];
    assert!(found.completed && found.verdict.is_good());
    assert_eq!(found.scope, Scope::Whole { restored: false });
    let mut lines = said.lines().rev();
    let page = lines.find_map(|line| line.strip_prefix("Report: "));
    assert!(
        std::fs::read_to_string(page.unwrap())
            .unwrap()
            .contains("<svg")
    );
    is_shown_in_every_form(&home, &found.id);
    // The JSON output is the record itself, and the HTML report is written to the requested file.
    let page = home.work().join("page.html");
    let shown = page.display().to_string();
    let erase = erase(&home);
    let args = [
        disk.device(),
        &erase,
        "--json",
        "--quiet",
        "--output",
        &shown,
    ];
    let out = verify(&home, &args);
    let json: Verification = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(&json, &stored(&home)[0]);
    assert_eq!(text(&out.stderr), format!("Report: {shown}\n"));
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("Speed along the device"));
    assert_ne!(json.seed, stored(&home)[1].seed);
    is_imported_once(&home);
}

/// Checks that a stored verification can be shown, listed and reported.
fn is_shown_in_every_form(home: &Home, id: &str) {
    let out = |line: &str| text(&support::execute(home, line).stdout);
    assert!(out(&format!("show {}", &id[..30])).contains("Good: all 24 MiB"));
    let listed = out("list");
    assert!(
        listed.contains(&id[..8]) && listed.contains("good"),
        "{listed}"
    );
    let rows = out(&format!("report {id} --format=csv"));
    assert!(rows.lines().count() > 2, "{rows}");
    assert!(out("report latest --output=-").contains("Speed along the device"));
    let article = out(&format!("report {id} --format=markdown"));
    for text in ["**✓ Good: all 24 MiB", "**Written at**: "] {
        assert!(article.contains(text), "{article}");
    }
}

/// Checks that another database imports each verification once.
fn is_imported_once(home: &Home) {
    let lines = home.work().join("all.jsonl");
    let mut export = hakaru(home);
    let exported = export.args(["export", "--output"]).arg(&lines).output();
    assert!(exported.unwrap().status.success());
    let other = Home::new();
    for result in [
        "2 verifications imported.",
        "0 runs imported, 2 were stored already.",
    ] {
        let out = hakaru(&other).arg("import").arg(&lines).output().unwrap();
        let (shown, errors) = (text(&out.stdout), text(&out.stderr));
        assert!(shown.contains(result), "{shown}{errors}");
    }
    assert_eq!(stored(&other), stored(home));
}

#[test]
fn a_path_that_is_not_there_says_what_to_name() {
    let home = Home::new();
    let out = verify(&home, &["/tmp/no-such-file"]);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(
        said.contains("/tmp/no-such-file does not exist\n  help: name a device"),
        "{said}"
    );
}

#[test]
fn samples_are_put_back_when_that_is_asked_for() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 300 << 20) else {
        return;
    };
    let before = content(&home);
    let out = verify(&home, &[disk.device(), "--quick", "--keep", "--dry-run"]);
    assert!(
        text(&out.stdout).contains("restore the content"),
        "{}",
        text(&out.stdout)
    );
    let out = verify(&home, &[disk.device(), "--quick", "--keep", &erase(&home)]);
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(
        said.contains("according to samples") && said.contains("was restored"),
        "{said}"
    );
    assert!(before == content(&home), "something was not put back");
    assert_eq!(stored(&home)[0].scope, Scope::Samples { restored: true });
    let out = verify(&home, &[disk.device(), "--quick", &erase(&home)]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(before != content(&home));
}

#[test]
fn a_false_capacity_is_found_out() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 32 << 20) else {
        return;
    };
    // The same blocks twice: a card of 32 MiB that claims 64 MiB.
    let name = format!("hakaru-false-{}", std::process::id());
    let half = |at: u32| format!("{at} 65536 linear {} 0\n", disk.device());
    let table = half(0) + &half(65536);
    let made = Command::new("dmsetup")
        .args(["create", &name, "--table", &table])
        .output();
    if !made.as_ref().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED a_false_capacity_is_found_out: no device mapper here ({made:?})");
        return;
    }
    // Without udev, the node does not exist.
    let _ = Command::new("dmsetup").args(["mknodes", &name]).status();
    let node = format!("/dev/mapper/{name}");
    let erase = format!("--erase={name}");
    for quick in [&[][..], &["--quick"]] {
        let out = verify(&home, &[&[node.as_str(), &erase], quick].concat());
        let said = text(&out.stdout);
        assert_eq!(out.status.code(), Some(4), "{}", text(&out.stderr));
        assert!(
            said.contains("False capacity: it claims 64 MiB and holds 32 MiB"),
            "{said}"
        );
        assert_eq!(
            stored(&home)[0].verdict.capacity.real(),
            Some(hakaru_model::units::Bytes(32 << 20))
        );
    }
    // An output error does not change the exit code of the verdict.
    let out = verify(
        &home,
        &[
            &node,
            &erase,
            "--quick",
            "--output=/no/such/folder/page.html",
        ],
    );
    let said = text(&out.stderr);
    assert!(
        out.status.code() == Some(4) && said.contains("/no/such/folder"),
        "{said}"
    );
    let mut command = hakaru(&home);
    command
        .args(["verify", &node, &erase, "--quick"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut unread = command.spawn().unwrap();
    drop(unread.stdout.take());
    assert_eq!(unread.wait().unwrap().code(), Some(4), "nobody read it");
    let _ = Command::new("dmsetup").args(["remove", &name]).status();
}

#[test]
fn a_thin_device_whose_room_is_used_up_is_not_called_false() {
    let home = Home::new();
    // A device of 300 MiB on a memory file system of 100 MiB.
    let thin = home.path().join("thin");
    std::fs::create_dir(&thin).unwrap();
    let tool = |program: &str, args: &[&str]| {
        let out = Command::new(program).args(args).output();
        out.is_ok_and(|out| out.status.success())
    };
    let (at, image) = (thin.to_str().unwrap(), thin.join("disk.img"));
    if !tool("mount", &["-t", "tmpfs", "-o", "size=100m", "none", at]) {
        eprintln!(
            "SKIPPED a_thin_device_whose_room_is_used_up: no memory file system can be mounted here"
        );
        return;
    }
    std::fs::File::create(&image)
        .unwrap()
        .set_len(300 << 20)
        .unwrap();
    let out = Command::new("losetup")
        .args(["--find", "--show"])
        .arg(&image)
        .output()
        .unwrap();
    let node = text(&out.stdout).trim().to_owned();
    if out.status.success() {
        let erase = format!("--erase={}", image.canonicalize().unwrap().display());
        for quick in [&[][..], &["--quick"]] {
            let out = verify(&home, &[&[node.as_str(), &erase], quick].concat());
            // Older kernels hide the cause of the failed write; it then looks like memory that ends.
            let said = text(&out.stdout) + &text(&out.stderr);
            assert!(matches!(out.status.code(), Some(1 | 4)), "{said}");
            assert!(
                said.contains("no space left") || said.contains("False capacity"),
                "{said}"
            );
        }
        assert!(tool("losetup", &["--detach", &node]));
    }
    assert!(tool("umount", &[at]));
}

#[test]
fn free_space_is_verified_and_given_back() {
    let home = Home::new();
    let work = home.work();
    let out = verify(&home, &[work.to_str().unwrap(), "--size=24MiB"]);
    let (said, errors) = (text(&out.stdout), text(&out.stderr));
    assert_eq!(out.status.code(), Some(0), "{errors}");
    assert!(
        said.contains("all 24 MiB of free space") && said.contains("Only free space"),
        "{said}"
    );
    assert_eq!(home.left_behind(), 0);
    let found = &stored(&home)[0];
    assert_eq!(
        found.scope,
        Scope::FreeSpace {
            folder: work.clone()
        }
    );
    assert_eq!(found.verdict.capacity, Capacity::AsClaimed);
    // The HTML report replaces the summary on standard output; if the report cannot be written, the summary is still
    // printed.
    let at = work.to_str().unwrap();
    let out = verify(&home, &[at, "--size=1MiB", "--output=-"]);
    assert!(
        text(&out.stdout).starts_with("<!DOCTYPE html>"),
        "{}",
        text(&out.stdout)
    );
    let out = verify(
        &home,
        &[at, "--size=1MiB", "--output=/no/such/folder/page.html"],
    );
    let said = text(&out.stdout);
    assert!(
        out.status.code() == Some(1) && said.contains("free space"),
        "{said}"
    );
    assert_eq!(stored(&home).len(), 3);
    let out = verify(&home, &[at, "--json", "--output=-"]);
    assert!(
        out.status.code() == Some(2) && text(&out.stderr).contains("both write to standard output")
    );
    let out = verify(
        &home,
        &[work.to_str().unwrap(), "--size=24MiB", "--dry-run"],
    );
    assert!(
        text(&out.stdout).contains("Would fill 24 MiB of"),
        "{}",
        text(&out.stdout)
    );
}

/// Regression: the newest verifications were selected first, and only then filtered by target.
#[test]
fn verifications_of_one_target_are_listed_whatever_came_after_them() {
    let home = Home::new();
    let (early, late) = (home.work().join("early"), home.work().join("late"));
    for folder in [&early, &late, &late] {
        std::fs::create_dir_all(folder).unwrap();
        let out = verify(&home, &[folder.to_str().unwrap(), "--size=1MiB", "--quiet"]);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    }
    let listed = |target: &str| {
        let out = hakaru(&home)
            .args(["list", "--target", target, "-n", "1"])
            .output()
            .unwrap();
        text(&out.stdout)
            .lines()
            .filter(|line| line.contains("free space at"))
            .count()
    };
    assert_eq!((listed("early"), listed("late")), (1, 1));
}

#[test]
fn what_cannot_be_verified_is_said_with_its_cure() {
    let home = Home::new();
    let (file, missing) = (home.work().join("file"), home.work().join("missing"));
    std::fs::write(&file, "precious").unwrap();
    let work = home.work();
    let cases: [(&Path, &[&str], &str); 5] = [
        (&file, &[], "name its directory"),
        (&missing, &[], "missing"),
        (&work, &["--quick"], "apply only to devices"),
        (&work, &["--keep"], "--quick"),
        (&work, &["--size=4k"], "4kB"),
    ];
    for (path, args, word) in cases {
        let out = verify(&home, &[&[path.to_str().unwrap()], args].concat());
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{path:?} {args:?}: {said}");
        assert!(
            said.contains(word) && !said.contains("panicked"),
            "{path:?} {args:?} should say `{word}`: {said}"
        );
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    // Even root cannot write here.
    let out = verify(&home, &["/proc/self"]);
    let said = text(&out.stderr);
    assert!(
        out.status.code() == Some(1) && said.contains("/proc/self"),
        "{said}"
    );
}

#[test]
fn a_full_or_read_only_file_system_says_so() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 40 << 20) else {
        return;
    };
    let mount = disk.mkfs_and_mount("ext4");
    let at = mount.to_str().unwrap();
    let out = verify(&home, &[at]);
    let said = text(&out.stderr);
    assert!(
        out.status.code() == Some(1) && said.contains("remove some files"),
        "{said}"
    );
    let remounted = Command::new("mount")
        .args(["-o", "remount,ro", at])
        .status();
    assert!(remounted.is_ok_and(|status| status.success()));
    let out = verify(&home, &[at, "--size=1MiB"]);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(stored(&home).is_empty());
}

#[test]
fn ended_early_it_keeps_what_was_found_and_leaves_nothing() {
    use rustix::process::Signal;
    let home = Home::new();
    let work = home.work();
    for signal in [Signal::INT, Signal::KILL] {
        let mut command = hakaru(&home);
        command
            .args(["verify", "--size=4GiB"])
            .arg(&work)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        // Wait until a part is written, however busy the host is.
        let written = |entry: std::io::Result<std::fs::DirEntry>| {
            let path = entry.unwrap().path();
            let nameless = std::fs::read_link(&path)
                .is_ok_and(|name| name.to_string_lossy().contains("(deleted)"));
            nameless
                && path.metadata().is_ok_and(|file| {
                    std::os::unix::fs::MetadataExt::blocks(&file) * 512 >= 64 << 20
                })
        };
        let files = || std::fs::read_dir(format!("/proc/{}/fd", child.id()));
        support::wait_until(|| files().is_ok_and(|mut files| files.any(written)));
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        let out = child.wait_with_output().unwrap();
        assert_eq!(home.left_behind(), 0, "{signal:?}");
        if signal == Signal::INT {
            let said = text(&out.stdout);
            assert_eq!(out.status.code(), Some(130), "{}", text(&out.stderr));
            assert!(said.contains("Ended"), "{said}");
            assert!(
                !stored(&home)[0].completed
                    && !stored(&home)[0].verdict.write_speed.points.is_empty()
            );
        }
        let recovered = hakaru(&home).arg("recover").output().unwrap();
        assert!(text(&recovered.stdout).contains("Nothing to recover"));
    }
    assert_eq!(stored(&home).len(), 1);
}

#[test]
fn a_device_that_is_ended_early_keeps_what_was_found() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 2 << 30) else {
        return;
    };
    let mut command = hakaru(&home);
    command
        .args(["verify", disk.device(), &erase(&home)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let state = home.path().join(".local/state/hakaru");
    // From its first line on, the journal is undone by an interrupt.
    support::wait_until(|| !hakaru_device::prepare::pending(&state).is_empty());
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::INT,
    )
    .unwrap();
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(130), "{}", text(&out.stderr));
    assert!(text(&out.stdout).contains("Ended"), "{}", text(&out.stdout));
    assert!(!stored(&home)[0].completed);
    assert!(hakaru_device::prepare::pending(&state).is_empty());
}

//! Tests of destructive commands on loop devices: the guard refuses devices in use, the prompt requires the right name,
//! and preparations are undone. They need root; a check that is not possible on this host reports that it was skipped.

use crate::support::{self, Home, Loop, hakaru, root_loop, root_loop_sparse, text};
use hakaru_device::prepare;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs a tool; prints a note and returns `None` if it is missing or fails.
fn tool(program: &str, args: &[&str]) -> Option<String> {
    match Command::new(program).args(args).output() {
        Ok(output) if output.status.success() => Some(text(&output.stdout).trim().to_owned()),
        output => {
            eprintln!("SKIPPED a check: {program} {args:?} does not work here ({output:?})");
            None
        }
    }
}

/// Runs an undo command at the end of a check, also after a panic.
struct Undo(&'static str, Vec<String>);

impl Drop for Undo {
    fn drop(&mut self) {
        let _ = Command::new(self.0).args(&self.1).output();
    }
}

fn content(home: &Home) -> Vec<u8> {
    std::fs::read(home.path().join("disk.img")).unwrap()
}

/// Returns the ID with which a script confirms a loop device.
fn id(home: &Home) -> String {
    home.path()
        .join("disk.img")
        .canonicalize()
        .unwrap()
        .display()
        .to_string()
}

/// Checks that every destructive command is refused with reason and advice, and changes no byte.
fn check_refused(home: &Home, node: &str, id: &str, reason: &str, cure: &str) {
    let before = content(home);
    let erase = format!("--erase={id}");
    let image = home.path().join("small.img").display().to_string();
    std::fs::write(&image, [1; 4096]).unwrap();
    let commands: [&[&str]; 6] = [
        &["verify", node, &erase],
        &["verify", node, &erase, "--dry-run"],
        &["prepare", node, &erase, "--fill=zero"],
        &["prepare", node, &erase, "--image", &image],
        &["bench", node, &erase, "--quick", "--size=16MiB"],
        // Regression: it announced what would be lost, and the run was then refused.
        &[
            "bench",
            node,
            &erase,
            "--quick",
            "--size=16MiB",
            "--dry-run",
        ],
    ];
    for command in commands {
        let out = hakaru(home).args(command).output().unwrap();
        let (code, said) = (out.status.code(), text(&out.stderr));
        assert_eq!(code, Some(3), "{command:?} for {reason}: {said}");
        assert!(
            said.contains(reason) && said.contains(cure),
            "{command:?} should say `{reason}`, `{cure}`: {said}"
        );
    }
    assert!(before == content(home), "{reason}: the device was changed");
}

#[test]
fn a_mounted_device_is_refused() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 16 << 20) else {
        return;
    };
    let at = home.path().join("mnt");
    std::fs::create_dir(&at).unwrap();
    let at = at.to_str().unwrap().to_owned();
    let made = tool("mkfs.ext4", &["-q", disk.device()]);
    // Mounted read-only, so that only the program under test could change anything.
    if made
        .and_then(|_| tool("mount", &["-o", "ro", disk.device(), &at]))
        .is_none()
    {
        return;
    }
    let _undo = Undo("umount", vec![at.clone()]);
    check_refused(
        &home,
        disk.device(),
        &id(&home),
        &format!("is mounted at {at}"),
        "umount",
    );
}

#[test]
fn a_disk_with_a_mounted_partition_is_refused() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 32 << 20) else {
        return;
    };
    let at = home.path().join("mnt");
    std::fs::create_dir(&at).unwrap();
    let at = at.to_str().unwrap().to_owned();
    let script = format!("echo 'start=8192, type=83' | sfdisk -q {}", disk.device());
    if tool("sh", &["-c", &script]).is_none() {
        return;
    }
    // Minimal kernels read no partition tables; `partx` adds the partitions.
    let _ = Command::new("partx")
        .args(["--add", disk.device()])
        .output();
    let part = format!("{}p1", disk.device());
    if !Path::new(&part).exists() {
        eprintln!(
            "SKIPPED a_disk_with_a_mounted_partition: this kernel shows no partitions of loop devices"
        );
        return;
    }
    let _parts = Undo(
        "partx",
        vec!["--delete".to_owned(), disk.device().to_owned()],
    );
    // A partition is reported as such, with its own size, and cannot be partitioned again.
    let out = hakaru(&home)
        .args(["verify", &part, "--dry-run"])
        .output()
        .unwrap();
    assert!(
        text(&out.stdout).contains("partition 1 of") && text(&out.stdout).contains("28 MiB"),
        "{out:?}"
    );
    let out = hakaru(&home)
        .args(["prepare", &part, "--dry-run", "--partition"])
        .output()
        .unwrap();
    assert!(
        out.status.code() == Some(2) && text(&out.stderr).contains("is a partition"),
        "{out:?}"
    );
    if tool("mkfs.ext4", &["-q", &part])
        .and_then(|_| tool("mount", &["-o", "ro", &part, &at]))
        .is_none()
    {
        return;
    }
    let _undo = Undo("umount", vec![at.clone()]);
    check_refused(
        &home,
        disk.device(),
        &id(&home),
        &format!("is mounted at {at}"),
        "umount",
    );
    check_refused(
        &home,
        &part,
        &id(&home),
        &format!("is mounted at {at}"),
        "umount",
    );
}

#[test]
fn swap_is_refused() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 16 << 20) else {
        return;
    };
    if tool("mkswap", &[disk.device()])
        .and_then(|_| tool("swapon", &[disk.device()]))
        .is_none()
    {
        return;
    }
    let _undo = Undo("swapoff", vec![disk.device().to_owned()]);
    check_refused(
        &home,
        disk.device(),
        &id(&home),
        "in use as swap",
        "swapoff",
    );
}

#[test]
fn what_another_device_is_made_of_is_refused() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 16 << 20) else {
        return;
    };
    if let Some(above) = tool("losetup", &["--find", "--show", disk.device()]) {
        let _undo = Undo("losetup", vec!["--detach".to_owned(), above.clone()]);
        check_refused(
            &home,
            disk.device(),
            &id(&home),
            "is in use by",
            &format!("losetup -d {above}"),
        );
    }
    let name = format!("hakaru-test-{}", std::process::id());
    let table = format!("0 32768 linear {} 0", disk.device());
    if tool("dmsetup", &["create", &name, "--table", &table]).is_some() {
        let _undo = Undo("dmsetup", vec!["remove".to_owned(), name.clone()]);
        check_refused(
            &home,
            disk.device(),
            &id(&home),
            "is in use by",
            &format!("dmsetup remove {name}"),
        );
    }
}

#[test]
fn the_systems_own_disk_is_refused() {
    let home = Home::new();
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let root = mounts
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(_, rest)| rest.starts_with("/ "));
    let Some((disk, _)) =
        root.filter(|(disk, _)| disk.starts_with("/dev/") && Path::new(disk).exists())
    else {
        eprintln!(
            "SKIPPED the_systems_own_disk_is_refused: the root file system is on no device that can be seen"
        );
        return;
    };
    // Always with --dry-run: if the guard fails, the test must not destroy data.
    for command in [&["verify"][..], &["prepare", "--fill=zero"]] {
        let out = hakaru(&home)
            .args(command)
            .args([disk, "--dry-run", "--erase=whatever"])
            .output()
            .unwrap();
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(3), "{said}");
        assert!(
            said.contains("the system runs from") && said.contains("name another disk"),
            "{said}"
        );
    }
}

#[test]
fn a_wrong_or_missing_id_is_refused() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 16 << 20) else {
        return;
    };
    let before = content(&home);
    let (wrong, check) = ("is not the ID of", "check that this is the right device");
    let placeholder = "is a placeholder serial number";
    let missing = "this would erase all data";
    for (erase, reason, cure) in [
        (Some("--erase=0x12345678"), wrong, check),
        (Some("--erase=0000"), placeholder, "CID"),
        (Some("--erase"), missing, "--erase=/"),
        (None, missing, "--erase=/"),
    ] {
        for words in [&["verify"][..], &["prepare", "--fill=zero", "--quiet"]] {
            let mut command = hakaru(&home);
            command.args(words).arg(disk.device()).args(erase);
            let out = command.stdin(Stdio::null()).output().unwrap();
            let said = text(&out.stderr);
            assert_eq!(out.status.code(), Some(3), "{said}");
            assert!(
                said.contains(reason) && said.contains(cure),
                "{erase:?} should say `{reason}`, `{cure}`: {said}"
            );
        }
    }
    assert!(before == content(&home));
}

/// Runs a command in a new terminal, types a line at the prompt, and returns the exit code and all output. `None`
/// without `script` from util-linux.
fn on_terminal(home: &Home, command: &str, typed: &str) -> Option<(Option<i32>, String)> {
    let program = hakaru(home);
    let line = format!("{} {command}", program.get_program().to_str()?);
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--flush", "--command", &line]);
    script.arg("/dev/null").env_remove("XDG_STATE_HOME");
    let envs = program.get_envs();
    script.envs(envs.filter_map(|(name, value)| Some((name, value?))));
    script.stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = script.stderr(Stdio::null()).spawn() else {
        eprintln!("SKIPPED a check on a terminal: script (bsdutils) is not installed");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (mut shown, mut asked) = (String::new(), false);
    let mut buffer = [0; 4096];
    loop {
        match stdout.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(len) => shown += &text(&buffer[..len]),
        }
        if !asked && shown.contains("to erase it: ") {
            asked = true;
            stdin.write_all(format!("{typed}\n").as_bytes()).unwrap();
        }
    }
    let status = child.wait().unwrap();
    Some((status.code(), shown))
}

#[test]
fn only_the_right_name_goes_on() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 16 << 20) else {
        return;
    };
    let before = content(&home);
    let name = disk.device().trim_start_matches("/dev/").to_owned();
    let verify = format!("verify {}", disk.device());
    let question = format!("Type {name} or its ID");
    for wrong in ["", "y", "yes", "/dev/sda", &format!("{name}x")] {
        let Some((code, shown)) = on_terminal(&home, &verify, wrong) else {
            return;
        };
        assert_eq!(code, Some(3), "{shown}");
        assert!(
            shown.contains("you typed") && shown.contains(&question),
            "{shown}"
        );
        assert!(before == content(&home), "`{wrong}` went on");
    }
    let prepare = format!("prepare {} --fill=ones", disk.device());
    let Some((code, shown)) = on_terminal(&home, &prepare, "no") else {
        return;
    };
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("fill the whole device with 0xff"), "{shown}");
    assert!(before == content(&home));
    let Some((code, shown)) = on_terminal(&home, &prepare, &name) else {
        return;
    };
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("is ready"), "{shown}");
    assert!(content(&home).iter().all(|byte| *byte == 0xff));
}

#[test]
fn a_device_that_may_be_erased_is_measured_in_full() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 64 << 20) else {
        return;
    };
    let args = "bench --quick --repeat=1 --only=seq-write,rand-read --size=32MiB";
    let mut command = hakaru(&home);
    command.args(args.split(' ')).arg(disk.device());
    let out = command
        .arg(format!("--erase={}", id(&home)))
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", text(&out.stderr));
    let record = &support::records(&home)[0];
    let mut phases = record.phases.iter();
    assert!(phases.any(|phase| phase.workers[0].ops.write.ios > 0));
    assert!(content(&home)[..32 << 20].iter().any(|byte| *byte != 0xa5));
    // Content beyond the requested size is unchanged.
    assert!(content(&home)[32 << 20..].iter().all(|byte| *byte == 0xa5));
}

fn prepare_command(home: &Home, disk: &Loop, args: &[&str]) -> Output {
    let erase = format!("--erase={}", id(home));
    hakaru(home)
        .args(["prepare", disk.device(), &erase])
        .args(args)
        .output()
        .unwrap()
}

#[test]
fn an_image_that_fits_is_written_and_verified() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 16 << 20) else {
        return;
    };
    let image = |name: &str, mebibytes: usize| {
        let path = home.path().join(name);
        std::fs::write(&path, vec![0x3c; mebibytes << 20]).unwrap();
        format!("--image={}", path.display())
    };
    let before = content(&home);
    let out = prepare_command(&home, &disk, &[&image("large.img", 17)]);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(
        said.contains("the image has 17 MiB, the device only 16 MiB"),
        "{said}"
    );
    let small = image("small.img", 9);
    let out = prepare_command(&home, &disk, &[&small, "--dry-run"]);
    let said = text(&out.stdout);
    assert!(
        said.contains("small.img (9 MiB) and read it back"),
        "{said}"
    );
    assert!(before == content(&home));
    let out = prepare_command(&home, &disk, &[&small, "--mkfs=ext4"]);
    assert_eq!(out.status.code(), Some(2), "{out:?}");
    let out = prepare_command(&home, &disk, &[&small]);
    let said = text(&out.stdout);
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(
        said.contains("small.img (9 MiB) written and verified at "),
        "{said}"
    );
    assert!(content(&home)[..9 << 20].iter().all(|byte| *byte == 0x3c));
}

fn state(home: &Home) -> PathBuf {
    home.path().join(".local/state/hakaru")
}

fn recover(home: &Home) -> (Option<i32>, String) {
    let out = hakaru(home).arg("recover").output().unwrap();
    (out.status.code(), text(&out.stdout) + &text(&out.stderr))
}

/// Regression: if the database could not be opened, mounts and files were not undone.
#[test]
fn what_was_prepared_is_taken_back_whatever_became_of_the_database() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 32 << 20) else {
        return;
    };
    let at = home.path().join("card");
    let out = prepare_command(
        &home,
        &disk,
        &["--mkfs=ext4", &format!("--mount={}", at.display())],
    );
    assert!(
        out.status.success() && is_mounted(&at),
        "{}",
        text(&out.stderr)
    );
    let spools = home.path().join("hakaru.db.spool");
    std::fs::create_dir(&spools).unwrap();
    std::fs::write(spools.join("left.jsonl"), "{}\n").unwrap();
    let no_database = "this is no database, and long enough to look unlike one".repeat(40);
    std::fs::write(home.path().join("hakaru.db"), no_database).unwrap();
    let (code, said) = recover(&home);
    assert!(code == Some(1) && said.contains("hakaru.db"), "{said}");
    assert!(
        !is_mounted(&at) && prepare::pending(&state(&home)).is_empty(),
        "{said}"
    );
}

fn is_mounted(at: &Path) -> bool {
    std::fs::read_to_string("/proc/self/mounts")
        .unwrap()
        .contains(&format!(" {} ", at.display()))
}

#[test]
fn a_device_is_prepared_and_taken_back() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 32 << 20) else {
        return;
    };
    let at = home.path().join("card");
    let mount = format!("--mount={}", at.display());
    let steps = [
        "--discard",
        "--fill=random",
        "--mkfs=ext4",
        "--mkfs-options=-b 1024",
        "--label=bench",
        &mount,
    ];
    let more = ["--mount-options=noatime", "--level=60", "--drop-caches"];
    let out = prepare_command(&home, &disk, &[&steps[..], &more].concat());
    let (said, errors) = (text(&out.stdout), text(&out.stderr));
    assert!(out.status.success(), "{said}{errors}");
    for word in [
        "discarded",
        "filled with random data at",
        "mkfs.ext4",
        "mounted as ext4",
        "of the file system filled with random data",
        "page cache dropped",
        "hakaru recover",
    ] {
        assert!(said.contains(word), "`{word}` should be said: {said}");
    }
    assert!(is_mounted(&at) && at.join(".hakaru-fill/0000").exists());
    let listed = hakaru(&home).args(["recover", "--list"]).output().unwrap();
    assert!(text(&listed.stdout).contains("mount at") && is_mounted(&at));
    let (code, said) = recover(&home);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("removed") && !is_mounted(&at) && !at.exists(),
        "{said}"
    );
    assert!(prepare::pending(&state(&home)).is_empty());
    assert!(recover(&home).1.contains("Nothing to recover"));
    // Without a mount there is nothing to undo.
    let out = prepare_command(&home, &disk, &["--fill=zero", "--json"]);
    let done: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(
        (&done["steps"][0]["step"], &done["journal"]),
        (&"fill".into(), &serde_json::Value::Null)
    );
    assert!(done["fill_speed"]["points"][0]["elapsed"].as_u64() > Some(0));
    assert!(prepare::pending(&state(&home)).is_empty());
}

#[test]
fn a_dry_run_prints_plan_and_losses_and_does_nothing() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 32 << 20) else {
        return;
    };
    if tool("mkfs.ext4", &["-q", "-L", "thesis", disk.device()]).is_none() {
        return;
    }
    let before = content(&home);
    let args = "--dry-run --fill=zero --partition=gpt --mkfs=vfat --drop-caches";
    let args: Vec<&str> = args.split(' ').collect();
    let out = prepare_command(&home, &disk, &args);
    let said = text(&out.stdout);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let part = format!("mkfs.vfat -I {}p1", disk.device());
    for word in [
        "fill the whole device with 0x00",
        "label: gpt",
        &part,
        "ext4 `thesis`",
        "Nothing was done",
    ] {
        assert!(said.contains(word), "`{word}` should be said: {said}");
    }
    assert!(before == content(&home));
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is_lost() {
    let home = Home::new();
    let Some(disk) = root_loop(&home, 16 << 20) else {
        return;
    };
    let before = content(&home);
    std::fs::write(home.work().join("thesis.odt"), "years of work").unwrap();
    let (full, nowhere) = (
        format!("--mount={}", home.work().display()),
        format!("--mount={}/a/b", home.work().display()),
    );
    let cases: [(&[&str], &str); 8] = [
        (&[], "no step given"),
        (&["--fill=zero", "--mkfs=ext4", &full], "not empty"),
        (&["--fill=zero", "--mkfs=ext4", &nowhere], "create it first"),
        (
            &[
                "--fill=zero",
                "--mkfs=ext4",
                "--mkfs-options=-J device=/dev/sda",
            ],
            "contains a path",
        ),
        (&["--fill=zero", "--mount=/mnt"], "--mkfs"),
        (&["--fill=twos"], "twos"),
        (&["--mkfs=ntfs"], "ntfs"),
        (&["--mkfs=ext4", "--level=100", "--mount=/mnt"], "100"),
    ];
    for (args, word) in cases {
        let out = prepare_command(&home, &disk, args);
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{args:?}: {said}");
        assert!(
            said.contains(word) && !said.contains("panicked"),
            "{args:?} should say `{word}`: {said}"
        );
    }
    // The first step fails, so nothing is lost here either.
    let out = prepare_command(&home, &disk, &["--discard=secure", "--fill=zero"]);
    let said = text(&out.stderr);
    assert!(
        out.status.code() == Some(1) && said.contains("does not support secure discard"),
        "{said}"
    );
    assert!(!said.contains("is lost"), "{said}");
    assert!(before == content(&home));
}

/// Starts a command and sends it a signal as soon as its journal records the start of a step with this name.
fn end_in_the_middle(
    home: &Home,
    args: &[&str],
    step: &str,
    signal: rustix::process::Signal,
) -> Output {
    let child = hakaru(home)
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = format!("\"step\":\"{step}\"");
    support::wait_until(|| {
        let journals = prepare::pending(&state(home));
        journals
            .iter()
            .any(|path| std::fs::read_to_string(path).is_ok_and(|text| text.contains(&begun)))
    });
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn what_was_killed_is_named_or_taken_back() {
    use rustix::process::Signal;
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 768 << 20) else {
        return;
    };
    let erase = format!("--erase={}", id(&home));
    let at = home.path().join("card");
    let mount = format!("--mount={}", at.display());
    for (args, step, left) in [
        (
            vec!["verify", disk.device(), &erase],
            "verify",
            "verification overwrote part of",
        ),
        (
            vec!["prepare", disk.device(), &erase, "--fill=random"],
            "fill",
            "was partly overwritten",
        ),
    ] {
        end_in_the_middle(&home, &args, step, Signal::KILL);
        let (code, said) = recover(&home);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(left), "{step} should leave `{left}`: {said}");
        assert!(recover(&home).1.contains("Nothing to recover"));
    }
    let args = [
        "prepare",
        disk.device(),
        &erase,
        "--mkfs=ext4",
        &mount,
        "--level=90",
    ];
    for (signal, code) in [(Signal::KILL, None), (Signal::INT, Some(130))] {
        let out = end_in_the_middle(&home, &args, "fill_level", signal);
        assert_eq!(out.status.code(), code, "{}", text(&out.stderr));
        if signal == Signal::KILL {
            assert!(is_mounted(&at));
            let (code, said) = recover(&home);
            assert_eq!(code, Some(0), "{said}");
        }
        assert!(!is_mounted(&at) && !at.exists());
        assert!(prepare::pending(&state(&home)).is_empty());
    }
}

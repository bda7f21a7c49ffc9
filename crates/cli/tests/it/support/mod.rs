//! A separate home for each test, and temporary storage devices.

#![allow(dead_code)] // Each test binary uses a part.

pub(crate) mod pty;
pub(crate) mod two_cards;

use assert_cmd::cargo::CommandCargoExt;
use hakaru_model::record::RunRecord;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Directories for the database and for test files.
pub(crate) struct Home(tempfile::TempDir);

impl Home {
    pub(crate) fn new() -> Home {
        let home = Home(tempfile::tempdir().unwrap());
        std::fs::create_dir(home.work()).unwrap();
        home
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the ID that confirms the loop device on the image of the home.
    pub(crate) fn image_id(&self) -> String {
        let image = self.path().join("disk.img").canonicalize();
        image.unwrap().display().to_string()
    }

    /// Returns the number of files in the work directory.
    pub(crate) fn left_behind(&self) -> usize {
        std::fs::read_dir(self.work()).unwrap().count()
    }
}

/// Returns a command that runs hakaru with the database of the home.
pub(crate) fn hakaru(home: &Home) -> Command {
    let mut command = Command::cargo_bin("hakaru").unwrap();
    command
        .env("HAKARU_DB", home.path().join("hakaru.db"))
        .env("HOME", home.path())
        .env("NO_COLOR", "1")
        .env("HAKARU_LANG", "en");
    command
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_DATA_HOME");
    command
}

/// Runs hakaru in the working directory of the home; spaces separate the arguments.
pub(crate) fn execute(home: &Home, line: &str) -> Output {
    let words = line.split_whitespace();
    hakaru(home)
        .current_dir(home.work())
        .args(words)
        .output()
        .unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns all stored records, newest first.
pub(crate) fn records(home: &Home) -> Vec<RunRecord> {
    let store = hakaru_store::Store::open(home.path().join("hakaru.db")).unwrap();
    let rows = store.runs(&hakaru_store::Filter::default()).unwrap();
    rows.iter().map(|row| store.run(&row.id).unwrap()).collect()
}

pub(crate) fn wait_until(mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "what was waited for did not come"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the targets of the file descriptors of a process.
pub(crate) fn descriptors_of(pid: u32) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
        return Vec::new();
    };
    let names = entries.filter_map(|e| std::fs::read_link(e.ok()?.path()).ok());
    names.map(|name| name.display().to_string()).collect()
}

/// What tracing could leave behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TracingState {
    /// Mounts of tracefs.
    mounts: Vec<String>,
    /// The files of tracefs outside of its instances that have a value: which events are enabled, which tracer runs,
    /// which probes there are.
    global: Vec<String>,
}

/// Runs a shell script in the root of tracefs, which is mounted for it alone. `None` without root or tracefs.
pub(crate) fn in_tracefs(script: &str) -> Option<String> {
    let mount = "mount -t tracefs tracefs /sys/kernel/tracing && cd /sys/kernel/tracing";
    run(
        "unshare",
        &["-m", "sh", "-c", &format!("{mount} && {{ {script}; }}")],
    )
}

impl TracingState {
    /// Reads the state; `None` without root or tracefs.
    pub(crate) fn read() -> Option<TracingState> {
        let files = "tracing_on current_tracer kprobe_events uprobe_events events/*/*/enable";
        let global = in_tracefs(&format!("grep -s '' {files} || :"))?;
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let mounts = mounts.lines().filter(|line| line.contains("tracefs"));
        let is_set = |line: &&str| !line.ends_with("/enable:0");
        Some(TracingState {
            mounts: mounts.map(str::to_owned).collect(),
            global: global.lines().filter(is_set).map(str::to_owned).collect(),
        })
    }

    /// Whether an event is enabled.
    pub(crate) fn enables(&self, event: &str) -> bool {
        let line = format!("events/{event}/enable:1");
        self.global.contains(&line)
    }

    /// Checks that a process that has ended left nothing, and that all else is as before.
    pub(crate) fn check_left_by(&self, pid: u32) {
        assert_eq!(TracingState::read().as_ref(), Some(self));
        let ours = format!("hakaru-{pid}-");
        // Another process removes the instance of a killed one.
        wait_until(|| !in_tracefs("ls instances").unwrap().contains(&ours));
        assert!(descriptors_of(pid).is_empty());
    }
}

fn run(program: &str, args: &[&str]) -> Option<String> {
    let out = Command::new(program).args(args).output().ok()?;
    out.status
        .success()
        .then(|| text(&out.stdout).trim().to_owned())
}

/// A loop device on a temporary file; detached when dropped.
pub(crate) struct Loop {
    device: String,
    image: PathBuf,
    mount: std::cell::RefCell<Option<PathBuf>>,
    detached: std::cell::Cell<bool>,
    /// Unmounted after the device is detached.
    _memory: Option<Ramfs>,
}

/// Creates a loop device full of data. Needs root; otherwise prints why the test is skipped.
pub(crate) fn root_loop(home: &Home, size: u64) -> Option<Loop> {
    let image = home.path().join("disk.img");
    std::fs::write(&image, vec![0xa5u8; size as usize]).unwrap();
    attach(image)
}

/// Like [`root_loop`], for a large device on a sparse file.
pub(crate) fn root_loop_sparse(home: &Home, size: u64) -> Option<Loop> {
    let image = home.path().join("disk.img");
    std::fs::File::create(&image)
        .unwrap()
        .set_len(size)
        .unwrap();
    attach(image)
}

fn attach(image: PathBuf) -> Option<Loop> {
    let device = run("losetup", &["-f", "-P", "--show", image.to_str()?]);
    if device.is_none() {
        eprintln!("SKIPPED: loop devices cannot be made here (not root, or no losetup)");
    }
    Some(Loop {
        device: device?,
        image,
        mount: std::cell::RefCell::default(),
        detached: std::cell::Cell::default(),
        _memory: None,
    })
}

/// Like [`root_loop_sparse`], on a file in memory: a device that counts as fast.
pub(crate) fn root_loop_in_memory(home: &Home, size: u64) -> Option<Loop> {
    let memory = ramfs(home)?;
    let image = memory.path().join("disk.img");
    std::fs::File::create(&image)
        .and_then(|file| file.set_len(size))
        .unwrap();
    let mut disk = attach(image)?;
    disk._memory = Some(memory);
    Some(disk)
}

impl Loop {
    /// Returns what decides which events are recorded: whether it rotates, and its scheduler.
    pub(crate) fn queue(&self) -> String {
        let name = Path::new(&self.device).file_name().unwrap();
        let queue = Path::new("/sys/block").join(name).join("queue");
        let read = |file: &str| std::fs::read_to_string(queue.join(file)).unwrap_or_default();
        let scheduler = read("scheduler");
        let chosen = scheduler
            .split(['[', ']'])
            .nth(1)
            .unwrap_or(scheduler.trim());
        format!(
            "rotational {}, scheduler {chosen}",
            read("rotational").trim()
        )
    }

    pub(crate) fn device(&self) -> &str {
        &self.device
    }

    pub(crate) fn mkfs_and_mount(&self, fs: &str) -> PathBuf {
        let mount = self.image.with_extension("mnt");
        std::fs::create_dir(&mount).unwrap();
        run(&format!("mkfs.{fs}"), &["-q", &self.device]).expect("mkfs works on a loop device");
        run("mount", &[&self.device, mount.to_str().unwrap()])
            .expect("mount works on a loop device");
        *self.mount.borrow_mut() = Some(mount.clone());
        mount
    }

    /// Removes the second half of the medium below the device.
    pub(crate) fn cut_in_half(&self) {
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(&self.image)
            .unwrap();
        file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    }
}

impl Loop {
    /// Detaches the device, at once or when nobody uses it any more: once only, because its number may be another
    /// device's afterwards.
    pub(crate) fn detach(&self) {
        if !self.detached.replace(true) {
            run("losetup", &["-d", &self.device]);
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if let Some(mount) = self.mount.take() {
            run("umount", &[mount.to_str().unwrap_or_default()]);
        }
        self.detach();
    }
}

/// A mounted memory file system without O_DIRECT support; unmounted when dropped.
pub(crate) struct Ramfs(PathBuf);

pub(crate) fn ramfs(home: &Home) -> Option<Ramfs> {
    let path = home.path().join("ram");
    std::fs::create_dir(&path).unwrap();
    if run("mount", &["-t", "ramfs", "none", path.to_str()?]).is_none() {
        eprintln!("SKIPPED: a ramfs cannot be mounted here (not root)");
        return None;
    }
    Some(Ramfs(path))
}

impl Ramfs {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Ramfs {
    fn drop(&mut self) {
        run("umount", &[self.0.to_str().unwrap_or_default()]);
    }
}

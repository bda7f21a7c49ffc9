//! Loop devices over temporary files for tests, detached when dropped. They need root and
//! `losetup`; otherwise the test reports that it was skipped.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A loop device owned by a test.
pub(crate) struct LoopDevice {
    pub(crate) node: PathBuf,
    /// The backing file; the node of a detached device may already belong to another test.
    pub(crate) backing: PathBuf,
    file: Option<tempfile::NamedTempFile>,
}

impl LoopDevice {
    /// Attaches a loop device to a sparse file of `mebibytes` MiB, with extra options for
    /// `losetup`.
    pub(crate) fn new(test: &str, mebibytes: u64, options: &[&str]) -> Option<LoopDevice> {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(mebibytes << 20).unwrap();
        let mut device = LoopDevice::over(test, file.path(), options)?;
        device.file = Some(file);
        Some(device)
    }

    /// Attaches a loop device to an existing file or device.
    pub(crate) fn over(test: &str, path: &Path, options: &[&str]) -> Option<LoopDevice> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED {test}: loop devices need root");
            return None;
        }
        let output = Command::new("losetup")
            .args(["--find", "--show"])
            .args(options)
            .arg(path)
            .output();
        match output {
            Ok(output) if output.status.success() => {
                let node = String::from_utf8(output.stdout).unwrap();
                let backing = path.canonicalize().unwrap();
                Some(LoopDevice {
                    node: PathBuf::from(node.trim()),
                    backing,
                    file: None,
                })
            }
            output => {
                eprintln!("SKIPPED {test}: losetup does not work here ({output:?})");
                None
            }
        }
    }

    /// The backing file, to check what was written.
    pub(crate) fn file(&self) -> &Path {
        self.file.as_ref().expect("made by `new`").path()
    }

    /// Its ID for erase permission.
    pub(crate) fn id(&self) -> String {
        self.file().canonicalize().unwrap().display().to_string()
    }

    /// Whether a required tool is installed.
    pub(crate) fn has_tool(test: &str, tool: &str) -> bool {
        let found = Command::new(tool).arg("-V").output().is_ok();
        if !found {
            eprintln!("SKIPPED {test}: {tool} is not installed");
        }
        found
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let name = self.node.file_name().unwrap_or_default();
        let now = std::fs::read_to_string(
            Path::new("/sys/class/block")
                .join(name)
                .join("loop/backing_file"),
        );
        if now.is_ok_and(|now| Path::new(now.trim_end()) == self.backing) {
            let _ = Command::new("losetup")
                .arg("--detach")
                .arg(&self.node)
                .status();
        }
    }
}

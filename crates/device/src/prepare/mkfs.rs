//! Creates file systems with the tools of the distribution.
//!
//! One table maps file systems to tools and common settings to their options. Other options are
//! passed through unchanged and recorded.

use super::tool::{self, ToolError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// Supported file systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FsType {
    /// FAT; FAT12, FAT16 or FAT32 according to the size.
    Vfat,
    /// exFAT.
    Exfat,
    /// ext4.
    Ext4,
    /// F2FS.
    F2fs,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
}

impl FsType {
    /// All values.
    pub const ALL: [FsType; 6] = [
        FsType::Vfat,
        FsType::Exfat,
        FsType::Ext4,
        FsType::F2fs,
        FsType::Xfs,
        FsType::Btrfs,
    ];

    /// Returns the file system type for mount(2).
    pub fn name(self) -> &'static str {
        self.tool().name
    }

    /// Parses a file system type.
    pub fn parse(name: &str) -> Option<FsType> {
        FsType::ALL.into_iter().find(|fs| fs.name() == name)
    }

    /// Returns the Debian package of its tool.
    pub fn package(self) -> &'static str {
        self.tool().package
    }

    /// Whether its tool can discard the device before formatting.
    pub fn can_discard(self) -> bool {
        // Tools that discard by default have an option to disable it.
        let Tool { discard, keep, .. } = self.tool();
        !discard.is_empty() || !keep.is_empty()
    }

    fn tool(self) -> &'static Tool {
        &TOOLS[self as usize]
    }
}

impl fmt::Display for FsType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Options of one tool for the common settings.
struct Tool {
    name: &'static str,
    binary: &'static str,
    package: &'static str,
    /// Options for non-interactive, quiet operation.
    always: &'static [&'static str],
    label: &'static str,
    /// Option to discard first; empty if not supported.
    discard: &'static [&'static str],
    keep: &'static [&'static str],
}

/// In the order of [`FsType`].
const TOOLS: [Tool; 6] = [
    Tool {
        name: "vfat",
        binary: "mkfs.vfat",
        package: "dosfstools",
        // Formatting a whole device without partitions is intended; the tool warns about it.
        always: &["-I"],
        label: "-n",
        discard: &[],
        keep: &[],
    },
    Tool {
        name: "exfat",
        binary: "mkfs.exfat",
        package: "exfatprogs",
        always: &[],
        label: "-L",
        discard: &[],
        keep: &[],
    },
    Tool {
        name: "ext4",
        binary: "mkfs.ext4",
        package: "e2fsprogs",
        always: &["-F", "-q"],
        label: "-L",
        discard: &["-E", "discard"],
        keep: &["-E", "nodiscard"],
    },
    Tool {
        name: "f2fs",
        binary: "mkfs.f2fs",
        package: "f2fs-tools",
        always: &["-f", "-q"],
        label: "-l",
        discard: &["-t", "1"],
        keep: &["-t", "0"],
    },
    Tool {
        name: "xfs",
        binary: "mkfs.xfs",
        package: "xfsprogs",
        always: &["-f", "-q"],
        label: "-L",
        discard: &[],
        keep: &["-K"],
    },
    Tool {
        name: "btrfs",
        binary: "mkfs.btrfs",
        package: "btrfs-progs",
        always: &["-f", "-q"],
        label: "-L",
        discard: &[],
        keep: &["-K"],
    },
];

/// A file system to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MkfsRequest {
    /// The file system.
    pub fs: FsType,
    /// Its label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Discard the whole device first; may take long on a card.
    #[serde(default)]
    pub discard: bool,
    /// Extra options for the tool, one word each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

impl MkfsRequest {
    /// Uses the defaults of the tool, without discard.
    pub fn new(fs: FsType) -> MkfsRequest {
        MkfsRequest {
            fs,
            label: None,
            discard: false,
            options: Vec::new(),
        }
    }

    /// Returns the command line for this device.
    ///
    /// # Errors
    /// If the tool is not installed, or an option could affect another device.
    pub fn command(&self, device: &Path) -> Result<Vec<String>, ToolError> {
        Ok(MkfsCommand::new(self, device)?.words())
    }
}

/// Details of a created file system, for the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MkfsOutcome {
    /// The file system.
    pub fs: FsType,
    /// The tool with all its arguments.
    pub command: Vec<String>,
    /// The version string of the tool; empty if unknown.
    pub version: String,
    /// Its output.
    pub said: String,
}

/// A validated command: the tool is installed and its options are harmless.
#[derive(Clone, Debug)]
pub(super) struct MkfsCommand {
    tool: PathBuf,
    arguments: Vec<String>,
}

impl MkfsCommand {
    /// Finds the tool and builds its arguments.
    pub(super) fn new(request: &MkfsRequest, device: &Path) -> Result<MkfsCommand, ToolError> {
        let Tool {
            binary, package, ..
        } = request.fs.tool();
        tool::no_paths(&request.options)?;
        tool::no_tags(&request.options)?;
        if let Some(label) = &request.label {
            tool::no_paths(std::slice::from_ref(label))?;
        }
        Ok(MkfsCommand {
            tool: tool::find(binary, package)?,
            arguments: arguments(request, device),
        })
    }

    /// Returns the whole command, as recorded.
    pub(super) fn words(&self) -> Vec<String> {
        std::iter::once(self.tool.display().to_string())
            .chain(self.arguments.iter().cloned())
            .collect()
    }

    /// Runs it.
    pub(super) fn run(&self, fs: FsType) -> Result<MkfsOutcome, ToolError> {
        let version = tool::run(&self.tool, &["-V".to_owned()], "").unwrap_or_default();
        let said = tool::run(&self.tool, &self.arguments, "")?;
        // mkfs.vfat has no -V; its first output line contains the version.
        let version = if version.is_empty() { &said } else { &version };
        let version = version.lines().next().unwrap_or_default().to_owned();
        Ok(MkfsOutcome {
            fs,
            command: self.words(),
            version,
            said,
        })
    }
}

fn arguments(request: &MkfsRequest, device: &Path) -> Vec<String> {
    let MkfsRequest {
        fs,
        label,
        discard,
        options,
    } = request;
    let Tool {
        always,
        label: label_flag,
        discard: with_discard,
        keep,
        ..
    } = fs.tool();
    let mut words: Vec<String> = always.iter().map(|word| (*word).to_owned()).collect();
    let about_discard = if *discard { with_discard } else { keep };
    let mut options = options.clone();
    let extended = options.iter().position(|option| option == "-E");
    match (about_discard, extended) {
        // mke2fs uses only the last -E.
        (["-E", word], Some(at)) if at + 1 < options.len() => {
            options[at + 1] = format!("{word},{}", options[at + 1])
        }
        _ => words.extend(about_discard.iter().map(|word| (*word).to_owned())),
    }
    if let Some(label) = label {
        words.extend([(*label_flag).to_owned(), label.clone()]);
    }
    words.extend(options);
    words.push(device.display().to_string());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_types() {
        assert!(
            FsType::ALL
                .iter()
                .all(|fs| FsType::parse(fs.name()) == Some(*fs))
        );
        assert_eq!(
            FsType::ALL.map(FsType::name),
            ["vfat", "exfat", "ext4", "f2fs", "xfs", "btrfs"]
        );
        let without: Vec<FsType> = FsType::ALL
            .into_iter()
            .filter(|fs| !fs.can_discard())
            .collect();
        assert_eq!(without, [FsType::Vfat, FsType::Exfat]);
    }

    #[test]
    fn every_tool_gets_the_request_in_its_own_options() {
        let line =
            |request: &MkfsRequest| arguments(request, Path::new("/dev/mmcblk0p1")).join(" ");
        let lines = FsType::ALL.map(|fs| {
            let plain = MkfsRequest::new(fs);
            let full = MkfsRequest {
                label: Some("card".into()),
                discard: true,
                ..plain.clone()
            };
            format!("{fs:6} {}\n       {}", line(&plain), line(&full))
        });
        insta::assert_snapshot!(lines.join("\n"), @r"
        vfat   -I /dev/mmcblk0p1
               -I -n card /dev/mmcblk0p1
        exfat  /dev/mmcblk0p1
               -L card /dev/mmcblk0p1
        ext4   -F -q -E nodiscard /dev/mmcblk0p1
               -F -q -E discard -L card /dev/mmcblk0p1
        f2fs   -f -q -t 0 /dev/mmcblk0p1
               -f -q -t 1 -l card /dev/mmcblk0p1
        xfs    -f -q -K /dev/mmcblk0p1
               -f -q -L card /dev/mmcblk0p1
        btrfs  -f -q -K /dev/mmcblk0p1
               -f -q -L card /dev/mmcblk0p1
        ");
        let options = ["-b", "4096", "-E", "stride=2"].map(str::to_owned).to_vec();
        let ext4 = MkfsRequest {
            options,
            ..MkfsRequest::new(FsType::Ext4)
        };
        insta::assert_snapshot!(line(&ext4), @"-F -q -b 4096 -E nodiscard,stride=2 /dev/mmcblk0p1");
    }

    #[test]
    fn a_second_device_cannot_be_slipped_in() {
        let request = |options: &[&str], label: Option<&str>| MkfsRequest {
            options: options.iter().map(|word| (*word).to_owned()).collect(),
            label: label.map(str::to_owned),
            ..MkfsRequest::new(FsType::Btrfs)
        };
        for bad in [
            request(&["/dev/sda"], None),
            request(&["-d", "../dev/sda"], None),
            request(&[], Some("/dev/sda")),
        ] {
            assert!(
                matches!(
                    MkfsCommand::new(&bad, Path::new("/dev/loop99")),
                    Err(ToolError::Path { .. })
                ),
                "{bad:?}"
            );
        }
    }
}

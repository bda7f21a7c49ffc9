//! What a node stands on: the devices from the one that was named down to the disk.

use serde::{Deserialize, Deserializer, Serialize};

/// One device on the way from the named node down to the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainLink {
    /// Its kernel name, such as `mmcblk0p2`.
    pub name: String,
    /// What it is.
    #[serde(flatten)]
    pub role: LinkRole,
    /// It holds a part of the same file system, and nothing before it stands on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside: bool,
}

/// What a device of a chain is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "role")]
pub enum LinkRole {
    /// A whole disk.
    Disk,
    /// A partition.
    Partition {
        /// Its number.
        number: u32,
        /// Kernel name of its disk.
        of: String,
    },
    /// A loop device.
    Loop {
        /// The file it shows.
        file: String,
    },
    /// A device of the device mapper.
    Mapping {
        /// `lvm`, `crypt`, …; empty where that is not known.
        kind: String,
        /// Its name.
        label: String,
    },
    /// A software RAID.
    Array {
        /// `raid1`, …
        level: String,
    },
    /// Older records do not say it in a form that is known.
    Unknown,
}

/// The links of a chain, in the form of today or as the text of older records.
pub(super) fn links<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<ChainLink>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Link(ChainLink),
        Text(String),
    }
    let link = |stored| match stored {
        Stored::Link(link) => Some(link),
        Stored::Text(text) => of_text(&text),
    };
    let stored = Vec::<Stored>::deserialize(from)?;
    Ok(stored.into_iter().filter_map(link).collect())
}

/// A link as older records write it, `mmcblk0p2 (partition 2 of mmcblk0)`. `None` for the bus at the end of a chain,
/// which stands in the record besides.
fn of_text(text: &str) -> Option<ChainLink> {
    let (text, beside) = match text.strip_prefix("and ") {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let (name, role) = match text.split_once(" (") {
        Some((name, role)) => (name, role.strip_suffix(')').unwrap_or(role)),
        None => (text, ""),
    };
    let buses = ["USB", "virtio", "NVMe"];
    if name.contains([' ', ',']) || buses.contains(&name) {
        return None;
    }
    let partition = || {
        let (number, of) = role.strip_prefix("partition ")?.split_once(" of ")?;
        Some((number.parse().ok()?, of.to_owned()))
    };
    let role = match (role, role.split_once(' ')) {
        ("disk", _) => LinkRole::Disk,
        (_, Some(("loop", rest))) if rest.starts_with("over ") => LinkRole::Loop {
            file: rest["over ".len()..].to_owned(),
        },
        _ if let Some((number, of)) = partition() => LinkRole::Partition { number, of },
        (_, Some((kind, label))) => LinkRole::Mapping {
            kind: kind.to_owned(),
            label: label.to_owned(),
        },
        (level, None) if name.starts_with("md") => LinkRole::Array {
            level: level.to_owned(),
        },
        _ => LinkRole::Unknown,
    };
    Some(ChainLink {
        name: name.to_owned(),
        role,
        beside,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Vec<ChainLink> {
        links(&mut serde_json::Deserializer::from_str(json)).unwrap()
    }

    fn link(name: &str, role: LinkRole) -> ChainLink {
        ChainLink {
            name: name.to_owned(),
            role,
            beside: false,
        }
    }

    #[test]
    fn chains_of_older_records_are_read_without_their_bus() {
        let old = read(
            r#"["dm-1 (lvm vg-root)", "md0 (raid1)", "loop0 (loop over /srv/a (b).img)",
                "nvme0n1p3 (partition 3 of nvme0n1)", "nvme0n1 (disk)", "and sdb (disk)",
                "SD or eMMC bus (sdhci-iproc)", "USB, 480 Mbit/s (uas)", "virtio (virtio_blk)", "NVMe (nvme)"]"#,
        );
        let text = |text: &str| text.to_owned();
        let wanted = [
            link(
                "dm-1",
                LinkRole::Mapping {
                    kind: text("lvm"),
                    label: text("vg-root"),
                },
            ),
            link(
                "md0",
                LinkRole::Array {
                    level: text("raid1"),
                },
            ),
            link(
                "loop0",
                LinkRole::Loop {
                    file: text("/srv/a (b).img"),
                },
            ),
            link(
                "nvme0n1p3",
                LinkRole::Partition {
                    number: 3,
                    of: text("nvme0n1"),
                },
            ),
            link("nvme0n1", LinkRole::Disk),
            ChainLink {
                beside: true,
                ..link("sdb", LinkRole::Disk)
            },
        ];
        assert_eq!(old, wanted);
        assert_eq!(read(&serde_json::to_string(&old).unwrap()), wanted);
    }

    #[test]
    fn a_link_is_stored_flat() {
        let role = LinkRole::Partition {
            number: 2,
            of: "mmcblk0".to_owned(),
        };
        assert_eq!(
            serde_json::to_string(&link("mmcblk0p2", role)).unwrap(),
            r#"{"name":"mmcblk0p2","role":"partition","number":2,"of":"mmcblk0"}"#
        );
    }
}

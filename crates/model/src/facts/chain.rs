//! Device chain: the devices from the named node down to the disk.

use serde::{Deserialize, Deserializer, Serialize};

/// One device of the chain from the named node down to the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainLink {
    /// Kernel name, such as `mmcblk0p2`.
    pub name: String,
    /// Type of the device.
    #[serde(flatten)]
    pub role: LinkRole,
    /// Whether it is another member of the same file system, not a device below the previous ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside: bool,
}

/// Type of a device in a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "role")]
pub enum LinkRole {
    /// A whole disk.
    Disk,
    /// A partition.
    Partition {
        /// Partition number.
        number: u32,
        /// Kernel name of the disk.
        of: String,
    },
    /// A loop device.
    Loop {
        /// Backing file.
        file: String,
    },
    /// A device mapper target.
    Mapping {
        /// `lvm`, `crypt`, …; empty if unknown.
        kind: String,
        /// Name of the mapping.
        label: String,
    },
    /// A software RAID.
    Array {
        /// `raid1`, …
        level: String,
    },
    /// A link of an older record in an unknown form.
    Unknown,
}

/// Deserializes the links of a chain, in the current form or as the text of older records.
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

/// Parses the form of older records, `mmcblk0p2 (partition 2 of mmcblk0)`. `None` for the bus at the end of a chain,
/// which the record stores separately.
fn of_text(text: &str) -> Option<ChainLink> {
    let (beside, text) = match text.strip_prefix("and ") {
        Some(rest) => (true, rest),
        None => (false, text),
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
        let (kind, label) = ("lvm".to_owned(), "vg-root".to_owned());
        let (level, file) = ("raid1".to_owned(), "/srv/a (b).img".to_owned());
        let (number, of) = (3, "nvme0n1".to_owned());
        let mut wanted = [
            link("dm-1", LinkRole::Mapping { kind, label }),
            link("md0", LinkRole::Array { level }),
            link("loop0", LinkRole::Loop { file }),
            link("nvme0n1p3", LinkRole::Partition { number, of }),
            link("nvme0n1", LinkRole::Disk),
            link("sdb", LinkRole::Disk),
        ];
        wanted[5].beside = true;
        assert_eq!(old, wanted);
        assert_eq!(read(&serde_json::to_string(&old).unwrap()), wanted);
    }

    #[test]
    fn links_of_older_records_have_the_closest_type() {
        let old = read(
            r#"["dm-3 (loop data)", "sda (strange)", "md1 (raid10)", "and dm-4 (crypt home)"]"#,
        );
        let mapping = |kind: &str, label: &str| LinkRole::Mapping {
            kind: kind.to_owned(),
            label: label.to_owned(),
        };
        let level = "raid10".to_owned();
        let mut wanted = [
            link("dm-3", mapping("loop", "data")),
            link("sda", LinkRole::Unknown),
            link("md1", LinkRole::Array { level }),
            link("dm-4", mapping("crypt", "home")),
        ];
        wanted[3].beside = true;
        assert_eq!(old, wanted);
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

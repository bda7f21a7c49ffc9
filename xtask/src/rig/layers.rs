//! Layers on a card: raw, or a file system created without discard.
//!
//! QEMU emulates erase very slowly, so `mkfs` and `mount` must not discard.

/// Raw, or one of the file systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RigLayer {
    Raw,
    Vfat,
    Ext4,
    F2fs,
}

impl RigLayer {
    pub(super) const ALL: [RigLayer; 4] = [
        RigLayer::Raw,
        RigLayer::Vfat,
        RigLayer::Ext4,
        RigLayer::F2fs,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            RigLayer::Raw => "raw",
            RigLayer::Vfat => "vfat",
            RigLayer::Ext4 => "ext4",
            RigLayer::F2fs => "f2fs",
        }
    }

    /// Script that creates the layer on a device and mounts it on `/mnt`; empty for a raw card.
    pub(super) fn make(self, device: &str) -> String {
        match self {
            RigLayer::Raw => String::new(),
            // 16 KiB clusters, as on the cards of the published comparison.
            RigLayer::Vfat => {
                format!("set -e\nmkfs.vfat -F 32 -s 32 -I {device} >&2\nmount {device} /mnt\n")
            }
            // `noinit_itable` stops the kernel from initializing inode tables during the measurement.
            RigLayer::Ext4 => format!(
                "set -e\nmkfs.ext4 -q -F -E nodiscard,lazy_itable_init=1,lazy_journal_init=1 {device} >&2\n\
                 mount -o nodiscard,noinit_itable {device} /mnt\n"
            ),
            RigLayer::F2fs => format!(
                "set -e\nmkfs.f2fs -q -f -t 0 {device} >&2\nmount -o nodiscard {device} /mnt\n"
            ),
        }
    }

    /// Its `mkfs` program, and the Debian package of it.
    pub(super) fn tool(self) -> Option<(&'static str, &'static str)> {
        match self {
            RigLayer::Raw => None,
            RigLayer::Vfat => Some(("mkfs.vfat", "dosfstools")),
            RigLayer::Ext4 => Some(("mkfs.ext4", "e2fsprogs")),
            RigLayer::F2fs => Some(("mkfs.f2fs", "f2fs-tools")),
        }
    }
}

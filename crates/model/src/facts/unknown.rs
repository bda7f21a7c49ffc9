//! Reasons why facts are unknown.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Defines the reasons. Records store their English texts: a plain one as it is, one with a name between its two parts.
macro_rules! unknown_reasons {
    (
        plain { $($plain:ident: $text:literal;)* }
        named { $($named:ident: $before:literal, $after:literal;)* }
    ) => {
        /// Reason why a fact is unknown.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum UnknownReason {
            $(#[doc = $text] $plain,)*
            $(#[doc = concat!("`", $before, "…", $after, "`, with what is in between")] $named(String),)*
            /// The parent directory of a file is not mounted.
            NotMounted {
                /// Why the file could not be read.
                cause: Box<UnknownReason>,
                /// File system that has the file.
                filesystem: String,
                /// Mount point.
                at: String,
            },
            /// Another text of an older record.
            Text(String),
        }

        impl UnknownReason {
            /// The reasons without a name.
            pub const PLAIN: &[UnknownReason] = &[$(UnknownReason::$plain,)*];
            /// The reasons with a name.
            pub const NAMED: &[fn(String) -> UnknownReason] = &[$(UnknownReason::$named,)*];

            /// Parses the text of a record.
            pub fn from_text(text: String) -> UnknownReason {
                UnknownReason::not_mounted(&text)
                    .unwrap_or_else(|| UnknownReason::without_mount(text))
            }

            /// Parses a text that names no mount.
            fn without_mount(text: String) -> UnknownReason {
                match text.as_str() {
                    $($text => return UnknownReason::$plain,)*
                    _ => {}
                }
                $(
                    if let Some(name) = between(&text, $before, $after) {
                        return UnknownReason::$named(name);
                    }
                )*
                UnknownReason::Text(text)
            }
        }

        impl fmt::Display for UnknownReason {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(UnknownReason::$plain => f.write_str($text),)*
                    $(UnknownReason::$named(name) => write!(f, "{}{name}{}", $before, $after),)*
                    UnknownReason::NotMounted { cause, filesystem, at } => {
                        write!(f, "{cause}; mount {filesystem} at {at}")
                    }
                    UnknownReason::Text(text) => f.write_str(text),
                }
            }
        }
    };
}

unknown_reasons! {
    plain {
        NotChecked: "not checked";
        NotQueried: "not queried";
        NotGiven: "not given";
        Hidden: "hidden";
        NotLookedAt: "it was not looked at";
        SimulatedCard: "simulated card";
        NoHardware: "not a hardware device";
        NoPhysicalDisk: "not a physical disk";
        NoAtaDisk: "not an ATA disk";
        NoSataPort: "not connected to a SATA port";
        NotReportedByDevice: "not reported by the device";
        NotReportedBySysfs: "not reported by sysfs";
        NotInImportedResult: "not stated in the imported result";
        NotInPublishedTable: "not stated in the published table";
        NotInOsRelease: "not set in /etc/os-release";
        OnlyTheWholeDisk: "only the whole disk reports it";
        HiddenByReader: "a USB reader hides the registers of its card";
        OnlyRevision: "SD cards report only a revision";
        NotOfSdCards: "SD cards do not report it";
        NotOfEmmc: "eMMC devices have no such register";
        WearOnlyInRegisters: "cards report wear only in registers (eMMC) or not at all (SD)";
        UsbBridgesFail: "not queried: many USB bridges fail on this request";
        BadSmartChecksum: "the checksum of its SMART data is wrong";
        NoLinkSpeed: "no parent PCI device reports a link speed";
        NoDiskSensor: "the kernel shows no temperature sensor for it";
        NoCpuSensor: "the kernel shows no CPU temperature sensor";
        NoThrottlingFlags: "no throttling flags (only a Raspberry Pi has them)";
        NoBoardName: "no device tree and no DMI";
        NoCpuName: "/proc/cpuinfo names no known processor";
        NoFirmwareInSysfs: "sysfs reports no firmware revision";
        NoWwnInSysfs: "sysfs reports no world-wide name";
        NoFrequencyScaling: "CPU frequency scaling is not available";
        DebugfsNeedsRoot: "only root can read debugfs";
        QueryNeedsRoot: "only root can query the disk";
        PartOfCid: "part of the CID";
        PartOfExtCsd: "part of EXT_CSD, which was not given";
        ExtCsdOnlyInDebugfs: "EXT_CSD is only shown in debugfs, which is not mounted or not readable";
        ReservedValue: "the SD status holds a reserved value";
        NoAllocationUnit: "the SD status does not define one";
    }
    named {
        NoPsi: "", " cannot be read (the kernel may lack PSI)";
        CannotBeRead: "", " cannot be read";
        NotProvided: "the kernel provides no `", "`";
        NeedsRoot: "only root can read `", "`";
        Empty: "`", "` is empty";
        NotReportedIn: "", " does not report it";
        NoVisibleDevice: "a ", " file system has no block device that is visible here";
        NotInSysfs: "sysfs lists no block device for ", "";
    }
}

impl UnknownReason {
    /// A value of a file that is no number in range.
    pub fn not_a_number(file: impl fmt::Display, text: &str) -> UnknownReason {
        UnknownReason::Text(format!("`{file}` contains `{text}`, not a number in range"))
    }

    fn not_mounted(text: &str) -> Option<UnknownReason> {
        let (cause, mount) = text.rsplit_once("; mount ")?;
        let (filesystem, at) = mount.split_once(" at ")?;
        Some(UnknownReason::NotMounted {
            // The cause of a reason of ours names no mount. A text of somebody else may repeat them without end.
            cause: Box::new(UnknownReason::without_mount(cause.to_owned())),
            filesystem: filesystem.to_owned(),
            at: at.to_owned(),
        })
    }
}

/// The name between two parts of a text; names have no blanks and no backquotes.
fn between(text: &str, before: &str, after: &str) -> Option<String> {
    let name = text.strip_prefix(before)?.strip_suffix(after)?;
    (!name.contains([' ', '`'])).then(|| name.to_owned())
}

impl Serialize for UnknownReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UnknownReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(UnknownReason::from_text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_records_become_values_and_stay_the_same() {
        let named = UnknownReason::NAMED.iter();
        let named = named.map(|reason| reason("/sys/x".to_owned()));
        let mounted = UnknownReason::NotMounted {
            cause: Box::new(UnknownReason::NotProvided("ios".to_owned())),
            filesystem: "debugfs".to_owned(),
            at: "/sys/kernel/debug".to_owned(),
        };
        let other = UnknownReason::Text("somebody else knows".to_owned());
        let all = UnknownReason::PLAIN.iter().cloned();
        for reason in all.chain(named).chain([mounted, other]) {
            let stored = serde_json::to_string(&reason).unwrap();
            assert_eq!(stored, format!("\"{reason}\""));
            let read: UnknownReason = serde_json::from_str(&stored).unwrap();
            assert_eq!(read, reason);
        }
        // A text made to exhaust the stack is one level deep.
        let crafted = "; mount a at b".repeat(100_000);
        let read = UnknownReason::from_text(crafted.clone());
        assert_eq!(read.to_string(), crafted);
        let older = "the disk was asleep; mount it at last";
        let read = UnknownReason::from_text(older.to_owned());
        assert_eq!(read.to_string(), older);
    }
}

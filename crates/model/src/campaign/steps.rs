//! Preparation steps of the storage, and their form in older records.

use crate::units::{Bytes, BytesPerSec, Nanos};
use serde::{Deserialize, Serialize};

/// One preparation step of the storage, with its cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredStep")]
pub struct PreparedStep {
    /// The step.
    #[serde(flatten)]
    pub step: StepKind,
    /// How long it took.
    pub elapsed: Nanos,
    /// Speed of each segment of the device, if the step wrote the whole device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub speed: Vec<DeviceSegment>,
    /// Bytes written, if [`PreparedStep::speed`] does not include them; stored once, with the first
    /// run after the step.
    #[serde(default, skip_serializing_if = "Bytes::is_zero")]
    pub written: Bytes,
}

impl PreparedStep {
    /// Returns the bytes written by the step; 0 if unknown.
    pub fn bytes_written(&self) -> Bytes {
        Bytes(self.speed.iter().fold(self.written.0, |sum, segment| {
            sum.saturating_add(segment.len.0)
        }))
    }

    /// Returns the step without the data that is stored only with the first run (speed and bytes written).
    pub fn without_measurements(self) -> PreparedStep {
        PreparedStep {
            speed: Vec::new(),
            written: Bytes(0),
            ..self
        }
    }
}

/// Segment of a device and the time that it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSegment {
    /// Start offset.
    pub offset: Bytes,
    /// Length.
    pub len: Bytes,
    /// Time that it took.
    pub elapsed: Nanos,
}

impl DeviceSegment {
    /// Returns the speed; `None` if the elapsed time is 0.
    pub fn rate(&self) -> Option<BytesPerSec> {
        self.len.per(self.elapsed)
    }
}

/// Kind of a preparation step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "step")]
pub enum StepKind {
    /// The whole device was written.
    Filled {
        /// Content.
        with: FillContent,
    },
    /// The whole device was discarded.
    Discarded {
        /// Whether it was a secure discard.
        secure: bool,
    },
    /// The device was written and read back.
    Verified,
    /// A disk image was written and read back.
    ImageWritten {
        /// Path of the image file.
        image: String,
        /// Size of the unpacked image.
        size: Bytes,
    },
    /// A partition table was written.
    Partitioned,
    /// A file system was created.
    Formatted {
        /// The tool with all its arguments.
        command: Vec<String>,
    },
    /// A file system was mounted.
    Mounted {
        /// Its type.
        fs_type: String,
        /// Mount options; empty for the defaults.
        options: String,
    },
    /// A directory was created.
    DirectoryCreated {
        /// Its path.
        path: String,
    },
    /// Free space of a file system was filled with files of random bytes.
    SpaceFilled {
        /// Size of these files.
        size: Bytes,
    },
    /// The page cache of the host was dropped.
    CachesDropped,
    /// A step of an older record, with its description.
    Described {
        /// The description.
        what: String,
    },
}

impl StepKind {
    /// Whether it affects the whole device, so that one preparation serves several layers.
    pub fn is_of_whole_device(&self) -> bool {
        matches!(
            self,
            StepKind::Filled { .. } | StepKind::Discarded { .. } | StepKind::ImageWritten { .. }
        )
    }
}

/// Content that a device is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FillContent {
    /// All bytes 0xff.
    Ones,
    /// All bytes 0.
    Zeroes,
    /// Random bytes.
    Random,
}

/// Stored form of a [`PreparedStep`]: with its kind, or, in older records, with an English description.
#[derive(Deserialize)]
pub(super) struct StoredStep {
    #[serde(flatten)]
    step: Option<StepKind>,
    #[serde(default)]
    what: String,
    elapsed: Nanos,
    #[serde(default)]
    speed: Vec<DeviceSegment>,
    #[serde(default)]
    written: Bytes,
}

impl From<StoredStep> for PreparedStep {
    fn from(stored: StoredStep) -> PreparedStep {
        let StoredStep {
            step,
            what,
            elapsed,
            speed,
            written,
        } = stored;
        PreparedStep {
            step: step.unwrap_or_else(|| described(what)),
            elapsed,
            speed,
            written,
        }
    }
}

/// Descriptions written by older versions that affect campaigns, with their kinds.
const DESCRIBED: [(&str, StepKind); 5] = [
    (
        "filled with 0xff",
        StepKind::Filled {
            with: FillContent::Ones,
        },
    ),
    (
        "filled with 0x00",
        StepKind::Filled {
            with: FillContent::Zeroes,
        },
    ),
    (
        "filled with random bytes",
        StepKind::Filled {
            with: FillContent::Random,
        },
    ),
    ("discarded", StepKind::Discarded { secure: false }),
    ("discarded securely", StepKind::Discarded { secure: true }),
];

fn described(what: String) -> StepKind {
    let known = DESCRIBED.iter().find(|(words, _)| *words == what);
    known.map_or(StepKind::Described { what }, |(_, step)| step.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_older_records_keep_their_kind() {
        for (words, kind) in DESCRIBED {
            let stored = format!(r#"{{"what":"{words}","elapsed":7}}"#);
            let step: PreparedStep = serde_json::from_str(&stored).unwrap();
            assert_eq!((step.step, step.elapsed), (kind, Nanos(7)));
        }
        let mkfs = r#"{"what":"mkfs.vfat -F 32 /dev/sdb","elapsed":7,"written":5}"#;
        let step: PreparedStep = serde_json::from_str(mkfs).unwrap();
        let what = "mkfs.vfat -F 32 /dev/sdb".to_owned();
        assert_eq!(
            (step.step, step.written),
            (StepKind::Described { what }, Bytes(5))
        );
    }

    #[test]
    fn a_step_is_stored_by_its_kind() {
        let step = PreparedStep {
            step: StepKind::Filled {
                with: FillContent::Ones,
            },
            elapsed: Nanos(7),
            speed: Vec::new(),
            written: Bytes(0),
        };
        let text = serde_json::to_string(&step).unwrap();
        assert_eq!(text, r#"{"step":"filled","with":"ones","elapsed":7}"#);
        assert_eq!(serde_json::from_str::<PreparedStep>(&text).unwrap(), step);
    }
}

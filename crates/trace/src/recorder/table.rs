//! The events that can be recorded: their names, fields and filters.

use super::disk::DiskFacts;
use super::format::EventFormat;
use super::options::{DiskNumber, EventSet};

/// An event that can be recorded.
#[derive(Debug)]
pub(super) struct EventSpec {
    /// Directory below `events` in tracefs.
    pub system: &'static str,
    /// Name below that.
    pub name: &'static str,
    /// How its record is decoded.
    pub shape: EventShape,
    /// Which of its occurrences concern the disk.
    pub scope: EventScope,
    /// When it is recorded.
    pub used: Used,
}

/// Kind of record, and with it the fields that are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventShape {
    BioQueue,
    BioComplete,
    BackMerge,
    FrontMerge,
    Split,
    RequestInsert,
    RequestIssue,
    RequestRequeue,
    RequestComplete,
    MmcStart,
    MmcDone,
    CommitStart,
    CommitEnd,
    SyncEnter,
    SyncExit,
    F2fsBio,
    /// Plugging, which names no disk: only that of threads which queue bios on it counts.
    OfThread,
    /// Only that it happened.
    Other,
}

impl EventShape {
    /// Names of the fields in the order in which the decoder expects them. The first
    /// [`required`](EventShape::required) ones must exist.
    pub(super) const fn fields(self) -> &'static [&'static str] {
        match self {
            EventShape::BioQueue | EventShape::RequestIssue => {
                &["sector", "nr_sector", "rwbs", "comm"]
            }
            EventShape::BackMerge
            | EventShape::FrontMerge
            | EventShape::RequestInsert
            | EventShape::RequestRequeue => &["sector", "nr_sector", "rwbs"],
            EventShape::BioComplete | EventShape::RequestComplete => {
                &["sector", "nr_sector", "rwbs", "error"]
            }
            EventShape::Split => &["sector", "new_sector"],
            EventShape::MmcStart => &["cmd_opcode", "blk_addr", "blocks", "blksz", "mrq"],
            EventShape::MmcDone => &[
                "cmd_opcode",
                "mrq",
                "bytes_xfered",
                "cmd_retries",
                "cmd_err",
                "data_err",
                "stop_err",
            ],
            EventShape::F2fsBio => &["sector", "size", "type", "target"],
            EventShape::CommitStart
            | EventShape::CommitEnd
            | EventShape::SyncEnter
            | EventShape::SyncExit
            | EventShape::OfThread
            | EventShape::Other => &[],
        }
    }

    /// Number of fields without which the event says nothing.
    pub(super) const fn required(self) -> usize {
        match self {
            EventShape::MmcStart => 3,
            EventShape::MmcDone => 2,
            _ if self.fields().len() > 3 => 3,
            _ => self.fields().len(),
        }
    }
}

/// Which occurrences of an event concern the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventScope {
    /// Those whose `dev` is the whole disk.
    Disk,
    /// Those whose `dev` is the device of the file system.
    Filesystem,
    /// Those of the MMC host to which the card is attached.
    MmcHost,
    /// Those of the SCSI device.
    ScsiDevice,
    /// Those of the NVMe controller.
    NvmeController,
    /// Those whose `name` is the number of the disk: `8:0`.
    WritebackDevice,
    /// The same for a field `bdi`.
    DirtyPages,
    /// All.
    Everywhere,
}

/// When an event is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Used {
    /// Always, except with the minimal set on devices with requests.
    Bio,
    /// On devices with requests.
    Requests,
    /// On devices without requests.
    Bios,
    /// With any set, because it explains much and is rare: once for each flush, error or commit, or on slow devices only.
    Rare,
    /// The same on devices with requests.
    RareRequests,
    /// On devices with requests, with the full set.
    FullRequests,
    /// With the full set.
    Full,
}

impl EventScope {
    /// Names of the fields by which the kernel filters.
    const fn fields(self) -> &'static [&'static str] {
        match self {
            EventScope::Disk | EventScope::Filesystem => &["dev"],
            EventScope::MmcHost | EventScope::WritebackDevice => &["name"],
            EventScope::ScsiDevice => &["host_no", "channel", "id", "lun"],
            EventScope::NvmeController => &["ctrl_id"],
            EventScope::DirtyPages => &["bdi"],
            EventScope::Everywhere => &[],
        }
    }
}

impl EventSpec {
    /// Whether the kernel's event has the fields by which it is filtered.
    pub(super) fn can_filter(&self, format: &EventFormat) -> bool {
        let fields = self.scope.fields();
        fields.iter().all(|field| format.place(field).is_some())
    }

    /// Whether requests cannot be restored without this event.
    pub(super) fn is_needed(&self) -> bool {
        matches!(self.used, Used::Bio | Used::Requests | Used::Bios)
    }

    /// Whether a set for a disk contains this event.
    pub(super) fn is_in(&self, set: EventSet, bio_based: bool) -> bool {
        let full = set == EventSet::Full;
        match self.used {
            Used::Bio => bio_based || set != EventSet::Minimal,
            Used::Rare => true,
            Used::Requests | Used::RareRequests => !bio_based,
            Used::Bios => bio_based,
            Used::FullRequests => full && !bio_based,
            Used::Full => full,
        }
    }

    /// Returns the kernel's filter; an empty one lets every occurrence pass. `None` if no occurrence can concern the
    /// disk.
    pub(super) fn filter(
        &self,
        disk: &DiskFacts,
        filesystem: Option<DiskNumber>,
    ) -> Option<String> {
        match self.scope {
            EventScope::Disk => Some(format!("dev == {}", disk.number.kernel())),
            EventScope::Filesystem => Some(format!("dev == {}", filesystem?.kernel())),
            EventScope::MmcHost => Some(format!("name == \"{}\"", disk.mmc_host.as_ref()?)),
            EventScope::ScsiDevice => {
                let [host, channel, id, lun] = disk.scsi_address?;
                Some(format!(
                    "host_no == {host} && channel == {channel} && id == {id} && lun == {lun}"
                ))
            }
            EventScope::NvmeController => Some(format!("ctrl_id == {}", disk.nvme_controller?)),
            EventScope::WritebackDevice => Some(format!("name == \"{}\"", disk.number)),
            EventScope::DirtyPages => Some(format!("bdi == \"{}\"", disk.number)),
            EventScope::Everywhere => Some(String::new()),
        }
    }
}

/// Builds [`EVENTS`] from rows of `system name shape scope used`.
macro_rules! events {
    ($($system:ident $name:ident $shape:ident $scope:ident $used:ident;)*) => {
        /// All events that can be recorded.
        pub(super) const EVENTS: &[EventSpec] = &[
            $(EventSpec {
                system: stringify!($system),
                name: stringify!($name),
                shape: EventShape::$shape,
                scope: EventScope::$scope,
                used: Used::$used,
            },)*
        ];
    };
}

events! {
    block block_bio_queue BioQueue Disk Bio;
    block block_bio_complete BioComplete Disk Bios;
    block block_rq_issue RequestIssue Disk Requests;
    block block_rq_complete RequestComplete Disk Requests;
    block block_split Split Disk Rare;
    block block_bio_backmerge BackMerge Disk FullRequests;
    block block_bio_frontmerge FrontMerge Disk FullRequests;
    block block_rq_merge Other Disk FullRequests;
    block block_getrq Other Disk FullRequests;
    block block_rq_insert RequestInsert Disk FullRequests;
    block block_rq_requeue RequestRequeue Disk RareRequests;
    block block_rq_error Other Disk RareRequests;
    block block_plug OfThread Everywhere FullRequests;
    block block_unplug OfThread Everywhere FullRequests;
    mmc mmc_request_start MmcStart MmcHost Rare;
    mmc mmc_request_done MmcDone MmcHost Rare;
    nvme nvme_setup_cmd Other NvmeController Full;
    nvme nvme_complete_rq Other NvmeController Full;
    scsi scsi_dispatch_cmd_start Other ScsiDevice Full;
    scsi scsi_dispatch_cmd_done Other ScsiDevice Full;
    scsi scsi_dispatch_cmd_error Other ScsiDevice Rare;
    scsi scsi_dispatch_cmd_timeout Other ScsiDevice Rare;
    jbd2 jbd2_start_commit CommitStart Filesystem Rare;
    jbd2 jbd2_end_commit CommitEnd Filesystem Rare;
    ext4 ext4_sync_file_enter SyncEnter Filesystem Rare;
    ext4 ext4_sync_file_exit SyncExit Filesystem Rare;
    f2fs f2fs_sync_file_enter SyncEnter Filesystem Rare;
    f2fs f2fs_sync_file_exit SyncExit Filesystem Rare;
    f2fs f2fs_submit_write_bio F2fsBio Filesystem Rare;
    f2fs f2fs_submit_read_bio F2fsBio Filesystem Rare;
    writeback writeback_start Other WritebackDevice Rare;
    writeback writeback_written Other WritebackDevice Rare;
    writeback balance_dirty_pages Other DirtyPages Full;
}

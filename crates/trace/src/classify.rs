//! Classes of requests, and kinds of the threads that queue them.
//!
//! What lies at the address decides. F2FS itself says what it writes, because it writes elsewhere each time. Where the
//! address says nothing, the flag for metadata does. The name of a thread decides nothing about the class.

use crate::address_map::AddressMap;
use crate::event::{SectorRange, ThreadName};
use hakaru_model::io_path::{IoClass, IssuerKind, LayoutRange};

/// `DATA` of the kernel's enumeration of page types of F2FS.
const F2FS_DATA: u8 = 0;
/// `NODE`.
const F2FS_NODE: u8 = 1;
/// `META`.
const F2FS_META: u8 = 2;

/// Finds the classes of sectors of one disk.
#[derive(Clone, Copy, Debug)]
pub struct Classifier<'a> {
    map: &'a AddressMap,
    /// First sector and number of sectors of the partition under test.
    partition: Option<(u64, u64)>,
}

/// What a bio says about its content besides its address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentHint {
    /// Type of the pages by F2FS.
    pub page_type: Option<u8>,
    /// Flag for metadata.
    pub meta: bool,
}

impl<'a> Classifier<'a> {
    /// Creates a classifier for a disk, or for one partition of it.
    pub fn new(map: &'a AddressMap, partition: Option<(u64, u64)>) -> Classifier<'a> {
        Classifier { map, partition }
    }

    /// Calls `found` with the class and the number of each piece of a range, in order of address. Neighbors can have
    /// the same class.
    pub fn classes(
        &self,
        range: SectorRange,
        hint: ContentHint,
        mut found: impl FnMut(IoClass, u64),
    ) {
        let end = range.end();
        let mut at = range.start;
        let known_end = |known: &LayoutRange| known.sector.saturating_add(known.sectors);
        let first = self
            .map
            .ranges()
            .partition_point(|known| known_end(known) <= at);
        let mut known = self.map.ranges()[first..].iter().peekable();
        while at < end {
            while known.next_if(|known| known_end(known) <= at).is_some() {}
            let (class, until) = match known.peek() {
                Some(known) if known.sector <= at => (Some(known.class), known_end(known)),
                Some(known) => (None, known.sector),
                None => (None, end),
            };
            let until = until.min(end).min(self.edge_behind(at));
            found(self.class(at, class, hint), until - at);
            at = until;
        }
    }

    /// Returns the class of the first sector of a range.
    pub fn first(&self, range: SectorRange, hint: ContentHint) -> IoClass {
        self.class(range.start, self.map.class_of(range.start), hint)
    }

    fn class(&self, sector: u64, by_address: Option<IoClass>, hint: ContentHint) -> IoClass {
        if !self.is_inside(sector) {
            return IoClass::OtherPartition;
        }
        match (hint.page_type, by_address) {
            (Some(F2FS_DATA), _) => IoClass::Data,
            (Some(F2FS_NODE), _) => IoClass::Node,
            (Some(F2FS_META), None) => IoClass::Metadata,
            // No content of a file has this flag: the block was freed and used again.
            (_, Some(IoClass::Data)) if hint.meta => IoClass::Metadata,
            (_, Some(class)) => class,
            (_, None) if hint.meta => IoClass::Metadata,
            (_, None) => IoClass::Unknown,
        }
    }

    fn is_inside(&self, sector: u64) -> bool {
        self.partition
            .is_none_or(|(start, sectors)| (start..start.saturating_add(sectors)).contains(&sector))
    }

    /// Returns the next edge of the partition behind a sector.
    fn edge_behind(&self, sector: u64) -> u64 {
        let edges = self
            .partition
            .map(|(start, sectors)| [start, start.saturating_add(sectors)]);
        let mut behind = edges.into_iter().flatten().filter(|&edge| edge > sector);
        behind.next().unwrap_or(u64::MAX)
    }
}

/// Threads of this program.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnThreads<'a> {
    /// Workers of the run.
    pub workers: &'a [u32],
    /// Other threads.
    pub others: &'a [u32],
}

/// Returns what kind of thread queued a bio. Own threads are known by number; a name can be chosen by any process, and
/// tells threads of the kernel from other processes only.
pub fn issuer_kind(tid: u32, name: ThreadName, own: OwnThreads<'_>) -> IssuerKind {
    let name = name.to_string();
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if own.workers.contains(&ring_owner(tid, &name)) {
        IssuerKind::Worker
    } else if own.others.contains(&tid) {
        IssuerKind::OwnProcess
    } else if begins(&JOURNAL_THREADS) {
        IssuerKind::Journal
    } else if begins(&KERNEL_THREADS) {
        IssuerKind::Kernel
    } else {
        IssuerKind::OtherProcess
    }
}

const JOURNAL_THREADS: [&str; 4] = ["jbd2/", "f2fs_ckpt", "btrfs-transacti", "xfs-cil"];

const KERNEL_THREADS: [&str; 16] = [
    "kworker/",
    "kswapd",
    "ext4lazyinit",
    "f2fs_",
    "btrfs-",
    "xfs",
    "loop",
    "md",
    "dm",
    "mmcqd",
    "kcompactd",
    "ksoftirqd",
    "swapper/",
    "kdmflush",
    "jfsCommit",
    "flush-",
];

/// Returns the thread for which a thread of the kernel works: an I/O thread of `io_uring` carries its number in the
/// name.
pub(crate) fn ring_owner(tid: u32, name: &str) -> u32 {
    let number = name
        .strip_prefix("iou-wrk-")
        .or_else(|| name.strip_prefix("iou-sqp-"));
    number.and_then(|it| it.parse().ok()).unwrap_or(tid)
}

/// Returns the name of a thread without the numbers that distinguish threads of the kernel: `kworker/u8:3` becomes
/// `kworker`, and `jbd2/mmcblk0p2-8` becomes `jbd2/mmcblk0p2`.
pub(crate) fn issuer_name(name: ThreadName) -> String {
    let name = name.to_string();
    if name.starts_with("kworker/") {
        return "kworker".to_string();
    }
    if !name.starts_with("jbd2/") && !name.starts_with("iou-") {
        return name;
    }
    match name.rsplit_once('-') {
        Some((head, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            head.to_string()
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> AddressMap {
        let ranges = [
            (2048, 8, IoClass::Superblock),
            (2056, 8, IoClass::Bitmap),
            (2100, 100, IoClass::Data),
        ];
        AddressMap::from_ranges(ranges.map(|(sector, sectors, class)| LayoutRange {
            sector,
            sectors,
            class,
        }))
    }

    fn classes(
        map: &AddressMap,
        start: u64,
        sectors: u32,
        hint: ContentHint,
    ) -> Vec<(IoClass, u64)> {
        let mut found = Vec::new();
        let range = SectorRange { start, sectors };
        Classifier::new(map, Some((2048, 1000)))
            .classes(range, hint, |class, n| found.push((class, n)));
        found
    }

    fn name(name: &str) -> ThreadName {
        let mut bytes = [0; 16];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        ThreadName(bytes)
    }

    #[test]
    fn divides_a_range_at_the_edges_of_classes() {
        let hint = ContentHint::default();
        assert_eq!(
            classes(&map(), 2040, 100, hint),
            [
                (IoClass::OtherPartition, 8),
                (IoClass::Superblock, 8),
                (IoClass::Bitmap, 8),
                (IoClass::Unknown, 36),
                (IoClass::Data, 40),
            ]
        );
        assert_eq!(
            classes(&map(), 3040, 16, hint),
            [(IoClass::Unknown, 8), (IoClass::OtherPartition, 8)]
        );
        assert_eq!(classes(&map(), 2100, 0, hint), []);
    }

    #[test]
    fn the_flag_for_metadata_decides_where_the_address_says_nothing_or_data() {
        let meta = ContentHint {
            meta: true,
            page_type: None,
        };
        assert_eq!(classes(&map(), 2048, 8, meta), [(IoClass::Superblock, 8)]);
        assert_eq!(
            classes(&map(), 2096, 8, meta),
            [(IoClass::Metadata, 4), (IoClass::Metadata, 4)]
        );
    }

    #[test]
    fn f2fs_itself_decides_what_it_writes() {
        let of_type = |page_type| ContentHint {
            page_type: Some(page_type),
            meta: false,
        };
        let first = |hint, start| classes(&map(), start, 8, hint)[0].0;
        assert_eq!(first(of_type(0), 2064), IoClass::Data);
        assert_eq!(first(of_type(1), 2100), IoClass::Node);
        assert_eq!(first(of_type(2), 2056), IoClass::Bitmap);
        assert_eq!(first(of_type(2), 2064), IoClass::Metadata);
    }

    #[test]
    fn knows_workers_by_number_and_kernel_threads_by_name() {
        let own = OwnThreads {
            workers: &[7],
            others: &[8],
        };
        let kind = |tid, thread| issuer_kind(tid, name(thread), own);
        assert_eq!(kind(7, "kworker/1:0"), IssuerKind::Worker);
        assert_eq!(kind(8, "hakaru"), IssuerKind::OwnProcess);
        assert_eq!(kind(9, "hakaru"), IssuerKind::OtherProcess);
        assert_eq!(kind(9, "iou-wrk-7"), IssuerKind::Worker);
        assert_eq!(kind(9, "jbd2/vda1-8"), IssuerKind::Journal);
        assert_eq!(kind(9, "kworker/u8:2"), IssuerKind::Kernel);
    }

    #[test]
    fn leaves_numbers_of_kernel_threads_out_of_names() {
        let names = [
            "kworker/u8:3",
            "jbd2/mmcblk0p2-8",
            "jbd2/mmcblk0p2-",
            "my-app-7",
        ];
        let short = names.map(|it| issuer_name(name(&it[..it.len().min(15)])));
        assert_eq!(
            short,
            ["kworker", "jbd2/mmcblk0p2", "jbd2/mmcblk0p2", "my-app-7"]
        );
    }
}

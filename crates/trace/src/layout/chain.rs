//! Chains of clusters, and trees of directories in them: what FAT and exFAT share.

use super::Builder;
use super::medium::{Flaw, Reader, le16, le32};
use hakaru_model::io_path::{IoClass, LayoutPart};
use std::collections::HashSet;

/// Directories of a file system, at most.
const MAX_DIRECTORIES: usize = 1 << 16;
/// Pieces of one chain, at most.
const MAX_PIECES: usize = 1 << 20;
/// Bytes of an entry of a directory.
pub(super) const ENTRY: usize = 32;

/// Width of the entries of an allocation table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// FAT12
    Bits12,
    /// FAT16
    Bits16,
    /// FAT32: the four highest bits are reserved.
    Bits28,
    /// exFAT
    Bits32,
}

/// Clusters and the table that chains them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clusters {
    /// First byte of the table in use.
    pub(super) table: u64,
    pub(super) width: Width,
    /// Number of clusters; the first has number 2.
    pub(super) count: u32,
    /// First byte of cluster 2.
    pub(super) heap: u64,
    /// Bytes of a cluster.
    pub(super) size: u64,
}

/// Bytes of the file system: offset and length.
pub(super) type Piece = (u64, u64);

/// Bytes of a file or directory as far as found, and why not to its end.
pub(super) type Chain = (Vec<Piece>, Result<(), Flaw>);

impl Clusters {
    /// Returns the entry of a cluster.
    pub(super) fn entry(&self, reader: &mut Reader<'_>, cluster: u32) -> Result<u32, Flaw> {
        let cluster = u64::from(cluster);
        Ok(match self.width {
            Width::Bits12 => {
                let bytes: [u8; 2] = reader.bytes(self.table + cluster * 3 / 2)?;
                let pair = u32::from(le16(&bytes, 0));
                if cluster % 2 == 0 {
                    pair & 0xFFF
                } else {
                    pair >> 4
                }
            }
            Width::Bits16 => le16(&reader.bytes::<2>(self.table + cluster * 2)?, 0).into(),
            Width::Bits28 => le32(&reader.bytes::<4>(self.table + cluster * 4)?, 0) & 0x0FFF_FFFF,
            Width::Bits32 => le32(&reader.bytes::<4>(self.table + cluster * 4)?, 0),
        })
    }

    /// Whether a number belongs to a cluster.
    pub(super) fn contains(&self, cluster: u32) -> bool {
        cluster >= 2 && cluster - 2 < self.count
    }

    /// Returns the bytes of consecutive clusters.
    pub(super) fn bytes(&self, first: u32, count: u64) -> Piece {
        let offset = u64::from(first.saturating_sub(2)) * self.size;
        (self.heap + offset, count.saturating_mul(self.size))
    }

    /// Returns the cluster that contains a byte of the file system; 0 outside of all clusters.
    pub(super) fn cluster_at(&self, offset: u64) -> u32 {
        let index = offset
            .checked_sub(self.heap)
            .map(|offset| offset / self.size);
        let cluster = index.and_then(|index| u32::try_from(index).ok()?.checked_add(2));
        cluster
            .filter(|&cluster| self.contains(cluster))
            .unwrap_or(0)
    }

    /// Returns the clusters of a chain from its first, and whether its end was found.
    pub(super) fn chain(&self, reader: &mut Reader<'_>, first: u32) -> Chain {
        let end = match self.width {
            Width::Bits12 => 0xFF8,
            Width::Bits16 => 0xFFF8,
            Width::Bits28 => 0x0FFF_FFF8,
            Width::Bits32 => 0xFFFF_FFF8,
        };
        let mut pieces: Vec<Piece> = Vec::new();
        // A chain that returns to a cluster meets the one that was noted at a power of two (Brent).
        let (mut noted, mut steps, mut limit) = (first, 0u64, 1u64);
        let mut cluster = first;
        loop {
            if !self.contains(cluster) {
                return (pieces, Err(Flaw::Damaged));
            }
            let (offset, len) = self.bytes(cluster, 1);
            let full = pieces.len() >= MAX_PIECES;
            match pieces.last_mut() {
                Some((start, n)) if *start + *n == offset => *n += len,
                _ if full => return (pieces, Err(Flaw::TooLarge)),
                _ => pieces.push((offset, len)),
            }
            cluster = match self.entry(reader, cluster) {
                Ok(next) if next >= end => return (pieces, Ok(())),
                Ok(next) => next,
                Err(flaw) => return (pieces, Err(flaw)),
            };
            if cluster == noted {
                return (pieces, Err(Flaw::Damaged));
            }
            steps += 1;
            if steps == limit {
                (noted, steps, limit) = (cluster, 0, limit * 2);
            }
        }
    }
}

/// Entry of a directory: a file or another directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DirectoryEntry {
    /// Names by which it is found: the long one, and the short one of FAT.
    pub(super) names: Vec<Vec<u16>>,
    pub(super) is_directory: bool,
    pub(super) first: u32,
    /// Number of clusters if they follow one another, without a chain (exFAT).
    pub(super) contiguous: Option<u64>,
}

impl DirectoryEntry {
    /// Whether one of its names is `name`, without regard to case.
    fn has_name(&self, name: &str) -> bool {
        // Trailing dots are no part of a name.
        let wanted = name.trim_end_matches('.');
        self.names.iter().any(|units| {
            let chars = char::decode_utf16(units.iter().copied())
                .map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER));
            let upper = chars.flat_map(char::to_uppercase);
            upper.eq(wanted.chars().flat_map(char::to_uppercase))
        })
    }
}

/// Reads the entries of directories of one format.
pub(super) trait Directories {
    /// Returns the clusters.
    fn clusters(&self) -> &Clusters;

    /// Returns the bytes of the root directory.
    fn root(&self, reader: &mut Reader<'_>) -> Chain;

    /// Takes the next 32 bytes of a directory, and returns an entry when it is complete.
    fn parse(&self, raw: &[u8; ENTRY], state: &mut ParseState) -> Parsed;

    /// Returns the bytes of a file or directory.
    fn pieces(&self, reader: &mut Reader<'_>, entry: &DirectoryEntry) -> Chain {
        match entry.contiguous {
            // An empty file has no clusters.
            _ if entry.first == 0 => (Vec::new(), Ok(())),
            Some(count) => {
                let clusters = self.clusters();
                let available = u64::from(clusters.count) + 2;
                if !clusters.contains(entry.first) || u64::from(entry.first) + count > available {
                    return (Vec::new(), Err(Flaw::Damaged));
                }
                (vec![clusters.bytes(entry.first, count)], Ok(()))
            }
            None => self.clusters().chain(reader, entry.first),
        }
    }
}

/// What a directory's parser remembers between entries.
#[derive(Debug, Default)]
pub(super) struct ParseState {
    /// Units of the long name as far as read.
    pub(super) name: Vec<u16>,
    /// Checksum of the short name to which the long name belongs (FAT).
    pub(super) checksum: u8,
    /// The number that the next part of the name must have (FAT), or the entries that are left (exFAT).
    pub(super) left: u8,
    /// Units that the name has (exFAT).
    pub(super) name_len: usize,
    /// The entry so far (exFAT).
    pub(super) entry: Option<DirectoryEntry>,
}

/// Outcome of parsing 32 bytes of a directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    /// Nothing complete.
    Nothing,
    /// A file or directory.
    Entry(DirectoryEntry),
    /// The directory ends here.
    End,
}

/// Calls `visit` with each entry of a directory until it returns `false`.
fn for_each_entry(
    format: &impl Directories,
    reader: &mut Reader<'_>,
    pieces: &[Piece],
    mut visit: impl FnMut(DirectoryEntry) -> bool,
) -> Result<(), Flaw> {
    let mut state = ParseState::default();
    for &(start, len) in pieces {
        for at in 0..len / ENTRY as u64 {
            let raw = reader.bytes(start + at * ENTRY as u64)?;
            match format.parse(&raw, &mut state) {
                Parsed::Nothing => {}
                Parsed::End => return Ok(()),
                Parsed::Entry(entry) => {
                    if !visit(entry) {
                        return Ok(());
                    }
                }
            }
        }
    }
    Ok(())
}

/// Adds the root directory and all directories below it.
pub(super) fn add_directories(
    format: &impl Directories,
    reader: &mut Reader<'_>,
    builder: &mut Builder,
) {
    let mut seen = HashSet::new();
    let mut waiting: Vec<Option<DirectoryEntry>> = vec![None];
    while let Some(directory) = waiting.pop() {
        let (pieces, end) = match &directory {
            None => format.root(reader),
            Some(entry) => format.pieces(reader, entry),
        };
        builder.known(LayoutPart::Directories, end);
        for &(offset, len) in &pieces {
            builder.add(offset, len, IoClass::Directory);
        }
        let mut too_many = false;
        let result = for_each_entry(format, reader, &pieces, |entry| {
            if entry.is_directory && entry.first != 0 && seen.insert(entry.first) {
                too_many = seen.len() > MAX_DIRECTORIES;
                waiting.push(Some(entry));
            }
            !too_many
        });
        builder.known(LayoutPart::Directories, result);
        if too_many {
            builder.gap(Flaw::TooLarge.of(LayoutPart::Directories));
            break;
        }
    }
}

/// Returns the bytes of a file by its path from the root of the file system, and whether all of them were found;
/// `None` if there is no such file.
pub(super) fn find_file<'n>(
    format: &impl Directories,
    reader: &mut Reader<'_>,
    path: impl Iterator<Item = &'n str>,
) -> Result<Option<Chain>, Flaw> {
    let (mut pieces, mut end) = format.root(reader);
    for name in path {
        let mut found = None;
        for_each_entry(format, reader, &pieces, |entry| {
            if entry.has_name(name) {
                found = Some(entry);
            }
            found.is_none()
        })?;
        let Some(entry) = found else { return Ok(None) };
        (pieces, end) = format.pieces(reader, &entry);
    }
    Ok(Some((pieces, end)))
}

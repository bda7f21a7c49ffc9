//! exFAT: boot regions, tables, allocation bitmaps, the up-case table, and all directories.

use super::chain::{
    self, Chain, Clusters, Directories, DirectoryEntry, ENTRY, ParseState, Parsed, Piece, Width,
};
use super::medium::{Flaw, Reader, le16, le32, le64};
use super::{Allocation, Builder, Detected, FileSystem, Parameters};
use hakaru_model::io_path::{IoClass, LayoutPart};

/// Parameters of the boot sector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Exfat {
    clusters: Clusters,
    root: u32,
}

/// Types of the entries of a directory.
const BITMAP: u8 = 0x81;
const UP_CASE: u8 = 0x82;
const FILE: u8 = 0x85;
const STREAM: u8 = 0xC0;
const NAME: u8 = 0xC1;

pub(super) fn read(reader: &mut Reader<'_>, builder: &mut Builder) -> Detected {
    let Some(boot) = reader.superblock::<512>(0, (3, b"EXFAT   "))? else {
        return Ok(None);
    };
    let (sector_shift, cluster_shift) = (u32::from(boot[108]), u32::from(boot[109]));
    let tables = u64::from(boot[110]);
    if !(9..=12).contains(&sector_shift)
        || cluster_shift > 25 - sector_shift
        || !matches!(tables, 1 | 2)
    {
        builder.damaged(LayoutPart::Superblock);
        return Ok(Some(FileSystem::Exfat));
    }
    let bytes = |at| u64::from(le32(&boot, at)) << sector_shift;
    let (table, table_len, heap) = (bytes(80), bytes(84), bytes(88));
    let size = 1u64 << (sector_shift + cluster_shift);
    // The boot region has 12 sectors, and a copy behind it.
    builder.add(0, 24 << sector_shift, IoClass::Superblock);
    builder.add(table, table_len, IoClass::Fat1);
    if tables == 2 {
        builder.add(table + table_len, table_len, IoClass::Fat2);
    }
    let entries = (table_len / 4).saturating_sub(2);
    let space = reader.size().saturating_sub(heap) / size;
    let claimed = u64::from(le32(&boot, 92));
    if claimed > entries.min(space) {
        builder.damaged(LayoutPart::Superblock);
    }
    // Bit 0 of the flags: the second table and bitmap are in use.
    let second = tables == 2 && le16(&boot, 106) & 1 != 0;
    let exfat = Exfat {
        clusters: Clusters {
            table: if second { table + table_len } else { table },
            width: Width::Bits32,
            count: claimed.min(entries).min(space).min(0xFFFF_FFF5) as u32,
            heap,
            size,
        },
        root: le32(&boot, 96),
    };
    exfat.special_files(reader, builder, second);
    chain::add_directories(&exfat, reader, builder);
    builder.layout.parameters = Parameters::Exfat(exfat);
    Ok(Some(FileSystem::Exfat))
}

impl Exfat {
    /// Adds the allocation bitmaps and the up-case table, which the root directory names.
    fn special_files(&self, reader: &mut Reader<'_>, builder: &mut Builder, second: bool) {
        let (root, end) = self.root(reader);
        builder.known(LayoutPart::Directories, end);
        let entries = root.iter().flat_map(|&(start, len)| {
            (0..len / ENTRY as u64).map(move |at| start + at * ENTRY as u64)
        });
        for offset in entries {
            let raw = reader.bytes::<ENTRY>(offset);
            let Some(raw) = builder.known(LayoutPart::Directories, raw) else {
                return;
            };
            let class = match raw[0] {
                0 => return,
                BITMAP => IoClass::Bitmap,
                UP_CASE => IoClass::Metadata,
                _ => continue,
            };
            let (pieces, end) = self.clusters.chain(reader, le32(&raw, 20));
            builder.known(LayoutPart::Bitmap, end);
            for &(offset, len) in &pieces {
                builder.add(offset, len, class);
            }
            // Bit 0: which of two bitmaps it is.
            if raw[0] == BITMAP && (raw[1] & 1 != 0) == second {
                let allocation = self.allocation(reader, builder, &pieces, le64(&raw, 24));
                builder.layout.allocation = builder.known(LayoutPart::Bitmap, allocation);
            }
        }
    }

    /// Reads a bitmap.
    fn allocation(
        &self,
        reader: &mut Reader<'_>,
        builder: &Builder,
        pieces: &[Piece],
        len: u64,
    ) -> Result<Allocation, Flaw> {
        let Clusters {
            count, heap, size, ..
        } = self.clusters;
        let mut left = len.min(u64::from(count).div_ceil(8));
        if left > Allocation::LIMIT {
            return Err(Flaw::TooLarge);
        }
        let mut allocation = Allocation::new(builder.layout.area, heap, size);
        for &(offset, len) in pieces {
            let mut bits = vec![0; len.min(left) as usize];
            reader.read(offset, &mut bits)?;
            allocation.append(&bits);
            left -= bits.len() as u64;
        }
        Ok(allocation)
    }
}

impl Directories for Exfat {
    fn clusters(&self) -> &Clusters {
        &self.clusters
    }

    fn root(&self, reader: &mut Reader<'_>) -> Chain {
        self.clusters.chain(reader, self.root)
    }

    fn parse(&self, raw: &[u8; ENTRY], state: &mut ParseState) -> Parsed {
        const DIRECTORY: u16 = 0x10;
        const NO_CHAIN: u8 = 0x2;
        match raw[0] {
            0 => return Parsed::End,
            FILE => {
                *state = ParseState {
                    left: raw[1],
                    entry: Some(DirectoryEntry {
                        names: Vec::new(),
                        is_directory: le16(raw, 4) & DIRECTORY != 0,
                        first: 0,
                        contiguous: None,
                    }),
                    ..ParseState::default()
                };
                return Parsed::Nothing;
            }
            _ if state.left == 0 => return Parsed::Nothing,
            STREAM => {
                state.name_len = usize::from(raw[3]);
                if let Some(entry) = &mut state.entry {
                    entry.first = le32(raw, 20);
                    let clusters = le64(raw, 24).div_ceil(self.clusters.size);
                    entry.contiguous = (raw[1] & NO_CHAIN != 0).then_some(clusters);
                }
            }
            NAME => {
                let units = raw[2..].chunks_exact(2).map(|unit| le16(unit, 0));
                state.name.extend(units);
            }
            // An entry that does not belong to a file ends the set.
            other if other & 0x40 == 0 => {
                *state = ParseState::default();
                return Parsed::Nothing;
            }
            _ => {}
        }
        state.left -= 1;
        if state.left > 0 {
            return Parsed::Nothing;
        }
        let ParseState {
            mut name,
            name_len,
            entry,
            ..
        } = std::mem::take(state);
        name.truncate(name_len);
        match entry {
            Some(entry) => Parsed::Entry(DirectoryEntry {
                names: vec![name],
                ..entry
            }),
            None => Parsed::Nothing,
        }
    }
}

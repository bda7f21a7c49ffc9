//! FAT12, FAT16 and FAT32: boot sectors, FSInfo, both tables, and all directories.

use super::chain::{
    self, Chain, Clusters, Directories, DirectoryEntry, ENTRY, ParseState, Parsed, Piece, Width,
};
use super::medium::{Flaw, Reader, le16, le32};
use super::{Allocation, Builder, Detected, FileSystem, Parameters};
use hakaru_model::io_path::{IoClass, LayoutPart};

/// Parameters of the boot sector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fat {
    clusters: Clusters,
    root: Root,
}

/// Where the root directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    /// Behind the tables (FAT12, FAT16).
    Fixed(Piece),
    /// A chain of clusters.
    Chain(u32),
}

/// Most clusters of FAT12 and of FAT16, plus one.
const CLUSTERS_FAT12: u64 = 4085;
const CLUSTERS_FAT16: u64 = 65525;

pub(super) fn read(reader: &mut Reader<'_>, builder: &mut Builder) -> Detected {
    let Some(boot) = reader.superblock::<512>(0, (510, &[0x55, 0xAA]))? else {
        return Ok(None);
    };
    let Some(geometry) = Geometry::parse(&boot) else {
        return Ok(None);
    };
    let Geometry { sector, .. } = geometry;
    // Everything before the first table: boot sectors and their copies.
    if geometry.is_fat32 {
        let info = [
            le16(&boot, 48),
            le16(&boot, 48).saturating_add(le16(&boot, 50)),
        ];
        let reserved = 1..geometry.reserved;
        for at in info
            .map(u64::from)
            .iter()
            .filter(|at| reserved.contains(at))
        {
            builder.add(at * sector, sector, IoClass::FsInfo);
        }
    }
    builder.add(0, geometry.reserved * sector, IoClass::Superblock);
    let table = geometry.table * sector;
    for number in 0..geometry.tables {
        let class = if number == 0 {
            IoClass::Fat1
        } else {
            IoClass::Fat2
        };
        let start = geometry.reserved * sector + number * table;
        builder.add(start, table, class);
    }
    let fat = geometry.fat(&boot, reader.size());
    if geometry.data_start().saturating_mul(sector) > reader.size() {
        builder.damaged(LayoutPart::Superblock);
    }
    chain::add_directories(&fat, reader, builder);
    let allocation = fat.allocation(reader, builder);
    builder.layout.allocation = builder.known(LayoutPart::Bitmap, allocation);
    let kind = match fat.clusters.width {
        Width::Bits12 => FileSystem::Fat12,
        Width::Bits16 => FileSystem::Fat16,
        _ => FileSystem::Fat32,
    };
    builder.layout.parameters = Parameters::Fat(fat);
    Ok(Some(kind))
}

/// Sizes of the boot sector, in sectors of the file system unless stated otherwise.
struct Geometry {
    /// Bytes of a sector.
    sector: u64,
    per_cluster: u64,
    reserved: u64,
    /// Number of tables.
    tables: u64,
    /// Length of a table.
    table: u64,
    /// Length of the fixed root directory.
    root: u64,
    total: u64,
    is_fat32: bool,
}

impl Geometry {
    /// Returns the sizes, or `None` if this is no boot sector of FAT.
    fn parse(boot: &[u8; 512]) -> Option<Geometry> {
        let sector = u64::from(le16(boot, 11));
        let per_cluster = u64::from(boot[13]);
        let short_total = u64::from(le16(boot, 19));
        let short_table = u64::from(le16(boot, 22));
        let geometry = Geometry {
            sector,
            per_cluster,
            reserved: u64::from(le16(boot, 14)),
            tables: u64::from(boot[16]),
            table: match short_table {
                0 => u64::from(le32(boot, 36)),
                _ => short_table,
            },
            root: (u64::from(le16(boot, 17)) * ENTRY as u64).div_ceil(sector.max(1)),
            total: match short_total {
                0 => u64::from(le32(boot, 32)),
                _ => short_total,
            },
            is_fat32: short_table == 0,
        };
        let is_fat = matches!(sector, 512 | 1024 | 2048 | 4096)
            && per_cluster.is_power_of_two()
            && geometry.reserved > 0
            && matches!(geometry.tables, 1..=4)
            && geometry.table > 0
            && geometry.total > geometry.data_start()
            && (boot[21] == 0xF0 || boot[21] >= 0xF8)
            && (geometry.is_fat32 || geometry.root > 0);
        is_fat.then_some(geometry)
    }

    fn data_start(&self) -> u64 {
        self.reserved + self.tables * self.table + self.root
    }

    fn fat(&self, boot: &[u8; 512], medium: u64) -> Fat {
        let clusters = (self.total - self.data_start()) / self.per_cluster;
        let width = if self.is_fat32 {
            Width::Bits28
        } else if clusters < CLUSTERS_FAT12 {
            Width::Bits12
        } else {
            Width::Bits16
        };
        let limit = match width {
            Width::Bits12 => CLUSTERS_FAT12,
            Width::Bits16 => CLUSTERS_FAT16,
            _ => 0x0FFF_FFF5,
        };
        // No more than the table has entries for, and the medium has space for.
        let bits = match width {
            Width::Bits12 => 12,
            Width::Bits16 => 16,
            _ => 32,
        };
        let entries = (self.table * self.sector * 8 / bits).saturating_sub(2);
        let heap = self.data_start() * self.sector;
        let size = self.per_cluster * self.sector;
        let space = medium.saturating_sub(heap) / size;
        let count = clusters.min(limit).min(entries).min(space) as u32;
        // Bit 7: only one table is in use, the one with the number in the low bits.
        let flags = if self.is_fat32 { le16(boot, 40) } else { 0 };
        let active = match flags & 0x80 {
            0 => 0,
            _ => u64::from(flags & 0xF).min(self.tables - 1),
        };
        let fixed = self.reserved + self.tables * self.table;
        Fat {
            clusters: Clusters {
                table: (self.reserved + active * self.table) * self.sector,
                width,
                count,
                heap,
                size,
            },
            root: match self.is_fat32 {
                true => Root::Chain(le32(boot, 44)),
                false => Root::Fixed((fixed * self.sector, self.root * self.sector)),
            },
        }
    }
}

impl Fat {
    /// Reads which clusters are in use.
    fn allocation(&self, reader: &mut Reader<'_>, builder: &Builder) -> Result<Allocation, Flaw> {
        let Clusters {
            table,
            width,
            count,
            heap,
            size,
        } = self.clusters;
        if u64::from(count) * 4 > Allocation::LIMIT {
            return Err(Flaw::TooLarge);
        }
        let mut allocation = Allocation::new(builder.layout.area, heap, size);
        let width = match width {
            Width::Bits12 => {
                for cluster in 2..count + 2 {
                    if self.clusters.entry(reader, cluster)? != 0 {
                        allocation.set(cluster as usize - 2);
                    }
                }
                return Ok(allocation);
            }
            Width::Bits16 => 2,
            _ => 4,
        };
        let mut entries = vec![0; 32 << 10];
        let mut cluster = 2;
        while cluster < count + 2 {
            let left = (count + 2 - cluster) as usize * width;
            let len = left.min(entries.len());
            let offset = table + u64::from(cluster) * width as u64;
            reader.read(offset, &mut entries[..len])?;
            for entry in entries[..len].chunks_exact(width) {
                // The four highest bits of FAT32 are reserved.
                let is_used = match entry {
                    [low @ .., high] if width == 4 => high & 0xF != 0 || *low != [0; 3],
                    entry => *entry != [0; 2],
                };
                if is_used {
                    allocation.set(cluster as usize - 2);
                }
                cluster += 1;
            }
        }
        Ok(allocation)
    }
}

impl Directories for Fat {
    fn clusters(&self) -> &Clusters {
        &self.clusters
    }

    fn root(&self, reader: &mut Reader<'_>) -> Chain {
        match self.root {
            Root::Fixed(piece) => (vec![piece], Ok(())),
            Root::Chain(first) => self.clusters.chain(reader, first),
        }
    }

    fn parse(&self, raw: &[u8; ENTRY], state: &mut ParseState) -> Parsed {
        const LONG_NAME: u8 = 0x0F;
        const LABEL: u8 = 0x08;
        const DIRECTORY: u8 = 0x10;
        let attributes = raw[11];
        match raw[0] {
            0 => return Parsed::End,
            // Deleted.
            0xE5 => *state = ParseState::default(),
            _ if attributes & 0x3F == LONG_NAME => long_name(raw, state),
            // "." and "..", and the name of the volume.
            b'.' => *state = ParseState::default(),
            _ if attributes & LABEL != 0 => *state = ParseState::default(),
            _ => {
                let mut names = vec![short_name(raw)];
                let complete = state.left == 0 && state.checksum == checksum(raw);
                if complete && !state.name.is_empty() {
                    let end = state.name.iter().position(|&unit| unit == 0);
                    state.name.truncate(end.unwrap_or(state.name.len()));
                    names.push(std::mem::take(&mut state.name));
                }
                *state = ParseState::default();
                let high = match self.clusters.width {
                    Width::Bits28 => u32::from(le16(raw, 20)) << 16,
                    _ => 0,
                };
                return Parsed::Entry(DirectoryEntry {
                    names,
                    is_directory: attributes & DIRECTORY != 0,
                    first: u32::from(le16(raw, 26)) | high,
                    contiguous: None,
                });
            }
        }
        Parsed::Nothing
    }
}

/// Takes a part of a long name; the last part comes first.
fn long_name(raw: &[u8; ENTRY], state: &mut ParseState) {
    const FIRST: u8 = 0x40;
    let number = raw[0] & 0x3F;
    let is_first = raw[0] & FIRST != 0;
    if is_first {
        *state = ParseState {
            checksum: raw[13],
            left: number,
            ..ParseState::default()
        };
    }
    // The name is complete when the part with number 1 was taken.
    if number == 0 || number > 20 || number != state.left || raw[13] != state.checksum {
        *state = ParseState::default();
        return;
    }
    state.left = number - 1;
    let units = [&raw[1..11], &raw[14..26], &raw[28..32]];
    let units = units.into_iter().flat_map(|bytes| bytes.chunks_exact(2));
    state.name.splice(0..0, units.map(|unit| le16(unit, 0)));
}

/// Returns the name of 8 and 3 characters with its dot.
fn short_name(raw: &[u8; ENTRY]) -> Vec<u16> {
    let trimmed = |bytes: &[u8]| -> Vec<u16> {
        let len = bytes
            .iter()
            .rposition(|&byte| byte != b' ')
            .map_or(0, |at| at + 1);
        bytes[..len].iter().map(|&byte| u16::from(byte)).collect()
    };
    let mut name = trimmed(&raw[..8]);
    // 0xE5 as the first character would mean "deleted".
    if let Some(first @ 0x05) = name.first_mut() {
        *first = 0xE5;
    }
    let extension = trimmed(&raw[8..11]);
    if !extension.is_empty() {
        name.push(u16::from(b'.'));
        name.extend(extension);
    }
    name
}

/// Returns the checksum of a short name that its long name bears.
fn checksum(raw: &[u8; ENTRY]) -> u8 {
    raw[..11]
        .iter()
        .fold(0u8, |sum, &byte| sum.rotate_right(1).wrapping_add(byte))
}

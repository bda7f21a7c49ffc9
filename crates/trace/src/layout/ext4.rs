//! ext2, ext3 and ext4: superblocks, group descriptors, bitmaps, inode tables, the journal, and special inodes.

use super::inode::{BlockList, read_blocks};
use super::medium::{Flaw, Reader, le16, le32, le64};
use super::{Allocation, Builder, Detected, FileSystem, Parameters};
use hakaru_model::io_path::{IoClass, LayoutGap, LayoutPart};

const SUPERBLOCK: u64 = 1024;
const MAGIC: u16 = 0xEF53;
/// Block groups, at most.
const MAX_GROUPS: u64 = 1 << 20;

/// Features of the superblock that matter here.
mod feature {
    pub(super) const HAS_JOURNAL: u32 = 0x4;
    pub(super) const RESIZE_INODE: u32 = 0x10;
    pub(super) const SPARSE_SUPER2: u32 = 0x200;
    pub(super) const ORPHAN_FILE: u32 = 0x1000;

    pub(super) const JOURNAL_DEVICE: u32 = 0x8;
    pub(super) const META_BG: u32 = 0x10;
    pub(super) const BITS_64: u32 = 0x80;
    pub(super) const MULTI_MOUNT: u32 = 0x100;
    /// All features that a system must know to read the file system, and that are known here.
    pub(super) const KNOWN: u32 = 0x3F7DF;

    pub(super) const SPARSE_SUPER: u32 = 0x1;
}

/// Numbers of special inodes.
const ROOT_INODE: u64 = 2;
const RESIZE_INODE: u64 = 7;

/// Parameters of the superblock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ext {
    block_size: u64,
    first_data_block: u64,
    blocks: u64,
    blocks_per_group: u64,
    cluster_size: u64,
    inodes_per_group: u64,
    inode_size: u64,
    groups: u64,
    descriptor_size: u64,
    reserved_descriptors: u64,
    first_meta_group: u64,
    backup_groups: [u64; 2],
    compatible: u32,
    incompatible: u32,
    read_only_compatible: u32,
}

pub(super) fn read(reader: &mut Reader<'_>, builder: &mut Builder) -> Detected {
    let magic = (0x38, &MAGIC.to_le_bytes()[..]);
    let Some(superblock) = reader.superblock::<1024>(SUPERBLOCK, magic)? else {
        return Ok(None);
    };
    let Some(ext) = Ext::parse(&superblock) else {
        builder.damaged(LayoutPart::Superblock);
        return Ok(Some(FileSystem::Ext));
    };
    if ext.blocks.saturating_mul(ext.block_size) > reader.size() {
        builder.damaged(LayoutPart::Superblock);
    }
    let unknown = ext.incompatible & !feature::KNOWN;
    if unknown != 0 {
        builder.gap(LayoutGap::UnknownFeatures {
            bits: u64::from(unknown),
        });
    }
    if ext.incompatible & feature::JOURNAL_DEVICE != 0 {
        // A journal of other file systems: no groups.
        builder.add(0, u64::MAX, IoClass::Journal);
        return Ok(Some(FileSystem::Ext));
    }
    ext.journal(&superblock, reader, builder);
    ext.groups(reader, builder);
    ext.special_inodes(&superblock, reader, builder);
    if ext.incompatible & feature::MULTI_MOUNT != 0 {
        ext.add_blocks(builder, &[(le64(&superblock, 0x168), 1)], IoClass::Metadata);
    }
    let allocation = ext.allocation(reader, builder);
    builder.layout.allocation = builder.known(LayoutPart::Bitmap, allocation);
    builder.layout.parameters = Parameters::Ext(ext);
    Ok(Some(FileSystem::Ext))
}

impl Ext {
    /// Returns the parameters, or `None` if they contradict each other.
    fn parse(superblock: &[u8]) -> Option<Ext> {
        let number = |at| u64::from(le32(superblock, at));
        let log_block_size = number(0x18);
        let log_cluster_size = number(0x1C);
        if log_block_size > 6 || log_cluster_size > 20 {
            return None;
        }
        let incompatible = le32(superblock, 0x60);
        let wide = incompatible & feature::BITS_64 != 0;
        let old_revision = number(0x4C) == 0;
        let block_size = 1024 << log_block_size;
        let ext = Ext {
            block_size,
            first_data_block: number(0x14),
            blocks: number(0x04) | if wide { number(0x150) << 32 } else { 0 },
            blocks_per_group: number(0x20),
            cluster_size: (1024 << log_cluster_size).max(block_size),
            inodes_per_group: number(0x28),
            inode_size: match old_revision {
                true => 128,
                false => u64::from(le16(superblock, 0x58)),
            },
            groups: 0,
            descriptor_size: match wide {
                true => u64::from(le16(superblock, 0xFE)),
                false => 32,
            },
            reserved_descriptors: u64::from(le16(superblock, 0xCE)),
            first_meta_group: number(0x104),
            backup_groups: [number(0x24C), number(0x250)],
            compatible: le32(superblock, 0x5C),
            incompatible,
            read_only_compatible: le32(superblock, 0x64),
        };
        let data_blocks = ext.blocks.checked_sub(ext.first_data_block)?;
        let sane = ext.blocks_per_group > 0
            && ext.inodes_per_group > 0
            && (128..=block_size).contains(&ext.inode_size)
            && (32..=block_size).contains(&ext.descriptor_size)
            && ext.descriptor_size.is_power_of_two();
        let groups = data_blocks.checked_div(ext.blocks_per_group)?
            + u64::from(!data_blocks.is_multiple_of(ext.blocks_per_group));
        sane.then_some(Ext { groups, ..ext })
    }

    fn descriptors_per_block(&self) -> u64 {
        self.block_size / self.descriptor_size
    }

    fn has_meta_groups(&self) -> bool {
        self.incompatible & feature::META_BG != 0
    }

    fn first_block(&self, group: u64) -> u64 {
        self.first_data_block
            .saturating_add(group.saturating_mul(self.blocks_per_group))
    }

    /// Returns the block of the superblock, or of its copy, in a group.
    fn superblock_of(&self, group: u64) -> Option<u64> {
        let powers_of = |base: u64| {
            let mut power = base;
            while power < group {
                power = power.saturating_mul(base);
            }
            power == group
        };
        let has_copy = if group == 0 {
            // The superblock is at byte 1024, even where the first data block is 0 and a block has 1 KiB (bigalloc).
            return Some(SUPERBLOCK / self.block_size);
        } else if self.compatible & feature::SPARSE_SUPER2 != 0 {
            self.backup_groups.contains(&group)
        } else if self.read_only_compatible & feature::SPARSE_SUPER != 0 {
            group == 1 || powers_of(3) || powers_of(5) || powers_of(7)
        } else {
            true
        };
        has_copy.then(|| self.first_block(group))
    }

    /// Returns the block of a part of the table of descriptors.
    fn descriptor_block(&self, index: u64) -> u64 {
        if !self.has_meta_groups() || index < self.first_meta_group {
            return (SUPERBLOCK / self.block_size).saturating_add(1 + index);
        }
        self.block_behind_superblock(index.saturating_mul(self.descriptors_per_block()))
    }

    /// Returns the first block of a group that is not its superblock.
    fn block_behind_superblock(&self, group: u64) -> u64 {
        match self.superblock_of(group) {
            Some(superblock) => superblock.saturating_add(1),
            None => self.first_block(group),
        }
    }

    /// Reads the descriptor of a group: block bitmap, inode bitmap, inode table, flags.
    fn descriptor(&self, reader: &mut Reader<'_>, group: u64) -> Result<[u64; 4], Flaw> {
        let per_block = self.descriptors_per_block();
        let offset = self
            .descriptor_block(group / per_block)
            .checked_mul(self.block_size)
            .ok_or(Flaw::Damaged)?
            .saturating_add(group % per_block * self.descriptor_size);
        let mut bytes = [0; 64];
        let len = (self.descriptor_size as usize).min(64);
        reader.read(offset, &mut bytes[..len])?;
        let block =
            |low, high| u64::from(le32(&bytes, low)) | (u64::from(le32(&bytes, high)) << 32);
        Ok([
            block(0x00, 0x20),
            block(0x04, 0x24),
            block(0x08, 0x28),
            u64::from(le16(&bytes, 0x12)),
        ])
    }

    /// Adds blocks, given as first block and number.
    pub(super) fn add_blocks(&self, builder: &mut Builder, blocks: &[(u64, u64)], class: IoClass) {
        for &(start, len) in blocks {
            builder.add(
                start.saturating_mul(self.block_size),
                len.saturating_mul(self.block_size),
                class,
            );
        }
    }

    /// Adds superblocks, descriptors, bitmaps and inode tables of all groups.
    fn groups(&self, reader: &mut Reader<'_>, builder: &mut Builder) {
        if self.groups > MAX_GROUPS {
            builder.gap(Flaw::TooLarge.of(LayoutPart::GroupDescriptors));
        }
        let groups = self.groups.min(MAX_GROUPS);
        let table =
            (self.inodes_per_group.saturating_mul(self.inode_size)).div_ceil(self.block_size);
        let mut tables = Vec::new();
        for group in 0..groups {
            let descriptor = self.descriptor(reader, group);
            let Some([block_bitmap, inode_bitmap, inode_table, _]) =
                builder.known(LayoutPart::GroupDescriptors, descriptor)
            else {
                break;
            };
            if inode_table.saturating_add(table) > self.blocks {
                builder.damaged(LayoutPart::GroupDescriptors);
            }
            let bitmaps = [(block_bitmap, 1), (inode_bitmap, 1)];
            self.add_blocks(builder, &bitmaps, IoClass::Bitmap);
            tables.push((inode_table, table));
        }
        self.add_blocks(builder, &tables, IoClass::InodeTable);
        for group in 0..groups {
            self.superblock_and_descriptors(group, builder);
        }
    }

    /// Adds the superblock of a group, and the blocks of the table of descriptors behind it.
    fn superblock_and_descriptors(&self, group: u64, builder: &mut Builder) {
        let per_block = self.descriptors_per_block();
        let table = self.groups.div_ceil(per_block);
        if let Some(superblock) = self.superblock_of(group) {
            // The boot block before the first superblock is never written.
            let first = if group == 0 { 0 } else { superblock };
            let blocks = (first, superblock + 1 - first);
            self.add_blocks(builder, &[blocks], IoClass::Superblock);
            let reserved = match self.compatible & feature::RESIZE_INODE {
                0 => 0,
                _ => self.reserved_descriptors,
            };
            let descriptors = match self.has_meta_groups() {
                true => table.min(self.first_meta_group),
                false => table + reserved,
            };
            let blocks = (superblock + 1, descriptors);
            self.add_blocks(builder, &[blocks], IoClass::GroupDescriptors);
        }
        let in_meta_group = self.has_meta_groups() && group / per_block >= self.first_meta_group;
        if in_meta_group && [0, 1, per_block - 1].contains(&(group % per_block)) {
            let blocks = (self.block_behind_superblock(group), 1);
            self.add_blocks(builder, &[blocks], IoClass::GroupDescriptors);
        }
    }

    /// Adds the journal: from the superblock's copy of its blocks, else from its inode.
    fn journal(&self, superblock: &[u8], reader: &mut Reader<'_>, builder: &mut Builder) {
        if self.compatible & feature::HAS_JOURNAL == 0 {
            return;
        }
        let inode = u64::from(le32(superblock, 0xE0));
        let copied = superblock[0xFD] == 1;
        if inode == 0 && !copied {
            builder.gap(LayoutGap::ExternalJournal);
            return;
        }
        let mut blocks = Err(Flaw::Damaged);
        if copied && let Some(pointers) = superblock[0x10C..].first_chunk() {
            let size =
                u64::from(le32(superblock, 0x14C)) | (u64::from(le32(superblock, 0x148)) << 32);
            let is_tree = le16(pointers, 0) == super::inode::EXTENT_MAGIC;
            blocks = read_blocks(reader, pointers, is_tree, size, self.block_size);
        }
        if blocks.is_err() && inode != 0 {
            blocks = self.inode(reader, inode);
        }
        if let Some(blocks) = builder.known(LayoutPart::Journal, blocks) {
            self.add_blocks(builder, &blocks.data, IoClass::Journal);
            self.add_blocks(builder, &blocks.tree, IoClass::Metadata);
        }
    }

    /// Adds the root directory, quotas, the list of orphans, and the blocks reserved for growing.
    fn special_inodes(&self, superblock: &[u8], reader: &mut Reader<'_>, builder: &mut Builder) {
        let mut add = |inode: u64, class| {
            if inode == 0 {
                return;
            }
            let blocks = self.inode(reader, inode);
            if let Some(blocks) = builder.known(LayoutPart::Inode, blocks) {
                self.add_blocks(builder, &blocks.data, class);
                self.add_blocks(builder, &blocks.tree, class);
            }
        };
        add(ROOT_INODE, IoClass::Directory);
        for quota in [0x240, 0x244, 0x26C] {
            add(u64::from(le32(superblock, quota)), IoClass::Metadata);
        }
        if self.compatible & feature::ORPHAN_FILE != 0 {
            add(u64::from(le32(superblock, 0x280)), IoClass::Metadata);
        }
        if self.compatible & feature::RESIZE_INODE != 0 {
            add(RESIZE_INODE, IoClass::GroupDescriptors);
        }
    }

    /// Reads the blocks of an inode.
    pub(super) fn inode(&self, reader: &mut Reader<'_>, inode: u64) -> Result<BlockList, Flaw> {
        let index = inode.checked_sub(1).ok_or(Flaw::Damaged)?;
        let (group, index) = (index / self.inodes_per_group, index % self.inodes_per_group);
        if group >= self.groups {
            return Err(Flaw::Damaged);
        }
        let [_, _, table, _] = self.descriptor(reader, group)?;
        let offset = table
            .saturating_mul(self.block_size)
            .saturating_add(index * self.inode_size);
        let bytes: [u8; 128] = reader.bytes(offset)?;
        let size = u64::from(le32(&bytes, 0x4)) | (u64::from(le32(&bytes, 0x6C)) << 32);
        let flags = le32(&bytes, 0x20);
        let mode = le16(&bytes, 0x0);
        let Some(pointers) = bytes[0x28..].first_chunk() else {
            return Err(Flaw::Damaged);
        };
        /// `EXT4_EXTENTS_FL` and `EXT4_INLINE_DATA_FL`.
        const TREE: u32 = 0x80000;
        const INLINE: u32 = 0x1000_0000;
        /// Only regular files and directories have blocks here.
        const FORMAT: u16 = 0xF000;
        if flags & INLINE != 0 || !matches!(mode & FORMAT, 0x8000 | 0x4000) {
            return Ok(BlockList::default());
        }
        read_blocks(reader, pointers, flags & TREE != 0, size, self.block_size)
    }

    /// Reads the bitmaps of blocks.
    fn allocation(&self, reader: &mut Reader<'_>, builder: &Builder) -> Result<Allocation, Flaw> {
        /// `EXT4_BG_BLOCK_UNINIT`: the bitmap is not written yet.
        const NOT_WRITTEN: u64 = 0x2;
        let start = self.first_data_block * self.block_size;
        let mut allocation = Allocation::new(builder.layout.area, start, self.cluster_size);
        let clusters = self.blocks_per_group / (self.cluster_size / self.block_size);
        let len = clusters / 8;
        // Each group has a bitmap of one block.
        if len == 0 || len > self.block_size || !clusters.is_multiple_of(8) {
            return Err(Flaw::Damaged);
        }
        if self.groups.saturating_mul(len) > Allocation::LIMIT {
            return Err(Flaw::TooLarge);
        }
        let mut bits = vec![0; len as usize];
        for group in 0..self.groups {
            let [bitmap, _, _, flags] = self.descriptor(reader, group)?;
            bits.fill(0);
            if flags & NOT_WRITTEN == 0 {
                reader.read(bitmap.saturating_mul(self.block_size), &mut bits)?;
            }
            allocation.append(&bits);
        }
        Ok(allocation)
    }
}

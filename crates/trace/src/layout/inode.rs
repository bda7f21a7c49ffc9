//! Blocks of an inode of ext2, ext3 or ext4: a tree of extents, or a map of blocks.

use super::medium::{Flaw, Reader, le16, le32};

/// First two bytes of a node of a tree of extents.
pub(super) const EXTENT_MAGIC: u16 = 0xF30A;
/// Nodes and maps that are read for one inode, at most.
const MAX_NODES: usize = 1 << 16;
/// Pieces of one inode, at most.
const MAX_PIECES: usize = 1 << 20;
/// Levels of a tree below its root.
const MAX_DEPTH: u16 = 5;

/// Blocks of an inode, as first block and number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockList {
    /// Blocks with content, also allocated ones without.
    pub(super) data: Vec<(u64, u64)>,
    /// Blocks of the tree or of the maps.
    pub(super) tree: Vec<(u64, u64)>,
}

/// Reads the blocks that the 60 bytes `i_block` of an inode point to.
pub(super) fn read_blocks(
    reader: &mut Reader<'_>,
    pointers: &[u8; 60],
    is_tree: bool,
    size: u64,
    block_size: u64,
) -> Result<BlockList, Flaw> {
    let mut walk = Walk {
        reader,
        block_size,
        list: BlockList::default(),
        blocks_left: size.div_ceil(block_size),
    };
    match is_tree {
        true => {
            let depth = le16(pointers, 6);
            if depth > MAX_DEPTH {
                return Err(Flaw::Damaged);
            }
            walk.tree(pointers, depth)?;
        }
        false => walk.maps(pointers)?,
    }
    Ok(walk.list)
}

struct Walk<'r, 'm> {
    reader: &'r mut Reader<'m>,
    block_size: u64,
    list: BlockList,
    /// Blocks up to the end of the file, for maps.
    blocks_left: u64,
}

impl Walk<'_, '_> {
    /// Follows a node of a tree of extents.
    fn tree(&mut self, node: &[u8], depth: u16) -> Result<(), Flaw> {
        const ENTRY: usize = 12;
        let entries = usize::from(le16(node, 2));
        if le16(node, 0) != EXTENT_MAGIC
            || le16(node, 6) != depth
            || ENTRY * (entries + 1) > node.len()
        {
            return Err(Flaw::Damaged);
        }
        for entry in node[ENTRY..].chunks_exact(ENTRY).take(entries) {
            if depth == 0 {
                // More than 32,768 blocks: so many less, allocated and not written.
                let len = match le16(entry, 4) {
                    len @ 0..=0x8000 => len,
                    len => len - 0x8000,
                };
                let start = (u64::from(le16(entry, 6)) << 32) | u64::from(le32(entry, 8));
                self.data(start, u64::from(len))?;
            } else {
                let child = (u64::from(le16(entry, 8)) << 32) | u64::from(le32(entry, 4));
                let node = self.node(child)?;
                self.tree(&node, depth - 1)?;
            }
        }
        Ok(())
    }

    /// Follows 12 blocks, and maps of one, two and three levels.
    fn maps(&mut self, pointers: &[u8; 60]) -> Result<(), Flaw> {
        self.map(&pointers[..48], 0)?;
        for level in 1..=3 {
            let at = 44 + 4 * level as usize;
            self.map(&pointers[at..at + 4], level)?;
        }
        Ok(())
    }

    /// Follows the entries of a map whose blocks are `level` maps away.
    fn map(&mut self, map: &[u8], level: u32) -> Result<(), Flaw> {
        let per_entry = (self.block_size / 4).saturating_pow(level);
        for entry in map.chunks_exact(4) {
            if self.blocks_left == 0 {
                break;
            }
            match u64::from(le32(entry, 0)) {
                // A hole.
                0 => self.blocks_left = self.blocks_left.saturating_sub(per_entry),
                block if level == 0 => {
                    self.blocks_left -= 1;
                    self.data(block, 1)?;
                }
                block => {
                    let node = self.node(block)?;
                    self.map(&node, level - 1)?;
                }
            }
        }
        Ok(())
    }

    fn data(&mut self, start: u64, len: u64) -> Result<(), Flaw> {
        push(&mut self.list.data, start, len)
    }

    /// Reads a block of the tree.
    fn node(&mut self, block: u64) -> Result<Vec<u8>, Flaw> {
        if self.list.tree.len() >= MAX_NODES {
            return Err(Flaw::TooLarge);
        }
        // Not joined: their number is counted.
        self.list.tree.push((block, 1));
        let mut bytes = vec![0; self.block_size as usize];
        let offset = block.checked_mul(self.block_size).ok_or(Flaw::Damaged)?;
        self.reader.read(offset, &mut bytes)?;
        Ok(bytes)
    }
}

/// Appends blocks, joined with the last piece where they continue it.
fn push(pieces: &mut Vec<(u64, u64)>, start: u64, len: u64) -> Result<(), Flaw> {
    let full = pieces.len() >= MAX_PIECES;
    match pieces.last_mut() {
        Some((last, n)) if last.checked_add(*n) == Some(start) => *n = n.saturating_add(len),
        _ if full => return Err(Flaw::TooLarge),
        _ => pieces.push((start, len)),
    }
    Ok(())
}

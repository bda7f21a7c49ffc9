//! Detects file systems and similar content by magic numbers.
//!
//! Sources: the kernel's on-disk structures as documented (`Documentation/filesystems/ext4`, `f2fs.rst`, `xfs`), the
//! btrfs wiki ("On-disk format"), Microsoft's FAT and exFAT specifications, ECMA-119 (ISO 9660),
//! the LUKS on-disk format specifications, and the manual of md(4). All input is untrusted: every
//! offset is checked.

use hakaru_model::units::Bytes;
use std::io;

/// A readable source of bytes.
pub(crate) trait ReadAt {
    /// Fills the buffer from an offset.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

impl ReadAt for std::fs::File {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buffer, offset)
    }
}

/// A range of a device: all of it, or one partition.
#[derive(Clone, Copy)]
pub(crate) struct Image<'a> {
    pub(crate) source: &'a dyn ReadAt,
    pub(crate) start: u64,
    pub(crate) len: u64,
}

impl<'a> Image<'a> {
    /// Returns a subrange, truncated at the end.
    pub(crate) fn part(&self, offset: u64, len: u64) -> Image<'a> {
        let offset = offset.min(self.len);
        Image {
            source: self.source,
            start: self.start.saturating_add(offset),
            len: len.min(self.len - offset),
        }
    }

    /// Reads `N` bytes at an offset; `None` beyond the end or if unreadable.
    pub(crate) fn bytes<const N: usize>(&self, offset: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(offset, &mut bytes)?;
        Some(bytes)
    }

    fn fill(&self, offset: u64, buffer: &mut [u8]) -> Option<()> {
        let end = offset.checked_add(u64::try_from(buffer.len()).ok()?)?;
        if end > self.len {
            return None;
        }
        self.source
            .read_exact_at(buffer, self.start.checked_add(offset)?)
            .ok()
    }

    fn is(&self, offset: u64, magic: &[u8]) -> bool {
        let mut bytes = vec![0; magic.len()];
        self.fill(offset, &mut bytes).is_some() && bytes == magic
    }

    /// Reads `len` bytes at an offset; `None` beyond the end or if unreadable.
    pub(crate) fn vec(&self, offset: u64, len: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(len).ok()?];
        self.fill(offset, &mut bytes)?;
        Some(bytes)
    }

    pub(crate) fn le16(&self, offset: u64) -> Option<u16> {
        self.bytes(offset).map(u16::from_le_bytes)
    }

    pub(crate) fn le32(&self, offset: u64) -> Option<u32> {
        self.bytes(offset).map(u32::from_le_bytes)
    }

    pub(crate) fn le64(&self, offset: u64) -> Option<u64> {
        self.bytes(offset).map(u64::from_le_bytes)
    }

    /// Reads text up to the first NUL or the end of its field, without trailing spaces.
    fn text<const N: usize>(&self, offset: u64) -> Option<String> {
        let bytes: [u8; N] = self.bytes(offset)?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(N);
        clean(&String::from_utf8_lossy(&bytes[..end]))
    }

    /// Reads UTF-16 text.
    pub(crate) fn text16<const N: usize>(&self, offset: u64) -> Option<String> {
        let bytes: [u8; N] = self.bytes(offset)?;
        let units = bytes
            .chunks_exact(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        let units: Vec<u16> = units.take_while(|unit| *unit != 0).collect();
        clean(&String::from_utf16_lossy(&units))
    }
}

/// Returns a printable label without control characters; `None` if empty.
fn clean(text: &str) -> Option<String> {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    Some(text.trim_end().to_owned()).filter(|text| !text.is_empty())
}

/// Signature at the start of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImageSignature {
    pub(crate) kind: &'static str,
    pub(crate) label: Option<String>,
    pub(crate) size: Option<Bytes>,
}

fn found(kind: &'static str, label: Option<String>, size: Option<u64>) -> Option<ImageSignature> {
    Some(ImageSignature {
        kind,
        label,
        size: size.filter(|size| *size > 0).map(Bytes),
    })
}

/// Returns all recognized signatures. There can be several: an old file system is not always wiped
/// by a new one.
pub(crate) fn probe(image: &Image<'_>) -> Vec<ImageSignature> {
    let probes: [fn(&Image<'_>) -> Option<ImageSignature>; 13] = [
        luks, lvm, raid, ext, f2fs, xfs, btrfs, exfat, ntfs, fat, swap, iso, other,
    ];
    probes.iter().filter_map(|probe| probe(image)).collect()
}

fn ext(image: &Image<'_>) -> Option<ImageSignature> {
    let block = image.part(1024, 1024);
    if !block.is(0x38, &[0x53, 0xef]) {
        return None;
    }
    let (compatible, incompatible, read_only) =
        (block.le32(0x5c)?, block.le32(0x60)?, block.le32(0x64)?);
    // Features that only ext4 has: extents, 64bit, flex_bg, huge_file, group or metadata checksums.
    let kind = match () {
        () if incompatible & 0x2c0 != 0 || read_only & 0x418 != 0 => "ext4",
        () if compatible & 0x4 != 0 => "ext3",
        () => "ext2",
    };
    // The upper half of the number of blocks is valid only with the feature 64bit.
    let upper = match incompatible & 0x80 {
        0 => 0,
        _ => u64::from(block.le32(0x150)?) << 32,
    };
    let blocks = upper | u64::from(block.le32(4)?);
    let size = blocks.checked_mul(1024u64.checked_shl(block.le32(0x18)?.min(16))?);
    found(kind, block.text::<16>(0x78), size)
}

fn f2fs(image: &Image<'_>) -> Option<ImageSignature> {
    let block = image.part(1024, 3072);
    if !block.is(0, &[0x10, 0x20, 0xf5, 0xf2]) {
        return None;
    }
    let size = block.le64(36)?.checked_mul(1 << block.le32(16)?.min(16));
    found("f2fs", block.text16::<512>(124), size)
}

fn xfs(image: &Image<'_>) -> Option<ImageSignature> {
    if !image.is(0, b"XFSB") {
        return None;
    }
    let (block, blocks) = (
        u32::from_be_bytes(image.bytes(4)?),
        u64::from_be_bytes(image.bytes(8)?),
    );
    found(
        "xfs",
        image.text::<12>(108),
        blocks.checked_mul(u64::from(block)),
    )
}

fn btrfs(image: &Image<'_>) -> Option<ImageSignature> {
    let block = image.part(0x1_0000, 4096);
    if !block.is(0x40, b"_BHRfS_M") {
        return None;
    }
    found("btrfs", block.text::<256>(0x12b), block.le64(0x70))
}

/// Whether the first sector has a boot signature.
pub(crate) fn has_boot_signature(image: &Image<'_>) -> bool {
    image.is(510, &[0x55, 0xaa])
}

fn fat(image: &Image<'_>) -> Option<ImageSignature> {
    if !has_boot_signature(image) {
        return None;
    }
    let name = |offset| image.text::<11>(offset).filter(|label| label != "NO NAME");
    let label = match () {
        () if image.is(0x52, b"FAT32   ") => name(0x47),
        () if [&b"FAT12   "[..], b"FAT16   ", b"FAT     "]
            .iter()
            .any(|kind| image.is(0x36, kind)) =>
        {
            name(0x2b)
        }
        () => return None,
    };
    let sectors = match image.le16(0x13)? {
        0 => image.le32(0x20)?,
        small => u32::from(small),
    };
    found(
        "vfat",
        label,
        u64::from(sectors).checked_mul(u64::from(image.le16(0xb)?)),
    )
}

fn exfat(image: &Image<'_>) -> Option<ImageSignature> {
    if !image.is(3, b"EXFAT   ") {
        return None;
    }
    let [sector_shift, cluster_shift] = image
        .bytes::<2>(0x6c)?
        .map(|shift| u32::from(shift.min(25)));
    let sectors = image.le64(0x48)?;
    let heap = u64::from(image.le32(0x58)?) << sector_shift;
    let root =
        u64::from(image.le32(0x60)?.saturating_sub(2)) << (sector_shift + cluster_shift).min(25);
    found(
        "exfat",
        exfat_label(image, heap + root),
        sectors.checked_mul(1 << sector_shift),
    )
}

/// Returns the label of an exFAT volume: an entry of type 0x83 in the root directory, usually the first.
fn exfat_label(image: &Image<'_>, root: u64) -> Option<String> {
    let entries = (0..16).map(|index| image.bytes::<32>(root.saturating_add(index * 32)));
    let entry = entries
        .map_while(|entry| entry.filter(|entry| entry[0] != 0))
        .find(|entry| entry[0] == 0x83)?;
    let length = usize::from(entry[1].min(11));
    let units = entry[2..2 + 2 * length]
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    clean(&String::from_utf16_lossy(&units.collect::<Vec<_>>()))
}

fn ntfs(image: &Image<'_>) -> Option<ImageSignature> {
    if !image.is(3, b"NTFS    ") {
        return None;
    }
    found(
        "ntfs",
        None,
        image.le64(0x28)?.checked_mul(u64::from(image.le16(0xb)?)),
    )
}

/// Detects swap space. Its signature is at the end of the first page, whose size depends on the machine.
fn swap(image: &Image<'_>) -> Option<ImageSignature> {
    let page = [4096u64, 8192, 16384, 65536]
        .into_iter()
        .find(|page| image.is(page - 10, b"SWAPSPACE2"))?;
    let pages = u64::from(image.le32(1028)?) + 1;
    found("swap", image.text::<16>(1052), pages.checked_mul(page))
}

fn luks(image: &Image<'_>) -> Option<ImageSignature> {
    if !image.is(0, b"LUKS\xba\xbe") {
        return None;
    }
    match u16::from_be_bytes(image.bytes(6)?) {
        2 => found("LUKS2", image.text::<48>(24), None),
        _ => found("LUKS", None, None),
    }
}

fn lvm(image: &Image<'_>) -> Option<ImageSignature> {
    let sector = (0..4).find(|sector| image.is(sector * 512, b"LABELONE"))?;
    if !image.is(sector * 512 + 24, b"LVM2 001") {
        return None;
    }
    found("LVM2 physical volume", None, None)
}

/// Detects a member of a Linux RAID by its superblock. Version 1.1 begins at 0, 1.2 at 4 KiB, 1.0 at least 8 KiB and
/// 0.90 at least 64 KiB before the end.
fn raid(image: &Image<'_>) -> Option<ImageSignature> {
    let magic = 0xa92b_4efcu32.to_le_bytes();
    let near_end = (image.len & !0xfff).saturating_sub(8192);
    let old = (image.len & !0xffff).saturating_sub(65536);
    let at = [0, 4096, near_end, old]
        .into_iter()
        .find(|offset| image.is(*offset, &magic))?;
    let label = if at == old && at != near_end {
        None
    } else {
        image.text::<32>(at.checked_add(32)?)
    };
    found("member of a Linux RAID", label, None)
}

fn iso(image: &Image<'_>) -> Option<ImageSignature> {
    if !image.is(0x8001, b"CD001") {
        return None;
    }
    found(
        "iso9660",
        image.text::<32>(0x8028),
        u64::from(image.le32(0x8050)?).checked_mul(2048),
    )
}

fn other(image: &Image<'_>) -> Option<ImageSignature> {
    let known: [(u64, &[u8], &'static str); 5] = [
        (0, b"hsqs", "squashfs"),
        (32, b"NXSB", "apfs"),
        (1024, b"H+\0\x04", "hfsplus"),
        (
            4096 + 24,
            b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
            "bcache",
        ),
        (1024, b"\xe2\xe1\xf5\xe0", "erofs"),
    ];
    let (_, _, kind) = known
        .iter()
        .find(|(offset, magic, _)| image.is(*offset, magic))?;
    found(kind, None, None)
}

#[cfg(test)]
mod tests;

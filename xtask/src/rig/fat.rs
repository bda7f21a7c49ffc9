//! Creates a large file on a FAT32 card without writing it: the host allocates clusters to an existing empty file.
//!
//! FAT has no sparse files, so a file of 4 GiB must be written in full before it can be read; an emulated machine takes
//! half an hour for that. The content of the file does not matter, because all data costs the same on a simulated card.
//!
//! Source: Microsoft FAT32 File System Specification 1.03: boot sector, FSInfo, directory entries.

use anyhow::{Context, Result, ensure};
use hakaru_model::io_path::IoClass;
use hakaru_rig::card::SimulatedCard;

/// End of a cluster chain.
const END: u32 = 0x0fff_ffff;

/// Layout of the volume, in bytes.
pub(super) struct FatVolume {
    cluster: u64,
    fats: Vec<u64>,
    fat_len: u64,
    data: u64,
    root: u32,
    /// Clusters of the root directory.
    directory: Vec<u32>,
    info: u64,
}

impl FatVolume {
    /// Reads the boot sector of a card without partitions.
    ///
    /// # Errors
    /// If there is no FAT32.
    pub(super) fn read(card: &SimulatedCard) -> Result<FatVolume> {
        let mut boot = [0; 512];
        card.peek(0, &mut boot)?;
        ensure!(boot[82..87] == *b"FAT32", "there is no FAT32 on the card");
        let short = |at: usize| u64::from(u16::from_le_bytes([boot[at], boot[at + 1]]));
        let long =
            |at: usize| u32::from_le_bytes([boot[at], boot[at + 1], boot[at + 2], boot[at + 3]]);
        let sector = short(11);
        let (first, fat_len) = (short(14) * sector, u64::from(long(36)) * sector);
        let count = u64::from(boot[16]);
        let mut directory = vec![long(44)];
        while let Some(last) = directory.last() {
            let mut link = [0; 4];
            card.peek(first + u64::from(*last) * 4, &mut link)?;
            let next = u32::from_le_bytes(link) & END;
            // A loop would be longer than any directory.
            if !(2..0x0fff_fff7).contains(&next) || directory.len() > 65536 {
                break;
            }
            directory.push(next);
        }
        Ok(FatVolume {
            directory,
            cluster: u64::from(boot[13]) * sector,
            fats: (0..count).map(|number| first + number * fat_len).collect(),
            fat_len,
            data: first + count * fat_len,
            root: long(44),
            info: short(48) * sector,
        })
    }

    fn place(&self, cluster: u32) -> u64 {
        self.data + u64::from(cluster - 2) * self.cluster
    }

    /// Returns what lies at an address, by the boot sector alone.
    pub(super) fn class_at(&self, offset: u64) -> IoClass {
        let in_fat = |start: &u64| (*start..start + self.fat_len).contains(&offset);
        let in_directory = |cluster: &u32| {
            let start = self.place(*cluster);
            (start..start + self.cluster).contains(&offset)
        };
        match self.fats.iter().position(in_fat) {
            Some(0) => IoClass::Fat1,
            Some(_) => IoClass::Fat2,
            None if offset == self.info => IoClass::FsInfo,
            None if offset < self.data => IoClass::Superblock,
            None if self.directory.iter().any(in_directory) => IoClass::Directory,
            None => IoClass::Data,
        }
    }

    /// Finds the only file of the root directory, which must be empty. Returns its directory entry and where that is.
    fn only_file(&self, card: &SimulatedCard) -> Result<(u64, Vec<u8>)> {
        let mut root = vec![0; self.cluster as usize];
        card.peek(self.place(self.root), &mut root)?;
        let entries = root.chunks_exact(32).take_while(|entry| entry[0] != 0);
        // Parts of long names and the volume label are not files.
        let is_file = |entry: &[u8]| entry[0] != 0xe5 && entry[11] & 0x08 == 0;
        let mut files = entries.enumerate().filter(|(_, entry)| is_file(entry));
        let (number, entry) = files
            .next()
            .context("there is no file in the root of the card")?;
        ensure!(
            files.next().is_none() && entry[28..] == [0; 4],
            "the file is not alone, or not empty"
        );
        Ok((self.place(self.root) + number as u64 * 32, entry.to_vec()))
    }

    /// Allocates the clusters after the root directory for `size` bytes, in every FAT; returns the first one.
    fn allocate(&self, card: &SimulatedCard, size: u32) -> Result<u32> {
        let first = self.root + 1;
        let count = u64::from(size).div_ceil(self.cluster) as u32;
        ensure!(
            u64::from(first + count) * 4 <= self.fat_len,
            "{size} bytes do not fit the card"
        );
        let chain = (first + 1..first + count).chain([END]);
        let links: Vec<u8> = chain.flat_map(u32::to_le_bytes).collect();
        for fat in &self.fats {
            let at = fat + u64::from(first) * 4;
            let mut before = vec![0; links.len()];
            card.peek(at, &mut before)?;
            ensure!(
                before.iter().all(|byte| *byte == 0),
                "the clusters behind the root are in use"
            );
            card.poke(at, &links)?;
        }
        Ok(first)
    }
}

/// Extends the only file in the root directory of a FAT32 card, which is empty, to `size` bytes of existing content.
///
/// # Errors
/// If there is no such file or no space for it.
pub(super) fn enlarge_only_file(card: &SimulatedCard, size: u32) -> Result<()> {
    let volume = FatVolume::read(card)?;
    let (at, mut entry) = volume.only_file(card)?;
    let first = volume.allocate(card, size)?;
    let [low, more, high, highest] = first.to_le_bytes();
    entry[20..22].copy_from_slice(&[high, highest]);
    entry[26..28].copy_from_slice(&[low, more]);
    entry[28..].copy_from_slice(&size.to_le_bytes());
    card.poke(at, &entry)?;
    // Marks the free cluster count as unknown, so that it is recomputed.
    card.poke(volume.info + 488, &[0xff; 8])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;
    use hakaru_model::device_model::DeviceModel;
    use hakaru_model::units::Bytes;
    use std::process::Command;

    #[test]
    fn the_checker_of_file_systems_finds_nothing_wrong() {
        let tools = ["mkfs.vfat", "fsck.vfat"].map(workspace::find_program);
        let [Some(mkfs), Some(fsck)] = tools else {
            eprintln!("skipped: dosfstools are not installed");
            return;
        };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("card");
        let card = SimulatedCard::at(&path, DeviceModel::plain("t", Bytes(2 << 30)), 1).unwrap();
        workspace::output(Command::new(mkfs).args(["-F", "32", "-s", "32"]).arg(&path)).unwrap();
        assert!(
            enlarge_only_file(&card, 1 << 30).is_err(),
            "there is no file yet"
        );
        let volume = FatVolume::read(&card).unwrap();
        let fat = |number: usize| volume.class_at(volume.fats[number] + volume.fat_len - 1);
        assert_eq!((fat(0), fat(1)), (IoClass::Fat1, IoClass::Fat2));
        let at = [0, volume.info, volume.data, volume.place(volume.root + 1)];
        let classes = [
            IoClass::Superblock,
            IoClass::FsInfo,
            IoClass::Directory,
            IoClass::Data,
        ];
        assert_eq!(at.map(|offset| volume.class_at(offset)), classes);
        let mut entry = *b"FILE    BIN \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
        entry[11] = 0x20;
        card.poke(volume.place(volume.root), &entry).unwrap();
        enlarge_only_file(&card, (1 << 30) + 1).unwrap();
        let said = workspace::output(Command::new(fsck).arg("-n").arg("-v").arg(&path)).unwrap();
        assert!(
            said.contains("1 files") && !said.contains("Differences"),
            "{said}"
        );
    }
}

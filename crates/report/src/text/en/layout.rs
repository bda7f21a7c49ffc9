//! Sentences about the layout of a file system on its medium.

use hakaru_model::io_path::{LayoutGap, LayoutPart};

pub(in crate::text) fn layout_gap(gap: &LayoutGap) -> String {
    let error =
        |errno: &Option<i32>| errno.map_or(String::new(), |errno| format!(" (error {errno})"));
    match gap {
        LayoutGap::UnknownFileSystem => {
            "Classes are by flags and issuers only: the layout of this file system is not known".to_owned()
        }
        LayoutGap::Unreadable { part, errno } => {
            format!("Some requests may lack their class: cannot read {}{}", layout_part(*part), error(errno))
        }
        LayoutGap::Damaged { part } => {
            format!("Some requests may lack their class: {} contradicts itself", layout_part(*part))
        }
        LayoutGap::TooLarge { part } => {
            format!("Some requests may lack their class: {} is too large to read", layout_part(*part))
        }
        LayoutGap::UnknownFeatures { bits } => {
            format!("Classes may be wrong: the file system has unknown features ({bits:#x})")
        }
        LayoutGap::ExternalJournal => "The journal is on another device and is not part of the figures".to_owned(),
        LayoutGap::SeveralDevices => {
            "The file system extends over several devices; the figures are those of this one".to_owned()
        }
        LayoutGap::MetadataByFlag => {
            "Metadata is recognized by the flags of requests only, because it has no fixed place".to_owned()
        }
        LayoutGap::NodesByEvent => {
            "Data and node blocks share an area, and are told apart by the events of the file system".to_owned()
        }
        LayoutGap::FileNotLocated { file, errno } => {
            format!("Requests of {file} lack their class: the kernel does not say where it lies{}", error(errno))
        }
        LayoutGap::InlineData { file } => {
            format!("Bytes of {file} lie in its inode, without an address of their own")
        }
        LayoutGap::OtherFileSystem { file } => {
            format!("Requests of {file} lack their class: it lies on another file system")
        }
    }
}

fn layout_part(part: LayoutPart) -> &'static str {
    match part {
        LayoutPart::Superblock => "the superblock",
        LayoutPart::GroupDescriptors => "the group descriptors",
        LayoutPart::Journal => "the journal",
        LayoutPart::Inode => "an inode",
        LayoutPart::AllocationTable => "the file allocation table",
        LayoutPart::Bitmap => "an allocation bitmap",
        LayoutPart::Directories => "a directory",
        LayoutPart::File => "a file",
        LayoutPart::Ranges => "the list of ranges",
    }
}

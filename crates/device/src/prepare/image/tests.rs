//! Images on simulated cards: complete, too large, stopped, and returned wrongly.

use super::*;
use crate::testcard::{FakeCard, PastEndWrites};
use std::ops::ControlFlow;

const MIB: u64 = 1 << 20;

fn go_on(_: crate::blockdev::ScanProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// An image without a zero byte; its length is not a multiple of a block.
fn some_image(len: usize) -> (tempfile::NamedTempFile, Vec<u8>) {
    let content: Vec<u8> = (0..len).map(|at| (at % 251) as u8 + 1).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &content).unwrap();
    (file, content)
}

fn full_card(size: u64) -> FakeCard {
    let mut card = FakeCard::honest(size);
    card.content.fill(0x55);
    card
}

fn starts_with_zeros(card: &FakeCard) -> bool {
    card.content[..MIB as usize].iter().all(|byte| *byte == 0)
}

#[test]
fn an_image_is_written_and_the_old_tables_are_gone() {
    let (file, content) = some_image(9 * MIB as usize + 700);
    let image = ImageFile::open(file.path()).unwrap();
    let mut card = full_card(16 * MIB);
    let mut seen = Vec::new();
    let map = write_image(&mut card, &image, &mut |progress| {
        seen.push((progress.doing, progress.done.0));
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(card.content.starts_with(&content));
    let padded = content.len().next_multiple_of(512);
    assert!(card.content[content.len()..padded].iter().all(|b| *b == 0));
    // Between the image and the backup table nothing changes.
    assert!(card.content[padded..15 << 20].iter().all(|b| *b == 0x55));
    assert!(card.content[15 << 20..].iter().all(|b| *b == 0));
    assert_eq!(map.whole().len, Bytes(padded as u64));
    let end = content.len() as u64;
    let wanted = [
        ("writing", 8 * MIB),
        ("writing", end),
        ("reading", 4 * MIB),
        ("reading", 8 * MIB),
        ("reading", end),
    ];
    assert_eq!(seen, wanted);
}

#[test]
fn an_image_may_fill_the_device_and_may_be_smaller_than_a_block() {
    for len in [8 * MIB as usize, 100] {
        let (file, content) = some_image(len);
        let image = ImageFile::open(file.path()).unwrap();
        let mut card = full_card(8 * MIB);
        write_image(&mut card, &image, &mut go_on).unwrap();
        assert!(card.content.starts_with(&content), "{len}");
    }
}

#[test]
fn an_image_that_is_too_large_changes_nothing() {
    let (file, _) = some_image(9 * MIB as usize);
    let image = ImageFile::open(file.path()).unwrap();
    let mut card = full_card(8 * MIB);
    let error = write_image(&mut card, &image, &mut go_on).unwrap_err();
    assert!(
        matches!(error, ImageError::TooLarge { .. }) && error.left_the_device_unchanged(),
        "{error}"
    );
    assert!(card.content.iter().all(|byte| *byte == 0x55));
}

#[test]
fn a_stopped_image_has_no_partition_table() {
    let (file, _) = some_image(20 * MIB as usize);
    let image = ImageFile::open(file.path()).unwrap();
    for doing in ["writing", "reading"] {
        let mut card = full_card(32 * MIB);
        let error = write_image(
            &mut card,
            &image,
            &mut |progress| match progress.doing == doing && progress.done.0 >= 12 * MIB {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            },
        )
        .unwrap_err();
        assert!(
            matches!(error, ImageError::Interrupted { done } if done.0 == 12 * MIB),
            "{error}"
        );
        assert!(starts_with_zeros(&card), "{doing}");
    }
}

/// The table region is written last, so that a power loss in the middle leaves nothing bootable either.
#[test]
fn the_partition_table_is_written_after_everything_else() {
    let (file, content) = some_image(20 * MIB as usize);
    let image = ImageFile::open(file.path()).unwrap();
    let mut card = full_card(32 * MIB);
    card.write_error = Some(18 * MIB);
    let error = write_image(&mut card, &image, &mut go_on).unwrap_err();
    assert!(
        matches!(error, ImageError::Write { offset, .. } if offset.0 == 16 * MIB),
        "{error}"
    );
    assert!(starts_with_zeros(&card));
    assert_eq!(card.content[5 << 20], content[5 << 20]);
}

#[test]
fn data_that_is_returned_wrongly_fails_the_image() {
    let (file, _) = some_image(20 * MIB as usize);
    let image = ImageFile::open(file.path()).unwrap();
    let rotten = |at| {
        let mut card = full_card(32 * MIB);
        card.rot = Some(at);
        card
    };
    let mut lossy = full_card(32 * MIB);
    lossy.drops = 13 * MIB..13 * MIB + 512;
    let mut unreadable = full_card(32 * MIB);
    unreadable.read_error = Some(13 * MIB);
    // An image of 20 MiB on 16 MiB that wrap around.
    let mut fake = FakeCard::false_capacity(16 * MIB, 32 * MIB, PastEndWrites::Wraps);
    for (card, chunk) in [
        (&mut rotten(13 * MIB), 12),
        (&mut rotten(700), 0),
        (&mut lossy, 12),
        (&mut unreadable, 12),
        (&mut fake, 16),
    ] {
        let error = write_image(card, &image, &mut go_on).unwrap_err();
        let (ImageError::Differs { offset } | ImageError::ReadBack { offset, .. }) = error else {
            panic!("{error}");
        };
        assert_eq!(offset.0, chunk * MIB);
        assert!(starts_with_zeros(card), "chunk {chunk}");
    }
}

#[test]
fn a_table_that_cannot_be_cleared_is_reported() {
    let (file, _) = some_image(9 * MIB as usize);
    let image = ImageFile::open(file.path()).unwrap();
    let mut card = full_card(16 * MIB);
    card.write_error = Some(0);
    let error = write_image(&mut card, &image, &mut go_on).unwrap_err();
    assert!(matches!(error, ImageError::NotCleared { .. }), "{error}");
    assert!(
        error.to_string().contains("could not be cleared"),
        "{error}"
    );
}

#[test]
fn an_image_that_changes_meanwhile_is_refused() {
    for (opened, written) in [(9 * MIB, 10 * MIB), (9 * MIB, 5 * MIB)] {
        let (file, _) = some_image(opened as usize);
        let image = ImageFile::open(file.path()).unwrap();
        file.as_file().set_len(written).unwrap();
        let mut card = full_card(16 * MIB);
        let error = write_image(&mut card, &image, &mut go_on).unwrap_err();
        assert!(matches!(error, ImageError::Changed), "{error}");
        assert!(starts_with_zeros(&card));
    }
}

/// Compresses a file with a tool; `None` if it is not installed.
fn packed(tool: &str, path: &Path) -> Option<Vec<u8>> {
    let input = File::open(path).unwrap();
    let out = Command::new(tool).arg("-c").stdin(input).output();
    match out {
        Ok(out) if out.status.success() => Some(out.stdout),
        other => {
            eprintln!("SKIPPED {tool}: not installed or failed ({other:?})");
            None
        }
    }
}

#[test]
fn compressed_images_are_unpacked() {
    let (file, content) = some_image(9 * MIB as usize + 100);
    for tool in ["gzip", "xz", "zstd"] {
        let Some(bytes) = packed(tool, file.path()) else {
            continue;
        };
        let small = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(small.path(), &bytes).unwrap();
        let image = ImageFile::open(small.path()).unwrap();
        assert_eq!(image.size(), Bytes(content.len() as u64), "{tool}");
        let mut card = full_card(16 * MIB);
        write_image(&mut card, &image, &mut go_on).unwrap();
        assert!(card.content.starts_with(&content), "{tool}");
        // A truncated file is refused before anything is written.
        std::fs::write(small.path(), &bytes[..bytes.len() - 9]).unwrap();
        let error = ImageFile::open(small.path()).unwrap_err();
        assert!(error.to_string().contains(tool), "{error}");
    }
}

#[test]
fn what_is_no_image_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        ImageFile::open(&path).unwrap_err()
    };
    assert!(matches!(file("a.img", b""), ImageError::Empty { .. }));
    for (content, wanted) in [
        (&b"PK\x03\x04rest"[..], "zip"),
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"BZh91", "bzip2"),
    ] {
        let error = file("a.packed", content);
        assert!(
            matches!(error, ImageError::Unsupported { format, .. } if format == wanted),
            "{error}"
        );
    }
    let error = ImageFile::open(folder.path()).unwrap_err();
    assert!(matches!(error, ImageError::NotAFile { .. }), "{error}");
    let error = ImageFile::open(&folder.path().join("missing")).unwrap_err();
    assert!(matches!(error, ImageError::Image { .. }), "{error}");
}

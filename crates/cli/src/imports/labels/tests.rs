//! Tests of the parent module.

use super::*;

#[test]
fn files_name_what_they_are_of() {
    let of = |name| label_of(name).unwrap_or_default();
    assert_eq!(of("logs/f2fs-blog-ext4-2.txt"), "f2fs-blog-ext4");
    assert_eq!(of("pi5-1-seqrw-ssd.txt"), "pi5-1-seqrw-ssd");
    assert_eq!(of("md5.txt"), "md5");
    assert_eq!(of("7.txt"), "7");
}

/// Regression: for each of many files with a name of its own, memory for four jobs was reserved.
#[test]
fn a_name_of_one_job_takes_the_memory_of_one() {
    let text = |number| ImportText {
        name: format!("card {number} of the batch.txt"),
        text: format!("1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5{number:03} s, 2.0 MB/s\n"),
        changed_unix_ms: 0,
        is_file: true,
        lines_before: 0,
    };
    let texts: Vec<ImportText> = (0..20).map(text).collect();
    let found = crate::imports::find(&texts, &crate::imports::OwnRecords::default(), None);
    let mut known = KnownLabels::default();
    labels(&texts, &found, &LabelRules::default(), &mut known);
    let room: Vec<usize> = known.0.values().map(Vec::capacity).collect();
    assert_eq!(room, [1; 20]);
}

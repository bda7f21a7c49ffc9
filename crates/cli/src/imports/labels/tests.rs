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

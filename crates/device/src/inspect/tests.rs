//! Tests of the inspection of targets.

use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

fn names_in(folder: &Path) -> Vec<String> {
    roots::names(folder)
}

#[test]
fn a_file_has_its_size_and_the_space_around_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    std::fs::write(&path, [1; 5000]).unwrap();
    let facts = inspect(&path).unwrap();
    assert_eq!(
        (facts.kind, facts.size, facts.writable),
        (TargetKind::File, Bytes(5000), true)
    );
    assert!(facts.free.unwrap().0 > 0);
    assert!(facts.logical_block.is_power_of_two() && facts.logical_block >= 512);
    assert!(facts.direct_io.is_some());
}

#[test]
fn an_absent_file_is_judged_by_its_directory_and_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let absent = inspect(&folder.path().join("new")).unwrap();
    let itself = inspect(folder.path()).unwrap();
    assert_eq!(
        (absent.kind, itself.kind),
        (TargetKind::Absent, TargetKind::Directory)
    );
    assert_eq!(
        (absent.size, absent.writable, itself.writable),
        (Bytes(0), true, true)
    );
    assert_eq!(
        (absent.direct_io, absent.logical_block),
        (itself.direct_io, itself.logical_block)
    );
    assert_eq!(names_in(folder.path()), Vec::<String>::new());
}

#[test]
fn a_named_probe_removes_itself() {
    let folder = tempfile::tempdir().unwrap();
    assert!(named_file(folder.path(), OFlags::RDWR | OFlags::CLOEXEC).is_ok());
    assert_eq!(names_in(folder.path()), Vec::<String>::new());
}

#[test]
fn errors_name_the_cause_and_the_cure() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("file"), "x").unwrap();
    symlink("nowhere", at("link")).unwrap();
    let said = |path: &Path| {
        let text = inspect(path).unwrap_err().to_string();
        text.replace(&folder.path().display().to_string(), "DIR")
    };
    insta::assert_snapshot!(said(Path::new("")), @"the path is empty; help: name a file, a \
            directory or a device");
    insta::assert_snapshot!(said(&at("none/new")), @"cannot create DIR/none/new: its directory DIR/none does not exist; help: create it with mkdir -p");
    insta::assert_snapshot!(said(&at("file/new")), @"cannot use DIR/file/new: DIR/file is not a directory");
    insta::assert_snapshot!(said(&at("link")), @"DIR/link links to nowhere, which does not exist; help: repair the link or name another path");
    insta::assert_snapshot!(said(Path::new("/dev/sdqq")), @"device /dev/sdqq does not exist; help: plug it in, or list the devices with `lsblk`");
}

#[test]
fn a_directory_that_takes_no_files_is_not_writable() {
    let facts = inspect(Path::new("/proc")).unwrap();
    assert_eq!(
        (facts.kind, facts.writable, facts.direct_io),
        (TargetKind::Directory, false, None)
    );
}

#[test]
fn a_loop_of_links_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    symlink("a", folder.path().join("b")).unwrap();
    symlink("b", folder.path().join("a")).unwrap();
    assert!(matches!(
        inspect(&folder.path().join("a")),
        Err(InspectError::Io { .. })
    ));
}

#[test]
fn sockets_and_character_devices_are_named_but_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    assert_eq!(inspect(&path).unwrap().kind, TargetKind::Other);
    let null = inspect(Path::new("/dev/null")).unwrap();
    assert_eq!(
        (null.kind, null.direct_io, null.writable),
        (TargetKind::CharDevice, None, true)
    );
}

#[test]
fn closed_files_are_refused_and_read_only_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    std::fs::write(&path, "x").unwrap();
    if rustix::process::geteuid().is_root() {
        eprintln!(
            "SKIPPED closed_files_are_refused_and_read_only_ones_are_not: root may do everything"
        );
        return;
    }
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o400)).unwrap();
    assert!(!inspect(&path).unwrap().writable);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).unwrap();
    assert!(matches!(inspect(&path), Err(InspectError::Denied { .. })));
}

#[test]
fn absent_files_of_a_directory_have_the_facts_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut inspector = PathInspector::default();
    let first = inspector.inspect(&folder.path().join("a")).unwrap();
    // A directory that is probed anew would be found to take no files.
    std::fs::remove_dir(folder.path()).unwrap();
    let second = inspector.inspect(&folder.path().join("b")).unwrap();
    assert_eq!(second.path, folder.path().join("b"));
    assert_eq!(
        TargetFacts {
            path: first.path.clone(),
            ..second
        },
        first
    );
    // What is not missing is looked at, and another directory too.
    assert!(inspector.inspect(&folder.path().join("sub/c")).is_err());
}

//! Opens existing, missing and foreign files.

use super::*;

fn message(path: &Path) -> String {
    open_within(path, Duration::from_millis(50))
        .map(|_| ())
        .expect_err("it should be refused")
        .to_string()
}

#[test]
fn the_default_place_follows_the_xdg_specification() {
    let at = |xdg: Option<&str>, home: Option<&str>| {
        path_from(xdg.map(Into::into), home.map(Into::into)).ok()
    };
    assert_eq!(
        at(Some("/data"), Some("/home/a")),
        Some("/data/hakaru/hakaru.db".into())
    );
    assert_eq!(
        at(None, Some("/home/a")),
        Some("/home/a/.local/share/hakaru/hakaru.db".into())
    );
    assert_eq!(
        at(Some("relative"), Some("/home/a")),
        Some("/home/a/.local/share/hakaru/hakaru.db".into())
    );
    assert_eq!(at(Some(""), None), None);
}

#[test]
fn folders_are_made_and_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b/hakaru.db");
    drop(Store::open(&path).unwrap());
    assert_eq!(
        std::fs::metadata(dir.path().join("a/b"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o700
    );
    drop(Store::open(&path).unwrap());
}

#[test]
fn the_connection_is_set_up_as_promised() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("x.db")).unwrap();
    let text = |sql: &str| {
        store
            .connection
            .query_row(sql, [], |r| r.get::<_, rusqlite::types::Value>(0))
            .unwrap()
    };
    assert_eq!(
        text("PRAGMA journal_mode"),
        rusqlite::types::Value::Text("wal".into())
    );
    assert_eq!(
        text("PRAGMA synchronous"),
        rusqlite::types::Value::Integer(2),
        "a commit survives a loss of power"
    );
    assert_eq!(
        text("PRAGMA foreign_keys"),
        rusqlite::types::Value::Integer(1)
    );
    assert_eq!(
        text("PRAGMA user_version"),
        rusqlite::types::Value::Integer(migrate::NEWEST.into())
    );
}

#[test]
fn what_is_no_database_of_ours_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("notes.txt");
    let content =
        "these are notes, and longer than the hundred bytes of a header of SQLite would be. "
            .repeat(4);
    std::fs::write(&text, &content).unwrap();
    assert!(
        message(&text).contains("not an SQLite database"),
        "{}",
        message(&text)
    );
    assert_eq!(std::fs::read_to_string(&text).unwrap(), content);

    let foreign = dir.path().join("bookmarks.db");
    Connection::open(&foreign)
        .unwrap()
        .execute_batch("CREATE TABLE bookmark (url TEXT)")
        .unwrap();
    let before = std::fs::read(&foreign).unwrap();
    assert!(
        message(&foreign).contains("another program"),
        "{}",
        message(&foreign)
    );
    assert_eq!(std::fs::read(&foreign).unwrap(), before);
}

#[test]
fn a_newer_schema_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    Store::open(&path)
        .unwrap()
        .connection
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let told = message(&path);
    assert!(
        told.contains("schema 99") && told.contains("this version knows"),
        "{told}"
    );
}

#[test]
fn a_locked_database_is_waited_for_and_then_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(matches!(
        open_within(&path, Duration::from_millis(50)),
        Err(OpenError::Locked { .. })
    ));
    other.execute_batch("ROLLBACK").unwrap();
    drop(Store::open(&path).unwrap());
}

#[test]
fn folders_and_files_in_the_way_are_named() {
    let dir = tempfile::tempdir().unwrap();
    assert!(
        message(dir.path()).contains("failed to open the database"),
        "{}",
        message(dir.path())
    );
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(
        message(&file.join("x.db")).contains("failed to create the database directory"),
        "{}",
        message(&file.join("x.db"))
    );
}

#[test]
fn many_may_open_a_new_one_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    std::thread::scope(|scope| {
        let opened: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| Store::open(&path).map(|_| ())))
            .collect();
        for one in opened {
            one.join().unwrap().unwrap();
        }
    });
}

#[test]
fn a_name_that_looks_like_a_uri_is_a_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file:x?mode=memory");
    drop(Store::open(&path).unwrap());
    assert!(path.exists());
}

#[test]
fn without_shared_memory_the_older_journal_is_used() {
    // On 9p and similar file systems the WAL index is not available. A symbolic link, which SQLite does not follow,
    // simulates this.
    let dir = tempfile::tempdir().unwrap();
    let fresh = dir.path().join("fresh.db");
    let used = dir.path().join("used.db");
    drop(Store::open(&used).unwrap());
    for path in [fresh, used] {
        std::os::unix::fs::symlink("/nowhere/at/all", path.with_extension("db-shm")).unwrap();
        for _ in 0..2 {
            let store = Store::open(&path).unwrap();
            assert_eq!(store.journal(), JournalMode::Rollback);
            let text = |sql: &str| {
                store
                    .connection
                    .query_row(sql, [], |r| r.get::<_, rusqlite::types::Value>(0))
            };
            assert_eq!(
                text("PRAGMA journal_mode").unwrap(),
                rusqlite::types::Value::Text("delete".into())
            );
            assert_eq!(
                text("PRAGMA synchronous").unwrap(),
                rusqlite::types::Value::Integer(2)
            );
            // No connection keeps an exclusive lock.
            assert_eq!(Store::open(&path).unwrap().count().unwrap(), 0);
        }
    }
}

//! Verifications are kept like runs: appended, found by ID, never changed, and readable by later
//! versions.
//!
//! `HAKARU_WRITE_FIXTURES=1 cargo test -p hakaru-store --test it verified::` writes the fixture if it is missing.

use crate::support::{fixtures, id, record, verification};
use hakaru_model::integrity::*;
use hakaru_store::{AppendError, Appended, FindError, Store};

/// Returns a database with three verifications.
fn three() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path().join("x.db")).unwrap();
    assert_eq!(store.latest_verification().unwrap(), None);
    assert!(not_found(&store, "01"));
    for n in [1, 2, 3] {
        store.append_verification(&verification(n)).unwrap();
    }
    (dir, store)
}

fn not_found(store: &Store, id: &str) -> bool {
    matches!(store.verification(id), Err(FindError::NotFound { .. }))
}

#[test]
fn finds_verifications_by_id_and_newest_first() {
    let (_dir, store) = three();
    assert_eq!(store.latest_verification().unwrap(), Some(verification(3)));
    assert_eq!(
        store.verifications(2).unwrap().records,
        [verification(3), verification(2)]
    );
    assert_eq!(store.verification(&id(2)).unwrap(), verification(2));
    assert!(matches!(
        store.verification(&id(2)[..8]),
        Err(FindError::Ambiguous { count: 3, .. })
    ));
    assert!(not_found(&store, ""));
}

#[test]
fn refuses_another_verification_with_the_same_id_or_an_invalid_one() {
    let (dir, mut store) = three();
    assert_eq!(
        store.append_verification(&verification(2)).unwrap(),
        Appended::AlreadyThere
    );
    let other = Verification {
        seed: 99,
        ..verification(2)
    };
    assert!(matches!(
        store.append_verification(&other),
        Err(AppendError::Conflict { .. })
    ));
    assert!(
        store
            .append_verification(&Verification {
                id: "a b".to_owned(),
                ..verification(4)
            })
            .is_err()
    );
    drop(store);
    let store = Store::open(dir.path().join("x.db")).unwrap();
    assert_eq!(store.verifications(9).unwrap().records.len(), 3);
}

#[test]
fn paths_that_json_cannot_carry_are_no_reason_to_lose_one() {
    use std::os::unix::ffi::OsStringExt;
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path().join("x.db")).unwrap();
    let folder = std::path::PathBuf::from(std::ffi::OsString::from_vec(b"/mnt/\xff".to_vec()));
    store
        .append_verification(&Verification {
            scope: Scope::FreeSpace { folder },
            ..verification(1)
        })
        .unwrap();
    let found = store.latest_verification().unwrap().unwrap();
    assert_eq!(
        found.scope,
        Scope::FreeSpace {
            folder: "/mnt/\u{FFFD}".into()
        }
    );
}

#[test]
fn databases_of_schema_3_are_opened() {
    let path = fixtures().join("schema-3.db");
    if std::env::var_os("HAKARU_WRITE_FIXTURES").is_some() && !path.exists() {
        let mut store = Store::open(&path).unwrap();
        store.append(&record(1)).unwrap();
        store.append_verification(&verification(1)).unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("old.db");
    std::fs::copy(&path, &copy).unwrap();
    let mut store = Store::open(&copy).unwrap();
    // What is stored keeps the words it was stored with.
    let words = serde_json::to_string(&verification(1))
        .unwrap()
        .replace("not checked", "it was not looked at");
    let stored: Verification = serde_json::from_str(&words).unwrap();
    assert_eq!(store.latest_verification().unwrap(), Some(stored));
    assert_eq!(store.count().unwrap(), 1);
    store.append_verification(&verification(2)).unwrap();
}

#[test]
fn a_damaged_verification_hides_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let mut store = Store::open(&path).unwrap();
    for n in [1, 2, 3] {
        store.append_verification(&verification(n)).unwrap();
    }
    let damage = format!(
        "UPDATE verification SET body = CAST(x'ff7bfe' AS TEXT) WHERE id = '{}'",
        id(3)
    );
    let sql = format!("DROP TRIGGER verification_is_never_updated; {damage}");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch(&sql)
        .unwrap();
    let found = store.verifications(9).unwrap();
    assert_eq!(found.records, [verification(2), verification(1)]);
    assert!(
        found.unreadable.len() == 1 && found.unreadable[0].0 == id(3),
        "{:?}",
        found.unreadable
    );
    assert!(store.latest_verification().unwrap_err().is_unreadable());
}

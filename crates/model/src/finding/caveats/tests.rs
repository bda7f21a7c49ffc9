//! Property tests for merging findings.

use super::*;
use proptest::prelude::*;

/// Caveats with few different keys, so that many of them merge.
fn caveat() -> impl Strategy<Value = Caveat> {
    let phase = || prop_oneof![Just("seq-read".to_owned()), Just("rand-write".to_owned())];
    let small = 0_u64..4;
    prop_oneof![
        (0_u32..300).prop_map(|load_percent| Caveat::HostBusy { load_percent }),
        (1_u32..5).prop_map(|runs| Caveat::FewRuns { runs }),
        Just(Caveat::SystemDisk),
        (0_u32..2).prop_map(|flags| Caveat::HostThrottled { flags }),
        (phase(), small.clone()).prop_map(|(phase, n)| Caveat::Short {
            phase,
            measured: Nanos(n),
            wanted: Nanos(10),
        }),
        (phase(), small.clone()).prop_map(|(phase, n)| Caveat::Cliff {
            phase,
            at: Bytes(n),
            before: BytesPerSec(3.0),
            after: BytesPerSec(1.0),
        }),
        (phase(), small, 0_i32..3).prop_map(|(phase, count, errno)| Caveat::DeviceErrors {
            phase,
            count,
            first: FirstFailure::Io {
                action: "read".to_owned(),
                offset: Bytes(0),
                errno,
            },
        }),
    ]
}

fn finding() -> impl Strategy<Value = Finding> {
    let subject = prop_oneof![Just(None), Just(Some("alpha")), Just(Some("beta"))];
    (caveat(), subject).prop_map(|(caveat, subject)| {
        let found = Finding::from(&caveat);
        match subject {
            Some(subject) => found.about(subject),
            None => found,
        }
    })
}

/// Findings that are themselves merged from several.
fn merged() -> impl Strategy<Value = Finding> {
    prop::collection::vec(finding(), 1..12).prop_map(|all| Finding::merge_all(all).remove(0))
}

/// Every combination of the scope's subjects and phases.
fn places(scope: &FindingScope) -> BTreeSet<(Option<&str>, Option<&str>)> {
    let subjects: Vec<Option<&str>> = some(&scope.subjects);
    let phases: Vec<Option<&str>> = some(&scope.phases);
    subjects
        .iter()
        .flat_map(|subject| phases.iter().map(move |phase| (*subject, *phase)))
        .collect()
}

fn some(names: &BTreeSet<String>) -> Vec<Option<&str>> {
    if names.is_empty() {
        return vec![None];
    }
    names.iter().map(|name| Some(name.as_str())).collect()
}

proptest! {
    #[test]
    fn merging_commutes(a in merged(), b in merged()) {
        prop_assert_eq!(a.merge(&b), b.merge(&a));
    }

    #[test]
    fn merging_is_idempotent(a in merged(), b in merged()) {
        prop_assert_eq!(a.merge(&a), Some(a.clone()));
        if let Some(both) = a.merge(&b) {
            prop_assert_eq!(both.merge(&both), Some(both.clone()));
        }
    }

    #[test]
    fn a_merged_scope_covers_both_and_nothing_else(a in merged(), b in merged()) {
        if let Some(both) = a.merge(&b) {
            let each: BTreeSet<_> = places(&a.scope).union(&places(&b.scope)).copied().collect();
            prop_assert_eq!(places(&both.scope), each);
        }
    }

    #[test]
    fn nothing_is_lost_in_a_list(all in prop::collection::vec(finding(), 0..20)) {
        let merged = Finding::merge_all(all.clone());
        for one in &all {
            let covers = |found: &Finding| {
                found.kind.merge(&one.kind).as_ref() == Some(&found.kind)
                    && places(&found.scope).is_superset(&places(&one.scope))
            };
            prop_assert!(merged.iter().any(covers), "{:?} in {:?}", one, merged);
        }
        prop_assert_eq!(Finding::merge_all(merged.clone()).len() <= merged.len(), true);
    }
}

#[test]
fn figures_become_ranges_and_keys_stay() {
    let busy = |load_percent| Finding::from(&Caveat::HostBusy { load_percent });
    let all = Finding::merge_all([busy(135), busy(98), busy(200)]);
    let load_percent = MinMax { min: 98, max: 200 };
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].kind, FindingKind::HostBusy { load_percent });
    let capped = |ioengine: &str| {
        Finding::from(&Caveat::DepthCapped {
            ioengine: ioengine.to_owned(),
            asked: 8,
        })
    };
    assert_eq!(capped("psync").merge(&capped("sync")), None);
    assert_eq!(capped("psync").merge(&busy(98)), None);
}

#[test]
fn a_scope_never_claims_what_nobody_found() {
    let cliff = |phase: &str| {
        Finding::from(&Caveat::Interrupted {
            phase: phase.to_owned(),
            measured: Nanos(5),
        })
    };
    let (a, b) = (
        cliff("seq-read").about("alpha"),
        cliff("rand-read").about("beta"),
    );
    assert_eq!(a.merge(&b), None);
    let both = a.merge(&cliff("rand-read").about("alpha")).unwrap();
    assert_eq!((both.scope.subjects.len(), both.scope.phases.len()), (1, 2));
    let whole = Finding::from(&Caveat::SystemDisk);
    assert_eq!(whole.merge(&whole.clone().about("alpha")), None);
}

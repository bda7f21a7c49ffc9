//! Property tests for merging findings, with each kind of caveat.

use crate::cases;
use crate::generate::caveat;
use crate::to_tree;
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{Finding, FindingKind, FindingScope};
use hakaru_model::lint::{LintWarning, Severity};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn finding() -> impl Strategy<Value = Finding> {
    let subject = prop::option::of(prop::sample::select(vec!["alpha", "beta", "gamma"]));
    (caveat(), subject).prop_map(|(caveat, subject)| {
        let found = Finding::from(&caveat);
        subject.map_or(found.clone(), |subject| found.about(subject))
    })
}

/// Generates caveats of which many differ only in their figures, so that they merge.
fn findings() -> impl Strategy<Value = Vec<Finding>> {
    (finding(), prop::collection::vec(finding(), 0..12)).prop_map(|(first, mut rest)| {
        rest.push(first.clone());
        rest.push(first);
        rest
    })
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn scope() -> impl Strategy<Value = FindingScope> {
    let some = |names: &'static [&'static str]| prop::sample::subsequence(names, 0..=names.len());
    (some(&["alpha", "beta", "gamma"]), some(&["read", "write"])).prop_map(|(subjects, phases)| {
        FindingScope {
            subjects: set(&subjects),
            phases: set(&phases),
        }
    })
}

/// Returns the pairs of a subject and a phase; an empty name stands for all.
fn places(scope: &FindingScope) -> BTreeSet<(String, String)> {
    let or_whole = |names: &BTreeSet<String>| {
        if names.is_empty() {
            set(&["*"])
        } else {
            names.clone()
        }
    };
    let (subjects, phases) = (or_whole(&scope.subjects), or_whole(&scope.phases));
    let pairs = subjects.iter().flat_map(|subject| {
        phases
            .iter()
            .map(move |phase| (subject.clone(), phase.clone()))
    });
    pairs.collect()
}

fn has_phase(caveat: &Caveat) -> bool {
    to_tree(caveat).unwrap().get("phase").is_some()
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn a_finding_has_the_phase_of_its_caveat(caveat in caveat()) {
        let found = Finding::from(&caveat);
        prop_assert_eq!(found.scope.phases.is_empty(), !has_phase(&caveat));
        prop_assert!(found.scope.subjects.is_empty());
        prop_assert_eq!(found.severity, found.kind.severity());
    }

    #[test]
    fn a_finding_is_named_as_its_caveat_is_stored(caveat in caveat()) {
        let found = Finding::from(&caveat);
        let stored = to_tree(&caveat).unwrap()["caveat"].as_str().unwrap().replace('_', "");
        prop_assert_eq!(found.kind.name().to_lowercase(), stored);
        prop_assert!(FindingKind::NAMES.contains(&found.kind.name()));
    }

    #[test]
    fn merging_findings_commutes(a in finding(), b in finding()) {
        prop_assert_eq!(a.merge(&b), b.merge(&a));
    }

    #[test]
    fn a_finding_merged_with_itself_is_itself(all in findings()) {
        for found in Finding::merge_all(all) {
            prop_assert_eq!(found.merge(&found), Some(found.clone()));
        }
    }

    #[test]
    fn merging_findings_of_one_scope_associates(a in caveat(), b in caveat(), c in caveat()) {
        let [a, b, c] = [a, b, c].map(|caveat| Finding { scope: FindingScope::default(), ..Finding::from(&caveat) });
        let left = a.merge(&b).and_then(|ab| ab.merge(&c));
        let right = b.merge(&c).and_then(|bc| a.merge(&bc));
        prop_assert_eq!(left, right);
    }

    #[test]
    fn only_findings_of_one_kind_merge(a in finding(), b in finding()) {
        if let Some(both) = a.merge(&b) {
            prop_assert_eq!(a.kind.name(), b.kind.name());
            prop_assert_eq!(both.severity, a.severity.max(b.severity));
        }
    }

    #[test]
    fn a_scope_covers_what_both_do_and_no_more(a in scope(), b in scope()) {
        prop_assert_eq!(a.merge(&b), b.merge(&a));
        if let Some(both) = a.merge(&b) {
            let each: BTreeSet<_> = places(&a).union(&places(&b)).cloned().collect();
            prop_assert_eq!(places(&both), each);
        }
    }

    #[test]
    fn a_scope_merges_where_one_side_of_it_is_shared(a in scope(), b in scope()) {
        let named = |scope: &FindingScope| (scope.subjects.is_empty(), scope.phases.is_empty());
        let shares = a.subjects == b.subjects || a.phases == b.phases;
        prop_assert_eq!(a.merge(&b).is_some(), shares && named(&a) == named(&b));
    }

    #[test]
    fn a_list_of_findings_loses_none_and_grows_none(all in findings()) {
        let merged = Finding::merge_all(all.clone());
        prop_assert!(!merged.is_empty() && merged.len() < all.len());
        for one in &all {
            let covered = |found: &Finding| {
                found.kind.name() == one.kind.name()
                    && found.severity >= one.severity
                    && places(&found.scope).is_superset(&places(&one.scope))
            };
            prop_assert!(merged.iter().any(covered), "{one:?}");
        }
        let places_of = |list: &[Finding]| -> BTreeSet<_> {
            list.iter().flat_map(|found| places(&found.scope)).collect()
        };
        prop_assert_eq!(places_of(&merged), places_of(&all));
    }

    #[test]
    fn a_warning_weighs_what_its_caveat_does(caveat in caveat()) {
        let severity = Finding::from(&caveat).severity;
        let warning = LintWarning::Found { caveat };
        prop_assert_eq!(warning.weight(), severity);
        prop_assert_eq!(warning.option(), "");
    }
}

#[test]
fn each_kind_of_finding_is_named_once() {
    let names: BTreeSet<&str> = FindingKind::NAMES.iter().copied().collect();
    assert_eq!(names.len(), FindingKind::NAMES.len());
    assert!(Severity::Note < Severity::Weak && Severity::Weak < Severity::Wrong);
    assert_eq!(
        [Severity::Note, Severity::Weak, Severity::Wrong].map(Severity::name),
        ["note", "weak", "wrong"]
    );
}

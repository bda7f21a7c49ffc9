//! Comparisons of short outputs.

use super::*;

fn differences(judge: MatchRule, theirs: &[&str], ours: &[&str]) -> Vec<String> {
    let parse = |texts: &[&str]| -> Vec<JsonTree> {
        texts
            .iter()
            .map(|t| JsonTree::parse(t).expect("JSON"))
            .collect()
    };
    let (theirs, ours) = (parse(theirs), parse(ours));
    let comparison = OutputComparison {
        judge,
        minor: 33,
        theirs: &theirs,
        ours: &ours,
    };
    comparison
        .differences()
        .into_iter()
        .map(|d| format!("{}: {} | {}", d.path, d.theirs, d.ours))
        .collect()
}

#[test]
fn the_same_does_not_differ() {
    let text =
        r#"{"jobs": [{"jobname": "a", "read": {"iops": 1.0, "total_ios": 4, "runtime": 3}}]}"#;
    for judge in [
        MatchRule::Counts,
        MatchRule::Chance,
        MatchRule::Rate,
        MatchRule::Held,
        MatchRule::Form,
    ] {
        assert!(differences(judge, &[text, text], &[text]).is_empty());
    }
}

#[test]
fn keys_kinds_and_order_are_compared() {
    let found = differences(
        MatchRule::Form,
        &[r#"{"a": 1, "b": 2.0, "c": {"d": 1}}"#],
        &[r#"{"b": 2, "a": 1, "e": []}"#],
    );
    assert_eq!(
        found,
        [
            "b: float 2.000000 | integer 2",
            "c: object of 1 | nothing",
            "e: nothing | list of 0",
            " (order of keys): a b | b a",
        ]
    );
}

#[test]
fn what_only_younger_versions_print_is_excused() {
    assert!(differences(MatchRule::Form, &["{}"], &[r#"{"job_start": 1}"#]).is_empty());
}

#[test]
fn counts_are_the_same_or_as_near_as_chance_allows() {
    let at = |ios: u32| format!(r#"{{"read": {{"total_ios": {ios}}}}}"#);
    let (few, many, wrong) = (at(480), at(520), at(800));
    assert_eq!(
        differences(MatchRule::Counts, &[&few, &few], &[&many]),
        ["read.total_ios: 480 (± 0) | 520"]
    );
    assert!(differences(MatchRule::Chance, &[&few, &few], &[&many]).is_empty());
    assert_eq!(
        differences(MatchRule::Chance, &[&few, &few], &[&wrong]).len(),
        1
    );
    assert!(differences(MatchRule::Form, &[&few], &[&wrong]).is_empty());
    assert_eq!(
        differences(MatchRule::Form, &[&few], &[&at(0)]),
        ["read.total_ios: 480 | 0"]
    );
}

#[test]
fn speeds_are_compared_with_the_spread_where_they_are_held() {
    let at = |ns: u32| format!(r#"{{"clat_ns": {{"mean": {ns}.0}}}}"#);
    let theirs = [&at(1000) as &str, &at(1100), &at(1050)];
    assert!(differences(MatchRule::Held, &theirs, &[&at(1190)]).is_empty());
    assert_eq!(
        differences(MatchRule::Held, &theirs, &[&at(1300)]),
        ["clat_ns.mean: 1000 to 1100 (± 100) | 1300"]
    );
    assert!(differences(MatchRule::Rate, &theirs, &[&at(1300)]).is_empty());
}

#[test]
fn names_and_options_stay_as_typed() {
    let found = differences(
        MatchRule::Form,
        &[r#"{"job options": {"bs": "4k"}, "jobname": "a"}"#],
        &[r#"{"job options": {"bs": "4096"}, "jobname": "b"}"#],
    );
    assert_eq!(
        found,
        [
            "job options.bs: \"4k\" | \"4096\"",
            "jobname: \"a\" | \"b\""
        ]
    );
}

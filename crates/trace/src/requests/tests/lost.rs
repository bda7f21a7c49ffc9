//! Events that are missing, and several requests at one address.

use super::*;

#[test]
fn a_lost_completion_does_not_poison_the_next_request() {
    let mut events = Vec::new();
    for turn in 0..4 {
        events.extend([bio(0, 8, "WS"), issue(0, 8, "WS")]);
        if turn != 1 {
            events.push(complete(0, 8, "WS"));
        }
    }
    let (matcher, mut requests) = matched(events);
    requests.sort_by_key(|it| it.issued);
    let times: Vec<_> = requests
        .iter()
        .map(|it| (it.issued, it.completed))
        .collect();
    assert_eq!(
        times,
        [(20, Some(30)), (50, None), (70, Some(80)), (100, Some(110))]
    );
    assert_eq!(matcher.counts().unseen_completions, 1);
    assert_eq!(matcher.counts().unseen_issues, 0);
}

#[test]
fn requests_at_one_address_at_once_complete_in_order() {
    let (matcher, requests) = matched(vec![
        bio(0, 8, "R"),
        bio(0, 8, "R"),
        issue(0, 8, "R"),
        issue(0, 8, "R"),
        complete(0, 8, "R"),
        complete(0, 8, "R"),
    ]);
    assert_eq!(
        rows(&requests),
        [
            (0, 8, (10, 30, Some(50)), vec![(0, 8)]),
            (0, 8, (20, 40, Some(60)), vec![(0, 8)]),
        ]
    );
    assert_eq!(matcher.counts(), MatchCounts::default());
}

#[test]
fn an_address_that_is_always_in_use_is_served_in_order_once_known() {
    let mut events = vec![bio(0, 8, "R"), issue(0, 8, "R")];
    for _ in 0..100 {
        events.extend([bio(0, 8, "R"), issue(0, 8, "R"), complete(0, 8, "R")]);
    }
    events.push(complete(0, 8, "R"));
    let (mut matcher, mut requests) = matched(events);
    matcher.settle(3_000);
    requests.extend(matcher.take());
    assert_eq!(requests.len(), 101);
    assert_eq!(matcher.counts().unseen_completions, 0);
    let unseen = requests.iter().filter(|it| it.completed.is_none());
    assert!(unseen.count() <= 1);
}

#[test]
fn ends_requests_whose_completion_must_have_been_lost() {
    let (mut matcher, requests) = matched(vec![bio(0, 8, "R"), issue(0, 8, "R")]);
    assert!(requests.is_empty());
    matcher.settle(1_000_000);
    assert_eq!(matcher.in_flight().count(), 1);
    matcher.settle(2_000_000_000);
    assert_eq!(matcher.in_flight().count(), 0);
    assert_eq!(matcher.take().len(), 1);
    assert_eq!(matcher.counts().unseen_completions, 1);
}

#[test]
fn counts_what_began_before_recording() {
    let (matcher, requests) = matched(vec![
        complete(0, 8, "W"),
        issue(64, 8, "W"),
        complete(64, 8, "W"),
    ]);
    assert_eq!(rows(&requests), [(64, 8, (20, 20, Some(30)), vec![])]);
    let expected = MatchCounts {
        unseen_issues: 1,
        unmatched: 1,
        ..MatchCounts::default()
    };
    assert_eq!(matcher.counts(), expected);
}

//! Sentences of links and manual pages.

use super::check;
use super::japanese::in_both;
use hakaru_report::text::{self, LinkChange, LinkNote};

#[test]
fn links_have_sentences() {
    let parts = ["/d", "/p", "hakaru link --remove"].map(str::to_owned);
    for change in [
        LinkChange::Created,
        LinkChange::Kept,
        LinkChange::Removed,
        LinkChange::Absent,
        LinkChange::Left,
    ] {
        check(&in_both(&parts, || {
            text::link_change(change, "/d/fio", "/p/hakaru")
        }));
    }
    let (name, other, directory) = ("fio", "/usr/bin/fio", "/d");
    for note in [
        LinkNote::NotInPath { directory },
        LinkNote::Hides {
            name,
            other,
            directory,
        },
        LinkNote::HiddenBy {
            name,
            other,
            directory,
        },
    ] {
        check(&in_both(&parts, || text::link_note(&note)));
    }
    check(&in_both(&parts, || text::link_occupied("/d/fio")));
    let parts = ["hakaru link", "hakaru --help"].map(str::to_owned);
    check(&in_both(&parts, || text::no_link_directory().to_owned()));
    check(&in_both(&parts, || text::no_manual_page("bananas")));
}

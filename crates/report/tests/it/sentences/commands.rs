//! Messages of the commands, in both languages.

use super::*;
use hakaru_report::text::{BenchPlace, EraseTarget, FailedAction, VerifyUsage};
use hakaru_report::{Language, with_language};

/// Checks a message in both languages; those that speak to a person may end with a full stop.
fn message(text: impl Fn() -> String) {
    let english = text();
    let japanese = with_language(Language::Japanese, &text);
    let has_japanese = |said: &str| said.chars().any(|c| ('\u{3040}'..'\u{a000}').contains(&c));
    assert!(!has_japanese(&english), "{english}");
    assert!(has_japanese(&japanese), "{japanese}");
    for wrong in ["読み取り", "計測", "：", "％", "Some(", "全て", "下さい"] {
        assert!(!japanese.contains(wrong), "{wrong:?} in: {japanese}");
    }
    let word = |word: &&str| word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase());
    let plain = japanese.replace("hakaru ", "");
    let words: Vec<&str> = plain.split(' ').collect();
    let pair = words.windows(2).find(|pair| pair.iter().all(word));
    assert_eq!(pair, None, "{japanese}");
}

#[test]
fn messages_are_in_both_languages() {
    let options = ["--erase=1".to_owned(), "--erase=2".to_owned()];
    let lines = ["  ext4\n".to_owned()];
    message(|| text::refused("/dev/sdX"));
    message(|| text::would_erase_all("/dev/sdX"));
    message(|| text::type_to_erase("sdX"));
    message(|| text::pass_one_of(&options));
    message(|| text::erase_without_id("sdX"));
    message(|| text::losses("/dev/sdX", &[]));
    message(|| text::losses("/dev/sdX", &lines));
    message(|| text::nothing_done().to_owned());
    message(|| text::would_run(&["seq-read", "seq-write"]));
    for place in [
        BenchPlace::CurrentDirectory,
        BenchPlace::Directory("/mnt"),
        BenchPlace::Device("/dev/sdX"),
        BenchPlace::Simulated,
    ] {
        message(|| text::measuring("SD32G", place, GIB));
    }
    message(|| text::bench_rounds(3, true, 7, Nanos(50 * SEC)));
    message(|| text::bench_writes(GIB, BytesPerSec(20e6)));
    message(|| text::report_at("/tmp/report.html"));
    message(|| text::round_of(1, 3));
    message(|| text::traced_round().to_owned());
    message(|| text::in_ramp().to_owned());
    message(|| text::time_left("3 s"));
    message(|| text::laying_out().to_owned());
    message(|| text::done_of(Bytes(1 << 20), GIB));
    message(|| text::runs_interrupted(2));
    message(|| text::nothing_listed(true).to_owned());
    message(|| text::nothing_listed(false).to_owned());
    message(|| text::partial_results_kept("X"));
    for (samples, restores) in [
        (None, false),
        (None, true),
        (Some(GIB), false),
        (Some(GIB), true),
    ] {
        message(|| text::would_verify(samples, restores));
    }
    message(|| text::would_fill_free_space(GIB, GIB));
    message(|| text::free_space_taken(GIB, GIB));
    for (partition, mapping, path) in [
        (Some(1), None, "/dev/sdX1"),
        (None, Some("crypt"), "/dev/dm-0"),
    ] {
        let target = EraseTarget {
            partition,
            mapping,
            name: "SD32G",
            size: GIB,
            path,
        };
        message(|| text::erase_target(&target));
    }
}

#[test]
fn errors_of_commands_are_in_both_languages() {
    for usage in [
        VerifyUsage::TwoOutputs,
        VerifyUsage::NotATarget("/x"),
        VerifyUsage::NotThere("/x"),
        VerifyUsage::Denied("/x"),
        VerifyUsage::Unreadable("/x", "X"),
        VerifyUsage::OnlyForDevices,
    ] {
        message(|| text::verify_usage(&usage));
    }
    for action in [
        FailedAction::Read("x"),
        FailedAction::ReadAsText("x"),
        FailedAction::WriteReport("x"),
        FailedAction::CreateReportDirectory("x"),
        FailedAction::UseFreeSpace("x"),
        FailedAction::DetermineFreeSpace("x"),
        FailedAction::StoreResult,
    ] {
        message(|| text::cannot(&action));
    }
}

//! Tests reports and comparisons of stored runs from the command line: all formats, all selectors, reproducible output.

use crate::support::two_cards::measured;
use crate::support::{self, Home, hakaru, text};
use hakaru_model::record::RunRecord;
use std::path::Path;
use std::process::{Command, Output};

fn run(home: &Home, words: &[&str]) -> Output {
    hakaru(home)
        .current_dir(home.path())
        .args(words)
        .output()
        .unwrap()
}

fn run_words(home: &Home, words: &str) -> Output {
    run(home, &words.split_whitespace().collect::<Vec<_>>())
}

#[track_caller]
fn ok(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

#[track_caller]
fn refused(output: &Output) -> String {
    assert!(!output.status.success(), "{}", text(&output.stdout));
    text(&output.stderr)
}

fn read(home: &Home, name: &str) -> String {
    std::fs::read_to_string(home.path().join(name)).unwrap()
}

#[test]
fn a_campaign_is_reported_in_every_form_and_in_the_same_bytes() {
    let home = measured();
    let report = |more: &str| {
        ok(&run_words(
            &home,
            &format!("campaign report two.toml {more}"),
        ))
    };
    for name in ["c.html", "c.md", "c.csv", "c.TXT"] {
        report(&format!("-o {name} --charts charts"));
        let first = read(&home, name);
        report(&format!("-o {name} --charts charts"));
        assert_eq!(first, read(&home, name));
    }
    let page = read(&home, "c.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("How the cards differ"));
    assert!(read(&home, "c.md").contains("](<charts/speed-seq-write.svg>)"));
    assert!(read(&home, "c.csv").contains("ratio_to_card"));
    assert!(!read(&home, "c.TXT").contains("<html"));
    // Regression: files contained terminal styles.
    for (words, name) in [
        ("campaign report two.toml", "c.TXT"),
        ("compare card=even card=slow", "x.txt"),
        ("report latest", "r.txt"),
    ] {
        ok(&run_words(&home, &format!("{words} -o {name}")));
        assert!(!read(&home, name).contains('\x1b'), "{name}");
    }
    report("-o c.Parquet");
    let table = std::fs::read(home.path().join("c.Parquet")).unwrap();
    assert!(table.starts_with(b"PAR1"));
    let charts = std::fs::read_dir(home.path().join("charts")).unwrap();
    let charts = charts.count();
    assert!(charts >= 6, "{charts}");
    let chart = read(&home, "charts/speed-seq-write.svg");
    assert!(chart.starts_with("<svg xmlns") && chart.contains("<style>"));
}

#[test]
fn a_campaign_is_compared_with_what_the_reader_wants() {
    let home = measured();
    // A directory with the name of a campaign, such as one for its results, is not the campaign.
    std::fs::create_dir(home.path().join("two-cards")).unwrap();
    let table = ok(&run_words(
        &home,
        "campaign report two-cards -o - --format csv",
    ));
    assert!(table.contains("seq-write"));
    let report = |more: &str| {
        run_words(
            &home,
            &format!("campaign report two.toml --format markdown {more}"),
        )
    };
    assert!(ok(&report("")).contains("Ratios are to even"));
    assert!(ok(&report("--reference SLOW")).contains("Ratios are to slow"));
    let error = refused(&report("--reference gone"));
    let wanted = "campaign two cards has no card gone: expected one of even, slow";
    assert!(error.contains(wanted), "{error}");
    let error = refused(&report("--against ext4"));
    let wanted = "campaign two cards has no layer ext4: expected one of";
    assert!(error.contains(wanted), "{error}");
}

const RULE: &str = "[[use]]\nid = \"tape\"\ntitle = \"tape\"\n[[use.criteria]]\nfigure = \"sequential_write\"\n\
                    fits = 25\ncare = 10\nwhy = \"so\"\n";

#[test]
fn a_campaign_is_judged_by_the_rules_of_a_file() {
    let home = measured();
    let write = |rules: &str| std::fs::write(home.path().join("rules.toml"), rules).unwrap();
    let report = |format: &str| {
        let words = "campaign report two.toml --rules rules.toml --format";
        run_words(&home, &format!("{words} {format}"))
    };
    write(RULE);
    let judged = ok(&report("markdown"));
    for line in [
        "- **tape**: best: even (good; weakest figure: sequential write 29.9 MB/s (needs 25))",
        "| tape | ✓ good | sequential write 29.9 MB/s (needs 25) |",
        "| tape | \\~ with care | sequential write 19.9 MB/s (good from 25) |",
    ] {
        assert!(judged.lines().any(|of| of == line), "{line} in {judged}");
    }
    // Tables of runs and of campaigns use the same word.
    write(&RULE.replace("care = 10", "care = 24"));
    let table = ok(&report("csv"));
    let verdict = |card: &str| {
        let mut lines = table.lines().filter(|line| line.contains("advice_tape"));
        let line = lines.find(|line| line.contains(card)).unwrap();
        line.trim_end().rsplit(',').nth(2).unwrap().to_owned()
    };
    assert_eq!([verdict("even"), verdict("slow")], ["fits", "does_not"]);
    let written =
        |r: &RunRecord| r.target.display_name() == "slow" && r.phases[0].name == "seq-write";
    let slow = support::records(&home)
        .into_iter()
        .find(written)
        .unwrap()
        .id;
    let words = format!("report {slow} --format csv --rules rules.toml");
    let table = ok(&run_words(&home, &words));
    let mut lines = table.lines();
    assert!(
        lines.any(|line| line.contains("advice_tape,,,does_not,")),
        "{table}"
    );
    write("[[use]]\nid = 1\n");
    assert!(refused(&report("markdown")).contains("rules.toml"));
}

#[test]
fn published_figures_are_reported_like_measured_ones() {
    let home = Home::new();
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/published/figures.csv");
    let words = [
        "campaign",
        "report",
        "article-a",
        "--format",
        "markdown",
        "--published",
        table.to_str().unwrap(),
    ];
    let page = ok(&run(&home, &words));
    assert!(
        page.contains("480 published runs") && page.contains("| kingston | 23.3 ± 0.1 |"),
        "{page}"
    );
    let printed = refused(&run(&home, &["campaign", "report", "article-a"]));
    assert!(printed.contains("no stored runs of article-a"), "{printed}");
}

#[test]
fn sides_are_chosen_by_what_their_runs_have_in_common() {
    let home = measured();
    let compare = |a: &str, b: &str| run(&home, &["compare", a, b]);
    let [even, slow] = ["even", "slow"].map(|card| format!("card={card},workload=seq-write"));
    let words = ok(&compare(&even, &slow));
    for (text, is_there) in [
        ("seq-write", true),
        ("lower (p <", true),
        ("rand-read", false),
        ("pooled", false),
    ] {
        assert_eq!(words.contains(text), is_there, "{text}: {words}");
    }
    // All kinds of selectors, and several of one kind.
    let host = support::records(&home)[0].environment.hostname.clone();
    let today = hakaru_report::time::day(support::records(&home)[0].started_unix_ms);
    for same in [
        format!("host={host}"),
        "layer=raw".to_owned(),
        format!("date={today}"),
        "campaign=two-cards".to_owned(),
        "card=even,card=slow".to_owned(),
    ] {
        let words = ok(&compare("card=even", &same));
        let pooled = "differences between 2 cards: their runs are pooled";
        assert!(words.contains(pooled), "{same}: {words}");
    }
    let error = refused(&compare("card=even", "card=gone"));
    let wanted = "no stored run has card=gone; stored values: even, slow";
    assert!(error.contains(wanted), "{error}");
    assert!(refused(&compare("card=even", "date=1999")).contains("no stored run has date=1999"));
    assert!(refused(&compare("card=even", "date=soon")).contains("`soon` is not a date"));
}

/// Regression: `-` was standard output for some commands and a file name for others.
#[test]
fn a_dash_is_standard_output_everywhere() {
    let home = measured();
    let said = |words: &[&str]| ok(&run(&home, words));
    assert!(said(&["compare", "card=even", "card=slow", "-o", "-"]).starts_with("<!DOCTYPE html>"));
    assert!(said(&["report", "latest", "-o", "-"]).starts_with("<!DOCTYPE html>"));
    assert!(said(&["report", "latest", "--format", "terminal"]).contains("MB/s and IOPS"));
    assert!(said(&["export", "latest", "-o", "-"]).starts_with("{\"format\":"));
    assert!(said(&["campaign", "init", "article-a", "-o", "-"]).contains("[[card]]"));
    assert!(!home.path().join("-").exists());
    for words in [
        &["report", "latest"][..],
        &["compare", "card=even", "card=slow"],
    ] {
        let printed = refused(&run(&home, &[words, &["-o", "x.parquet"]].concat()));
        assert!(
            printed.contains("only `hakaru campaign report` writes Parquet"),
            "{printed}"
        );
    }
    assert!(!home.path().join("x.parquet").exists());
}

#[test]
fn a_comparison_takes_its_form_from_its_file() {
    let home = measured();
    for (name, begins) in [
        ("x.html", "<!DOCTYPE html>"),
        ("x.md", "# slow against even"),
        ("x.csv", "figure,unit,"),
    ] {
        ok(&run(
            &home,
            &["compare", "card=even", "card=slow", "-o", name],
        ));
        let page = read(&home, name);
        assert!(
            page.starts_with(begins),
            "{name}: {}",
            &page[..page.len().min(300)]
        );
        assert!(page.contains("lower"), "{name}");
    }
}

#[test]
fn charts_are_saved_in_the_requested_form_with_their_data() {
    let home = measured();
    let words = "report latest --charts out --format svg --theme dark --width 500 --title Mine";
    let printed = ok(&run_words(&home, words));
    assert!(printed.ends_with("charts: out\n"), "{printed}");
    let chart = read(&home, "out/bandwidth.svg");
    assert!(chart.contains(" width=\"500\" ") && chart.contains(">Mine</text>"));
    assert!(chart.contains(".hk-bg{fill:#0f1419}") && !chart.contains("@media"));
    assert!(read(&home, "out/bandwidth.csv").contains("MB/s"));
    for words in [
        "compare card=even card=slow --charts pair --theme auto",
        "campaign report two.toml --charts all --format svg",
    ] {
        ok(&run_words(&home, words));
    }
    assert!(read(&home, "pair/ratios.svg").contains("@media(prefers-color-scheme:dark)"));
    assert!(read(&home, "all/speed-seq-write.svg").contains("source: "));
    let error = refused(&run_words(&home, "report latest --format png"));
    assert!(
        error.contains("help: name their directory with --charts DIR"),
        "{error}"
    );
    refused(&run_words(&home, "report latest --theme dark"));
}

/// Regression: the pages of comparisons did not link the charts that were saved with them.
#[test]
fn pages_of_comparisons_link_their_saved_charts() {
    let home = measured();
    for (sides, chart) in [
        ("card=even card=slow", "pair/ratios.svg"),
        ("card=even card=slow card=even", "many/speed-seq-write.svg"),
    ] {
        let dir = chart.split('/').next().unwrap();
        let words = format!("compare {sides} -o page.md --charts {dir}");
        ok(&run_words(&home, &words));
        let page = read(&home, "page.md");
        assert!(page.contains(&format!("](<{chart}>)")), "{page}");
        let links = page
            .split("](<")
            .skip(1)
            .filter_map(|rest| rest.split(">)").next());
        for link in links {
            assert!(home.path().join(link).exists(), "{link}");
        }
    }
}

/// PNG needs a font: without one, the error says what to install.
#[test]
fn png_charts_are_twice_as_wide_or_name_the_missing_font() {
    let home = measured();
    let words = "report latest -o p.md --charts png --format png --width 400";
    let output = run_words(&home, words);
    if !output.status.success() {
        let error = refused(&output);
        assert!(error.contains("no font found"), "{error}");
        return;
    }
    let picture = std::fs::read(home.path().join("png/bandwidth.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    assert_eq!(picture[16..20], 800u32.to_be_bytes());
    assert!(read(&home, "p.md").contains("](<png/bandwidth.png>)"));
}

#[test]
fn png_charts_have_a_theme_of_their_own() {
    let home = measured();
    let words = "report latest --charts themed --format png --theme auto";
    let output = run_words(&home, words);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--theme auto is for SVG files"));
    assert!(!home.path().join("themed").exists());
}

/// Japanese needs a font that has it: without one, the note names the characters and what to install.
#[test]
fn png_charts_in_japanese_have_all_glyphs_or_name_those_that_no_font_has() {
    let home = measured();
    let words = "report latest -o j.md --charts ja --format png --lang=ja";
    let output = run_words(&home, words);
    let said = text(&output.stderr);
    if !output.status.success() {
        assert!(said.contains("フォントなし"), "{said}");
        return;
    }
    let listed = Command::new("fc-list")
        .args([":lang=ja", "family"])
        .output();
    let has_japanese = listed.is_ok_and(|fonts| !fonts.stdout.is_empty());
    match has_japanese {
        true => assert!(!said.contains("を持つフォントがありません"), "{said}"),
        false => eprintln!("SKIPPED png_charts_in_japanese: no Japanese font: {said}"),
    }
    assert!(home.path().join("ja/bandwidth.png").exists());
}

#[test]
fn a_series_is_reported_in_the_form_of_its_file_with_its_charts() {
    let home = measured();
    ok(&run(
        &home,
        &["report", "latest", "-o", "s.md", "--charts", "svg"],
    ));
    let page = read(&home, "s.md");
    assert!(
        page.starts_with("# ") && page.contains("](<svg/bandwidth.svg>)"),
        "{page}"
    );
    assert!(read(&home, "svg/bandwidth.svg").starts_with("<svg"));
    ok(&run(
        &home,
        &["report", "latest", "-o", "s.txt", "--format", "csv"],
    ));
    assert!(read(&home, "s.txt").starts_with("series,started"));
}

#[test]
fn compare_ends_in_one_sentence_about_the_largest_proven_difference() {
    let home = measured();
    let words = ok(&run(&home, &["compare", "card=slow", "card=even"]));
    let last = words.lines().last().unwrap_or_default();
    assert!(
        words.contains("In short\neven does sequential writes 1.5"),
        "{words}"
    );
    assert!(
        words.contains("times as fast as slow (29.9 vs. 19.9 MB/s, n = 5; proven, 95% interval ["),
        "{last}"
    );
    // The same sentence, whichever side is named first.
    let turned = ok(&run(&home, &["compare", "card=even", "card=slow"]));
    assert!(
        turned.contains("In short\neven does sequential writes 1.5"),
        "{turned}"
    );
    // Both sides have all uses, and what would measure the missing figures.
    assert!(words.contains("Suitability"), "{words}");
    let page = ok(&run(
        &home,
        &["compare", "card=slow", "card=even", "-o", "-"],
    ));
    assert!(
        page.contains("times as fast as slow (") && page.contains("--only="),
        "{page}"
    );
}

#[test]
fn many_sets_are_compared_as_one_family_with_letters() {
    let home = measured();
    let sets = ["card=even", "card=slow", "card=even,workload=seq-write"];
    let words = ok(&run(&home, &[&["compare"], &sets[..]].concat()));
    let row = words
        .lines()
        .find(|line| line.starts_with("slow"))
        .unwrap_or_default();
    assert!(row.contains("(b)"), "{words}");
    assert!(words.contains("one family"), "{words}");
    for (name, begins) in [
        ("m.html", "<!DOCTYPE html>"),
        ("m.md", "# "),
        ("m.csv", "campaign,"),
    ] {
        ok(&run(
            &home,
            &[&["compare"], &sets[..], &["-o", name]].concat(),
        ));
        assert!(
            read(&home, name).starts_with(begins),
            "{name}: {:.80}",
            read(&home, name)
        );
    }
    let many = vec!["card=even"; 65];
    assert!(
        refused(&run(&home, &[&["compare"], &many[..]].concat())).contains("the maximum is 64")
    );
    assert!(refused(&run(&home, &["compare", "card=even"])).contains("<SET>"));
}

#[test]
fn cards_are_ranked_for_uses_and_by_price() {
    let home = measured();
    let rank = |words: &str| run_words(&home, &format!("rank {words}"));
    let all = ok(&rank(""));
    assert!(
        all.contains("Ranking of 2 cards") && all.contains("Best for each use"),
        "{all}"
    );
    // No random writes were measured.
    let database = ok(&rank(
        "--use database --price even=2000JPY --price slow=¥680",
    ));
    let none = database.contains("no card can be ranked");
    assert!(none && database.contains("680 JPY"), "{database}");
    assert!(database.contains("Speed for the money"), "{database}");
    let rule = "[[use]]\nid = \"copies\"\ntitle = \"large copies\"\n[[use.criteria]]\n\
        figure = \"sequential_write\"\nfits = 25\ncare = 5\nwhy = \"time\"\n";
    std::fs::write(home.path().join("rules.toml"), rule).unwrap();
    let copies = ok(&rank("--use copies --rules rules.toml"));
    assert!(
        copies.contains("best: even (good; weakest figure: sequential write"),
        "{copies}"
    );
    assert!(!copies.contains("not proven better"), "{copies}");
    let under = ok(&rank(
        "--use database --price even=2000JPY --price slow=680JPY --under 1000",
    ));
    assert!(
        under.contains("Not ranked, because of the limit of 1,000: even (2,000 JPY)"),
        "{under}"
    );
    assert!(refused(&rank("--use nothing")).contains("expected one of os, database"));
    assert!(refused(&rank("--price gone=3")).contains("no card gone: expected one of even, slow"));
    assert!(refused(&rank("--price even=free")).contains("is not a price"));
    assert!(refused(&rank("--under 10")).contains("no card with a price of at most 10"));
    let mixed = refused(&rank("--price even=20EUR --price slow=680JPY --under 1000"));
    assert!(mixed.contains("prices are in EUR, JPY"), "{mixed}");
    // The last prices are kept, and a campaign file has prices too.
    let kept = ok(&rank("--use database"));
    assert!(
        kept.contains("20 EUR") && kept.contains("680 JPY"),
        "{kept}"
    );
    ok(&rank("-o r.html"));
    assert!(read(&home, "r.html").contains("Best for each use"));
}

/// Regression: a run of a series was judged by itself, so `show` and `report` printed different verdicts.
#[test]
fn suitability_is_that_of_the_series_wherever_it_is_printed() {
    let home = measured();
    let id = &support::records(&home)[0].id;
    let uses = |text: &str| -> Vec<String> {
        let lines = text
            .lines()
            .skip_while(|line| !line.starts_with("Suitability"));
        let lines = lines.skip(1).take_while(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    };
    let shown = uses(&ok(&run(&home, &["show", id])));
    let series = uses(&ok(&run(&home, &["show", id, "--series"])));
    assert!(shown.len() > 7, "{shown:?}");
    assert_eq!(shown, series);
}

#[test]
fn the_history_of_a_card_has_no_verdict_from_few_series() {
    let home = measured();
    let words = ok(&run(&home, &["history", "even"]));
    for wanted in [
        "History of even",
        "15 runs",
        "Too little is known to judge this card",
        "Every workload was measured in one series only",
        "hakaru verify DEVICE",
        "joined by their label",
    ] {
        assert!(words.contains(wanted), "{wanted}: {words}");
    }
    assert!(!words.contains("slow"), "{words}");
    ok(&run(&home, &["history", "even", "-o", "h.html"]));
    assert!(read(&home, "h.html").starts_with("<!DOCTYPE html>"));
    ok(&run(&home, &["history", "even", "-o", "h.md"]));
    let error = refused(&run(&home, &["history", "gone"]));
    assert!(error.contains("help: name one of even, slow"), "{error}");
}

/// Regression: a file name with a typing error was answered with a missing database alone.
#[test]
fn a_file_that_does_not_exist_is_named() {
    let home = Home::new();
    let file = home.path().join("real.json");
    std::fs::write(&file, "{}").unwrap();
    let missing = home.path().join("typo.json");
    let out = hakaru(&home)
        .arg("compare")
        .args([&missing, &file])
        .output()
        .unwrap();
    let stderr = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{stderr}");
    let named = format!("cannot read {}: there is no such file", missing.display());
    assert!(stderr.contains(&named), "{stderr}");
}

//! Rechecks of the first card, and the announcement of alternating cards in the plan.

use super::*;
use hakaru_model::campaign::PlanNote;

#[test]
fn a_recheck_measures_the_first_card_again_as_a_series_of_its_own() {
    let mut bench = Bench::new();
    let campaign = identical_cards("repeats = 8\nrecheck = true");
    assert_eq!((campaign.cells(), campaign.count()), (16, 24));
    let (first, _) = bench.run(&campaign, Some(18));
    assert_eq!((first.end, first.done), (CampaignOutcome::Stopped, 18));
    let (second, _) = bench.run(&campaign, None);
    assert_eq!(
        (second.end, second.stored, second.done),
        (CampaignOutcome::Complete, 6, 24)
    );
    assert_eq!(bench.run(&campaign, None).0.stored, 0);
    let points = bench.points(&campaign);
    assert_eq!((points.len(), cells(&points).len()), (24, 24));
    let series: BTreeSet<(&str, bool)> = points
        .iter()
        .map(|p| (p.series.as_str(), p.repeat >= 1_000_000))
        .collect();
    assert_eq!(
        series.len(),
        3,
        "the recheck is a series of its own: {series:?}"
    );
    let summary = bench.summary(&campaign);
    // The recheck is not a repeat of the card, and does not affect its figures.
    assert_eq!((summary.runs, summary.planned), (16, Some(16)));
    let [recheck] = &summary.rechecks[..] else {
        panic!("{:?}", summary.rechecks)
    };
    assert_eq!((recheck.runs, recheck.card.as_str()), (8, "a"));
}

#[test]
fn a_recheck_shows_drift_of_the_host_or_that_there_is_none() {
    let campaign = identical_cards("repeats = 8\nrecheck = true");
    let steady = on_a_drifting_host(&campaign, 0.0);
    let mut method = steady.method.iter();
    let (_, recheck) = method.find(|(name, _)| name == "Recheck").unwrap();
    assert!(recheck.contains("no host drift seen"), "{recheck}");
    let drifted = |w: &Weakness| matches!(w, Weakness::Drifted { .. } | Weakness::CardsInSequence);
    assert!(!steady.weaknesses.iter().any(drifted));
    let drifting = on_a_drifting_host(&campaign, 0.01);
    let drift = drifting.weaknesses.iter().find_map(|w| match w {
        Weakness::Drifted { card, phases, .. } => Some((card.as_str(), phases.len())),
        _ => None,
    });
    assert_eq!(drift, Some(("a", 1)), "{:?}", drifting.weaknesses);
}

#[test]
fn a_recheck_waits_until_all_cards_are_measured() {
    let mut bench = Bench::new();
    let text = "name = \"x\"\nrepeats = 2\nrecheck = true\n[[card]]\nsimulate = \"even.json\"\n[[card]]\nlabel = \"gone\"\n\
                id = \"0x12345678\"\n[[workload]]\nsuite = [\"rand-read\"]\npace = \"quick\"\n";
    let (ended, _) = bench.run(&parse(text), None);
    assert_eq!((ended.end, ended.stored), (CampaignOutcome::Incomplete, 2));
}

/// Creates directories with a file each; returns a campaign that reads in them in turns.
fn reading_in(folders: &[PathBuf]) -> Campaign {
    let card = |folder: &PathBuf| {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("precious"), "data").unwrap();
        let folder = folder.display();
        format!("[[card]]\nfolder = \"{folder}\"\nlabel = \"{folder}\"\n")
    };
    let cards: String = folders.iter().map(card).collect();
    parse(&format!(
        "name = \"folders\"\nrepeats = 3\ncard-order = \"abba\"\n{cards}[[workload]]\nname = \"read\"\nrw = \"read\"\n\
         size = \"1 MiB\"\nbs = \"64 KiB\"\ndirect = false\n"
    ))
}

/// Both directories have their files at the same time, and reuse them after the run of the other.
#[test]
fn directories_take_turns_and_are_left_as_they_were() {
    let mut bench = Bench::new();
    let folders = ["one", "two"].map(|name| bench.path().join(name));
    let campaign = reading_in(&folders);
    let (stopped, _) = bench.run(&campaign, Some(3));
    assert_eq!((stopped.end, stopped.stored), (CampaignOutcome::Stopped, 3));
    let (ended, notes) = bench.run(&campaign, None);
    assert_eq!(
        (ended.end, ended.stored, notes),
        (CampaignOutcome::Complete, 3, Vec::new())
    );
    for folder in folders {
        assert_eq!(entries(&folder), [folder.join("precious")]);
    }
    let points = bench.points(&campaign);
    let runs = points.iter().map(|row| bench.store.run(&row.run).unwrap());
    let laid_out = runs.map(|run| run.campaign.unwrap().laid_out);
    let laying = laid_out.filter(|bytes| bytes.0 > 0).count();
    assert!(
        laying <= 4,
        "once a directory and start, not before each run: {laying}"
    );
}

#[test]
fn a_plan_announces_turns_and_the_recheck() {
    let roots = hakaru_device::Roots::live();
    let plan = |top: &str| {
        check::plan(
            &identical_cards(top),
            &CampaignProgress::default(),
            &roots,
            usize::MAX,
        )
    };
    let turns = plan("repeats = 4\ncard-order = \"abba\"");
    assert!(
        turns.contains("(card-order = \"abba\"): all 2 must be present at the same time"),
        "{turns}"
    );
    let recheck = plan("repeats = 4\nrecheck = true");
    let wanted = "Recheck: a is measured again through raw at the end: 4 more runs, about 0 s, writing about 4 MiB";
    assert!(recheck.contains(wanted), "{recheck}");
    let folders = "name = \"x\"\nrepeats = 5\n[[card]]\nlabel = \"a\"\nfolder = \"/\"\n[[card]]\nlabel = \"b\"\n\
                   folder = \"/tmp\"\n[[workload]]\nsuite = [\"rand-read\"]\npace = \"quick\"\n";
    let warned = |text: &str| {
        check::weaknesses(&parse(text)).contains(&PlanNote::Weakness(Weakness::CardsInSequence))
    };
    assert!(warned(folders) && !warned(&folders.replace("repeats", "recheck = true\nrepeats")));
    assert!(!warned(
        &folders.replace("repeats", "card-order = \"abba\"\nrepeats")
    ));
}

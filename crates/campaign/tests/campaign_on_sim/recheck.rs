//! Rechecks of the first card, and the announcement of alternating cards in the plan.

use super::*;
use hakaru_model::campaign::PlanNote;

#[test]
fn a_recheck_measures_the_first_card_again_and_judges_the_drift() {
    let mut bench = Bench::new();
    let campaign = twins("repeats = 8\nrecheck = true");
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
    assert_eq!(
        (
            summary.rechecks.len(),
            summary.rechecks[0].runs,
            summary.rechecks[0].card.as_str()
        ),
        (1, 8, "a")
    );

    let steady = on_a_drifting_host(&campaign, 0.0);
    let recheck = |summary: &CampaignSummary| {
        let (_, text) = summary
            .method
            .iter()
            .find(|(name, _)| name == "Recheck")
            .unwrap()
            .clone();
        text
    };
    assert!(
        recheck(&steady).contains("no host drift seen"),
        "{}",
        recheck(&steady)
    );
    assert!(
        !steady
            .weaknesses
            .iter()
            .any(|w| matches!(w, Weakness::Drifted { .. } | Weakness::CardsInSequence))
    );
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

/// Both directories have their files at the same time, and reuse them after the run of the other.
#[test]
fn directories_take_turns_and_are_left_as_they_were() {
    let mut bench = Bench::new();
    let folders = ["one", "two"].map(|name| bench.path().join(name));
    let cards: String = folders
        .iter()
        .map(|folder| {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join("precious"), "data").unwrap();
            format!(
                "[[card]]\nfolder = \"{}\"\nlabel = \"{}\"\n",
                folder.display(),
                folder.display()
            )
        })
        .collect();
    let text = format!(
        "name = \"folders\"\nrepeats = 3\ncard-order = \"abba\"\n{cards}[[workload]]\nname = \"read\"\nrw = \"read\"\n\
         size = \"1 MiB\"\nbs = \"64 KiB\"\ndirect = false\n"
    );
    let campaign = parse(&text);
    let (stopped, _) = bench.run(&campaign, Some(3));
    assert_eq!((stopped.end, stopped.stored), (CampaignOutcome::Stopped, 3));
    let (ended, notes) = bench.run(&campaign, None);
    assert_eq!(
        (ended.end, ended.stored, notes),
        (CampaignOutcome::Complete, 3, Vec::new())
    );
    for folder in folders {
        let left: Vec<PathBuf> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        assert_eq!(left, [folder.join("precious")]);
    }
    let laid_out = |row: &PointRow| {
        bench
            .store
            .run(&row.run)
            .unwrap()
            .campaign
            .unwrap()
            .laid_out
    };
    let laying: usize = bench
        .points(&campaign)
        .iter()
        .filter(|row| laid_out(row).0 > 0)
        .count();
    assert!(
        laying <= 4,
        "once a directory and start, not before each run: {laying}"
    );
}

#[test]
fn a_plan_announces_turns_and_the_recheck() {
    let roots = hakaru_device::Roots::live();
    let plan = |top: &str| check::plan(&twins(top), &CampaignProgress::default(), &roots);
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

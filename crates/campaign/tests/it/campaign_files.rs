//! Campaign files: their meaning, and the messages for invalid ones.

use hakaru_campaign::campaign::file::{CardOrder, FileError, RepeatRule};
use hakaru_campaign::campaign::ready::READY;
use hakaru_campaign::campaign::resolve::{ResolveContext, campaign};
use hakaru_campaign::campaign::spec::{Campaign, CardLocation, LayerKind};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::finding::Claim;
use hakaru_model::job::{Access, IoEngine, Job, Op, Phase, Scenario, SizeSpec, Target};
use hakaru_model::units::{Bytes, Nanos};
use std::path::Path;

fn fio(name: &str, text: &str) -> Result<Scenario, String> {
    if text.contains("nonsense") {
        return Err("line 1: `nonsense` is no option of fio".to_owned());
    }
    let mut job = Job::new(
        name,
        Target::Paths(vec!["/home/me/x".into()]),
        Access::only(Op::Write, true),
    );
    job.replay
        .read
        .extend(text.contains("read_iolog").then(|| "/home/me/x.log".into()));
    Ok(Scenario {
        name: name.into(),
        seed: 1,
        phases: vec![Phase {
            name: "x".into(),
            jobs: vec![job],
        }],
    })
}

fn read_file(path: &Path) -> Result<String, String> {
    match path.to_str() {
        Some("card.json") => {
            Ok(serde_json::to_string(&DeviceModel::plain("plain", Bytes(1 << 30))).unwrap())
        }
        Some("job.fio") => Ok("[x]\nrw=randwrite\n".to_owned()),
        _ => Err(format!("{} cannot be read: no such file", path.display())),
    }
}

fn parse(text: &str) -> Result<Campaign, FileError> {
    campaign(
        text,
        &ResolveContext {
            read_file: &read_file,
            fio: &fio,
        },
    )
}

#[test]
fn all_ready_ones_are_sound() {
    for ready in READY {
        let campaign = parse(ready.text)
            .unwrap_or_else(|error| panic!("{}: {error} {:?}", ready.name, error.span));
        assert_eq!(campaign.id, ready.name);
        assert!(
            !campaign.about.is_empty() && campaign.count() > 0,
            "{}",
            ready.name
        );
    }
}

#[test]
fn the_six_cards_are_measured_as_they_were() {
    let text = READY.iter().find(|r| r.name == "article-a").unwrap().text;
    let campaign = parse(text).unwrap();
    assert_eq!(
        (
            campaign.cards.len(),
            campaign.layers.len(),
            campaign.workloads.len()
        ),
        (6, 2, 4)
    );
    assert_eq!(
        (campaign.count(), campaign.repeats),
        (480, RepeatRule::Times(10))
    );
    let kioxia = &campaign.cards[4];
    assert_eq!(
        kioxia.printed[..2],
        [Claim::SpeedClass(10), Claim::UhsGrade(1)]
    );
    assert!(kioxia.printed.contains(&Claim::WriteSpeed(30.0)) && campaign.erases(4));
}

#[test]
fn the_six_cards_have_the_layers_and_jobs_of_the_article() {
    let text = READY.iter().find(|r| r.name == "article-a").unwrap().text;
    let campaign = parse(text).unwrap();
    let LayerKind::Fs(vfat) = &campaign.layers[1].through else {
        panic!()
    };
    assert_eq!(vfat.mkfs, ["-F", "32", "-s", "32"]);
    let job = &campaign.workloads[2].scenario.phases[0].jobs[0];
    assert_eq!(
        (job.ioengine, job.timing.runtime),
        (IoEngine::Sync, Some(Nanos::from_secs(60)))
    );
    assert!(job.files.direct && job.timing.time_based && job.durability.fsync_on_close);
    assert_eq!(job.extent.size, Some(SizeSpec::Bytes(Bytes(16 << 30))));
}

#[test]
fn defaults_are_those_of_a_measurement() {
    let text = "name = \"My  Cards!\"\n[[workload]]\nsuite = [\"rand-read\"]\n[[workload]]\nfio = \"job.fio\"";
    let campaign = parse(text).unwrap();
    assert_eq!(
        (campaign.id.as_str(), campaign.repeats, campaign.cards.len()),
        ("my-cards", RepeatRule::Times(3), 1)
    );
    // Without a layer, a card in a reader is measured raw; read-only workloads erase nothing, a job file that writes
    // does.
    assert_eq!(
        (campaign.layers[0].name.as_str(), campaign.erases(0)),
        ("raw", true)
    );
    assert_eq!(campaign.workloads[1].name, "job");
    assert_eq!(campaign.workloads[1].scenario.phases[0].name, "job");
    let reads = parse("name = \"x\"\n[[workload]]\nsuite = [\"rand-read\", \"seq-read\"]").unwrap();
    assert!(!reads.erases(0));
}

#[test]
fn folders_and_simulations_bring_their_layers() {
    let text = "name = \"x\"\n[[card]]\nfolder = \"/mnt\"\n[[card]]\nsimulate = \"card.json\"\n[[layer]]\nfs = \"vfat\"\n\
                [[card]]\nlabel = \"c\"\n[[workload]]\nsuite = [\"all\"]";
    let campaign = parse(text).unwrap();
    let layers = |card| {
        campaign
            .layers_of(card)
            .map(|layer| campaign.layers[layer].name.clone())
            .collect::<Vec<String>>()
    };
    assert_eq!(
        (layers(0), layers(1), layers(2)),
        (
            vec!["as-is".into()],
            vec!["raw".into()],
            vec!["vfat".into()]
        )
    );
    assert!(
        matches!(&campaign.cards[1].location, CardLocation::Sim(model) if model.name == "plain")
    );
    assert!(!campaign.erases(0) && !campaign.erases(1) && campaign.erases(2));
}

/// Campaign files written before these keys existed keep their meaning.
#[test]
fn cards_are_measured_one_after_another_unless_the_file_says_otherwise() {
    let order = |keys: &str| {
        let campaign = parse(&format!(
            "name = \"x\"\n{keys}\n[[card]]\nlabel = \"a\"\ndevice = \"/dev/sdx\"\n[[card]]\nlabel = \"b\"\n\
             device = \"/dev/sdy\"\n[[workload]]\nsuite = [\"all\"]"
        ));
        let campaign = campaign.unwrap();
        (
            campaign.card_order,
            campaign.recheck,
            campaign.count() - campaign.cells(),
        )
    };
    assert_eq!(order(""), (CardOrder::Sequential, false, 0));
    assert_eq!(order("card-order = \"abba\""), (CardOrder::Abba, false, 0));
    assert_eq!(
        order("card-order = \"sequential\"\nrecheck = true\nrepeats = 5").2 % 5,
        0
    );
    assert_eq!(order("recheck = true").0, CardOrder::Sequential);
}

#[test]
fn the_definition_changes_with_what_is_measured_and_with_nothing_else() {
    let text = |size: &str, rest: &str| {
        format!(
            "name = \"x\"\n{rest}\n[[layer]]\nfs = \"raw\"\n[[workload]]\nsuite = [\"all\"]\nsize = \"{size}\""
        )
    };
    let definition = |text: &str| parse(text).unwrap().definition(0, 0).digest();
    let first = definition(&text("1 GiB", ""));
    assert_eq!((first.len(), &first[..2]), (18, "2:"));
    assert_eq!(
        first,
        definition(&text(
            "1 GiB",
            "repeats = 7\norder = \"shuffled\"\ncard-order = \"abba\"\nabout = \"more\""
        ))
    );
    assert_ne!(first, definition(&text("2 GiB", "")));
    assert_ne!(
        first,
        definition(&text("1 GiB", "preparation = { fill = \"ones\" }"))
    );
    let campaign = parse(&text("1 GiB", "")).unwrap();
    assert_ne!(
        campaign.definition(0, 0).digest(),
        campaign.definition(0, 1).digest()
    );
}

/// Digests of both formats are stored with runs: if either changed, existing runs would no longer count.
#[test]
fn pins_the_digests_that_stored_runs_carry() {
    let custom = |preparation: &str| {
        format!(
            "name = \"x\"\n[preparation]\n{preparation}\n[[card]]\nlabel=\"a\"\nid=\"ask\"\n[[layer]]\nfs = \"vfat\"\n\
             mkfs = [\"-F\", \"32\"]\nsize = \"1 GiB\"\n[[workload]]\nrw = \"randwrite\"\nbs = 4096\n\
             size = \"1 GiB\"\nname = \"mine\"\n[[workload]]\nfio = \"job.fio\""
        )
    };
    let all = "discard = \"secure\"\nfill = \"ones\"\neach = \"layer\"\nfill-level = \"50 %\"\n\
               drop-caches = true\nfresh = true";
    let partly = "discard = \"where-offered\"\nfill = \"zeroes\"\nfill-level = \"12.5 %\"";
    let text = |name: &str| match name {
        "plain" => custom("discard = \"plain\""),
        "all" => custom(all),
        "random" => custom("fill = \"random\"\neach = \"run\""),
        "partly" => custom(partly),
        ready => READY.iter().find(|r| r.name == ready).unwrap().text.into(),
    };
    for line in DIGESTS.lines() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let [name, layer, workload, first, second] = cells[..] else {
            panic!("{line}")
        };
        let campaign = parse(&text(name)).unwrap();
        let point = campaign.definition(layer.parse().unwrap(), workload.parse().unwrap());
        assert!(point.matches(first), "{line}");
        assert_eq!(point.digest(), second, "{line}");
        assert!(!point.matches("0000000000000000") && !point.matches("2:0000000000000000"));
    }
}

/// Campaign, layer, workload, and the digests of both formats.
const DIGESTS: &str = "\
quick      1 3  6bd6d035898cbd1f  2:790c15884bcb93a4
article-a  1 2  2a6db3a582e1aecf  2:0421f2c4cb516449
article-b  0 0  ef33efd1e00745a7  2:2f0194cdea4d4735
plain      0 0  24a4ea3f50d7905a  2:28fd662624a03ea2
plain      0 1  f6dce2c9a4143fde  2:e0c7972ffef3e481
all        0 0  0da8bf1e5dff962e  2:5d3a9a3b15bddea0
all        0 1  9265ac4fb3ad5252  2:30451367696bac47
random     0 0  09cfa7b72f24e0e8  2:d4c39888ca69d0e6
partly     0 1  4d2eab76a14526de  2:cc74c55273de3fd4";

/// Returns the message, and the text that it points at.
fn message(text: &str) -> String {
    let Err(error) = parse(text) else {
        panic!("this is wrong, and was not noticed:\n{text}")
    };
    let at = error.span.map_or("nowhere".to_owned(), |span| {
        format!("`{}`", text[span].trim())
    });
    format!("{}\n  at {at}", error.message)
}

/// Invalid campaign files; `{w}` stands for a workload.
const INVALID: [&str; 34] = [
    "name = ",
    "name = \"x\"\nrepaets = 3\n{w}",
    "name = \"x\"\nrepeats = 0\n{w}",
    "name = \"x\"\nrepeats = \"many\"\n{w}",
    "name = \"x\"\nrepeats = { until = \"2 %\", at-least = 5, at-most = 4 }\n{w}",
    "name = \"x\"\nrepeats = { until = \"2 %\", at-least = 2, at-most = 9 }\n{w}",
    "name = \"x\"\ncool-down = \"10\"\n{w}",
    "name = \"!\"\n{w}",
    "name = \"x\"\nid = \"a b\"\n{w}",
    "name = \"x\"\n",
    "name = \"x\"\n[[layer]]\nfs = \"ntfs\"\n{w}",
    "name = \"x\"\n[[layer]]\nfs = \"raw\"\nmkfs = [\"-F\"]\n{w}",
    "name = \"x\"\n[[layer]]\nfs = \"ext4\"\n[[layer]]\nfs = \"ext4\"\n{w}",
    "name = \"x\"\n[[card]]\nlabel = \"a\"\n[[card]]\nlabel = \"a\"\n{w}",
    "name = \"x\"\n[[card]]\nlabel = \"a\"\nclasses = [\"C10\", \"V31\"]\n{w}",
    "name = \"x\"\n[[card]]\nlabel = \"a\"\nread = -1.0\n{w}",
    "name = \"x\"\n[[card]]\nlabel = \"a\"\nfolder = \"/x\"\ndevice = \"/dev/x\"\n{w}",
    "name = \"x\"\n[[card]]\nlabel = \"a\"\nsimulate = \"none.json\"\n{w}",
    "name = \"x\"\n[[card]]\nlabel = \"a\"\n[[layer]]\nfs = \"as-is\"\n{w}",
    "name = \"x\"\n[[workload]]\nsuite = [\"all\", \"fast\"]\n",
    "name = \"x\"\n[[workload]]\nrw = \"write\"\nsuite = [\"all\"]\n",
    "name = \"x\"\n[[workload]]\nrw = \"write\"\nbs = \"1 MiB\"\n",
    "name = \"x\"\n[[workload]]\nrw = \"writes\"\nsize = \"1 GiB\"\n",
    "name = \"x\"\n[[workload]]\nrw = \"write\"\nsize = \"1G\"\n",
    "name = \"x\"\n[[workload]]\nrw = \"write\"\nsize = \"1 GiB\"\nioengine = \"warp\"\n",
    "name = \"x\"\n[[workload]]\nfio = \"gone.fio\"\n",
    "name = \"x\"\n[[workload]]\nfio-text = \"nonsense\"\n",
    "name = \"x\"\n[[workload]]\nfio-text = \"[x]\"\nbs = \"4 KiB\"\n",
    "name = \"x\"\n{w}{w}",
    "name = \"x\"\ncard-order = \"random\"\n{w}",
    "name = \"x\"\ncard-order = \"abba\"\n[[card]]\nlabel = \"a\"\ndevice = \"/dev/sdx\"\n[[card]]\nlabel = \"b\"\ndevice = \"/dev/sdx\"\n{w}",
    "name = \"x\"\ncard-order = \"interleaved\"\n[[card]]\nlabel = \"a\"\nfolder = \"/mnt\"\n[[card]]\nlabel = \"b\"\nfolder = \"/mnt\"\n{w}",
    "name = \"x\"\ncard-order = \"shuffled\"\n[[card]]\nlabel = \"a\"\nid = \"0x1\"\nvariant = \"1-bit\"\n[[card]]\nlabel = \"b\"\nid = \"0X1\"\nvariant = \"4-bit\"\n{w}",
    "name = \"x\"\nrecheck = true\ncard-order = \"abba\"\n{w}",
];

#[test]
fn points_at_the_invalid_text() {
    let workload = "[[workload]]\nsuite = [\"all\"]\n";
    let message = INVALID.map(|text| message(&text.replace("{w}", workload)));
    insta::assert_snapshot!(message.join("\n"));
}

/// Regression: they passed validation and ended the campaign after its card was prepared.
#[test]
fn sizes_and_names_of_nothing_are_none() {
    let w = "[[workload]]\nsuite = [\"all\"]\n";
    for (text, wanted) in [
        (
            "[[workload]]\nrw = \"write\"\nsize = \"0\"\n".to_owned(),
            "must be greater than 0",
        ),
        (
            "[[workload]]\nrw = \"write\"\nsize = 0\n".to_owned(),
            "greater than 0",
        ),
        (
            format!("[[card]]\nlabel = \"\"\n{w}"),
            "this label is empty",
        ),
        (
            format!("[[layer]]\nfs = \"raw\"\nname = \" \"\n{w}"),
            "this name is empty",
        ),
        (
            "[[workload]]\nname = \"\"\nsuite = [\"all\"]\n".to_owned(),
            "this name is empty",
        ),
    ] {
        let error = parse(&format!("name = \"x\"\n{text}")).unwrap_err();
        let found = error.message.contains(wanted) && error.span.is_some();
        assert!(found, "{text}: {error:?}");
    }
}

/// Regression: a label with an escape sequence reached the terminal of a user who ran a stranger's file.
#[test]
fn no_text_of_a_file_commands_the_terminal() {
    let workload = "[[workload]]\nsuite = [\"all\"]\n";
    let cases = [
        (
            "[[card]]\nlabel = \"a\\u001b[2J\"\n",
            "`label` contains the control character U+001B",
        ),
        (
            "[[card]]\nlabel = \"a\"\n[card.facts]\nshop = \"b\\nc\"\n",
            "`shop` contains the control character U+000A",
        ),
        (
            "[[card]]\nlabel = \"a\"\n[card.facts]\n\"d\\u202e\" = \"c\"\n",
            "`d\\u{202e}` contains the control character U+202E",
        ),
        (
            "[[layer]]\nfs = \"ext4\"\nmkfs = [\"-L\", \"x\\u0007\"]\n",
            "`mkfs` contains the control character U+0007",
        ),
    ];
    for (tables, expected) in cases {
        let shown = message(&format!("name = \"x\"\n{tables}{workload}"));
        assert!(
            shown.contains(expected) && !shown.contains('\u{1b}'),
            "{shown:?}"
        );
    }
    let prose = "name = \"x\"\nabout = \"one line\\nand another\"\n";
    assert!(parse(&format!("{prose}{workload}")).is_ok());
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_text_is_a_campaign_or_an_error(text in "(name|card|layer|workload|suite|=|\\[|\\]|\\{|\\}|\"|'|[a-z0-9. \n-]){0,60}") {
        let _ = parse(&text);
    }

    #[test]
    fn damage_anywhere_is_an_error_and_no_panic(at in 0usize..2000, byte in "[ -~\n]") {
        let mut text = READY[2].text.to_owned();
        let at = (0..=at.min(text.len() - 1)).rev().find(|&i| text.is_char_boundary(i)).unwrap();
        let end = (at + 1..=text.len()).find(|&i| text.is_char_boundary(i)).unwrap();
        text.replace_range(at..end, &byte);
        if let Err(error) = parse(&text) {
            let span = error.span.unwrap_or(0..0);
            proptest::prop_assert!(text.get(span).is_some());
        }
    }
}

#[test]
fn rejects_what_can_never_be_done() {
    let suite = "[[workload]]\nsuite = [\"rand-read\"]\n";
    let message = |text: &str| {
        let text = format!("name = \"x\"\n{text}");
        let error = parse(&text).unwrap_err();
        let place = error
            .span
            .map(|span| text[span].to_owned())
            .unwrap_or_default();
        format!("{place}: {}", error.message)
    };
    insta::assert_snapshot!(message("[[workload]]\nfio-text = \"read_iolog=x.log\"\n"), @r#""read_iolog=x.log": job fio replays a log (read_iolog) that names its own files, but a campaign uses only the card under test; help: remove the job, or replay the log with `hakaru fio`"#);
    insta::assert_snapshot!(message(&format!("{suite}[[layer]]\nfs = \"vfat\"\ndiscard = true\n")), @r#""vfat": mkfs.vfat cannot discard; help: remove discard, or discard the whole card with [preparation]"#);
    insta::assert_snapshot!(message(&format!("{suite}[preparation]\nfill-level = \"99.9 %\"\n")), @r#""99.9 %": 99.9% leaves no space for the test file: the maximum is 99%"#);
    assert!(
        parse(&format!(
            "name = \"x\"\n{suite}[preparation]\nfill-level = \"99 %\"\n"
        ))
        .is_ok()
    );
    assert!(
        parse(&format!(
            "name = \"x\"\n{suite}[[layer]]\nfs = \"btrfs\"\ndiscard = true\n"
        ))
        .is_ok()
    );
}

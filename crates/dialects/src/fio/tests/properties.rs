//! No input makes the parser panic, and parsed options round-trip.

use super::*;
use proptest::prelude::*;

/// Words that look like options, and others.
fn word() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> = options::all().flat_map(options::FioOption::names).collect();
    let value = prop_oneof![
        "[0-9]{1,6}[kmgtKib%s]{0,3}",
        "[ -~]{0,12}",
        ".{0,8}",
        Just("(2*4k)".to_owned()),
        Just("4k/10:64k/".to_owned()),
        Just("$pagesize".to_owned()),
        Just("1k-4k,8k".to_owned()),
        Just("-1".to_owned()),
    ];
    let option = (
        prop::sample::select(names),
        prop::option::of(value),
        "-{1,2}",
    )
        .prop_map(|(name, value, dashes)| {
            value.map_or_else(
                || format!("{dashes}{name}"),
                |value| format!("{dashes}{name}={value}"),
            )
        });
    prop_oneof![4 => option, 1 => Just("--name=x".to_owned()), 1 => ".{0,16}"]
}

/// Random lines of a job file.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => word().prop_map(|word| word.trim_start_matches('-').to_owned()),
        1 => "\\[[a-z]{0,6}\\]?",
        1 => Just("include job.fio".to_owned()),
        1 => "[;#].{0,8}",
        1 => ".{0,16}",
    ]
}

proptest! {
    #[test]
    fn no_command_line_panics(words in prop::collection::vec(word(), 0..8)) {
        let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        let _ = parse(&words, context());
    }

    #[test]
    fn no_job_file_panics(lines in prop::collection::vec(line(), 0..12), raw in ".{0,200}") {
        for text in [format!("[a]\n{}", lines.join("\n")), raw] {
            let _ = run_file("", &text);
            let _ = run_file("--showcmd", &text);
            let _ = run_file("--section=a", &text);
        }
    }

    #[test]
    fn a_job_file_and_its_command_line_mean_the_same(
        size in 1u64..1000, depth in 1u32..64, bs in prop::sample::select(vec!["4k", "64k", "1m", "8k,16k"]),
        rw in prop::sample::select(vec!["read", "randwrite", "randrw", "write:4k"]), jobs in 1usize..4,
        stonewall: bool,
    ) {
        let mut text = format!("[global]\nsize={size}m\nioengine=libaio\n");
        for job in 0..jobs {
            text += &format!("[job{job}]\nbs={bs}\nrw={rw}\niodepth={depth}\n{}", if stonewall { "stonewall\n" } else { "" });
        }
        let from_file = run_file("", &text).unwrap();
        let FioAction::Print { text: command, .. } = run_file("--showcmd", &text).unwrap().action else { panic!() };
        let mut from_command = run(&command).unwrap();
        for job in from_command.scenario.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
            job.options.remove(0);
        }
        prop_assert_eq!(from_file, from_command);
    }
}

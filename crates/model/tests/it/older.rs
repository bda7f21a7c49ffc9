//! Tests of reading the stored forms of older versions, and of the stored names.

use crate::generate::scenario_of;
use crate::stored::{back, take_out};
use crate::{from_tree, to_tree};
use hakaru_model::advice::Fitness;
use hakaru_model::campaign::{
    CampaignSummary, Circumstance, FillContent, PreparedStep, StepKind, Weakness,
};
use hakaru_model::caveat::{CacheOf, Caveat, FirstFailure};
use hakaru_model::facts::Identity;
use hakaru_model::figure::Figure;
use hakaru_model::finding::{Claim, Verdict};
use hakaru_model::job::rules::{Verify, VerifyMethod};
use hakaru_model::job::{Access, IoEngine, Job, Op, Phase, Scenario, Target};
use hakaru_model::lint::{Diagnostic, LintWarning};
use hakaru_model::plan::{Facts, Plan};
use hakaru_model::units::{Bytes, BytesPerSec};
use serde_json::{Value, json};

/// Fields of a job that older records lack: without them, a job has the defaults.
const LATER_FIELDS: &[&str] = &[
    "/block_rules",
    "/termination",
    "/verify",
    "/placement",
    "/commands",
    "/replay",
    "/extent/filesize_max",
    "/extent/offset_align",
    "/timing/startdelay_max",
    "/timing/wait_for",
    "/queue/separate_submit",
    "/queue/offload",
    "/queue/serialize_overlap",
    "/durability/range_sync",
    "/buffers/compress_chunk",
    "/buffers/fixed_part",
    "/buffers/repeats",
    "/buffers/repeats/percent",
    "/buffers/repeats/sharers",
    "/rate/thinktime_spin",
    "/rate/thinktime_iotime",
    "/rate/thinktime_on_issue",
    "/rate/ignore_thinktime",
    "/rate/latency_target",
    "/rate/flow",
    "/errors/continue_on_mismatch",
    "/errors/ignored",
    "/errors/ignored/verify",
    "/errors/accept_empty_reads",
    "/measure/logs",
    "/measure/logs/window",
    "/files/reserve_unflushed",
    "/files/create_on_open",
    "/files/append",
    "/files/fill_device",
    "/files/unlink_each_loop",
    "/files/advice",
    "/files/atomic",
    "/files/time_close",
    "/files/lifetime",
    "/files/lock",
    "/files/turns",
    "/files/turns/run_length",
    "/access/centre",
    "/access/percentage_random",
    "/access/order",
    "/access/zones",
    "/engine/vectored",
    "/engine/stat",
    "/engine/sqthread_poll_cpu",
    "/engine/force_async",
    "/engine/hipri_percentage",
    "/engine/block_unit",
    "/termination/exit",
    "/termination/minimum_rate/cycle",
    "/placement/priority",
    "/placement/cpus_allowed",
    "/replay/time_scale_percent",
];

#[test]
fn a_job_without_a_later_field_has_its_default() {
    let job = Job::new("old", Target::Nothing, Access::only(Op::Write, true));
    let phase = Phase {
        name: "p".to_owned(),
        jobs: vec![job],
    };
    let today = to_tree(&phase).unwrap();
    for field in LATER_FIELDS {
        let mut old = today.clone();
        let pointer = format!("/jobs/0{field}");
        assert!(old.pointer(&pointer).is_some(), "{field} is not stored");
        take_out(&mut old, &pointer);
        let read: Phase = from_tree(old).unwrap_or_else(|e| panic!("{field}: {e}"));
        assert_eq!(read, phase, "{field}");
    }
}

#[test]
fn a_job_without_a_first_field_is_an_error() {
    let job = Job::new("old", Target::Nothing, Access::only(Op::Read, false));
    let phase = json!({ "name": "p", "jobs": [job] });
    for field in [
        "/name",
        "/ioengine",
        "/target",
        "/access",
        "/access/mix",
        "/block",
        "/extent/loops",
        "/queue/iodepth",
    ] {
        let mut damaged = phase.clone();
        take_out(&mut damaged, &format!("/jobs/0{field}"));
        let error = from_tree::<Phase>(damaged).unwrap_err().to_string();
        let name = field.rsplit('/').next().unwrap();
        assert!(
            error.contains(&format!("missing field `{name}`")),
            "{field}: {error}"
        );
    }
}

#[test]
fn a_verification_without_a_later_field_has_its_default() {
    let today = Verify::by(VerifyMethod::Crc32c);
    for field in [
        "/sorted",
        "/offset",
        "/fill",
        "/async_cpus",
        "/load_state",
        "/folder",
        "/header_seed",
    ] {
        let mut old = to_tree(&today).unwrap();
        assert!(old.pointer(field).is_some(), "{field} is not stored");
        take_out(&mut old, field);
        let read: Verify = from_tree(old).unwrap_or_else(|e| panic!("{field}: {e}"));
        assert_eq!(read, today, "{field}");
    }
}

#[test]
fn a_job_with_a_field_twice_is_an_error() {
    let job = Job::new("new", Target::Nothing, Access::only(Op::Read, false));
    let phase = Phase {
        name: "p".to_owned(),
        jobs: vec![job],
    };
    let text = serde_json::to_string(&phase).unwrap();
    // Nobody can tell which of the values was meant.
    let twice = text.replace(r#""numjobs":1"#, r#""numjobs":1,"numjobs":2"#);
    assert_ne!(text, twice);
    let refused: serde_json::Result<Phase> = hakaru_model::json::from_str(&twice);
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("duplicate field `numjobs`"), "{error}");
}

#[test]
fn a_plan_without_a_later_field_has_its_default() {
    let mut job = Job::new("old", Target::Nothing, Access::only(Op::Write, true));
    job.ioengine = IoEngine::Null;
    let scenario = scenario_of(vec![job], 1);
    let plan = Plan::resolve(&scenario, &Facts::new()).unwrap();
    let today = to_tree(&plan).unwrap();
    let worker = "/phases/0/workers/0";
    for field in [
        "/number",
        "/group",
        "/record",
        "/verify",
        "/termination",
        "/placement",
        "/commands",
        "/wait_for",
        "/stream/turns",
        "/stream/sizes",
        "/stream/pass_bytes",
        "/stream/loops",
    ] {
        let mut old = today.clone();
        take_out(&mut old, &format!("{worker}{field}"));
        let read: Plan = from_tree(old).unwrap_or_else(|e| panic!("{field}: {e}"));
        assert_eq!(read, plan, "{field}");
    }
}

#[test]
fn descriptions_of_older_records_are_read() {
    let first: FirstFailure = from_tree(json!("read at 4096: Input/output error")).unwrap();
    assert!(matches!(first, FirstFailure::Described(_)));
    let verdict: Verdict = from_tree(json!({ "verdict": "too_few_runs", "needed": 7 })).unwrap();
    assert_eq!(verdict, Verdict::Undecided { needed: Some(7) });
    let verdict: Verdict = from_tree(json!({ "verdict": "not_distinguished" })).unwrap();
    assert_eq!(verdict, Verdict::Equivalent);
    let step: PreparedStep =
        from_tree(json!({ "what": "discarded securely", "elapsed": 1 })).unwrap();
    assert_eq!(step.step, StepKind::Discarded { secure: true });
    let host: CacheOf = from_tree(json!("the whole host")).unwrap();
    assert_eq!(host, CacheOf::Host);
}

#[test]
fn enumerations_are_stored_by_the_names_they_have() {
    let named = |value: Value, name: &str| assert_eq!(value, json!(name));
    named(to_tree(IoEngine::IoUring).unwrap(), "io_uring");
    named(to_tree(Op::Trim).unwrap(), "trim");
    named(to_tree(Fitness::WithCare).unwrap(), "with_care");
    named(to_tree(Figure::SyncP999).unwrap(), "sync_p999");
    named(to_tree(FillContent::Ones).unwrap(), "ones");
    let claim = to_tree(Claim::VideoClass(30)).unwrap();
    assert_eq!(claim, json!({ "claim": "video_class", "value": 30 }));
    let weakness = Weakness::Changed {
        what: Circumstance::Device {
            card: "a".to_owned(),
        },
        values: vec!["x".to_owned()],
    };
    let stored = json!({ "weakness": "changed", "what": { "circumstance": "device", "card": "a" }, "values": ["x"] });
    assert_eq!(to_tree(&weakness).unwrap(), stored);
    assert_eq!(back(&weakness), weakness);
}

#[test]
fn a_warning_is_stored_with_its_job() {
    let slip = LintWarning::FitsInMemory {
        size: Bytes(5),
        memory: Bytes(9),
        odd_block: None,
    };
    let diagnostic = Diagnostic {
        job: "j".to_owned(),
        slip,
    };
    let stored = json!({ "job": "j", "slip": "fits_in_memory", "size": 5, "memory": 9 });
    assert_eq!(to_tree(&diagnostic).unwrap(), stored);
    assert_eq!(back(&diagnostic), diagnostic);
}

#[test]
fn a_campaign_summary_comes_back_from_its_least_form() {
    let summary = CampaignSummary {
        id: "id".to_owned(),
        planned: Some(4),
        weaknesses: vec![
            Weakness::OneSpecimen,
            Weakness::Unfinished {
                runs: 1,
                planned: 4,
            },
        ],
        ..CampaignSummary::default()
    };
    assert_eq!(back(&summary), summary);
    let mut old = to_tree(&summary).unwrap();
    for field in [
        "/unreadable",
        "/weaknesses",
        "/reference",
        "/reference_layer",
    ] {
        take_out(&mut old, field);
    }
    let read: CampaignSummary = from_tree(old).unwrap();
    assert_eq!((read.planned, read.weaknesses.len()), (Some(4), 0));
}

#[test]
fn rates_are_stored_as_plain_numbers() {
    let caveat = Caveat::Cliff {
        phase: "p".to_owned(),
        at: Bytes(7),
        before: BytesPerSec(2.5),
        after: BytesPerSec(1.0),
    };
    let stored = json!({ "caveat": "cliff", "phase": "p", "at": 7, "before": 2.5, "after": 1.0 });
    assert_eq!(to_tree(&caveat).unwrap(), stored);
    let scenario: Result<Scenario, _> = from_tree(json!({ "name": "s", "seed": -1, "phases": [] }));
    assert!(scenario.is_err(), "a seed is not negative");
    let identity: Result<Identity, _> = from_tree(json!({}));
    assert!(
        identity
            .unwrap_err()
            .to_string()
            .contains("missing field `path`")
    );
}

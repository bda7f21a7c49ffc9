//! Reads jobs of older records, which stored optional behavior in one object, `rules`.

use super::Job;
use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Fields of the former `rules`: old name, new object (`""` for the job itself), and new name.
const MOVED: &[(&str, &str, &str)] = &[
    ("verify", "", "verify"),
    ("exit", "termination", "exit"),
    ("steady", "termination", "steady"),
    ("max_latency", "termination", "max_latency"),
    ("minimum_rate", "termination", "minimum_rate"),
    ("latency_target", "rate", "latency_target"),
    ("flow", "rate", "flow"),
    ("turns", "files", "turns"),
    ("zones", "access", "zones"),
    ("course", "access", "order"),
    ("percentage_random", "access", "percentage_random"),
    ("ignore_errors", "errors", "ignored"),
    ("sizes", "", "block_rules"),
    ("offload", "queue", "offload"),
    ("serialize_overlap", "queue", "serialize_overlap"),
    ("wait_for", "timing", "wait_for"),
    ("priority", "placement", "priority"),
    ("numa_cpu_nodes", "placement", "numa_cpu_nodes"),
    ("memory", "placement", "memory"),
    ("split_cpus", "placement", "split_cpus"),
    ("commands", "", "commands"),
    ("replay", "", "replay"),
    ("logs", "measure", "logs"),
];

/// Deserializes the jobs of a phase, in the current or the former form.
pub(super) fn jobs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Job>, D::Error> {
    let jobs = Vec::<Box<RawValue>>::deserialize(deserializer)?;
    let read = |job: Box<RawValue>| parse(job.get()).map_err(D::Error::custom);
    jobs.into_iter().map(read).collect()
}

/// Fields of the former form that today's has not.
#[derive(Deserialize)]
struct FormerFields {
    rules: Option<IgnoredAny>,
    cpus_allowed: Option<IgnoredAny>,
}

/// Parses a job from text in either case: from a tree of values, all of its types would be compiled a second time.
fn parse(text: &str) -> serde_json::Result<Job> {
    match crate::json::from_str(text)? {
        FormerFields {
            rules: None,
            cpus_allowed: None,
        } => crate::json::from_str(text),
        _ => {
            let job = in_todays_form(serde_json::from_str(text)?);
            crate::json::from_str(&job.to_string())
        }
    }
}

fn in_todays_form(mut job: Value) -> Value {
    let Some(fields) = job.as_object_mut() else {
        return job;
    };
    if let Some(cpus) = fields.remove("cpus_allowed") {
        put(fields, "placement", "cpus_allowed", cpus);
    }
    if let Some(Value::Object(mut rules)) = fields.remove("rules") {
        for (name, object, new_name) in MOVED {
            if let Some(value) = rules.remove(*name) {
                put(fields, object, new_name, value);
            }
        }
        if let Some(Value::Object(files)) = rules.remove("files") {
            for (name, value) in files {
                put(fields, "files", &name, value);
            }
        }
    }
    job
}

fn put(fields: &mut Map<String, Value>, object: &str, name: &str, value: Value) {
    if object.is_empty() {
        fields.insert(name.to_owned(), value);
        return;
    }
    let object = fields
        .entry(object)
        .or_insert_with(|| Value::Object(Map::new()));
    if let Some(object) = object.as_object_mut() {
        object.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::rules::{FileLock, FlowShare, Verify, VerifyMethod};
    use crate::job::{Access, Op, Phase, Target};
    use crate::units::Nanos;

    /// Converts a job to the former form: the inverse of the table.
    fn in_former_form(job: &Job) -> Value {
        let mut job = serde_json::to_value(job).unwrap();
        let mut rules = Map::new();
        for (name, object, new_name) in MOVED {
            let at = match *object {
                "" => &mut job,
                object => &mut job[object],
            };
            let value = at.as_object_mut().unwrap().remove(*new_name);
            rules.insert((*name).to_owned(), value.unwrap());
        }
        let lock = job["files"].as_object_mut().unwrap().remove("lock");
        rules.insert("files".to_owned(), serde_json::json!({ "lock": lock }));
        let mut placement = job.as_object_mut().unwrap().remove("placement").unwrap();
        job["cpus_allowed"] = placement["cpus_allowed"].take();
        job["rules"] = Value::Object(rules);
        job
    }

    #[test]
    fn jobs_of_older_records_keep_their_optional_behavior() {
        let mut job = Job::new("old", Target::Nothing, Access::only(Op::Write, true));
        job.verify = Some(Verify::by(VerifyMethod::Header));
        job.termination.exit.on_error = true;
        job.termination.max_latency[Op::Read] = Some(Nanos(5));
        job.rate.flow = Some(FlowShare {
            id: 1,
            weight: 2,
            sleep: Nanos(3),
        });
        job.files.lock = FileLock::Exclusive;
        job.files.turns.run_length = 7;
        job.queue.offload = true;
        job.timing.wait_for = Some("other".to_owned());
        job.placement.cpus_allowed = vec![0, 2];
        job.placement.split_cpus = true;
        job.measure.logs.samples = true;
        job.errors.ignored.write = vec![28];
        let phase = serde_json::json!({ "name": "p", "jobs": [in_former_form(&job)] });
        assert!(phase["jobs"][0]["rules"]["verify"].is_object());
        let phase: Phase = serde_json::from_value(phase).unwrap();
        assert_eq!(phase.jobs, [job.clone()]);
        let today = serde_json::to_string(&phase).unwrap();
        assert_eq!(serde_json::from_str::<Phase>(&today).unwrap().jobs, [job]);
    }
}

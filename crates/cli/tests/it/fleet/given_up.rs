//! A job that ends its host again and again.

use super::Fleet;
use crate::support::wait_until;

/// The job is given up after the tenth time; what was measured before is stored, and the next call continues.
#[test]
fn a_job_that_ends_its_host_ten_times_is_given_up() {
    let Some(mut fleet) = Fleet::start(&["a"]) else {
        return;
    };
    let campaign = fleet.campaign(&["a"], 5000);
    let run = fleet.command(&["run", &campaign, "--json", "--quiet"]);
    let operator = with_pipes(run);
    for _ in 0..10 {
        fleet.begin_agent("a");
        wait_until(|| fleet.log("a").contains("campaign boards"));
        fleet.kill_agent("a");
    }
    // The host is there, but does not get the job an eleventh time.
    fleet.begin_agent("a");
    let out = operator.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    let ended: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let failure = ended["failures"][0].to_string();
    assert!(failure.contains("delivered 10 times"), "{ended}");
    assert!(failure.contains("hakaru fleet logs a"), "{ended}");
    assert!(!fleet.log("a").contains("campaign boards"));
    let again = fleet.json(&["run", &campaign, "--repeat=3", "--json"]);
    assert_eq!(again["complete"], true, "{again}");
}

fn with_pipes(mut command: std::process::Command) -> std::process::Child {
    let pipe = std::process::Stdio::piped;
    command.stdout(pipe()).stderr(pipe()).spawn().unwrap()
}

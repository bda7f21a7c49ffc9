//! Campaigns that are killed or interrupted, or start with a mount left by `hakaru prepare`.

use super::*;

/// Starts a run and kills it after a delay. Returns whether it was killed before its end.
fn killed(home: &Home, args: &[&str], after: Duration) -> bool {
    let mut child = campaign(home, args)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    let running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    running
}

#[test]
fn killed_at_any_moment_it_goes_on_and_repeats_nothing() {
    let home = Home::new();
    simulated_cards(&home, "repeats = 12\norder = \"shuffled\"");
    let mut rng = hakaru_model::rng::Rng::new(5);
    let mut kills = 0;
    for _ in 0..8 {
        let after = Duration::from_millis(10 + rng.below(60));
        kills += u32::from(killed(&home, &["run", "three.toml"], after));
    }
    assert!(kills > 0);
    assert!(run(&home, &["run", "three.toml"]).status.success());
    each_once(&home, 72);
    nothing_is_left(&home);
}

#[test]
fn killed_while_a_card_is_mounted_it_takes_it_back_and_goes_on() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 128 << 20) else {
        return;
    };
    let (layers, id) = loop_campaign(&home, &disk, "repeats = 3\norder = \"interleaved\"");
    let mut rng = hakaru_model::rng::Rng::new(6);
    for _ in 0..8 {
        let after = Duration::from_millis(100 + rng.below(900));
        killed(&home, &["run", "loop.toml", "--erase", &id], after);
    }
    // A tool that outlives its parent may still hold the card for a moment: the campaign reports it, and the test
    // retries.
    let done = (0..3).any(|_| {
        run(&home, &["run", "loop.toml", "--erase", &id])
            .status
            .success()
    });
    assert!(
        done,
        "{}",
        text(&run(&home, &["run", "loop.toml", "--erase", &id]).stderr)
    );
    each_once(&home, layers * 6);
    nothing_is_left(&home);
}

/// Regression: the next campaign, for any card, undid a mount that `prepare --mount` kept intentionally.
#[test]
fn a_mount_that_was_left_on_purpose_stays() {
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 64 << 20) else {
        return;
    };
    if !kernel_has("ext4") {
        return;
    }
    let at = home.path().join("mnt");
    let mut prepare = hakaru(&home);
    prepare.args(["prepare", disk.device(), "--mkfs=ext4", "--mount"]);
    prepare.arg(&at).arg(format!("--erase={}", home.image_id()));
    let made = prepare.output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    simulated_cards(&home, "repeats = 1");
    assert!(run(&home, &["run", "three.toml"]).status.success());
    assert!(at.join("lost+found").is_dir(), "it is still mounted");
    let recovered = text(&support::execute(&home, "recover").stdout);
    assert!(recovered.contains("removed") && !at.exists(), "{recovered}");
    nothing_is_left(&home);
}

#[test]
fn ctrl_c_gives_the_card_back() {
    use rustix::process::{Pid, Signal, kill_process};
    let home = Home::new();
    let Some(disk) = root_loop_sparse(&home, 128 << 20) else {
        return;
    };
    if !kernel_has("ext4") {
        return;
    }
    let (_, id) = loop_campaign(&home, &disk, "repeats = 1000");
    let mut command = campaign(&home, &["run", "loop.toml", "--only=ext4", "--erase", &id]);
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mounted = || {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        mounts.contains(home.path().to_str().unwrap())
    };
    support::wait_until(|| mounted() && !records(&home).is_empty());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    let next = "stopped; continue with `hakaru campaign run loop.toml`";
    assert!(said.contains(next), "{said}");
    nothing_is_left(&home);
}

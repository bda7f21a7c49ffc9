//! Links named fio and iozone, manual pages, and completion scripts.

use crate::support::{Home, execute, hakaru, text};
use std::process::Command;

#[test]
fn links_run_the_front_ends_until_they_are_removed() {
    let home = Home::new();
    let bin = home.path().join(".local/bin");
    let out = execute(&home, "link");
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("not in PATH"));
    let version = Command::new(bin.join("fio")).arg("--version").output();
    assert!(text(&version.unwrap().stdout).starts_with("fio-"));
    let out = execute(&home, "link --remove");
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert_eq!(std::fs::read_dir(&bin).unwrap().count(), 0);
}

#[test]
fn a_link_does_not_replace_another_program() {
    let home = Home::new();
    let fio = home.work().join("fio");
    std::fs::write(&fio, "another program").unwrap();
    let work = home.work().display().to_string();
    let out = execute(&home, &format!("link {work}"));
    assert_eq!(out.status.code(), Some(3), "{}", text(&out.stdout));
    assert!(
        text(&out.stderr).contains("help: "),
        "{}",
        text(&out.stderr)
    );
    let out = execute(&home, &format!("link --remove {work}"));
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert_eq!(std::fs::read_to_string(&fio).unwrap(), "another program");
    assert_eq!(home.left_behind(), 1);
}

#[test]
fn manual_pages_are_printed_and_written() {
    let home = Home::new();
    let page = text(&execute(&home, "man campaign run").stdout);
    assert!(page.contains(".TH hakaru-campaign-run 1"), "{page}");
    assert!(text(&execute(&home, "man fio").stdout).contains("HAKARU\\-FIO"));
    let out = execute(&home, "man bananas");
    assert_eq!(out.status.code(), Some(2));
    let directory = home.work().join("man1");
    let out = hakaru(&home)
        .args(["man", "--dir"])
        .arg(&directory)
        .output();
    assert!(out.unwrap().status.success());
    for page in ["hakaru.1", "hakaru-bench.1", "hakaru-iozone.1"] {
        assert!(directory.join(page).is_file(), "{page}");
    }
}

/// A variable set to nothing is as if unset, for each option that has one.
#[test]
fn empty_variables_are_as_if_unset() {
    let home = Home::new();
    let list = |variables: &[(&str, &str)]| {
        let mut command = hakaru(&home);
        let locale = [("LC_ALL", ""), ("LANG", "ja_JP.UTF-8"), ("TERM", "xterm")];
        command.env_remove("HAKARU_DB");
        command.envs(locale).envs(variables.iter().copied());
        command.arg("list").output().unwrap()
    };
    let japanese = list(&[("HAKARU_LANG", "ja")]);
    assert!(japanese.status.success(), "{}", text(&japanese.stderr));
    assert!(text(&japanese.stdout).contains("まだありません"));
    let empty = list(&[("HAKARU_LANG", ""), ("HAKARU_DB", "")]);
    assert!(empty.status.success(), "{}", text(&empty.stderr));
    assert_eq!(text(&empty.stdout), text(&japanese.stdout));
    let mut fleet = hakaru(&home);
    fleet.env("HAKARU_FLEET", "").args(["fleet", "status"]);
    let error = text(&fleet.output().unwrap().stderr);
    assert!(!error.contains("a value is required"), "{error}");
}

#[test]
fn completions_know_the_commands() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&execute(&home, &format!("completions {shell}")).stdout);
        assert!(script.contains("campaign"), "{shell}: {script}");
    }
}

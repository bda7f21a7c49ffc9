//! The campaign of a fleet that has no campaign file yet: the storage of each host, without erasing anything.

use crate::exit::usage;
use anyhow::{Context as _, Result};
use hakaru_campaign::campaign::spec::Campaign;
use hakaru_fleet::directory::FleetDirectory;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

/// Campaign file of `hakaru fleet run` without one.
pub(super) const FILE: &str = "fleet.toml";

/// Directory that is measured. It is on the storage of a host, whereas `/tmp` can be in memory.
///
/// Source: file-hierarchy(7).
const FOLDER: &str = "/var/tmp";

/// Writes [`FILE`] for the enrolled hosts, if that is the file to run and it does not exist.
///
/// # Errors
/// If no host is enrolled, or the file cannot be written.
pub(super) fn write_if_absent(fleet: &FleetDirectory, file: &Path) -> Result<()> {
    if file != Path::new(FILE) || file.exists() {
        return Ok(());
    }
    let hosts = fleet.agents()?;
    if hosts.is_empty() {
        return Err(usage(both!(
            "no host is enrolled; help: hakaru fleet enroll USER@HOST",
            "ホストが登録されていません; help: hakaru fleet enroll USER@HOST"
        )));
    }
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    File::create_new(file)
        .and_then(|mut new| new.write_all(text_of(&names).as_bytes()))
        .with_context(|| {
            both!(
                "cannot write {FILE}; help: change to a directory of your own",
                "{FILE}に書き込めません; help: 書き込めるディレクトリに移動してください"
            )
        })?;
    anstream::eprintln!(
        "{}",
        both!(
            "Created {FILE}: it measures the storage under {FOLDER} of each host, and erases nothing. Add cards to it with their \
             IDs, which `hakaru fleet devices` shows",
            "{FILE}を作成しました（各ホストの{FOLDER}のストレージを測定し、何も消去しません）。カードはhakaru fleet devicesが表示するIDで追加できます"
        )
    );
    Ok(())
}

/// Prints which enrolled hosts [`FILE`] does not name, because they were enrolled after it was written.
///
/// # Errors
/// If the list of hosts cannot be read.
pub(super) fn name_missing_hosts(
    fleet: &FleetDirectory,
    file: &Path,
    campaign: &Campaign,
) -> Result<()> {
    if file != Path::new(FILE) {
        return Ok(());
    }
    let is_named = |name: &str| campaign.hosts.iter().any(|host| host.name == name);
    let mut missing: Vec<String> = fleet.agents()?.into_iter().map(|host| host.name).collect();
    missing.retain(|name| !is_named(name));
    if !missing.is_empty() {
        let missing = missing.join(", ");
        anstream::eprintln!(
            "{}",
            both!(
                "! not in {FILE}, and not measured: {missing}; add them, or delete the file to write a new one",
                "! {FILE}にないため測定しません: {missing}（追加するか、ファイルを削除して作り直してください）"
            )
        );
    }
    Ok(())
}

/// The text of the file. Names of hosts need no quoting.
fn text_of(hosts: &[&str]) -> String {
    let mut text = both!(
        "# The storage of each host, through its file system. Nothing is erased. Add hosts here that you enroll later.\n\
         # A card: [[card]] with a label and its id, as `hakaru fleet devices` shows it.\n",
        "# 各ホストのストレージをファイルシステム経由で測定します。何も消去しません。後から登録したホストはここに追加してください。\n\
         # カードは[[card]]にlabelとid（hakaru fleet devicesが表示するもの）を書いて追加してください。\n"
    );
    text += "name = \"fleet\"\nrepeats = 3\norder = \"shuffled\"\n";
    for host in hosts {
        let label = both!("storage of {host}", "{host}のストレージ");
        let _ = write!(
            text,
            "\n[[host]]\nname = \"{host}\"\n\n[[card]]\nlabel = \"{label}\"\nhost = \"{host}\"\nfolder = \"{FOLDER}\"\n"
        );
    }
    text += "\n[[layer]]\nfs = \"as-is\"\n\n[[workload]]\nsuite = [\"seq-write\", \"seq-read\", \"rand-write\", \"rand-read\"]\npace = \"quick\"\n";
    text
}

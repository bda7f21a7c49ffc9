//! Campaigns for the unit tests of this module.

use super::resolve::{ResolveContext, campaign as resolve};
use super::spec::Campaign;

/// Returns a campaign of one card in a reader, raw and ext4, and two workloads, with additional keys.
pub(super) fn campaign(top: &str) -> Campaign {
    let text = format!(
        "name = \"test\"\n{top}\n[[layer]]\nfs = \"raw\"\n[[layer]]\nfs = \"ext4\"\n\
         [[workload]]\nsuite = [\"seq-write\", \"rand-read\"]\npace = \"quick\"\n"
    );
    parse(&text).unwrap()
}

/// Parses a campaign that names no other files.
pub(super) fn parse(text: &str) -> Result<Campaign, super::file::FileError> {
    let around = ResolveContext {
        read_file: &|path| Err(format!("{} is not there", path.display())),
        fio: &|_, _| Err("fio is not spoken here".to_owned()),
    };
    resolve(text, &around)
}

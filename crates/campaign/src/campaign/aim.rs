//! Aiming a workload at a place: whatever files its author named, it works on the card under test and nowhere else.

use hakaru_model::job::{IoEngine, Job, Scenario, SizeSpec, Target};
use hakaru_model::price::PriceList;
use hakaru_model::units::Bytes;
use std::path::{Path, PathBuf};

/// Where a workload is carried out.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// On a whole device or partition.
    Device(&'a Path),
    /// On files in a folder.
    Folder(&'a Path),
    /// On a simulated card.
    Sim(&'a PriceList),
}

/// How much there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// All files together.
    pub all: Bytes,
    /// Each file.
    pub each: Option<Bytes>,
}

/// The workload at its place: its files are no larger than there is room, and the offsets come from `seed`.
pub fn aim(scenario: &Scenario, place: Place<'_>, room: Room, seed: u64) -> Scenario {
    let mut scenario = Scenario { seed, ..scenario.clone() };
    for job in scenario.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        fit(job, place, room);
        // The name of a job is a part of the names of its files.
        job.name = job.name.replace('/', "_");
        job.target = target(&job.target, place);
        if let Place::Sim(_) = place {
            job.ioengine = IoEngine::Sim;
        }
    }
    scenario
}

fn target(named: &Target, place: Place<'_>) -> Target {
    match (place, named) {
        (Place::Sim(prices), _) => Target::Sim(Box::new(prices.clone())),
        (Place::Device(node), _) => Target::Paths(vec![node.to_owned()]),
        (Place::Folder(folder), Target::Paths(paths)) => {
            Target::Paths(paths.iter().enumerate().map(|(i, path)| folder.join(file_name(i, path))).collect())
        }
        (Place::Folder(folder), Target::Formatted { format, nrfiles, .. }) => Target::Formatted {
            directories: vec![folder.to_owned()],
            // A format may hold folders, and even `..`.
            format: format.replace('/', "_"),
            nrfiles: *nrfiles,
        },
        (Place::Folder(folder), Target::Nothing | Target::Sim(_)) => Target::Paths(vec![folder.join("data")]),
    }
}

/// The last part of a path; whatever folders its author named do not count here.
fn file_name(index: usize, path: &Path) -> PathBuf {
    path.file_name().map_or_else(|| PathBuf::from(format!("file-{index}")), PathBuf::from)
}

/// Makes the files no larger than there is room for.
fn fit(job: &mut Job, place: Place<'_>, room: Room) {
    let files = match (&job.target, place) {
        (Target::Formatted { nrfiles, .. }, Place::Folder(_)) => u64::from(job.numjobs) * u64::from(*nrfiles),
        _ => 1,
    };
    let each = Bytes(whole_mib((room.all.0 / files.max(1)).min(room.each.map_or(u64::MAX, |each| each.0))));
    if let Some(SizeSpec::Bytes(size)) = &mut job.extent.size {
        *size = (*size).min(each);
    }
    if let Some(size) = &mut job.extent.filesize {
        *size = (*size).min(each);
    }
}

/// In whole MiB, where there is at least one.
fn whole_mib(bytes: u64) -> u64 {
    if bytes >= 1 << 20 { bytes >> 20 << 20 } else { bytes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::job::{Access, Op, Phase};

    fn scenario(target: Target) -> Scenario {
        let mut job = Job::new("job", target, Access::only(Op::Write, false));
        job.numjobs = 4;
        job.extent.size = Some(SizeSpec::Bytes(Bytes(1 << 30)));
        Scenario { name: "x".into(), seed: 1, phases: vec![Phase { name: "x".into(), jobs: vec![job] }] }
    }

    fn aimed(target: Target, place: Place<'_>, room: u64) -> Job {
        let room = Room { all: Bytes(room), each: Some(Bytes(500 << 20)) };
        aim(&scenario(target), place, room, 7).phases.remove(0).jobs.remove(0)
    }

    #[test]
    fn files_of_the_author_are_replaced_by_those_of_the_card() {
        let paths = || Target::Paths(vec!["/home/me/x.tmp".into(), "/etc/..".into()]);
        let folder = Place::Folder(Path::new("/mnt"));
        let job = aimed(paths(), folder, 1 << 40);
        assert_eq!(job.target, Target::Paths(vec!["/mnt/x.tmp".into(), "/mnt/file-1".into()]));
        let job = aimed(paths(), Place::Device(Path::new("/dev/mmcblk0")), 1 << 40);
        assert_eq!(job.target, Target::Paths(vec!["/dev/mmcblk0".into()]));
        let own = Target::Formatted { directories: vec!["/".into()], format: "../$jobnum".into(), nrfiles: 1 };
        let job = aimed(own, folder, 1 << 40);
        let Target::Formatted { directories, format, .. } = job.target else { panic!() };
        assert_eq!((directories, format.as_str()), (vec![PathBuf::from("/mnt")], ".._$jobnum"));
    }

    #[test]
    fn files_are_no_larger_than_there_is_room() {
        let own = Target::Formatted { directories: vec![], format: "$jobnum".into(), nrfiles: 1 };
        let job = aimed(own, Place::Folder(Path::new("/mnt")), (400 << 20) + 5);
        assert_eq!(job.extent.size, Some(SizeSpec::Bytes(Bytes(100 << 20))));
        let job = aimed(Target::Paths(vec!["x".into()]), Place::Folder(Path::new("/mnt")), 400 << 20);
        assert_eq!(job.extent.size, Some(SizeSpec::Bytes(Bytes(400 << 20))));
        let prices = PriceList::plain("card", Bytes(1 << 40));
        let job = aimed(Target::Nothing, Place::Sim(&prices), 1 << 40);
        assert_eq!((job.ioengine, job.extent.size), (IoEngine::Sim, Some(SizeSpec::Bytes(Bytes(500 << 20)))));
    }
}

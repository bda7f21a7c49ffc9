//! Changes the targets of a workload to the card under test, whatever files its author named.

use crate::target;
use hakaru_model::device_model::DeviceModel;
use hakaru_model::job::{IoEngine, Job, Scenario, SizeSpec, Target};
use hakaru_model::plan::clone_paths;
use hakaru_model::units::Bytes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The new target of a workload.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RetargetTo<'a> {
    /// A whole device or partition.
    Device(&'a Path),
    /// Files in a directory.
    Folder(&'a Path),
    /// A simulated card.
    Sim(&'a DeviceModel),
}

/// Available space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FreeRoom {
    /// Maximum bytes of all files together.
    pub(crate) all: Bytes,
    /// Maximum bytes of each file.
    pub(crate) each: Option<Bytes>,
}

/// Returns the workload on its new target: files are limited to the available space, and offsets come from `seed`.
pub(crate) fn retarget(
    scenario: &Scenario,
    place: RetargetTo<'_>,
    room: FreeRoom,
    seed: u64,
) -> Scenario {
    let mut scenario = Scenario {
        seed,
        ..scenario.clone()
    };
    let each = Bytes(room.all.0.min(room.each.map_or(u64::MAX, |each| each.0)));
    for job in scenario.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        fit(job, each);
        // The job name is part of its file names.
        job.name = job.name.replace('/', "_");
        job.target = target(&job.target, place);
        if let RetargetTo::Sim(_) = place {
            job.ioengine = IoEngine::Sim;
        }
    }
    if let RetargetTo::Folder(_) = place {
        share_room(&mut scenario, room.all);
    }
    scenario
}

/// Divides the space equally among the files if they do not fit together.
fn share_room(scenario: &mut Scenario, all: Bytes) {
    let files = files(scenario);
    let together = files.values().copied().fold(0u64, u64::saturating_add);
    if together > all.0 {
        let share = Bytes(all.0 / (files.len() as u64).max(1));
        let jobs = scenario.phases.iter_mut().flat_map(|phase| &mut phase.jobs);
        jobs.for_each(|job| fit(job, share));
    }
}

/// Returns the files of a workload with their maximum sizes, as far as its jobs specify them.
pub(super) fn files(scenario: &Scenario) -> BTreeMap<PathBuf, u64> {
    let mut files: BTreeMap<PathBuf, u64> = BTreeMap::new();
    for job in scenario.phases.iter().flat_map(|phase| &phase.jobs) {
        for paths in (0..job.numjobs).map(|clone| clone_paths(job, clone)) {
            let size = match (job.extent.filesize, job.extent.size) {
                (Some(size), _) => size.0,
                (None, Some(SizeSpec::Bytes(size))) => size.0.div_ceil((paths.len() as u64).max(1)),
                _ => 0,
            };
            for path in paths {
                let known = files.entry(path).or_default();
                *known = size.max(*known);
            }
        }
    }
    files
}

fn target(named: &Target, place: RetargetTo<'_>) -> Target {
    match (place, named) {
        (RetargetTo::Sim(model), _) => Target::Sim(Box::new(model.clone())),
        (RetargetTo::Device(node), _) => Target::Paths(vec![node.to_owned()]),
        (RetargetTo::Folder(folder), Target::Paths(paths)) => Target::Paths(
            paths
                .iter()
                .enumerate()
                .map(|(i, path)| folder.join(file_name(i, path)))
                .collect(),
        ),
        (
            RetargetTo::Folder(folder),
            Target::Formatted {
                format, nrfiles, ..
            },
        ) => Target::Formatted {
            directories: vec![folder.to_owned()],
            // A file name format may contain directories, and even `..`.
            format: format.replace('/', "_"),
            nrfiles: *nrfiles,
        },
        (RetargetTo::Folder(folder), Target::Nothing | Target::Sim(_)) => {
            Target::Paths(vec![folder.join("data")])
        }
    }
}

/// Returns the last component of a path; the author's directories are ignored.
fn file_name(index: usize, path: &Path) -> PathBuf {
    path.file_name()
        .map_or_else(|| PathBuf::from(format!("file-{index}")), PathBuf::from)
}

/// Limits the files of a job to this size, rounded down to whole MiB if it is at least 1 MiB.
fn fit(job: &mut Job, each: Bytes) {
    let each = if each.0 >= 1 << 20 {
        target::whole_mib(each)
    } else {
        each
    };
    if let Some(SizeSpec::Bytes(size)) = &mut job.extent.size {
        *size = (*size).min(each);
    }
    if let Some(size) = &mut job.extent.filesize {
        *size = (*size).min(each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::job::{Access, Op, Phase};

    fn scenario(target: Target) -> Scenario {
        let mut job = Job::new("job", target, Access::only(Op::Write, false));
        job.numjobs = 4;
        job.extent.size = Some(SizeSpec::Bytes(Bytes(1 << 30)));
        Scenario {
            name: "x".into(),
            seed: 1,
            phases: vec![Phase {
                name: "x".into(),
                jobs: vec![job],
            }],
        }
    }

    fn retargeted(target: Target, place: RetargetTo<'_>, room: u64) -> Job {
        let room = FreeRoom {
            all: Bytes(room),
            each: Some(Bytes(500 << 20)),
        };
        retarget(&scenario(target), place, room, 7)
            .phases
            .remove(0)
            .jobs
            .remove(0)
    }

    #[test]
    fn files_of_the_author_are_replaced_by_those_of_the_card() {
        let paths = || Target::Paths(vec!["/home/me/x.tmp".into(), "/etc/..".into()]);
        let folder = RetargetTo::Folder(Path::new("/mnt"));
        let job = retargeted(paths(), folder, 1 << 40);
        assert_eq!(
            job.target,
            Target::Paths(vec!["/mnt/x.tmp".into(), "/mnt/file-1".into()])
        );
        let job = retargeted(
            paths(),
            RetargetTo::Device(Path::new("/dev/mmcblk0")),
            1 << 40,
        );
        assert_eq!(job.target, Target::Paths(vec!["/dev/mmcblk0".into()]));
        let own = Target::Formatted {
            directories: vec!["/".into()],
            format: "../$jobnum".into(),
            nrfiles: 1,
        };
        let job = retargeted(own, folder, 1 << 40);
        let Target::Formatted {
            directories,
            format,
            ..
        } = job.target
        else {
            panic!()
        };
        assert_eq!(
            (directories, format.as_str()),
            (vec![PathBuf::from("/mnt")], ".._$jobnum")
        );
    }

    #[test]
    fn files_are_no_larger_than_there_is_room() {
        let own = Target::Formatted {
            directories: vec![],
            format: "$jobnum".into(),
            nrfiles: 1,
        };
        let job = retargeted(own, RetargetTo::Folder(Path::new("/mnt")), (400 << 20) + 5);
        assert_eq!(job.extent.size, Some(SizeSpec::Bytes(Bytes(100 << 20))));
        let job = retargeted(
            Target::Paths(vec!["x".into()]),
            RetargetTo::Folder(Path::new("/mnt")),
            400 << 20,
        );
        assert_eq!(job.extent.size, Some(SizeSpec::Bytes(Bytes(400 << 20))));
        // Two jobs of one phase with a file each; the space for both is 400 MiB.
        let mut both = scenario(Target::Paths(vec!["x".into()]));
        let mut other = both.phases[0].jobs[0].clone();
        other.target = Target::Paths(vec!["y".into()]);
        both.phases[0].jobs.push(other);
        let sizes = |room: u64| {
            let room = FreeRoom {
                all: Bytes(room),
                each: None,
            };
            files(&retarget(
                &both,
                RetargetTo::Folder(Path::new("/mnt")),
                room,
                1,
            ))
            .into_values()
            .collect::<Vec<_>>()
        };
        assert_eq!(
            (sizes(400 << 20), sizes(3 << 30)),
            (vec![200 << 20; 2], vec![1 << 30; 2])
        );
        let model = DeviceModel::plain("card", Bytes(1 << 40));
        let job = retargeted(Target::Nothing, RetargetTo::Sim(&model), 1 << 40);
        assert_eq!(
            (job.ioengine, job.extent.size),
            (IoEngine::Sim, Some(SizeSpec::Bytes(Bytes(500 << 20))))
        );
    }
}

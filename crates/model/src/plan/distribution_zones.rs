//! Checks that zones of absolute size (`random_distribution=zoned_abs`) lie within the job's part of a file.

use super::PlanError;
use crate::job::{Distribution, Job};
use crate::stream::Region;
use crate::units::Bytes;
use std::path::Path;

/// Checks that all zones lie within the region of the job.
pub(super) fn within(job: &Job, path: &Path, region: &Region) -> Result<(), PlanError> {
    let Distribution::ZonedAbs(zones) = &job.access.distribution else {
        return Ok(());
    };
    let (zones, room) = (
        zones
            .iter()
            .fold(0u64, |sum, zone| sum.saturating_add(zone.size.0)),
        region.len,
    );
    if zones <= room || !job.access.random {
        return Ok(());
    }
    let (job, path) = (job.name.clone(), path.to_owned());
    Err(PlanError::ZonesTooLarge {
        job,
        path,
        zones: Bytes(zones),
        room: Bytes(room),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{AbsoluteZone, Access, Op, Target};

    #[test]
    fn zones_larger_than_the_file_are_refused() {
        let mut job = Job::new(
            "a",
            Target::Paths(vec!["f".into()]),
            Access::only(Op::Read, true),
        );
        let zone = |mib: u64| AbsoluteZone {
            access_percent: 50.0,
            size: Bytes(mib << 20),
        };
        job.access.distribution = Distribution::ZonedAbs(vec![zone(1), zone(3)]);
        let region = |mib: u64| Region {
            file: 0,
            offset: 0,
            len: mib << 20,
            file_len: mib << 20,
        };
        assert_eq!(within(&job, Path::new("f"), &region(4)), Ok(()));
        let error = within(&job, Path::new("f"), &region(3))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("4 MiB together") && error.contains("uses 3 MiB of f"),
            "{error}"
        );
    }
}

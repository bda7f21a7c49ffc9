//! Limit of open files.

use super::error::TraceError;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that the rest of the program may need meanwhile.
const RESERVE: u64 = 256;

/// Raises the limit of open files, so that a number of additional ones can be opened.
pub(super) fn allow(additional: usize) -> Result<(), TraceError> {
    let open = std::fs::read_dir("/proc/self/fd").map_or(64, |files| files.count() as u64);
    let needed = open + additional as u64;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|now| needed + RESERVE <= now) {
        return Ok(());
    }
    let most = limit.maximum.unwrap_or(u64::MAX);
    let new = Rlimit {
        current: Some((needed + RESERVE).min(most)),
        maximum: limit.maximum,
    };
    let raised = setrlimit(Resource::Nofile, new).is_ok();
    if needed
        <= if raised {
            most
        } else {
            limit.current.unwrap_or(most)
        }
    {
        return Ok(());
    }
    Err(TraceError::Descriptors {
        needed: additional as u64,
        limit: most,
    })
}

/// The error for EMFILE despite [`allow`].
pub(super) fn exhausted() -> TraceError {
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64);
    TraceError::Descriptors {
        needed: 1,
        limit: getrlimit(Resource::Nofile).current.unwrap_or(open),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_more_files_than_the_hard_limit() {
        assert_eq!(allow(0), Ok(()));
        match getrlimit(Resource::Nofile).maximum {
            Some(most) => assert_eq!(
                allow(most as usize),
                Err(TraceError::Descriptors {
                    needed: most,
                    limit: most
                })
            ),
            None => println!("SKIPPED: no hard limit of open files"),
        }
    }
}

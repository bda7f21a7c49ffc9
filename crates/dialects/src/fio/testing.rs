//! Parser context for tests, independent of the host.

use super::invocation::ParseContext;
use std::io;
use std::path::Path;

fn environment(name: &str) -> Option<String> {
    (name == "HOME").then(|| "/root".to_owned())
}

fn no_file(_: &Path) -> io::Result<Vec<u8>> {
    Err(io::Error::from(io::ErrorKind::NotFound))
}

/// A host with four CPUs, 4 KiB pages, 2 GiB of memory and no files.
pub(crate) fn context() -> &'static ParseContext<'static> {
    Box::leak(Box::new(ParseContext {
        env: &environment,
        read_file: &no_file,
        path_exists: &|_| false,
        cpu_count: 4,
        page_size: 4096,
        memory_mb: 2048,
    }))
}

/// The same context with these files.
pub(crate) fn with_files<T>(
    files: &[(&str, &str)],
    use_it: impl FnOnce(&ParseContext<'_>) -> T,
) -> T {
    let find = |path: &Path| files.iter().find(|(name, _)| Path::new(name) == path);
    let read = |path: &Path| {
        find(path)
            .map(|(_, text)| text.as_bytes().to_vec())
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    };
    let exists = |path: &Path| find(path).is_some();
    use_it(&ParseContext {
        read_file: &read,
        path_exists: &exists,
        ..*context()
    })
}

/// A scenario without phases, for views whose workers a test sets.
pub(super) fn empty_scenario() -> hakaru_model::job::Scenario {
    hakaru_model::job::Scenario {
        name: String::new(),
        seed: 0,
        phases: Vec::new(),
    }
}

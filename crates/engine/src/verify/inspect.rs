//! Verifies a block, and saves expected and received content if requested.

use super::scheme::{ExpectedBlock, Scheme};
use hakaru_model::mismatch::{Mismatch, Saved};
use hakaru_model::stream::IoRequest;
use std::path::Path;

/// Maximum number of reported pieces of a block.
const MOST: usize = 64;

/// A verify scheme, and the names of the files it is applied to.
#[derive(Debug)]
pub(super) struct Inspector {
    pub(super) scheme: Scheme,
    /// File names by region.
    pub(super) files: Vec<String>,
}

impl Inspector {
    /// Returns the differences between a block and the data that was written.
    pub(super) fn inspect(
        &self,
        request: &IoRequest,
        block: &[u8],
        wanted: ExpectedBlock,
    ) -> Vec<Mismatch> {
        let mut found = self.scheme.check(block, request.offset, wanted);
        found.truncate(MOST);
        if self.scheme.rules.dump {
            for mismatch in &mut found {
                mismatch.saved = self.save(mismatch, request, block, wanted);
                if mismatch.difference.is_of_header() {
                    // As in fio: the rest of a block after a bad header is not saved.
                    break;
                }
            }
        }
        found
    }

    /// Saves received and expected content of a piece. As in fio, the files go to the current directory unless
    /// another directory is given.
    fn save(
        &self,
        mismatch: &Mismatch,
        request: &IoRequest,
        block: &[u8],
        wanted: ExpectedBlock,
    ) -> Option<Saved> {
        let name = self.files.get(request.region as usize)?;
        let name = Path::new(name).file_name()?.to_string_lossy().into_owned();
        let start = mismatch.offset.0.checked_sub(request.offset)? as usize;
        let folder = self.scheme.rules.folder.clone().unwrap_or_default();
        let piece = block.get(start..start + mismatch.len.0 as usize)?;
        let write = |end: &str, content: &[u8]| {
            let path = folder.join(format!("{name}.{}.{end}", mismatch.offset.0));
            // Mismatches are reported even if they cannot be saved.
            std::fs::write(&path, content).ok().map(|()| path)
        };
        if mismatch.difference.is_of_header() {
            return Some(Saved {
                received: write("hdr_fail", piece)?,
                expected: None,
            });
        }
        let received = write("received", piece)?;
        let scheme = &self.scheme;
        let expected = scheme.expected(mismatch, block, request.offset, wanted);
        Some(Saved {
            received,
            expected: expected.and_then(|content| write("expected", &content)),
        })
    }
}

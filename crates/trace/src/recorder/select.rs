//! Selects the events to record.

use super::decode::Decoder;
use super::disk::DiskFacts;
use super::error::{Privileges, TraceError};
use super::format::EventFormat;
use super::options::RecorderOptions;
use super::source::EventSelection;
use super::table::EVENTS;
use super::tracefs::Tracefs;
use rustix::io::Errno;
use std::ffi::CString;

/// Selects the events that the kernel has, and adds their formats to the decoder.
pub(super) fn select(
    tracefs: &Tracefs,
    disk: &DiskFacts,
    options: &RecorderOptions,
    decoder: &mut Decoder,
) -> Result<Vec<EventSelection>, TraceError> {
    let (mut selection, mut missing) = (Vec::new(), Vec::new());
    for (event, spec) in EVENTS.iter().enumerate() {
        if !spec.is_in(options.events, disk.bio_based) {
            continue;
        }
        let filter = spec.filter(disk, options.filesystem);
        let Some(filter) = filter.and_then(|filter| CString::new(filter).ok()) else {
            continue;
        };
        let path = format!("events/{}/{}/format", spec.system, spec.name);
        let format = match tracefs.read(&path) {
            Ok(text) => EventFormat::parse(&text),
            Err(Errno::ACCESS | Errno::PERM) => {
                return Err(Privileges::of_process().refusal(true));
            }
            Err(_) => None,
        };
        let usable = |format: &EventFormat| spec.can_filter(format) && decoder.add(event, format);
        match format.filter(usable) {
            Some(format) => selection.push(EventSelection {
                event,
                id: format.id,
                filter,
            }),
            None if spec.is_needed() => missing.push(spec.name.to_owned()),
            None => {}
        }
    }
    if missing.is_empty() {
        Ok(selection)
    } else {
        Err(TraceError::MissingEvents { names: missing })
    }
}

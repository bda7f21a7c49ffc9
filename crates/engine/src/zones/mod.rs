//! Zones of zoned block devices (`zonemode=zbd`): where writes and reads may go, and when zones are emptied.
//!
//! A [`table::ZoneTable`] knows the zones of one file or device, for all workers of a phase; a [`ZoneCursor`] is the place of one worker
//! in its tables, and turns what a stream of requests asks for into what zones allow. Files and devices without zones are
//! divided into zones that begin empty. Source of the rules: fio's manual, "zonemode", and what fio was seen to do.

mod cursor;
mod table;

pub(crate) use cursor::{ZoneCursor, ZonePlacement};
#[cfg(test)]
use table::ZoneTable;
pub(crate) use table::ZoneTables;

#[cfg(test)]
mod tests;

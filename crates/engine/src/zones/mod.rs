//! Zones of zoned block devices (`zonemode=zbd`): placement of writes and reads, and zone resets.
//!
//! A [`table::ZoneTable`] has the zones of one file or device, for all workers of a phase; a [`ZoneCursor`] is the
//! position of one worker in its tables, and adapts requests to the zones. Files and devices without zones are
//! divided into zones that start empty. Source of the rules: fio's manual, "zonemode", and observed behavior of fio.

mod cursor;
mod table;

pub(crate) use cursor::{ZoneCursor, ZonePlacement};
#[cfg(test)]
use table::ZoneTable;
pub(crate) use table::ZoneTables;

#[cfg(test)]
mod tests;

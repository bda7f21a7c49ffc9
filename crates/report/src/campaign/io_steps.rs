//! The path of an I/O, where none was traced.

use crate::document::{DocumentBlock, TableStyle, folded};
use crate::table::DataTable;
use crate::text::{self, IoSteps};

/// The path of an I/O by the design of Linux, and what each step can add; nothing of it is measured.
pub(super) fn block(on_vfat: bool) -> DocumentBlock {
    let IoSteps { title, head, steps } = text::io_steps(on_vfat);
    let rows = steps.map(|step| step.map(str::to_owned).to_vec());
    let table = DataTable::new(head.map(str::to_owned), rows);
    folded(title, vec![DocumentBlock::Table(TableStyle::Words, table)])
}

//! The section in the report of a campaign: why layers differ on all cards as a table, the layers of one card with
//! charts, the other cards in sentences.

use super::differences::SideDifference;
use super::section::{self, Depth};
use super::{PathPhase, PathSide, PathSubject, phases};
use crate::chart::{Chart, Section};
use crate::document::{DocumentBlock, TableStyle, folded, part};
use crate::number;
use crate::table::{self, DataTable};
use crate::text;
use hakaru_model::io_path::{
    DifferencePart, IoClass, OperationDifference, PathFigure, PathLimit, TimePart,
};

/// The traced layers of a card.
pub(crate) struct TracedCard<'a> {
    pub(crate) name: String,
    pub(crate) layers: Vec<PathSubject<'a>>,
}

/// Rows up to which a page does not collapse the table.
const MOST_ROWS: usize = 8;

/// The section of a campaign; the first card has the charts. Empty without traced runs.
pub(crate) fn blocks(cards: &[TracedCard<'_>]) -> Vec<DocumentBlock> {
    let Some((first, others)) = cards.split_first() else {
        return Vec::new();
    };
    let mut blocks = Vec::new();
    if let Some(table) = costs(cards) {
        let about = DocumentBlock::Quiet(text::path_costs_note().to_owned());
        let rows = table.rows.len();
        let table = DocumentBlock::Table(TableStyle::Numbers, table);
        match rows > MOST_ROWS {
            true => blocks.push(folded(text::path_costs_title(), vec![about, table])),
            false => {
                let title = DocumentBlock::Title(text::path_costs_title().to_owned());
                blocks.extend([title, about, table]);
            }
        }
    }
    if !others.is_empty() {
        blocks.push(DocumentBlock::Quiet(text::charts_of_card(&first.name)));
    }
    blocks.extend(section::of_phases(&first.layers, Depth::Whole));
    for card in others {
        let about = text::path_of_card(&card.name);
        blocks.push(folded(
            about,
            section::of_phases(&card.layers, Depth::Words),
        ));
    }
    part(Section::Path.title(), blocks)
}

/// The section in the short report of a campaign.
pub(crate) fn in_brief(cards: &[TracedCard<'_>]) -> Vec<DocumentBlock> {
    let table = costs(cards).map(|table| {
        let note = DocumentBlock::Quiet(text::path_costs_note().to_owned());
        let style = TableStyle::Numbers;
        [DocumentBlock::Table(style, table), note]
    });
    let blocks = table.into_iter().flatten().collect();
    part(text::path_costs_title(), blocks)
}

/// The charts of the section.
pub(crate) fn charts(cards: &[TracedCard<'_>]) -> Vec<Chart> {
    let first = cards.first();
    first
        .map(|card| section::charts(&card.layers))
        .unwrap_or_default()
}

/// Groups of parts that have a column each. Together they are the whole difference.
const COLUMNS: [CostColumn; 7] = [
    CostColumn::Data,
    CostColumn::OtherClasses,
    CostColumn::Flush,
    CostColumn::Waiting,
    CostColumn::Queue,
    CostColumn::WakeUp,
    CostColumn::Host,
];

/// A column of the table of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CostColumn {
    /// Data on the device.
    Data,
    /// Journal and metadata on the device.
    OtherClasses,
    /// Cache flushes on the device.
    Flush,
    /// Waiting behind requests of others.
    Waiting,
    /// Waiting in the queue while the device was idle.
    Queue,
    /// Completion and wake-up.
    WakeUp,
    /// File system, page cache and journal thread.
    Host,
}

impl CostColumn {
    fn of(part: DifferencePart) -> CostColumn {
        match part {
            DifferencePart::Device(IoClass::Data) => CostColumn::Data,
            DifferencePart::Device(IoClass::Flush) => CostColumn::Flush,
            DifferencePart::Device(_) => CostColumn::OtherClasses,
            DifferencePart::Behind(_) => CostColumn::Waiting,
            DifferencePart::Time(part) => match part {
                TimePart::Data => CostColumn::Data,
                TimePart::Metadata => CostColumn::OtherClasses,
                TimePart::Flush => CostColumn::Flush,
                TimePart::WaitingBehind => CostColumn::Waiting,
                TimePart::BlockQueue => CostColumn::Queue,
                TimePart::WakeUp => CostColumn::WakeUp,
                TimePart::JournalCommit | TimePart::FileSystem => CostColumn::Host,
            },
        }
    }

    /// The sum of the parts of a column; `None` if neither side has any.
    fn sum(self, of: &OperationDifference) -> Option<f64> {
        let parts = of
            .parts
            .iter()
            .filter(|part| CostColumn::of(part.part) == self);
        let times: Vec<f64> = parts.map(|part| part.time.value).collect();
        (!times.is_empty()).then(|| times.iter().sum())
    }
}

/// Why the layers of all cards differ from the reference layer: one row for each operation; `None` without any.
fn costs(cards: &[TracedCard<'_>]) -> Option<DataTable> {
    let mut rows = Vec::new();
    for card in cards {
        let lead = match cards.len() {
            1 => String::new(),
            _ => format!("{}, ", card.name),
        };
        for phase in phases(&card.layers) {
            for difference in &phase.differences {
                let operations = difference.operations().iter();
                rows.extend(operations.map(|of| cost_row(&lead, &phase, difference, of)));
            }
        }
    }
    let columns = COLUMNS.map(text::cost_column).map(str::to_owned);
    let [layer, operation, total, ratio] = text::cost_heads();
    let [device, limit] = text::cost_ends();
    let heads = [layer, operation, total, ratio].map(str::to_owned);
    let ends = [device, limit].map(str::to_owned);
    let table = DataTable::new(heads.into_iter().chain(columns).chain(ends), rows);
    Some(table.nonempty()?.without_empty_columns())
}

fn cost_row(
    card: &str,
    phase: &PathPhase<'_>,
    difference: &SideDifference<'_>,
    of: &OperationDifference,
) -> Vec<String> {
    let name = format!(
        "{card}{}",
        text::against(difference.other(), difference.base())
    );
    let operation = text::traced_operation(of.op, of.with_sync);
    let workload = match phase.name.contains(&operation) {
        true => phase.name.clone(),
        false => format!("{}: {operation}", phase.name),
    };
    let ratio = match of.base > 0.0 {
        true => format!("{}x", number::significant(of.other / of.base)),
        false => String::new(),
    };
    let mut sides = phase.sides.iter();
    let side = sides.find(|side| side.name == difference.other());
    let share = side.and_then(|side| side.figure(PathFigure::DeviceShare));
    let limit = |side: &PathSide<'_>| -> PathLimit { side.series.limit };
    let columns = COLUMNS.map(|column| column.sum(of).map_or_else(String::new, text::signed_nanos));
    let lead = [workload, text::signed_time(&of.total), ratio];
    let ends = [
        share.map_or_else(String::new, |share| {
            format!("{}%", number::percent(share.mean))
        }),
        side.map(limit)
            .map_or_else(String::new, |limit| text::path_limit_name(limit).to_owned()),
    ];
    table::row(name, lead.into_iter().chain(columns).chain(ends))
}

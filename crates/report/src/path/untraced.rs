//! What is known about the I/Os of runs without a trace: why there is none, and what the counters of the disk say.

use crate::document::DocumentBlock;
use crate::escape::plain;
use crate::{facts, naming, text};
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::Summary;

/// The blocks of a series without a traced run.
pub(super) fn blocks(summary: &Summary) -> Vec<DocumentBlock> {
    let is_reason =
        |caveat: &&Caveat| matches!(caveat, Caveat::NotTraced { .. } | Caveat::PathLost { .. });
    let mut blocks = match summary.caveats.iter().find(is_reason) {
        Some(because) => vec![DocumentBlock::Text(plain(&text::caveat(because)))],
        None => {
            let (nothing, help) = text::not_traced();
            vec![
                DocumentBlock::Text(nothing.to_owned()),
                DocumentBlock::Text(help.to_owned()),
            ]
        }
    };
    let counted = summary.phases.iter().filter_map(|phase| {
        let said = facts::amplification(phase)?;
        Some((naming::phase(summary, phase), said))
    });
    let counted: Vec<(String, String)> = counted.collect();
    if !counted.is_empty() {
        blocks.push(DocumentBlock::Title(text::from_counters().to_owned()));
        blocks.push(DocumentBlock::Facts(counted));
    }
    blocks
}

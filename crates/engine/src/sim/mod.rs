//! The simulated card: a price list that charges, on a clock that only it moves.

pub mod card;
mod media;
pub(crate) mod seat;

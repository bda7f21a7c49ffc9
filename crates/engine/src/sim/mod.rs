//! The simulated card: a price list that charges, on a clock that only it moves.

pub mod card;
pub(crate) mod seat;

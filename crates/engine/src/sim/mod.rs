//! The simulated card: a price list that charges, on a clock that only it moves.

pub(crate) mod backend;
pub mod card;
mod media;

//! Order of cards for uses and by price.

use crate::advice::Fitness;
use crate::figure::Figure;
use serde::{Deserialize, Serialize};

/// The cards in order for one use, best first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UseRanking {
    /// ID of the rule of the use.
    pub id: String,
    /// Title of the use.
    pub title: String,
    /// Layer through which the cards were measured.
    pub layer: String,
    /// Cards, best first; those that cannot be ranked come last.
    pub places: Vec<UsePlace>,
}

/// One card in the order for a use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsePlace {
    /// Index of the card.
    pub card: u32,
    /// Rank from 1; `None` if missing figures could change the verdict.
    pub rank: Option<u32>,
    /// Letters of the compact letter display. Two ranked cards share a letter exactly if their order is not proven.
    pub letters: String,
    /// Suitability, as in [`Advice::fitness`](crate::advice::Advice::fitness).
    pub fitness: Option<Fitness>,
    /// The figure that decides: the one furthest below, or least above, what "good" needs.
    pub figure: Option<Figure>,
    /// The deciding figure relative to what "good" needs; more is better.
    pub margin: Option<f64>,
}

/// The cards in order of a figure per unit of money, best first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValueRanking {
    /// The figure.
    pub figure: Figure,
    /// Layer through which the cards were measured.
    pub layer: String,
    /// Code of the currency; may be empty.
    pub currency: String,
    /// Amount of money that the values are for: 1, 10, 100 and so on.
    pub per: f64,
    /// Cards with a price in this currency, best first.
    pub places: Vec<ValuePlace>,
}

/// One card in the order of a figure per unit of money.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValuePlace {
    /// Index of the card.
    pub card: u32,
    /// Rank from 1.
    pub rank: u32,
    /// Letters of the compact letter display.
    pub letters: String,
    /// The figure per [`ValueRanking::per`] of money.
    pub value: f64,
    /// Its standard deviation over runs.
    pub deviation: Option<f64>,
}

//! Renders findings for people: SVG charts, HTML, Markdown, CSV, Parquet and text for terminals.
//!
//! Pure functions: the same findings give the same bytes. There is no clock, no file, no query and no statistics here;
//! what is shown was computed before, and what is not known is said to be unknown. Every text of a finding is foreign
//! (device models, labels, paths) and is escaped on its way to the page.

#![forbid(unsafe_code)]

mod campaign;
mod chart;
mod compare;
mod csv;
mod device;
mod document;
mod escape;
mod facts;
mod findings;
mod html;
mod ids;
mod markdown;
mod merged;
mod naming;
mod number;
mod references;
mod results;
mod run;
mod strips;
pub mod svg;
mod table;
mod terminal;
pub mod text;
pub mod time;
mod verified;

pub use campaign::{
    campaign_charts, campaign_csv, campaign_html, campaign_in_short, campaign_markdown,
    campaign_parquet, campaign_terminal,
};
pub use chart::{Chart, Plot, Section, charts};
pub use compare::{comparison_csv, comparison_html, comparison_markdown, comparison_terminal};
pub use csv::{csv, csv_with};
pub use device::{Listed, TargetInfo, card_terminal, device_terminal, disks_terminal};
pub use escape::plain;
pub use references::shelf_terminal;
pub use run::{html, html_with, markdown, markdown_with, terminal, terminal_with};
pub use table::DataTable;
pub use terminal::hanging as wrapped;
pub use verified::{
    verification_csv, verification_html, verification_markdown, verification_terminal,
};

//! Renders findings as SVG charts, HTML, Markdown, CSV, Parquet and text for terminals.
//!
//! All functions are pure: the same findings give the same bytes. This crate reads no clock, file or database and
//! computes no statistics; unknown values are shown as unknown. All texts in findings (device models, labels, paths)
//! are untrusted and are escaped.

#![forbid(unsafe_code)]

// Tests of texts share the rules for sentences with the tests of this crate from outside.
#[cfg(test)]
extern crate self as hakaru_report;

mod anatomy;
mod answer;
mod campaign;
mod chart;
mod compare;
mod csv;
mod dataset;
mod device;
mod document;
mod escape;
mod facts;
mod findings;
mod history;
mod html;
mod ids;
mod list;
mod markdown;
mod matrix;
mod merged;
mod naming;
mod number;
mod parquet;
mod path;
mod png;
mod rate_card;
mod references;
mod results;
mod run;
mod strips;
mod svg;
mod table;
mod terminal;
pub mod text;
pub mod time;
mod verified;
mod workload;

pub use anatomy::{
    anatomy_charts, anatomy_html, anatomy_markdown, anatomy_terminal, predictions_html,
    predictions_terminal,
};
pub use campaign::{
    campaign_chart_source, campaign_charts, campaign_csv, campaign_html, campaign_in_short,
    campaign_markdown, campaign_parquet, campaign_terminal, ranking_terminal,
};
pub use chart::{Chart, ChartStyle, Section, chart_source, charts, comparison_charts};
pub use compare::{
    PairReport, comparison_csv, comparison_html, comparison_html_with, comparison_markdown,
    comparison_markdown_with, comparison_terminal,
};
pub use csv::{csv, csv_with};
pub use dataset::{Dataset, DatasetFile};
pub use device::{Listed, TargetInfo, card_terminal, device_html, device_terminal, disks_terminal};
pub use escape::{columns_of, markup, padded, plain};
pub use history::{history_html, history_markdown, history_terminal};
pub use html::{EmbeddedPage, embedded, stylesheet};
pub use ids::origin_id;
pub use list::{
    ListedAnatomy, ListedRate, ListedSeries, ListedVerification, list_terminal, listed_finding,
    listed_result,
};
pub use naming::{caveat_of, foreign_workloads, workload_words};
pub use path::{
    AddressPage, AddressWindow, path_addresses, path_charts, path_html, path_markdown,
    path_terminal,
};
pub use png::{ChartFonts, PngError, PngPicture};
pub use rate_card::{card_markdown, card_png, card_svg, card_text};
pub use references::{references_html, references_terminal};
pub use run::{html, html_with, markdown, markdown_with, terminal, terminal_with};
pub use svg::ChartTheme;

pub use terminal::wrapped;
pub use text::{Language, with_language};
pub use verified::{
    verification_charts, verification_csv, verification_html, verification_markdown,
    verification_terminal, verified_sentence, verified_target,
};

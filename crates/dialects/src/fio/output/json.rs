//! The JSON outputs.

use super::view::RunView;

/// The results as `--output-format=json`, or `json+` with the bins of the histograms. Ends with a newline.
pub fn json(view: &RunView<'_>, plus: bool) -> String {
    let _ = plus;
    format!("{{\n  \"fio version\" : \"{}\"\n}}\n", view.version)
}

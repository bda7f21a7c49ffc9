//! Saves the charts of a report as files, each with its data.

use crate::exit::{NamedPath, usage};
use crate::{fonts, output};
use anyhow::{Result, anyhow};
use clap::ValueEnum;
use hakaru_report::text::{self, MessagePrefix};
use hakaru_report::{Chart, ChartFonts, ChartStyle, ChartTheme, PngError};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Options for saved charts.
#[derive(Debug, clap::Args)]
pub(crate) struct ChartArgs {
    /// Save each chart in this directory, with its data as CSV
    #[arg(long, value_name = "DIR")]
    pub(crate) charts: Option<PathBuf>,
    /// Color theme of the saved charts; `auto` follows the system of the reader (SVG only)
    #[arg(
        long,
        value_name = "THEME",
        default_value = "light",
        requires = "charts"
    )]
    theme: ThemeArg,
    /// Width of the saved charts in CSS pixels; a PNG file has twice as many pixels
    #[arg(long, value_name = "PIXELS", default_value_t = WIDTH, requires = "charts",
        value_parser = clap::value_parser!(u32).range(280..=4000))]
    width: u32,
    /// Title of the saved charts instead of the finding, which then begins the subtitle
    #[arg(long, value_name = "TEXT", requires = "charts")]
    title: Option<String>,
}

/// Width of a chart in an article.
const WIDTH: u32 = 720;

/// File format of saved charts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChartFormat {
    /// Vector graphics
    #[default]
    Svg,
    /// Pixels, twice the width
    Png,
}

impl ChartFormat {
    /// Extension of the files.
    fn extension(self) -> &'static str {
        match self {
            ChartFormat::Svg => "svg",
            ChartFormat::Png => "png",
        }
    }
}

/// Color theme on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ThemeArg {
    Light,
    Dark,
    Auto,
}

impl ChartArgs {
    /// Saves the charts if a directory is given; `source` is their source line.
    ///
    /// # Errors
    /// If the directory or a file cannot be written, or PNG files need a font that is not there.
    pub(crate) fn save(
        &self,
        charts: &[Chart],
        format: Option<ChartFormat>,
        source: String,
    ) -> Result<()> {
        let Some(directory) = &self.charts else {
            return match format {
                Some(format) => Err(needs_directory(format)),
                None => Ok(()),
            };
        };
        if format == Some(ChartFormat::Png) && self.theme == ThemeArg::Auto {
            return Err(one_theme());
        }
        let style = ChartStyle {
            width: self.width,
            theme: match self.theme {
                ThemeArg::Light => ChartTheme::Light,
                ThemeArg::Dark => ChartTheme::Dark,
                ThemeArg::Auto => ChartTheme::Auto,
            },
            title: self.title.clone(),
            source,
        };
        let files = ChartFiles {
            directory,
            style,
            fonts: match format {
                Some(ChartFormat::Png) => Some(fonts::for_charts()),
                _ => None,
            },
        };
        files.write(charts)
    }

    /// The directory as a page links it, and the page with links to the saved files.
    pub(crate) fn linked(&self, page: Option<&Path>) -> Option<String> {
        let directory = self.charts.as_deref()?;
        Some(seen_from(directory, page))
    }
}

/// Error for a chart format without a directory.
fn needs_directory(format: ChartFormat) -> anyhow::Error {
    anyhow!(
        both!("--format {} is for saved charts; help: name their directory with --charts DIR", "--format {}は保存するグラフの形式です; help: --charts DIRで保存先を指定してください"; format.extension())
    )
}

/// Error for a PNG file that shall follow the system of its reader.
fn one_theme() -> anyhow::Error {
    usage(both!(
        "--theme auto is for SVG files: a PNG file cannot follow the system of its reader; help: use --theme light or --theme dark",
        "--theme autoはSVGだけで使えます（PNGは閲覧環境に合わせて変わりません）; help: --theme lightまたは--theme darkを指定してください"
    ))
}

/// Replaces the extension in the links of a Markdown page to saved charts.
pub(crate) fn relinked(page: String, charts: &[Chart], format: Option<ChartFormat>) -> String {
    match format {
        Some(ChartFormat::Png) => charts.iter().fold(page, |page, chart| {
            let link = |extension: &str| format!("/{}.{extension}>)", chart.name);
            page.replace(&link("svg"), &link("png"))
        }),
        _ => page,
    }
}

/// Number of charts and their directory, for a command that saves nothing else.
pub(crate) fn saved(charts: &[Chart], directory: &Path) -> String {
    let count = super::counted(charts.len(), super::CountedNoun::Chart);
    format!("{count}: {}\n", directory.display())
}

/// Files of charts.
struct ChartFiles<'a> {
    directory: &'a Path,
    style: ChartStyle,
    /// Fonts for PNG files; `None` for SVG files.
    fonts: Option<ChartFonts>,
}

impl ChartFiles<'_> {
    fn write(&self, charts: &[Chart]) -> Result<()> {
        let failed = || both!("cannot write the charts to {}; help: name another directory with --charts", "グラフを{}に書き込めません; help: --chartsで別のディレクトリを指定してください"; self.directory.display());
        if self.fonts.as_ref().is_some_and(ChartFonts::is_empty) {
            return Err(no_font());
        }
        std::fs::create_dir_all(self.directory).named(failed)?;
        let mut missing = BTreeSet::new();
        for chart in charts {
            let write = |extension: &str, content: &[u8]| {
                let file = self.directory.join(format!("{}.{extension}", chart.name));
                output::write(&file, content).named(failed)
            };
            match &self.fonts {
                None => write("svg", chart.svg_with(&self.style).as_bytes())?,
                Some(fonts) => {
                    let picture = chart
                        .png(&self.style, fonts)
                        .map_err(|error| not_drawn(&chart.name, error))?;
                    missing.extend(picture.missing);
                    write("png", &picture.data)?;
                }
            }
            write("csv", chart.csv().as_bytes())?;
        }
        note_missing(&missing);
        Ok(())
    }
}

/// Error where no font is installed.
fn no_font() -> anyhow::Error {
    anyhow!(both!(
        "cannot draw PNG charts: no font found; help: install one, such as fonts-dejavu-core \
         (fonts-noto-cjk for Japanese), or use --format svg",
        "PNGのグラフを描画できません（フォントなし）; help: fonts-noto-cjkなどをインストールするか、\
         --format svgを使ってください"
    ))
}

/// Prints a note about characters that no font has.
pub(crate) fn note_missing(missing: &BTreeSet<char>) {
    if missing.is_empty() {
        return;
    }
    let shown: String = missing.iter().take(10).collect();
    let note = both!(
        "no font has the characters {shown}; help: install fonts-noto-cjk, or use --format svg",
        "文字{shown}を持つフォントがありません; help: fonts-noto-cjkをインストールするか、--format svgを使ってください"
    );
    let lead = text::prefix(MessagePrefix::Note);
    anstream::eprintln!("{lead}: {}", hakaru_report::plain(&note));
}

/// Error for a picture that cannot be drawn.
pub(crate) fn not_drawn(name: &str, error: PngError) -> anyhow::Error {
    match error {
        PngError::NoFont => no_font(),
        PngError::TooLarge { .. } => anyhow!(
            both!("cannot draw {}.png: {error}; help: use a smaller --width, or --format svg", "{}.pngを描画できません（{error}）; help: --widthを小さくするか、--format svgを使ってください"; name)
        ),
        PngError::Render => anyhow!(
            both!("cannot draw {}.png: {error}; help: use --format svg", "{}.pngを描画できません（{error}）; help: --format svgを使ってください"; name)
        ),
    }
}

/// Returns the path by which a page links to the directory of its charts: relative to the page if the directory is
/// below it, otherwise absolute.
fn seen_from(charts: &Path, page: Option<&Path>) -> String {
    let directory = page.and_then(Path::parent).unwrap_or(Path::new(""));
    let near = charts.strip_prefix(directory).map(Path::to_owned);
    let path =
        near.unwrap_or_else(|_| std::path::absolute(charts).unwrap_or_else(|_| charts.to_owned()));
    path.display().to_string()
}

//! Resolves the layers of a campaign file.

use super::super::digest::AuthoredEntry;
use super::super::file::{FileError, LayerEntry};
use super::super::spec::{Card, FsSpec, Layer, LayerKind};
use super::entries::{authored, not_empty, unique};
use hakaru_device::prepare::FsType;
use hakaru_report::both;

/// Returns the layers of the file, and the implied layers that its cards need.
pub(super) fn layers(
    entries: &[LayerEntry],
    written: &toml::Table,
    cards: &[Card],
) -> Result<Vec<Layer>, FileError> {
    let mut layers = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        layers.push(layer(entry, authored(written, "layer", index, &["name"]))?);
    }
    let names = layers.iter().map(|layer| layer.name.as_str());
    let spans = entries
        .iter()
        .map(|e| Some(e.name.as_ref().unwrap_or(&e.fs).span()));
    unique(names.zip(spans), |name| {
        both!(
            "duplicate layer \"{name}\": their results could not be distinguished",
            "レイヤ「{name}」が重複しています（結果を区別できません）"
        )
    })?;
    add_implied(&mut layers, cards);
    Ok(layers)
}

/// Adds the layers that the cards need and the file does not name.
fn add_implied(layers: &mut Vec<Layer>, cards: &[Card]) {
    // A card in a reader gets an implied raw layer, which erases it, only if the file names no layer.
    let raw = match layers.is_empty() {
        true => LayerKind::Raw,
        false => LayerKind::Simulated,
    };
    for (name, through) in [("as-is", LayerKind::AsIs), ("raw", raw)] {
        let layer = implied(name, through, layers);
        let lacking =
            |card: &Card| layer.suits(card) && !layers.iter().any(|known| known.suits(card));
        if cards.iter().any(lacking) {
            layers.push(layer);
        }
    }
}

/// Returns a layer that the file does not name, under a name that no other layer has.
fn implied(name: &str, through: LayerKind, layers: &[Layer]) -> Layer {
    let name = match layers.iter().any(|known| known.name == name) {
        true => format!("{name} (implied)"),
        false => name.to_owned(),
    };
    Layer {
        name,
        through,
        size: None,
        authored: AuthoredEntry::default(),
    }
}

fn layer(entry: &LayerEntry, authored: AuthoredEntry) -> Result<Layer, FileError> {
    not_empty(entry.name.as_ref(), "name")?;
    let name = entry.name.as_ref().unwrap_or(&entry.fs);
    Ok(Layer {
        name: name.get_ref().clone(),
        through: kind(entry)?,
        size: entry.size.map(|size| size.0),
        authored,
    })
}

/// Returns the kind of a layer; keys that have no effect on it are errors.
fn kind(entry: &LayerEntry) -> Result<LayerKind, FileError> {
    let LayerEntry {
        fs,
        name: _,
        mkfs,
        mount,
        discard,
        partition,
        size: _,
    } = entry;
    let plain = mkfs.is_empty() && mount.is_empty() && !discard && partition.is_none();
    let message = match (fs.get_ref().as_str(), FsType::parse(fs.get_ref())) {
        (name @ ("raw" | "as-is"), _) if !plain => both!(
            "{name} takes no mkfs, mount, discard or partition: no file system is created there",
            "{name}にmkfs、mount、discard、partitionは指定できません（ファイルシステムを作成しないため）"
        ),
        (name, Some(fs)) if *discard && !fs.can_discard() => both!(
            "mkfs.{name} cannot discard; help: remove discard, or discard the whole card with \
            [preparation]",
            "mkfs.{name}はdiscardできません; help: discardを省くか、[preparation]でカード全体をdiscardしてください"
        ),
        ("raw", _) => return Ok(LayerKind::Raw),
        ("as-is", _) => return Ok(LayerKind::AsIs),
        (_, Some(fs)) => {
            return Ok(LayerKind::Fs(FsSpec {
                fs,
                mkfs: mkfs.clone(),
                mount: mount.clone(),
                discard: *discard,
                partition: *partition,
            }));
        }
        (other, None) => {
            let known = FsType::ALL.map(FsType::name).join(", ");
            both!(
                "unknown fs = \"{other}\": expected raw, as-is, {known}",
                "fs = \"{other}\"は不明です（raw、as-is、{known}）"
            )
        }
    };
    Err(FileError::at(fs, message))
}

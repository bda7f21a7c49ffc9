//! Attributes of serde, and documentation comments.

use anyhow::{Result, bail};
use syn::{Attribute, Expr, Lit, Meta};

/// What serde is told about a type, variant or field. Attributes that concern only reading are left out.
#[derive(Default)]
pub(super) struct SerdeAttributes {
    pub(super) rename: Option<String>,
    pub(super) rename_all: Option<String>,
    pub(super) tag: Option<String>,
    pub(super) content: Option<String>,
    pub(super) untagged: bool,
    pub(super) transparent: bool,
    pub(super) flatten: bool,
    pub(super) skip: bool,
    /// Whether a field may be missing.
    pub(super) may_be_missing: bool,
    /// Module that writes the field.
    pub(super) with: Option<String>,
    /// Type into which a value is converted before it is written.
    pub(super) into: Option<String>,
}

impl SerdeAttributes {
    /// Reads the attributes.
    ///
    /// # Errors
    /// If there is one that this generator does not know.
    pub(super) fn read(attributes: &[Attribute]) -> Result<SerdeAttributes> {
        let mut read = SerdeAttributes::default();
        let mut unknown = None;
        for attribute in attributes {
            if !attribute.path().is_ident("serde") {
                continue;
            }
            attribute.parse_nested_meta(|meta| {
                let value = match meta.input.peek(syn::Token![=]) {
                    true => Some(meta.value()?.parse::<syn::LitStr>()?.value()),
                    false => None,
                };
                let name = meta.path.get_ident().map(ToString::to_string);
                let name = name.unwrap_or_default();
                if !read.take(&name, value) {
                    unknown = Some(name);
                }
                Ok(())
            })?;
        }
        match unknown {
            Some(name) => bail!("the attribute serde({name}) is not known"),
            None => Ok(read),
        }
    }

    fn take(&mut self, name: &str, value: Option<String>) -> bool {
        match name {
            "rename" => self.rename = value,
            "rename_all" => self.rename_all = value,
            "tag" => self.tag = value,
            "content" => self.content = value,
            "untagged" => self.untagged = true,
            "transparent" => self.transparent = true,
            "flatten" => self.flatten = true,
            "skip" | "skip_serializing" => self.skip = true,
            "skip_serializing_if" => self.may_be_missing = true,
            "with" | "serialize_with" => self.with = value,
            "into" => self.into = value,
            "default"
            | "alias"
            | "borrow"
            | "from"
            | "try_from"
            | "deny_unknown_fields"
            | "deserialize_with"
            | "bound" => {}
            _ => return false,
        }
        true
    }

    /// Returns the name of a field.
    ///
    /// # Errors
    /// If the case is not known.
    pub(super) fn field(&self, case: Option<&str>, name: &str) -> Result<String> {
        let name = name.trim_start_matches("r#");
        match (&self.rename, case) {
            (Some(renamed), _) => Ok(renamed.clone()),
            (None, None | Some("snake_case")) => Ok(name.to_owned()),
            (None, Some("kebab-case")) => Ok(name.replace('_', "-")),
            (None, Some(other)) => bail!("the case {other} is not known"),
        }
    }

    /// Returns the name of a variant.
    ///
    /// # Errors
    /// If the case is not known.
    pub(super) fn variant(&self, case: Option<&str>, name: &str) -> Result<String> {
        match (&self.rename, case) {
            (Some(renamed), _) => Ok(renamed.clone()),
            (None, None) => Ok(name.to_owned()),
            (None, Some("lowercase")) => Ok(name.to_ascii_lowercase()),
            (None, Some("snake_case")) => Ok(separated(name, '_')),
            (None, Some("kebab-case")) => Ok(separated(name, '-')),
            (None, Some(other)) => bail!("the case {other} is not known"),
        }
    }
}

/// Converts a name in camel case as serde does: a separator before each capital letter but the first.
fn separated(name: &str, separator: char) -> String {
    let mut out = String::new();
    for (at, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && at > 0 {
            out.push(separator);
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// Returns the first paragraph of a documentation comment without links; empty without a comment.
pub(super) fn description(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes {
        if let Meta::NameValue(meta) = &attribute.meta
            && attribute.path().is_ident("doc")
            && let Expr::Lit(value) = &meta.value
            && let Lit::Str(text) = &value.lit
        {
            lines.push(text.value().trim().to_owned());
        }
    }
    let first = lines.iter().take_while(|line| !line.is_empty());
    without_links(&first.map(String::as_str).collect::<Vec<_>>().join(" "))
}

/// Replaces Markdown links by their texts.
fn without_links(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((name, after)) = after.split_once("`]") else {
            break;
        };
        out += &format!("{before}`{name}`");
        let target = after.strip_prefix('(').and_then(|of| of.split_once(')'));
        rest = target.map_or(after, |(_, after)| after);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_serde_writes() {
        let plain = SerdeAttributes::default();
        let variant = |case, name| plain.variant(Some(case), name).unwrap();
        assert_eq!(variant("snake_case", "IoUring"), "io_uring");
        assert_eq!(variant("kebab-case", "Sha3At"), "sha3-at");
        assert_eq!(variant("lowercase", "IoUring"), "iouring");
        assert!(plain.variant(Some("SHOUTING"), "A").is_err());
        assert_eq!(plain.field(None, "r#type").unwrap(), "type");
    }

    #[test]
    fn descriptions_are_first_paragraphs_without_links() {
        let source =
            "/// As [`A::b`](crate::A::b) and [`C`],\n/// in ns.\n///\n/// More.\nstruct S;";
        let item: syn::ItemStruct = syn::parse_str(source).unwrap();
        assert_eq!(description(&item.attrs), "As `A::b` and `C`, in ns.");
    }

    #[test]
    fn unknown_attributes_are_errors() {
        let source = "#[serde(remote = \"Other\")]\nstruct S;";
        let item: syn::ItemStruct = syn::parse_str(source).unwrap();
        assert!(SerdeAttributes::read(&item.attrs).is_err());
    }
}

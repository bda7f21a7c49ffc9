//! Text helpers of the generated pages.

/// Capitalizes the first letter.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + chars.as_str()
    })
}

/// Escapes text for roff. Each line begins with a word, so none begins with a dot or an apostrophe.
pub(crate) fn roff(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}

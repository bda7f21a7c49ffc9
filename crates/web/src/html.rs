//! HTML that is written part by part: markup is text of this program, and every value is escaped.

use std::fmt::Display;

/// Markup in which all values are escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Html(String);

impl Html {
    pub(crate) fn new() -> Html {
        Html::default()
    }

    /// Appends markup of this program.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    /// Appends a value as text, in an element or in a quoted attribute.
    pub(crate) fn text(&mut self, value: &(impl Display + ?Sized)) -> &mut Html {
        self.0 += &hakaru_report::markup(&value.to_string());
        self
    }

    /// Appends other markup.
    pub(crate) fn push(&mut self, other: &Html) -> &mut Html {
        self.0.push_str(&other.0);
        self
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// Appends parts to [`Html`]: literals are markup, and values in parentheses are escaped.
macro_rules! put {
    (@part $html:expr, ($value:expr)) => { $html.text(&$value) };
    (@part $html:expr, $markup:literal) => { $html.raw($markup) };
    ($html:expr, $($part:tt),+ $(,)?) => { $( put!(@part $html, $part); )+ };
}

/// Encodes a value for a query or a path segment of a link.
pub(crate) fn in_link(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            other => out += &format!("%{other:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_and_markup_is_not() {
        let mut html = Html::new();
        let name = "<script>alert('x')</script>";
        put!(html, "<p title=\"", (name), "\">", (name), (12), "</p>");
        assert_eq!(
            html.as_str(),
            "<p title=\"&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;\">\
             &lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;12</p>"
        );
    }

    #[test]
    fn links_contain_no_reserved_bytes() {
        assert_eq!(
            in_link("a/../b?c=d&e #日"),
            "a%2F..%2Fb%3Fc%3Dd%26e%20%23%E6%97%A5"
        );
    }
}

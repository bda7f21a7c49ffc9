//! Messages of commands and plans in every language, side by side.

/// Formats a message in the language of the thread: `both!("cannot read {name}", "{name}を読み込めません")`.
///
/// A message without its Japanese text does not compile. Arguments that are not names follow both texts, which refer
/// to them by position: `both!("{0} of {1}", "{1}中{0}"; done, all)`.
#[macro_export]
macro_rules! both {
    ($english:literal, $japanese:literal $(; $($arg:expr),+ $(,)?)?) => {
        match $crate::text::language() {
            $crate::Language::English => format!($english $(, $($arg),+)?),
            $crate::Language::Japanese => format!($japanese $(, $($arg),+)?),
        }
    };
}

//! Every text, once: its signature, and the choice of the language.
//!
//! To add a text, add its line here, and a function of the same name to a file of `en` and to one of `ja`. A text that
//! one of them lacks does not compile.

/// Defines functions that call the function of the same name in the language of the thread.
macro_rules! texts {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $out:ty;)*) => {
        $(
            $(#[$meta])*
            $vis fn $name($($arg: $type),*) -> $out {
                match language() {
                    Language::English => en::$name($($arg),*),
                    Language::Japanese => ja::$name($($arg),*),
                }
            }
        )*
    };
}

mod anatomy;
mod commands;
mod hosts;
mod pairs;
mod paths;
mod plan;
mod results;
mod rounds;
mod tables;

pub use anatomy::*;
pub use commands::*;
pub(crate) use hosts::*;
pub(crate) use pairs::*;
pub(crate) use paths::*;
pub use plan::*;
pub use results::*;
pub(crate) use rounds::*;
pub(crate) use tables::*;

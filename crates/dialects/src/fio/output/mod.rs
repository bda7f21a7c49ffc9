//! The outputs of fio: text, JSON and terse.

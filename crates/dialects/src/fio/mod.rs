//! The fio dialect: its command line and job files in, its outputs out.

pub mod output;

//! I/O operations, and values per operation.

use serde::{Deserialize, Serialize};

/// Operation of an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Read.
    Read = 0,
    /// Write.
    Write = 1,
    /// Discard.
    Trim = 2,
}

impl Op {
    /// All operations, in the order of results.
    pub const ALL: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

    /// Returns the name: `read`, `write`, `trim`.
    pub fn name(self) -> &'static str {
        ["read", "write", "trim"][self as usize]
    }
}

/// One value for each [`Op`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PerOp<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

impl<T> PerOp<T> {
    /// Returns the same value for each operation.
    pub fn all(value: T) -> PerOp<T>
    where
        T: Clone,
    {
        PerOp {
            read: value.clone(),
            write: value.clone(),
            trim: value,
        }
    }

    /// Applies a function to each value.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> PerOp<U> {
        PerOp {
            read: f(&self.read),
            write: f(&self.write),
            trim: f(&self.trim),
        }
    }

    /// Iterates over the values with their operations.
    pub fn iter(&self) -> impl Iterator<Item = (Op, &T)> {
        [
            (Op::Read, &self.read),
            (Op::Write, &self.write),
            (Op::Trim, &self.trim),
        ]
        .into_iter()
    }
}

impl<T> std::ops::Index<Op> for PerOp<T> {
    type Output = T;
    #[inline]
    fn index(&self, op: Op) -> &T {
        match op {
            Op::Read => &self.read,
            Op::Write => &self.write,
            Op::Trim => &self.trim,
        }
    }
}

impl<T> std::ops::IndexMut<Op> for PerOp<T> {
    #[inline]
    fn index_mut(&mut self, op: Op) -> &mut T {
        match op {
            Op::Read => &mut self.read,
            Op::Write => &mut self.write,
            Op::Trim => &mut self.trim,
        }
    }
}

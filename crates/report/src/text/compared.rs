//! What a report compares: cards, or sets of results that the user chose. The nouns of its sentences follow it.

use std::cell::Cell;

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ComparedThing {
    /// Cards, disks and other storage.
    #[default]
    Cards,
    /// Cards that were measured on several hosts, each on each.
    CardHostPairs,
    /// Sets of results, which may be of one card.
    Sets,
}

thread_local! {
    static CURRENT: Cell<ComparedThing> = const { Cell::new(ComparedThing::Cards) };
}

/// Restores the previous thing, also after a panic.
struct RestoreComparedThing(ComparedThing);

impl Drop for RestoreComparedThing {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// Runs `print` with texts about these things on this thread.
pub(crate) fn with_compared<T>(thing: ComparedThing, print: impl FnOnce() -> T) -> T {
    let _restore = RestoreComparedThing(CURRENT.replace(thing));
    print()
}

/// What the texts of this thread are about; cards unless inside [`with_compared`].
pub(in crate::text) fn compared() -> ComparedThing {
    CURRENT.get()
}

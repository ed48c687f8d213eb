//! [`OnceList`]: a list that only grows.
//!
//! It can be read without a lock, and lends its items for as long as it lives. It suits a few items
//! that are made once and looked up often: a lookup walks the list, and items are never removed.

use std::{fmt, iter::successors, sync::OnceLock};

/// A list that only grows; see the module documentation.
pub struct OnceList<T>(OnceLock<Box<Node<T>>>);

struct Node<T> {
    item: T,
    rest: OnceList<T>,
}

impl<T> OnceList<T> {
    /// Creates an empty list.
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Returns the items in the order in which they were added.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        successors(self.0.get(), |node| node.rest.0.get()).map(|node| &node.item)
    }

    /// Returns the first item for which `is_wanted` returns true. If there is none, appends the
    /// item that `make` returns. If several threads call this at once, one of them calls `make` and
    /// the others wait. `make` must not use this list.
    pub fn find_or_add(&self, is_wanted: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> &T {
        let mut make = Some(make);
        let mut list = self;
        loop {
            let node = list.0.get_or_init(|| {
                let Some(make) = make.take() else {
                    unreachable!("`make` is taken only by the turn that returns its item")
                };
                Box::new(Node { item: make(), rest: Self::new() })
            });
            if make.is_none() || is_wanted(&node.item) {
                return &node.item;
            }
            list = &node.rest;
        }
    }
}

impl<T> Default for OnceList<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceList<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn items_stay_in_the_order_they_came() {
        let list = OnceList::new();
        assert_eq!(list.iter().next(), None::<&i32>);
        let first = list.find_or_add(|&item| item == 1, || 1);
        for item in [2, 3, 1, 2] {
            assert_eq!(*list.find_or_add(|&known| known == item, || item), item);
        }
        assert_eq!((*first, format!("{list:?}")), (1, "[1, 2, 3]".to_owned()));
    }

    #[test]
    fn threads_that_want_the_same_share_it() {
        let (list, made) = (OnceList::new(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for item in 0..8 {
                        let make = || {
                            made.fetch_add(1, Ordering::Relaxed);
                            item
                        };
                        assert_eq!(*list.find_or_add(|&known| known == item, make), item);
                    }
                });
            }
        });
        assert_eq!((made.into_inner(), list.iter().count()), (8, 8));
    }
}

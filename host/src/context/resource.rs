//! Resources, which outlive a kernel: shared by name or by type within a request, or by type within
//! a host.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::Arc,
};

use parking_lot::Mutex;

use crate::{
    diagnostic::{Diagnostic, ErrorCode},
    once_list::OnceList,
};

type Shared = Arc<dyn Any + Send + Sync>;

/// Resources that kernels of one or several requests share: any number by name, and one of each
/// type, which is found without a lock.
#[derive(Default)]
pub struct ResourceContext {
    resources: Mutex<HashMap<String, Shared>>,
    only: OnceList<Box<dyn Any + Send + Sync>>,
}

impl ResourceContext {
    /// Creates an empty context.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the resource with this name.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] if there is none, [`ErrorCode::InvalidArgument`] if it has another
    /// type.
    pub fn get<T: Any + Send + Sync>(&self, name: &str) -> Result<Arc<T>, Diagnostic> {
        let found = self.resources.lock().get(name).cloned();
        let shared = found
            .ok_or_else(|| Diagnostic::new(ErrorCode::NotFound, format!("no resource named '{name}'")))?;
        downcast(shared, name)
    }

    /// Returns the resource with this name. If there is none, `create` makes it; it must not use
    /// this context.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidArgument`] if it has another type.
    pub fn get_or_create<T: Any + Send + Sync>(
        &self,
        name: &str,
        create: impl FnOnce() -> T,
    ) -> Result<Arc<T>, Diagnostic> {
        let mut resources = self.resources.lock();
        let shared = resources.entry(name.to_owned()).or_insert_with(|| Arc::new(create())).clone();
        drop(resources);
        downcast(shared, name)
    }

    /// Stores a resource, replacing an earlier one with this name.
    pub fn insert<T: Any + Send + Sync>(&self, name: impl Into<String>, resource: T) {
        let replaced = self.resources.lock().insert(name.into(), Arc::new(resource));
        // Dropped outside the lock, because a resource's destructor may use the context.
        drop(replaced);
    }

    /// Returns the one unnamed resource of a type, if there is one. For resources that kernels look
    /// up at every call.
    #[inline]
    pub fn only<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.only.iter().find_map(|resource| resource.downcast_ref())
    }

    /// Returns the one unnamed resource of a type. If there is none, `create` makes it; it must not
    /// use this context. The resource lives as long as this context.
    pub fn only_or_create<T: Any + Send + Sync>(&self, create: impl FnOnce() -> T) -> &T {
        let only = self.only.find_or_add(|resource| resource.is::<T>(), || Box::new(create()));
        let Some(only) = only.downcast_ref() else { unreachable!("entries are found by their type") };
        only
    }

    /// Removes a resource. Returns whether there was one.
    pub fn remove(&self, name: &str) -> bool {
        let removed = self.resources.lock().remove(name);
        removed.is_some()
    }
}

fn downcast<T: Any + Send + Sync>(shared: Shared, name: &str) -> Result<Arc<T>, Diagnostic> {
    shared
        .downcast::<T>()
        .map_err(|_| Diagnostic::invalid_argument(format!("the resource named '{name}' has another type")))
}

impl fmt::Debug for ResourceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.resources.lock().keys()).finish()
    }
}

/// One instance of each type per host, such as thread pools, device tables and caches. They are
/// dropped in reverse order of creation, because a later one may use an earlier one.
#[derive(Default)]
pub(crate) struct SharedContexts(Mutex<Vec<(TypeId, Shared)>>);

impl SharedContexts {
    pub(crate) fn get_or_create<T: Any + Send + Sync>(&self, create: impl FnOnce() -> T) -> Arc<T> {
        let mut contexts = self.0.lock();
        find(&contexts).unwrap_or_else(|| {
            let shared = Arc::new(create());
            contexts.push((TypeId::of::<T>(), shared.clone()));
            shared
        })
    }

    pub(crate) fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        find(&self.0.lock())
    }
}

fn find<T: Any + Send + Sync>(contexts: &[(TypeId, Shared)]) -> Option<Arc<T>> {
    let (_, shared) = contexts.iter().find(|(of, _)| *of == TypeId::of::<T>())?;
    shared.clone().downcast().ok()
}

impl Drop for SharedContexts {
    fn drop(&mut self) {
        let contexts = self.0.get_mut();
        while let Some(last) = contexts.pop() {
            drop(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_found_by_name_and_type() {
        let context = ResourceContext::new();
        assert_eq!(context.get::<i32>("a").unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(*context.get_or_create("a", || 1i32).unwrap(), 1);
        assert_eq!(*context.get_or_create("a", || 2i32).unwrap(), 1);
        assert_eq!(context.get::<u8>("a").unwrap_err().code, ErrorCode::InvalidArgument);
        assert!(context.remove("a"));
        assert!(!context.remove("a"));
    }

    #[test]
    fn one_resource_of_a_type_needs_no_name() {
        let context = ResourceContext::new();
        assert_eq!(context.only::<i32>(), None);
        assert_eq!((context.only_or_create(|| 1i32), context.only_or_create(|| 2u8)), (&1, &2));
        assert_eq!((context.only_or_create(|| 3i32), context.only::<u8>()), (&1, Some(&2)));
    }

    #[test]
    fn shared_contexts_are_made_once() {
        let shared = SharedContexts::default();
        assert_eq!(*shared.get_or_create(|| 1u8), 1);
        assert_eq!(*shared.get_or_create(|| 2u8), 1);
    }

    #[test]
    fn shared_contexts_go_the_last_first() {
        struct Told<const NUMBER: u8>(Arc<Mutex<Vec<u8>>>);
        impl<const NUMBER: u8> Drop for Told<NUMBER> {
            fn drop(&mut self) {
                self.0.lock().push(NUMBER);
            }
        }
        let gone = Arc::<Mutex<Vec<u8>>>::default();
        let shared = SharedContexts::default();
        shared.get_or_create(|| Told::<1>(gone.clone()));
        shared.get_or_create(|| Told::<2>(gone.clone()));
        shared.get_or_create(|| Told::<3>(gone.clone()));
        shared.get_or_create(|| Told::<1>(gone.clone()));
        drop(shared);
        assert_eq!(*gone.lock(), [3, 2, 1]);
    }
}

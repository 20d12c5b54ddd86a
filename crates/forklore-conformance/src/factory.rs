//! How a test gets a store: a fresh one, one opened again, or one joined from another process.

use std::path::Path;
use std::sync::Arc;

use forklore_store::port::Store;

/// Creates the stores under test. A closure that returns a [`Handle`] implements this trait for
/// stores that end with their last handle. [`Directory`] implements it for stores that live in a
/// directory.
pub trait Factory: Sync {
    /// Creates a location with an empty store that nothing else uses.
    fn fresh(&self) -> Box<dyn TestStore>;

    /// Opens the store at a [`TestStore::address`] that another process passed on. Only called for
    /// stores that offer `processes`.
    fn join(&self, address: &str) -> Handle {
        panic!("this factory makes no stores that processes share: {address}")
    }
}

/// The location of one store. Dropping it removes the store.
pub trait TestStore: Send + Sync {
    /// Opens the store. If another handle is open, this is a second handle on the same store. After
    /// the last handle is dropped, a `durable` store still has all data.
    fn open(&self) -> Handle;

    /// Returns the address at which another process finds the store.
    fn address(&self) -> String {
        String::new()
    }
}

/// An open store.
#[derive(Clone)]
pub struct Handle {
    /// The store.
    pub store: Arc<dyn Store>,
}

impl Handle {
    /// Wraps a store that only this handle uses.
    pub fn new(store: impl Store + 'static) -> Self {
        Self { store: Arc::new(store) }
    }

    /// Wraps a store that others may use too.
    pub fn shared(store: Arc<dyn Store>) -> Self {
        Self { store }
    }
}

impl<F: Fn() -> Handle + Sync> Factory for F {
    fn fresh(&self) -> Box<dyn TestStore> {
        Box::new(self())
    }
}

/// A memory store has no location of its own: each open returns the same handle.
impl TestStore for Handle {
    fn open(&self) -> Handle {
        self.clone()
    }
}

/// A factory of stores that live in a directory.
pub struct Directory<F>(F);

impl<F: Fn(&Path) -> Handle> Directory<F> {
    /// Creates a factory that calls `open` with a directory. `open` opens the store in it or, if
    /// the directory is empty, creates one.
    pub fn new(open: F) -> Self {
        Self(open)
    }
}

impl<F> Factory for Directory<F>
where
    F: Fn(&Path) -> Handle + Clone + Send + Sync + 'static,
{
    fn fresh(&self) -> Box<dyn TestStore> {
        let dir = tempfile::tempdir().expect("a temporary directory");
        Box::new(InDirectory { dir, open: self.0.clone() })
    }

    fn join(&self, address: &str) -> Handle {
        self.0(Path::new(address))
    }
}

struct InDirectory<F> {
    dir: tempfile::TempDir,
    open: F,
}

impl<F: Fn(&Path) -> Handle + Send + Sync> TestStore for InDirectory<F> {
    fn open(&self) -> Handle {
        (self.open)(self.dir.path())
    }

    fn address(&self) -> String {
        self.dir.path().to_str().expect("a UTF-8 path").to_owned()
    }
}

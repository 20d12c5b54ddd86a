//! How a test gets a store: fresh, opened again, or joined from another process.

use std::path::Path;
use std::sync::Arc;

use forklore_store::port::Store;

/// Makes the stores that tests try. A closure that gives a [`Handle`] is one, for stores that are
/// gone with their last handle; [`Directory`] is one for stores that live in a directory.
pub trait Factory: Sync {
    /// A place with an empty store that nobody else uses.
    fn fresh(&self) -> Box<dyn TestStore>;

    /// Opens the store at a [`TestStore::address`] that another process has told. Only asked of
    /// stores that offer `processes`.
    fn join(&self, address: &str) -> Handle {
        panic!("this factory makes no stores that processes share: {address}")
    }
}

/// Where one store lives. Dropping it removes the store.
pub trait TestStore: Send + Sync {
    /// Opens the store. While another handle is open it is a second one on the same store; after
    /// the last is dropped, a `durable` store still has everything.
    fn open(&self) -> Handle;

    /// Where another process finds the store.
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
    /// A handle on a store of its own.
    pub fn new(store: impl Store + 'static) -> Self {
        Self { store: Arc::new(store) }
    }

    /// A handle on a store that others may use too.
    pub fn shared(store: Arc<dyn Store>) -> Self {
        Self { store }
    }
}

impl<F: Fn() -> Handle + Sync> Factory for F {
    fn fresh(&self) -> Box<dyn TestStore> {
        Box::new(self())
    }
}

/// A store in memory is where its handles are.
impl TestStore for Handle {
    fn open(&self) -> Handle {
        self.clone()
    }
}

/// A factory of stores that live in a directory.
pub struct Directory<F>(F);

impl<F: Fn(&Path) -> Handle> Directory<F> {
    /// Stores that `open` opens in the directory of a path, or makes there when it is empty.
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

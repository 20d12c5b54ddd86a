//! Creates the stores under test, reopens them, and opens them in other processes.

use std::path::Path;
use std::sync::Arc;

use forklore_core::SessionId;
use forklore_store::port::Store;

/// A factory of the stores that the conformance tests use. A closure that returns a [`Handle`] is a
/// factory of stores that end when their last handle is dropped. [`Directory`] is a factory of
/// stores in a directory.
pub trait Factory: Sync {
    /// Creates an empty store that no other test uses, and returns its location.
    fn fresh(&self) -> Box<dyn TestStore>;

    /// Opens the store at `address`, a string that another process got from [`TestStore::address`].
    /// Called only for stores that several processes may use.
    fn join(&self, address: &str) -> Handle {
        panic!("this factory makes no stores that processes share: {address}")
    }

    /// Returns how many random histories the cases of the group `machine` run. A case with
    /// concurrent calls or reopening runs half as many. The environment variable `FORKLORE_CASES`
    /// overrides the number. A factory of stores that another factory tests too, in another
    /// environment, may run fewer.
    fn histories(&self) -> u32 {
        32
    }
}

/// The location of one store under test. Dropping this value removes the store.
pub trait TestStore: Send + Sync {
    /// Opens the store at this location. If a handle is already open, returns a second handle on
    /// the same store. A `durable` store still has all data after its last handle was dropped.
    fn open(&self) -> Handle;

    /// Returns a string that locates the store. Another process passes it to [`Factory::join`] to
    /// open the store.
    fn address(&self) -> String {
        String::new()
    }

    /// Checks whether [`lose`](Self::lose) works.
    fn can_lose(&self) -> bool {
        false
    }

    /// Removes data of a session from the store, at least its header, as a damaged disk may do. The
    /// store is open and does not notice. Called only if [`can_lose`](Self::can_lose) returns true.
    fn lose(&self, session: &SessionId) {
        panic!("this store loses no sessions: {session}")
    }
}

/// A handle on an open store.
#[derive(Clone)]
pub struct Handle {
    /// The open store.
    pub store: Arc<dyn Store>,
}

impl Handle {
    /// Creates a handle on a store that only this handle uses.
    pub fn new(store: impl Store + 'static) -> Self {
        Self { store: Arc::new(store) }
    }

    /// Creates a handle on a store. Other owners of the `Arc` may use the store too.
    pub fn shared(store: Arc<dyn Store>) -> Self {
        Self { store }
    }
}

impl<F: Fn() -> Handle + Sync> Factory for F {
    fn fresh(&self) -> Box<dyn TestStore> {
        Box::new(self())
    }
}

/// A store that exists only while its handles do, such as a store in memory. Each `open` returns a
/// clone of the same handle.
impl TestStore for Handle {
    fn open(&self) -> Handle {
        self.clone()
    }
}

/// A factory of stores under test, each in a temporary directory of its own. `F` opens a store in a
/// directory.
pub struct Directory<F> {
    open: F,
    lose: Option<Lose>,
}

/// A function that removes a session from the store in a directory without the store noticing.
type Lose = fn(&Path, &SessionId);

impl<F: Fn(&Path) -> Handle> Directory<F> {
    /// Creates a factory of stores. `open` gets the path of a directory; it must open the store in
    /// that directory, or create one if the directory is empty.
    pub fn new(open: F) -> Self {
        Self { open, lose: None }
    }

    /// Adds a function that removes a session from the store in a directory, as a damaged disk may
    /// do. The cases of the capability `loss` need it.
    #[must_use]
    pub fn losing(self, lose: Lose) -> Self {
        Self { lose: Some(lose), ..self }
    }
}

impl<F> Factory for Directory<F>
where
    F: Fn(&Path) -> Handle + Clone + Send + Sync + 'static,
{
    fn fresh(&self) -> Box<dyn TestStore> {
        let dir = tempfile::tempdir().expect("a temporary directory");
        Box::new(InDirectory { dir, open: self.open.clone(), lose: self.lose })
    }

    fn join(&self, address: &str) -> Handle {
        (self.open)(Path::new(address))
    }
}

struct InDirectory<F> {
    dir: tempfile::TempDir,
    open: F,
    lose: Option<Lose>,
}

impl<F: Fn(&Path) -> Handle + Send + Sync> TestStore for InDirectory<F> {
    fn open(&self) -> Handle {
        (self.open)(self.dir.path())
    }

    fn address(&self) -> String {
        self.dir.path().to_str().expect("a UTF-8 path").to_owned()
    }

    fn can_lose(&self) -> bool {
        self.lose.is_some()
    }

    fn lose(&self, session: &SessionId) {
        (self.lose.expect("a way to lose sessions"))(self.dir.path(), session);
    }
}

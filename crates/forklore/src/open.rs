//! Opens an engine from a store URL. This is the only module of the crate that names every kind of
//! store.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use forklore_core::ErrorKind;
use forklore_core::session_container::SessionContainer;
use forklore_engine::Engine;
use forklore_files::FilesStore;
#[cfg(feature = "graph")]
use forklore_graph::Profile;
#[cfg(feature = "postgres")]
use forklore_postgres::{Address, PostgresStore};
#[cfg(feature = "http")]
use forklore_remote::{self as remote, HttpStore};
use forklore_sqlite::{Options, SqliteStore};
use forklore_store::memory::MemoryStore;

/// A store URL: the kind and the location of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreUrl {
    /// `sqlite:PATH`: one SQLite file that several processes may share.
    Sqlite(PathBuf),
    /// `files:DIR`: a directory of JSON lines, one file per session, that several processes may
    /// share.
    Files(PathBuf),
    /// `graph:DIR`: a directory like that of `files:DIR`, with one file of JSON lines per session
    /// and an RDF graph of the sessions. The store maintains the graph, which makes the sessions
    /// available to SPARQL queries. `graph:DIR?profile=trails` creates a store that follows the
    /// rules of the Trails profile: for example, it limits the depth of forks.
    #[cfg(feature = "graph")]
    Graph(PathBuf, Option<Profile>),
    /// `postgres://USER@HOST:PORT/DATABASE?tenant=NAME`: a store in a PostgreSQL database, which
    /// many processes on many machines may share.
    #[cfg(feature = "postgres")]
    Postgres(Box<Address>),
    /// `https://HOST:PORT`, or `http://` on the same machine: the store of a forklore server.
    #[cfg(feature = "http")]
    Http(Box<remote::Address>),
    /// `memory:`: a store in memory, which is lost when the process ends.
    Memory,
}

/// Returns the forms of a store URL that this build accepts, as text for error messages.
fn forms() -> String {
    let of = |is_supported: bool, form| is_supported.then_some(form);
    let forms = [
        Some("sqlite:PATH"),
        Some("files:DIR"),
        of(cfg!(feature = "graph"), "graph:DIR"),
        of(cfg!(feature = "postgres"), "postgres://USER@HOST/DATABASE"),
        of(cfg!(feature = "http"), "https://HOST"),
    ];
    let forms: Vec<_> = forms.into_iter().flatten().collect();
    format!("{} or memory:", forms.join(", "))
}

/// The reason why a store was not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The store URL is not valid, or names a kind of store that this build does not support.
    #[error("{0:?} is no store; use {forms}", forms = forms())]
    Url(String),
    /// The store exists but cannot be used, for example because it is damaged or locked.
    #[error(transparent)]
    Store(#[from] forklore_store::Error),
}

impl StoreUrl {
    /// Returns the store's path on disk; `None` for a store in memory, in a database or on a server.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Sqlite(path) | Self::Files(path) => Some(path),
            #[cfg(feature = "graph")]
            Self::Graph(path, _) => Some(path),
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => None,
            #[cfg(feature = "http")]
            Self::Http(_) => None,
            Self::Memory => None,
        }
    }

    /// Returns the folder next to the store for the snapshots of its workspaces; `None` for a store
    /// in memory, in a database or on a server.
    #[must_use]
    pub fn snapshots(&self) -> Option<PathBuf> {
        let mut name = self.path()?.as_os_str().to_owned();
        name.push("-snapshots");
        Some(name.into())
    }

    /// Returns where the store is, as text for people: its path, or its address without a password.
    #[must_use]
    pub fn location(&self) -> String {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(address) => address.to_string(),
            #[cfg(feature = "http")]
            Self::Http(address) => address.to_string(),
            _ => self.path().map_or("memory:".to_owned(), |path| path.display().to_string()),
        }
    }
}

impl StoreUrl {
    /// Returns the URL of a store of the same kind at another path; `None` for a store in memory,
    /// in a database or on a server.
    pub(crate) fn with_path(&self, path: &Path) -> Option<Self> {
        match self {
            Self::Sqlite(_) => Some(Self::Sqlite(path.to_owned())),
            Self::Files(_) => Some(Self::Files(path.to_owned())),
            #[cfg(feature = "graph")]
            Self::Graph(_, profile) => Some(Self::Graph(path.to_owned(), *profile)),
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => None,
            #[cfg(feature = "http")]
            Self::Http(_) => None,
            Self::Memory => None,
        }
    }

    /// Names a folder of this machine for what is computed from a store in a database or on a server, such
    /// as the index of a search, unless the URL says something about it (`cache=DIR`, `cache=no`). Every
    /// other store has its own folder.
    #[must_use]
    pub fn with_cache(self, folder: &Path) -> Self {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(address) => Self::Postgres(Box::new(address.with_cache(folder))),
            #[cfg(feature = "http")]
            Self::Http(address) => Self::Http(Box::new(address.with_cache(folder))),
            url => {
                let _ = folder;
                url
            }
        }
    }

    /// Returns the URL of another tenant of the same database; `None` for a store that has no tenants.
    ///
    /// # Errors
    /// Returns an error if the name is none of a tenant.
    pub fn of_tenant(&self, name: &str) -> Result<Option<Self>, OpenError> {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(address) => {
                let address = Address::clone(address).with_tenant(name)?;
                Ok(Some(Self::Postgres(Box::new(address))))
            }
            _ => {
                let _ = name;
                Ok(None)
            }
        }
    }

    /// Returns the kind of store, as it is written before the colon of the URL.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Files(_) => "files",
            #[cfg(feature = "graph")]
            Self::Graph(..) => "graph",
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => "postgres",
            #[cfg(feature = "http")]
            Self::Http(_) => "http",
            Self::Memory => "memory",
        }
    }

    /// Checks whether something exists at this location: a store, or something that [`open`]
    /// refuses. In both cases `open` creates no store. Writes nothing. A store in memory or on a
    /// server always exists.
    #[must_use]
    pub fn exists(&self) -> bool {
        match self {
            Self::Sqlite(path) => SqliteStore::exists(path),
            Self::Files(path) => FilesStore::exists(path),
            #[cfg(feature = "graph")]
            Self::Graph(path, _) => forklore_graph::GraphStore::exists(path),
            // What cannot be looked at is refused by `open`, which says why.
            #[cfg(feature = "postgres")]
            Self::Postgres(address) => {
                PostgresStore::exists(Address::clone(address)).unwrap_or(true)
            }
            #[cfg(feature = "http")]
            Self::Http(_) => true,
            Self::Memory => true,
        }
    }

    /// Returns a warning if the store's locks may not work across machines: for `files:` and
    /// `graph:` on a network file system. Such a store works as long as no two machines write to it
    /// at once. Returns `None` for every other store.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        match self {
            Self::Files(path) => Some(far(path, &forklore_store::disk::network(path)?)),
            #[cfg(feature = "graph")]
            Self::Graph(path, _) => Some(far(path, &forklore_store::disk::network(path)?)),
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => None,
            #[cfg(feature = "http")]
            Self::Http(_) => None,
            Self::Sqlite(_) | Self::Memory => None,
        }
    }
}

/// Returns the URL of a store without the password that it may contain, for messages and for
/// suggested commands.
#[must_use]
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once(':') else { return url.to_owned() };
    if matches!(scheme, "sqlite" | "files" | "graph" | "memory") {
        return url.to_owned();
    }
    let after = rest.trim_start_matches('/');
    let (slashes, _) = rest.split_at(rest.len() - after.len());
    // A password that should have been escaped may contain any character, also `@`.
    let (login, server) = match after.rsplit_once('@') {
        Some((login, server)) => (login.split([':', '/', '?']).next().unwrap_or_default(), server),
        None => ("", after),
    };
    let at = if after.contains('@') { "@" } else { "" };
    if is_secret(after) && at == "@" && !is_secret(server) {
        // The `@` may be a part of the password, and what follows it the rest.
        return format!("{scheme}:{slashes}...");
    }
    let (server, options) = server.split_once('?').unwrap_or((server, ""));
    let options: Vec<_> =
        options.split('&').filter(|option| !option.is_empty() && !is_secret(option)).collect();
    let mark = if options.is_empty() { "" } else { "?" };
    format!("{scheme}:{slashes}{login}{at}{server}{mark}{}", options.join("&"))
}

/// Checks whether a part of a URL may contain an option with a password.
fn is_secret(text: &str) -> bool {
    text.to_ascii_lowercase().contains("password")
}

fn far(path: &Path, name: &str) -> String {
    let path = path.display();
    format!("{path} is on a network file system ({name}): let no two machines write to it at once")
}

impl FromStr for StoreUrl {
    type Err = OpenError;

    fn from_str(url: &str) -> Result<Self, OpenError> {
        match url.split_once(':').filter(|_| !url.contains('\0')) {
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(Path::new(path).into())),
            Some(("files", path)) if !path.is_empty() => Ok(Self::Files(Path::new(path).into())),
            #[cfg(feature = "graph")]
            Some(("graph", location)) if !location.is_empty() => graph(location, url),
            #[cfg(feature = "postgres")]
            Some(("postgres" | "postgresql", _)) => Ok(Self::Postgres(Box::new(url.parse()?))),
            #[cfg(feature = "http")]
            Some(("http" | "https", _)) => Ok(Self::Http(Box::new(url.parse()?))),
            Some(("memory", "")) => Ok(Self::Memory),
            _ => Err(OpenError::Url(without_password(url))),
        }
    }
}

/// Parses the part of a store URL after `graph:`, which is `DIR` or `DIR?profile=NAME`.
#[cfg(feature = "graph")]
fn graph(location: &str, url: &str) -> Result<StoreUrl, OpenError> {
    let refused = || OpenError::Url(url.to_owned());
    let (path, profile) = match location.split_once("?profile=") {
        Some((path, profile)) => (path, Some(profile.parse().map_err(|_| refused())?)),
        None => (location, None),
    };
    if path.is_empty() { Err(refused()) } else { Ok(StoreUrl::Graph(path.into(), profile)) }
}

/// The readers of agents' files and folders that contain many sessions: the database and the older
/// folders of the agent OpenCode.
static CONTAINERS: &[&dyn SessionContainer] =
    &[&forklore_opencode::Database, &forklore_opencode::Storage];

/// Opens the store that `url` names. Creates the store if it does not exist.
///
/// # Errors
/// Returns an error if the URL is not valid, or if the store is damaged, locked, written by a newer
/// version of forklore, or of another kind than the URL states.
pub fn open(url: &str) -> Result<Engine, OpenError> {
    open_url(&url.parse()?)
}

/// Opens the store that `url` names. Creates the store if it does not exist.
///
/// # Errors
/// Returns an error if the store is damaged, locked, written by a newer version of forklore, or of
/// another kind than the URL states.
pub fn open_url(url: &StoreUrl) -> Result<Engine, OpenError> {
    let engine = match url {
        StoreUrl::Sqlite(path) => {
            let store = Arc::new(open_sqlite(path)?);
            Engine::new(store.clone())
        }
        StoreUrl::Files(path) => {
            refuse_journal(path)?;
            let store = Arc::new(FilesStore::open(path, Default::default())?);
            Engine::new(store.clone())
        }
        #[cfg(feature = "graph")]
        StoreUrl::Graph(path, profile) => {
            let dialects = forklore_formats::AGENT_FORMATS;
            let store = Arc::new(forklore_graph::GraphStore::open(path, *profile, dialects)?);
            Engine::new(store.clone()).with_max_fork_depth(store.max_fork_depth())
        }
        #[cfg(feature = "postgres")]
        StoreUrl::Postgres(address) => {
            let store = Arc::new(PostgresStore::open(Address::clone(address))?);
            Engine::new(store.clone())
        }
        #[cfg(feature = "http")]
        StoreUrl::Http(address) => {
            let store = Arc::new(HttpStore::open(remote::Address::clone(address))?);
            Engine::new(store.clone())
        }
        StoreUrl::Memory => {
            let store = Arc::new(MemoryStore::default());
            Engine::new(store.clone())
        }
    };
    Ok(with_readers(engine))
}

/// Opens the store that `url` names if it exists. Creates nothing.
///
/// # Errors
/// The errors of [`open_url`].
pub fn open_existing(url: &StoreUrl) -> Result<Option<Engine>, OpenError> {
    match url {
        #[cfg(feature = "postgres")]
        StoreUrl::Postgres(address) => {
            match PostgresStore::open_existing(Address::clone(address)) {
                Ok(store) => Ok(Some(with_readers(Engine::new(Arc::new(store))))),
                Err(forklore_store::Error::StoreGone { .. }) => Ok(None),
                Err(error) => Err(error.into()),
            }
        }
        url if url.exists() => open_url(url).map(Some),
        _ => Ok(None),
    }
}

/// Adds the readers of agents' files to an engine.
pub(crate) fn with_readers(engine: Engine) -> Engine {
    engine.with_agent_formats(forklore_formats::AGENT_FORMATS).with_containers(CONTAINERS)
}

/// Returns an error if `path` is the folder in which a graph store keeps its sessions. A files
/// store must not open this folder, because it does not know the rules of a graph store.
fn refuse_journal(path: &Path) -> Result<(), OpenError> {
    let above = path.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned));
    match above.filter(|above| path.is_dir() && above.join("graph.json").exists()) {
        Some(store) => Err(forklore_store::Error::Unsupported(format!(
            "{} is a part of the graph store {}; name that one, with graph:",
            path.display(),
            store.display()
        ))
        .into()),
        None => Ok(()),
    }
}

/// Opens a SQLite store. If the store exists but this process may not write to it, opens it
/// read-only.
fn open_sqlite(path: &Path) -> Result<SqliteStore, OpenError> {
    let opened = SqliteStore::open(path, Options::default());
    opened.or_else(|refused| {
        if refused.kind() != ErrorKind::PermissionDenied || !path.exists() {
            return Err(refused.into());
        }
        let read_only = Options { read_only: true, ..Options::default() };
        SqliteStore::open(path, read_only).map_err(|_| refused.into())
    })
}

#[cfg(test)]
#[allow(clippy::panic, reason = "a broken expectation ends a test")]
mod tests {
    use super::*;

    #[test]
    fn only_a_network_file_system_is_warned_of() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(StoreUrl::Files(dir.path().to_owned()).warning(), None);
        let text = far(Path::new("/srv/store"), "nfs");
        assert!(text.contains("/srv/store") && text.contains("(nfs)"), "{text}");
    }

    #[test]
    fn no_url_is_shown_with_its_password() {
        for (url, shown) in [
            ("sqlite:a.db", "sqlite:a.db"),
            ("postgres://ann@host/team", "postgres://ann@host/team"),
            ("postgres://ann:sesame@host:5/team?tenant=a", "postgres://ann@host:5/team?tenant=a"),
            ("mysql://ann:se@sa/m?e@host/team", "mysql://ann@host/team"),
            ("postgres://host/team?password=sesame&pool=2", "postgres://host/team?pool=2"),
            ("postgres://host:5/team?password=ses@me", "postgres://..."),
            ("postgres:/ann:sesame@host/team", "postgres:/ann@host/team"),
            ("postgres:ann:sesame@host/team", "postgres:ann@host/team"),
            ("sqlite:a:b@c.db", "sqlite:a:b@c.db"),
        ] {
            assert_eq!(without_password(url), shown);
        }
        let refused = "mysql://ann:sesame@host/team".parse::<StoreUrl>().unwrap_err();
        assert!(!refused.to_string().contains("sesame"), "{refused}");
    }

    #[cfg(feature = "graph")]
    #[test]
    fn a_graph_store_is_named_with_its_profile() {
        let named = |url: &str| url.parse::<StoreUrl>().ok();
        assert_eq!(named("graph:a/b"), Some(StoreUrl::Graph("a/b".into(), None)));
        let trails = Some(StoreUrl::Graph("a".into(), Some(Profile::Trails)));
        assert_eq!(named("graph:a?profile=trails"), trails);
        for wrong in ["graph:", "graph:?profile=trails", "graph:a?profile=other"] {
            assert_eq!(named(wrong), None, "{wrong}");
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sessions");
        let engine = open(&format!("graph:{}?profile=trails", path.display())).unwrap();
        let create =
            forklore_engine::Create::in_workspace(forklore_core::workspace::Workspace::new("/a"));
        let mut last = engine.create(&create).unwrap().id;
        for link in 1..=33 {
            let fork = forklore_engine::Fork::of(last.clone()).at("start".parse().unwrap());
            match engine.fork(&fork) {
                Ok(forked) if link <= 32 => last = forked.child_session_id,
                Err(refused) if link == 33 => assert_eq!(refused.kind(), ErrorKind::Conflict),
                other => panic!("link {link}: {other:?}"),
            }
        }
    }
}

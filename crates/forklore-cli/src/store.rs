//! Selects and opens the store that a command uses.

use std::path::{Path, PathBuf};

use forklore::core::ErrorKind;
use forklore::store::Error as StoreError;
use forklore::{Engine, OpenError, StoreUrl, blocking};

use crate::failure::{Failure, Result};

/// The environment variable that names the store if `--store` does not.
pub(crate) const VARIABLE: &str = "FORKLORE_STORE";

/// Opens the store at `url`, or the default store, for a command that must not create a store.
/// `url` comes from `--store` or `FORKLORE_STORE`. Returns `None` if the default store does not
/// exist yet.
///
/// # Errors
/// `not_found` if `url` names a store that is not the default store and does not exist. Another
/// error if the store cannot be used.
pub(crate) fn open_existing(url: Option<&str>) -> Result<Option<Engine>> {
    let named = self::url(url)?;
    if let Some(engine) = blocking::open_existing(&named)? {
        return Ok(Some(engine));
    }
    if is_default(url) {
        return Ok(None);
    }
    let is_from_environment = std::env::var(VARIABLE).ok().as_deref() == url;
    let by = if is_from_environment { ", which FORKLORE_STORE names" } else { "" };
    let missing = format!("there is no store at {}{by}", named.location());
    let refused = Failure::refused(ErrorKind::NotFound, missing);
    Err(refused.or_try("look for a mistyped name, or begin a store there: forklore new"))
}

/// Opens the store at `url`, or the default store, and creates it if it does not exist. `url` comes
/// from `--store` or `FORKLORE_STORE`.
///
/// # Errors
/// When the URL does not name a store, or the store cannot be used.
pub(crate) fn open(url: Option<&str>) -> Result<Engine> {
    let url = self::url(url)?;
    if let StoreUrl::Sqlite(path) = &url
        && let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty())
    {
        make_private(folder)?;
    }
    Ok(blocking::open_url(&url)?)
}

/// Parses the URL from `--store` or `FORKLORE_STORE`. Without one, returns the URL of the default
/// store.
///
/// # Errors
/// When the URL does not name a store, or there is no home directory for the default store.
pub(crate) fn url(url: Option<&str>) -> Result<StoreUrl> {
    match url {
        Some(url) if !is_default(Some(url)) => parse(url),
        _ => default_url(),
    }
}

/// Checks whether `url`, which comes from `--store` or `FORKLORE_STORE`, means the default store.
fn is_default(url: Option<&str>) -> bool {
    matches!(url, None | Some("" | "sqlite:"))
}

/// Parses the URL of a store. What is computed from a store in a database is in the user's cache
/// directory, if there is one.
///
/// # Errors
/// When the URL does not name a store.
pub(crate) fn parse(url: &str) -> Result<StoreUrl> {
    let url: StoreUrl = url.parse().map_err(|error| of_server(url, error))?;
    Ok(url.with_user_cache())
}

/// Suggests the right URL of a server in place of a wrong one.
fn of_server(url: &str, error: OpenError) -> Failure {
    let is_of_server = url.starts_with("http://") || url.starts_with("https://");
    let refused = |kind| Failure::refused(kind, error.to_string());
    match &error {
        // The URL has no secret, or it would have been refused as invalid.
        OpenError::Store(StoreError::Denied(_)) if url.starts_with("http://") => {
            let plain = url.split('?').next().unwrap_or(url);
            let encrypted = plain.replacen("http://", "https://", 1);
            refused(ErrorKind::PermissionDenied).or_try(format!("--store {encrypted}"))
        }
        OpenError::Store(StoreError::Invalid(_)) if is_of_server => refused(ErrorKind::InvalidArgs)
            .or_try("--store https://HOST:PORT, with the token in FORKLORE_TOKEN"),
        _ => error.into(),
    }
}

/// Returns the URL of the default store.
fn default_url() -> Result<StoreUrl> {
    StoreUrl::of_user().ok_or_else(|| {
        Failure::invalid(
            "there is no home directory to keep sessions in; name a store with --store",
        )
    })
}

/// Returns the absolute paths that belong to the store at `path`: they are no part of a workspace.
pub(crate) fn files_of(path: &Path) -> Vec<PathBuf> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let path = path.canonicalize().unwrap_or(path);
    let others = ["", "-wal", "-shm", "-lock", "-queue", "-attachments", "-cache", "-snapshots"];
    let other = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    others.iter().map(|end| other(end)).collect()
}

/// Creates a folder that only its owner can access, unless the folder exists already.
///
/// # Errors
/// When the folder cannot be created.
pub(crate) fn make_private(folder: &Path) -> Result<()> {
    forklore::create_private_folder(folder).map_err(|source| {
        let doing = format!("making the folder {}", folder.display());
        let failed = Failure::File { doing, source };
        Failure::refused(failed.kind(), failed.to_string())
            .or_try("name another store: --store or FORKLORE_STORE")
    })
}

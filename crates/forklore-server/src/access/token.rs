//! The tokens that a server accepts. The file has their hashes only: whoever reads it cannot use one.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use forklore_api::{AccessToken, Scope};
use forklore_core::ErrorKind;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Caller;

/// What a token begins with, so that scanners for secrets recognise it.
const PREFIX: &str = "fkl_";

/// Why the tokens of a server cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error("{doing} the tokens in {path}: {source}")]
    File {
        /// What failed, such as `reading`.
        doing: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is no list of tokens.
    #[error("{path} is no list of tokens: {source}; repair it, or delete it to revoke them all")]
    Format {
        /// The path of the file.
        path: PathBuf,
        /// Where the JSON is wrong.
        source: serde_json::Error,
    },
    /// Another token has the name.
    #[error("there is a token named {0:?} already; revoke it first, or choose another name")]
    NameInUse(String),
    /// No token has the name.
    #[error("there is no token named {0:?}")]
    NotFound(String),
    /// The name is empty, too long, or has characters that cannot be shown.
    #[error("a token's name has 1 to 64 letters, digits, dots, dashes and underscores")]
    Name,
    /// The name of the tenant is empty, too long, or has other characters than names of tenants have.
    #[error("a tenant's name has 1 to 64 letters, digits, dots, dashes and underscores")]
    Tenant,
    /// The system has no random numbers.
    #[error("the system's random number generator failed: {0}")]
    Random(getrandom::Error),
}

impl TokenError {
    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::File { source, .. } => crate::of_system(source),
            Self::Format { .. } => ErrorKind::Corrupt,
            Self::NameInUse(_) => ErrorKind::AlreadyExists,
            Self::NotFound(_) => ErrorKind::NotFound,
            Self::Name | Self::Tenant => ErrorKind::InvalidArgs,
            Self::Random(_) => ErrorKind::Internal,
        }
    }
}

/// A token as the file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    token: AccessToken,
    /// The SHA-256 of the token, in hexadecimal digits. A token has 256 random bits, so that nobody
    /// finds it from its hash.
    sha256: String,
}

/// The file with the tokens of a server. It is read at each use, so that a revoked token ends at once.
#[derive(Clone, Debug)]
pub struct TokenFile {
    path: PathBuf,
}

impl TokenFile {
    /// Names a file, which need not exist.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Returns the tokens, the oldest first. A missing file has none.
    ///
    /// # Errors
    /// [`TokenError::File`] and [`TokenError::Format`].
    pub fn list(&self) -> Result<Vec<AccessToken>, TokenError> {
        Ok(self.read()?.into_iter().map(|entry| entry.token).collect())
    }

    fn read(&self) -> Result<Vec<Entry>, TokenError> {
        match fs::read(&self.path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|source| TokenError::Format { path: self.path.clone(), source }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(source) => Err(self.failed("reading", source)),
        }
    }

    /// Creates a token. Returns it with its secret, which is shown nowhere again.
    ///
    /// # Errors
    /// [`TokenError::NameInUse`], [`TokenError::Name`], and those of [`list`](Self::list).
    pub fn add(
        &self,
        name: &str,
        scope: Scope,
        created: Timestamp,
        expires: Option<Timestamp>,
    ) -> Result<(AccessToken, String), TokenError> {
        self.add_for(None, name, scope, created, expires)
    }

    /// Creates a token like [`add`](Self::add), whose owner sees the store of a tenant.
    ///
    /// # Errors
    /// Those of [`add`](Self::add).
    pub fn add_for(
        &self,
        tenant: Option<&str>,
        name: &str,
        scope: Scope,
        created: Timestamp,
        expires: Option<Timestamp>,
    ) -> Result<(AccessToken, String), TokenError> {
        let is_shown = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_shown) {
            return Err(TokenError::Name);
        }
        if tenant
            .is_some_and(|name| name.is_empty() || name.len() > 64 || !name.chars().all(is_shown))
        {
            return Err(TokenError::Tenant);
        }
        let mut entries = self.read()?;
        if entries.iter().any(|entry| entry.token.name == name) {
            return Err(TokenError::NameInUse(name.to_owned()));
        }
        let secret = secret().map_err(TokenError::Random)?;
        let sha256 = hash(&secret);
        let tenant = tenant.map(str::to_owned);
        let token = AccessToken { name: name.to_owned(), scope, created, expires, tenant };
        entries.push(Entry { token: token.clone(), sha256 });
        self.write(&entries)?;
        Ok((token, secret))
    }

    /// Removes a token, which is then refused.
    ///
    /// # Errors
    /// [`TokenError::NotFound`], and those of [`list`](Self::list).
    pub fn revoke(&self, name: &str) -> Result<AccessToken, TokenError> {
        let mut entries = self.read()?;
        let found = entries.iter().position(|entry| entry.token.name == name);
        let at = found.ok_or_else(|| TokenError::NotFound(name.to_owned()))?;
        let removed = entries.remove(at);
        self.write(&entries)?;
        Ok(removed.token)
    }

    /// Returns who has the token with this hash, if it is valid at this time.
    pub(crate) fn caller(
        &self,
        sha256: &str,
        now: Timestamp,
    ) -> Result<Option<Caller>, TokenError> {
        let is_valid = |entry: &Entry| {
            entry.sha256 == sha256 && entry.token.expires.is_none_or(|expires| now < expires)
        };
        let found = self.read()?.into_iter().find(is_valid);
        let caller = |AccessToken { name, scope, tenant, .. }| Caller { name, scope, tenant };
        Ok(found.map(|entry| caller(entry.token)))
    }

    /// Replaces the file at once, readable by its owner only.
    fn write(&self, entries: &[Entry]) -> Result<(), TokenError> {
        let failed = |source| self.failed("writing", source);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        // A temporary file is readable by its owner only.
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        let text = serde_json::to_string_pretty(entries)
            .map_err(|error| failed(std::io::Error::other(error)))?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&self.path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    fn failed(&self, doing: &'static str, source: std::io::Error) -> TokenError {
        TokenError::File { doing, path: self.path.clone(), source }
    }
}

/// Returns a new secret with 256 random bits.
pub(crate) fn secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{PREFIX}{}", hexadecimal(&bytes)))
}

/// Returns the hash under which a secret is known.
pub(crate) fn hash(secret: &str) -> String {
    hexadecimal(&Sha256::digest(secret.as_bytes()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn a_token_is_accepted_until_it_expires_or_is_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::at(folder.path().join("new").join("tokens.json"));
        let (_, ci) = file.add("ci", Scope::Read, at(10), Some(at(20))).unwrap();
        let (_, ann) = file.add("ann", Scope::Admin, at(10), None).unwrap();
        let caller =
            |name: &str, scope| Some(Caller { name: name.to_owned(), scope, tenant: None });
        assert_eq!(file.caller(&hash(&ci), at(19)).unwrap(), caller("ci", Scope::Read));
        assert_eq!(file.caller(&hash(&ci), at(20)).unwrap(), None);
        assert_eq!(file.caller(&hash(&ann), at(99)).unwrap(), caller("ann", Scope::Admin));
        assert_eq!(file.caller(&hash(""), at(99)).unwrap(), None);
        file.revoke("ann").unwrap();
        assert_eq!(file.caller(&hash(&ann), at(99)).unwrap(), None);
        let names: Vec<_> = file.list().unwrap().into_iter().map(|token| token.name).collect();
        assert_eq!(names, ["ci"]);
    }

    #[test]
    fn the_file_has_no_secret_and_only_its_owner_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.json");
        let file = TokenFile::at(path.clone());
        let (_, secret) = file.add("ci", Scope::Write, at(10), None).unwrap();
        assert!(!fs::read_to_string(&path).unwrap().contains(&secret[4..]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn names_are_unique_and_can_be_shown() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::at(folder.path().join("tokens.json"));
        file.add("ci", Scope::Read, at(10), None).unwrap();
        let refused = |name: &str| file.add(name, Scope::Read, at(10), None).unwrap_err();
        assert!(matches!(refused("ci"), TokenError::NameInUse(_)));
        for name in ["", "a b", "\u{1b}[31m", "<b>", &"x".repeat(65)] {
            assert!(matches!(refused(name), TokenError::Name), "{name:?}");
        }
        assert!(matches!(file.revoke("cj").unwrap_err(), TokenError::NotFound(_)));
        fs::write(folder.path().join("tokens.json"), "no JSON").unwrap();
        assert!(matches!(file.list().unwrap_err(), TokenError::Format { .. }));
    }
}

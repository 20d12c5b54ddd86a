//! The URL of a store: `https://HOST[:PORT][/PATH][?OPTIONS]`.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use forklore_store::disk::CacheFolder;
use forklore_store::{Error, Result};
use sha2::{Digest, Sha256};
use ureq::http::Uri;

/// The environment variable with the token that the server wants.
pub const TOKEN: &str = "FORKLORE_TOKEN";
const DEADLINE: Duration = Duration::from_secs(30);
const LONGEST_DEADLINE: u64 = 24 * 3600;

/// The parsed URL of a store, with the token of the environment. Its text, also for debugging, never
/// contains the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The scheme, the host, the port and the path, without a slash at the end.
    base: String,
    is_local: bool,
    is_encrypted: bool,
    /// How long a call may take before it fails.
    pub(crate) deadline: Duration,
    /// The file with the certificates to trust, instead of those of the system.
    pub(crate) certificates: Option<PathBuf>,
    pub(crate) token: Option<Token>,
    cache: Cache,
}

/// What shows the server who calls it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

impl Token {
    /// Returns the value of the header `Authorization`.
    pub(crate) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Where this machine has data that is computed from the store, such as the index of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Cache {
    /// The URL does not say it.
    Open,
    Nowhere,
    /// In a folder of this folder.
    In(PathBuf),
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(url: &str) -> Result<Self> {
        let (plain, options) = url.split_once('?').unwrap_or((url, ""));
        // No message quotes the URL: it may contain what does not belong there.
        let uri = plain.parse::<Uri>().map_err(|_| refused("it is not a valid URL"))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(refused("it names no host"));
        };
        if authority.as_str().contains('@') {
            return Err(Error::Invalid(format!(
                "the URL of a server contains no user and no password; set {TOKEN} to the token \
                 instead"
            )));
        }
        let is_encrypted = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err(refused("it begins with http:// or https://")),
        };
        if authority.host().is_empty() || plain.contains('#') {
            return Err(refused("it names a host, a port and a path, and nothing else"));
        }
        let path = uri.path().trim_end_matches('/');
        let mut address = Self {
            base: format!("{scheme}://{authority}{path}"),
            is_local: is_of_this_machine(authority.host()),
            is_encrypted,
            deadline: DEADLINE,
            certificates: None,
            token: None,
            cache: Cache::Open,
        };
        let mut is_insecure = false;
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=').unwrap_or((option, "")) {
                ("insecure", "yes") => is_insecure = true,
                (name, value) => address.set(name, value)?,
            }
        }
        if address.is_encrypted || address.is_local || is_insecure {
            return match std::env::var(TOKEN) {
                Ok(token) => address.with_token(&token),
                Err(_) => Ok(address),
            };
        }
        Err(Error::Denied(format!(
            "{} is on another machine and is not encrypted, so others could read the token and the \
             sessions; use https://, or add ?insecure=yes to the URL if the network is trusted",
            address.base
        )))
    }
}

impl Address {
    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "deadline" => {
                let seconds = value.parse().ok().filter(|it| (1..=LONGEST_DEADLINE).contains(it));
                let seconds = seconds.ok_or_else(|| refused("deadline is a number of seconds"))?;
                self.deadline = Duration::from_secs(seconds);
            }
            "ca" if !value.is_empty() => self.certificates = Some(value.into()),
            "cache" if value == "no" => self.cache = Cache::Nowhere,
            "cache" if !value.is_empty() => self.cache = Cache::In(value.into()),
            _ => return Err(refused("its options are insecure=yes, deadline, ca and cache")),
        }
        Ok(())
    }

    /// Sets the token, instead of the one that the environment names. An empty text is no token.
    ///
    /// # Errors
    /// `Denied` if the text contains characters that no token has, such as a line break.
    pub fn with_token(mut self, token: &str) -> Result<Self> {
        let token = token.trim();
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::Denied(format!(
                "{TOKEN} contains spaces or other characters that no token has; set it to the token \
                 that the server printed"
            )));
        }
        self.token = (!token.is_empty()).then(|| Token(token.to_owned()));
        Ok(self)
    }

    /// Names the folder for data that is computed from the store, unless the URL names one or refuses
    /// it. Without such a folder, each search reads all sessions of the store.
    #[must_use]
    pub fn with_cache(mut self, folder: &Path) -> Self {
        if self.cache == Cache::Open {
            self.cache = Cache::In(folder.to_owned());
        }
        self
    }

    /// Returns the folder for data that is computed from the store.
    pub(crate) fn cache(&self) -> Option<CacheFolder> {
        let Cache::In(folder) = &self.cache else { return None };
        let digest = Sha256::digest(self.base.as_bytes());
        let digits: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Some(CacheFolder::at(folder.join(format!("http-{digits}"))))
    }

    /// Returns the URL of a call.
    pub(crate) fn of_call(&self, version: u32, call: &str) -> String {
        format!("{}/store/v{version}/{call}", self.base)
    }

    /// Checks whether the server may be reached through the proxy that the environment names: not on
    /// this machine, and not without encryption.
    pub(crate) fn may_use_proxy(&self) -> bool {
        self.is_encrypted && !self.is_local
    }
}

/// Checks whether a host is this machine.
fn is_of_this_machine(host: &str) -> bool {
    let ip = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || ip.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

fn refused(why: &str) -> Error {
    Error::Invalid(format!("the URL of a forklore server is https://HOST:PORT?OPTIONS; {why}"))
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_where_the_server_is() {
        let address: Address = "https://db.example:8443/team/?deadline=7&ca=a.pem".parse().unwrap();
        assert_eq!(address.to_string(), "https://db.example:8443/team");
        assert_eq!(address.of_call(1, "read"), "https://db.example:8443/team/store/v1/read");
        assert_eq!(address.deadline, Duration::from_secs(7));
        assert_eq!(address.certificates, Some("a.pem".into()));
        let plain: Address = "http://127.0.0.1:80".parse().unwrap();
        assert_eq!(plain.of_call(1, "read"), "http://127.0.0.1:80/store/v1/read");
    }

    #[test]
    fn only_this_machine_is_reached_without_encryption() {
        for local in ["localhost", "LOCALHOST:1", "127.0.0.1:1", "[::1]:1", "127.9.9.9"] {
            assert!(format!("http://{local}").parse::<Address>().is_ok(), "{local}");
        }
        for far in ["db.example", "localhost.example", "192.168.1.1", "[::2]"] {
            let refused = format!("http://{far}").parse::<Address>().unwrap_err();
            assert!(
                matches!(&refused, Error::Denied(why) if why.contains("insecure=yes")),
                "{far}"
            );
            assert!(format!("http://{far}?insecure=yes").parse::<Address>().is_ok(), "{far}");
        }
    }

    #[test]
    fn a_url_contains_no_secret_and_no_refusal_shows_one() {
        for wrong in [
            "https://ann:sesame@db.example",
            "https://sesame@db.example",
            "https://db.example?token=sesame",
            "https://db.example/#sesame",
            "https://db.example?deadline=sesame",
            "ftp://db.example/sesame",
            "https:///sesame",
            "https:sesame",
        ] {
            let refused = wrong.parse::<Address>().unwrap_err();
            assert!(matches!(refused, Error::Invalid(_)), "{wrong}: {refused:?}");
            assert!(!refused.to_string().contains("sesame"), "{refused}");
        }
        let address: Address = "https://db.example".parse().unwrap();
        let address = address.with_token(" sesame\n").unwrap();
        assert_eq!(address.token.as_ref().unwrap().header(), "Bearer sesame");
        assert!(!format!("{address} {address:?}").contains("sesame"));
        assert!(matches!(address.with_token("ses\name"), Err(Error::Denied(_))));
    }
}

//! The URL of a store: `postgres://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?OPTIONS]`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use forklore_store::disk::CacheFolder;
use forklore_store::{Error, Result};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::schema::digits;

/// The tenant of a URL that names none.
const TENANT: &str = "default";
/// The most bytes that the name of a tenant may have.
const TENANT_BYTES: usize = 63;
const POOL: usize = 8;
const MOST_POOLED: usize = 1_000;
const DEADLINE: Duration = Duration::from_secs(30);
const CONNECTING: Duration = Duration::from_secs(10);
/// How long a connection may be silent before the host of the server is probed, and between probes.
const PROBE: Duration = Duration::from_secs(5);

/// The parsed URL of a store. Its text, also for debugging, never contains the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    pub(crate) config: Config,
    /// The name that leads every key of the store, so that many stores can share one database.
    pub(crate) tenant: String,
    /// The most connections that the store opens for its calls.
    pub(crate) pool: usize,
    /// How long a call may take before it fails.
    pub(crate) deadline: Duration,
    pub(crate) listen: Listen,
    /// Whether the connections are encrypted, if the URL says so.
    encryption: Option<SslMode>,
    /// The file with the certificates to trust, instead of those of the system.
    pub(crate) root_certificates: Option<PathBuf>,
    cache: Cache,
}

/// Where a store has data that is computed from it, such as the index of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Cache {
    /// The URL does not say it.
    Open,
    Nowhere,
    /// In a folder of this folder.
    In(PathBuf),
}

/// How a waiting reader of the feed hears of commits of other processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Listen {
    /// With `LISTEN` on a connection to the address of the store.
    Here,
    /// With `LISTEN` on a connection to this host and port, because the address of the store is
    /// that of a pooler.
    Direct(String, u16),
    /// Not at all: it looks for itself from time to time.
    Never,
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(url: &str) -> Result<Self> {
        let (plain, options) = url.split_once('?').unwrap_or((url, ""));
        // The message of the parser may quote a part of the URL, so only its kind is reported.
        let config = Config::from_str(plain).map_err(|_| refused("it is not a valid URL"))?;
        let mut address = Self {
            config,
            tenant: TENANT.to_owned(),
            pool: POOL,
            deadline: DEADLINE,
            listen: Listen::Here,
            encryption: None,
            root_certificates: None,
            cache: Cache::Open,
        };
        address.config.connect_timeout(CONNECTING);
        // A host that lost its power closes no connection.
        address.config.keepalives_idle(PROBE).keepalives_interval(PROBE).keepalives_retries(2);
        address.config.tcp_user_timeout(CONNECTING);
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            address.set(name, value)?;
        }
        let is_local = address.config.get_hosts().iter().all(is_of_this_machine);
        let mode = address.mode(is_local);
        address.config.ssl_mode(mode);
        // Every login of the server can read this, so it does not name the tenant.
        address.config.application_name("forklore");
        if address.config.get_hosts().is_empty() || address.config.get_dbname().is_none() {
            return Err(refused("it names no host or no database"));
        }
        if address.config.get_password().is_none()
            && let Ok(password) = std::env::var("PGPASSWORD")
        {
            address.config.password(password);
        }
        Ok(address)
    }
}

impl Address {
    /// Returns the same address for another tenant of the database.
    ///
    /// # Errors
    /// `Invalid` if the name is none of a tenant.
    pub fn with_tenant(mut self, name: &str) -> Result<Self> {
        self.set("tenant", name)?;
        Ok(self)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let number = || value.parse::<usize>().ok().filter(|number| *number > 0);
        match name {
            "tenant" if is_tenant(value) => self.tenant = value.to_owned(),
            "pool" => {
                let pool = number().filter(|pool| *pool <= MOST_POOLED);
                self.pool = pool.ok_or_else(|| refused("pool is a number from 1 to 1000"))?;
            }
            "deadline" => {
                let seconds = number().ok_or_else(|| refused("deadline is a number of seconds"))?;
                self.deadline = Duration::from_secs(seconds as u64);
            }
            "listen" if value == "no" => self.listen = Listen::Never,
            "listen" => {
                let direct = value.rsplit_once(':').and_then(|(host, port)| {
                    let host = host.trim_start_matches('[').trim_end_matches(']');
                    Some(Listen::Direct(host.to_owned(), port.parse().ok()?))
                });
                self.listen = direct.ok_or_else(|| refused("listen is HOST:PORT or no"))?;
            }
            "sslmode" if value == "disable" => self.encryption = Some(SslMode::Disable),
            "sslmode" if matches!(value, "require" | "verify-full") => {
                self.encryption = Some(SslMode::Require);
            }
            "sslmode" => return Err(refused("sslmode is disable or verify-full")),
            "sslrootcert" if !value.is_empty() => self.root_certificates = Some(value.into()),
            "cache" if value == "no" => self.cache = Cache::Nowhere,
            "cache" if !value.is_empty() => self.cache = Cache::In(value.into()),
            "host" if value.starts_with('/') => {
                self.config.host(value);
            }
            _ => {
                return Err(refused(
                    "its options are tenant, pool, deadline, listen, host, sslmode, sslrootcert and \
                     cache",
                ));
            }
        }
        Ok(())
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

    /// Returns the folder for data that is computed from the store with this identity.
    pub(crate) fn cache(&self, identity: &str) -> Option<CacheFolder> {
        let Cache::In(folder) = &self.cache else { return None };
        Some(CacheFolder::at(folder.join(format!("postgres-{}", digits(identity)))))
    }

    /// Returns the configuration of the connection that listens for commits; `None` if none does.
    pub(crate) fn listener(&self) -> Option<Config> {
        match &self.listen {
            Listen::Never => None,
            Listen::Here => Some(self.config.clone()),
            Listen::Direct(host, port) => {
                let mut config = Config::new();
                let pooled = &self.config;
                pooled.get_user().map(|user| config.user(user));
                pooled.get_password().map(|password| config.password(password));
                pooled.get_dbname().map(|name| config.dbname(name));
                pooled.get_application_name().map(|name| config.application_name(name));
                // The pooler may be on this machine and the server on another one.
                let is_local = is_of_this_machine(&Host::Tcp(host.clone()));
                config.ssl_mode(self.mode(is_local)).connect_timeout(CONNECTING);
                config.host(host).port(*port);
                Some(config)
            }
        }
    }

    /// Returns whether a connection is encrypted: as the URL says, or else unless it stays on this
    /// machine.
    fn mode(&self, is_local: bool) -> SslMode {
        let default = if is_local { SslMode::Disable } else { SslMode::Require };
        self.encryption.unwrap_or(default)
    }
}

/// Checks whether a host is this machine: a socket or a loopback address.
fn is_of_this_machine(host: &Host) -> bool {
    match host {
        #[cfg(unix)]
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
        }
    }
}

/// Checks the name of a tenant. It is a part of every key, so it is short and plain.
fn is_tenant(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && name.len() <= TENANT_BYTES && name.chars().all(plain)
}

fn refused(why: &str) -> Error {
    Error::Invalid(format!(
        "the URL of a PostgreSQL store is postgres://USER@HOST:PORT/DATABASE?OPTIONS; {why}"
    ))
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{user}@")?;
        }
        let ports = self.config.get_ports();
        for (number, host) in self.config.get_hosts().iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            match host {
                #[cfg(unix)]
                Host::Unix(path) => write!(f, "{comma}{}", path.display())?,
                Host::Tcp(name) if name.contains(':') => write!(f, "{comma}[{name}]")?,
                Host::Tcp(name) => write!(f, "{comma}{name}")?,
            }
            if let Some(port) = ports.get(number).or(ports.first()) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())?;
        if self.tenant == TENANT { Ok(()) } else { write!(f, "?tenant={}", self.tenant) }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Address {
        url.parse().unwrap()
    }

    #[test]
    fn a_url_says_where_the_store_is() {
        let address = parsed("postgres://ann@db.example:5433/team?tenant=blue&pool=3&deadline=7");
        assert_eq!(address.to_string(), "postgres://ann@db.example:5433/team?tenant=blue");
        assert_eq!((address.pool, address.deadline), (3, Duration::from_secs(7)));
        let six = parsed("postgres://ann@[::1]:5433/team");
        assert_eq!(six.tenant, "default");
        assert_eq!(six.to_string(), "postgres://ann@[::1]:5433/team");
    }

    #[test]
    fn only_this_machine_is_reached_without_tls() {
        for local in ["localhost", "127.0.0.1", "[::1]"] {
            let config = parsed(&format!("postgres://ann@{local}/team")).config;
            assert_eq!(config.get_ssl_mode(), SslMode::Disable, "{local}");
        }
        let remote = parsed("postgres://ann@db.example,127.0.0.1/team").config;
        assert_eq!(remote.get_ssl_mode(), SslMode::Require);
        let plain = parsed("postgres://ann@db.example/team?sslmode=disable").config;
        assert_eq!(plain.get_ssl_mode(), SslMode::Disable);
    }

    #[test]
    fn no_text_of_an_address_shows_its_password() {
        let address = parsed("postgres://ann:sesame@localhost/team");
        assert_eq!(address.config.get_password(), Some(&b"sesame"[..]));
        assert!(!format!("{address} {address:?}").contains("sesame"));
        for wrong in [
            "postgres://ann:sesame@localhost:port/team",
            "postgres://ann:sesame@localhost/team?sslmode=prefer",
            "postgres://ann:sesame@localhost/team?listen=sesame",
            "postgres://ann:sesame@localhost/team?sesame=1",
            "postgres://ann:sesame@localhost",
        ] {
            let refused = wrong.parse::<Address>().unwrap_err();
            assert!(!format!("{refused} {refused:?}").contains("sesame"), "{refused}");
        }
    }

    #[test]
    fn a_listener_may_go_past_a_pooler() {
        let address = parsed("postgres://ann@localhost:6432/team?listen=localhost:5432");
        assert_eq!(address.listener().unwrap().get_ports(), [5432]);
        assert_eq!(address.listener().unwrap().get_ssl_mode(), SslMode::Disable);
        let far = parsed("postgres://ann@localhost:6432/team?listen=db.example:5432");
        assert_eq!(far.config.get_ssl_mode(), SslMode::Disable);
        assert_eq!(far.listener().unwrap().get_ssl_mode(), SslMode::Require);
        let plain = parsed("postgres://ann@localhost/team?listen=db.example:5432&sslmode=disable");
        assert_eq!(plain.listener().unwrap().get_ssl_mode(), SslMode::Disable);
        let six = parsed("postgres://ann@localhost/team?listen=[::1]:5432").listener().unwrap();
        assert_eq!(six.get_hosts(), [Host::Tcp("::1".into())]);
        let never = parsed("postgres://ann@localhost/team?listen=no");
        assert!(never.listener().is_none());
    }
}

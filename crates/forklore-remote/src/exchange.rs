//! One exchange with the server: a request and its answer.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use forklore_store::{Error, Result};
use serde::de::DeserializeOwned;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, AsSendBody, Proxy};

use crate::address::Address;
use crate::failure::{Failed, not_forklore};
use crate::protocol::{
    Call, DONE, FAILED, Failure, LONGEST_ANSWER, NO_SUCH_CALL, NOTHING, VERSION, Versions,
};

const CONNECTING: Duration = Duration::from_secs(10);
/// The most connections that wait for the next call.
const IDLE: usize = 16;
/// How long a connection waits for the next call. Servers close connections that wait for longer.
const IDLE_FOR: Duration = Duration::from_secs(4);
/// The most bytes of an answer that are read to find out what it is.
const GLANCE: u64 = 64 << 10;

/// How long an exchange may take.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    /// As a whole.
    Whole(Duration),
    /// Each read and each write, because nobody knows how much is sent.
    Step(Duration),
}

/// Creates what opens connections to this address.
pub(crate) fn agent(address: &Address) -> Result<Agent> {
    let roots = match &address.certificates {
        None => RootCerts::PlatformVerifier,
        Some(path) => {
            let doing = || format!("reading the certificates in {}", path.display());
            let pem = std::fs::read(path).map_err(|error| Error::io(doing(), error))?;
            let mut found = Vec::new();
            for item in parse_pem(&pem) {
                if let PemItem::Certificate(one) =
                    item.map_err(|error| Error::io(doing(), error))?
                {
                    found.push(one);
                }
            }
            if found.is_empty() {
                return Err(Error::Invalid(format!("{} has no certificate", path.display())));
            }
            RootCerts::Specific(Arc::new(found))
        }
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls =
        TlsConfig::builder().unversioned_rustls_crypto_provider(provider).root_certs(roots).build();
    let proxy = if address.may_use_proxy() { Proxy::try_from_env() } else { None };
    let config = Agent::config_builder()
        .tls_config(tls)
        .proxy(proxy)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(CONNECTING))
        .max_idle_connections(IDLE)
        .max_idle_connections_per_host(IDLE)
        .max_idle_age(IDLE_FOR)
        .user_agent(concat!("forklore/", env!("CARGO_PKG_VERSION")))
        .build();
    Ok(config.into())
}

/// The answer to a request that the store executed.
pub(crate) struct Answered(ureq::Body);

/// Sends a request. Returns `None` if the answer is that there is nothing.
pub(crate) fn send(
    (agent, address): (&Agent, &Address),
    call: &str,
    body: impl AsSendBody,
    limit: Limit,
) -> Result<Option<Answered>, Failed> {
    let request = agent.post(address.of_call(VERSION, call)).config();
    let request = match limit {
        Limit::Whole(time) => request.timeout_global(Some(time)),
        Limit::Step(time) => request.timeout_per_read(Some(time)).timeout_per_write(Some(time)),
    };
    let mut request = request.build().header("content-type", "application/json");
    if let Some(token) = &address.token {
        request = request.header("authorization", token.header());
    }
    let response = request.send(body).map_err(Failed::of)?;
    let status = response.status().as_u16();
    let answered = Answered(response.into_body());
    match status {
        DONE => Ok(Some(answered)),
        NOTHING => Ok(None),
        FAILED => match answered.glance() {
            Ok(failure) => Err(Failed::Store(Failure::into(failure))),
            Err(_) => Err(Failed::Garbled(not_forklore("it reports an error of another kind"))),
        },
        NO_SUCH_CALL => match answered.glance() {
            Ok(Versions { forklore_store }) => {
                Err(Failed::Refused(other_version(&address.to_string(), &forklore_store)))
            }
            Err(_) => Err(Failed::of_status(status, &address.to_string())),
        },
        _ => Err(Failed::of_status(status, &address.to_string())),
    }
}

fn other_version(location: &str, versions: &[u32]) -> Error {
    let newest = versions.iter().max().copied().unwrap_or_default();
    let older = if newest > VERSION { "this program" } else { "the server" };
    let versions: Vec<_> = versions.iter().map(u32::to_string).collect();
    Error::Unsupported(format!(
        "{location} speaks version {} of the protocol between stores, and this program version \
         {VERSION}; update {older}",
        versions.join(", ")
    ))
}

impl Answered {
    /// Returns the result of the call.
    pub(crate) fn result<T: DeserializeOwned>(self) -> Result<T, Failed> {
        self.read(LONGEST_ANSWER)
    }

    /// Returns a short answer.
    fn glance<T: DeserializeOwned>(self) -> Result<T, Failed> {
        self.read(GLANCE)
    }

    fn read<T: DeserializeOwned>(self, most: u64) -> Result<T, Failed> {
        let too_long = || {
            let message = format!("its answer is longer than {most} bytes; ask for less at once");
            Failed::Garbled(Error::Invalid(message))
        };
        if self.0.content_length().is_some_and(|length| length > most) {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        let reader = self.0.into_with_config().limit(most + 1).reader();
        let read = reader.take(most + 1).read_to_end(&mut bytes);
        read.map_err(|error| Failed::of(error.into()))?;
        if bytes.len() as u64 > most {
            return Err(too_long());
        }
        serde_json::from_slice(&bytes).map_err(|error| {
            Failed::Garbled(not_forklore(&format!("its answer is not valid: {error}")))
        })
    }

    /// Returns a reader of the bytes of the answer.
    pub(crate) fn bytes(self) -> impl Read + Send + use<> {
        self.0.into_with_config().limit(u64::MAX).reader()
    }
}

/// Returns what a call does, for messages, before the name of the server.
pub(crate) fn doing(call: Call) -> &'static str {
    match call {
        Call::Hello => "opening",
        Call::Commit | Call::CommitAll => "writing to",
        Call::Put | Call::Pin | Call::Unpin => "attaching to",
        Call::Changes => "following",
        Call::Verify => "verifying",
        Call::Gc | Call::Pack | Call::Sweep => "cleaning",
        _ => "reading",
    }
}

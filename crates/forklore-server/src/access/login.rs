//! The login of the page: a link that works once gives the browser a cookie.
//!
//! The secret of the link stands behind `#`, which browsers send to nobody. A module of the page
//! exchanges it for the cookie, which no script can read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, header};
use forklore_api::Scope;
use jiff::Timestamp;

use super::Caller;
use super::token::{hash, secret};

/// The cookie of the page.
const COOKIE: &str = "forklore";
/// How long a browser stays logged in.
const LASTS: Duration = Duration::from_secs(30 * 24 * 3600);
/// The most browsers that are logged in. A new one replaces the one that expires first.
const MOST: usize = 1_000;

/// The links and the browsers of one run of the server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Logins(Arc<Mutex<Open>>);

#[derive(Debug, Default)]
struct Open {
    /// The hashes of the links that were not yet used.
    links: HashMap<String, Caller>,
    /// The hashes of the cookies, with the time at which they end.
    browsers: HashMap<String, Browser>,
}

/// A browser that is logged in.
#[derive(Debug)]
struct Browser {
    who: Who,
    ends: Timestamp,
}

/// Who is logged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// Whoever used the link that the server printed.
    Starter(Caller),
    /// The owner of the token with this hash, for as long as the token is valid.
    Owner(String),
}

impl Logins {
    fn state(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates the secret of a link for the person who started the server.
    pub(crate) fn link(&self, name: &str) -> Result<String, getrandom::Error> {
        let secret = secret()?;
        let caller = Caller { name: name.to_owned(), scope: Scope::Admin, tenant: None };
        self.state().links.insert(hash(&secret), caller);
        Ok(secret)
    }

    /// Takes the secret of a link. Returns whose link it was, if it was not used before.
    pub(crate) fn take(&self, secret: &str) -> Option<Caller> {
        self.state().links.remove(&hash(secret))
    }

    /// Logs a browser in. Returns the value of `Set-Cookie`.
    pub(crate) fn begin(
        &self,
        who: Who,
        now: Timestamp,
        is_encrypted: bool,
    ) -> Result<String, getrandom::Error> {
        let secret = secret()?;
        let mut state = self.state();
        state.browsers.retain(|_, browser| now < browser.ends);
        if state.browsers.len() >= MOST {
            let first = state.browsers.iter().min_by_key(|(_, browser)| browser.ends);
            let first = first.map(|(key, _)| key.clone());
            first.and_then(|first| state.browsers.remove(&first));
        }
        let ends = now.saturating_add(LASTS).unwrap_or(now);
        state.browsers.insert(hash(&secret), Browser { who, ends });
        let secure = if is_encrypted { "; Secure" } else { "" };
        let age = LASTS.as_secs();
        Ok(format!("{COOKIE}={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age={age}{secure}"))
    }

    /// Returns who is logged in with the cookie of a request.
    pub(crate) fn who(&self, headers: &HeaderMap, now: Timestamp) -> Option<Who> {
        let state = self.state();
        let browser = state.browsers.get(&hash(cookie(headers)?))?;
        (now < browser.ends).then(|| browser.who.clone())
    }

    /// Logs the browser of a request out. Returns the value of `Set-Cookie`.
    pub(crate) fn end(&self, headers: &HeaderMap) -> String {
        if let Some(secret) = cookie(headers) {
            self.state().browsers.remove(&hash(secret));
        }
        format!("{COOKIE}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0")
    }
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_works_once_and_its_cookie_until_it_ends() {
        let (logins, now) = (Logins::default(), Timestamp::from_second(1_000).unwrap());
        let link = logins.link("ann").unwrap();
        assert_eq!(logins.take("fkl_guess"), None);
        let who = Who::Starter(logins.take(&link).unwrap());
        assert_eq!(logins.take(&link), None);

        let cookie = logins.begin(who.clone(), now, true).unwrap();
        assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000; Secure"));
        let pair = cookie.split(';').next().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, format!("a=b; {pair}; c=d").parse().unwrap());
        let later = now + LASTS;
        assert_eq!(logins.who(&headers, now), Some(who));
        assert_eq!(logins.who(&headers, later), None);
        logins.end(&headers);
        assert_eq!(logins.who(&headers, now), None);
    }
}

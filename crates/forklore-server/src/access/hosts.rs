//! The names under which the server may be called. A page of another site can make a browser call
//! this machine under the other site's name (DNS rebinding), so any other name is refused.

use std::net::SocketAddr;

use axum::http::{HeaderMap, Uri, header};

/// The allowed values of `Host`, each with its scheme in front as in `Origin`.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    origins: Vec<String>,
}

impl Hosts {
    /// Allows the address that the server listens at, the names of this machine if it listens there
    /// only, and the public URL.
    pub(crate) fn of(scheme: &str, address: SocketAddr, public: Option<&Uri>) -> Self {
        let port = address.port();
        let mut origins = vec![format!("{scheme}://{address}")];
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            let local = ["localhost", "127.0.0.1", "[::1]"];
            origins.extend(local.iter().map(|name| format!("{scheme}://{name}:{port}")));
        }
        let usual = if scheme == "https" { ":443" } else { ":80" };
        if usual.ends_with(&format!(":{port}")) {
            let short = origins.iter().filter_map(|origin| origin.strip_suffix(usual));
            let short: Vec<_> = short.map(str::to_owned).collect();
            origins.extend(short);
        }
        if let Some((scheme, authority)) =
            public.and_then(|url| Some((url.scheme_str()?, url.authority()?)))
        {
            origins.push(format!("{scheme}://{authority}").to_lowercase());
        }
        Self { origins }
    }

    /// Checks whether a request names one of the hosts.
    pub(crate) fn has_host(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(Ok(host)), None) = (hosts.next().map(|host| host.to_str()), hosts.next()) else {
            return false;
        };
        let host = host.to_lowercase();
        self.origins
            .iter()
            .any(|origin| origin.split_once("://").is_some_and(|(_, allowed)| allowed == host))
    }

    /// Checks whether the page that sends a request is one of this server's. Programs name none.
    pub(crate) fn has_origin(&self, headers: &HeaderMap) -> bool {
        headers.get_all(header::ORIGIN).iter().all(|origin| {
            origin.to_str().is_ok_and(|origin| self.origins.contains(&origin.to_lowercase()))
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(name: &header::HeaderName, values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name.clone(), HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn only_the_names_of_the_server_are_hosts() {
        let public = "https://lore.example".parse().unwrap();
        let hosts = Hosts::of("http", "127.0.0.1:4747".parse().unwrap(), Some(&public));
        let is_host = |values: &[&str]| hosts.has_host(&headers(&header::HOST, values));
        for host in
            ["127.0.0.1:4747", "localhost:4747", "LocalHost:4747", "[::1]:4747", "lore.example"]
        {
            assert!(is_host(&[host]), "{host}");
        }
        for host in
            ["evil.example", "localhost", "localhost:80", "lore.example:8080", "", "127.0.0.1"]
        {
            assert!(!is_host(&[host]), "{host}");
        }
        assert!(!is_host(&[]));
        assert!(!is_host(&["localhost:4747", "evil.example"]));
    }

    #[test]
    fn a_page_of_another_site_is_no_origin() {
        let hosts = Hosts::of("http", "127.0.0.1:4747".parse().unwrap(), None);
        let is_origin = |values: &[&str]| hosts.has_origin(&headers(&header::ORIGIN, values));
        assert!(is_origin(&[]));
        assert!(is_origin(&["http://localhost:4747"]));
        for origin in ["null", "http://evil.example", "https://localhost:4747", "http://localhost"]
        {
            assert!(!is_origin(&[origin]), "{origin}");
        }
        assert!(!is_origin(&["http://localhost:4747", "http://evil.example"]));
    }
}

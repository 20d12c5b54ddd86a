//! Encrypted connections.

use std::fs;
use std::path::{Path, PathBuf};

use forklore::store::Store as _;
use forklore_server::{Certificate, CertificateError, Options, Pages, Server, StartError};
use reqwest::{Client, Method};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::Running;

fn stored(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/tls").join(name)
}

/// Copies the files of a certificate to where a server reads them.
fn install(name: &str, folder: &Path) -> Certificate {
    let certificate = Certificate { chain: folder.join("cert.pem"), key: folder.join("key.pem") };
    fs::copy(stored(&format!("{name}.pem")), &certificate.chain).unwrap();
    fs::copy(stored(&format!("{name}.key")), &certificate.key).unwrap();
    certificate
}

async fn start() -> Running {
    let folder = tempfile::tempdir().unwrap();
    let certificate = install("first", folder.path());
    Running::with(folder, "127.0.0.1:0", Some(certificate)).await
}

fn client() -> Client {
    let trusted = reqwest::Certificate::from_pem(&fs::read(stored("ca.pem")).unwrap()).unwrap();
    Client::builder().no_proxy().tls_certs_only([trusted]).build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_encrypted_server_answers_those_who_trust_its_authority() {
    let server = start().await;
    assert!(server.url.starts_with("https://127.0.0.1:"), "{}", server.url);
    let ask = |client: &Client| {
        let request = client.get(format!("{}/api/v1/sessions", server.url));
        request.bearer_auth(&server.token).send()
    };
    assert_eq!(ask(&client()).await.unwrap().status(), 200);
    assert!(ask(&server.client).await.is_err(), "nobody else trusts the authority");
    // A page of the unencrypted address is another site.
    let other = server.url.replace("https://", "http://");
    let forged = client().post(format!("{}/api/v1/sessions", server.url)).header("origin", other);
    assert_eq!(forged.bearer_auth(&server.token).send().await.unwrap().status(), 403);
    let login = client().post(format!("{}/login", server.url));
    let body = serde_json::json!({ "secret": server.token });
    let done = crate::send(login, &body).await;
    let cookie = done.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("; Secure"), "{cookie}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_is_reached_over_an_encrypted_connection() {
    let server = start().await;
    let url = format!("{}?ca={}", server.url, stored("ca.pem").display());
    let token = server.token.clone();
    let opened = tokio::task::spawn_blocking(move || {
        let address: forklore::remote::Address = url.parse().unwrap();
        let store = forklore::remote::HttpStore::open(address.with_token(&token).unwrap());
        store.map(|store| store.store_bytes().unwrap())
    });
    assert!(opened.await.unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_http_is_refused_with_the_hint_to_use_https() {
    let server = start().await;
    let host = server.url.strip_prefix("https://").unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    // The server closes its side; then so does the client.
    let mut buffer = [0; 4096];
    while !answer.ends_with("\n") || !answer.contains("https://") {
        let read = stream.read(&mut buffer).await.unwrap();
        assert_ne!(read, 0, "{answer}");
        answer.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.ends_with("this server is encrypted: use https:// in place of http://\n"));
    // A client that sends nonsense, or nothing, harms nobody.
    let mut broken = TcpStream::connect(host).await.unwrap();
    broken.write_all(&[0x16, 0x03, 0x01, 0xff, 0xff, 0, 0]).await.unwrap();
    let _silent = TcpStream::connect(host).await.unwrap();
    drop(broken);
    let answer = client().request(Method::GET, format!("{}/health", server.url)).send().await;
    assert_eq!(answer.unwrap().text().await.unwrap(), "ok\n");
}

/// Returns the certificate that a new connection gets.
async fn shown(server: &Running) -> Vec<u8> {
    let client = Client::builder()
        .no_proxy()
        .tls_info(true)
        .tls_certs_only([
            reqwest::Certificate::from_pem(&fs::read(stored("ca.pem")).unwrap()).unwrap()
        ])
        .build()
        .unwrap();
    let answer = client.get(format!("{}/health", server.url)).send().await.unwrap();
    let info = answer.extensions().get::<reqwest::tls::TlsInfo>().unwrap();
    info.peer_certificate().unwrap().to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_certificate_is_used_without_a_restart() {
    let server = start().await;
    let first = shown(&server).await;
    // Half of a renewal does not fit together; the earlier certificate stays.
    let chain = server.folder.path().join("cert.pem");
    fs::copy(stored("renewed.pem"), &chain).unwrap();
    assert_eq!(shown(&server).await, first);
    install("renewed", server.folder.path());
    let renewed = shown(&server).await;
    assert_ne!(renewed, first);
    fs::remove_file(&chain).unwrap();
    assert_eq!(shown(&server).await, renewed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let certificate = install("first", folder.path());
    let start = async |certificate: Certificate| {
        let engine = forklore::blocking::open("memory:").unwrap();
        let options = Options {
            listen: "127.0.0.1:0".parse().unwrap(),
            public_url: None,
            state: folder.path().join("state"),
            certificate: Some(certificate),
        };
        match Server::bind(Pages::new(engine), options).await {
            Err(StartError::Certificate(error)) => error,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("the certificate was accepted"),
        }
    };
    let missing = Certificate { chain: folder.path().join("none.pem"), ..certificate.clone() };
    let error = start(missing).await;
    assert_eq!(error.kind(), forklore_core::ErrorKind::NotFound, "{error}");
    let swapped = Certificate { chain: certificate.key.clone(), key: certificate.chain.clone() };
    assert!(matches!(start(swapped).await, CertificateError::Pem { what: "certificate", .. }));
    let no_key = Certificate { key: certificate.chain.clone(), ..certificate.clone() };
    assert!(matches!(start(no_key).await, CertificateError::Pem { what: "private key", .. }));
    fs::copy(stored("renewed.key"), &certificate.key).unwrap();
    assert!(matches!(start(certificate).await, CertificateError::Refused { .. }));
}

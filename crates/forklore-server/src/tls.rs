//! TLS: the certificate of the server, which is read anew when its files change.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use forklore_core::ErrorKind;
use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

/// The files of a certificate, as PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The file with the certificate, and those that lead to its authority.
    pub chain: PathBuf,
    /// The file with the private key.
    pub key: PathBuf,
}

impl Certificate {
    /// Checks whether a server could use the certificate now.
    ///
    /// # Errors
    /// When a file cannot be read or used.
    pub fn check(&self) -> Result<(), CertificateError> {
        load(self, &ring::default_provider()).map(drop)
    }
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file cannot be read.
    #[error("reading {path}: {source}")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file is not PEM, or has not what it should have.
    #[error("{path} has no {what} as PEM")]
    Pem {
        /// The path of the file.
        path: PathBuf,
        /// What the file should have.
        what: &'static str,
    },
    /// The certificate and the key do not belong together, or nobody can use them.
    #[error("the certificate {chain} with the key {key}: {source}")]
    Refused {
        /// The file of the certificate.
        chain: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// What is wrong.
        source: rustls::Error,
    },
}

impl CertificateError {
    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::File { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                ErrorKind::NotFound
            }
            Self::File { source, .. } => crate::of_system(source),
            Self::Pem { .. } | Self::Refused { .. } => ErrorKind::InvalidArgs,
        }
    }
}

/// Returns what encrypts connections with a certificate.
pub(crate) fn acceptor(files: Certificate) -> Result<TlsAcceptor, CertificateError> {
    let provider = Arc::new(ring::default_provider());
    let current = Current::new(files.clone(), &provider)?;
    let refused = |source| CertificateError::Refused { chain: files.chain, key: files.key, source };
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(refused)?;
    let mut config = config.with_no_client_auth().with_cert_resolver(Arc::new(current));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// The certificate that new connections get.
#[derive(Debug)]
struct Current {
    files: Certificate,
    provider: Arc<CryptoProvider>,
    loaded: Mutex<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    key: Arc<CertifiedKey>,
    /// The state of the files when they were read.
    of: Stamp,
}

/// What shows cheaply that files have changed.
type Stamp = [Option<(SystemTime, u64)>; 2];

impl Current {
    fn new(files: Certificate, provider: &Arc<CryptoProvider>) -> Result<Self, CertificateError> {
        let of = stamp(&files);
        let key = Arc::new(load(&files, provider)?);
        let provider = provider.clone();
        Ok(Self { files, provider, loaded: Mutex::new(Loaded { key, of }) })
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let now = stamp(&self.files);
        // Between the two files' renewals they do not belong together. Then the earlier certificate
        // stays until a later connection.
        if now != loaded.of
            && let Ok(key) = load(&self.files, &self.provider)
        {
            *loaded = Loaded { key: Arc::new(key), of: now };
        }
        Some(loaded.key.clone())
    }
}

fn stamp(files: &Certificate) -> Stamp {
    [&files.chain, &files.key].map(|path| {
        let about = fs::metadata(path).ok()?;
        Some((about.modified().ok()?, about.len()))
    })
}

fn load(files: &Certificate, provider: &CryptoProvider) -> Result<CertifiedKey, CertificateError> {
    let Certificate { chain, key } = files;
    let no_chain = || CertificateError::Pem { path: chain.clone(), what: "certificate" };
    let certificates: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(&bytes(chain)?)
        .map(|one| one.map(CertificateDer::into_owned))
        .collect();
    let certificates = certificates.map_err(|_| no_chain())?;
    if certificates.is_empty() {
        return Err(no_chain());
    }
    let private = PrivateKeyDer::from_pem_slice(&bytes(key)?);
    let private =
        private.map_err(|_| CertificateError::Pem { path: key.clone(), what: "private key" })?;
    CertifiedKey::from_der(certificates, private, provider).map_err(|source| {
        CertificateError::Refused { chain: chain.clone(), key: key.clone(), source }
    })
}

fn bytes(path: &Path) -> Result<Vec<u8>, CertificateError> {
    fs::read(path).map_err(|source| CertificateError::File { path: path.to_owned(), source })
}

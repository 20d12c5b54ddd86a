//! TLS for connections to a server, with the library and the certificates that the other crates use.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use forklore_store::{Error, Result};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client;

/// Makes TLS connections that verify the server's certificate and its name.
#[derive(Clone)]
pub(crate) struct Tls {
    /// The file with the certificates to trust, instead of those of the system.
    roots: Option<PathBuf>,
    /// Reading the system's certificates takes long, so only an encrypted connection does it.
    config: Arc<OnceLock<Arc<ClientConfig>>>,
}

impl Tls {
    pub(crate) fn new(roots: Option<PathBuf>) -> Self {
        Self { roots, config: Arc::default() }
    }

    fn config(&self) -> Result<Arc<ClientConfig>> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::io("preparing TLS", error))?;
        let builder = match &self.roots {
            Some(path) => builder.with_root_certificates(certificates(path)?),
            None => builder
                .with_platform_verifier()
                .map_err(|error| Error::io("reading the system's certificates", error))?,
        };
        let config = Arc::new(builder.with_no_client_auth());
        Ok(Arc::clone(self.config.get_or_init(|| config)))
    }
}

fn certificates(path: &Path) -> Result<RootCertStore> {
    let doing = || format!("reading the certificates in {}", path.display());
    let found = CertificateDer::pem_file_iter(path).map_err(|error| Error::io(doing(), error))?;
    let mut roots = RootCertStore::empty();
    for certificate in found {
        let certificate = certificate.map_err(|error| Error::io(doing(), error))?;
        roots.add(certificate).map_err(|error| Error::io(doing(), error))?;
    }
    Ok(roots)
}

impl<S> MakeTlsConnect<S> for Tls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        Ok(Handshake { tls: self.clone(), name })
    }
}

/// A handshake with one server. It is prepared for every connection, and begins only if the
/// connection is encrypted.
pub(crate) struct Handshake {
    tls: Tls,
    name: ServerName<'static>,
}

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let config = self.tls.config().map_err(io::Error::other)?;
            let stream = TlsConnector::from(config).connect(self.name, stream).await?;
            Ok(Encrypted(Box::new(stream)))
        })
    }
}

/// An encrypted connection.
pub(crate) struct Encrypted<S>(Box<client::TlsStream<S>>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(context, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(context, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(context)
    }
}

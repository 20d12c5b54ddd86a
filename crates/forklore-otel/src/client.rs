//! The HTTP client that sends spans to a collector. The exporter's thread calls the client; the
//! requests run on tokio.

use std::time::Duration;

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::runtime::Handle;

use crate::NotTraced;

/// The maximum size in bytes of the response body that a trace collector may send. A larger body is
/// an error.
const ANSWER: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct Client {
    client: reqwest::Client,
    runtime: Handle,
}

impl Client {
    pub(crate) fn new(patience: Duration) -> Result<Self, NotTraced> {
        // An error means that the application already installed another crypto provider, which
        // works too.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let redirect = reqwest::redirect::Policy::none();
        let client = reqwest::Client::builder().timeout(patience).redirect(redirect).build()?;
        Ok(Self { client, runtime: Handle::try_current()? })
    }
}

#[async_trait::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        // Run the request on the runtime, because the exporter's thread has none.
        let sent = self.runtime.spawn(async move {
            let mut answer = client.execute(request.try_into()?).await?;
            let mut response = Response::builder().status(answer.status());
            if let Some(headers) = response.headers_mut() {
                *headers = answer.headers().clone();
            }
            let mut body = Vec::new();
            while let Some(piece) = answer.chunk().await? {
                if body.len() + piece.len() > ANSWER {
                    return Err(opentelemetry_http::ResponseBodyTooLarge::new().into());
                }
                body.extend_from_slice(&piece);
            }
            Ok(response.body(Bytes::from(body))?)
        });
        sent.await?
    }
}

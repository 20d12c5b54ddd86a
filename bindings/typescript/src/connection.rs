//! A connection to a store, as a class of JavaScript.

use std::sync::Arc;
use std::time::Instant;

use forklore_bindings::Connection as Inner;
use napi::Result;
use napi::bindgen_prelude::{AsyncTask, Uint8Array};
use napi_derive::napi;

use crate::failure::thrown;
use crate::rows::Rows;
use crate::work::{Work, promised};

/// A connection to a store. Requests and answers are JSON; several calls may run at once.
#[napi]
pub struct Connection {
    inner: Arc<Inner>,
}

/// Opens the store that `url` names, or the user's store.
#[napi]
pub(crate) fn open(url: Option<String>) -> AsyncTask<Work<Connection>> {
    promised(move || Ok(Connection::of(Inner::open(url.as_deref())?)))
}

/// Does what [`open`] does in the calling thread.
#[napi]
pub(crate) fn open_sync(url: Option<String>) -> Result<Connection> {
    Inner::open(url.as_deref()).map(Connection::of).map_err(thrown)
}

impl Connection {
    fn of(inner: Inner) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// Returns the connection for another class.
    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }
}

#[napi]
impl Connection {
    /// The kind and the location of the store, without a password.
    #[napi(getter)]
    pub fn location(&self) -> &str {
        self.inner.location()
    }

    /// Executes a request and returns its answer.
    #[napi]
    pub fn call(&self, request: String) -> AsyncTask<Work<String>> {
        let inner = Arc::clone(&self.inner);
        promised(move || inner.call(&request))
    }

    /// Does what `call` does in the calling thread.
    #[napi]
    pub fn call_sync(&self, request: String) -> Result<String> {
        self.inner.call(&request).map_err(thrown)
    }

    /// Executes a request several times without JavaScript, and returns how many microseconds one took.
    /// The benchmark of the overhead compares it with `callSync`.
    #[napi]
    pub fn measure(&self, request: String, times: u32) -> Result<f64> {
        let began = Instant::now();
        for _ in 0..times {
            self.inner.call(&request).map_err(thrown)?;
        }
        Ok(began.elapsed().as_secs_f64() * 1e6 / f64::from(times.max(1)))
    }

    /// Executes a request whose answer is a list, to be read page by page.
    #[napi]
    pub fn rows(&self, request: String) -> AsyncTask<Work<Rows>> {
        let inner = Arc::clone(&self.inner);
        promised(move || Ok(Rows::of(inner.rows(&request)?)))
    }

    /// Does what `rows` does in the calling thread.
    #[napi]
    pub fn rows_sync(&self, request: String) -> Result<Rows> {
        self.inner.rows(&request).map(Rows::of).map_err(thrown)
    }

    /// Executes a request that sends bytes. The bytes are copied before this returns.
    #[napi]
    pub fn send(&self, request: String, bytes: &[u8]) -> AsyncTask<Work<String>> {
        let (inner, bytes) = (Arc::clone(&self.inner), bytes.to_vec());
        promised(move || inner.send(&request, &bytes))
    }

    /// Does what `send` does in the calling thread.
    #[napi]
    pub fn send_sync(&self, request: String, bytes: &[u8]) -> Result<String> {
        self.inner.send(&request, bytes).map_err(thrown)
    }

    /// Executes a request whose answer is bytes.
    #[napi]
    pub fn receive(&self, request: String) -> AsyncTask<Work<Uint8Array>> {
        let inner = Arc::clone(&self.inner);
        promised(move || Ok(Uint8Array::new(inner.receive(&request)?)))
    }

    /// Does what `receive` does in the calling thread.
    #[napi]
    pub fn receive_sync(&self, request: String) -> Result<Uint8Array> {
        self.inner.receive(&request).map(Uint8Array::new).map_err(thrown)
    }

    /// Closes the store. Running calls end first; later ones fail.
    #[napi]
    pub fn close(&self) -> AsyncTask<Work<()>> {
        let inner = Arc::clone(&self.inner);
        promised(move || {
            inner.close();
            Ok(())
        })
    }

    /// Does what `close` does in the calling thread.
    #[napi]
    pub fn close_sync(&self) {
        self.inner.close();
    }
}

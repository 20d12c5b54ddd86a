//! The cores of the faces for frameworks, which use the store of a connection.

use std::sync::Arc;

use forklore_bindings::{Core, Result as Answer};
use forklore_engine::Engine;
use napi::Result;
use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};

use crate::connection::Connection;
use crate::failure::thrown;
use crate::work::{Work, promised};

/// The core of a face, whose calls run in other threads.
pub(crate) struct Face<T>(Arc<Core<T>>);

impl<T: Send + Sync + 'static> Face<T> {
    /// Makes a core over the store of a connection.
    pub(crate) fn new(connection: &Connection, make: impl FnOnce(Engine) -> T) -> Result<Self> {
        let core = connection.inner().core(|engine| Ok(make(engine.clone()))).map_err(thrown)?;
        Ok(Self(Arc::new(core)))
    }

    /// Returns the promise of what the core returns.
    pub(crate) fn answer<A: ToNapiValue + TypeName + Send + 'static>(
        &self,
        call: impl FnOnce(&T) -> Answer<A> + Send + 'static,
    ) -> AsyncTask<Work<A>> {
        let core = Arc::clone(&self.0);
        promised(move || core.call(call))
    }
}

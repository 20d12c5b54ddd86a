//! The items of a long answer, as a class of JavaScript.

use std::sync::{Arc, Mutex, PoisonError};

use napi::Result;
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use crate::failure::thrown;
use crate::work::{Work, promised};

/// The items of a long answer, read page by page.
#[napi]
pub struct Rows {
    inner: Arc<Mutex<Option<forklore_bindings::Rows>>>,
}

impl Rows {
    pub(crate) fn of(rows: forklore_bindings::Rows) -> Self {
        Self { inner: Arc::new(Mutex::new(Some(rows))) }
    }
}

#[napi]
impl Rows {
    /// Returns the next items as a JSON list, at most `limit`; an empty list at the end.
    #[napi]
    pub fn page(&self, limit: u32) -> AsyncTask<Work<String>> {
        let inner = Arc::clone(&self.inner);
        promised(move || page(&inner, limit))
    }

    /// Lets go of the store. Later pages are empty.
    #[napi]
    pub fn release(&self) {
        drop(self.inner.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Does what `page` does in the calling thread.
    #[napi]
    pub fn page_sync(&self, limit: u32) -> Result<String> {
        page(&self.inner, limit).map_err(thrown)
    }
}

fn page(
    rows: &Mutex<Option<forklore_bindings::Rows>>,
    limit: u32,
) -> forklore_bindings::Result<String> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    match rows.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
        Some(rows) => rows.page(limit),
        None => Ok("[]".to_owned()),
    }
}

//! Work of libuv's thread pool.

use forklore_bindings::{Failure, Result as Answer};
use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};
use napi::{Env, Error, Result, Status, Task};

use crate::failure::thrown;

type Run<T> = Box<dyn FnOnce() -> Answer<T> + Send>;

/// A call that has not begun. JavaScript gets its result as a promise.
pub struct Work<T> {
    run: Option<Run<T>>,
}

/// Returns the promise of what `run` returns in another thread.
pub(crate) fn promised<T>(run: impl FnOnce() -> Answer<T> + Send + 'static) -> AsyncTask<Work<T>>
where
    T: ToNapiValue + TypeName + Send + 'static,
{
    AsyncTask::new(Work { run: Some(Box::new(run)) })
}

impl<T: ToNapiValue + TypeName + Send + 'static> Task for Work<T> {
    type Output = Answer<T, Failure>;
    type JsValue = T;

    fn compute(&mut self) -> Result<Self::Output> {
        let run = self.run.take();
        run.map(|run| run())
            .ok_or_else(|| Error::new(Status::Cancelled, "the call has run already"))
    }

    fn resolve(&mut self, _: Env, answer: Self::Output) -> Result<Self::JsValue> {
        answer.map_err(thrown)
    }
}

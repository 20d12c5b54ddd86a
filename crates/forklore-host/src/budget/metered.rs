//! A model whose requests count against budgets.

use std::sync::{Arc, Mutex, PoisonError};

use forklore_agent::media::Capabilities;
use forklore_agent::model::{
    AnswerStream, Model, ModelError, ModelErrorKind, ModelName, ModelResult, Request, StreamEvent,
    TokenUsage,
};
use forklore_core::Prices;
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, FutureExt};

use super::limit::Limit;

/// A model that sends no request once a budget is used up. Sub-agents share the model of their
/// parent, so their requests count against the same budgets.
pub(super) struct Metered {
    pub(super) model: Arc<dyn Model>,
    pub(super) prices: Option<Prices>,
    pub(super) limits: Vec<Arc<Limit>>,
    /// Why the last request was refused.
    pub(super) refused: Arc<Mutex<Option<String>>>,
}

impl Model for Metered {
    fn name(&self) -> &ModelName {
        self.model.name()
    }

    fn context_window(&self) -> Option<u64> {
        self.model.context_window()
    }

    fn takes(&self) -> Capabilities {
        self.model.takes()
    }

    fn ready(&self) -> ModelResult<()> {
        self.model.ready()
    }

    fn refusal(&self) -> Option<String> {
        let why = self.limits.iter().find_map(|limit| limit.refusal())?;
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
        Some(why)
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>> {
        async move {
            if let Some(message) = self.refusal() {
                let provider = self.name().provider.clone();
                let kind = ModelErrorKind::Invalid;
                return Err(ModelError { provider, message, kind, status: None, source: None });
            }
            let stream = self.model.stream(request).await?;
            let mut meter = Meter { model: self, last: TokenUsage::default(), is_counted: false };
            Ok(stream.inspect(move |event| meter.read(event)).boxed())
        }
        .boxed()
    }

    fn body(&self, request: &Request) -> ModelResult<Vec<u8>> {
        self.model.body(request)
    }
}

/// A counter of the usage of one request. An answer that breaks off counts when its stream is
/// dropped.
struct Meter<'a> {
    model: &'a Metered,
    last: TokenUsage,
    is_counted: bool,
}

impl Meter<'_> {
    fn read(&mut self, event: &ModelResult<StreamEvent>) {
        match event {
            Ok(StreamEvent::Usage { usage, .. }) => self.last = *usage,
            Ok(StreamEvent::End(end)) => {
                self.last = end.usage;
                self.count(true);
            }
            _ => {}
        }
    }

    fn count(&mut self, is_complete: bool) {
        if std::mem::replace(&mut self.is_counted, true) {
            return;
        }
        let TokenUsage { input, output, cached, cache_written } = self.last;
        let output = if is_complete { output } else { output.or(Some(0)) };
        let cost = self.model.prices.zip(input.zip(output)).map(|(prices, (input, output))| {
            prices.cost(input, output, cached.unwrap_or(0), cache_written.unwrap_or(0))
        });
        for limit in &self.model.limits {
            limit.add(&self.last, cost, is_complete);
        }
    }
}

impl Drop for Meter<'_> {
    fn drop(&mut self) {
        self.count(false);
    }
}

//! The notifications of a kernel, for a Python object.

use std::sync::Arc;

use forklore_agent::notify::{Notification, Sink};
use forklore_api::event::Name;
use pyo3::prelude::*;

/// Passes notifications to a Python object, whose method does not wait.
pub(super) struct FunctionSink {
    pub(super) callables: Py<PyAny>,
    /// Whether the application listens. If not, the object only learns which children begin and end.
    pub(super) gets_all: bool,
}

impl Sink for FunctionSink {
    fn take(&self, notification: &Arc<Notification>) {
        let is_of_family = notification.is(Name::SessionFork) || notification.is(Name::SessionEnd);
        if !self.gets_all && !is_of_family {
            return;
        }
        let Ok(text) = serde_json::to_string(&**notification) else { return };
        let session = notification.session_id.as_str();
        let parent = notification.parent_id.as_ref().map(forklore_core::SessionId::as_str);
        // A listener that cannot be reached any more has ended: there is nobody to notify.
        let _ = Python::try_attach(|py| {
            let arguments = (notification.name(), session, parent, text);
            self.callables.bind(py).call_method1("notify", arguments).map(drop)
        });
    }
}

//! The native module `forklore._native`: connections to stores, over JSON. The package around it adds
//! the verbs, the types and the faces for frameworks.
//!
//! Every call releases the interpreter's lock while the store works.

mod agent;
mod claude;
mod connection;
mod failure;
mod langgraph;
mod rows;

use pyo3::prelude::*;

/// The native part of the package `forklore`.
#[pymodule]
#[pyo3(name = "_native")]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<agent::Call>()?;
    module.add_class::<agent::Kernel>()?;
    module.add_class::<agent::Pieces>()?;
    module.add_class::<agent::Reply>()?;
    module.add_class::<agent::Session>()?;
    module.add_class::<agent::Work>()?;
    module.add_function(wrap_pyfunction!(agent::end_agents, module)?)?;
    module.add_class::<claude::ClaudeSessions>()?;
    module.add_class::<connection::Connection>()?;
    module.add_class::<langgraph::LangGraph>()?;
    module.add_class::<rows::Rows>()
}

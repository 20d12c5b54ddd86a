//! Imports of agents' session files.

use forklore::Engine;
use forklore::import::{ImportOptions, Importer};
use forklore_api::Import;
use forklore_core::ErrorKind;
use serde_json::json;

use crate::failure::{Failure, Result};

/// How many problems the details of a failed import name.
const PROBLEMS: usize = 20;

pub(crate) fn import(engine: &Engine, request: &Import) -> Result<String> {
    if request.paths.is_empty() {
        return Err(Failure::invalid("an import names at least one path"));
    }
    let options = ImportOptions::of(request);
    let report = Importer::new(engine).import(&request.paths, &options, &mut |_| {})?;
    let failed = if report.files == 0 { &report.problems } else { &report.failed };
    let Some(first) = failed.first() else { return crate::rows::json(&report.answer()) };
    let exists = std::path::Path::new(&first.path).exists();
    let kind = if exists { ErrorKind::InvalidArgs } else { ErrorKind::NotFound };
    let details = json!({
        "count": failed.len(),
        "problems": failed.iter().take(PROBLEMS).collect::<Vec<_>>(),
    });
    Err(Failure::new(kind, format!("{}: {}", first.path, first.message)).with_details(details))
}

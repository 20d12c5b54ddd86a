//! The user's configuration, and a host with the models and tools that it names.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use forklore_chat::Foreground;
use forklore_host::config::ignored_in;
use forklore_host::{Configured, Error, Host, Pattern};

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;

/// The variable that names another configuration than the user's usual one.
const VARIABLE: &str = "FORKLORE_CONFIG";

/// A host with the models and tools that the user has configured, and with tools that need no
/// approval in this run.
///
/// # Errors
/// When the configuration does not say what it should, there is no such model, or the store cannot
/// be used.
pub(crate) fn foreground(
    app: &App,
    model: Option<&str>,
    allowed: &[Pattern],
    output: &mut Output,
) -> Result<Foreground> {
    let configured = configured(app, output)?;
    // Before a store is opened, which may make it: without a model there is nothing to do.
    configured.model(model).map_err(Error::from)?;
    let engine = app.engine()?.clone();
    let allowed = allowed.to_vec();
    let foreground = Foreground::new(|| Ok(Host::new(engine, configured)?.allowing(allowed)))?;
    Ok(foreground)
}

/// What the user has configured. Files of a project's folder are ignored, and a remark says so.
pub(crate) fn configured(app: &App, output: &mut Output) -> Result<Configured> {
    let configured = Configured::read(&path()?).map_err(Error::from)?;
    for path in ignored_in(Path::new(app.workspace()?.as_str())) {
        let read = configured.path.display();
        let text = format!("ignored: {} (configuration is read from {read} only)", path.display());
        output.remark(&text);
    }
    Ok(configured)
}

/// The user's names of the models by their providers' names, where the two differ and one name
/// stands for one model.
pub(crate) fn names() -> HashMap<String, String> {
    // Reading sessions needs no sound configuration.
    let Some(configured) = path().ok().and_then(|path| Configured::read(&path).ok()) else {
        return HashMap::new();
    };
    let models = &configured.config.models;
    let alone = |there: &str| models.values().filter(|model| model.model == there).count() == 1;
    let named = models.iter().filter(|(name, model)| alone(&model.model) && **name != model.model);
    named.map(|(name, model)| (model.model.clone(), name.clone())).collect()
}

/// The configuration's file.
fn path() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return Ok(PathBuf::from(path));
    }
    Ok(folders()?.config_dir().join("forklore").join("config.toml"))
}

/// The file of the lines that were typed, in a folder for its owner alone.
///
/// # Errors
/// When the folder cannot be made.
pub(crate) fn history_file() -> Result<PathBuf> {
    let folder = folders()?.data_dir().join("forklore");
    crate::store::make_private(&folder)?;
    Ok(folder.join("chat-history"))
}

fn folders() -> Result<impl BaseStrategy> {
    etcetera::base_strategy::choose_native_strategy().map_err(|_| {
        Failure::invalid(format!("there is no home directory; name a configuration in {VARIABLE}"))
    })
}

//! The user's configuration, and what it names: models and tools.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use forklore_chat::config::ignored_in;
use forklore_chat::{Configured, Supplies};

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;

/// The variable that names another configuration than the user's usual one.
const VARIABLE: &str = "FORKLORE_CONFIG";

/// The models and tools that the user has configured, once it is known that there is this model.
///
/// # Errors
/// When the configuration does not say what it should, there is no such model, or the store cannot
/// be used.
pub(crate) fn of(app: &App, model: Option<&str>, output: &mut Output) -> Result<Supplies> {
    let configured = configured(app, output)?;
    // Before a store is opened, which may make it: without a model there is nothing to do.
    configured.model(model).map_err(forklore_chat::Error::from)?;
    Ok(Supplies::new(app.engine()?.clone(), configured)?)
}

/// What the user has configured. What the folder of a project says is not read, and that is said.
pub(crate) fn configured(app: &App, output: &mut Output) -> Result<Configured> {
    let configured = Configured::read(&path()?).map_err(forklore_chat::Error::from)?;
    for path in ignored_in(Path::new(app.workspace()?.as_str())) {
        let read = configured.path.display();
        let text = format!("ignored: {} (configuration is read from {read} only)", path.display());
        output.remark(&text);
    }
    Ok(configured)
}

/// What the user calls the models, by the names that their providers know them by, where one name
/// of the user's stands for one of a provider's and is another.
pub(crate) fn names() -> HashMap<String, String> {
    // Who only reads about sessions need not have a sound configuration.
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

/// The file in which typed lines are remembered, in a folder that is made for its owner alone.
///
/// # Errors
/// When the folder cannot be made.
pub(crate) fn remembered_lines() -> Result<PathBuf> {
    let folder = folders()?.data_dir().join("forklore");
    crate::store::make_private(&folder)?;
    Ok(folder.join("chat-history"))
}

fn folders() -> Result<impl BaseStrategy> {
    etcetera::base_strategy::choose_native_strategy().map_err(|_| {
        Failure::invalid(format!("there is no home directory; name a configuration in {VARIABLE}"))
    })
}

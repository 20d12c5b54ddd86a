//! Reads the user's configuration, and creates a host with the configured models and tools.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use forklore::StoreUrl;
use forklore::core::PriceTable;
use forklore::core::workspace::Workspace;
use forklore_chat::Foreground;
use forklore_host::config::{ignored_in, is_amount};
use forklore_host::{Configured, Error, Host, Pattern};

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;

/// The environment variable with the path of a configuration file to use instead of the default
/// file.
pub(crate) const CONFIG_VARIABLE: &str = "FORKLORE_CONFIG";

/// What the options of a command allow in one run.
#[derive(Clone, Copy, Default)]
pub(crate) struct Run<'a> {
    /// The patterns of the tools that need no approval.
    pub(crate) allowed: &'a [Pattern],
    /// How much the models may cost; `None` means no limit.
    pub(crate) max_cost: Option<f64>,
}

/// Parses the value of `--max-cost`.
pub(crate) fn amount(text: &str) -> std::result::Result<f64, String> {
    let amount = text.parse().ok().filter(|amount| is_amount(*amount));
    amount.ok_or_else(|| "a cost is a number above 0, such as 0.5".to_owned())
}

/// Creates a host, which runs turns with the configured models and tools, as `run` allows. `makes`
/// says whether the command makes a session. If so, creates the store if it does not exist.
///
/// # Errors
/// When the configuration is invalid, `model` or a default model is not configured, or the store
/// cannot be used.
pub(crate) fn foreground(
    app: &App,
    model: Option<&str>,
    run: Run<'_>,
    makes: bool,
    output: &mut Output,
) -> Result<Foreground> {
    let configured = configured(app, output)?;
    // Check the model before opening the store, because opening can create the store. Without a
    // model there is nothing to do.
    configured.model(model).map_err(Error::from)?;
    configured.check_budget(model, run.max_cost.is_some()).map_err(Error::from)?;
    let engine = if makes { app.engine_or_new()? } else { app.engine()? }.clone();
    let Run { allowed, max_cost } = run;
    let allowed = allowed.to_vec();
    let open = app.open_files()?;
    let foreground = Foreground::new(|| {
        let host = Host::new(engine, configured)?.with_files(Box::new(open));
        Ok(host.allowing(allowed).limiting(max_cost))
    })?;
    Ok(foreground)
}

/// Reads the user's configuration. Ignores configuration files in the folder of a project, and
/// reports each one in a remark.
pub(crate) fn configured(app: &App, output: &mut Output) -> Result<Configured> {
    let configured = read_configuration(app)?;
    for path in ignored_in(Path::new(app.workspace()?.as_str())) {
        let read = configured.path.display();
        let text = format!("ignored: {} (configuration is read from {read} only)", path.display());
        output.remark(&text);
    }
    Ok(configured)
}

/// Reads the user's configuration, with the settings of the command line.
pub(crate) fn read_configuration(app: &App) -> Result<Configured> {
    Ok(Configured::read_with(&path()?, app.settings()).map_err(Error::from)?)
}

/// Maps the providers' names of models to the names that the user configured. Omits a model whose
/// two names are equal. Also omits a provider's name that several configured models have.
pub(crate) fn names(app: &App) -> HashMap<String, String> {
    // An invalid configuration must not prevent commands from reading sessions.
    let Ok(configured) = read_configuration(app) else { return HashMap::new() };
    let models = &configured.config.models;
    let alone = |there: &str| models.values().filter(|model| model.model == there).count() == 1;
    let named = models.iter().filter(|(name, model)| alone(&model.model) && **name != model.model);
    named.map(|(name, model)| (model.model.clone(), name.clone())).collect()
}

/// Returns the configured prices of models. Without a valid configuration, there are none.
pub(crate) fn prices(app: &App) -> PriceTable {
    // An invalid configuration must not prevent commands from reading sessions.
    read_configuration(app).map(|read| read.config.price_table()).unwrap_or_default()
}

/// Returns the most bytes that all snapshots may have.
///
/// # Errors
/// When the configuration is invalid: the cap that it was to have must not be exceeded.
pub(crate) fn max_size_of_snapshots(app: &App) -> Result<Option<u64>> {
    Ok(read_configuration(app)?.config.snapshots.max_size)
}

/// Returns the path of the configuration file.
pub(crate) fn path() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(CONFIG_VARIABLE).filter(|path| !path.is_empty()) {
        return Ok(PathBuf::from(path));
    }
    Ok(folders()?.config_dir().join("forklore").join("config.toml"))
}

/// Returns the path of the file with the lines that the user typed in earlier conversations.
/// Creates the folder of the file. Only the owner can access the folder.
///
/// # Errors
/// When the folder cannot be created.
pub(crate) fn history_file() -> Result<PathBuf> {
    let folder = folders()?.data_dir().join("forklore");
    crate::store::make_private(&folder)?;
    Ok(folder.join("chat-history"))
}

/// Returns the folder of the snapshots of a store that is in a database or on a server. Only the
/// owner can access it.
///
/// # Errors
/// When the folder cannot be created.
pub(crate) fn snapshots_of(url: &StoreUrl) -> Result<PathBuf> {
    let folder = folders()?.data_dir().join("forklore").join("snapshots");
    crate::store::make_private(&folder)?;
    // The key of a workspace is a name and a digest, of any path.
    Ok(folder.join(Workspace::new(&url.location()).key()))
}

/// Returns the folder with the results of the hooks of other agents. Only the owner can access it.
///
/// # Errors
/// When the folder cannot be created.
pub(crate) fn hooks_folder() -> Result<PathBuf> {
    let folder = folders()?.data_dir().join("forklore").join("hooks");
    crate::store::make_private(&folder)?;
    Ok(folder)
}

/// Returns the folder of the tokens and the log of the server. Creates it; only the owner can access it.
///
/// # Errors
/// When the folder cannot be created.
#[cfg(feature = "server")]
pub(crate) fn server_folder() -> Result<PathBuf> {
    let folder = folders()?.data_dir().join("forklore").join("server");
    crate::store::make_private(&folder)?;
    Ok(folder)
}

fn folders() -> Result<impl BaseStrategy> {
    etcetera::base_strategy::choose_native_strategy().map_err(|_| {
        Failure::invalid(format!(
            "there is no home directory; name a configuration in {CONFIG_VARIABLE}"
        ))
    })
}

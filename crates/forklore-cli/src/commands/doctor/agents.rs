//! Checks which agents have sessions on this machine.

use forklore::import::Importer;
use forklore::store::health::{Health, Status};
use forklore::{StoreUrl, blocking};

use crate::agents;
use crate::output::count;

/// Adds a check to `health` for each agent that has sessions on this machine.
pub(super) fn look(health: &mut Health) {
    // The user's store may fail to open, so count the files with an empty store in memory.
    let Ok(engine) = blocking::open_url(&StoreUrl::Memory) else { return };
    for agent in agents::here() {
        let Ok(survey) = Importer::new(&engine).survey(agent.dialect, &agent.folders) else {
            continue;
        };
        let folders: Vec<_> =
            agent.folders.iter().map(|location| agents::typed(location)).collect();
        let files = count(survey.files, "session file");
        let message = format!("{}: {files} in {}", agent.agent, folders.join(" and "));
        let hint = (survey.files > 0).then(|| agents::import_command(&agent.folders));
        health.add("agent", Status::Ok, message, hint, None);
    }
}

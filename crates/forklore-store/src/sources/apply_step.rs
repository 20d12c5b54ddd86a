//! What an import step makes of its source, for stores that keep a source as one value.

use super::{Progress, Source, SourceId, SourceSession, SourceStep, Target, sidecar_key};

impl Source {
    /// Returns the source that `step` begins, before the step is applied. Returns `None` if the step
    /// continues a source.
    #[must_use]
    pub fn begun_by(step: &SourceStep, id: SourceId) -> Option<Self> {
        let Target::New { dialect, revision, first_line, .. } = &step.target else { return None };
        Some(Self {
            id,
            dialect: dialect.clone(),
            native_id: String::new(),
            revision: *revision,
            first_line: *first_line,
            names: Vec::new(),
            paths: Vec::new(),
            sessions: Vec::new(),
            read: Progress::default(),
        })
    }

    /// Applies an import step. `sessions` are the sessions of the source after the step.
    pub fn apply(&mut self, step: &SourceStep, sessions: Vec<SourceSession>) {
        self.native_id.clone_from(&step.native_id);
        self.sessions = sessions;
        self.read = step.read.clone();
        match self.paths.iter_mut().find(|seen| seen.path == step.seen.path) {
            Some(seen) => *seen = step.seen.clone(),
            None => self.paths.push(step.seen.clone()),
        }
        self.names.extend(&step.names);
        self.names.extend(step.sidecar_of.as_deref().map(sidecar_key));
        self.names.sort_unstable();
        self.names.dedup();
    }
}

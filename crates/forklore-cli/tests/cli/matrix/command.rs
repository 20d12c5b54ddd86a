//! The commands that the matrix executes on the session `it`.

/// What a command may change in the logs of the sessions that existed before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The command may change no existing log. It may create sessions.
    None,
    /// The command may append events to the session with this id.
    AppendsTo(&'static str),
    /// The command may delete sessions.
    Deletes,
    /// The command may redact events.
    Redacts,
}

impl Effect {
    pub(super) fn appends_to(self, id: &str) -> bool {
        matches!(self, Self::AppendsTo(session) if session == id)
    }
}

/// A command of the program.
pub(super) struct Command {
    pub(super) name: &'static str,
    pub(super) effect: Effect,
    pub(super) words: &'static [&'static str],
}

/// Defines a function for each command. The function returns the [`Command`].
macro_rules! commands {
    ($($(#[$attribute:meta])* $name:ident $effect:expr, $words:expr;)*) => {
        $($(#[$attribute])* pub(super) fn $name() -> Command {
            Command { name: stringify!($name), effect: $effect, words: &$words }
        })*
    };
}

commands! {
    show Effect::None, ["show", "it"];
    log Effect::None, ["log", "it"];
    replay Effect::None, ["replay", "it"];
    inspect Effect::None, ["inspect", "it"];
    tree Effect::None, ["tree", "it"];
    lineage Effect::None, ["lineage", "it"];
    stats Effect::None, ["stats", "it"];
    blame Effect::None, ["blame", "plan.md"];
    search Effect::None, ["search", "plan", "--all"];
    export Effect::None, ["export", "it"];
    verify Effect::None, ["verify"];
    append Effect::AppendsTo("it"), ["append", "it", "--text", "and now?"];
    fork Effect::None, ["fork", "it", "--id", "child"];
    fork_with_a_summary Effect::None, ["fork", "it", "--id", "child", "--summarize"];
    fork_a_copy Effect::None, ["fork", "it", "--id", "child", "--strategy", "replay_v1"];
    delegate Effect::None, ["fork", "it", "--id", "child", "--kind", "delegate"];
    label Effect::None, ["label", "it", "plan-b"];
    rename Effect::None, ["rename", "it", "Plan B"];
    bring Effect::AppendsTo("reader"), ["bring", "it", "--into", "reader"];
    detach Effect::None, ["detach", "it"];
    attach Effect::AppendsTo("it"), ["attach", "it", "note.txt"];
    delete Effect::Deletes, ["delete", "it"];
    delete_the_family_below Effect::Deletes, ["delete", "it", "--cascade"];
    delete_and_detach_children Effect::Deletes, ["delete", "it", "--detach-children"];
    erase Effect::Deletes, ["delete", "it", "--cascade", "--erase"];
    undelete Effect::None, ["undelete", "it"];
    redact Effect::Redacts, ["redact", "it", "--match", "plan", "--reason", "a secret", "--yes"];
    undo Effect::Deletes, ["op", "undo"];
    list_operations Effect::None, ["op", "log"];
    gc_of_the_trash Effect::None, ["gc", "--now"];
    gc Effect::None, ["gc"];
    pack Effect::None, ["pack"];
    import Effect::None, ["import", "pi.jsonl"];
    resume Effect::AppendsTo("it"), ["resume", "it", "-p", "go on"];
    resume_in_codex Effect::None, ["resume-in", "codex", "it"];
    #[cfg(feature = "graph")]
    sparql Effect::None, ["sparql", "ASK { ?a ?b ?c }", "it"];
}

//! The list of the program's verbs, with the types of their answers.

/// The form in which a verb (forklore command) prints its answer with `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Prints one object: `ok`, and the fields of the answer's type. `ok` is `false` if the verb
    /// failed in part, for example because a turn was interrupted, or if `doctor` found a problem.
    Object,
    /// Prints one line for each item of the answer, without `ok`.
    Lines,
}

/// The type and the form of the answer that one verb (forklore command) prints with `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerbAnswer {
    /// The command line of the verb, for example `attach SESSION FILE`. A remark may follow, as in
    /// `chat -p, at the end`. Some entries list two command lines.
    pub usage: &'static str,
    /// The verb's name in [`Request`](crate::Request). `None` for commands that exist only in a
    /// terminal.
    pub request: Option<&'static str>,
    /// The name of the Rust type of the answer that the verb prints.
    pub answer: &'static str,
    /// The form in which the answer is printed: one JSON object, or one JSON line for each item.
    pub form: Form,
}

/// Calls the macro `$with` with the list of all verbs. Each entry has a command line, the verb's
/// name in `Request` (or `-`), the type of the answer, and the form in which the answer is printed.
macro_rules! with_answers {
    ($with:ident) => {
        $with! {
            "chat -p, for each event", turn => Notification, Lines;
            "chat -p, at the end", turn => TurnAnswer, Object;
            "resume -p, for each event", turn => Notification, Lines;
            "resume -p, at the end", turn => TurnAnswer, Object;
            "new", new => SessionAnswer, Object;
            "append", append => Appended, Object;
            "attach SESSION FILE", attach => Attached, Object;
            "attach SESSION", attachments => Attachments, Object;
            "attach SESSION --get REF -o PATH", read_attachment => AttachmentFile, Object;
            "import", import => Imported, Object;
            "import --discover", discover => Discovery, Object;
            "import --watch", - => WatchLine, Lines;
            "list", list => SessionPage, Object;
            "show", show => SessionAnswer, Object;
            "log", log => EventLine, Lines;
            "log --follow", - => EventLine, Lines;
            "replay", replay => Record, Lines;
            "inspect", inspect => Inspection, Object;
            "inspect --request", preview => RequestPreview, Object;
            "fork", fork => Forked, Object;
            "tree", tree => Tree, Object;
            "tree --flat", tree => FlatNode, Lines;
            "branches", branches => Branches, Object;
            "lineage", lineage => Lineage, Object;
            "diff", diff => Difference, Object;
            "diff --stat", diff_stat => DifferenceStats, Object;
            "bring", bring => Brought, Object;
            "explore", explore => Exploration, Object;
            "label", label => SessionAnswer, Object;
            "rename", rename => SessionAnswer, Object;
            "detach", detach => Detached, Object;
            "delete", delete => Deleted, Object;
            "undelete", undelete => Undeleted, Object;
            "redact", redact => Redacted, Object;
            "op log", operations => OperationPage, Object;
            "op show", operation => OperationAnswer, Object;
            "op undo", undo => Undone, Object;
            "snapshot", - => RecordedSnapshot, Object;
            "rewind", - => Rewound, Object;
            "undo", - => RewindUndone, Object;
            "fork --in-place", - => Rewound, Object;
            "worktrees list", - => Worktrees, Object;
            "worktrees remove", - => WorktreeRemoved, Object;
            "diff --files", - => FilesCompared, Object;
            "show --files", - => ShownSnapshot, Object;
            "gc --files", - => CollectedFiles, Object;
            "export -o PATH", export => ExportedFile, Object;
            "resume-in", resume_in => ResumeIn, Object;
            "restore -o PATH", restore => RestoredFile, Object;
            "restore --all -o DIR", restore_all => RestoredFiles, Object;
            "restore --list", files => SessionFiles, Object;
            "restore BACKUP", restore_store => RestoredStore, Object;
            "backup", backup => BackedUp, Object;
            "push", - => Transferred, Object;
            "pull", - => Transferred, Object;
            "clone", - => Transferred, Object;
            "handoff", - => HandedOff, Object;
            "remote list", - => Remotes, Object;
            "remote add", - => Remote, Object;
            "remote remove", - => Remote, Object;
            "graph -o PATH", graph => GraphFile, Object;
            "graph --ontology, graph --shapes", vocabulary => Vocabulary, Object;
            "sparql", sparql => QueryAnswer, Object;
            "search", search => SearchAnswer, Object;
            "blame", blame => BlameAnswer, Object;
            "stats", stats => StatsAnswer, Object;
            "verify", verify => Verification, Object;
            "verify --sample", verify_sample => VerifiedSample, Object;
            "verify --anchors FILE", - => AnchorReport, Object;
            "anchor", - => Anchored, Object;
            "verify --repair OUT", repair => Recovered, Object;
            "gc", gc => Collected, Object;
            "gc --policy", apply_retention => AppliedRetention, Object;
            "pack", pack => Packed, Object;
            "doctor", doctor => Doctor, Object;
            "tier init", - => TierTables, Object;
            "tier status", - => TierStatus, Object;
            "serve", - => Listening, Lines;
            "token list", - => AccessTokens, Object;
            "token add", - => NewAccessToken, Object;
            "token revoke", - => AccessToken, Object;
            "config show", - => ConfigSettings, Object;
            "config check", - => ConfigCheck, Object;
            "config init", - => ConfigCreated, Object;
            "config edit", - => ConfigEdited, Object;
            "install mcp", - => Installed, Object;
            "hooks install", - => Installed, Object;
            "hooks remove", - => Installed, Object;
            "hooks list", - => AgentHooks, Object;
            "completions", - => CompletionScript, Object;
            "man", - => ManPage, Object;
            "man --out DIR", - => ManPages, Object;
            "help COMMAND, COMMAND --help", - => HelpText, Object;
            "--version", - => ProgramVersion, Object;
        }
    };
}
#[cfg(feature = "schema")]
pub(crate) use with_answers;

macro_rules! request {
    (-) => {
        None
    };
    ($name:ident) => {
        Some(stringify!($name))
    };
}

macro_rules! names {
    ($($usage:literal, $request:tt => $answer:ident, $form:ident;)*) => {
        &[$(VerbAnswer {
            usage: $usage,
            request: request!($request),
            answer: stringify!($answer),
            form: Form::$form,
        }),*]
    };
}

/// The answers that all verbs print with `--json`.
///
/// A verb that fails prints a [`Refusal`](crate::Refusal). Some commands print no JSON and are not
/// listed: without `-o`, `export`, `restore` and `graph` write the bytes of a file, and `attach
/// SESSION --get REF` writes the bytes of an attachment.
pub const ANSWERS: &[VerbAnswer] = with_answers!(names);

//! The list of the program's verbs, with the types of their answers.

/// How a verb prints its answer under `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One object: `{"ok": true, ...}` with the fields of the answer's type.
    Object,
    /// One line for each item, without `ok`.
    Lines,
}

/// What a verb of the program prints under `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerbAnswer {
    /// The command line. It begins with the name of the verb.
    pub usage: &'static str,
    /// The name of the answer's type.
    pub answer: &'static str,
    /// How the answer is printed.
    pub form: Form,
}

/// Calls a macro with the list of verbs. Each entry has a command line, the type of its answer, and
/// the form in which the answer is printed.
macro_rules! with_answers {
    ($with:ident) => {
        $with! {
            "chat -p, for each event" => Notification, Lines;
            "chat -p, at the end" => TurnAnswer, Object;
            "resume -p, for each event" => Notification, Lines;
            "resume -p, at the end" => TurnAnswer, Object;
            "new" => SessionAnswer, Object;
            "append" => Appended, Object;
            "attach SESSION FILE" => Attached, Object;
            "attach SESSION" => Attachments, Object;
            "attach SESSION --get REF -o PATH" => AttachmentFile, Object;
            "import" => Imported, Object;
            "import --discover" => Discovery, Object;
            "import --watch" => WatchLine, Lines;
            "list" => SessionPage, Object;
            "show" => SessionAnswer, Object;
            "log" => EventLine, Lines;
            "replay" => Record, Lines;
            "inspect" => Inspection, Object;
            "inspect --request" => RequestPreview, Object;
            "fork" => Forked, Object;
            "tree" => Tree, Object;
            "tree --flat" => FlatNode, Lines;
            "branches" => Branches, Object;
            "lineage" => Lineage, Object;
            "diff" => Difference, Object;
            "bring" => Brought, Object;
            "explore" => Exploration, Object;
            "label" => SessionAnswer, Object;
            "detach" => Detached, Object;
            "delete" => Deleted, Object;
            "export -o PATH" => ExportedFile, Object;
            "resume-in" => ResumeIn, Object;
            "restore -o PATH" => RestoredFile, Object;
            "restore --all -o DIR" => RestoredFiles, Object;
            "restore --list" => SessionFiles, Object;
            "graph -o PATH" => GraphFile, Object;
            "graph --ontology, graph --shapes" => Vocabulary, Object;
            "sparql" => QueryAnswer, Object;
            "stats" => StatsAnswer, Object;
            "verify" => Verification, Object;
            "verify --repair OUT" => Recovered, Object;
            "gc" => Collected, Object;
            "pack" => Packed, Object;
            "doctor" => Doctor, Object;
            "completions" => CompletionScript, Object;
            "man" => ManPage, Object;
            "man --out DIR" => ManPages, Object;
        }
    };
}
#[cfg(feature = "schema")]
pub(crate) use with_answers;

macro_rules! names {
    ($($usage:literal => $answer:ident, $form:ident;)*) => {
        &[$(VerbAnswer { usage: $usage, answer: stringify!($answer), form: Form::$form }),*]
    };
}

/// What each verb of the program prints under `--json`.
///
/// A verb that fails prints a [`Refusal`](crate::Refusal). Some commands print no JSON and are not
/// listed: without `-o`, `export`, `restore` and `graph` write the bytes of a file, and `attach
/// SESSION --get REF` writes the bytes of an attachment.
pub const ANSWERS: &[VerbAnswer] = with_answers!(names);

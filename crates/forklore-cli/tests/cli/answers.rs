//! Checks that `--json` prints exactly the answer types of `forklore::api`, the contract with
//! scripts.

use forklore::api::event::Notification;
use forklore::api::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Options with which a command prints a file or plain text instead of a JSON answer.
const TEXT: &[&str] = &["--help", "-h", "--version", "-V", "--format", "--speed"];
/// Commands that print the content of a file instead of a JSON answer. Each has the options with
/// which it prints a JSON answer.
const FILE: &[(&str, &[&str])] = &[
    ("export", &["-o", "--output"]),
    ("restore", &["-o", "--output", "--list"]),
    ("graph", &["-o", "--output", "--ontology", "--shapes"]),
];

/// Checks each line of `printed`, the output of the command line `words`. The line must parse as
/// one of the answer types that are listed for the command. The parsed value must serialize to the
/// same bytes again.
pub(crate) fn are_of_the_contract(words: &[&str], printed: &str) {
    let verb = words.iter().find(|word| of_verb(word).next().is_some());
    let has = |options: &[&str]| words.iter().any(|word| options.contains(word));
    let file = FILE.iter().find(|(name, _)| verb == Some(name));
    let bytes = has(&["--get"]) || file.is_some_and(|(_, options)| !has(options));
    for line in printed.lines() {
        let refused = is::<Refusal>(line);
        let written = verb.is_some_and(|verb| of_verb(verb).any(|answer| is_answer(answer, line)));
        let other = has(TEXT) || (bytes && !line.starts_with("{\"ok\":"));
        assert!(refused || written || other, "{words:?}: not of the contract: {line}");
    }
}

/// Returns the answer types that the contract lists for a command.
fn of_verb(verb: &str) -> impl Iterator<Item = &'static VerbAnswer> {
    ANSWERS.iter().filter(move |answer| answer.usage.split(' ').next() == Some(verb))
}

/// Checks whether a line is the serialization of a `T`, byte for byte.
fn is<T: Serialize + DeserializeOwned>(line: &str) -> bool {
    let value = serde_json::from_str::<T>(line).ok();
    value.is_some_and(|value| serde_json::to_string(&value).unwrap() == line)
}

#[allow(clippy::too_many_lines, reason = "one line for each type of answer")]
fn is_answer(answer: &VerbAnswer, line: &str) -> bool {
    macro_rules! of_type {
        ($($type:ident),* $(,)?) => {
            match (answer.answer, answer.form) {
                // `Doctor` has an `ok` of its own, which tells whether all checks passed.
                ("Doctor", _) => is::<Doctor>(line),
                $((stringify!($type), Form::Object) => is::<Envelope<$type>>(line),)*
                $((stringify!($type), Form::Lines) => is::<$type>(line),)*
                (other, _) => panic!("{other} is not in the list"),
            }
        };
    }
    of_type!(
        AccessToken,
        AccessTokens,
        AgentHooks,
        AnchorReport,
        Anchored,
        Appended,
        VerifiedSample,
        RestoredStore,
        BackedUp,
        AppliedRetention,
        HandedOff,
        Remote,
        Remotes,
        Transferred,
        Attached,
        AttachmentFile,
        Attachments,
        Branches,
        Brought,
        Collected,
        CompletionScript,
        ConfigCheck,
        ConfigCreated,
        ConfigEdited,
        ConfigSettings,
        Deleted,
        Detached,
        Difference,
        DifferenceStats,
        Discovery,
        EventLine,
        Exploration,
        ExportedFile,
        FlatNode,
        Forked,
        GraphFile,
        HelpText,
        Imported,
        Inspection,
        Installed,
        Lineage,
        Listening,
        ManPage,
        ProgramVersion,
        ManPages,
        NewAccessToken,
        Notification,
        Packed,
        OperationAnswer,
        OperationPage,
        QueryAnswer,
        Record,
        Recovered,
        Redacted,
        RequestPreview,
        RestoredFile,
        RestoredFiles,
        ResumeIn,
        RewindUndone,
        Worktrees,
        WorktreeRemoved,
        Rewound,
        BlameAnswer,
        SearchAnswer,
        SessionAnswer,
        SessionFiles,
        SessionPage,
        RecordedSnapshot,
        FilesCompared,
        ShownSnapshot,
        CollectedFiles,
        StatsAnswer,
        TierStatus,
        TierTables,
        Tree,
        TurnAnswer,
        Undeleted,
        Undone,
        Verification,
        Vocabulary,
        WatchLine,
    )
}

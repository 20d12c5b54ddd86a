//! Parses the lines of a Claude Code file. This is the hot path of an import: each line is parsed
//! once, and only the required values are built.

use std::path::Path;

use forklore_core::agent_format::{Base, FileFacts, Line, LineReader, Parent, Record};
use forklore_core::call::{CallStep, Effect};
use forklore_core::{Class, EventType};
use serde::{Deserialize, Deserializer};

use crate::author::Author;
use crate::lenient::{Flag, MessageContent, Object, Text, fields};
use crate::roles::opened;
use crate::time;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    subtype: Text<'a>,
    #[serde(borrow)]
    uuid: Text<'a>,
    #[serde(borrow, rename = "parentUuid")]
    parent: Link<'a>,
    #[serde(borrow, rename = "logicalParentUuid")]
    logical_parent: Text<'a>,
    #[serde(rename = "isSidechain")]
    sidechain: Flag,
    #[serde(rename = "isMeta")]
    meta: Flag,
    #[serde(rename = "isCompactSummary")]
    compact_summary: Flag,
    #[serde(borrow, rename = "teamName")]
    team: Text<'a>,
    #[serde(borrow)]
    cwd: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow, rename = "sessionId")]
    session_id: Text<'a>,
    #[serde(borrow, rename = "customTitle")]
    custom_title: Text<'a>,
    #[serde(borrow, rename = "aiTitle")]
    ai_title: Text<'a>,
    #[serde(borrow)]
    message: Object<MessageFields<'a>>,
    /// The session whose conversation this file continues without repeating it, and the last record
    /// of that conversation. A `fork-context-ref` record names them.
    #[serde(borrow, rename = "parentSessionId")]
    parent_session: Text<'a>,
    #[serde(borrow, rename = "parentLastUuid")]
    parent_last: Text<'a>,
    /// The session of this record's original, if Anthropic's Agent SDK copied the record into a
    /// forked session.
    #[serde(borrow, rename = "forkedFrom")]
    forked_from: Object<ForkedFrom<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ForkedFrom<'a> {
    #[serde(borrow, rename = "sessionId")]
    session_id: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MessageFields<'a> {
    #[serde(borrow)]
    content: MessageContent<CallBlock<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CallBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(rename = "text")]
    author: Author,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    tool_use_id: Text<'a>,
}

/// The value of the field `parentUuid`: absent, or present as `null` or as a record's id.
#[derive(Debug, Default)]
enum Link<'a> {
    #[default]
    Absent,
    Given(Text<'a>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Link<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Text::deserialize(d).map(Self::Given)
    }
}

/// Reads the lines of one Claude Code session file.
#[derive(Debug)]
pub(super) struct Reader {
    /// Whether the file contains only the records of one sub-agent. These records are then the main
    /// conversation of the file, and not a side chain.
    of_subagent: bool,
    /// The name of the file without its extension. It is the id of the file's session.
    stem: String,
    /// The id of the session that called this file's sub-agent, from the directory above
    /// `subagents/`. `None` if the file is not in `subagents/`.
    folder_of: Option<String>,
    /// Whether the user set the session's title. Titles that the program generates later do not
    /// replace the user's title.
    titled: bool,
    /// Whether the file continues the conversation of another file without repeating it. The
    /// parents of its first records are then in the other file.
    continues: bool,
    /// Whether a record of a known type was read. Before that, records of unknown types become no
    /// events. The first record of a known type shows whether the file belongs to a sub-agent
    /// ([`Reader::begin`]).
    begun: bool,
    /// The id of the last record of an unknown type that became no event. A record that names this
    /// id as its parent continues the record before it in the file instead.
    before: Option<String>,
    cwd: Option<String>,
}

/// The words that a reader writes into its stored memory for those of the fields
/// [`Reader::titled`], [`Reader::continues`], [`Reader::begun`] and [`Reader::of_subagent`] that
/// are true.
const TITLED: &str = "titled";
const CONTINUES: &str = "continues";
const BEGUN: &str = "begun";
const OF_SUBAGENT: &str = "subagent";
/// The beginning of the word for [`Reader::before`].
const BEFORE: &str = "before=";

/// The types of the records that make up the tree of a session.
const RECOGNISED: [&str; 5] = ["user", "assistant", "system", "progress", "attachment"];

impl Reader {
    pub(super) fn new(path: &Path, memory: Option<&str>) -> Self {
        let named = |name: Option<&std::ffi::OsStr>, is: fn(&str) -> bool| {
            name.and_then(std::ffi::OsStr::to_str).is_some_and(is)
        };
        let folder =
            path.parent().filter(|folder| named(folder.file_name(), |name| name == "subagents"));
        let of_subagent =
            folder.is_some() || named(path.file_name(), |name| name.starts_with("agent-"));
        let session = folder.and_then(Path::parent).and_then(Path::file_name);
        let folder_of = session.map(|session| session.to_string_lossy().into_owned());
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let remembers = |word| memory.is_some_and(|memory| memory.split(' ').any(|it| it == word));
        let mut words = memory.unwrap_or_default().split(' ');
        Self {
            of_subagent: of_subagent || remembers(OF_SUBAGENT),
            stem,
            folder_of,
            titled: remembers(TITLED),
            continues: remembers(CONTINUES),
            begun: remembers(BEGUN),
            before: words.find_map(|word| word.strip_prefix(BEFORE)).map(str::to_owned),
            cwd: None,
        }
    }

    /// Decides with the first record of a known type whether the file belongs to a sub-agent,
    /// unless its path already shows it. The file belongs to a sub-agent if the record is in a side
    /// chain and names a session other than the file name.
    fn begin(&mut self, fields: &Fields<'_>) {
        if self.begun || fields.uuid.get().is_none() || !is_recognised(fields) {
            return;
        }
        self.begun = true;
        let is_foreign = fields.session_id.get().is_some_and(|session| session != self.stem);
        self.of_subagent |= fields.sidechain.0 && is_foreign;
    }

    fn line(&mut self, fields: &Fields<'_>) -> Line {
        self.begin(fields);
        let facts = self.facts(fields);
        let Some(uuid) = fields.uuid.to_owned() else { return Line::Side(facts) };
        let recognised = is_recognised(fields);
        // A record of an unknown type that continues no record describes the session, as far as can
        // be known. It must not begin a path of its own.
        if !recognised && (!self.begun || parent(fields) == Parent::None) {
            self.before = Some(uuid);
            return Line::Side(facts);
        }
        Line::Record(Box::new(self.record(uuid, fields, facts)))
    }

    fn facts(&mut self, fields: &Fields<'_>) -> FileFacts {
        let mut facts = FileFacts::default();
        if fields.cwd.get() != self.cwd.as_deref() && fields.cwd.get().is_some() {
            self.cwd = fields.cwd.to_owned();
            facts.cwd.clone_from(&self.cwd);
        }
        facts.copied_from = fields.forked_from.0.session_id.to_owned();
        if self.of_subagent {
            facts.caller = self.folder_of.clone().or_else(|| fields.session_id.to_owned());
            facts.created = time::from_text(&fields.timestamp);
        }
        match fields.kind.get() {
            Some("custom-title") => {
                facts.title = fields.custom_title.to_owned();
                self.titled = facts.title.as_ref().is_some_and(|title| !title.is_empty());
            }
            Some("ai-title") if !self.titled => facts.title = fields.ai_title.to_owned(),
            Some("fork-context-ref") => {
                facts.base = base(fields);
                self.continues |= facts.base.is_some();
            }
            _ => {}
        }
        facts
    }

    /// Returns the parent of a record. In a sub-agent's file, the parent may be in the file of the
    /// session that called the sub-agent. For example, the file of a compaction
    /// (`agent-acompact-*`) repeats the messages of the calling session, but not the records
    /// between them.
    fn parent(&self, fields: &Fields<'_>) -> Parent {
        match parent(fields) {
            Parent::Id(id) if self.before.as_ref() == Some(&id) => Parent::Previous,
            Parent::Id(id) if self.of_subagent || self.continues => Parent::IdOrPrevious(id),
            Parent::None if self.continues => Parent::Previous,
            parent => parent,
        }
    }

    fn record(&self, uuid: String, fields: &Fields<'_>, facts: FileFacts) -> Record {
        let content = &fields.message.0.content;
        let sidechain = fields.sidechain.0 && !self.of_subagent;
        let speaks = fields.kind.is("user") || fields.kind.is("assistant");
        let (kind, class, starts_turn) = sort(fields);
        let only_results = kind == EventType::TOOL_RESULT;
        let calls = match kind.class() {
            Class::Conversation => content.blocks().iter().filter_map(call_step).collect(),
            _ => Vec::new(),
        };
        Record {
            native_id: Some(uuid),
            parent: self.parent(fields),
            ts: time::from_text(&fields.timestamp),
            class,
            effect: Effect { starts_turn, calls },
            only_results,
            sidechain,
            leaf: speaks && !sidechain && !fields.meta.0 && fields.team.get().is_none(),
            facts,
            ..Record::of(kind)
        }
    }
}

impl LineReader for Reader {
    fn read(&mut self, line: &str) -> Line {
        match fields::<Fields<'_>>(line, &mut String::new()) {
            Ok(fields) => self.line(&fields),
            Err(why) => Line::Damage(why),
        }
    }

    fn memory(&self) -> Option<String> {
        let words = [
            (self.begun, BEGUN),
            (self.titled, TITLED),
            (self.continues, CONTINUES),
            (self.of_subagent, OF_SUBAGENT),
        ];
        let words = words.iter().filter(|(is, _)| *is).map(|(_, word)| (*word).to_owned());
        let before = self.before.iter().map(|uuid| format!("{BEFORE}{uuid}"));
        let words: Vec<_> = words.chain(before).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

fn is_recognised(fields: &Fields<'_>) -> bool {
    fields.kind.get().is_some_and(|kind| RECOGNISED.contains(&kind))
}

/// Returns which conversation this file continues, and after which record, from a
/// `fork-context-ref` record. Claude Code writes such a record at the beginning of a forked
/// sub-agent's file, instead of the calling session's conversation. Returns `None` for a record of
/// another type.
fn base(fields: &Fields<'_>) -> Option<Base> {
    let native_id = fields.parent_session.to_owned()?;
    Some(Base { native_id, end: 0, after: Some(fields.parent_last.to_owned()?), bytes: None })
}

fn parent(fields: &Fields<'_>) -> Parent {
    let given = match &fields.parent {
        Link::Given(text) => text.to_owned(),
        Link::Absent if fields.logical_parent.get().is_none() => return Parent::Previous,
        Link::Absent => None,
    };
    match (given, fields.logical_parent.to_owned()) {
        (Some(id), _) => Parent::Id(id),
        // A compaction always continues the conversation, even if the record that it names is in no
        // file.
        (None, Some(id)) if fields.subtype.is("compact_boundary") => Parent::IdOrPrevious(id),
        (None, _) => Parent::None,
    }
}

/// Returns the event type of a record, its class (what forks do with it), and whether it begins a
/// turn.
fn sort(fields: &Fields<'_>) -> (EventType, Class, bool) {
    let own = |kind: EventType, turn: bool| (kind.clone(), kind.class(), turn);
    match fields.kind.get() {
        Some("user") if fields.compact_summary.0 => own(EventType::HISTORY_COMPACTION, false),
        Some("user") => {
            let content = &fields.message.0.content;
            let results = content.blocks().iter().filter(|b| b.kind.is("tool_result")).count();
            if results > 0 && !content.blocks().iter().any(is_text) {
                return own(EventType::TOOL_RESULT, false);
            }
            let has_content = !matches!(content, MessageContent::Nothing);
            let is_real = !fields.meta.0
                && has_content
                && content.begins_turn(|block| Author::of_block(block.kind.get(), block.author));
            own(EventType::USER_MESSAGE, is_real)
        }
        Some("assistant") => own(EventType::ASSISTANT_MESSAGE, false),
        Some("attachment") => own(EventType::USER_MESSAGE, false),
        Some("system") => match fields.subtype.get() {
            Some("compact_boundary") => (extension("compact_boundary"), Class::Evidence, false),
            subtype => (extension(subtype.unwrap_or("system")), Class::Audit, false),
        },
        other => (extension(other.unwrap_or("record")), Class::Audit, false),
    }
}

fn is_text(block: &CallBlock<'_>) -> bool {
    block.kind.is("text")
}

fn extension(name: &str) -> EventType {
    EventType::extension(super::NAME, name)
}

fn call_step(block: &CallBlock<'_>) -> Option<CallStep> {
    match block.kind.get()? {
        "tool_use" => opened(&block.id, &block.name),
        "tool_result" => block.tool_use_id.to_owned().map(CallStep::Close),
        _ => None,
    }
}

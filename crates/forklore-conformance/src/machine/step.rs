//! The possible steps of a random history. A step names sessions and positions by small numbers.
//! When the step is executed, most numbers pick one of the sessions or positions that exist at that
//! time. The step is therefore possible in any state.

use proptest::prelude::{Just, Strategy, any, prop, prop_oneof};

use crate::events::{
    Draft, asks, assistant, compaction, failed, injected, permission, result, usage, user,
};
use forklore_core::Class;

/// One random operation of a test. The number of a session or of a position usually picks an
/// existing one; a few values deliberately pick one that does not exist. The number of an owner or
/// of a name stands for a fixed text, such as `run-1`.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Create { events: Vec<Say> },
    Append { session: u8, events: Vec<Say>, expect: Expect, owner: Option<u8> },
    Repeat { append: u8 },
    Fork { parent: u8, inheritable: u8, how: How, tail: Vec<Say>, label: Option<u8> },
    Remove { sessions: Vec<u8>, retain_children: bool },
    Detach { session: u8 },
    Label { session: u8, name: u8 },
    Title { session: u8, title: Option<u8> },
    Hold { session: u8, owner: u8, millis: u8 },
    Release { session: u8, owner: u8 },
    Gc,
    Pack,
    Reopen,
    Race(Box<Step>, Box<Step>),
}

/// The kind of an event that a random operation writes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Say {
    User,
    Injected,
    Assistant,
    Ask(u8),
    Answer(u8),
    Permission,
    Compaction,
    Usage(u8),
    Failed,
    Note(Class),
    Again,
}

/// The head that a random append expects: the right one, another one, or none.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expect {
    Right,
    Off(i8),
    Absent,
}

/// The kind of child that a random fork creates.
#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Share,
    Copy,
    Delegate,
}

impl Say {
    pub(super) fn draft(self) -> Draft {
        match self {
            Self::User => user("go on"),
            Self::Injected => injected("psst"),
            Self::Assistant => assistant("well"),
            Self::Ask(call) => asks(&[(&format!("c{call}"), "tool")]),
            Self::Answer(call) => result(&format!("c{call}"), "answer"),
            Self::Permission => permission("c0"),
            Self::Compaction => compaction(0, 1),
            Self::Usage(tokens) => usage(tokens.into(), 1),
            Self::Failed => failed("no network"),
            Self::Note(class) => Draft::new("x.note", r#"{"é":1.0}"#).class(class),
            Self::Again => user("the same id").id("again"),
        }
    }
}

fn say() -> impl Strategy<Value = Say> {
    let class = prop::sample::select(vec![
        Class::Conversation,
        Class::Evidence,
        Class::Context,
        Class::Audit,
    ]);
    prop_oneof![
        4 => Just(Say::User),
        1 => Just(Say::Injected),
        3 => Just(Say::Assistant),
        2 => (0..3u8).prop_map(Say::Ask),
        2 => (0..3u8).prop_map(Say::Answer),
        1 => Just(Say::Permission),
        1 => Just(Say::Compaction),
        1 => any::<u8>().prop_map(Say::Usage),
        1 => Just(Say::Failed),
        1 => class.prop_map(Say::Note),
        1 => Just(Say::Again),
    ]
}

fn says(at_most: usize) -> impl Strategy<Value = Vec<Say>> {
    let few = prop::collection::vec(say(), 1..=at_most);
    prop_oneof![9 => few, 1 => Just(Vec::new())]
}

fn append() -> impl Strategy<Value = Step> {
    let expect = prop_oneof![
        3 => Just(Expect::Right),
        1 => any::<i8>().prop_map(Expect::Off),
        2 => Just(Expect::Absent),
    ];
    let owner = prop::option::weighted(0.15, 0..3u8);
    (any::<u8>(), says(5), expect, owner).prop_map(|(session, events, expect, owner)| {
        Step::Append { session, events, expect, owner }
    })
}

fn fork() -> impl Strategy<Value = Step> {
    let how = prop_oneof![4 => Just(How::Share), 2 => Just(How::Copy), 1 => Just(How::Delegate)];
    let label = prop::option::weighted(0.2, 0..4u8);
    let fields = (any::<u8>(), any::<u8>(), how, says(4), label);
    fields.prop_map(|(parent, inheritable, how, tail, label)| Step::Fork {
        parent,
        inheritable,
        how,
        tail,
        label,
    })
}

fn change() -> impl Strategy<Value = Step> {
    let session = any::<u8>;
    prop_oneof![
        4 => session().prop_map(|session| Step::Detach { session }),
        2 => (session(), 0..4u8).prop_map(|(session, name)| Step::Label { session, name }),
        1 => (session(), any::<Option<u8>>())
            .prop_map(|(session, title)| Step::Title { session, title }),
        2 => (session(), 0..3u8, any::<u8>())
            .prop_map(|(session, owner, millis)| Step::Hold { session, owner, millis }),
        1 => (session(), 0..3u8).prop_map(|(session, owner)| Step::Release { session, owner }),
    ]
}

fn remove() -> impl Strategy<Value = Step> {
    (prop::collection::vec(any::<u8>(), 1..4), prop::bool::weighted(0.7))
        .prop_map(|(sessions, retain_children)| Step::Remove { sessions, retain_children })
}

/// Generates random operations of a single caller.
pub(super) fn plain_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => says(6).prop_map(|events| Step::Create { events }),
        9 => append(),
        3 => any::<u8>().prop_map(|append| Step::Repeat { append }),
        9 => fork(),
        2 => remove(),
        6 => change(),
        1 => Just(Step::Gc),
        1 => Just(Step::Pack),
    ]
}

/// Generates random operations. On average, one of three is a pair of concurrent operations.
pub(super) fn racing_step() -> impl Strategy<Value = Step> {
    let pair = (plain_step(), plain_step());
    prop_oneof![
        2 => plain_step(),
        1 => pair.prop_map(|(one, two)| Step::Race(Box::new(one), Box::new(two))),
    ]
}

/// Generates random operations of a single caller. On average, one of ten reopens the store.
pub(super) fn reopening_step() -> impl Strategy<Value = Step> {
    prop_oneof![9 => plain_step(), 1 => Just(Step::Reopen)]
}

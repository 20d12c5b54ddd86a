//! The work of concurrent processes: random calls on a shared store.

use forklore_conformance::scene::id;
use forklore_core::Header;
use forklore_store::port::{Filter, Headers};

use crate::caller::Caller;
use crate::history::{Answer, Call};
use crate::process::Task;
use crate::soak::Chance;

/// The id of a root session. All test processes create and change sessions in its family, that is,
/// the root and its descendants.
pub const TRUNK: &str = "trunk";
/// The id of a session to which all test processes append, and which none of them deletes.
pub const ONE: &str = "one";
/// The number of different labels that the test processes give to sessions. It is small, so that
/// several sessions compete for one label.
const LABELS: u64 = 6;

/// Appends `task.calls` times to the session `ONE`, which all processes share, or without end if
/// `task.calls` is 0. After each of these appends, also appends to a session that only this process
/// uses. There, passes the last head that it saw as the expected head.
pub fn append(caller: &mut Caller<'_>, task: &Task) {
    let own = format!("own-{}", task.name);
    let create = |session: &str| Call::Create {
        session: session.to_owned(),
        parent: None,
        inheritable: 0,
        copy: false,
        events: Vec::new(),
    };
    caller.call(create(&own));
    let mut head = -1;
    for number in (0..).take_while(|number| task.calls == 0 || *number < task.calls) {
        let events = vec![format!("{}.{number}", task.name)];
        caller.call(Call::Append { session: ONE.to_owned(), events, expect: None });
        let events = vec![format!("{}.{number}+", task.name), format!("{}.{number}++", task.name)];
        let call = Call::Append { session: own.clone(), events, expect: Some(head) };
        match caller.call(call) {
            Answer::Appended { to, .. } => head = i64::try_from(to).expect("a place in a log"),
            answer => panic!("{own} is nobody else's: {answer:?}"),
        }
    }
}

/// A test process that makes random calls to a store.
pub struct Busy<'a> {
    caller: Caller<'a>,
    chance: Chance,
    task: &'a Task,
    named: u64,
    last: Option<Call>,
}

impl<'a> Busy<'a> {
    /// Creates the random caller. Equal tasks lead to equal calls, provided that the store gives
    /// the same answers.
    #[must_use]
    pub fn new(caller: Caller<'a>, task: &'a Task) -> Self {
        let stream = task.name.bytes().fold(7, |sum, byte| sum * 131 + u64::from(byte));
        Self { caller, chance: Chance::new(task.seed, stream), task, named: 0, last: None }
    }

    /// Makes random calls: as many as the task requires, or without end if the task requires 0.
    pub fn run(&mut self) {
        while self.task.calls == 0 || self.caller.calls() < self.task.calls {
            let call = self.next();
            let answer = self.caller.call(call.clone());
            let repeatable = matches!(&call, Call::Append { expect: Some(_), .. });
            self.last = (repeatable && matches!(answer, Answer::Appended { .. })).then_some(call);
        }
    }

    fn next(&mut self) -> Call {
        if let Some(last) = self.last.take().filter(|_| self.chance.below(4) == 0) {
            return last;
        }
        match self.chance.below(100) {
            0..42 => self.append(),
            42..62 => self.fork(),
            62..68 => self.same_child(),
            68..78 => self.child().map_or(Call::Collect, |session| Call::Delete {
                session,
                refuse: self.chance.below(3) == 0,
            }),
            78..85 => self.child().map_or(Call::Collect, |session| Call::Detach { session }),
            85..92 => self.child().map_or(Call::Collect, |session| {
                let label = format!("label-{}", self.chance.below(LABELS));
                Call::Label { session, label }
            }),
            92..98 => self.import(),
            _ => Call::Collect,
        }
    }

    fn append(&mut self) -> Call {
        let session = match self.chance.below(3) {
            0 => ONE.to_owned(),
            _ => self.child().unwrap_or_else(|| TRUNK.to_owned()),
        };
        let head = self.header(&session).head_seq();
        let expect = match self.chance.below(6) {
            0..3 => None,
            3..5 => Some(head),
            _ => Some(head - 1),
        };
        Call::Append { session, events: self.names(5), expect }
    }

    fn fork(&mut self) -> Call {
        let parent = match self.chance.below(3) {
            0 => TRUNK.to_owned(),
            _ => self.child().unwrap_or_else(|| TRUNK.to_owned()),
        };
        let most = self.header(&parent).counts.inheritable.max(1);
        let copy = self.chance.below(4) == 0;
        // Most children inherit few events, so that reading all children is cheap. Some children
        // copy everything, which takes several transactions.
        let stored = match self.chance.below(6) {
            0 => 1 + self.chance.below(most),
            1 if copy => most,
            _ => 1 + self.chance.below(most.min(20)),
        };
        let session = format!("c-{}-{}", self.task.name, self.caller.calls());
        Call::Create {
            session,
            parent: Some(parent),
            inheritable: stored,
            copy,
            events: self.names(3),
        }
    }

    /// Returns a call that creates a child session. Its id is not unique: other test processes also
    /// try to create a child with this id.
    fn same_child(&mut self) -> Call {
        let session = format!("same-{}", self.caller.calls() / 8);
        let copy = self.chance.below(4) == 0;
        let events = self.names(2);
        Call::Create { session, parent: Some(TRUNK.to_owned()), inheritable: 3, copy, events }
    }

    fn import(&self) -> Call {
        let file = self.task.file.as_ref();
        file.map_or(Call::Collect, |file| Call::Import { path: file.display().to_string() })
    }

    fn header(&self, session: &str) -> Header {
        // A deleted session has a header too, so a session that was listed once always has a
        // header.
        self.caller.opened().store().header(&id(session)).expect("a session that was listed")
    }

    /// Picks at random one of the most recently updated child sessions. Considers only sessions in
    /// the family of `TRUNK` (this root and its descendants). Returns `None` if it finds none.
    fn child(&mut self) -> Option<String> {
        let filter = Filter { family: Some(id(TRUNK)), ..Filter::default() };
        let found = self.caller.opened().store().sessions(&filter, None, 24);
        let found = found.and_then(Headers::all).expect("a store that lists its sessions");
        let ids = found.iter().filter(|it| it.parent_id.is_some()).map(|it| it.id.to_string());
        let ids: Vec<_> = ids.collect();
        (!ids.is_empty()).then(|| self.chance.one_of(&ids).clone())
    }

    /// Returns ids for new events, between 1 and `most` of them. No other event has these ids.
    fn names(&mut self, most: u64) -> Vec<String> {
        let count = 1 + self.chance.below(most);
        self.named += count;
        let from = self.named - count;
        (from..self.named).map(|number| format!("{}.{number}", self.task.name)).collect()
    }
}

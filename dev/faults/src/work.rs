//! The work of concurrent processes: random calls on a shared store.

use forklore_conformance::scene::id;
use forklore_core::Header;
use forklore_store::port::{Filter, Headers};

use crate::caller::Caller;
use crate::history::{Answer, Call};
use crate::process::Task;
use crate::soak::Chance;

/// The id of the root whose family all processes work in.
pub const TRUNK: &str = "trunk";
/// The id of the session to which all processes append, and which no process deletes.
pub const ONE: &str = "one";
/// The number of labels that the sessions compete for.
const LABELS: u64 = 6;

/// Appends to the shared session, as many times as the task has calls. After each append, appends
/// to a session of its own, with the head that it knows as the expected head.
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

/// The work of a process that makes random calls.
pub struct Busy<'a> {
    caller: Caller<'a>,
    chance: Chance,
    task: &'a Task,
    named: u64,
    last: Option<Call>,
}

impl<'a> Busy<'a> {
    /// Creates the work. The same task leads to the same calls, provided that the store gives the
    /// same answers.
    #[must_use]
    pub fn new(caller: Caller<'a>, task: &'a Task) -> Self {
        let stream = task.name.bytes().fold(7, |sum, byte| sum * 131 + u64::from(byte));
        Self { caller, chance: Chance::new(task.seed, stream), task, named: 0, last: None }
    }

    /// Makes as many random calls as the task says, or without end if the task says 0.
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

    /// Returns a call that creates a child. Other processes try to create the same child.
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

    /// Picks one of the most recently updated children of the family, if there are any.
    fn child(&mut self) -> Option<String> {
        let filter = Filter { family: Some(id(TRUNK)), ..Filter::default() };
        let found = self.caller.opened().store().sessions(&filter, None, 24);
        let found = found.and_then(Headers::all).expect("a store that lists its sessions");
        let ids = found.iter().filter(|it| it.parent_id.is_some()).map(|it| it.id.to_string());
        let ids: Vec<_> = ids.collect();
        (!ids.is_empty()).then(|| self.chance.one_of(&ids).clone())
    }

    /// Returns between 1 and `most` unique ids for new events.
    fn names(&mut self, most: u64) -> Vec<String> {
        let count = 1 + self.chance.below(most);
        self.named += count;
        let from = self.named - count;
        (from..self.named).map(|number| format!("{}.{number}", self.task.name)).collect()
    }
}

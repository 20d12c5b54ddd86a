//! One history: each step is made a call, which the store and the model both get.

use forklore_core::header::Strategy;
use forklore_core::{SessionId, SessionKind};
use jiff::SignedDuration;

use super::call::{Answer, Call};
use super::compare::{Logs, compare, same};
use super::model::{Model, Session};
use super::step::{Expect, How, Say, Step};
use crate::events::Draft;
use crate::factory::Factory;
use crate::race::race;
use crate::scene::{LONG, Scene, id, label};
use forklore_store::port::{Append, Change, Children, NewSession};

pub(super) struct History<'f> {
    scene: Scene<'f>,
    model: Model,
    /// Every append tried, to be repeated.
    appends: Vec<(SessionId, Append)>,
    made: usize,
    /// Two calls at once agreed with both orders, which differ in what no answer shows yet: whose
    /// bytes a history refers to. What is said of that later cannot be foretold.
    unsure: bool,
}

impl<'f> History<'f> {
    /// A history that begins with one root.
    pub(super) fn new(factory: &'f dyn Factory) -> Result<Self, String> {
        let mut history = Self {
            scene: Scene::new(factory),
            model: Model::default(),
            appends: Vec::new(),
            made: 0,
            unsure: false,
        };
        let events = vec![Say::User, Say::Ask(0), Say::Usage(1), Say::Assistant];
        history.take(&Step::Create { events })?;
        Ok(history)
    }

    /// Takes one step. Logs are compared where the step may have touched them, all of them after
    /// a step that moves bytes about, and in [`History::finish`].
    pub(super) fn take(&mut self, step: &Step) -> Result<(), String> {
        if self.unsure {
            return Ok(());
        }
        match step {
            Step::Gc => self.scene.collect(),
            Step::Pack => self.scene.pack(),
            Step::Reopen => self.scene.reopen(),
            Step::Race(one, two) => return self.race(one, two),
            one => {
                let Some(call) = self.call(one) else {
                    return Ok(());
                };
                let (got, want) = (call.make(self.scene.store()), self.model.tell(&call));
                same(&format!("the answer to {call:?}"), &got, &want)?;
                return compare(&self.scene, &self.model, call.touched());
            }
        }
        self.finish()
    }

    /// Compares everything.
    pub(super) fn finish(&self) -> Result<(), String> {
        compare(&self.scene, &self.model, Logs::All)
    }

    /// Makes both calls at once; the store must show what one of both orders gives.
    fn race(&mut self, one: &Step, two: &Step) -> Result<(), String> {
        let (Some(one), Some(two)) = (self.call(one), self.call(two)) else {
            return Ok(());
        };
        let store = self.scene.store();
        let (first, second) = race(|| one.make(store), || two.make(store));
        let (mut differences, mut agreed) = (Vec::new(), Vec::new());
        for one_first in [true, false] {
            let mut model = self.model.clone();
            let want: (Answer, Answer) = if one_first {
                (model.tell(&one), model.tell(&two))
            } else {
                let second = model.tell(&two);
                (model.tell(&one), second)
            };
            let difference = same("the answers", &(&first, &second), &(&want.0, &want.1))
                .and_then(|()| compare(&self.scene, &model, Logs::All));
            match difference {
                Ok(()) => agreed.push(model),
                Err(difference) => differences.push(difference),
            }
        }
        if let [one, other] = agreed.as_slice() {
            self.unsure = one.references() != other.references();
        }
        if let Some(model) = agreed.into_iter().next() {
            self.model = model;
            return Ok(());
        }
        Err(format!("{one:?}\nand {two:?}\nagree with neither order:\n{}", differences.join("\n")))
    }

    /// Mostly a living session, seldom a deleted one, or none.
    fn pick(&self, number: u8) -> Option<&Session> {
        let any = number.is_multiple_of(16);
        let nth = usize::from(number / 16 * 13 + number % 16);
        let pool = self.model.sessions.iter().filter(|told| any || !told.is_deleted());
        let pool: Vec<_> = pool.collect();
        pool.get(nth % (pool.len() + usize::from(any)).max(1)).copied()
    }

    /// The session of a number, or one that never was.
    fn session(&self, number: u8) -> SessionId {
        self.pick(number).map_or_else(|| id("nobody"), |told| told.id().clone())
    }

    fn call(&mut self, step: &Step) -> Option<Call> {
        match step {
            Step::Create { events } => {
                self.made += 1;
                let name = format!("root-{}", self.made);
                let new = self.scene.draft(&name, drafts(events));
                Some(Call::Create(Box::new(new)))
            }
            Step::Append { session, events, expect, owner } => {
                Some(self.append(*session, events, *expect, owner.map(run)))
            }
            Step::Repeat { append } => {
                let at = usize::from(*append) % self.appends.len().max(1);
                let (session, append) = self.appends.get(at)?.clone();
                let now = self.scene.clock.now();
                Some(Call::Append(session, Append { now, ..append }))
            }
            Step::Fork { parent, kept, how, tail, label } => {
                Some(self.fork((*parent, *kept), *how, tail, *label))
            }
            Step::Remove { sessions, keep_children } => {
                let sessions = sessions.iter().map(|session| self.session(*session)).collect();
                let children = if *keep_children { Children::Retain } else { Children::Refuse };
                Some(Call::Remove(sessions, children, self.scene.clock.now()))
            }
            other => {
                let (session, change) = self.change(other)?;
                Some(Call::Change(self.session(session), change))
            }
        }
    }

    fn change(&self, step: &Step) -> Option<(u8, Change)> {
        match step {
            Step::Detach { session } => {
                // What it means for a root is nobody's business.
                self.pick(*session).filter(|told| told.header().parent_id.is_some())?;
                Some((*session, Change::Detach))
            }
            Step::Label { session, name } => {
                Some((*session, Change::Label(label(&format!("name-{name}")))))
            }
            Step::Title { session, title } => {
                Some((*session, Change::Title(title.map(|title| format!("Title {title}")))))
            }
            Step::Hold { session, owner, millis } => {
                // Either over at once or not before the history is: no case waits.
                let lasts = if millis.is_multiple_of(2) { LONG } else { SignedDuration::ZERO };
                Some((*session, Change::Hold { owner: run(*owner), lasts }))
            }
            Step::Release { session, owner } => {
                Some((*session, Change::Release { owner: run(*owner) }))
            }
            _ => None,
        }
    }

    fn append(
        &mut self,
        session: u8,
        events: &[Say],
        expect: Expect,
        owner: Option<String>,
    ) -> Call {
        let head = self.pick(session).map_or(-1, Session::head);
        let expect = match expect {
            Expect::Right => Some(head),
            Expect::Off(by) => Some(head + i64::from(by)),
            Expect::Absent => None,
        };
        let append = Append { expect, owner, ..self.scene.appending(drafts(events)) };
        let session = self.session(session);
        self.appends.push((session.clone(), append.clone()));
        Call::Append(session, append)
    }

    fn fork(&mut self, from: (u8, u8), how: How, tail: &[Say], name: Option<u8>) -> Call {
        self.made += 1;
        let parent = self.session(from.0);
        let most = self.pick(from.0).map_or(0, Session::inheritable_count);
        // Seldom behind the end, which must be refused.
        let kept =
            if from.1 < 8 { most + 1 + u64::from(from.1) } else { u64::from(from.1) % (most + 1) };
        let strategy =
            if matches!(how, How::Copy) { Strategy::ReplayV1 } else { Strategy::ShareV1 };
        let child = format!("child-{}", self.made);
        let new = self.scene.child_draft(parent.as_str(), &child, kept, strategy, drafts(tail));
        let label = name.map_or(new.label.clone(), |name| label(&format!("name-{name}")));
        let kind = if matches!(how, How::Delegate) { SessionKind::Delegate } else { new.kind };
        Call::Create(Box::new(NewSession { label, kind, ..new }))
    }
}

fn run(owner: u8) -> String {
    format!("run-{owner}")
}

fn drafts(events: &[Say]) -> Vec<Draft> {
    events.iter().map(|say| say.draft()).collect()
}

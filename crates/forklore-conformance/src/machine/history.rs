//! Performs one random history: turns each step into a call, and executes the call on both the
//! store and the reference model.

#[cfg(test)]
mod tests;

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
    /// All appends of this random history so far, so that a later step can repeat one.
    appends: Vec<(SessionId, Append)>,
    made: usize,
    /// Whether the state of the store is unclear after two concurrent calls. That is so if the
    /// answers of the store fit both orders of the calls, but the orders differ in whose stored
    /// events another session inherits. No answer shows yet which order the store chose. So the
    /// reference model cannot predict later answers that depend on the order.
    unsure: bool,
}

impl<'f> History<'f> {
    /// Prepares a random history on a new store, in which it creates one root session.
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

    /// Executes one random step on the store and the reference model. Then compares the logs that
    /// the step may have changed, or all logs if the step moves stored data.
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

    /// Compares all headers and logs of the store with those of the reference model.
    pub(super) fn finish(&self) -> Result<(), String> {
        compare(&self.scene, &self.model, Logs::All)
    }

    /// Executes both steps on the store at the same time. The answers and the state must be those
    /// of the reference model for one of the two orders.
    fn race(&mut self, one: &Step, two: &Step) -> Result<(), String> {
        let (Some(one), Some(two)) = (self.call(one), self.call(two)) else {
            return Ok(());
        };
        let store = self.scene.store();
        let answers = race(|| one.make(store), || two.make(store));
        self.agree_with_an_order(&one, &two, &answers)
    }

    /// Executes both calls on the reference model, in an order that leads to these answers and to
    /// the store's state. Fails if neither order does.
    fn agree_with_an_order(
        &mut self,
        one: &Call,
        two: &Call,
        answers: &(Answer, Answer),
    ) -> Result<(), String> {
        let (mut differences, mut agreed) = (Vec::new(), Vec::new());
        for one_first in [true, false] {
            let mut model = self.model.clone();
            let want = if one_first {
                (model.tell(one), model.tell(two))
            } else {
                let second = model.tell(two);
                (model.tell(one), second)
            };
            let difference = same("the answers", answers, &want)
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

    /// Picks a session of the reference model by a random number: usually a living one. One number
    /// in 16 may pick a deleted session, or none.
    fn pick(&self, number: u8) -> Option<&Session> {
        let any = number.is_multiple_of(16);
        let nth = usize::from(number / 16 * 13 + number % 16);
        let pool = self.model.sessions.iter().filter(|reported| any || !reported.is_deleted());
        let pool: Vec<_> = pool.collect();
        pool.get(nth % (pool.len() + usize::from(any)).max(1)).copied()
    }

    /// Returns the id of the session that the random `number` picks. The id may be one that does
    /// not exist.
    fn session(&self, number: u8) -> SessionId {
        self.pick(number).map_or_else(|| id("nobody"), |reported| reported.id().clone())
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
            Step::Fork { parent, inheritable, how, tail, label } => {
                Some(self.fork((*parent, *inheritable), *how, tail, *label))
            }
            Step::Remove { sessions, retain_children } => {
                let sessions = sessions.iter().map(|session| self.session(*session)).collect();
                let children = if *retain_children { Children::Retain } else { Children::Refuse };
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
                // Skip roots, because the contract does not define a detach of a root.
                self.pick(*session).filter(|reported| reported.header().parent_id.is_some())?;
                Some((*session, Change::Detach))
            }
            Step::Label { session, name } => {
                Some((*session, Change::Label(label(&format!("name-{name}")))))
            }
            Step::Title { session, title } => {
                Some((*session, Change::Title(title.map(|title| format!("Title {title}")))))
            }
            Step::Hold { session, owner, millis } => {
                // The lease expires either at once or after the end of the history, so that no case
                // has to wait.
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
        // In a few cases the cut is after the end of the parent. The store must reject such a cut.
        let inheritable =
            if from.1 < 8 { most + 1 + u64::from(from.1) } else { u64::from(from.1) % (most + 1) };
        let strategy =
            if matches!(how, How::Copy) { Strategy::ReplayV1 } else { Strategy::ShareV1 };
        let child = format!("child-{}", self.made);
        let new =
            self.scene.child_draft(parent.as_str(), &child, inheritable, strategy, drafts(tail));
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

//! The steps on attachments: they store, reference, read and remove attachments.

use std::collections::BTreeSet;
use std::sync::Arc;

use forklore_conformance::events::{Draft, turns, user};
use forklore_conformance::scene::id;
use forklore_conformance::{Handle, Scene};
use forklore_core::attachment::{Mention, mentions};
use forklore_core::{AttachmentId, Event};
use forklore_store::attachments::{BUFFER, Pin, check};
use forklore_store::memory::MemoryStore;
use forklore_store::port::{Append, Filter};
use forklore_store::{Error, Result};

use super::Step;
use crate::picture;
use crate::soak::{Chance, seed};
use crate::subject::attachments_of;
use forklore_store::Store;

/// Returns the steps of the attachment workload for the test round `round`. Also executes them on
/// the store `reference`.
pub(super) fn steps(reference: &Arc<MemoryStore>, round: u64) -> Vec<Step> {
    let factory = || Handle::shared(reference.clone());
    let chance = Chance::new(seed(), round);
    let mut plan = Plan { scene: Scene::new(&factory), reference, steps: Vec::new(), chance };
    let (short, long) = (plan.bytes(700), plan.bytes(2 * BUFFER + 100));
    let first = plan.put(&short);
    plan.root("alpha", vec![user("one"), naming(&first)]);
    plan.put(&short);
    plan.add(Step::Get(first));
    let second = plan.put(&long);
    plan.append("alpha", vec![naming(&second)]);
    plan.add(Step::Sweep);
    let third = plan.put(&[]);
    plan.root("omega", vec![naming(&third), naming(&first)]);
    let nobody = plan.bytes(2_000);
    plan.put(&nobody);
    plan.add(Step::Sweep);
    plan.append("omega", turns(1));
    // Attachments of the removed session that other sessions also reference must remain.
    plan.add(Step::Remove(vec![id("omega")], plan.scene.clock.now()));
    plan.add(Step::Collect);
    plan.add(Step::Sweep);
    plan.put(&[]);
    plan.append("alpha", vec![naming(&third), naming(&first)]);
    plan.add(Step::Get(second));
    plan.put(&nobody);
    plan.add(Step::Sweep);
    let fourth = plan.put(&nobody);
    plan.append("alpha", vec![naming(&fourth)]);
    plan.steps
}

/// Returns a user message whose only part is a reference to the attachment `id`.
fn naming(id: &AttachmentId) -> Draft {
    let part = format!(r#"{{"type":"attachment","ref":"{id}","media_type":"x/y"}}"#);
    Draft::new("user_message", format!(r#"{{"content":[{part}]}}"#))
}

struct Plan<'a> {
    scene: Scene<'a>,
    reference: &'a Arc<MemoryStore>,
    steps: Vec<Step>,
    chance: Chance,
}

impl Plan<'_> {
    fn add(&mut self, step: Step) {
        let outcome = step.take(&**self.reference);
        outcome.unwrap_or_else(|error| panic!("{step:?}: {error}"));
        self.steps.push(step);
    }

    /// Returns `len` random bytes, which are to be stored as an attachment.
    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| u8::try_from(self.chance.below(256)).unwrap_or(0)).collect()
    }

    fn put(&mut self, bytes: &[u8]) -> AttachmentId {
        self.add(Step::Put(bytes.to_vec()));
        let pin = attachments_of(&**self.reference).put(&mut &*bytes, u64::MAX);
        pin.expect("memory keeps bytes").id
    }

    fn root(&mut self, name: &str, events: Vec<Draft>) {
        let new = self.scene.draft(name, events);
        self.add(Step::Create(Box::new(new)));
    }

    fn append(&mut self, name: &str, drafts: Vec<Draft>) {
        let expect = Some(self.scene.header(name).head_seq());
        let append = Append { expect, ..self.scene.appending(drafts) };
        self.add(Step::Append(id(name), append));
    }
}

/// Calls `write`, which writes `events`, while the attachments that the events reference are
/// pinned. A pin prevents that an attachment is removed; every writer must pin what it references.
/// Fails if one of the attachments does not exist.
pub(super) fn naming_pinned<T>(
    store: &dyn Store,
    events: &[Event],
    write: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let named: Vec<_> = events.iter().flat_map(|event| mentions(&event.data)).collect();
    let pin = named.iter().map(|Mention { id, .. }| attachments_of(store).pin(id));
    let pin = pin.collect::<Result<Vec<Option<Pin>>>>()?;
    let written = write()?;
    match named.iter().zip(&pin).find(|(_, leased)| leased.is_none()) {
        Some((Mention { id, .. }, _)) => Err(Error::Invalid(format!("{id} was not there"))),
        None => Ok(written),
    }
}

/// Reads an attachment. Fails if it is missing or damaged.
pub(super) fn get(store: &dyn Store, id: &AttachmentId) -> Result<()> {
    match check(&*attachments_of(store), id)? {
        Some(_) => Ok(()),
        None => Err(Error::Invalid(format!("{id} is not there to be read"))),
    }
}

/// Removes the attachments that no event references. Fails if such an attachment remains.
pub(super) fn sweep(store: &dyn Store) -> Result<()> {
    let mut unneeded = attachments_of(store).list()?;
    let mut named = BTreeSet::new();
    for header in store.sessions(&Filter::default(), None, 0)?.all()? {
        for stored in picture::log(store, &header.id)? {
            named.extend(mentions(&stored.event.data).iter().map(|mention| mention.id));
        }
    }
    unneeded.retain(|attachment| !named.contains(&attachment.id));
    attachments_of(store).sweep(&unneeded)?;
    match attachments_of(store).list()?.iter().find(|left| !named.contains(&left.id)) {
        Some(left) => Err(Error::Invalid(format!("{} is left, although nobody names it", left.id))),
        None => Ok(()),
    }
}

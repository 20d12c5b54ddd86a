//! A forger who knows the store's format: every checksum of the edited store is right, so that
//! nothing but the anchors can notice the edit.

use forklore::Engine;
use forklore::core::{Data, Header};
use forklore::store::port::{At, Beginning, Filter, NewSession, Write};

use super::victim::Victim;

/// The sessions of a store as they were created, parents before children.
pub(super) struct Forgery(Vec<NewSession>);

impl Forgery {
    /// Reads all sessions.
    pub(super) fn of(engine: &Engine) -> Self {
        let filter = Filter::default();
        let mut headers = engine.store().sessions(&filter, None, 0).unwrap().all().unwrap();
        headers.sort_by_key(|header| (header.depth, header.id.clone()));
        Self(headers.into_iter().map(|header| session(engine, header)).collect())
    }

    pub(super) fn session(&mut self, id: &str) -> &mut NewSession {
        self.0.iter_mut().find(|session| session.id.as_str() == id).unwrap()
    }

    /// Writes the sessions into an empty store.
    pub(super) fn write(self, engine: &Engine) {
        for session in self.0 {
            engine.store().commit(Write::Create(Box::new(session)).into()).unwrap();
        }
    }
}

fn session(engine: &Engine, header: Header) -> NewSession {
    let own: Vec<_> = (0..header.own_events).map(|position| header.seq_of_own(position)).collect();
    let log = engine.events(&header.id, At::Seq(0)).map(Result::unwrap);
    let events = log.filter(|entry| own.contains(&entry.seq)).map(|entry| entry.event).collect();
    let from = header.parent_id.map(|parent| Beginning {
        parent,
        cut: header.cut.unwrap(),
        strategy: header.strategy.unwrap(),
        tool_calls: header.tool_calls.unwrap(),
    });
    NewSession {
        id: header.id,
        kind: header.kind,
        label: header.label,
        title: header.title,
        workspace: header.workspace,
        principal: header.principal,
        permissions: header.permissions,
        metadata: header.metadata,
        config: header.config,
        dialect: header.dialect,
        source: header.source,
        copy_of: header.copy_of,
        created: header.created,
        from,
        events,
        usage: header.usage,
    }
}

/// Returns a payload with this text.
pub(super) fn says(text: &str) -> Data {
    Data::parse(&format!(r#"{{"content":"{text}"}}"#)).unwrap()
}

/// Edits the store of `victim`: replaces it by a sound store with other content.
pub(super) fn forge(victim: &Victim, empty: &Victim, edit: impl Fn(&mut Forgery)) {
    let mut forgery = Forgery::of(&victim.engine());
    edit(&mut forgery);
    forgery.write(&empty.engine());
    victim.replace_by(empty);
}

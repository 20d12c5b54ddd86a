//! Updates the state after answers to requests, and after changes of the store.

use forklore_api::DeleteMode;
use forklore_core::SessionId;
use forklore_core::units::count;
use forklore_store::port::SessionChange;

use super::App;
use crate::dialog::{Dialog, Item, Outcome, Reply};
use crate::request::{Answer, Change, Done, Failed, Request};
use crate::safe::Safe;
use crate::screen::{Screen, delete};
use crate::text::Line;
use crate::tone::Tone;

impl App {
    pub(super) fn answer(&mut self, number: u64, answer: &Answer) {
        if let Answer::List { now, .. }
        | Answer::Rows { now, .. }
        | Answer::Tree { now, .. }
        | Answer::Search { now, .. } = answer
        {
            self.now = *now;
        }
        match answer {
            Answer::Changed(done) => return self.done(done),
            Answer::Refused(change, failed) => return self.refused(change, failed),
            // Whoever went on to something else is not asked any more.
            Answer::RewindPlanned(plan) if self.dialog.is_none() => {
                return self.rewind_planned(plan);
            }
            Answer::DeletePlanned { session, has_children: true } => {
                return self.offer_other_deletes(session);
            }
            _ => {}
        }
        let size = self.body();
        let screen = self.screens.iter_mut().find(|(own, _)| *own == number);
        let remark = screen.and_then(|(_, screen)| screen.receive(answer, size));
        if let Some(remark) = remark {
            self.remark(Tone::Warn, remark);
        }
        if let Answer::Failed(failed) = answer {
            self.notice = Some(Line::default().safe(Tone::Bad, failed.message.clone()));
        }
    }

    /// Replaces the question whether to delete a session by one that offers the ways to delete a
    /// session that others continue. Does nothing if the question is not open any more.
    fn offer_other_deletes(&mut self, session: &SessionId) {
        let question = Reply::Change(delete(session.clone()));
        let Some(Dialog::Menu { title, text, items, .. }) = &self.dialog else { return };
        if items.iter().any(|item| item.reply == question) {
            let mut lines = vec![Line::of(Tone::Plain, "Other sessions continue it.")];
            lines.extend_from_slice(text);
            self.dialog = Some(other_deletes(title.clone(), lines, session));
        }
    }

    /// Shows why a change was refused. Offers other ways to delete a session that others continue:
    /// another program may have forked it since the user was asked.
    fn refused(&mut self, change: &Change, failed: &Failed) {
        self.notice = Some(Line::default().safe(Tone::Bad, failed.message.clone()));
        let Change::Delete(session, DeleteMode::Refuse) = change else { return };
        if !failed.has_children {
            return;
        }
        let title = Line::of(Tone::Strong, "Other sessions continue this one");
        self.dialog = Some(other_deletes(title, Vec::new(), session));
    }

    /// Updates the screens after a change that the user made here.
    fn done(&mut self, done: &Done) {
        let mut requests = Vec::new();
        for (number, screen) in &mut self.screens {
            requests.extend(screen.done(done).map(|request| (*number, request)));
        }
        for (number, request) in requests {
            self.effects.push(super::Effect::Request(number, request));
        }
        match done {
            Done::Forked { session, label, at, parent } => self.forked(session, label, at, parent),
            Done::Labelled(_, label) => {
                self.notice =
                    Some(Line::of(Tone::Good, "labelled ").safe(Tone::Label, label.clone()));
            }
            Done::Renamed(_, Some(title)) => {
                self.notice =
                    Some(Line::of(Tone::Good, "renamed: ").safe(Tone::Plain, title.clone()));
            }
            Done::Renamed(_, None) => self.remark(Tone::Good, "the title is removed"),
            Done::Deleted { session, sessions } => {
                self.deleted.push(session.clone());
                self.close(sessions);
                let what = count(sessions.len() as u64, "session");
                self.remark(Tone::Good, format!("deleted {what}; u brings it back"));
            }
            Done::Rewound { session, fork, number, files } => {
                self.rewound(session, fork.as_ref(), *number, files.as_ref());
            }
            Done::RewindUndone { session, number, gone, files, .. } => {
                self.close(gone);
                self.rewind_undone(session, *number, files.as_ref());
            }
            Done::Undeleted { session, sessions } => {
                self.deleted.retain(|deleted| deleted != session);
                let what = count(sessions.len() as u64, "session");
                self.remark(Tone::Good, format!("brought back {what}"));
            }
        }
    }

    fn forked(&mut self, session: &SessionId, label: &Safe, at: &Safe, parent: &SessionId) {
        let title = Line::of(Tone::Good, "Forked to ").safe(Tone::Label, label.clone());
        let command = format!("{} resume {session}", self.options.program);
        let text = vec![
            Line::of(Tone::Dim, "at ")
                .safe(Tone::Plain, at.clone())
                .and(Tone::Dim, format!(" of {parent}; the parent is unchanged")),
            Line::of(Tone::Dim, "Go on with it:"),
            Line::of(Tone::Strong, command),
        ];
        let item = |key, text: &str, reply| Item { key, text: Line::of(Tone::Plain, text), reply };
        let items = vec![
            item('o', "read the fork", Reply::Read(session.clone())),
            item('r', "leave, and continue it here", {
                Reply::Leave(Outcome::Resume(session.clone()))
            }),
            item('R', "leave, and continue it in an agent", Reply::ResumeIn(session.clone())),
            item('n', "stay", Reply::Close),
        ];
        self.dialog = Some(Dialog::Menu { title, text, items, at: 0 });
    }

    /// Closes the screens that show sessions that were deleted here.
    fn close(&mut self, deleted: &[SessionId]) {
        self.screens.retain(|(_, screen)| match screen {
            Screen::Reader(reader) => !deleted.contains(reader.session()),
            _ => true,
        });
        if self.marked.as_ref().is_some_and(|(marked, _)| deleted.contains(marked)) {
            self.marked = None;
        }
    }

    /// Updates the screens after changes that any program made.
    pub(super) fn changed(&mut self, changes: &[SessionChange]) {
        let mut requests: Vec<(u64, Request)> = Vec::new();
        for (number, screen) in &mut self.screens {
            requests.extend(screen.changed(changes).map(|request| (*number, request)));
        }
        for (number, request) in requests {
            self.effects.push(super::Effect::Request(number, request));
        }
    }
}

/// Returns the question how to delete a session that other sessions continue.
fn other_deletes(title: Line, text: Vec<Line>, session: &SessionId) -> Dialog {
    let other = |mode| Reply::Change(Change::Delete(session.clone(), mode));
    let items = vec![
        Item {
            key: 'o',
            text: Line::of(Tone::Plain, "delete only this one; its forks retain their history"),
            reply: other(DeleteMode::DetachChildren),
        },
        Item {
            key: 'a',
            text: Line::of(Tone::Bad, "delete it and all its forks"),
            reply: other(DeleteMode::Cascade),
        },
        Item { key: 'n', text: Line::of(Tone::Plain, "do nothing"), reply: Reply::Close },
    ];
    Dialog::Menu { title, text, items, at: 2 }
}

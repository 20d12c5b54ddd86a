//! Takes conversation and files back to the message at the cursor: where, what, what would change, and
//! then what was done.

use forklore_api::RewindScope;
use forklore_core::units::count;
use forklore_core::{Selector, SessionId};

use super::App;
use super::commands::name;
use crate::dialog::{Dialog, Item, Outcome, Reply};
use crate::request::{Change, FilesChanged, Request, RewindPlan, RewindRequest};
use crate::safe::Safe;
use crate::screen::{Screen, Spot};
use crate::text::Line;
use crate::tone::Tone;

fn item(key: char, text: impl AsRef<str>, reply: Reply) -> Item {
    Item { key, text: Line::of(Tone::Plain, text), reply }
}

fn behind(index: u64) -> Selector {
    if index == 0 { Selector::Start } else { Selector::Index(index) }
}

impl App {
    /// Asks how far to go back from the message at the cursor.
    pub(super) fn ask_where_to_rewind(&mut self, spot: &Spot) {
        let Some(Screen::Reader(reader)) = self.screen() else { return };
        let Some(entry) = reader.current() else { return };
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let to = |at| Reply::RewindTo(spot.session.clone(), at);
        let mut items = Vec::new();
        if let Some(index) = entry.index {
            items.push(item('a', "to after this message", to(behind(index + 1))));
            items.push(item('b', "to before this message", to(behind(index))));
        } else {
            let text = format!("to event {}", entry.seq);
            items.push(item('h', text, to(Selector::Seq(signed(entry.seq)))));
        }
        if entry.turn > 0 {
            let text = format!("to after the whole turn {}", entry.turn);
            items.push(item('t', text, to(Selector::Turn(signed(entry.turn)))));
        }
        let undo = Reply::Change(Change::UndoRewind(spot.session.clone(), None));
        items.push(item('u', "undo the last rewind of the folder", undo));
        let at = usize::from(entry.index.is_some() && entry.starts_turn);
        let title = Line::of(Tone::Strong, "Rewind ").then(name(spot));
        self.dialog = Some(Dialog::Menu { title, text: Vec::new(), items, at });
    }

    /// Asks what goes back.
    pub(super) fn ask_what_to_rewind(&mut self, session: &SessionId, at: &Selector) {
        let plan = |scope| {
            let (session, at) = (session.clone(), at.clone());
            Reply::PlanRewind(RewindRequest { session, at, scope })
        };
        let items = vec![
            item('b', "conversation and files", plan(RewindScope::Both)),
            item('f', "files only", plan(RewindScope::Files)),
            item('c', "conversation only", plan(RewindScope::Conversation)),
        ];
        let title = Line::of(Tone::Strong, "Rewind to ").and(Tone::Label, at.to_string());
        let text = vec![Line::of(Tone::Dim, "What would change is shown first.")];
        self.dialog = Some(Dialog::Menu { title, text, items, at: 0 });
    }

    /// Finds out what a rewind would change.
    pub(super) fn plan_rewind(&mut self, request: RewindRequest) {
        self.remark(Tone::Dim, "looking at what would change");
        self.request(Request::PlanRewind(request));
    }

    /// Shows what a rewind would change, and asks.
    pub(super) fn rewind_planned(&mut self, plan: &RewindPlan) {
        self.notice = None;
        let mut text = Vec::new();
        if let Some(at) = &plan.at {
            let line = Line::of(Tone::Plain, "The conversation goes on after ");
            text.push(line.safe(Tone::Label, at.clone()).and(Tone::Plain, ", in a fork."));
        }
        if let Some(files) = &plan.files {
            text.push(Line::of(Tone::Dim, "in ").safe(Tone::Plain, plan.folder.clone()));
            text.push(Line::of(Tone::Plain, format!("would write or remove: {}", numbers(files))));
            let shown = files.changes.len() as u64;
            text.extend(files.changes.iter().map(|change| path(Tone::Warn, change)));
            let all = files.written + files.removed;
            if all > shown {
                text.push(Line::of(Tone::Dim, format!("  and {} more", all - shown)));
            }
            text.extend(files.skipped.iter().map(|change| path(Tone::Bad, change)));
            text.push(Line::of(Tone::Dim, "The present state is recorded first."));
        }
        if plan.is_running {
            text.push(Line::of(Tone::Bad, "The session is running now."));
        }
        let items = vec![
            item('y', "rewind", Reply::Change(Change::Rewind(plan.request.clone()))),
            item('n', "do nothing", Reply::Close),
        ];
        let title = Line::of(Tone::Strong, "Rewind?");
        self.dialog = Some(Dialog::Menu { title, text, items, at: 1 });
    }

    /// Shows what was taken back, with the way to undo it.
    pub(super) fn rewound(
        &mut self,
        session: &SessionId,
        fork: Option<&SessionId>,
        number: Option<u64>,
        files: Option<&FilesChanged>,
    ) {
        let mut text = Vec::new();
        if let Some(files) = files {
            text.push(Line::of(Tone::Plain, numbers(files)));
            text.extend(files.skipped.iter().map(|change| path(Tone::Bad, change)));
        }
        let mut items = Vec::new();
        if let Some(fork) = fork {
            text.push(Line::of(Tone::Dim, "The conversation goes on in a fork."));
            items.push(item('o', "read the fork", Reply::Read(fork.clone())));
            let resume = Reply::Leave(Outcome::Resume(fork.clone()));
            items.push(item('r', "leave, and continue it here", resume));
        }
        if let Some(number) = number {
            let undo = Change::UndoRewind(session.clone(), Some(number));
            items.push(item('u', "undo", Reply::Change(undo)));
        }
        items.push(item('n', "stay", Reply::Close));
        let title = Line::of(Tone::Good, "Rewound");
        self.dialog = Some(Dialog::Menu { title, text, items, at: 0 });
    }

    /// Says that a rewind was taken back, with the way to redo it.
    pub(super) fn rewind_undone(
        &mut self,
        session: &SessionId,
        number: u64,
        files: Option<&FilesChanged>,
    ) {
        let mut text = Vec::new();
        if let Some(files) = files {
            text.push(Line::of(Tone::Plain, numbers(files)));
            text.extend(files.skipped.iter().map(|change| path(Tone::Bad, change)));
        }
        let redo = Change::UndoRewind(session.clone(), Some(number));
        let items = vec![item('n', "stay", Reply::Close), item('r', "redo", Reply::Change(redo))];
        let title = Line::of(Tone::Good, "Undone");
        self.dialog = Some(Dialog::Menu { title, text, items, at: 0 });
    }
}

fn numbers(files: &FilesChanged) -> String {
    let (written, removed) = (count(files.written, "file"), count(files.removed, "file"));
    match files.left {
        0 => format!("{written} written, {removed} removed"),
        left => format!("{written} written, {removed} removed, {left} left alone"),
    }
}

fn path(tone: Tone, (what, path): &(Safe, Safe)) -> Line {
    Line::of(tone, "  ")
        .safe(tone, what.clone())
        .and(Tone::Plain, " ")
        .safe(Tone::Plain, path.fit(60))
}

//! Runs the command that a pressed key stands for.

use forklore_core::Selector;

use super::App;
use crate::dialog::{Dialog, Item, Outcome, Purpose, Reply};
use crate::keys::{Command, Scope};
use crate::request::{Change, Position, Request};
use crate::screen::compare::Compare;
use crate::screen::list::List;
use crate::screen::reader::Reader;
use crate::screen::tree::Tree;
use crate::screen::{Screen, Spot, delete};
use crate::text::Line;
use crate::tone::Tone;

impl App {
    /// Runs the command that a pressed key stands for, on the screen that is shown.
    pub(super) fn command(&mut self, command: Command) {
        let size = self.body();
        if self.screen_mut().is_some_and(|screen| screen.motion(command, size)) {
            return;
        }
        match command {
            Command::Quit => self.leave(Outcome::Left),
            Command::Back => self.go_back(),
            Command::Help => self.dialog = Some(Dialog::Help { top: 0 }),
            Command::Unfold => self.unfold(),
            Command::UnfoldAll => match self.screen_mut() {
                Some(Screen::Reader(reader)) => reader.unfold_all(size),
                Some(Screen::Compare(compare)) => compare.unfold_all(size),
                _ => {}
            },
            Command::AllEvents => self.all_events(),
            Command::AllFolders => self.all_folders(),
            Command::Trash => self.trash(),
            Command::GoToTurn => self.ask("go to turn", "a number", "", Purpose::Turn),
            Command::Find => self.ask("find", "a text on this screen", "", Purpose::Find),
            Command::FindNext => self.find(false),
            Command::FindPrevious => self.find(true),
            Command::Search => {
                let hint = "words, \"a phrase\", begin*, regex:PATTERN";
                self.ask("search all sessions", hint, "", Purpose::Search);
            }
            _ => self.command_of_session(command),
        }
    }

    /// Runs the command of a key on the session under the cursor.
    fn command_of_session(&mut self, command: Command) {
        let spot = self.screen().and_then(Screen::spot);
        if command == Command::Undelete {
            return self.undelete(spot.as_ref());
        }
        let Some(spot) = spot else { return };
        let is_readable = spot.row.as_ref().is_none_or(|row| row.deleted.is_none());
        if !is_readable {
            return self.remark(Tone::Warn, "this session was deleted");
        }
        match command {
            Command::Open => self.open(&spot),
            Command::Tree => self.push(Screen::Tree(Tree::of(spot.session))),
            Command::Compare => self.compare(spot),
            Command::Fork => self.fork(&spot),
            Command::Rewind => self.ask_where_to_rewind(&spot),
            Command::Label => {
                let label = spot.row.map(|row| row.label.to_string()).unwrap_or_default();
                let hint = "letters, digits, -, _ and ., unique in the family";
                self.ask("label", hint, &label, Purpose::Label(spot.session));
            }
            Command::Rename => {
                let title = spot.row.and_then(|row| row.title).unwrap_or_default();
                let hint = "empty: the first words";
                self.ask("title", hint, title.as_str(), Purpose::Title(spot.session));
            }
            Command::Delete => self.delete(&spot),
            Command::Resume => self.leave(Outcome::Resume(spot.session)),
            Command::ResumeIn => self.resume_in(&spot),
            _ => {}
        }
    }

    fn ask(&mut self, title: &'static str, hint: &'static str, text: &str, purpose: Purpose) {
        self.dialog = Some(Dialog::prompt(title, hint, text, purpose));
    }

    fn go_back(&mut self) {
        if let Some(Screen::Reader(reader)) = self.screen_mut()
            && reader.stop_finding()
        {
            return;
        }
        self.back();
    }

    pub(super) fn unfold(&mut self) {
        let size = self.body();
        match self.screen_mut() {
            Some(Screen::Reader(reader)) => reader.unfold(size),
            Some(Screen::Compare(compare)) => compare.unfold(size),
            Some(Screen::List(list)) => {
                if let Some(request) = list.unfold() {
                    self.request(request);
                }
            }
            _ => {}
        }
    }

    pub(super) fn open(&mut self, spot: &Spot) {
        if self.scope() == Scope::Picker {
            return self.leave(Outcome::Chosen(spot.session.clone()));
        }
        let at = spot.at.map_or(Position::End, |(seq, _)| Position::Seq(seq));
        self.push(Screen::Reader(Box::new(Reader::of(
            spot.session.clone(),
            at,
            self.options.zone.clone(),
        ))));
    }

    fn all_events(&mut self) {
        if let Some(Screen::Reader(reader)) = self.screen_mut() {
            let all = reader.all_events();
            let what = if all { "all events" } else { "the conversation only" };
            self.remark(Tone::Dim, what);
        }
    }

    fn all_folders(&mut self) {
        let folder = self.options.folder.clone();
        if let Some(Screen::List(list)) = self.screen_mut() {
            let workspace = list.workspace().is_none().then_some(folder);
            **list = List::new(list.scope(), workspace);
        }
        self.renumber();
    }

    /// Gives the screen another number, so that answers to its former requests are ignored.
    fn renumber(&mut self) {
        let next = self.next;
        if let Some((number, _)) = self.screens.last_mut() {
            *number = next;
            self.next += 1;
        }
    }

    fn trash(&mut self) {
        let Some(Screen::List(list)) = self.screen() else { return };
        if list.scope() == Scope::Trash {
            return self.back();
        }
        let trash = List::new(Scope::Trash, list.workspace().cloned());
        self.push(Screen::List(Box::new(trash)));
    }

    /// Finds the next or previous occurrence of the text that was searched for last.
    pub(super) fn find(&mut self, backward: bool) {
        let (size, text) = (self.body(), self.needle.clone());
        if text.is_empty() {
            return self.remark(Tone::Dim, "nothing to find yet: press /");
        }
        if self.screen_mut().is_some_and(|screen| !screen.find(&text, backward, size)) {
            self.remark(Tone::Warn, format!("not found: {text}"));
        }
    }

    fn compare(&mut self, spot: Spot) {
        match self.marked.take() {
            Some((marked, _)) if marked != spot.session => {
                self.push(Screen::Compare(Box::new(Compare::of(
                    marked,
                    spot.session,
                    self.options.zone.clone(),
                ))));
            }
            Some(_) => self.remark(Tone::Dim, "no longer marked"),
            None => {
                let name = name(&spot);
                self.notice = Some(
                    Line::of(Tone::Dim, "marked ")
                        .then(name.clone())
                        .and(Tone::Dim, ": press c on another session to compare"),
                );
                self.marked = Some((spot.session, name));
            }
        }
    }

    fn fork(&mut self, spot: &Spot) {
        let ask = |at: Selector| Reply::Ask(Purpose::ForkLabel(spot.session.clone(), at));
        let mut items = Vec::new();
        if let Some((seq, turn)) = spot.at {
            let here = Selector::Seq(i64::try_from(seq).unwrap_or(i64::MAX));
            let text = Line::of(Tone::Plain, format!("here, behind event {seq}"));
            items.push(Item { key: 'h', text, reply: ask(here) });
            if turn > 0 {
                let text = Line::of(Tone::Plain, format!("behind the whole turn {turn}"));
                let at = Selector::Turn(i64::try_from(turn).unwrap_or(i64::MAX));
                items.push(Item { key: 't', text, reply: ask(at) });
            }
        }
        let end = Line::of(Tone::Plain, "at the end");
        items.push(Item { key: 'e', text: end, reply: ask(Selector::End) });
        let start = Line::of(Tone::Plain, "at the start, with an empty history");
        items.push(Item { key: 's', text: start, reply: ask(Selector::Start) });
        let title = Line::of(Tone::Strong, "Fork ").then(name(spot));
        self.dialog = Some(Dialog::Menu { title, text: Vec::new(), items, at: 0 });
    }

    fn delete(&mut self, spot: &Spot) {
        let title = Line::of(Tone::Strong, "Delete ").then(name(spot)).and(Tone::Strong, "?");
        let text = vec![Line::of(Tone::Plain, "It can be brought back with u, for 30 days.")];
        let yes = Reply::Change(delete(spot.session.clone()));
        let items = vec![
            Item { key: 'y', text: Line::of(Tone::Bad, "delete"), reply: yes },
            Item { key: 'n', text: Line::of(Tone::Plain, "do nothing"), reply: Reply::Close },
        ];
        self.dialog = Some(Dialog::Menu { title, text, items, at: 1 });
        self.request(Request::PlanDelete(spot.session.clone()));
    }

    fn undelete(&mut self, spot: Option<&Spot>) {
        let of_trash = spot.filter(|_| self.scope() == Scope::Trash);
        let deleted =
            spot.filter(|spot| spot.row.as_ref().is_some_and(|row| row.deleted.is_some()));
        let session = match of_trash.or(deleted) {
            Some(spot) => Some(spot.session.clone()),
            None => self.deleted.last().cloned(),
        };
        match session {
            Some(session) => self.request(Request::Change(Change::Undelete(session))),
            None => self.remark(Tone::Dim, "nothing was deleted here yet; D shows what was before"),
        }
    }

    pub(super) fn resume_in(&mut self, spot: &Spot) {
        let own = spot.row.as_ref().map(|row| row.agent.to_string()).unwrap_or_default();
        let agents = &self.options.agents;
        let keys = ('1'..='9').chain('a'..='z');
        let items: Vec<_> = keys
            .zip(agents)
            .map(|(key, agent)| {
                let note = if *agent == own { "  its own agent" } else { "" };
                let text = Line::of(Tone::Plain, agent).and(Tone::Dim, note);
                let (agent, session) = (agent.clone(), spot.session.clone());
                Item { key, text, reply: Reply::Leave(Outcome::ResumeIn { agent, session }) }
            })
            .collect();
        let at = agents.iter().position(|agent| *agent == own).unwrap_or(0);
        let title = Line::of(Tone::Strong, "Continue ").then(name(spot)).and(Tone::Strong, " in");
        let text = vec![Line::of(Tone::Dim, "A new file is written for the agent.")];
        self.dialog = Some(Dialog::Menu { title, text, items, at });
    }
}

/// Returns the label of a session, and its title or first words. Returns its id if its row is not
/// loaded.
pub(super) fn name(spot: &Spot) -> Line {
    match &spot.row {
        Some(row) => {
            let name = row.name().fit(40);
            let gap = if name.is_empty() { "" } else { "  " };
            Line::default()
                .safe(Tone::Label, row.label.clone())
                .and(Tone::Plain, gap)
                .safe(Tone::Plain, name)
        }
        None => Line::of(Tone::Label, spot.session.as_str()),
    }
}

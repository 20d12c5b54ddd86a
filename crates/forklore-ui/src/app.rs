//! The state of the interface, and how actions change the state. A change of the state reads and
//! writes nothing itself: it returns effects, which the event loop performs.

mod answers;
mod commands;
mod dialogs;
mod mouse;
mod rewind;

use std::sync::Arc;

use forklore_core::SessionId;
use forklore_core::workspace::Workspace;
use forklore_store::port::SessionChange;
use forklore_workspace::WorkspaceFiles;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent};

use crate::areas::Areas;
use crate::dialog::{Dialog, Outcome};
use crate::keys::{self, Scope};
use crate::request::{Answer, Request};
use crate::screen::Screen;
use crate::screen::list::List;
use crate::screen::reader::{Reader, Size};
use crate::text::Line;
use crate::tone::Tone;

/// The number of the signal SIGINT, which Ctrl-C stands for.
const SIGINT: i32 = 2;

/// Something that happened and may change the state, such as a key press.
#[derive(Clone, Debug)]
pub enum Action {
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse was used.
    Mouse(MouseEvent),
    /// Text was pasted.
    Paste(String),
    /// The size of the terminal changed to this many columns and rows.
    Resize(u16, u16),
    /// The answer to a request arrived. The number is that of the screen that sent the request.
    Answer(u64, Answer),
    /// These sessions were changed, by this program or by another one.
    Changed(Vec<SessionChange>),
    /// The changes of other programs cannot be followed any more, for this reason.
    Unfollowed(String),
    /// A signal with this number arrived, which ends the program.
    Stop(i32),
}

/// Something that the event loop must do for the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Answer this request of the screen with this number.
    Request(u64, Request),
    /// End the interface.
    Leave(Outcome),
    /// Stop the program until it is continued, as Ctrl-Z does.
    Suspend,
}

/// What the interface is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To browse the sessions.
    Browse,
    /// To choose a session.
    Choose,
    /// To read this session.
    Read(SessionId),
}

/// How the interface begins.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the interface is for.
    pub purpose: Purpose,
    /// The folder whose sessions are shown, unless `all` is set.
    pub folder: Workspace,
    /// Whether the sessions of all folders are shown at first.
    pub all: bool,
    /// Whether colors are used.
    pub color: bool,
    /// The beginning of the commands that are shown, such as `forklore`.
    pub program: String,
    /// The names of the agents in which a session can be continued.
    pub agents: Vec<String>,
    /// The time zone in which times are shown.
    pub zone: TimeZone,
    /// The snapshots with which files are taken back. Without them, only conversations are.
    pub files: Option<Arc<WorkspaceFiles>>,
}

/// The state of the interface.
pub struct App {
    pub(crate) options: Options,
    /// The screens, each with its number. The last one is shown.
    screens: Vec<(u64, Screen)>,
    next: u64,
    pub(crate) dialog: Option<Dialog>,
    pub(crate) notice: Option<Line>,
    pub(crate) size: (u16, u16),
    now: Timestamp,
    /// The session that is marked for a comparison, and its name. The next session that the user
    /// selects for a comparison is compared with this one.
    pub(crate) marked: Option<(SessionId, Line)>,
    /// The sessions that the user deleted in this interface, in the order of their deletion.
    deleted: Vec<SessionId>,
    /// The text that was searched for last on a screen.
    needle: String,
    effects: Vec<Effect>,
}

impl App {
    /// Returns the time of the last answer, in the zone in which times are shown.
    pub(crate) fn now(&self) -> Zoned {
        self.now.to_zoned(self.options.zone.clone())
    }

    /// Creates the state for a terminal of `size` (columns and rows). Returns the state and its
    /// first effects.
    #[must_use]
    pub fn new(options: Options, size: (u16, u16), now: Timestamp) -> (Self, Vec<Effect>) {
        let workspace = (!options.all).then(|| options.folder.clone());
        let scope = match options.purpose {
            Purpose::Choose => Scope::Picker,
            Purpose::Browse | Purpose::Read(_) => Scope::List,
        };
        let read = match &options.purpose {
            Purpose::Read(session) => Some(session.clone()),
            Purpose::Browse | Purpose::Choose => None,
        };
        let mut app = Self {
            options,
            screens: Vec::new(),
            next: 0,
            dialog: None,
            notice: None,
            size,
            now,
            marked: None,
            deleted: Vec::new(),
            needle: String::new(),
            effects: Vec::new(),
        };
        app.push(Screen::List(Box::new(List::new(scope, workspace))));
        if let Some(session) = read {
            let at = crate::request::Position::End;
            app.push(Screen::Reader(Box::new(Reader::of(session, at, app.options.zone.clone()))));
        }
        let effects = app.settled();
        (app, effects)
    }

    /// Applies an action to the state. Returns the effects that the event loop must perform.
    pub fn update(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Key(key) => self.key(&key),
            Action::Mouse(mouse) => self.mouse(&mouse),
            Action::Paste(text) => self.paste(&text),
            Action::Resize(columns, rows) => {
                self.size = (columns, rows);
                let size = self.body();
                self.screens.iter_mut().for_each(|(_, screen)| screen.resize(size));
            }
            Action::Answer(screen, answer) => self.answer(screen, &answer),
            Action::Changed(changes) => self.changed(&changes),
            Action::Unfollowed(why) => {
                let text = format!("changes of other programs are not shown: {why}");
                self.notice = Some(Line::of(Tone::Warn, text));
            }
            Action::Stop(signal) => self.leave(Outcome::Stopped(signal)),
        }
        self.settled()
    }

    fn key(&mut self, key: &KeyEvent) {
        let is_ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if is_ctrl => return self.leave(Outcome::Stopped(SIGINT)),
            KeyCode::Char('z') if is_ctrl => return self.effects.push(Effect::Suspend),
            _ => {}
        }
        self.notice = None;
        if self.dialog.is_some() {
            return self.dialog_key(key);
        }
        if let Some(command) = keys::command(self.scope(), key) {
            self.command(command);
        }
    }

    fn paste(&mut self, text: &str) {
        if let Some(Dialog::Prompt { input, .. }) = &mut self.dialog {
            input.insert(text);
        }
    }

    /// Takes the effects so far, adds requests for the data that the current screen lacks, and
    /// returns both.
    fn settled(&mut self) -> Vec<Effect> {
        let size = self.body();
        if let Some((number, screen)) = self.screens.last_mut() {
            let wants = screen.wants(size).into_iter();
            self.effects.extend(wants.map(|request| Effect::Request(*number, request)));
        }
        std::mem::take(&mut self.effects)
    }

    pub(crate) fn leave(&mut self, outcome: Outcome) {
        self.effects.push(Effect::Leave(outcome));
    }

    pub(crate) fn areas(&self) -> Areas {
        Areas::of(self.size, self.screen().map(Screen::scope))
    }

    /// Returns the size of the part of the terminal that shows the screen's text.
    pub(crate) fn body(&self) -> Size {
        let body = self.areas().text;
        Size { width: usize::from(body.width), height: usize::from(body.height) }
    }

    /// Returns the screen that is shown, which is the last one. Returns `None` if there is no
    /// screen.
    pub(crate) fn screen(&self) -> Option<&Screen> {
        self.screens.last().map(|(_, screen)| screen)
    }

    pub(crate) fn scope(&self) -> Scope {
        self.screen().map_or(Scope::List, Screen::scope)
    }

    fn screen_mut(&mut self) -> Option<&mut Screen> {
        self.screens.last_mut().map(|(_, screen)| screen)
    }

    fn push(&mut self, screen: Screen) {
        self.screens.push((self.next, screen));
        self.next += 1;
    }

    /// Returns to the previous screen. On the first screen, leaves the interface.
    fn back(&mut self) {
        if self.screens.len() > 1 {
            self.screens.pop();
            let size = self.body();
            if let Some(screen) = self.screen_mut() {
                screen.resize(size);
            }
        } else {
            self.leave(Outcome::Left);
        }
    }

    fn request(&mut self, request: Request) {
        if let Some((number, _)) = self.screens.last() {
            self.effects.push(Effect::Request(*number, request));
        }
    }

    fn remark(&mut self, tone: Tone, text: impl AsRef<str>) {
        self.notice = Some(Line::of(tone, text));
    }
}

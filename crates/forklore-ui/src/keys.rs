//! The table of keys. The help and the footer are made from this table.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Moves one line down.
    Down,
    /// Moves one line up.
    Up,
    /// Moves one screen down.
    PageDown,
    /// Moves one screen up.
    PageUp,
    /// Moves half a screen down.
    HalfDown,
    /// Moves half a screen up.
    HalfUp,
    /// Moves to the beginning.
    First,
    /// Moves to the end.
    Last,
    /// Opens the session under the cursor, or chooses it.
    Open,
    /// Goes back to the previous screen.
    Back,
    /// Leaves the interface.
    Quit,
    /// Shows the keys.
    Help,
    /// Unfolds or folds what is under the cursor.
    Unfold,
    /// Unfolds or folds everything.
    UnfoldAll,
    /// Moves to the next turn.
    NextTurn,
    /// Moves to the previous turn.
    PreviousTurn,
    /// Moves to a turn by its number.
    GoToTurn,
    /// Finds a text on this screen.
    Find,
    /// Finds the next occurrence.
    FindNext,
    /// Finds the previous occurrence.
    FindPrevious,
    /// Searches all sessions.
    Search,
    /// Shows the tree of the family.
    Tree,
    /// Marks a session for a comparison, or compares it with the marked session.
    Compare,
    /// Forks the session.
    Fork,
    /// Takes conversation and files back to the message under the cursor.
    Rewind,
    /// Changes the label.
    Label,
    /// Changes the title.
    Rename,
    /// Deletes the session.
    Delete,
    /// Brings back what was deleted last, or the session under the cursor.
    Undelete,
    /// Continues the conversation in forklore.
    Resume,
    /// Continues the conversation in another agent.
    ResumeIn,
    /// Switches between the sessions of all folders and those of this folder.
    AllFolders,
    /// Switches between the deleted sessions and the others.
    Trash,
    /// Switches between all events and only the conversation.
    AllEvents,
}

/// A kind of screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The list of sessions.
    List,
    /// The list of deleted sessions.
    Trash,
    /// The tree of a family.
    Tree,
    /// The conversation of a session.
    Reader,
    /// Two sessions next to each other.
    Compare,
    /// The hits of a search.
    Hits,
    /// The list from which one session is chosen.
    Picker,
}

impl Scope {
    /// All kinds of screens.
    pub(crate) const ALL: [Self; 7] = [
        Self::List,
        Self::Trash,
        Self::Tree,
        Self::Reader,
        Self::Compare,
        Self::Hits,
        Self::Picker,
    ];

    /// Returns the name of the screen.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::List => "sessions",
            Self::Trash => "deleted sessions",
            Self::Tree => "family",
            Self::Reader => "conversation",
            Self::Compare => "comparison",
            Self::Hits => "search",
            Self::Picker => "choose a session",
        }
    }
}

/// A key to press.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    code: KeyCode,
    ctrl: bool,
}

const fn key(c: char) -> Key {
    Key { code: KeyCode::Char(c), ctrl: false }
}

const fn ctrl(c: char) -> Key {
    Key { code: KeyCode::Char(c), ctrl: true }
}

const fn named(code: KeyCode) -> Key {
    Key { code, ctrl: false }
}

impl Key {
    /// Checks whether `event` is a press of this key.
    #[must_use]
    pub(crate) fn is(self, event: &KeyEvent) -> bool {
        let is_ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let is_alt = event.modifiers.contains(KeyModifiers::ALT);
        self.code == event.code && self.ctrl == is_ctrl && !is_alt
    }

    /// Returns the name of the key.
    #[must_use]
    pub(crate) fn name(self) -> String {
        let name = match self.code {
            KeyCode::Char(' ') => "Space".to_owned(),
            KeyCode::Char(c) => c.to_string(),
            KeyCode::Up => "↑".to_owned(),
            KeyCode::Down => "↓".to_owned(),
            KeyCode::Left => "←".to_owned(),
            KeyCode::Right => "→".to_owned(),
            KeyCode::PageUp => "PgUp".to_owned(),
            KeyCode::PageDown => "PgDn".to_owned(),
            KeyCode::Esc => "Esc".to_owned(),
            code => format!("{code:?}"),
        };
        if self.ctrl { format!("Ctrl-{name}") } else { name }
    }
}

/// A line of the table of keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    /// The keys. Each of them runs the command.
    pub(crate) keys: &'static [Key],
    /// What the keys do.
    pub(crate) command: Command,
    /// The kinds of screens on which the keys work.
    pub(crate) scopes: &'static [Scope],
    /// The word in the footer; empty if the key is only in the help.
    pub(crate) short: &'static str,
    /// What the keys do, for the help.
    pub(crate) does: &'static str,
}

use Scope::{Compare, Hits, List, Picker, Reader, Trash, Tree};

const EVERYWHERE: &[Scope] = &Scope::ALL;
const TEXTS: &[Scope] = &[Reader, Compare];
const SESSIONS: &[Scope] = &[List, Tree, Reader, Hits];

/// The table of keys, in the order of the help. The footer has the same order.
pub(crate) const BINDINGS: &[Binding] = &[
    Binding {
        keys: &[named(KeyCode::Enter), named(KeyCode::Right), key('l')],
        command: Command::Open,
        scopes: &[List, Tree, Hits],
        short: "read",
        does: "read the session",
    },
    Binding {
        keys: &[named(KeyCode::Enter)],
        command: Command::Open,
        scopes: &[Picker],
        short: "choose",
        does: "choose the session",
    },
    Binding {
        keys: &[named(KeyCode::Enter), key(' '), key('o')],
        command: Command::Unfold,
        scopes: &[Reader, Compare],
        short: "unfold",
        does: "unfold or fold tool calls, results and thinking",
    },
    Binding {
        keys: &[key(' '), named(KeyCode::Tab)],
        command: Command::Unfold,
        scopes: &[List],
        short: "unfold",
        does: "show or hide the branches of the family",
    },
    Binding {
        keys: &[key('O'), key('z')],
        command: Command::UnfoldAll,
        scopes: TEXTS,
        short: "",
        does: "unfold or fold everything",
    },
    Binding {
        keys: &[key('t')],
        command: Command::Tree,
        scopes: &[List, Reader, Hits],
        short: "tree",
        does: "show the family: its forks and sub-agents",
    },
    Binding {
        keys: &[key('s')],
        command: Command::Search,
        scopes: &[List, Tree, Reader, Hits],
        short: "search",
        does: "search all sessions for words",
    },
    Binding {
        keys: &[key('/')],
        command: Command::Find,
        scopes: &[List, Tree, Reader, Picker],
        short: "find",
        does: "find a text on this screen",
    },
    Binding {
        keys: &[key('n')],
        command: Command::FindNext,
        scopes: &[List, Tree, Reader, Picker],
        short: "",
        does: "find the next occurrence",
    },
    Binding {
        keys: &[key('N')],
        command: Command::FindPrevious,
        scopes: &[List, Tree, Reader, Picker],
        short: "",
        does: "find the occurrence before",
    },
    Binding {
        keys: &[key('f')],
        command: Command::Fork,
        scopes: SESSIONS,
        short: "fork",
        does: "fork the session; in a conversation, at the cursor",
    },
    Binding {
        keys: &[key('w')],
        command: Command::Rewind,
        scopes: &[Reader],
        short: "rewind",
        does: "take conversation and files back to the message at the cursor",
    },
    Binding {
        keys: &[key('c')],
        command: Command::Compare,
        scopes: SESSIONS,
        short: "compare",
        does: "mark the session, then compare another one with it",
    },
    Binding {
        keys: &[key('r')],
        command: Command::Resume,
        scopes: SESSIONS,
        short: "resume",
        does: "leave, and continue the conversation here",
    },
    Binding {
        keys: &[key('R')],
        command: Command::ResumeIn,
        scopes: SESSIONS,
        short: "in agent",
        does: "leave, and continue in an agent",
    },
    Binding {
        keys: &[key('L')],
        command: Command::Label,
        scopes: SESSIONS,
        short: "label",
        does: "change the label",
    },
    Binding {
        keys: &[key('e')],
        command: Command::Rename,
        scopes: SESSIONS,
        short: "title",
        does: "change the title",
    },
    Binding {
        keys: &[key('d'), named(KeyCode::Delete)],
        command: Command::Delete,
        scopes: SESSIONS,
        short: "delete",
        does: "delete the session; it can be brought back",
    },
    Binding {
        keys: &[key('u')],
        command: Command::Undelete,
        scopes: SESSIONS,
        short: "undo",
        does: "bring back what was deleted last",
    },
    Binding {
        keys: &[key('u'), named(KeyCode::Enter)],
        command: Command::Undelete,
        scopes: &[Trash],
        short: "bring back",
        does: "bring the session back",
    },
    Binding {
        keys: &[key('a')],
        command: Command::AllFolders,
        scopes: &[List, Trash, Picker],
        short: "folders",
        does: "show the sessions of all folders, or of this one",
    },
    Binding {
        keys: &[key('D')],
        command: Command::Trash,
        scopes: &[List, Trash],
        short: "deleted",
        does: "show the deleted sessions, or the others",
    },
    Binding {
        keys: &[key('E')],
        command: Command::AllEvents,
        scopes: &[Reader],
        short: "",
        does: "show all events, or only the conversation",
    },
    Binding {
        keys: &[key('J'), key(']')],
        command: Command::NextTurn,
        scopes: &[Reader],
        short: "",
        does: "go to the next turn",
    },
    Binding {
        keys: &[key('K'), key('[')],
        command: Command::PreviousTurn,
        scopes: &[Reader],
        short: "",
        does: "go to the turn before",
    },
    Binding {
        keys: &[key(':')],
        command: Command::GoToTurn,
        scopes: &[Reader],
        short: "turn",
        does: "go to a turn by its number",
    },
    Binding {
        keys: &[key('j'), named(KeyCode::Down)],
        command: Command::Down,
        scopes: EVERYWHERE,
        short: "",
        does: "down",
    },
    Binding {
        keys: &[key('k'), named(KeyCode::Up)],
        command: Command::Up,
        scopes: EVERYWHERE,
        short: "",
        does: "up",
    },
    Binding {
        keys: &[named(KeyCode::PageDown), ctrl('f')],
        command: Command::PageDown,
        scopes: EVERYWHERE,
        short: "",
        does: "one screen down",
    },
    Binding {
        keys: &[named(KeyCode::PageUp), ctrl('b')],
        command: Command::PageUp,
        scopes: EVERYWHERE,
        short: "",
        does: "one screen up",
    },
    Binding {
        keys: &[ctrl('d')],
        command: Command::HalfDown,
        scopes: EVERYWHERE,
        short: "",
        does: "half a screen down",
    },
    Binding {
        keys: &[ctrl('u')],
        command: Command::HalfUp,
        scopes: EVERYWHERE,
        short: "",
        does: "half a screen up",
    },
    Binding {
        keys: &[key('g'), named(KeyCode::Home)],
        command: Command::First,
        scopes: EVERYWHERE,
        short: "",
        does: "to the beginning",
    },
    Binding {
        keys: &[key('G'), named(KeyCode::End)],
        command: Command::Last,
        scopes: EVERYWHERE,
        short: "",
        does: "to the end",
    },
    Binding {
        keys: &[named(KeyCode::Esc), named(KeyCode::Left), key('h')],
        command: Command::Back,
        scopes: &[Tree, Reader, Compare, Hits, Trash],
        short: "back",
        does: "back to the screen before",
    },
    Binding {
        keys: &[named(KeyCode::Esc)],
        command: Command::Quit,
        scopes: &[Picker],
        short: "cancel",
        does: "choose nothing",
    },
    Binding {
        keys: &[key('?')],
        command: Command::Help,
        scopes: EVERYWHERE,
        short: "keys",
        does: "show these keys",
    },
    Binding {
        keys: &[key('q')],
        command: Command::Quit,
        scopes: EVERYWHERE,
        short: "quit",
        does: "leave",
    },
];

/// What the mouse does, for the help.
pub(crate) const MOUSE: [(&str, &str); 3] = [
    ("click", "move the cursor; a click on the cursor opens or unfolds"),
    ("wheel", "scroll"),
    ("Shift-drag", "select text, as the terminal does without this interface"),
];

/// Returns the lines of the table for a kind of screen.
pub(crate) fn bindings(scope: Scope) -> impl Iterator<Item = &'static Binding> {
    BINDINGS.iter().filter(move |binding| binding.scopes.contains(&scope))
}

/// Returns what a key does on a kind of screen, or `None` if it does nothing there.
#[must_use]
pub(crate) fn command(scope: Scope, event: &KeyEvent) -> Option<Command> {
    let binding = bindings(scope).find(|binding| binding.keys.iter().any(|key| key.is(event)));
    binding.map(|binding| binding.command)
}

#[cfg(test)]
mod tests;

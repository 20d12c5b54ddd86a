//! Determines the color of text from its meaning.

use anstyle::{AnsiColor, Style};

/// The meaning of a piece of text, which determines its color.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    /// An explanation that the user can skip.
    Dim,
    /// A heading, or a command to type.
    Strong,
    /// A session's id.
    Id,
    /// A branch's label.
    Label,
    /// What a search found.
    Found,
    /// A sub-agent.
    Delegate,
    Good,
    Warn,
    Bad,
    /// The first side of a comparison. `SideB` is the second side.
    SideA,
    SideB,
    /// A word that only the first side has. `ChangedB` is a word that only the second side has.
    ChangedA,
    ChangedB,
    /// The heading of a user's message. `Assistant` and `Tool` are the headings of the other roles.
    User,
    Assistant,
    Tool,
}

impl Tone {
    pub(super) fn style(self) -> Style {
        let color = |color: AnsiColor| Style::new().fg_color(Some(color.into()));
        match self {
            Self::Plain => Style::new(),
            Self::Dim => Style::new().dimmed(),
            Self::Strong => Style::new().bold(),
            Self::Id => color(AnsiColor::Cyan),
            Self::Label => color(AnsiColor::Green).bold(),
            Self::Delegate | Self::Tool => color(AnsiColor::Magenta),
            Self::ChangedA => color(AnsiColor::Yellow).bold().underline(),
            Self::ChangedB => color(AnsiColor::Green).bold().underline(),
            Self::Found => color(AnsiColor::Yellow).bold(),
            Self::Good => color(AnsiColor::Green),
            Self::Warn | Self::SideA => color(AnsiColor::Yellow),
            Self::Bad => color(AnsiColor::Red).bold(),
            Self::User => color(AnsiColor::Blue).bold(),
            Self::Assistant | Self::SideB => color(AnsiColor::Green),
        }
    }
}

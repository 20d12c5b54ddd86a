//! The colours, by what a text is.

use anstyle::{AnsiColor, Style};

/// What a piece of text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    /// What explains and may be overlooked.
    Dim,
    /// A heading, a command to type.
    Strong,
    /// A session's id.
    Id,
    /// A branch's label.
    Label,
    /// A sub-agent.
    Delegate,
    Good,
    Warn,
    Bad,
    /// The first and the second side of a comparison.
    SideA,
    SideB,
    /// Who speaks.
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
            Self::Good => color(AnsiColor::Green),
            Self::Warn | Self::SideA => color(AnsiColor::Yellow),
            Self::Bad => color(AnsiColor::Red).bold(),
            Self::User => color(AnsiColor::Blue).bold(),
            Self::Assistant | Self::SideB => color(AnsiColor::Green),
        }
    }
}

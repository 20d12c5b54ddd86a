//! The meanings of text, each with its style.

use ratatui::style::{Color, Modifier, Style};

/// The meaning of a piece of text, which determines its style.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tone {
    /// Text without a special meaning.
    #[default]
    Plain,
    /// Text of less importance.
    Dim,
    /// Text of more importance, such as a heading.
    Strong,
    /// The label of a session.
    Label,
    /// A sub-agent session.
    Delegate,
    /// A message of the user.
    User,
    /// A message of a model.
    Assistant,
    /// A tool call.
    Tool,
    /// Something that went well.
    Good,
    /// Something to notice.
    Warn,
    /// A failure, or something that is gone.
    Bad,
    /// A key to press.
    Key,
    /// What was searched for.
    Found,
    /// A word that only the first of two sessions has.
    ChangedA,
    /// A word that only the second of two sessions has.
    ChangedB,
}

impl Tone {
    /// Returns the style. Without colors, only the meanings that matter most are distinguished.
    #[must_use]
    pub fn style(self, color: bool) -> Style {
        let plain = Style::new();
        let (style, shade) = match self {
            Self::Plain => (plain, None),
            Self::Dim => (plain.add_modifier(Modifier::DIM), None),
            Self::Strong => (plain.add_modifier(Modifier::BOLD), None),
            Self::Label | Self::User => (plain.add_modifier(Modifier::BOLD), Some(Color::Green)),
            Self::Delegate => (plain, Some(Color::Magenta)),
            Self::Assistant => (plain.add_modifier(Modifier::BOLD), Some(Color::Cyan)),
            Self::Tool => (plain, Some(Color::Yellow)),
            Self::Good => (plain, Some(Color::Green)),
            Self::Warn => (plain.add_modifier(Modifier::BOLD), Some(Color::Yellow)),
            Self::Bad => (plain, Some(Color::Red)),
            Self::Key => (plain.add_modifier(Modifier::BOLD), Some(Color::Cyan)),
            Self::Found => (plain.add_modifier(Modifier::REVERSED), Some(Color::Yellow)),
            Self::ChangedA => (plain.add_modifier(Modifier::UNDERLINED), Some(Color::Red)),
            Self::ChangedB => (plain.add_modifier(Modifier::UNDERLINED), Some(Color::Green)),
        };
        shade.filter(|_| color).map_or(style, |shade| style.fg(shade))
    }
}

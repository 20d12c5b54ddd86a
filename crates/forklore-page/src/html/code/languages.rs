//! The languages whose code is marked: how comments and strings begin and end, and the keywords.

/// What is known of a language, or of a group of languages that look alike.
pub(super) struct Syntax {
    /// What begins a comment up to the end of the line.
    pub(super) line: &'static [&'static str],
    /// What begins and ends a comment of several lines.
    pub(super) around: Option<(&'static str, &'static str)>,
    /// The characters that begin a string, and end it.
    pub(super) quotes: &'static str,
    /// Whether three quotes begin a string of several lines.
    pub(super) has_triple: bool,
    /// Whether a single quote may also begin the name of a lifetime.
    pub(super) has_lifetimes: bool,
    /// The keywords between spaces, in lower case if capitals do not matter.
    keywords: &'static str,
    ignores_case: bool,
}

impl Syntax {
    pub(super) fn is_keyword(&self, word: &str) -> bool {
        match self.ignores_case {
            true => self.keywords.split(' ').any(|keyword| keyword.eq_ignore_ascii_case(word)),
            false => self.keywords.split(' ').any(|keyword| keyword == word),
        }
    }
}

const PLAIN: Syntax = Syntax {
    line: &[],
    around: None,
    quotes: "\"",
    has_triple: false,
    has_lifetimes: false,
    keywords: "",
    ignores_case: false,
};

const RUST: Syntax = Syntax {
    line: &["//"],
    around: Some(("/*", "*/")),
    quotes: "\"'",
    has_lifetimes: true,
    keywords: "as async await break const continue crate dyn else enum extern false fn for if impl \
               in let loop match mod move mut pub ref return self Self static struct super trait \
               true type unsafe use where while",
    ..PLAIN
};

/// C, Java, JavaScript, Go and others with braces. One list of keywords serves all: a word that is a
/// keyword in one of them is rarely a name in another.
const BRACES: Syntax = Syntax {
    line: &["//"],
    around: Some(("/*", "*/")),
    quotes: "\"'`",
    has_triple: true,
    keywords: "abstract as async await auto bool boolean break byte case catch chan char class const \
               continue def default defer delete do double else enum export extends extern false \
               final finally float for foreach fun func function go guard if implements import in \
               inline instanceof int interface internal is let long map match namespace new nil \
               null nullptr object of operator override package private protected public range \
               readonly return select short signed sizeof static struct super switch template this \
               throw throws trait true try type typedef typeof undefined union unsigned using val \
               var virtual void volatile when while with yield",
    ..PLAIN
};

const PYTHON: Syntax = Syntax {
    line: &["#"],
    quotes: "\"'",
    has_triple: true,
    keywords: "False None True and as assert async await break case class continue def del elif else \
               except finally for from global if import in is lambda match nonlocal not or pass \
               raise return self try while with yield",
    ..PLAIN
};

const RUBY: Syntax = Syntax {
    line: &["#"],
    around: Some(("=begin", "=end")),
    quotes: "\"'`",
    keywords: "alias and begin break case class def defined do else elsif end ensure false for if in \
               module next nil not or redo require rescue retry return self super then true undef \
               unless until when while yield",
    ..PLAIN
};

const SHELL: Syntax = Syntax {
    line: &["# ", "#!"],
    quotes: "\"'",
    keywords: "alias case cd do done echo elif else esac eval exec exit export fi for function if in \
               local read return set shift sudo then trap unset until while FROM RUN COPY ADD CMD \
               ENTRYPOINT ENV WORKDIR ARG EXPOSE USER",
    ..PLAIN
};

const SQL: Syntax = Syntax {
    line: &["--"],
    around: Some(("/*", "*/")),
    quotes: "\"'",
    keywords: "add all alter and as asc begin between by case check column commit constraint create \
               database default delete desc distinct drop else end exists false foreign from full \
               group having if in index inner insert into is join key left like limit not null \
               offset on or order outer primary references returning right rollback select set \
               table then transaction true union unique update values view when where with",
    ignores_case: true,
    ..PLAIN
};

const LUA: Syntax = Syntax {
    around: Some(("--[[", "]]")),
    line: &["--"],
    quotes: "\"'",
    keywords: "and break do else elseif end false for function goto if in local nil not or repeat \
               return then true until while",
    ..PLAIN
};

const HASKELL: Syntax = Syntax {
    around: Some(("{-", "-}")),
    line: &["--"],
    keywords: "case class data deriving do else forall if import in infix instance let module \
               newtype of qualified then type where",
    ..PLAIN
};

const JSON: Syntax = Syntax { line: &["//"], keywords: "true false null", ..PLAIN };

const SETTINGS: Syntax = Syntax {
    line: &["#", ";"],
    quotes: "\"'",
    has_triple: true,
    keywords: "true false null yes no on off",
    ..PLAIN
};

const MARKUP: Syntax = Syntax { around: Some(("<!--", "-->")), ..PLAIN };

const CSS: Syntax = Syntax {
    around: Some(("/*", "*/")),
    quotes: "\"'",
    keywords: "media supports import layer container keyframes important var calc root",
    ..PLAIN
};

/// Returns what is known of the language with a name, such as a fence in Markdown or the ending of a
/// file names it.
pub(super) fn named(name: &str) -> Option<&'static Syntax> {
    let name = name.split([' ', ',', '{', ':']).next().unwrap_or_default();
    let name = name.trim_start_matches('.').to_ascii_lowercase();
    Some(match name.as_str() {
        "rust" | "rs" => &RUST,
        "c" | "h" | "cpp" | "c++" | "cc" | "cxx" | "hpp" | "cs" | "csharp" | "c#" | "java"
        | "js" | "javascript" | "mjs" | "cjs" | "jsx" | "ts" | "typescript" | "tsx" | "go"
        | "golang" | "kt" | "kotlin" | "swift" | "scala" | "dart" | "php" | "groovy" | "zig"
        | "proto" | "objc" | "m" | "sol" => &BRACES,
        "python" | "py" | "python3" | "pyi" | "starlark" => &PYTHON,
        "ruby" | "rb" | "elixir" | "ex" | "exs" | "crystal" => &RUBY,
        "sh" | "bash" | "shell" | "zsh" | "fish" | "console" | "dockerfile" | "docker" | "make"
        | "makefile" | "powershell" | "ps1" => &SHELL,
        "sql" | "postgresql" | "sqlite" | "mysql" => &SQL,
        "lua" => &LUA,
        "haskell" | "hs" | "elm" => &HASKELL,
        "json" | "jsonc" | "json5" | "jsonl" => &JSON,
        "yaml" | "yml" | "toml" | "ini" | "cfg" | "conf" | "properties" | "env" => &SETTINGS,
        "html" | "xml" | "svg" | "vue" | "svelte" | "xhtml" => &MARKUP,
        "css" | "scss" | "less" => &CSS,
        _ => return None,
    })
}

//! Exports the sessions of every agent to every agent, and imports the exported files. What a model
//! would receive must be the same, except for what the export says it left out.

use std::path::PathBuf;

use forklore_core::{EventType, SessionId, SessionKind};
use forklore_engine::{ExportTo, Redact};

use crate::exchanged::{Answer, Exchanged, Losses, exchanged};
use crate::files::testdata;
use crate::scene::Scene;

/// An agent, with what its session files can express.
pub(crate) struct Agent {
    pub(crate) name: &'static str,
    /// The folders and files in `testdata` with the agent's sessions.
    sessions: &'static [&'static str],
    /// The name of an exported file, relative to a new folder.
    file: &'static str,
    user_images: bool,
    /// Whether a tool result can contain images: the result of a call that succeeded, and that of
    /// one that failed.
    result_images: (bool, bool),
    failures: bool,
    tool_names: bool,
}

const ALL: Agent = Agent {
    name: "",
    sessions: &[],
    file: "again.jsonl",
    user_images: true,
    result_images: (true, true),
    failures: true,
    tool_names: true,
};

pub(crate) const AGENTS: [Agent; 8] = [
    Agent {
        name: "claude",
        sessions: &["claude/projects", "parallel/claude", "images/claude"],
        tool_names: false,
        ..ALL
    },
    Agent {
        name: "codex",
        sessions: &[
            "codex/home",
            "codex/genuine",
            "codex/2025",
            "parallel/codex",
            "images/codex",
            "subagents/codex",
        ],
        failures: false,
        tool_names: false,
        ..ALL
    },
    Agent {
        name: "gemini",
        sessions: &[
            "gemini/genuine",
            "gemini/synthetic",
            "parallel/gemini",
            "images/gemini",
            "subagents/gemini",
        ],
        ..ALL
    },
    Agent {
        name: "opencode",
        sessions: &[
            "opencode/genuine/ses_e0010b3feffe21VQXxItXbUKhJ.json",
            "opencode/genuine/ses_e0010b212ffenwbgO2diwXnKsV.json",
            "opencode/genuine/ses_e0010d072ffeuJO2vjlBCXJv4W.json",
            "opencode/synthetic/export.json",
            "opencode/synthetic/export-with-revert.json",
            "parallel/opencode",
            "images/opencode",
            "subagents/opencode",
        ],
        file: "again.json",
        result_images: (true, false),
        ..ALL
    },
    Agent {
        name: "pi",
        sessions: &["pi/genuine", "pi/sessions", "pi/v1", "pi/v2", "parallel/pi", "images/pi"],
        ..ALL
    },
    Agent {
        name: "amplifier",
        sessions: &["amplifier/projects"],
        file: "sessions/again/transcript.jsonl",
        result_images: (false, false),
        failures: false,
        ..ALL
    },
    Agent {
        name: "ak-coder",
        sessions: &["ak-coder/history"],
        file: "history/workspaces/again-0a1b2c3d4e5f/again.jsonl",
        result_images: (false, false),
        failures: false,
        ..ALL
    },
    Agent {
        name: "pixir",
        sessions: &["pixir/.pixir"],
        file: "again.ndjson",
        user_images: false,
        result_images: (false, false),
        tool_names: false,
        ..ALL
    },
];

impl Agent {
    pub(crate) fn import_all(&self) -> Scene {
        let scene = Scene::new();
        for sessions in self.sessions {
            scene.import_as(&testdata().join(sessions), self.name);
        }
        scene
    }

    /// Returns the part of a request that a file of this agent can express. Counts the rest in
    /// `lost`.
    pub(crate) fn written(&self, request: Vec<Exchanged>, lost: &mut Losses) -> Vec<Exchanged> {
        let mut lose = |kind: &str, count: usize| {
            if count > 0 {
                *lost.entry(kind.to_owned()).or_default() += count as u64;
            }
        };
        let mut written: Vec<Exchanged> = Vec::new();
        for piece in request {
            let piece = match piece {
                Exchanged::System(_) => {
                    lose("system_message", 1);
                    continue;
                }
                Exchanged::Reasoning(_) => {
                    lose("reasoning", 1);
                    continue;
                }
                Exchanged::Other(_) => {
                    lose("other", 1);
                    continue;
                }
                Exchanged::User { text, images } if !self.user_images => {
                    lose("image", images.len());
                    Exchanged::User { text, images: Vec::new() }
                }
                Exchanged::Call { name, arguments, result } => {
                    let result = result.map(|result| self.answer(&name, result, &mut lose));
                    Exchanged::Call { name, arguments, result }
                }
                piece => piece,
            };
            match (written.last_mut(), piece) {
                (_, Exchanged::User { text, images }) if text.is_empty() && images.is_empty() => {}
                (Some(Exchanged::Model(before)), Exchanged::Model(text)) => {
                    *before = format!("{before}\n{text}");
                }
                (_, piece) => written.push(piece),
            }
        }
        written
    }

    fn answer(&self, tool: &str, answer: Answer, lose: &mut impl FnMut(&str, usize)) -> Answer {
        let Answer { text, mut images, mut is_error, .. } = answer;
        let (succeeded, failed) = self.result_images;
        if !(if is_error { failed } else { succeeded }) {
            lose("image", images.len());
            images.clear();
        }
        if !self.failures {
            lose("is_error", usize::from(is_error));
            is_error = false;
        }
        Answer { name: self.tool_names.then(|| tool.to_owned()), text, images, is_error }
    }
}

/// Exports a session, and imports the file into a store of its own. Returns what the export left
/// out, and the request of the new session.
fn again(scene: &Scene, session: &SessionId, to: &Agent, what: &str) -> (Losses, Vec<Exchanged>) {
    let request = ExportTo { dialect: to.name.into(), at: None, cwd: None };
    let mut bytes = Vec::new();
    let outgoing = scene.engine.export_to(session, &request).unwrap();
    let exported = outgoing.write(&mut bytes).unwrap();
    let scene = Scene::new();
    let path: PathBuf = scene.folder.path().join(to.file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    let report = scene.import_as(&path, to.name);
    let file = String::from_utf8_lossy(&bytes);
    assert_eq!(report.problems, [], "{what}\n{file}");
    let lost = exported.lossy.into_iter().map(|lost| (lost.kind, lost.count)).collect();
    let Some(session) = report.sessions.first() else { return (lost, Vec::new()) };
    let view = scene.engine.inspect(&session.session_id).unwrap();
    assert_eq!(view.open_results, 0, "{what}");
    (lost, exchanged(&view.messages))
}

/// Checks whether a loss is of something that a model does not receive.
fn is_unseen(kind: &str) -> bool {
    let seen = [EventType::USER_MESSAGE, EventType::ASSISTANT_MESSAGE, EventType::TOOL_RESULT];
    kind.starts_with("x.")
        || (kind.parse::<EventType>().is_ok() && !seen.iter().any(|seen| seen.as_str() == kind))
}

fn every_session_goes_to(to: &Agent) {
    for from in &AGENTS {
        let scene = from.import_all();
        let mut sessions = 0;
        for header in scene.sessions() {
            let what = format!("{} of {} to {}", header.id, from.name, to.name);
            let view = scene.engine.inspect(&header.id).unwrap();
            let request = exchanged(&view.messages);
            let (lost, got) = again(&scene, &header.id, to, &what);
            let own = scene.events(&header.id).iter().rev().find_map(|it| it.event.dialect.clone());
            if own.as_deref() == Some(to.name) {
                assert_eq!(got, request, "{what}");
                assert!(lost.keys().all(|kind| is_unseen(kind)), "{what}: {lost:?}");
            } else {
                let mut want: Losses = view.excluded.clone();
                let written = to.written(request, &mut want);
                assert_eq!(got, written, "{what}");
                assert_eq!(lost, want, "{what}");
            }
            sessions += 1;
        }
        assert!(sessions > 0, "{}", from.name);
    }
}

#[test]
fn sessions_of_all_agents_continue_in_claude_code() {
    every_session_goes_to(&AGENTS[0]);
}

#[test]
fn sessions_of_all_agents_continue_in_codex() {
    every_session_goes_to(&AGENTS[1]);
}

#[test]
fn sessions_of_all_agents_continue_in_gemini() {
    every_session_goes_to(&AGENTS[2]);
}

#[test]
fn sessions_of_all_agents_continue_in_opencode() {
    every_session_goes_to(&AGENTS[3]);
}

#[test]
fn sessions_of_all_agents_continue_in_pi() {
    every_session_goes_to(&AGENTS[4]);
}

#[test]
fn sessions_of_all_agents_continue_in_amplifier() {
    every_session_goes_to(&AGENTS[5]);
}

#[test]
fn sessions_of_all_agents_continue_in_ak_coder() {
    every_session_goes_to(&AGENTS[6]);
}

#[test]
fn sessions_of_all_agents_continue_in_pixir() {
    every_session_goes_to(&AGENTS[7]);
}

/// Takes away the second message of the user and the second one of the model, if there are any.
fn redact_some(scene: &Scene, session: &SessionId) {
    for kind in [EventType::USER_MESSAGE, EventType::ASSISTANT_MESSAGE] {
        let events = scene.events(session).into_iter().filter(|it| it.event.kind == kind);
        if let Some(entry) = events.take(2).last() {
            let events = vec![format!("{session}:{}", entry.seq)];
            let request = Redact { events, reason: "a secret".to_owned(), ..Redact::default() };
            scene.engine.redact(&request).unwrap();
        }
    }
}

#[test]
fn redacted_sessions_continue_in_their_own_agents() {
    for agent in &AGENTS {
        let scene = agent.import_all();
        for header in scene.sessions() {
            redact_some(&scene, &header.id);
            let what = format!("{} of {}", header.id, agent.name);
            let view = scene.engine.inspect(&header.id).unwrap();
            let (_, got) = again(&scene, &header.id, agent, &what);
            let written = |request| agent.written(request, &mut Losses::new());
            assert_eq!(written(got), written(exchanged(&view.messages)), "{what}");
        }
    }
}

/// What the sample sessions of an agent must contain, so that the other tests are meaningful.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Variety {
    compactions: bool,
    delegates: bool,
    branches: bool,
    images: bool,
    parallel_calls: bool,
}

impl Variety {
    fn of(agent: &Agent) -> Self {
        let scene = agent.import_all();
        let mut variety = Self::default();
        for header in scene.sessions() {
            variety.delegates |= header.kind == SessionKind::Delegate;
            variety.branches |= header.kind == SessionKind::Branch;
            for stored in scene.events(&header.id) {
                variety.compactions |= stored.event.kind == EventType::HISTORY_COMPACTION;
            }
            let exchanged = exchanged(&scene.engine.inspect(&header.id).unwrap().messages);
            let is_call = |exchanged: &Exchanged| matches!(exchanged, Exchanged::Call { .. });
            variety.parallel_calls |= exchanged.windows(2).any(|pair| pair.iter().all(is_call));
            variety.images |= exchanged.iter().any(|exchanged| match exchanged {
                Exchanged::User { images, .. } => !images.is_empty(),
                _ => false,
            });
        }
        variety
    }
}

#[test]
fn the_sessions_contain_what_agents_express_differently() {
    let every = Variety {
        compactions: true,
        delegates: true,
        branches: true,
        images: true,
        parallel_calls: true,
    };
    for agent in &AGENTS[..5] {
        let want = match agent.name {
            // Gemini CLI replaces no messages by a summary, and Pi has no sub-agents.
            "gemini" => Variety { compactions: false, ..every },
            "pi" => Variety { delegates: false, ..every },
            _ => every,
        };
        assert_eq!(Variety::of(agent), want, "{}", agent.name);
    }
}

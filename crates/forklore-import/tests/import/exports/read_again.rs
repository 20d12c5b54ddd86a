//! Exports sessions to ak-coder, Amplifier and Pixir, and reads the files as these programs do.

use std::path::Path;

use forklore_core::workspace::Workspace;
use forklore_core::{Data, Message, Selector, SessionId};
use forklore_engine::{Attach, Batch, Create, ExportTo, Fork, NewEvent, Summarize};
use serde_json::{Value, json};

use super::installed::Installed;
use super::{akcoder_reader, amplifier_reader, pixir_reader};
use crate::exchanged::{Losses, exchanged};
use crate::matrix::{AGENTS, Agent};
use crate::scene::Scene;

fn agent(name: &str) -> &'static Agent {
    AGENTS.iter().find(|agent| agent.name == name).unwrap()
}

/// Reads the session at a path with the reader of the agent, which must also list it.
fn read(agent: &str, installed: &Installed, path: &Path) -> Vec<Message> {
    let (home, workspace) = (installed.home(), installed.workspace());
    let stem = path.file_stem().unwrap().to_str().unwrap();
    match agent {
        "ak-coder" => {
            let history = akcoder_reader::history(&home, &workspace);
            assert_eq!(akcoder_reader::list(&history), [stem]);
            akcoder_reader::messages(&akcoder_reader::load(&history, stem))
        }
        "amplifier" => {
            let sessions = amplifier_reader::sessions(&home, &workspace);
            let [id] = &amplifier_reader::list(&sessions)[..] else { panic!("{path:?}") };
            let session = amplifier_reader::load(&sessions, id, &workspace);
            amplifier_reader::messages(&session.messages)
        }
        _ => {
            assert_eq!(path.parent().unwrap(), workspace.join(".pixir/sessions"));
            pixir_reader::messages(&pixir_reader::load(path))
        }
    }
}

/// Checks that the agent reads a session as it is here, as far as its files can express it. A session
/// of the agent itself also has what is neither a message nor a call; it has tests of its own.
fn is_read(scene: &Scene, session: &SessionId, to: &Agent, what: &str) {
    let installed = Installed::new();
    let path = installed.write(scene, session, to.name, None);
    let got = exchanged(&read(to.name, &installed, &path));
    let own = scene.events(session).iter().rev().find_map(|it| it.event.dialect.clone());
    if own.as_deref() != Some(to.name) {
        let request = exchanged(&scene.engine.inspect(session).unwrap().messages);
        assert_eq!(got, to.written(request, &mut Losses::new()), "{what} in {}", to.name);
    }
}

/// Checks the sessions of all agents, delegates included, and forks of them at many cuts.
fn sessions_and_their_forks_are_read(to: &Agent) {
    for from in &AGENTS {
        let scene = from.import_all();
        let mut checked = 0;
        for header in scene.sessions() {
            is_read(&scene, &header.id, to, &format!("{} of {}", header.id, from.name));
            let step = usize::try_from(header.head_seq() / 12 + 1).unwrap();
            for seq in (0..=header.head_seq()).step_by(step) {
                let fork = Fork::of(header.id.clone()).at(Selector::Seq(seq));
                // A cut that retains nothing is refused.
                let Ok(fork) = scene.engine.fork(&fork) else { continue };
                let what = format!("{} of {} at seq:{seq}", header.id, from.name);
                is_read(&scene, &fork.child_session_id, to, &what);
                checked += 1;
            }
        }
        assert!(checked > 5, "{}: {checked}", from.name);
    }
}

#[test]
fn ak_coder_reads_the_sessions_of_all_agents_and_their_forks() {
    sessions_and_their_forks_are_read(agent("ak-coder"));
}

#[test]
fn amplifier_reads_the_sessions_of_all_agents_and_their_forks() {
    sessions_and_their_forks_are_read(agent("amplifier"));
}

#[test]
fn pixir_reads_the_sessions_of_all_agents_and_their_forks() {
    sessions_and_their_forks_are_read(agent("pixir"));
}

/// Creates a session of forklore with what is easily lost on the way.
fn peculiar(scene: &Scene) -> SessionId {
    let workspace = Workspace::new("/here");
    let id = scene.engine.create(&Create::in_workspace(workspace)).unwrap().id;
    let text = "naïve \u{1F333} שלום \u{202E}x \u{2028}\u{0}\u{7f}\r\n\"\\ </script> \u{feff}";
    let call = |id: &str| json!({"id": id, "name": "größe", "arguments": {"b": text, "a": 1}});
    let events = [
        ("system_message", json!({"content": "rules"})),
        ("user_message", json!({"content": text})),
        ("assistant_message", json!({"content": "Two calls."})),
        ("tool_call", call("toolu/1|fc")),
        ("tool_call", call("toolu 1 fc")),
        ("tool_result", json!({"call_id": "toolu 1 fc", "content": text, "is_error": true})),
        ("tool_result", json!({"call_id": "toolu/1|fc", "content": {"exit": 0}})),
        ("reasoning", json!({"content": "hm", "model": "m"})),
        ("assistant_message", json!({"content": [{"type": "text", "text": text}]})),
        ("provider_usage", json!({"input": 5})),
        ("user_message", json!({"content": "go on", "injected": true})),
        ("tool_call", json!({"id": "", "name": "t", "arguments": null})),
        ("user_message", json!({"content": "and without a result?"})),
    ];
    let event = |(kind, data): &(&str, Value)| {
        NewEvent::new(kind.parse().unwrap(), Data::parse(&data.to_string()).unwrap())
    };
    let batch = Batch { events: events.iter().map(event).collect(), ..Batch::default() };
    scene.engine.append(&id, &batch).unwrap();
    let attach = Attach {
        name: Some("bäume.png".into()),
        media_type: "image/png".into(),
        text: Some("this".into()),
        ..Attach::default()
    };
    scene.engine.attach(&id, &mut &b"\x89PNG"[..], &attach).unwrap();
    id
}

#[test]
fn what_is_easily_lost_is_read() {
    for to in ["ak-coder", "amplifier", "pixir"].map(agent) {
        let scene = Scene::new();
        let id = peculiar(&scene);
        let head = scene.engine.show(&id).unwrap().head_seq();
        let mut sessions = vec![id.clone()];
        for seq in 0..=head {
            let fork = Fork::of(id.clone()).at(Selector::Seq(seq));
            let child = scene.engine.fork(&fork).unwrap().child_session_id;
            let nested =
                Fork { summarize: Some(Summarize::Deterministic), ..Fork::of(child.clone()) };
            sessions.extend([scene.engine.fork(&nested).unwrap().child_session_id, child]);
        }
        for session in &sessions {
            is_read(&scene, session, to, session.as_str());
        }
        let request = ExportTo { dialect: to.name.into(), at: None, cwd: None };
        let outgoing = scene.engine.export_to(&id, &request).unwrap();
        let lossy = outgoing.write(&mut std::io::sink()).unwrap().lossy;
        assert!(
            lossy.iter().any(|lost| (&*lost.kind, lost.count) == ("attachment", 1)),
            "{lossy:?}"
        );
    }
}

#[test]
fn arguments_have_the_numbers_that_the_model_wrote() {
    const ARGUMENTS: &str = r#"{"z":12345678901234567890123,"a":1.0,"m":1e-7}"#;
    let scene = Scene::new();
    let id = scene.engine.create(&Create::in_workspace(Workspace::new("/here"))).unwrap().id;
    let call = format!(r#"{{"id":"c","name":"t","arguments":{ARGUMENTS}}}"#);
    let call = NewEvent::new("tool_call".parse().unwrap(), Data::parse(&call).unwrap());
    scene.engine.append(&id, &Batch { events: vec![call], ..Batch::default() }).unwrap();
    for to in ["ak-coder", "amplifier", "pixir"] {
        let installed = Installed::new();
        let file = std::fs::read_to_string(installed.write(&scene, &id, to, None)).unwrap();
        assert!(file.replace("\\\"", "\"").contains(ARGUMENTS), "{to}: {file}");
    }
}

//! Tests an agent on one fork after the other: writes the agent's file, starts the agent, and
//! compares its request.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use forklore::blocking;
use serde::Deserialize;

use crate::agent::{Agent, PROMPT};
use crate::atoms::{self, Atom};
use crate::case::{self, Case, Kind, Positions};
use crate::error::{Error, Result};
use crate::mock::{Mock, ReceivedRequest};
use crate::outcome::{Different, Outcome, Tried};
use crate::setting::Setting;
use crate::site::Site;
use crate::{agents, output, request};

/// The parsed JSON answer of `forklore resume-in --json`.
#[derive(Deserialize)]
struct Resumed {
    path: PathBuf,
    start: Vec<String>,
}

/// Tests whether the agent continues forks of all kinds of sessions. Tests every position in the
/// agent's own sessions, and a few positions in the sessions of one other agent. Also tests
/// sessions of every agent with parallel calls, and with images. A quick run tests only a few
/// positions of the agent's own sessions, and only the end of those with parallel calls or images.
pub(crate) fn all(agent: &'static Agent, setting: &Setting) -> Result<Vec<Outcome>> {
    let mock = Mock::start()?;
    let folder = tempfile::tempdir().map_err(Error::file(std::env::temp_dir()))?;
    let site = Site::new(folder.path(), setting, mock.port)?;
    (agent.prepare)(&site)?;
    let tried = |from, kind| Tried { agent: agent.name, from, kind };
    let positions = |quick| if setting.quick { quick } else { Positions::All };
    let mut rounds = vec![
        (tried(agent.name, Kind::Written), positions(Positions::Few)),
        (tried(agent.other, Kind::Written), Positions::Few),
    ];
    for kind in [Kind::ParallelCalls, Kind::Images] {
        let pairs =
            agents::ALL.iter().map(|from| (tried(from.name, kind), positions(Positions::Last)));
        rounds.extend(pairs);
    }
    let outcomes = rounds.into_iter().map(|(tried, positions)| {
        let store = folder.path().join(format!("{:?}-{}.db", tried.kind, tried.from));
        let url = format!("sqlite:{}", store.display());
        round(&Round { agent, site: &site, setting, url, mock: &mock }, tried, positions)
    });
    outcomes.collect()
}

/// The part of the setup that all test cases of one combination of agent and sessions share.
struct Round<'a> {
    agent: &'static Agent,
    site: &'a Site,
    setting: &'a Setting,
    url: String,
    mock: &'a Mock,
}

fn round(round: &Round<'_>, tried: Tried, positions: Positions) -> Result<Outcome> {
    let begun = Instant::now();
    let engine = blocking::open(&round.url)?;
    let folders = case::folders(&round.setting.sessions, tried.from, tried.kind)?;
    let sessions = case::import(&engine, &folders, &round.site.home)?;
    let cuts = case::forks(&engine, &sessions, positions)?;
    output::begun(tried, sessions.len(), cuts.len());
    let (mut forks, mut different, mut left_out) = (0, 0, 0);
    for cut in cuts {
        let case = case::fork(&engine, cut)?;
        let mut expected = atoms::of_messages(&case.messages);
        if tried.from != round.agent.name {
            // Agents send reasoning only to the model that produced it.
            expected.retain(|atom| !matches!(atom, Atom::Reasoning(_)));
        }
        let want = (round.agent.expected)(expected);
        let want = atoms::settled(want, round.agent.is_spoken);
        if want.is_empty() {
            // The fork contains only texts that the agent generates about itself.
            left_out += 1;
            continue;
        }
        forks += 1;
        if let Err(why) = one(round, &case, &want)? {
            let case = format!("{} at seq:{}, fork {}", case.parent, case.at, case.fork);
            output::different(tried, &Different { case, why });
            different += 1;
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let sessions = sessions.len();
    let outcome = Outcome { tried, sessions, forks, different, left_out, seconds };
    output::outcome(&outcome);
    Ok(outcome)
}

/// Tests one fork: `want` is the conversation that the agent must send to the model. The inner
/// error describes how the agent's request differs from `want`. The outer error means that the fork
/// could not be tested.
fn one(round: &Round<'_>, case: &Case, want: &[Atom]) -> Result<Result<(), String>> {
    let Round { agent, site, mock, .. } = round;
    let resumed = match resume_in(round, case)? {
        Ok(resumed) => resumed,
        Err(text) => return Ok(Err(format!("  `forklore resume-in` said:\n{text}"))),
    };
    mock.take();
    let mut output = String::new();
    let commands = (agent.commands)(site, &resumed.path, &last_word(&resumed.start));
    let last = commands.len().saturating_sub(1);
    for (at, mut command) in commands.into_iter().enumerate() {
        let program = PathBuf::from(command.get_program());
        let ended = command.stdin(Stdio::null()).output();
        let ended = ended.map_err(|source| Error::NotStarted { program, source })?;
        output = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
        if at < last && !ended.status.success() {
            // The agent rejected the file, so its answer would belong to another session.
            return Ok(Err(format!("  the file was refused ({}):\n{output}", ended.status)));
        }
    }
    let mut requests = mock.take();
    // A command that only reads the file prints the request that it would otherwise send.
    requests.extend(serde_json::from_str::<ReceivedRequest>(&output));
    Ok(compare(agent, want, &requests, &output))
}

/// Writes the fork as a session file of the agent, with `forklore resume-in`. The inner error is
/// the output of that command if it failed.
fn resume_in(round: &Round<'_>, case: &Case) -> Result<Result<Resumed, String>> {
    let Round { agent, site, setting, url, .. } = round;
    let mut command = Command::new(&setting.forklore);
    command.env_clear().env("HOME", &site.home).current_dir(&site.project);
    command.args(["--store", url, "--json", "resume-in", agent.name, case.fork.as_str()]);
    command.arg("--into-workspace").arg(&site.project).stdin(Stdio::null());
    let source = |source| Error::NotStarted { program: setting.forklore.clone(), source };
    let answer = command.output().map_err(source)?;
    Ok(serde_json::from_slice(&answer.stdout).map_err(|_| {
        String::from_utf8_lossy(&[answer.stdout, answer.stderr].concat()).into_owned()
    }))
}

/// Returns the last word of the command that starts the agent. It is the name that the agent uses
/// for the session.
fn last_word(start: &[String]) -> String {
    let last = start.last().and_then(|command| command.split(' ').next_back());
    last.unwrap_or_default().to_owned()
}

fn compare(
    agent: &Agent,
    want: &[Atom],
    requested: &[ReceivedRequest],
    text: &str,
) -> Result<(), String> {
    let requests =
        requested.iter().filter_map(|requested| request::atoms(&requested.path, &requested.body));
    // Agents also request titles. The conversation is in the longest of the requests that end with
    // the prompt.
    let Some(got) = requests.filter_map(before_prompt).max_by_key(Vec::len) else {
        return Err(format!("the model was not asked; the agent said:\n{text}"));
    };
    let got = atoms::settled((agent.received)(got), agent.is_spoken);
    let first = got.iter().zip(want).take_while(|(got, want)| got == want).count();
    if first == got.len() && first == want.len() {
        return Ok(());
    }
    let show = |atoms: &[Atom]| {
        let lines = atoms.iter().skip(first).take(3).map(|atom| format!("    {atom}\n"));
        lines.collect::<String>()
    };
    let counts = format!("{} pieces alike, then of {} and {}", first, want.len(), got.len());
    Err(format!("  {counts}\n  should be:\n{}  was:\n{}", show(want), show(&got)))
}

/// Returns the pieces of a request that precede the test prompt. Returns `None` if the request does
/// not end with the prompt. If the agent joined the prompt to the preceding text, returns that text
/// without the prompt.
fn before_prompt(mut atoms: Vec<Atom>) -> Option<Vec<Atom>> {
    let Some(Atom::User(text)) = atoms.pop() else { return None };
    let before = text.trim().trim_matches('"').strip_suffix(PROMPT)?.trim_matches('"').trim();
    if !before.is_empty() {
        atoms.push(Atom::User(before.to_owned()));
    }
    Some(atoms)
}

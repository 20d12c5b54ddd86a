//! A turn, shown while it runs.

use std::time::Duration;

use forklore_agent::Delegate;
use forklore_agent::approve::Answer;
use forklore_agent::notify::{Heard, Subscription};
use forklore_agent::{AgentSession, Equipment, Prompt, Status, Turn};
use forklore_engine::Fork;
use futures_util::{FutureExt, StreamExt};

use crate::approve::{Asked, Reply};
use crate::chat::Chat;
use crate::interrupts::{Interrupts, MOMENT};
use crate::screen::Tone;
use crate::{Error, Result, Waiting};

/// Notifications that wait to be shown.
const WAITING: usize = 4096;

/// How often it is shown that something is still waited for.
const TICK: Duration = Duration::from_millis(100);
/// From this part on it is told how full the context is, and from that on with emphasis.
const FILLING: f64 = 0.5;
const FULL: f64 = 0.7;

/// What was going on while something was waited for.
enum Moment<T> {
    Heard(Heard),
    Asked(Asked),
    Interrupted,
    /// The turn was about to begin when it was interrupted.
    Again,
    Tick,
    Done(Result<T>),
}

impl Chat<'_> {
    /// Runs a turn, or goes on with one that was broken off; offers a fork where somebody else has
    /// the session.
    pub(crate) fn turn(&mut self, prompt: Option<&str>) -> Result<()> {
        match self.try_turn(prompt) {
            Err(error) if error.is_taken() && self.header().is_ok() => {
                self.tell(&error);
                self.go_on_beside(prompt)
            }
            done => done,
        }
    }

    /// Somebody else is in this session: whoever wants goes on in a fork (SPEC 9), or waits.
    fn go_on_beside(&mut self, prompt: Option<&str>) -> Result<()> {
        let answer = self.input.ask("Go on in a fork of it, or wait? [Y/n/w] ");
        match answer.map(|answer| answer.trim().to_lowercase()).as_deref() {
            Some("" | "y" | "yes") => {}
            Some("w" | "wait") => return self.wait_for_it(prompt),
            // Anything else was meant for the conversation, not for the question.
            _ => {
                if prompt.is_some() {
                    let text = "what you said was not stored; the up arrow has it";
                    self.screen.line(Tone::Dim, text);
                }
                return Ok(());
            }
        }
        let branched = self.fork(Fork::of(self.session.id()))?;
        let label = branched.forked.label.to_string();
        self.go_to(branched.child)?;
        self.screen.words(&[(Tone::Good, "Now on "), (Tone::Label, &label)]);
        self.try_turn(prompt)
    }

    /// Goes on once the session is free; Ctrl-C ends the waiting.
    fn wait_for_it(&mut self, prompt: Option<&str>) -> Result<()> {
        self.screen.line(Tone::Dim, "waiting ... (Ctrl-C ends it)");
        let wait = |wait| move |equipment: &mut Equipment| equipment.settings.lease_wait = wait;
        self.session.equip(wait(Duration::MAX));
        let done = self.try_turn(prompt);
        self.session.equip(wait(self.wait));
        done
    }

    fn try_turn(&mut self, prompt: Option<&str>) -> Result<()> {
        let session = self.session.clone();
        let along = |prompt, waiting: &Waiting| waiting.along(prompt);
        let prompt = prompt.map(|text| self.waiting.iter().fold(Prompt::from(text), along));
        let (says, before) = (prompt.is_some(), self.turns_said());
        let heard = session.subscribe(WAITING);
        let waited = format!("{} answers", self.model);
        let turn = self.watch(heard, &waited, async move {
            Ok(match prompt {
                Some(prompt) => session.execute(prompt).await?,
                None => session.resume().await?,
            })
        });
        // A prompt that did not come into the log is said again, with its files.
        if says && self.turns_said() > before {
            self.waiting.clear();
        }
        self.closed(&turn?);
        Ok(())
    }

    fn turns_said(&self) -> u64 {
        self.header().map_or(0, |header| header.counts.turns)
    }

    /// Has a sub-agent do a piece of work, and shows it at that.
    pub(crate) fn delegate(&mut self, task: &str) -> Result<()> {
        let session = self.session.clone();
        let delegate = Delegate::new(task);
        let heard = self.supplies.kernel().subscribe(WAITING);
        let work = async move { Ok(session.delegate(delegate).await?) };
        let delegated = self.watch(heard, "a sub-agent works", work)?;
        let label = self.label_of(&delegated.session_id);
        let turn = delegated.turn?;
        self.closed(&turn);
        self.screen.words(&[
            (Tone::Dim, "Done by "),
            (Tone::Label, &format!("@{label}")),
            (Tone::Dim, "; the next turn is told its result, "),
            (Tone::Strong, &format!("/switch @{label}")),
            (Tone::Dim, " goes there"),
        ]);
        Ok(())
    }

    /// Shows what is heard until some work of this session is done. Ctrl-C interrupts it, and so
    /// does what ends the conversation; a second one waits for nothing.
    pub(crate) fn watch<T: Send + 'static>(
        &mut self,
        mut heard: Subscription,
        waited: &str,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let session = self.session.clone();
        let runtime = self.supplies.runtime();
        let mut work = runtime.spawn(work);
        let mut interrupts = Interrupts::listen(runtime);
        let mut interrupted = 0;
        let mut is_told = false;
        self.screen.wait(waited);
        let done = loop {
            let moment = runtime.block_on(async {
                tokio::select! {
                    biased;
                    Some(heard) = heard.next() => Moment::Heard(heard),
                    Some(asked) = self.questions.recv() => Moment::Asked(asked),
                    _ = interrupts.next() => Moment::Interrupted,
                    done = &mut work => Moment::Done(done.unwrap_or(Err(Error::Interrupted))),
                    () = tokio::time::sleep(MOMENT), if interrupted > 0 && !is_told => {
                        Moment::Again
                    }
                    () = tokio::time::sleep(TICK) => Moment::Tick,
                }
            });
            match moment {
                Moment::Heard(heard) => self.screen.heard(&heard),
                Moment::Asked(asked) => self.ask(asked, &session),
                Moment::Interrupted => {
                    interrupted += 1;
                    is_told |= session.interrupt();
                    if interrupted > 1 {
                        work.abort();
                    }
                }
                Moment::Again => is_told = session.interrupt(),
                Moment::Tick => self.screen.tick(),
                Moment::Done(done) => break done,
            }
        };
        while let Some(Some(heard)) = heard.next().now_or_never() {
            self.screen.heard(&heard);
        }
        self.screen.end_answer();
        self.screen.waited();
        done
    }

    /// Asks the person about a call.
    fn ask(&mut self, asked: Asked, session: &AgentSession) {
        self.screen.end_answer();
        let Asked { question, answer } = asked;
        let tool = question.call.as_ref().map(|call| call.name.clone());
        match &question.call {
            Some(call) => self.screen.call(&call.name, call.arguments.get()),
            None => self.screen.line(Tone::Warn, &question.prompt),
        }
        let given = match self.reply("May it? [y]es, [n]o, [a]lways: ") {
            Some(Reply::Yes) => Answer::Granted(None),
            Some(Reply::Always) => {
                if let Some(tool) = &tool {
                    self.approve.allow(tool);
                }
                Answer::Granted(Some("allowed until the program ends".to_owned()))
            }
            Some(Reply::No) => Answer::Denied(Some("the user said no".to_owned())),
            None => {
                session.interrupt();
                Answer::Denied(Some("the user interrupted".to_owned()))
            }
        };
        // The turn may be over by now.
        let _ = answer.send(given);
    }

    /// What the person says to a question, asked until it is one of its answers; none interrupts.
    fn reply(&mut self, question: &str) -> Option<Reply> {
        loop {
            let said = self.input.ask(question)?;
            if let Some(reply) = Reply::of(&said) {
                return Some(reply);
            }
        }
    }

    /// The line below an answer.
    fn closed(&mut self, turn: &Turn) {
        if let Some(from) = &turn.moved_from {
            let (from, here) = (self.label_of(from), self.label_of(&turn.session_id));
            let text =
                format!("{from} was taken by another program; this went on in a fork, {here}");
            self.screen.line(Tone::Warn, &text);
        }
        match &turn.status {
            Status::Success => {}
            Status::Cancelled => {
                self.screen
                    .line(Tone::Warn, "interrupted; what was said is kept, /continue goes on");
            }
            Status::Incomplete(why) => {
                self.screen.line(Tone::Warn, &format!("cut short: {why}"));
            }
        }
        let line = usage_line(turn);
        if !line.is_empty() {
            self.screen.line(Tone::Dim, &line);
        }
        self.filling();
    }

    /// Says how full the context is, where that begins to matter.
    pub(crate) fn filling(&mut self) {
        let session = self.session.clone();
        let gauge = self.supplies.runtime().block_on(async move { session.gauge().await });
        // Without a stored session, or a model that says how much it takes, there is nothing to say.
        let Some(full) = gauge.ok().and_then(|gauge| gauge.fraction()) else { return };
        if full >= FILLING {
            let tone = if full >= FULL { Tone::Warn } else { Tone::Dim };
            let text = format!("the context is {:.0} % full; /compact makes room", full * 100.0);
            self.screen.line(tone, &text);
        }
    }
}

/// What a turn took, in a line.
pub(crate) fn usage_line(turn: &Turn) -> String {
    let usage = &turn.usage;
    let mut parts = Vec::new();
    if usage.input > 0 || usage.output > 0 {
        let cached =
            if usage.cached > 0 { format!(" ({} cached)", usage.cached) } else { String::new() };
        parts.push(format!("{} tokens in{cached}, {} out", usage.input, usage.output));
    }
    if let Some(cost) = usage.cost.filter(|cost| *cost > 0.0) {
        parts.push(format!("{cost:.4}"));
    }
    if turn.tool_calls > 0 {
        parts.push(calls(turn.tool_calls));
    }
    parts.join(", ")
}

fn calls(count: u32) -> String {
    if count == 1 { "1 call".to_owned() } else { format!("{count} calls") }
}

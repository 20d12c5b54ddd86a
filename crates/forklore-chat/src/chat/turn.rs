//! Runs turns, and shows each turn while it runs.

use std::time::Duration;

use forklore_agent::approve::Answer;
use forklore_agent::notify::{Received, Subscription};
use forklore_agent::{Status, Turn};
use forklore_host::{BranchOptions, CancellationToken, Conversation, PendingApproval};
use futures_util::{FutureExt, StreamExt};

use super::Chat;
use crate::count::count;
use crate::input::Reply;
use crate::screen::Tone;
use crate::{Error, Result};

/// The number of a turn's notifications that can wait to be shown. If this many wait, new
/// notifications of mere progress, such as pieces of an answer, are dropped. If 16 times as many
/// wait, all new notifications are dropped.
const CAPACITY: usize = 4096;
/// The interval at which the progress line is redrawn.
const TICK: Duration = Duration::from_millis(100);
/// If at least this fraction of the context window is full, the conversation shows how full it is.
/// From the fraction `FULL` on, the conversation shows a warning.
const FILLING: f64 = 0.5;
const FULL: f64 = 0.7;

/// An event for which [`Chat::watch`] waits while an operation runs.
enum Moment<T> {
    Notified(Received),
    Question(PendingApproval),
    Interrupted,
    Tick,
    Done(Result<T>),
}

impl Chat<'_> {
    /// Runs a turn that answers `prompt`. Without a prompt, continues the interrupted turn. If
    /// another program runs a turn in the session, offers to fork or to wait.
    pub(crate) fn turn(&mut self, prompt: Option<&str>) -> Result<()> {
        self.announce_others(|_| 0);
        match self.try_turn(prompt) {
            Err(error) if error.is_in_use() && self.header().is_ok() => {
                self.note_holder(&error);
                self.report(&error);
                self.continue_elsewhere(prompt)
            }
            done => {
                self.know_all();
                done
            }
        }
    }

    /// Handles a session in which another program runs a turn. The user chooses to continue in a
    /// fork, to wait, or to do neither (docs/semantics.md, Writing).
    fn continue_elsewhere(&mut self, prompt: Option<&str>) -> Result<()> {
        let answer = self.input.ask("Go on in a fork of it, or wait? [Y/n/w] ");
        match answer.map(|answer| answer.trim().to_lowercase()).as_deref() {
            Some("" | "y" | "yes") => {}
            Some("w" | "wait") => return self.wait_for_lease(prompt),
            // Any other text was probably meant as a prompt and not as an answer, so no turn runs.
            _ => {
                if prompt.is_some() {
                    let text = "what you said was not stored; the up arrow has it";
                    self.screen.line(Tone::Dim, text);
                }
                return Ok(());
            }
        }
        let forked = self.conversation.fork(BranchOptions::default());
        let label = self.foreground.block_on(forked)?.label.to_string();
        self.screen.words(&[(Tone::Good, "Now on "), (Tone::Label, &label)]);
        self.know_first();
        self.announce_others(|_| 0);
        let done = self.try_turn(prompt);
        self.know_all();
        done
    }

    /// Waits until no other program runs a turn in the session, and then runs the turn. Ctrl-C ends
    /// the wait.
    fn wait_for_lease(&mut self, prompt: Option<&str>) -> Result<()> {
        self.screen.line(Tone::Dim, "waiting ... (Ctrl-C ends it)");
        self.conversation.wait_for_lease(Some(Duration::MAX));
        let done = self.try_turn(prompt);
        self.conversation.wait_for_lease(None);
        // The other program's messages are the ones before this turn.
        self.announce_others(|new| {
            let begin = new.iter().rposition(|message| message.turn.is_some());
            new.len() - begin.filter(|_| prompt.is_some()).unwrap_or(0)
        });
        self.know_all();
        done
    }

    fn try_turn(&mut self, prompt: Option<&str>) -> Result<()> {
        let notifications = self.conversation.subscribe(CAPACITY);
        let waits_for = format!("{} answers", self.conversation.model());
        let prompt = prompt.map(str::to_owned);
        let work = |conversation: Conversation, cancel: CancellationToken| async move {
            match prompt {
                Some(prompt) => conversation.say(&prompt, &cancel).await,
                None => conversation.continue_turn(&cancel).await,
            }
        };
        let turn = self.watch(notifications, &waits_for, work)?;
        self.show_end(&turn);
        Ok(())
    }

    /// Runs a task in a sub-agent, and shows the sub-agent's progress and result.
    pub(crate) fn delegate(&mut self, task: &str) -> Result<()> {
        let notifications = self.foreground.host().kernel().subscribe(CAPACITY);
        let task = task.to_owned();
        let work = |conversation: Conversation, cancel: CancellationToken| async move {
            conversation.delegate(&task, &cancel).await
        };
        let delegated = self.watch(notifications, "a sub-agent works", work)?;
        let label = self.label_of(&delegated.session_id);
        let turn = delegated.turn.map_err(forklore_host::Error::from)?;
        self.show_end(&turn);
        self.screen.words(&[
            (Tone::Dim, "Done by "),
            (Tone::Label, &format!("@{label}")),
            (Tone::Dim, "; the next turn is told its result, "),
            (Tone::Strong, &format!("/switch @{label}")),
            (Tone::Dim, " goes there"),
        ]);
        Ok(())
    }

    /// Runs `work`, and shows notifications until `work` ends. The first signal cancels the work; a
    /// second signal aborts the work at once.
    pub(crate) fn watch<T, F>(
        &mut self,
        mut notifications: Subscription,
        waits_for: &str,
        work: impl FnOnce(Conversation, CancellationToken) -> F,
    ) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = forklore_host::Result<T>> + Send + 'static,
    {
        // Listen before the work begins: a signal that arrives during the work must not end the
        // program.
        let mut signals = self.foreground.listen();
        let cancel = CancellationToken::new();
        let mut work = self.foreground.spawn(work(self.conversation.clone(), cancel.clone()));
        let mut signalled = false;
        self.screen.wait(waits_for);
        let done = loop {
            let moment = self.foreground.block_on(async {
                tokio::select! {
                    biased;
                    Some(received) = notifications.next() => Moment::Notified(received),
                    Some(question) = self.questions.recv() => Moment::Question(question),
                    _ = signals.next() => Moment::Interrupted,
                    done = &mut work => Moment::Done(match done {
                        Ok(done) => done.map_err(Error::from),
                        Err(_) => Err(Error::interrupted()),
                    }),
                    () = tokio::time::sleep(TICK) => Moment::Tick,
                }
            });
            match moment {
                Moment::Notified(received) => self.screen.notified(&received),
                Moment::Question(question) => self.ask(question, &cancel),
                Moment::Interrupted if signalled => work.abort(),
                Moment::Interrupted => {
                    signalled = true;
                    cancel.cancel();
                }
                Moment::Tick => self.screen.tick(),
                Moment::Done(done) => break done,
            }
        };
        while let Some(Some(received)) = notifications.next().now_or_never() {
            self.screen.notified(&received);
        }
        self.screen.end_turn();
        self.screen.waited();
        if cancel.is_cancelled() {
            // Text that the user typed during the turn was meant for a turn that was not
            // interrupted, so let the user edit the text first.
            self.input.put_back();
        }
        done
    }

    /// Asks the user whether a tool may be called, and sends the user's answer to the agent kernel.
    fn ask(&mut self, pending: PendingApproval, cancel: &CancellationToken) {
        self.screen.end_answer();
        let tool = pending.question.call.as_ref().map(|call| call.name.clone());
        match &pending.question.call {
            Some(call) => {
                self.screen.call(&call.name, call.arguments.get());
                if let Some(rule) = self.rule_for(call) {
                    self.screen.line(Tone::Dim, &rule);
                }
            }
            None => self.screen.line(Tone::Warn, &pending.question.prompt),
        }
        let answer = match self.reply("May it? [y]es, [n]o, [a]lways: ") {
            Some(Reply::Yes) => Answer::Granted(None),
            Some(Reply::Always) => match &tool {
                Some(tool) => self.approvals.always(tool),
                None => Answer::Granted(None),
            },
            Some(Reply::No) => Answer::Denied(Some("the user said no".to_owned())),
            None => {
                // Interrupt the session before the turn receives the answer, because the answer
                // would let the turn continue.
                self.conversation.session().interrupt();
                cancel.cancel();
                Answer::Denied(Some("the user interrupted".to_owned()))
            }
        };
        pending.answer(answer);
    }

    /// Repeats a question until the user gives a valid answer. Returns `None` if the user
    /// interrupts.
    fn reply(&mut self, question: &str) -> Option<Reply> {
        loop {
            let answer = self.input.ask(question)?;
            if let Some(reply) = Reply::of(&answer) {
                return Some(reply);
            }
        }
    }

    /// Shows how a turn ended and the tokens, cost and tool calls that it used.
    fn show_end(&mut self, turn: &Turn) {
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
        self.show_gauge();
    }

    /// Shows how full the context window is, if the filled fraction is at least [`FILLING`].
    pub(crate) fn show_gauge(&mut self) {
        let gauge = self.foreground.block_on(self.conversation.gauge());
        // The gauge fails if the session is not stored yet, and has no fraction if the context
        // window is unknown.
        let Some(full) = gauge.ok().and_then(|gauge| gauge.fraction()) else { return };
        if full >= FILLING {
            let tone = if full >= FULL { Tone::Warn } else { Tone::Dim };
            let text = format!("the context is {:.0} % full; /compact makes room", full * 100.0);
            self.screen.line(tone, &text);
        }
    }
}

/// Formats the tokens, cost and tool calls of a turn on one line.
fn usage_line(turn: &Turn) -> String {
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
        parts.push(count(u64::from(turn.tool_calls), "call"));
    }
    parts.join(", ")
}

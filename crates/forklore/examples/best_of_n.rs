//! Selects the best of several answers. Each answer is written to a fork of one prefix and scored;
//! the forks are written concurrently.
//!
//! The answers are a list and the score is a rule, so the example runs without a network. Each fork
//! shares the question and stores only its own answer. All forks stay; the best gets the label
//! `best`.
//!
//! ```console
//! $ cargo run -p forklore --example best_of_n [STORE]
//! ```

use std::error::Error;
use std::io::{Write, stdout};

use forklore::core::Class;
use forklore::prelude::*;
use serde_json::json;
use tokio::task::JoinSet;

type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

const QUESTION: &str = "What should the function be called that gives the events behind a cut?";
const ANSWERS: [&str; 6] = [
    "getEventsAfterCut",
    "events_behind",
    "do_it",
    "tail",
    "the_events_behind_the_cut",
    "cut_tail",
];

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "memory:".into());
    run(&url, &mut stdout()).await
}

/// Appends the question, tries each answer on its own fork, and labels the best fork.
pub(crate) async fn run(url: &str, out: &mut impl Write) -> Result<()> {
    let store = forklore::open(url).await?;
    let main = store.create(Create::in_workspace(Workspace::new("/work/demo"))).await?.id;
    store.append(&main, NewEvent::user(QUESTION)?).await?;

    let mut tries = JoinSet::new();
    for number in 1..=ANSWERS.len() {
        tries.spawn(attempt(store.clone(), main.clone(), number));
    }
    let mut tried = tries.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
    tried.sort_unstable_by(|a, b| (b.score, &a.answer).cmp(&(a.score, &b.answer)));

    for try_ in &tried {
        writeln!(out, "{:>4}  {}", try_.score, try_.answer)?;
    }
    if let Some(best) = tried.first() {
        let best = store.label(&best.session, &"best".parse()?).await?;
        writeln!(
            out,
            "{}: {} of {} events are its own",
            best.label,
            best.own_events,
            best.head_seq() + 1
        )?;
    }
    let shared = store.stats(None).await?.saved_bytes;
    writeln!(out, "{shared} bytes were not stored again")?;
    store.close().await;
    Ok(())
}

/// An answer with its score, and the session that contains both.
struct Try {
    session: SessionId,
    answer: &'static str,
    score: i64,
}

/// Creates a fork and appends one answer with its score.
async fn attempt(store: Forklore, main: SessionId, number: usize) -> Result<Try> {
    let label = Some(format!("try-{number}").parse()?);
    let session = store.fork(Fork { label, ..Fork::of(main) }).await?.child_session_id;
    let answer = ANSWERS.get(number - 1).copied().unwrap_or_default();
    let score = score(answer);
    // The score is not part of the conversation: the model never sees it.
    let verdict = NewEvent {
        class: Some(Class::Audit),
        ..NewEvent::new("x.score".parse()?, Data::of(&json!({"score": score}))?)
    };
    // One append, so that the fork gets both events or none: an answer without its score would look
    // unscored.
    store.append(&session, vec![NewEvent::assistant(answer)?, verdict]).await?;
    Ok(Try { session, answer, score })
}

/// Scores an answer: words of the question add points, length and capital letters cost points.
fn score(answer: &str) -> i64 {
    let words = answer.split('_').filter(|word| QUESTION.contains(*word)).count();
    let capitals = answer.chars().filter(char::is_ascii_uppercase).count();
    let length = answer.chars().count();
    let points = |number: usize, each: i64| i64::try_from(number).map_or(0, |n| n * each);
    points(words, 10) - points(capitals, 5) - points(length, 1)
}

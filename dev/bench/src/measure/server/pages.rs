//! The page of a large family, and forks of its root, as a browser asks for them.

use std::time::{Duration, Instant};

use forklore::prelude::*;

use super::client::Client;
use super::load::runtime;
use super::serving::Serving;
use crate::error::{Doing, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::samples::Samples;
use crate::scene::{Scene, session};
use crate::thousands::grouped;

/// How often the server is started, because a first opening is one only once.
const STARTS: usize = 5;
/// How often each of the other requests is sent.
const ROUNDS: usize = 50;
/// How many children a session of the family has.
const CHILDREN: usize = 10;

pub(super) fn measure(scene: &Scene) -> Result<Vec<Figure>> {
    let branches = scene.sizes.siblings;
    let (bed, root) = scene.store(|engine| family(engine, branches))?;
    let files = bed.close();
    let (mut first, mut again) = (Samples::default(), Samples::default());
    let mut forks = Samples::default();
    for start in 0..scene.rounds(STARTS) {
        let serving = Serving::start(scene, &files.url())?;
        runtime()?
            .block_on(async {
                let mut client = Client::connect(&serving.target).await?;
                let family = format!("/f/{root}");
                first.add(took(&mut client, &[(&family, None)]).await?);
                for round in 0..scene.rounds(ROUNDS) / STARTS {
                    again.add(took(&mut client, &[(&family, None)]).await?);
                    let (child, fork) =
                        (format!("fork-{start}-{round}"), format!("/s/{root}/fork"));
                    let form = format!("id={child}&at=end");
                    let page = format!("/s/{child}");
                    forks.add(took(&mut client, &[(&fork, Some(&form)), (&page, None)]).await?);
                }
                std::io::Result::Ok(())
            })
            .doing("cannot ask", serving.target.host.as_ref().as_ref())?;
        serving.stop()?;
    }
    let figure = |what: &str, most, samples: &Samples| {
        let what = format!("family of {} branches: {what}", grouped(branches));
        let median = samples.median().as_secs_f64() * 1e3;
        Figure::alone(what, Goal::AtMost(most), median, Unit::Milliseconds)
            .from(samples.to_string(), "")
    };
    Ok(vec![
        figure("its page, first opened after the start of the server", 1_000.0, &first),
        figure("its page, opened again after a fork", 1_000.0, &again),
        figure("a fork of its root, and the page of the fork", 300.0, &forks),
    ])
}

/// Creates a family in which each session has ten children, one of them after the other.
fn family(engine: &Engine, branches: usize) -> Result<SessionId> {
    let root = session(engine, 10)?;
    let mut all = vec![root.clone()];
    for number in 0..branches {
        let parent = all.get(number / CHILDREN).unwrap_or(&root).clone();
        all.push(engine.fork(&Fork::of(parent))?.child_session_id);
    }
    Ok(root)
}

/// Sends requests one after the other. Returns how long they took together.
async fn took(client: &mut Client, requests: &[(&str, Option<&str>)]) -> std::io::Result<Duration> {
    let start = Instant::now();
    for (path, body) in requests {
        client.ask(path, *body).await?;
    }
    Ok(start.elapsed())
}

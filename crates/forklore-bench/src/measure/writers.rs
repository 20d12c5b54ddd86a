//! Four processes that append to one store at once: none is starved.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use forklore::prelude::*;

use crate::error::{Doing, Error, Result};
use crate::figure::{Figure, Goal, Unit};
use crate::options::Writer;
use crate::process::Program;
use crate::samples::spelled;
use crate::scene::{Bed, Scene, message, session};

const WRITERS: usize = 4;

/// Long enough for every writer to have opened the store before the first writes.
const HEAD_START: Duration = Duration::from_millis(500);

/// What one writer came to.
struct Written {
    appends: u64,
    longest: Duration,
}

pub(super) fn measure(scene: &Scene) -> Result<Vec<Figure>> {
    let (bed, sessions) = scene
        .store(|engine| (0..WRITERS).map(|_| session(engine, 10)).collect::<Result<Vec<_>>>())?;
    let one: Vec<_> = sessions.iter().take(1).cycle().take(WRITERS).cloned().collect();
    let mut figures = at_once(scene, &bed, &sessions, "a session each")?;
    figures.extend(at_once(scene, &bed, &one, "all one session")?);
    Ok(figures)
}

/// One writer for each of `sessions`, all at the same time.
fn at_once(scene: &Scene, bed: &Bed, sessions: &[SessionId], how: &str) -> Result<Vec<Figure>> {
    let program = Program::itself(scene.dir())?;
    let begin = now() + HEAD_START;
    let (begin, millis) = (begin.as_millis().to_string(), scene.sizes.millis.to_string());
    let reports = scene.folder()?;
    let mut running = Vec::new();
    for (number, session) in sessions.iter().enumerate() {
        let report = reports.path().join(number.to_string());
        let args = [
            "writer",
            &format!("--store={}", bed.files().url()),
            &format!("--session={session}"),
            &format!("--begin={begin}"),
            &format!("--millis={millis}"),
            &format!("--report={}", report.display()),
        ];
        running.push((program.start(&args, Stdio::null())?, report));
    }
    let mut written = Vec::new();
    for (mut writer, report) in running {
        let status = writer.wait().doing("cannot wait for", &report)?;
        program.check(&["writer"], status)?;
        let text = fs::read_to_string(&report).doing("cannot read", &report)?;
        written.push(Written::parse(&text)?);
    }
    Ok(figures(&written, how, scene.sizes.millis))
}

fn figures(written: &[Written], how: &str, millis: u64) -> Vec<Figure> {
    let appends: Vec<_> = written.iter().map(|it| it.appends).collect();
    let slowest = appends.iter().min().copied().unwrap_or_default();
    let fastest = appends.iter().max().copied().unwrap_or_default();
    let longest = written.iter().map(|it| it.longest).max().unwrap_or_default();
    let rate = appends.iter().sum::<u64>() * 1_000 / millis.max(1);
    let fair = Figure::alone(
        format!("{WRITERS} processes, {how}: the slowest against the fastest"),
        Goal::AtLeast(0.5),
        slowest as f64 / fastest as f64,
        Unit::Times,
    );
    let wait = Figure::alone(
        format!("{WRITERS} processes, {how}: the longest wait for one append"),
        Goal::AtMost(5.0),
        longest.as_secs_f64(),
        Unit::Seconds,
    );
    vec![
        fair.from(format!("{slowest} appends"), format!("{fastest} appends")),
        wait.from(spelled(longest), format!("{rate} appends/s together")),
    ]
}

/// What the process of a writer does: appends 1 KB again and again, for as long as told.
pub(crate) fn write(told: &Writer) -> Result<()> {
    let session: SessionId = told.session.parse()?;
    let engine =
        forklore::blocking::open(&told.store).map_err(|error| Error::Wrong(error.to_string()))?;
    let request = AppendRequest::from(vec![message(0)?]);
    sleep(Duration::from_millis(told.begin).saturating_sub(now()));
    let start = Instant::now();
    let mut done = Written { appends: 0, longest: Duration::ZERO };
    while start.elapsed() < Duration::from_millis(told.millis) {
        let before = Instant::now();
        engine.append(&session, &request)?;
        done.longest = done.longest.max(before.elapsed());
        done.appends += 1;
    }
    let report = format!("{} {}", done.appends, done.longest.as_micros());
    fs::write(&told.report, report).doing("cannot write", &told.report)
}

impl Written {
    fn parse(text: &str) -> Result<Self> {
        let numbers = text.split_once(' ').and_then(|(appends, micros)| {
            let longest = Duration::from_micros(micros.parse().ok()?);
            Some(Self { appends: appends.parse().ok()?, longest })
        });
        numbers.ok_or_else(|| Error::Wrong(format!("a writer reported {text:?}")))
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

//! Prints the report of an import for users.

use std::collections::{BTreeMap, HashMap};

use forklore::core::{SessionId, ShortIds};
use forklore::import::{ImportReport, ImportedSession, Problem as ImportProblem};

use crate::output::{Cell, Column, Page, Table, Tone, bytes, count, cut, grouped};

/// The maximum number of sessions that an import report shows. [`PROBLEMS`] is the maximum number
/// of problems that the report shows.
const ROWS: usize = 40;
pub(super) const PROBLEMS: usize = 20;

pub(super) fn show(page: &mut Page, report: &ImportReport) {
    let read: Vec<_> = report.sessions.iter().filter(|session| session.appended > 0).collect();
    if !read.is_empty() {
        sessions(page, &read);
        page.end();
    }
    if report.sessions.len() > 1 {
        agents(page, report);
        page.end();
    }
    headline(page, report, read.len() as u64);
    let others = (report.sessions.len() - read.len()) as u64;
    if others > 0 {
        let what = if read.is_empty() { "session" } else { "other session" };
        page.put(Tone::Dim, format!("; {} already in the store", count(others, what)));
    }
    if report.sidecars.files > 0 {
        page.put(Tone::Plain, format!("; {} beside", count(report.sidecars.files, "file")));
    }
    if report.unchanged > 0 {
        page.put(Tone::Dim, format!("; {} unchanged", count(report.unchanged, "file")));
    }
    if report.skipped > 0 {
        page.put(Tone::Dim, format!("; {} passed over", count(report.skipped, "file")));
    }
    page.end();
    problems(page, &report.problems);
    let unknown = report.passed_over.len() as u64;
    if unknown > 0 {
        let more = report.skipped > unknown;
        let first = if more { "passed over, the first of them:" } else { "passed over:" };
        page.put(Tone::Dim, first).end();
        for file in &report.passed_over {
            let line = location(file);
            page.block(Tone::Dim, &forklore_sanitize::terminal::line(&line), 2, usize::MAX);
        }
    }
}

/// Puts what is new on the page: the events of `sessions` sessions, else sidecar files, else nothing.
fn headline(page: &mut Page, report: &ImportReport, sessions: u64) {
    let appended = report.sessions.iter().map(|session| session.appended).sum();
    let read_bytes = report.sources.iter().map(|file| file.bytes).sum::<u64>();
    let files = count(report.files, "file");
    let size = bytes(read_bytes + report.sidecars.bytes);
    let sidecars = report.sidecars.files.saturating_sub(report.sidecars.unchanged);
    if sessions > 0 {
        let sessions = count(sessions, "session");
        page.put(Tone::Good, "Imported ").put(Tone::Plain, count(appended, "event"));
        page.put(Tone::Plain, format!(" ({size}) from {files} into {sessions}"));
    } else if sidecars > 0 {
        let sidecars = count(sidecars, "new file");
        page.put(Tone::Good, "Imported ")
            .put(Tone::Plain, format!("{sidecars} ({size}) beside {files}"));
    } else {
        page.put(Tone::Good, "Nothing new").put(Tone::Plain, format!(" in {files} ({size} read)"));
    }
}

/// Formats a problem as `path:line (byte offset): message`.
pub(super) fn location(problem: &ImportProblem) -> String {
    let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
    let offset = problem.offset.map(|offset| format!(" (byte {offset})")).unwrap_or_default();
    format!("{}{line}{offset}: {}", problem.path, problem.message)
}

fn sessions(page: &mut Page, sessions: &[&ImportedSession]) {
    let parents = sessions.iter().filter_map(|session| session.parent_session_id.as_ref());
    let short = ShortIds::of(sessions.iter().map(|session| &session.session_id).chain(parents));
    let mut table = Table::new(&[
        Column::new("SESSION"),
        Column::new("AGENT"),
        Column::new("EVENTS").right(),
        Column::new("NEW").right(),
        Column::new("FROM"),
        Column::new("AT"),
    ]);
    for session in sessions.iter().take(ROWS) {
        let parent = session.parent_session_id.as_ref();
        table.row([
            Cell::id(&short, &session.session_id),
            Cell::new(Tone::Plain, &*session.dialect),
            Cell::new(Tone::Plain, session.events.to_string()),
            Cell::new(Tone::Good, session.appended.to_string()),
            Cell::new(Tone::Id, parent.map_or("", |parent| short.get(parent))),
            Cell::new(Tone::Plain, session.cut.as_ref().map(cut).unwrap_or_default()),
        ]);
    }
    table.show(page);
    if sessions.len() > ROWS {
        page.put(Tone::Dim, format!("... and {} more", sessions.len() - ROWS)).end();
    }
}

/// The totals in an import report for one agent: its files, sessions, events, bytes and problems.
#[derive(Default)]
struct Sums {
    files: u64,
    sidecars: u64,
    sessions: u64,
    branches: u64,
    events: u64,
    new: u64,
    bytes: u64,
    shared: u64,
    problems: u64,
}

impl Sums {
    fn cells(&self, name: &str) -> Vec<Cell> {
        let tone = if self.problems > 0 { Tone::Warn } else { Tone::Plain };
        vec![
            Cell::new(Tone::Strong, name),
            Cell::new(Tone::Plain, grouped(self.files)),
            Cell::new(Tone::Plain, grouped(self.sidecars)),
            Cell::new(Tone::Plain, grouped(self.sessions)),
            Cell::new(Tone::Plain, grouped(self.branches)),
            Cell::new(Tone::Plain, grouped(self.events)),
            Cell::new(Tone::Good, grouped(self.new)),
            Cell::new(Tone::Plain, bytes(self.bytes)),
            Cell::new(Tone::Plain, bytes(self.shared)),
            Cell::new(tone, grouped(self.problems)),
        ]
    }

    fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.sidecars += other.sidecars;
        self.sessions += other.sessions;
        self.branches += other.branches;
        self.events += other.events;
        self.new += other.new;
        self.bytes += other.bytes;
        self.shared += other.shared;
        self.problems += other.problems;
    }
}

/// Adds a table with a row for each agent to an import report. If there are several agents, a last
/// row has the totals.
fn agents(page: &mut Page, report: &ImportReport) {
    let sums = sums(report);
    let mut table = Table::new(&[
        Column::new("AGENT"),
        Column::new("FILES").right(),
        Column::new("BESIDE").right(),
        Column::new("SESSIONS").right(),
        Column::new("BRANCHES").right(),
        Column::new("EVENTS").right(),
        Column::new("NEW").right(),
        Column::new("READ").right(),
        Column::new("SHARED").right(),
        Column::new("PROBLEMS").right(),
    ]);
    let mut all = Sums::default();
    for (agent, sums) in &sums {
        all.add(sums);
        table.row(sums.cells(agent));
    }
    if sums.len() > 1 {
        table.row(all.cells("all"));
    }
    table.show(page);
}

fn sums(report: &ImportReport) -> BTreeMap<&str, Sums> {
    let mut sums: BTreeMap<&str, Sums> = BTreeMap::new();
    let mut agent_of: HashMap<&SessionId, &str> = HashMap::new();
    for session in &report.sessions {
        agent_of.insert(&session.session_id, &session.dialect);
        let sums = sums.entry(&session.dialect).or_default();
        sums.sessions += 1;
        sums.branches += u64::from(session.parent_session_id.is_some());
        sums.events += session.events;
        sums.new += session.appended;
        sums.shared += session.shared_bytes;
    }
    let mut agent_at: HashMap<&str, &str> = HashMap::new();
    for file in &report.sources {
        let agent = file.sessions.first().and_then(|session| agent_of.get(session));
        if let Some(agent) = agent {
            agent_at.insert(&file.path, agent);
            let sums = sums.entry(agent).or_default();
            sums.files += 1;
            sums.bytes += file.bytes;
        }
    }
    for file in &report.stored {
        agent_at.insert(&file.path, &file.dialect);
        let sums = sums.entry(&file.dialect).or_default();
        sums.sidecars += 1;
        sums.bytes += file.bytes;
    }
    for problem in &report.problems {
        // A problem of a file that belongs to no agent appears only in the list below the table.
        if let Some(sums) = agent_at.get(&*problem.path).and_then(|agent| sums.get_mut(agent)) {
            sums.problems += 1;
        }
    }
    sums
}

fn problems(page: &mut Page, problems: &[ImportProblem]) {
    for problem in problems.iter().take(PROBLEMS) {
        page.block(
            Tone::Warn,
            &forklore_sanitize::terminal::line(&location(problem)),
            2,
            usize::MAX,
        );
    }
    if problems.len() > PROBLEMS {
        page.put(Tone::Dim, format!("... and {} more problems", problems.len() - PROBLEMS)).end();
    }
}

//! Shows the output of this program's commands inside a conversation.

use std::path::Path;

use forklore::core::SessionId;
use forklore_chat::{Choice, ShowRow, View, Views};

use crate::app::App;
use crate::failure::Result;
use crate::output::Output;
use crate::session_ref::SessionRef;
use crate::wiring;

use super::{
    branches, bring, diff, explore, export, inspect, interface, list, replay, search, stats, tree,
};

/// Implements [`Views`] with the commands of this program. Through this trait, a conversation shows
/// trees, lists and other views.
pub(super) struct Program<'a> {
    pub(super) app: &'a App,
    pub(super) output: &'a mut Output,
}

impl Program<'_> {
    fn run(&mut self, view: View) -> Result<()> {
        let (app, output) = (self.app, &mut *self.output);
        match view {
            View::Branches(session) => branches::run(&branches::Args::of(&session.id), app, output),
            View::Tree(session) => tree::run(&tree::Args::of(&session.id), app, output),
            View::Diff(sessions) => {
                let (a, b) = *sessions;
                diff::run(&diff::Args::between(&a.id, &b.id), app, output)
            }
            View::Replay(session, cut) => {
                replay::run(&replay::Args::up_to(&session.id, cut.as_ref()), app, output)
            }
            View::Inspect(session) => inspect::run(&inspect::Args::of(&session.id), app, output),
            View::Stats(session) => stats::run(&stats::Args::of(&session.id), app, output),
            View::List(most) => list::run(&list::Args::latest(most), app, output),
            View::Search(words) => search::run(&search::Args::of(&words), app, output),
            View::Export { session, to, file } => {
                export::run(&export::Args::into_file(&session.id, to, file), app, output)
            }
            View::Brought(brought, into) => bring::show(&brought, &into, output),
            View::Explored(plan, explored) => {
                let at = explore::cut_of(app, &plan.session, plan.at.as_ref())?;
                let judged = plan.judge.is_some();
                let (from, rows) = (&plan.session, explored.rows.as_slice());
                let currency = wiring::prices(app).currency;
                let shown = explore::Shown { from, at: &at, rows, judged, currency };
                shown.show(None, None, output)
            }
        }
    }
}

impl Views for Program<'_> {
    fn show(&mut self, view: View) {
        self.output.measure();
        if let Err(failure) = self.run(view).and_then(|()| self.output.flush()) {
            // Writing fails if the terminal is closed. The conversation then ends when it reads its
            // next line.
            let _ = self.output.failure(&failure);
        }
        let _ = self.output.flush();
    }

    fn follow(&mut self, rows: usize) -> ShowRow {
        self.output.measure();
        let tries = self.output.tries(rows);
        Box::new(move |at, row| tries.show(at, row))
    }

    fn open_file(&mut self, file: &Path) -> std::result::Result<SessionId, String> {
        self.output.measure();
        let file = SessionRef::File(file.to_owned());
        let opened = self.app.session(&file, self.output);
        opened.map(|header| header.id).map_err(|failure| failure.to_string())
    }

    fn choose(&mut self) -> Choice {
        if !interface::can_choose(self.output) {
            return Choice::Unable;
        }
        match interface::choose(self.app, self.output) {
            Ok(Some(session)) => Choice::Session(session),
            Ok(None) => Choice::Nothing,
            Err(failure) => {
                let _ = self.output.failure(&failure);
                Choice::Nothing
            }
        }
    }

    fn formats(&self) -> Vec<String> {
        export::FORMS.iter().map(|form| (*form).to_owned()).collect()
    }
}

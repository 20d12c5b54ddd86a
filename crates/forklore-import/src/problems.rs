//! Collects the problems of one file, up to a limit.

use crate::report::{Problem, ProblemKind};

const MOST: usize = 100;

/// The problems found in one imported file: the first 100, and the number of further ones.
#[derive(Debug)]
pub(crate) struct Problems {
    path: String,
    listed: Vec<Problem>,
    more: u64,
}

impl Problems {
    pub(crate) fn of(path: &str) -> Self {
        Self { path: path.to_owned(), listed: Vec::new(), more: 0 }
    }

    pub(crate) fn add(&mut self, line: u64, offset: u64, kind: ProblemKind, message: &str) {
        if self.listed.len() >= MOST {
            self.more += 1;
            return;
        }
        self.listed.push(Problem {
            path: self.path.clone(),
            line: Some(line),
            offset: Some(offset),
            kind,
            message: message.to_owned(),
        });
    }

    pub(crate) fn into_list(mut self) -> Vec<Problem> {
        if self.more > 0 {
            self.listed.push(Problem {
                path: self.path,
                line: None,
                offset: None,
                kind: ProblemKind::More,
                message: format!("{} more problems", self.more),
            });
        }
        self.listed
    }
}

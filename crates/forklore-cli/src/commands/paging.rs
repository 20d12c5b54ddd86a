//! Divides long answers into pages: the options `--limit` and `--after`, and the answer's field
//! `next`.

use forklore::core::SessionId;

use crate::failure::{Failure, Result};

use super::arguments;

/// The default number of items of a page.
const USUAL: usize = 50;

/// The options that select a page of a long answer.
#[derive(Debug, clap::Args)]
pub(crate) struct Paging {
    /// How many to list at most; 0 means all
    #[arg(long, value_name = "N", default_value_t = USUAL)]
    limit: usize,
    /// List the page after an earlier one: the value `next` of its answer
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

impl Paging {
    /// Returns the paging options for the first page, of the default length.
    pub(super) fn first() -> Self {
        Self { limit: USUAL, after: None }
    }

    /// Parses `--after`: the id of the last session of the previous page. Returns `None` if the
    /// option is not given.
    ///
    /// # Errors
    /// `invalid_args` when the value of `--after` is not a session id.
    pub(super) fn after(&self) -> Result<Option<SessionId>> {
        arguments::parsed(self.after.as_deref(), "cursor")
    }

    /// Returns the items of the requested page, and the cursor of the next page. The cursor is
    /// `None` on the last page. `after` is the last session of the previous page. `id` returns the
    /// session of an item.
    ///
    /// # Errors
    /// `invalid_args` when no item belongs to the session `after`.
    pub(super) fn page<'a, T>(
        &self,
        items: &'a [T],
        after: Option<&SessionId>,
        id: impl Fn(&T) -> &SessionId,
    ) -> Result<(&'a [T], Option<&'a SessionId>)>
    where
        T: 'a,
    {
        let begin = match after {
            None => 0,
            Some(after) => {
                let index = items.iter().position(|item| id(item) == after);
                let gone =
                    "--after names a session that is no longer among these; begin again without it";
                index.ok_or_else(|| Failure::invalid(gone))? + 1
            }
        };
        let rest = items.get(begin..).unwrap_or_default();
        let len = if self.limit == 0 { rest.len() } else { self.limit.min(rest.len()) };
        let (page, behind) = rest.split_at(len);
        let next = if behind.is_empty() { None } else { page.last().map(id) };
        Ok((page, next))
    }
}

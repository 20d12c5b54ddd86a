//! `diff --side-by-side`: shows the messages of two sessions in two columns.

use forklore::Engine;
use forklore::core::Header;
use forklore::engine::{Record, Replay};

use crate::failure::Result;
use crate::output::compared::{Block, Side, lines};
use crate::output::side_by_side::{self, Entry};
use crate::output::transcript::{Detail, Transcript, heading};
use crate::output::{Output, Page};

/// One of the two sessions: the records that only it has, and their formatting.
struct Column {
    records: Replay,
    transcript: Transcript,
}

impl Column {
    fn next(&mut self) -> Result<Option<(Record, Vec<Block>)>> {
        let Some(record) = self.records.next().transpose()? else { return Ok(None) };
        let blocks = self.transcript.blocks(&record.content);
        Ok(Some((record, blocks)))
    }
}

pub(super) fn show(
    engine: &Engine,
    output: &mut Output,
    [a, b]: [(&Header, Replay); 2],
    detail: Detail,
) -> Result<()> {
    let titles = [title(Side::A, &a, output), title(Side::B, &b, output)];
    output.page(|page| {
        page.end();
        side_by_side::row(page, titles.map(Some), 1);
    })?;
    let column = |(header, records): (&Header, Replay)| -> Result<Column> {
        let transcript = super::transcript(engine, header, records.left(), detail)?;
        Ok(Column { records, transcript })
    };
    let (mut a, mut b) = (column(a)?, column(b)?);
    loop {
        let (left, right) = (a.next()?, b.next()?);
        if left.is_none() && right.is_none() {
            return Ok(());
        }
        output.page(|page| pair(page, left.as_ref(), right.as_ref(), detail.most))?;
    }
}

fn title(side: Side, (header, only): &(&Header, Replay), output: &Output) -> Entry {
    let mut page = Vec::new();
    super::heading(side, header, &output.id(&header.id), only.left(), |tone, text| {
        page.push(crate::output::words::Word { tone, text });
    });
    Entry { heading: page, lines: Vec::new() }
}

type Shown<'a> = Option<&'a (Record, Vec<Block>)>;

fn pair(page: &mut Page, left: Shown<'_>, right: Shown<'_>, most: usize) {
    let color = page.look().color;
    let entry = |side: Side, own: Shown<'_>, peer: Shown<'_>| {
        let (record, blocks) = own?;
        let peer = super::peer_of(record, peer);
        Some(Entry { heading: heading(record, None), lines: lines(side, blocks, peer, color) })
    };
    let entries = [entry(Side::A, left, right), entry(Side::B, right, left)];
    side_by_side::row(page, entries, most);
}

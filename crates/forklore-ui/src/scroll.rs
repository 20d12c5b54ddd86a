//! A part of a long text that can be scrolled line by line, and that grows at both ends. Only a
//! window of the text is in memory.

use std::collections::VecDeque;

use crate::keys::Command;
use crate::text::Line;

/// The maximum number of blocks in memory. It is exceeded only to keep the blocks on the screen and
/// some beside them.
const MOST_BLOCKS: usize = 600;
/// The number of lines that should be in memory above and below the screen. If there are fewer,
/// more is loaded.
const MARGIN: usize = 100;

/// A part of the text that is laid out as a whole, such as a message.
#[derive(Clone, Debug)]
pub(crate) struct Block<T> {
    pub(crate) item: T,
    /// The lines of the block; at least one.
    pub(crate) lines: Vec<Line>,
    /// Whether the lines must be laid out, because the block or a block next to it is new.
    is_new: bool,
}

impl<T> Block<T> {
    fn new(item: T) -> Self {
        Self { item, lines: vec![Line::default()], is_new: true }
    }
}

/// A line of the window: the index of its block, and the index of the line in the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At {
    pub(crate) block: usize,
    pub(crate) line: usize,
}

/// An end of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Before,
    After,
}

/// The window of a long text, the line at the top of the screen, and the line of the cursor.
#[derive(Clone, Debug)]
pub(crate) struct Scroll<T> {
    blocks: VecDeque<Block<T>>,
    top: At,
    cursor: At,
    /// Whether the window begins with the first block of the text.
    pub(crate) at_start: bool,
    /// Whether the window ends with the last block of the text.
    pub(crate) at_end: bool,
}

impl<T> Default for Scroll<T> {
    fn default() -> Self {
        let (top, cursor) = (At::default(), At::default());
        Self { blocks: VecDeque::new(), top, cursor, at_start: false, at_end: false }
    }
}

impl<T> Scroll<T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub(crate) fn first(&self) -> Option<&T> {
        self.blocks.front().map(|block| &block.item)
    }

    pub(crate) fn last(&self) -> Option<&T> {
        self.blocks.back().map(|block| &block.item)
    }

    pub(crate) fn items(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.blocks.iter().map(|block| &block.item)
    }

    /// Returns the block of the cursor, or `None` if the window is empty.
    pub(crate) fn current(&self) -> Option<&T> {
        self.blocks.get(self.cursor.block).map(|block| &block.item)
    }

    pub(crate) fn cursor(&self) -> At {
        self.cursor
    }

    /// Checks whether the cursor is on the last line of the window.
    pub(crate) fn is_on_last_line(&self) -> bool {
        self.cursor == self.nearest(At { block: usize::MAX, line: usize::MAX })
    }

    /// Returns the lines on a screen of this height, each with its position.
    pub(crate) fn visible(&self, height: usize) -> impl Iterator<Item = (At, &Line)> {
        let blocks = self.blocks.iter().enumerate().skip(self.top.block);
        let lines = blocks.flat_map(|(block, found)| {
            found.lines.iter().enumerate().map(move |(line, text)| (At { block, line }, text))
        });
        lines.skip(self.top.line).take(height)
    }

    /// Moves the cursor within the window, as a command says. Returns false if the command is no
    /// such motion.
    pub(crate) fn motion(&mut self, command: Command, height: usize) -> bool {
        let page = isize::try_from(height.saturating_sub(1).max(1)).unwrap_or(1);
        match command {
            Command::Down => self.step(1, height),
            Command::Up => self.step(-1, height),
            Command::PageDown => self.page(page, height),
            Command::PageUp => self.page(-page, height),
            Command::HalfDown => self.page((page / 2).max(1), height),
            Command::HalfUp => self.page(-(page / 2).max(1), height),
            Command::First if self.at_start => self.go_to_first(),
            Command::Last if self.at_end => self.go_to_last(height),
            _ => return false,
        }
        true
    }

    /// Removes all blocks.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds blocks at one end of the window. If the window then has too many blocks, removes blocks
    /// at its other end, but none that are on the screen. Returns whether it removed any.
    pub(crate) fn add(&mut self, end: End, items: Vec<T>) -> bool {
        // The blocks at the ends get new neighbours, or lose those that they have.
        self.renew_ends();
        let new = items.into_iter().map(Block::new);
        let has_removed = match end {
            End::After => {
                self.blocks.extend(new);
                let over = self.blocks.len().saturating_sub(MOST_BLOCKS);
                let over = over.min(self.top.block.min(self.cursor.block));
                self.blocks.drain(..over);
                self.top.block -= over;
                self.cursor.block -= over;
                self.at_start = self.at_start && over == 0;
                over > 0
            }
            End::Before => {
                let added = new.len();
                new.rev().for_each(|block| self.blocks.push_front(block));
                self.top.block += added;
                self.cursor.block += added;
                let most = MOST_BLOCKS.max(self.cursor.block.max(self.top.block) + MARGIN);
                let is_over = self.blocks.len() > most;
                self.blocks.truncate(most);
                self.at_end = self.at_end && !is_over;
                is_over
            }
        };
        self.renew_ends();
        has_removed
    }

    fn renew_ends(&mut self) {
        self.blocks.front_mut().into_iter().for_each(|block| block.is_new = true);
        self.blocks.back_mut().into_iter().for_each(|block| block.is_new = true);
    }

    /// Makes the next [`lay_out`](Self::lay_out) lay out all blocks.
    pub(crate) fn renew(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.is_new = true);
    }

    /// Lays out the blocks that were added since the last call, and the blocks next to added or
    /// removed ones. `layout` also gets the block before each block, and whether the block is the
    /// last one.
    pub(crate) fn lay_out(
        &mut self,
        height: usize,
        layout: impl Fn(Option<&T>, &T, bool) -> Vec<Line>,
    ) {
        let count = self.blocks.len();
        let mut before: Option<&T> = None;
        for (at, block) in self.blocks.iter_mut().enumerate() {
            if std::mem::take(&mut block.is_new) {
                let lines = layout(before, &block.item, at + 1 == count);
                block.lines = if lines.is_empty() { vec![Line::default()] } else { lines };
            }
            before = Some(&block.item);
        }
        self.settle(height);
    }

    /// Corrects the positions after blocks have changed, so that the cursor is on the screen.
    pub(crate) fn settle(&mut self, height: usize) {
        self.cursor = self.nearest(self.cursor);
        self.top = self.nearest(self.top);
        self.show_cursor(height);
    }

    fn nearest(&self, at: At) -> At {
        let block = at.block.min(self.blocks.len().saturating_sub(1));
        At { block, line: at.line.min(self.height_of(block).saturating_sub(1)) }
    }

    fn height_of(&self, block: usize) -> usize {
        self.blocks.get(block).map_or(1, |block| block.lines.len())
    }

    /// Returns the position `lines` further down, or the last one.
    fn down(&self, mut at: At, mut lines: usize) -> At {
        loop {
            let left = self.height_of(at.block).saturating_sub(at.line + 1);
            if lines <= left {
                return At { line: at.line + lines, ..at };
            }
            if at.block + 1 >= self.blocks.len() {
                return At { line: at.line + left, ..at };
            }
            lines -= left + 1;
            at = At { block: at.block + 1, line: 0 };
        }
    }

    /// Returns the position `lines` further up, or the first one.
    fn up(&self, mut at: At, mut lines: usize) -> At {
        loop {
            if lines <= at.line {
                return At { line: at.line - lines, ..at };
            }
            let Some(block) = at.block.checked_sub(1) else { return At::default() };
            lines -= at.line + 1;
            at = At { block, line: self.height_of(block).saturating_sub(1) };
        }
    }

    fn moved(&self, at: At, lines: isize) -> At {
        let count = lines.unsigned_abs();
        if lines < 0 { self.up(at, count) } else { self.down(at, count) }
    }

    /// Returns the number of lines from one position down to another, but at most `most`.
    fn distance(&self, from: At, to: At, most: usize) -> usize {
        let mut lines = 0;
        let mut at = from;
        while at.block < to.block && lines < most {
            lines += self.height_of(at.block).saturating_sub(at.line);
            at = At { block: at.block + 1, line: 0 };
        }
        (lines + to.line.saturating_sub(at.line)).min(most)
    }

    /// Moves the cursor down by `lines`, or up if `lines` is negative. Scrolls if the cursor leaves
    /// the screen.
    pub(crate) fn step(&mut self, lines: isize, height: usize) {
        self.cursor = self.moved(self.cursor, lines);
        self.show_cursor(height);
    }

    /// Moves the screen and the cursor by lines.
    pub(crate) fn page(&mut self, lines: isize, height: usize) {
        let last = self.last_top(height);
        self.top = self.moved(self.top, lines).min(last.max(self.top));
        self.step(lines, height);
    }

    /// Moves the screen by lines. The cursor moves only if it would leave the screen.
    pub(crate) fn wheel(&mut self, lines: isize, height: usize) {
        let last = self.last_top(height);
        self.top = self.moved(self.top, lines).min(last.max(self.top));
        let bottom = self.down(self.top, height.saturating_sub(1));
        self.cursor = self.cursor.clamp(self.top, bottom);
    }

    /// Moves the cursor to a row of the screen.
    pub(crate) fn click(&mut self, row: usize, height: usize) {
        self.cursor = self.down(self.top, row);
        self.show_cursor(height);
    }

    /// Moves the cursor to the first line of the first block that `is_it` accepts. Scrolls so that
    /// `above` lines are shown above that line, if there is enough text. Returns false if no block
    /// is accepted.
    pub(crate) fn go_to(
        &mut self,
        above: usize,
        height: usize,
        is_it: impl Fn(&T) -> bool,
    ) -> bool {
        let Some(block) = self.blocks.iter().position(|block| is_it(&block.item)) else {
            return false;
        };
        self.cursor = At { block, line: 0 };
        self.top = self.up(self.cursor, above).min(self.last_top(height));
        self.show_cursor(height);
        true
    }

    /// Moves the cursor to the first line of the window.
    pub(crate) fn go_to_first(&mut self) {
        (self.top, self.cursor) = (At::default(), At::default());
    }

    /// Moves the cursor to the last line of the window.
    pub(crate) fn go_to_last(&mut self, height: usize) {
        self.cursor = self.nearest(At { block: usize::MAX, line: usize::MAX });
        self.show_cursor(height);
    }

    fn last_top(&self, height: usize) -> At {
        let last = self.nearest(At { block: usize::MAX, line: usize::MAX });
        self.up(last, height.saturating_sub(1))
    }

    fn show_cursor(&mut self, height: usize) {
        let below = height.saturating_sub(1);
        if self.cursor < self.top {
            self.top = self.cursor;
        } else if self.distance(self.top, self.cursor, height) > below {
            self.top = self.up(self.cursor, below);
        }
    }

    /// Returns the end of the window at which more must be loaded, because the screen is near that
    /// end. Returns `None` if nothing must be loaded.
    pub(crate) fn lacks(&self, height: usize) -> Option<End> {
        let most = height + MARGIN;
        let last = self.nearest(At { block: usize::MAX, line: usize::MAX });
        if !self.at_end && self.distance(self.top, last, most) < most {
            return Some(End::After);
        }
        let is_near = self.distance(At::default(), self.top, MARGIN) < MARGIN;
        (!self.at_start && is_near).then_some(End::Before)
    }
}

#[cfg(test)]
mod tests;

//! A list of elements that shares its beginning with the lists from which it was made.

use std::collections::HashMap;
use std::sync::Arc;

/// The number of elements that lists share as one piece of memory.
const CHUNK: usize = 256;

/// The elements of a list channel at one checkpoint, each as its number. The lists of successive
/// checkpoints share all chunks but the last, so a checkpoint costs little memory however long its
/// lists are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sequence {
    /// All chunks but the last are full.
    chunks: Vec<Arc<Vec<u32>>>,
    len: usize,
}

/// A part of a list, relative to another list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The elements of the other list from one position up to another one.
    Range(usize, usize),
    /// One element, by its number.
    One(u32),
}

impl Sequence {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, at: usize) -> Option<u32> {
        self.chunks.get(at / CHUNK)?.get(at % CHUNK).copied()
    }

    pub(crate) fn push(&mut self, number: u32) {
        match self.chunks.last_mut().filter(|last| last.len() < CHUNK) {
            Some(last) => Arc::make_mut(last).push(number),
            None => self.chunks.push(Arc::new(vec![number])),
        }
        self.len += 1;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.chunks.iter().flat_map(|chunk| chunk.iter().copied())
    }

    /// Returns the first `len` elements, or all if there are fewer.
    pub(crate) fn prefix(&self, len: usize) -> Self {
        let len = len.min(self.len);
        let mut chunks: Vec<_> = self.chunks.iter().take(len.div_ceil(CHUNK)).cloned().collect();
        let rest = len % CHUNK;
        if rest > 0
            && let Some(last) = chunks.last_mut()
        {
            Arc::make_mut(last).truncate(rest);
        }
        Self { chunks, len }
    }

    /// Returns how many elements both lists have in common at their beginning.
    pub(crate) fn common_prefix(&self, other: &Self) -> usize {
        let mut same = 0;
        for (a, b) in self.chunks.iter().zip(&other.chunks) {
            if Arc::ptr_eq(a, b) {
                same += a.len();
                continue;
            }
            let equal = a.iter().zip(b.iter()).take_while(|(a, b)| a == b).count();
            same += equal;
            if equal < CHUNK {
                break;
            }
        }
        same
    }

    /// Returns this list as pieces of `other` and single elements.
    pub(crate) fn pieces_of(&self, other: &Self) -> Vec<Piece> {
        let mut at = self.common_prefix(other);
        let mut pieces = Vec::new();
        if at > 0 {
            pieces.push(Piece::Range(0, at));
        }
        let positions: HashMap<u32, usize> = if at < other.len && at < self.len {
            other.iter().enumerate().skip(at).map(|(at, number)| (number, at)).collect()
        } else {
            HashMap::new()
        };
        while let Some(number) = self.get(at) {
            let Some(&from) = positions.get(&number) else {
                pieces.push(Piece::One(number));
                at += 1;
                continue;
            };
            let run = (0..).take_while(|n| {
                self.get(at + n).is_some() && self.get(at + n) == other.get(from + n)
            });
            let run = run.count();
            pieces.push(Piece::Range(from, from + run));
            at += run;
        }
        pieces
    }
}

impl Extend<u32> for Sequence {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, numbers: I) {
        numbers.into_iter().for_each(|number| self.push(number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: impl IntoIterator<Item = u32>) -> Sequence {
        let mut all = Sequence::default();
        all.extend(numbers);
        all
    }

    fn joined(pieces: &[Piece], other: &Sequence) -> Vec<u32> {
        let mut all = Vec::new();
        for piece in pieces {
            match *piece {
                Piece::Range(from, to) => all.extend((from..to).filter_map(|at| other.get(at))),
                Piece::One(number) => all.push(number),
            }
        }
        all
    }

    #[test]
    fn a_longer_list_shares_the_chunks_of_the_shorter_one() {
        let old = of(0..1000);
        let mut new = old.clone();
        new.push(1000);
        assert!(Arc::ptr_eq(&old.chunks[2], &new.chunks[2]));
        assert_eq!((old.len(), new.len()), (1000, 1001));
        assert_eq!(new.common_prefix(&old), 1000);
        assert_eq!(new.pieces_of(&old), [Piece::Range(0, 1000), Piece::One(1000)]);
    }

    #[test]
    fn a_prefix_ends_in_the_middle_of_a_chunk() {
        for len in [0, 1, 255, 256, 257, 1000, 2000] {
            let prefix = of(0..1000).prefix(len);
            assert_eq!(prefix.iter().collect::<Vec<_>>(), (0..1000).take(len).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_list_is_made_of_pieces() {
        let old = of(0..600);
        for new in
            [of(1..600), of((0..300).chain(700..900)), of(0..0), of((0..600).rev()), of(5..9)]
        {
            let pieces = new.pieces_of(&old);
            assert_eq!(joined(&pieces, &old), new.iter().collect::<Vec<_>>());
        }
        assert_eq!(of(1..600).pieces_of(&old), [Piece::Range(1, 600)]);
    }
}

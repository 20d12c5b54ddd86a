//! Lays out the branches of a family as lanes, like the graph of a git client.
//!
//! Each session is a row. The column of a session is its depth, up to a limit. A lane runs down from
//! a session to its last child, and a curve leads from it to each child.

/// The largest column. Deeper sessions share it.
pub(crate) const DEEPEST: usize = 12;

/// A line between a session and its child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lane {
    /// The row of the parent; before the first row of the window if that is negative.
    pub(crate) from: i64,
    pub(crate) from_column: usize,
    pub(crate) to: i64,
    pub(crate) to_column: usize,
}

/// The lanes that cross a window of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The column of each row of the window.
    pub(crate) columns: Vec<usize>,
    pub(crate) lanes: Vec<Lane>,
    /// The number of columns.
    pub(crate) width: usize,
}

/// Lays out the rows `from..from + count` of a tree in pre-order. `depths` are the depths of all
/// rows. The result has a bounded number of lanes, whatever the size of the tree: of the children
/// below the window, each parent has a lane to the last one only.
pub(crate) fn layout(depths: &[usize], from: usize, count: usize) -> Layout {
    let column = |depth: usize| depth.min(DEEPEST);
    let end = (from + count).min(depths.len());
    let relative = |row: usize| {
        i64::try_from(row).unwrap_or(i64::MAX) - i64::try_from(from).unwrap_or(i64::MAX)
    };
    let mut layout = Layout::default();
    // The rows of the ancestors of the current row, by depth.
    let mut ancestors: Vec<usize> = Vec::new();
    let mut below = std::collections::BTreeMap::new();
    for (row, depth) in depths.iter().copied().enumerate() {
        ancestors.truncate(depth);
        let parent = ancestors.last().copied();
        ancestors.resize(depth, row);
        ancestors.push(row);
        let Some(parent) = parent.filter(|parent| row >= from && *parent < end) else { continue };
        let from_column = column(depths.get(parent).copied().unwrap_or(0));
        let (from, to, to_column) = (relative(parent), relative(row), column(depth));
        let lane = Lane { from, from_column, to, to_column };
        if row < end {
            layout.lanes.push(lane);
        } else {
            below.insert(parent, lane);
        }
    }
    layout.lanes.extend(below.into_values());
    layout.columns = depths.iter().take(end).skip(from).map(|depth| column(*depth)).collect();
    let columns = layout.lanes.iter().map(|lane| lane.from_column.max(lane.to_column));
    layout.width = columns.chain(layout.columns.iter().copied()).max().map_or(0, |most| most + 1);
    layout
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(from: i64, from_column: usize, to: i64, to_column: usize) -> Lane {
        Lane { from, from_column, to, to_column }
    }

    #[test]
    fn lanes_lead_from_parents_to_children() {
        let whole = layout(&[0, 1, 2, 1, 0], 0, 5);
        assert_eq!(whole.columns, [0, 1, 2, 1, 0]);
        assert_eq!(whole.lanes, [lane(0, 0, 1, 1), lane(1, 1, 2, 2), lane(0, 0, 3, 1)]);
        assert_eq!(whole.width, 3);
    }

    #[test]
    fn a_window_shows_the_lanes_that_cross_it() {
        // Rows 2 and 3 of the same tree: their parents are above.
        let part = layout(&[0, 1, 2, 1, 0], 2, 2);
        assert_eq!(part.columns, [2, 1]);
        assert_eq!(part.lanes, [lane(-1, 1, 0, 2), lane(-2, 0, 1, 1)]);
        // The children below the window have one lane for each parent.
        let top = layout(&[0, 1, 1, 1, 1], 0, 2);
        assert_eq!(top.lanes, [lane(0, 0, 1, 1), lane(0, 0, 4, 1)]);
    }

    #[test]
    fn deep_and_large_trees_stay_narrow_and_small() {
        let deep: Vec<_> = (0..1_000).collect();
        assert_eq!(layout(&deep, 500, 100).width, DEEPEST + 1);
        let wide: Vec<_> = [0].into_iter().chain([1; 10_000]).collect();
        let part = layout(&wide, 5_000, 100);
        // One for each row, and one to the last row below.
        assert_eq!(part.lanes.len(), 101);
        assert_eq!(layout(&[], 0, 10), Layout::default());
    }
}

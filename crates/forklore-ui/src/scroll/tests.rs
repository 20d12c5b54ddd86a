use super::*;
use crate::tone::Tone;

/// Creates a window of blocks with these numbers of lines.
fn scroll(heights: &[usize]) -> Scroll<(usize, usize)> {
    let mut scroll = Scroll { at_start: true, at_end: true, ..Scroll::default() };
    scroll.add(End::After, heights.iter().copied().enumerate().collect());
    lay_out(&mut scroll, 3);
    scroll
}

fn lay_out(scroll: &mut Scroll<(usize, usize)>, height: usize) {
    scroll.lay_out(height, |_, (block, lines), _| {
        (0..*lines).map(|line| Line::of(Tone::Plain, format!("{block}.{line}"))).collect()
    });
}

fn shown(scroll: &Scroll<(usize, usize)>, height: usize) -> Vec<String> {
    let marked = |(at, line): (At, &Line)| {
        let mark = if at == scroll.cursor() { ">" } else { "" };
        format!("{mark}{}", line.text())
    };
    scroll.visible(height).map(marked).collect()
}

#[test]
fn the_cursor_moves_line_by_line_and_stays_on_the_screen() {
    let mut scroll = scroll(&[2, 1, 3]);
    assert_eq!(shown(&scroll, 3), [">0.0", "0.1", "1.0"]);
    scroll.step(3, 3);
    assert_eq!(shown(&scroll, 3), ["0.1", "1.0", ">2.0"]);
    scroll.step(-1, 3);
    assert_eq!(shown(&scroll, 3), ["0.1", ">1.0", "2.0"]);
    scroll.step(99, 3);
    assert_eq!(shown(&scroll, 3), ["2.0", "2.1", ">2.2"]);
    scroll.step(-99, 3);
    assert_eq!(shown(&scroll, 3), [">0.0", "0.1", "1.0"]);
}

#[test]
fn pages_the_wheel_and_clicks_move_the_screen() {
    let mut scroll = scroll(&[2, 1, 3, 4]);
    scroll.page(3, 3);
    assert_eq!(shown(&scroll, 3), [">2.0", "2.1", "2.2"]);
    scroll.wheel(1, 3);
    assert_eq!(shown(&scroll, 3), [">2.1", "2.2", "3.0"]);
    scroll.click(2, 3);
    assert_eq!(shown(&scroll, 3), ["2.1", "2.2", ">3.0"]);
    scroll.wheel(-2, 3);
    assert_eq!(shown(&scroll, 3), ["1.0", "2.0", ">2.1"]);
    scroll.wheel(99, 3);
    assert_eq!(shown(&scroll, 3), [">3.1", "3.2", "3.3"]);
    assert!(scroll.go_to(1, 3, |(block, _)| *block == 2));
    assert_eq!(shown(&scroll, 3), ["1.0", ">2.0", "2.1"]);
    assert!(!scroll.go_to(1, 3, |(block, _)| *block == 9));
}

#[test]
fn what_is_added_before_does_not_move_the_screen() {
    let mut scroll = scroll(&[2, 2]);
    scroll.step(2, 3);
    scroll.add(End::Before, vec![(7, 5), (8, 1)]);
    lay_out(&mut scroll, 3);
    assert_eq!(shown(&scroll, 3), ["0.0", "0.1", ">1.0"]);
    scroll.step(-3, 3);
    assert_eq!(shown(&scroll, 3), [">8.0", "0.0", "0.1"]);
}

#[test]
fn the_window_is_bounded_at_both_ends() {
    let mut scroll = scroll(&[]);
    assert_eq!(scroll.lacks(3), None);
    for number in 0..30 {
        scroll.add(End::After, vec![(number, 1); 100]);
        lay_out(&mut scroll, 3);
        scroll.go_to_last(3);
    }
    assert_eq!(scroll.items().count(), MOST_BLOCKS);
    assert_eq!((scroll.at_start, scroll.at_end, scroll.last()), (false, true, Some(&(29, 1))));
    for number in 30..60 {
        scroll.add(End::Before, vec![(number, 1); 100]);
        lay_out(&mut scroll, 3);
        scroll.go_to_first();
    }
    assert!(scroll.items().count() <= MOST_BLOCKS + 200, "{}", scroll.items().count());
    assert_eq!((scroll.at_end, scroll.first()), (false, Some(&(59, 1))));
    assert_eq!(scroll.lacks(3), Some(End::Before));
    scroll.at_start = true;
    assert_eq!(scroll.lacks(3), None);
}

/// Lays out the blocks of a window as lines that show what a layout depends on. Returns how many
/// blocks were laid out.
fn lay_out_dependent(scroll: &mut Scroll<usize>) -> usize {
    let laid_out = std::cell::Cell::new(0);
    scroll.lay_out(3, |before, block, is_last| {
        laid_out.set(laid_out.get() + 1);
        let text = format!("{block} after {before:?}, last: {is_last}");
        vec![Line::of(Tone::Plain, text); 1 + block % 3]
    });
    laid_out.get()
}

#[test]
fn after_more_was_added_the_lines_are_those_of_a_layout_of_all_blocks() {
    let mut scroll = Scroll::default();
    let (mut first, mut last) = (10_000, 10_000);
    for round in 0..200 {
        let count = 1 + round * 7 % 40;
        if round % 50 < 25 {
            scroll.add(End::After, (last..last + count).collect());
            scroll.go_to_last(3);
        } else {
            scroll.add(End::Before, (first - count..first).collect());
            scroll.go_to_first();
        }
        let laid_out = lay_out_dependent(&mut scroll);
        first = scroll.first().copied().unwrap();
        last = scroll.last().copied().unwrap() + 1;
        assert!(laid_out <= count + 3, "round {round}: {laid_out} blocks for {count} new ones");
        let mut again = scroll.clone();
        again.renew();
        assert_eq!(lay_out_dependent(&mut again), again.items().count());
        let lines = |scroll: &Scroll<usize>| -> Vec<_> {
            scroll.blocks.iter().flat_map(|block| block.lines.iter().map(Line::text)).collect()
        };
        assert_eq!(lines(&scroll), lines(&again), "round {round}");
    }
}

//! Case: the store gives back the bytes of the unfinished last line of a source (an imported file),
//! and erases them when the source's session is deleted.

use jiff::Timestamp;

use super::sources::{append, create, import, new, reopen_durable, step};
use crate::scene::{Scene, id};
use forklore_store::port::Children;
use forklore_store::sources::{SourceId, SourceSpan, Target, WaitingLine};

fn waiting(after: u64, bytes: &[u8]) -> SourceSpan {
    SourceSpan::Waiting { after, bytes: bytes.to_vec(), sha256: [after.to_le_bytes()[0]; 32] }
}

/// Returns the bytes of the unfinished last line of a source, according to its stored spans.
fn line(scene: &Scene<'_>, source: SourceId) -> Vec<u8> {
    let spans = (0..).map_while(|step| scene.store().source_spans(source, step).unwrap());
    let mut line = WaitingLine::default();
    spans.flatten().for_each(|span| line.follow(&span));
    line.bytes().to_vec()
}

pub(super) fn an_unfinished_last_line_comes_back_until_it_is_erased(scene: &mut Scene<'_>) {
    let mut first = step(new(), "/f", 10, vec![create("s"), append("s", -1, &["a"])]);
    first.ranges.push(waiting(0, b"{\"b\xff"));
    let source = import(scene.store(), first).unwrap();
    assert_eq!(line(scene, source), b"{\"b\xff");
    let grown = |offset: u64, span: SourceSpan| {
        let mut step = step(Target::State { id: source, offset: 10 }, "/f", offset, Vec::new());
        step.ranges = vec![span];
        step
    };
    // A line that is still unfinished leaves the offset of the source where it was.
    import(scene.store(), grown(10, waiting(3, b"cd"))).unwrap();
    reopen_durable(scene);
    assert_eq!(line(scene, source), b"{\"bcd");
    let erased = [SourceSpan::Gone(4), SourceSpan::Gone(4), SourceSpan::Gone(2)];
    let mut other = step(new(), "/g", 10, vec![create("t")]);
    other.ranges = vec![waiting(0, b"stays")];
    let other = import(scene.store(), other).unwrap();
    scene.store().remove(&[id("s")], Children::Refuse, Timestamp::UNIX_EPOCH).unwrap();
    scene.collect();
    reopen_durable(scene);
    let spans = (0..).map_while(|step| scene.store().source_spans(source, step).unwrap());
    assert_eq!(spans.flatten().collect::<Vec<_>>(), erased);
    assert_eq!(line(scene, other), b"stays");
    import(scene.store(), {
        let mut step = step(Target::State { id: other, offset: 10 }, "/g", 20, Vec::new());
        step.ranges = vec![SourceSpan::Other(b"stays that way".to_vec())];
        step
    })
    .unwrap();
    assert_eq!(line(scene, other), b"");
    scene.assert_sound();
}

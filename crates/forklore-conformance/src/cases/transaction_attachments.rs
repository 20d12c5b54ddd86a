//! Cases: a transaction is refused unless all attachments that it names exist.

use crate::events::turns;
use crate::scene::{Scene, id};
use forklore_store::error::Error;
use forklore_store::port::{Transaction, Write};

pub(super) fn a_write_that_names_a_missing_attachment_is_refused(scene: &Scene<'_>) {
    let pin = scene.attachments().put(&mut &b"bytes"[..], u64::MAX).unwrap();
    let missing: forklore_core::AttachmentId =
        "sha256:0000000000000000000000000000000000000000000000000000000000000000".parse().unwrap();
    let naming = |session: &str, attachments| Transaction {
        attachments,
        ..Write::Create(Box::new(scene.draft(session, turns(1)))).into()
    };
    let error = scene.store().commit(naming("a", vec![pin.id, missing])).unwrap_err();
    assert!(matches!(error, Error::Invalid(_)), "{error:?}");
    assert!(matches!(scene.store().header(&id("a")), Err(Error::NotFound(_))));
    scene.store().commit(naming("a", vec![pin.id])).unwrap();
    assert_eq!(scene.texts("a"), ["q1", "a1"]);
}

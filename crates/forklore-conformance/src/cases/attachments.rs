//! Cases: each attachment is stored once and completely, and is not removed while an event may
//! reference it.

use std::io::{self, Read};

use forklore_core::AttachmentId;
use sha2::{Digest, Sha256};

use crate::race::race;
use crate::scene::Scene;
use forklore_store::attachments::{Attachment, Pin, Swept};
use forklore_store::error::Error;

const NO_LIMIT: u64 = u64::MAX;

/// Returns `len` bytes of pseudorandom binary data. Each `seed` gives other bytes.
pub(super) fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_be_bytes()[0]
    };
    (0..len).map(|_| next()).collect()
}

pub(super) fn named(bytes: &[u8]) -> AttachmentId {
    AttachmentId::of(Sha256::digest(bytes).into())
}

pub(super) fn put(scene: &Scene<'_>, mut bytes: &[u8]) -> Pin {
    scene.attachments().put(&mut bytes, NO_LIMIT).unwrap()
}

pub(super) fn read(scene: &Scene<'_>, id: &AttachmentId) -> Option<Vec<u8>> {
    let mut read = Vec::new();
    scene.attachments().open(id).unwrap()?.read_to_end(&mut read).unwrap();
    Some(read)
}

/// Returns the ids and sizes in bytes of all attachments in the store.
pub(super) fn listed(scene: &Scene<'_>) -> Vec<(AttachmentId, u64)> {
    let list = scene.attachments().list().unwrap();
    list.iter().map(|attachment| (attachment.id, attachment.bytes)).collect()
}

fn list(scene: &Scene<'_>) -> Vec<Attachment> {
    scene.attachments().list().unwrap()
}

fn sweep(scene: &Scene<'_>, unneeded: &[Attachment]) -> Swept {
    scene.attachments().sweep(unneeded).unwrap()
}

pub(super) fn bytes_come_back(scene: &Scene<'_>) {
    let given = bytes(1, 1_000);
    let pin = put(scene, &given);
    assert_eq!((pin.id, pin.bytes, pin.new), (named(&given), 1_000, true));
    assert_eq!(read(scene, &pin.id).unwrap(), given);
    let found = scene.attachments().find(&pin.id).unwrap().unwrap();
    assert_eq!((found.id, found.bytes), (pin.id, 1_000));
}

pub(super) fn no_bytes_are_an_attachment_too(scene: &Scene<'_>) {
    let pin = put(scene, b"");
    assert_eq!((pin.id, pin.bytes), (named(b""), 0));
    assert_eq!(read(scene, &pin.id).unwrap(), b"");
    assert_eq!(listed(scene), [(pin.id, 0)]);
}

pub(super) fn the_same_bytes_are_stored_once(scene: &Scene<'_>) {
    let first = put(scene, b"the same");
    let second = put(scene, b"the same");
    assert_eq!((first.id, first.new), (second.id, true));
    assert_eq!((second.bytes, second.new), (8, false));
    assert_eq!(listed(scene), [(first.id, 8)]);
    assert_eq!(read(scene, &first.id).unwrap(), b"the same");
}

/// A reader that returns the bytes of `rest` in order, in pieces of varying lengths: one piece per
/// call.
struct InPieces<'a> {
    rest: &'a [u8],
    most: usize,
}

impl Read for InPieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.most = self.most % 70_001 + 997;
        let most = self.most.min(into.len());
        self.rest.read(&mut into[..most])
    }
}

pub(super) fn a_long_one_comes_back_whole(scene: &Scene<'_>) {
    let given = bytes(2, (5 << 20) + 13);
    let mut pieces = InPieces { rest: &given, most: 0 };
    let pin = scene.attachments().put(&mut pieces, NO_LIMIT).unwrap();
    assert_eq!((pin.id, pin.bytes), (named(&given), given.len() as u64));
    assert!(read(scene, &pin.id).unwrap() == given, "other bytes came back");
}

pub(super) fn one_byte_too_many_is_refused_and_leaves_nothing(scene: &Scene<'_>) {
    let given = bytes(3, 1_001);
    let refused = scene.attachments().put(&mut &given[..], 1_000).unwrap_err();
    assert!(matches!(&refused, Error::Invalid(why) if why.contains("1000")), "{refused}");
    assert_eq!((listed(scene), read(scene, &named(&given))), (vec![], None));
    let pin = scene.attachments().put(&mut &given[..1_000], 1_000).unwrap();
    assert_eq!(listed(scene), [(pin.id, 1_000)]);
}

/// A reader that first returns the given number of bytes and then fails.
struct Failing(usize);

impl Read for Failing {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let given = self.0.min(into.len());
        self.0 -= given;
        into[..given].fill(7);
        if given == 0 { Err(io::Error::other("the tape broke")) } else { Ok(given) }
    }
}

pub(super) fn a_reader_that_fails_leaves_nothing(scene: &Scene<'_>) {
    let failed = scene.attachments().put(&mut Failing(300_000), NO_LIMIT).unwrap_err();
    assert!(failed.to_string().contains("the tape broke"), "{failed}");
    assert_eq!(listed(scene), []);
    assert_eq!(sweep(scene, &[]), Swept::default());
}

pub(super) fn what_was_never_put_is_not_there(scene: &Scene<'_>) {
    let _pin = put(scene, b"something else");
    let id = named(b"nothing");
    assert_eq!(read(scene, &id), None);
    assert_eq!(scene.attachments().find(&id).unwrap(), None);
    assert!(scene.attachments().pin(&id).unwrap().is_none());
}

pub(super) fn a_list_tells_all_of_them_in_order(scene: &Scene<'_>) {
    assert_eq!(listed(scene), []);
    let mut given: Vec<_> = (0..40)
        .map(|len| put(scene, &bytes(4, len)))
        .map(|leased| (leased.id, leased.bytes))
        .collect();
    given.sort_unstable();
    assert_eq!(listed(scene), given);
    let pin = put(scene, b"held");
    let report = |id| list(scene).into_iter().find(|one| one.id == id).unwrap().pinned;
    assert!(report(pin.id));
    let id = pin.id;
    drop(pin);
    assert!(!report(id));
}

pub(super) fn a_sweep_removes_what_was_listed_and_nothing_else(scene: &Scene<'_>) {
    let (gone, stays) = (put(scene, b"gone").id, put(scene, b"stays").id);
    let (unneeded, needed): (Vec<_>, Vec<_>) =
        list(scene).into_iter().partition(|attachment| attachment.id == gone);
    assert_eq!(sweep(scene, &unneeded), Swept { attachments: 1, bytes: 4 });
    assert_eq!((read(scene, &gone), read(scene, &stays)), (None, Some(b"stays".to_vec())));
    assert_eq!(list(scene), needed);
    assert_eq!(sweep(scene, &unneeded), Swept::default());
    assert!(put(scene, b"gone").new);
    assert_eq!(read(scene, &gone).unwrap(), b"gone");
}

pub(super) fn a_sweep_spares_what_is_pinned(scene: &Scene<'_>) {
    let first = put(scene, b"held");
    let second = scene.attachments().pin(&first.id).unwrap().unwrap();
    assert_eq!((second.id, second.bytes, second.new), (first.id, 4, false));
    let id = first.id;
    for pin in [first, second] {
        assert_eq!(sweep(scene, &list(scene)), Swept::default());
        drop(pin);
    }
    assert_eq!(sweep(scene, &list(scene)), Swept { attachments: 1, bytes: 4 });
    assert_eq!(read(scene, &id), None);
}

pub(super) fn a_sweep_spares_what_was_put_again_since(scene: &Scene<'_>) {
    let id = put(scene, b"again").id;
    let before = list(scene);
    assert!(!put(scene, b"again").new);
    assert_eq!(sweep(scene, &before), Swept::default());
    assert_eq!(read(scene, &id).unwrap(), b"again");
    // An attachment that was removed and stored again counts as a new one, so a sweep of the old
    // list does not remove it.
    let before = list(scene);
    sweep(scene, &before);
    assert!(put(scene, b"again").new);
    assert_eq!(sweep(scene, &before), Swept::default());
    assert_eq!(read(scene, &id).unwrap(), b"again");
}

pub(super) fn a_sweep_spares_what_was_pinned_since(scene: &Scene<'_>) {
    let id = put(scene, b"once more").id;
    for _ in 0..20 {
        let before = list(scene);
        drop(scene.attachments().pin(&id).unwrap().unwrap());
        assert_eq!(sweep(scene, &before), Swept::default());
    }
    assert_eq!(read(scene, &id).unwrap(), b"once more");
}

pub(super) fn threads_that_put_the_same_bytes_store_them_once(scene: &Scene<'_>) {
    for seed in 0..20 {
        let given = bytes(seed, 300_000);
        let attachments = scene.attachments();
        let each = || attachments.put(&mut &given[..], NO_LIMIT).unwrap();
        let (first, second) = race(each, each);
        assert_eq!((first.id, second.id), (named(&given), named(&given)));
        assert!(first.new != second.new, "both put {first:?}");
        assert_eq!(sweep(scene, &list(scene)), Swept::default());
        assert!(read(scene, &first.id).unwrap() == given, "other bytes came back");
        drop((first, second));
        assert_eq!(sweep(scene, &list(scene)).attachments, 1);
    }
}

pub(super) fn a_put_that_races_with_a_sweep_keeps_its_bytes(scene: &Scene<'_>) {
    let attachments = scene.attachments();
    for _ in 0..60 {
        drop(put(scene, b"raced for"));
        let sweeps = || attachments.sweep(&attachments.list().unwrap()).unwrap();
        let puts = || attachments.put(&mut &b"raced for"[..], NO_LIMIT).unwrap();
        let (_, leased) = race(sweeps, puts);
        assert_eq!(read(scene, &leased.id).unwrap(), b"raced for");
        assert_eq!(sweep(scene, &list(scene)), Swept::default());
    }
}

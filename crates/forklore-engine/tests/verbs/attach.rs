//! Tests of attachments: bytes outside the log that messages name.

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use forklore_core::{AttachmentId, Content, Data, ErrorKind, EventType, Part, Selector, SessionId};
use forklore_engine::{Attach, Attached, Delete, DeleteMode, Fork, NamedAttachment, NewEvent};
use forklore_store::port::Problem;

use crate::world::{World, cut, id, on_every_store};

on_every_store!(
    an_attachment_is_readable_from_the_child,
    a_message_names_what_is_attached,
    the_same_bytes_are_stored_once,
    a_missing_one_reads_missing_and_fails_nothing,
    what_is_no_attachment_is_refused,
    nothing_is_appended_when_the_bytes_cannot_be_read,
    a_gc_takes_what_no_event_names,
    a_gc_keeps_what_only_a_prefix_names,
    a_gc_keeps_what_is_about_to_be_named,
    a_gc_keeps_what_any_text_mentions,
    a_gc_during_attaches_removes_nothing_that_is_named,
    a_gc_during_forks_and_deletes_removes_nothing_that_is_named,
    what_is_saved_into_a_new_store_is_sound,
);

fn attach(world: &World, session: &str, bytes: &[u8], name: &str) -> Attached {
    let request = Attach {
        name: Some(name.into()),
        media_type: "image/png".into(),
        text: Some("look".into()),
        ..Attach::default()
    };
    world.engine.attach(&id(session), &mut &*bytes, &request).unwrap()
}

fn read(world: &World, attachment: &AttachmentId) -> Result<Vec<u8>, ErrorKind> {
    let mut bytes = Vec::new();
    match world.engine.read_attachment(attachment, &mut bytes) {
        Ok(read) => Ok(bytes).inspect(|bytes| assert_eq!(bytes.len() as u64, read)),
        Err(error) => Err(error.kind()),
    }
}

fn delete(world: &World, session: &str) {
    let mode = DeleteMode::DetachChildren;
    world
        .engine
        .delete(&Delete { session: id(session), mode, dry_run: false, erase: true })
        .unwrap();
}

/// Returns the parts of the last message, after checking that `replay` and `inspect` agree.
fn last_parts(world: &World, session: &SessionId) -> Vec<Part> {
    let record = world.engine.replay(session, None).unwrap().last().unwrap().unwrap();
    let sent = world.engine.inspect(session).unwrap().messages.pop().unwrap();
    assert_eq!(record.content, sent.content);
    let Content::Parts(parts) = record.content else { panic!("{:?}", record.content) };
    parts
}

fn part(attached: &Attached, name: &str, missing: bool) -> Part {
    Part::Attachment {
        r#ref: attached.id.to_string(),
        media_type: "image/png".into(),
        name: Some(name.into()),
        missing,
    }
}

fn a_message_names_what_is_attached(world: &World) {
    let session = world.session("a", "");
    let attached = attach(world, "a", b"some bytes", "shot.png");
    assert_eq!((attached.bytes, attached.new, attached.seq), (10, true, 0));
    let text = Part::Text { text: "look".into() };
    assert_eq!(last_parts(world, &session), [text, part(&attached, "shot.png", false)]);
    let stored = &world.engine.load(&session).unwrap().events[0];
    assert_eq!(stored.event.kind, EventType::USER_MESSAGE);
    assert_eq!(
        stored.event.data.get(),
        format!(
            r#"{{"content":[{{"text":"look","type":"text"}},{{"media_type":"image/png","name":"shot.png","ref":"{}","type":"attachment"}}]}}"#,
            attached.id
        )
    );
    let empty = attach(world, "a", b"", "empty");
    assert_eq!((empty.bytes, read(world, &empty.id)), (0, Ok(vec![])));
    assert_eq!(world.engine.verify(None).unwrap().problems, []);
}

fn an_attachment_is_readable_from_the_child(world: &World) {
    let parent = world.session("a", "");
    let attached = attach(world, "a", b"some bytes", "shot.png");
    world.fork("a", "end", "b");
    let named = world.engine.attachments(&id("b")).unwrap();
    let expected = NamedAttachment {
        seq: 1,
        id: attached.id,
        name: Some("shot.png".into()),
        media_type: "image/png".into(),
        bytes: Some(10),
        missing: false,
    };
    assert_eq!(named, [expected]);
    assert_eq!(read(world, &named[0].id).unwrap(), b"some bytes");
    assert_eq!(last_parts(world, &id("b")), last_parts(world, &parent));
}

fn the_same_bytes_are_stored_once(world: &World) {
    world.session("a", "");
    world.session("b", "");
    let (first, second) = (attach(world, "a", b"same", "x"), attach(world, "b", b"same", "y"));
    assert_eq!((first.id, first.new, second.new), (second.id, true, false));
    delete(world, "a");
    assert_eq!(world.engine.gc().unwrap().attachments, 0);
    assert_eq!(read(world, &second.id).unwrap(), b"same");
    delete(world, "b");
    let freed = world.engine.gc().unwrap();
    assert_eq!((freed.attachments, freed.freed_bytes >= 4), (1, true));
    assert_eq!(read(world, &second.id), Err(ErrorKind::NotFound));
}

fn problem(seq: u64, attachment: AttachmentId, kind: ErrorKind, message: String) -> Problem {
    let (session_id, attachment) = (Some(id("a")), Some(attachment));
    Problem { session_id, seq: Some(seq), attachment, kind, message }
}

fn a_missing_one_reads_missing_and_fails_nothing(world: &World) {
    let session = world.session("a", "");
    // The memory store cannot lose bytes. The test therefore names an attachment that was never
    // stored.
    let reference = format!("sha256:{}", "ab".repeat(32));
    let name = "x".to_owned();
    let content = format!(
        r#"{{"content":[{{"type":"attachment","ref":"{reference}","media_type":"a/b","name":"x"}}]}}"#
    );
    let event = NewEvent::new(EventType::USER_MESSAGE, Data::parse(&content).unwrap());
    world.engine.append(&session, &event.into()).unwrap();
    let gone = Part::Attachment {
        r#ref: reference.clone(),
        media_type: "a/b".into(),
        name: Some(name),
        missing: true,
    };
    assert_eq!(last_parts(world, &session), [gone]);
    assert_eq!(read(world, &reference.parse().unwrap()), Err(ErrorKind::NotFound));
    let named = world.engine.attachments(&session).unwrap();
    assert_eq!((named[0].missing, named[0].bytes), (true, None));
    let message = format!("the attachment {reference} is missing (x)");
    let missing = problem(0, reference.parse().unwrap(), ErrorKind::NotFound, message);
    assert_eq!(world.engine.verify(None).unwrap().problems, std::slice::from_ref(&missing));

    let attached = attach(world, "a", b"some bytes", "shot.png");
    let mut wrong = vec![missing];
    if let Some(file) = world.file_of(&attached.id) {
        std::fs::write(&file, b"other byte").unwrap();
        assert_eq!(last_parts(world, &session)[1], part(&attached, "shot.png", true));
        assert_eq!(read(world, &attached.id), Err(ErrorKind::Corrupt));
        let message = format!(
            "the attachment {} is damaged: its bytes do not have the digest that it is named by (shot.png)",
            attached.id
        );
        wrong.push(problem(1, attached.id, ErrorKind::Corrupt, message));
    }
    // `verify` of the store reports the damage once, for the session that wrote the message.
    // `verify` of the child alone reports the damage for the child.
    world.fork("a", "end", "b");
    assert_eq!(world.engine.load(&id("b")).unwrap().events.len(), 3);
    assert_eq!(world.engine.verify(None).unwrap().problems, wrong);
    let of_child = world.engine.verify(Some(&id("b"))).unwrap().problems;
    let expected = wrong.iter().map(|problem| Problem {
        session_id: Some(id("b")),
        seq: problem.seq.map(|seq| seq + 1),
        ..problem.clone()
    });
    assert_eq!(of_child, expected.collect::<Vec<_>>());
    // A second attach of the same bytes repairs the damaged attachment.
    attach(world, "a", b"some bytes", "shot.png");
    assert_eq!(read(world, &attached.id).unwrap(), b"some bytes");
    assert_eq!(world.engine.verify(None).unwrap().problems, wrong[..1]);
}

fn what_is_no_attachment_is_refused(world: &World) {
    let session = world.session("a", "");
    let refused = |request: &Attach, bytes: &[u8]| {
        let error = world.engine.attach(&session, &mut &*bytes, request).unwrap_err();
        (error.kind(), error.to_string())
    };
    let invalid = |message: &str| (ErrorKind::InvalidArgs, message.to_owned());
    let long = Attach { limit: 3, ..Attach::default() };
    assert_eq!(
        refused(&long, b"1234"),
        invalid("it is too long: an attachment has at most 3 bytes")
    );
    for media_type in ["", "png", "/png", "image/", "image/\u{1b}[31m", "image/\u{202e}"] {
        let request = Attach { media_type: media_type.into(), ..Attach::default() };
        assert_eq!(refused(&request, b""), invalid("a media type is written like image/png"));
    }
    let named = |name: String| Attach { name: Some(name), ..Attach::default() };
    assert_eq!(
        refused(&named(String::new()), b""),
        invalid("the name of an attachment is not empty")
    );
    assert_eq!(
        refused(&named("n".repeat(256)), b""),
        invalid("the name has 256 bytes; 255 are allowed")
    );
    assert_eq!(world.engine.show(&session).unwrap().head_seq(), -1);
    let nobody = world.engine.attach(&id("nobody"), &mut io::empty(), &Attach::default());
    assert_eq!(nobody.unwrap_err().kind(), ErrorKind::NotFound);
}

fn nothing_is_appended_when_the_bytes_cannot_be_read(world: &World) {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the tape broke"))
        }
    }
    let session = world.session("a", "");
    let error = world.engine.attach(&session, &mut Broken, &Attach::default()).unwrap_err();
    assert_eq!(error.to_string(), "reading what to attach: the tape broke");
    assert_eq!(world.engine.show(&session).unwrap().head_seq(), -1);
}

fn a_gc_takes_what_no_event_names(world: &World) {
    let session = world.session("a", "");
    // After a refused append, the bytes are still in the store.
    let late = Attach { expect: Some(7), ..Attach::default() };
    let refused = world.engine.attach(&session, &mut &b"never named"[..], &late).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    let attachment = attach(world, "a", b"named", "n");
    let freed = world.engine.gc().unwrap();
    assert_eq!((freed.attachments, freed.freed_bytes >= 11), (1, true));
    assert_eq!(read(world, &attachment.id).unwrap(), b"named");
    assert_eq!(world.engine.gc().unwrap().attachments, 0);
}

fn a_gc_keeps_what_only_a_prefix_names(world: &World) {
    world.session("a", "u");
    let before = attach(world, "a", b"before the cut", "b");
    let middle = attach(world, "a", b"behind the cut", "m");
    world.fork("a", "message:1", "b");
    world.fork("b", "end", "c");
    delete(world, "a");
    delete(world, "b");
    assert_eq!(world.engine.gc().unwrap().attachments, 1);
    assert_eq!(read(world, &before.id).unwrap(), b"before the cut");
    assert_eq!(read(world, &middle.id), Err(ErrorKind::NotFound));
    assert_eq!(world.engine.attachments(&id("c")).unwrap()[0].bytes, Some(14));
    delete(world, "c");
    assert_eq!(world.engine.gc().unwrap().attachments, 1);
    assert_eq!(read(world, &before.id), Err(ErrorKind::NotFound));
}

fn a_gc_keeps_what_is_about_to_be_named(world: &World) {
    world.session("a", "");
    let pin = world.engine.put_attachment(&mut &b"soon"[..], 100).unwrap();
    assert_eq!(world.engine.gc().unwrap().attachments, 0);
    assert_eq!(read(world, &pin.id).unwrap(), b"soon");
    let soon = pin.id;
    drop(pin);
    assert_eq!(world.engine.gc().unwrap().attachments, 1);
    assert_eq!(read(world, &soon), Err(ErrorKind::NotFound));
}

fn a_gc_keeps_what_any_text_mentions(world: &World) {
    let session = world.session("a", "");
    let attachment = world.engine.put_attachment(&mut &b"bytes"[..], 100).unwrap().id;
    let data = Data::parse(&format!(r#"{{"files":["{attachment}"]}}"#)).unwrap();
    let event = NewEvent::new("x.files".parse().unwrap(), data);
    world.engine.append(&session, &event.into()).unwrap();
    assert_eq!(world.engine.gc().unwrap().attachments, 0);
    // Only a message part declares an attachment. A mention in another part of the payload does
    // not.
    assert_eq!(world.engine.attachments(&session).unwrap(), []);
    let at: Selector = cut("start");
    world.engine.fork(&Fork::of(session).at(at)).unwrap();
    assert_eq!(read(world, &attachment).unwrap(), b"bytes");
}

/// Runs `work` while another thread runs `gc` repeatedly.
fn during_a_gc(world: &World, work: impl FnOnce()) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let gc = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                world.engine.gc().unwrap();
            }
        });
        let done = catch_unwind(AssertUnwindSafe(work));
        over.store(true, Ordering::Relaxed);
        gc.join().unwrap();
        done.unwrap();
    });
}

fn a_gc_during_attaches_removes_nothing_that_is_named(world: &World) {
    during_a_gc(world, || {
        for round in 0..12 {
            let name = format!("s{round}");
            world.session(&name, "u a u a");
            // These bytes are equal to those of earlier rounds, but no event names them now.
            let attached = attach(world, &name, b"again and again", "n");
            assert_eq!(read(world, &attached.id).unwrap(), b"again and again", "{round}");
            // The caller's own message names the attachment too, while the only other session that
            // names it is deleted.
            let data = world.engine.load(&id(&name)).unwrap().events.pop().unwrap().event.data;
            let other = format!("t{round}");
            world.session(&other, "");
            let event = NewEvent::new(EventType::USER_MESSAGE, data);
            world.engine.append(&id(&other), &event.into()).unwrap();
            delete(world, &name);
            assert_eq!(read(world, &attached.id).unwrap(), b"again and again", "{round}");
            delete(world, &other);
        }
    });
    world.engine.gc().unwrap();
    assert_eq!(world.engine.gc().unwrap().attachments, 0);
    let named = attach(world, world.session("end", "").as_str(), b"again and again", "n");
    assert!(named.new);
}

fn a_gc_during_forks_and_deletes_removes_nothing_that_is_named(world: &World) {
    world.session("f0", "u a");
    let attached = attach(world, "f0", b"inherited", "n");
    during_a_gc(world, || {
        for round in 0..15 {
            world.fork(&format!("f{round}"), "end", &format!("f{}", round + 1));
            delete(world, &format!("f{round}"));
            assert_eq!(read(world, &attached.id).unwrap(), b"inherited", "{round}");
        }
    });
    delete(world, "f15");
    assert_eq!(world.engine.gc().unwrap().attachments, 1);
}

fn what_is_saved_into_a_new_store_is_sound(world: &World) {
    world.session("a", "");
    let sound = attach(world, "a", b"sound", "s");
    let damaged = attach(world, "a", b"damaged", "d");
    let lost = world.file_of(&damaged.id).map(|file| std::fs::write(file, b"?").unwrap());
    let into = World::memory();
    let salvage = world.engine.recover(&into.engine).unwrap();
    assert_eq!(salvage.attachments, if lost.is_some() { 1 } else { 2 });
    assert_eq!(salvage.lost.len(), usize::from(lost.is_some()));
    assert_eq!(read(&into, &sound.id).unwrap(), b"sound");
    assert_eq!(into.engine.load(&id("a")).unwrap().events.len(), 2);
    let problem = into.engine.verify(None).unwrap().problems;
    assert_eq!(problem.len(), salvage.lost.len());
}

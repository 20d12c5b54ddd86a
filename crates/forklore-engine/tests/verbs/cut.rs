//! Tests of the position at which a child begins.

use forklore_core::{Cut, ErrorKind};

use crate::world::{World, cut, id, on_every_store, refusal};

on_every_store!(
    message_keeps_up_to_and_including,
    the_parent_still_has_everything,
    beyond_the_end_is_an_error_with_the_range,
    a_cut_by_turns_inherits_whole_turns,
    a_turn_includes_its_tool_messages,
    the_default_is_the_last_inheritable_event,
    seq_is_inclusive,
    index_keeps_exactly_that_many,
    all_selectors_agree_on_one_cut,
    a_seq_beyond_the_log_is_not_recorded,
    an_empty_session,
    a_missing_parent,
    coordinates_that_do_not_name_the_cut_are_null,
    an_event_is_named_by_its_id,
    every_printed_coordinate_leads_back,
);

fn range_of(world: &World, at: &str) -> String {
    let error = world.try_fork("p", at, "never").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgs, "{at}");
    error.details()["valid"].as_str().unwrap().to_owned()
}

fn message_keeps_up_to_and_including(world: &World) {
    world.session("p", "u1 a1 u2");
    let forked = world.fork("p", "message:1", "c");
    assert_eq!((forked.event_count, forked.head_seq), (2, 2));
    assert_eq!(world.shape("c"), "F u1 a1");
}

fn the_parent_still_has_everything(world: &World) {
    world.session("p", "u1 a1 u2 a2 u3");
    world.fork("p", "message:2", "c");
    assert_eq!(world.shape("c"), "F u1 a1 u2");
    assert_eq!(world.shape("p"), "u1 a1 u2 a2 u3");
}

fn beyond_the_end_is_an_error_with_the_range(world: &World) {
    world.session("p", "u1 a1 u2");
    assert_eq!(
        range_of(world, "message:3"),
        "the session has message:0 to message:2, or message:-3 to message:-1"
    );
    assert_eq!(
        range_of(world, "message:-4"),
        "the session has message:0 to message:2, or message:-3 to message:-1"
    );
    assert_eq!(range_of(world, "index:4"), "the session has index:0 to index:3");
    assert_eq!(range_of(world, "index:99999999999999999999"), "the session has index:0 to index:3");
    let far = "message:-99999999999999999999";
    assert_eq!(
        range_of(world, far),
        "the session has message:0 to message:2, or message:-3 to message:-1"
    );
    assert!("index:-1".parse::<forklore_core::Selector>().is_err());
    assert!("turn:+1".parse::<forklore_core::Selector>().is_err());
    assert_eq!(range_of(world, "seq:-4"), "the session has seq:0 to seq:2, or seq:-3 to seq:-1");
    assert_eq!(world.fork("p", "message:-1", "c").event_count, 3);
}

fn a_cut_by_turns_inherits_whole_turns(world: &World) {
    world.session("p", "u1 a1 u2 a2 u3 a3");
    let expected: Vec<u64> =
        [("turn:1", "c1"), ("turn:2", "c2"), ("turn:3", "c3"), ("turn:-3", "c4")]
            .map(|(at, child)| world.fork("p", at, child).event_count)
            .to_vec();
    assert_eq!(expected, vec![2, 4, 6, 2]);
    for at in ["turn:0", "turn:10", "turn:-4"] {
        assert_eq!(
            range_of(world, at),
            "the session has turn:1 to turn:3, or turn:-3 to turn:-1",
            "{at}"
        );
    }
}

fn a_turn_includes_its_tool_messages(world: &World) {
    world.session("p", "s0 u1 c:x r:x i1 a1 $ u2 a2");
    world.fork("p", "turn:1", "c");
    assert_eq!(world.shape("c"), "F s0 u1 c:x r:x i1 a1");
}

fn the_default_is_the_last_inheritable_event(world: &World) {
    world.session("p", "u1 a1");
    let before = world.fork("p", "", "c1");
    world.write("p", "$ $ !");
    let after = world.fork("p", "", "c2");
    assert_eq!(before.cut, after.cut);
    assert_eq!(after.cut.seq, Some(1));
}

fn seq_is_inclusive(world: &World) {
    world.session("p", "u1 a1 $ u2");
    assert_eq!(world.fork("p", "seq:1", "c1").event_count, 2);
    // The cut is right after the last inheritable event, even if audit events follow that event.
    assert_eq!(world.fork("p", "seq:2", "c2").cut, world.fork("p", "seq:1", "c3").cut);
    assert_eq!(world.fork("p", "seq:3", "c4").event_count, 3);
}

fn index_keeps_exactly_that_many(world: &World) {
    world.session("p", "u1 w a1 w u2");
    for (at, stored) in
        [("index:1", "F u1"), ("index:2", "F u1 w a1"), ("index:3", "F u1 w a1 w u2")]
    {
        world.fork("p", at, &format!("c-{}", &at[6..]));
        assert_eq!(world.shape(&format!("c-{}", &at[6..])), stored);
    }
}

fn all_selectors_agree_on_one_cut(world: &World) {
    world.session("p", "u1 a1 $ u2 a2 u3");
    let event = world.log("p")[4].event.id.to_string();
    let expected = Cut {
        seq: Some(4),
        index: 4,
        message: Some(3),
        turn: Some(2),
        event_id: Some(event.parse().unwrap()),
        inheritable: 4,
    };
    let header = world.header("p");
    for at in
        ["seq:4", "seq:-2", "message:3", "index:4", "turn:2", "turn:-2", &format!("event:{event}")]
    {
        assert_eq!(world.engine.cut(&header, &cut(at)).unwrap(), expected, "{at}");
    }
}

fn a_seq_beyond_the_log_is_not_recorded(world: &World) {
    world.session("p", "u1 a1");
    assert_eq!(range_of(world, "seq:2"), "the session has seq:0 to seq:1, or seq:-2 to seq:-1");
    assert!(world.engine.show(&id("never")).is_err());
}

fn an_empty_session(world: &World) {
    world.session("p", "");
    let refused = (ErrorKind::InvalidArgs, "nothing_to_fork".to_owned());
    assert_eq!(refusal(world.try_fork("p", "", "c")), refused);
    assert_eq!(refusal(world.try_fork("p", "end", "c")), refused);
    let forked = world.fork("p", "start", "c");
    assert_eq!((forked.cut, forked.event_count), (Cut::default(), 0));
    world.write("c", "u1 a1");
    assert_eq!(world.shape("c"), "F u1 a1");
    assert_eq!(world.fork("p", "index:0", "d").event_count, 0);
    // The child's own event at seq 0 is its `session_fork`, which is not inheritable.
    assert_eq!(refusal(world.try_fork("c", "seq:0", "e")), refused);
}

fn a_missing_parent(world: &World) {
    assert_eq!(refusal(world.try_fork("nobody", "", "c")).0, ErrorKind::NotFound);
}

fn coordinates_that_do_not_name_the_cut_are_null(world: &World) {
    world.session("p", "s0 u1 a1 w u2 a2");
    let at = |selector: &str| {
        let found = world.engine.cut(&world.header("p"), &cut(selector)).unwrap();
        (found.seq, found.index, found.message, found.turn)
    };
    assert_eq!(at("start"), (None, 0, None, None));
    assert_eq!(at("seq:0"), (Some(0), 1, Some(0), None));
    assert_eq!(at("seq:1"), (Some(1), 2, Some(1), None));
    assert_eq!(at("seq:3"), (Some(3), 3, None, Some(1)));
    assert_eq!(at("end"), (Some(5), 5, Some(4), Some(2)));
}

fn an_event_is_named_by_its_id(world: &World) {
    world.session("p", "u1");
    let mut twice = crate::world::events("a1 u2 a2");
    twice.iter_mut().step_by(2).for_each(|event| event.id = Some("same".parse().unwrap()));
    world.engine.append(&id("p"), &twice.into()).unwrap();
    let error = world.try_fork("p", "event:same", "c").unwrap_err();
    assert_eq!(error.details()["seqs"], serde_json::json!([1, 3]));
    assert_eq!(refusal(world.try_fork("p", "event:none", "c")).0, ErrorKind::InvalidArgs);
}

fn every_printed_coordinate_leads_back(world: &World) {
    world.session("p", "s0 u1 w c:x $ r:x a1 w u2 ! a2 k:0-3 u3");
    world.fork("p", "message:5", "c");
    world.write("c", "a9 w $ u9 c:y");
    world.fork("c", "", "d");
    for name in ["p", "c", "d"] {
        let header = world.header(name);
        for seq in 1..=header.head_seq() {
            let found = world.engine.cut(&header, &cut(&format!("seq:{seq}"))).unwrap();
            let printed = [
                found.seq.map(|n| format!("seq:{n}")),
                found.message.map(|n| format!("message:{n}")),
                found.message.map(|_| format!("index:{}", found.index)),
                found.turn.map(|n| format!("turn:{n}")),
            ];
            for at in printed.into_iter().flatten() {
                assert_eq!(world.engine.cut(&header, &cut(&at)).unwrap(), found, "{name} {at}");
            }
        }
    }
}

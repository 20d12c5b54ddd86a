//! Tests of the features that the configuration enables.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use crate::world::Blocking;

fn tools_of_the_first_request(world: &Blocking) -> Vec<String> {
    let requests = world.requests();
    requests[0].tools.iter().map(|tool| tool.name.clone()).collect()
}

#[test]
fn sub_agents_are_there_where_the_configuration_says_so() {
    let without = Blocking::new();
    without.talk(&["hello"]);
    assert_eq!(tools_of_the_first_request(&without), [""; 0]);

    let with = Blocking::configured("[delegate]\ndepth = 1\n");
    with.talk(&["hello"]);
    assert_eq!(tools_of_the_first_request(&with), ["delegate"]);
}

#[test]
fn spans_go_to_the_collector_of_the_configuration() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let collector = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut sent = Vec::new();
        let mut buffer = [0; 4096];
        while !sent.windows(12).any(|window| window == b"invoke_agent") {
            let read = stream.read(&mut buffer).unwrap();
            assert!(read > 0, "no span of a turn came");
            sent.extend_from_slice(&buffer[..read]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        sent
    });
    let tracing = format!("[tracing]\nendpoint = 'http://{address}/v1/traces'\n");
    let world = Blocking::configured(&tracing);
    world.talk(&["a secret"]);
    world.close();
    let sent = collector.join().unwrap();
    assert!(sent.starts_with(b"POST /v1/traces "));
    assert!(!sent.windows(8).any(|window| window == b"a secret"));
}

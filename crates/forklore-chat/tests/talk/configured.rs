//! What the configuration turns on.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use crate::world::World;

fn tools_told(world: &World) -> Vec<String> {
    let heard = world.heard.lock().unwrap();
    heard[0].tools.iter().map(|tool| tool.name.clone()).collect()
}

#[test]
fn sub_agents_are_there_where_the_configuration_says_so() {
    let mut without = World::new();
    without.talk(World::start(), &["hello"]);
    assert_eq!(tools_told(&without), [""; 0]);

    let mut with = World::configured("[delegate]\ndepth = 1\n");
    with.talk(World::start(), &["hello"]);
    assert_eq!(tools_told(&with), ["delegate"]);
}

#[test]
fn spans_go_to_the_collector_of_the_configuration() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let collector = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut taken = Vec::new();
        let mut buffer = [0; 4096];
        while !taken.windows(12).any(|window| window == b"invoke_agent") {
            let read = stream.read(&mut buffer).unwrap();
            assert!(read > 0, "no span of a turn came");
            taken.extend_from_slice(&buffer[..read]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        taken
    });
    let tracing = format!("[tracing]\nendpoint = 'http://{address}/v1/traces'\n");
    let mut world = World::configured(&tracing);
    world.talk(World::start(), &["a secret"]);
    world.supplies.end();
    let taken = collector.join().unwrap();
    assert!(taken.starts_with(b"POST /v1/traces "));
    assert!(!taken.windows(8).any(|window| window == b"a secret"));
}

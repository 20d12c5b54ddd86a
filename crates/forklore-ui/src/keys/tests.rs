use super::*;

#[test]
fn a_key_does_one_thing_on_a_screen() {
    for scope in Scope::ALL {
        let keys: Vec<_> = bindings(scope).flat_map(|binding| binding.keys).collect();
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{scope:?}: {}", key.name());
        }
    }
}

#[test]
fn every_screen_can_be_left_and_explains_itself() {
    for scope in Scope::ALL {
        let commands: Vec<_> = bindings(scope).map(|binding| binding.command).collect();
        for command in [Command::Quit, Command::Help, Command::Down, Command::Last] {
            assert!(commands.contains(&command), "{scope:?}: {command:?}");
        }
    }
}

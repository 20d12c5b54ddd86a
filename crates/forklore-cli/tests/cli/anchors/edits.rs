//! Edits behind the store's back, each reported.

use super::forger::{Forgery, forge, says};
use super::victim::{ANCHORS, Victim, on_every_store};

/// Creates one test for each pair of an edit and a kind of store: what is reported, and what is
/// reported with `--exact`.
macro_rules! edits {
    ($($name:ident |$forgery:ident| $edit:expr => $found:expr, $exact:expr;)*) => {
        $(mod $name {
            use super::*;

            fn case(victim: &Victim, empty: &Victim) {
                let edit = |$forgery: &mut Forgery| { $edit; };
                super::is_reported(victim, empty, edit, &$found, &$exact);
            }

            #[test]
            fn sqlite() {
                case(&Victim::sqlite(), &Victim::sqlite());
            }

            #[test]
            fn files() {
                case(&Victim::files(), &Victim::files());
            }

            #[cfg(feature = "postgres")]
            #[test]
            fn postgres() {
                case(&Victim::postgres(), &Victim::postgres());
            }
        })*
    };
}

fn is_reported(
    victim: &Victim,
    empty: &Victim,
    edit: impl Fn(&mut Forgery),
    found: &[&str],
    exact: &[&str],
) {
    victim.seed();
    victim.anchor();
    assert_eq!(victim.found(&["--exact"]), [""; 0]);
    forge(victim, empty, edit);
    assert_eq!(victim.found(&[]), found);
    assert_eq!(victim.found(&["--exact"]), exact);
}

edits! {
    nothing |_forgery| () => [], [];
    a_payload |forgery| forgery.session("plan").events[3].data = says("uX")
        => ["plan edited"], ["plan edited"];
    an_inherited_payload |forgery| forgery.session("plan").events[1].data = says("uX")
        => ["branch edited", "plan edited", "twig edited"],
           ["branch edited", "plan edited", "twig edited"];
    a_time |forgery| {
        let event = &mut forgery.session("other").events[0];
        event.ts = event.ts.checked_sub(jiff::SignedDuration::from_secs(60)).unwrap();
    } => ["other edited"], ["other edited"];
    two_swapped |forgery| forgery.session("plan").events.swap(2, 3)
        => ["plan edited"], ["plan edited"];
    one_removed_from_the_middle |forgery| forgery.session("plan").events.remove(3)
        => ["plan truncated"], ["plan truncated"];
    one_replaced_by_a_copy_of_another |forgery| {
        let events = &mut forgery.session("plan").events;
        events[4].data = events[0].data.clone();
    } => ["plan edited"], ["plan edited"];
    the_tail_removed |forgery| forgery.session("plan").events.truncate(4)
        => ["plan truncated"], ["plan truncated"];
    one_forged_at_the_end |forgery| {
        let events = &mut forgery.session("plan").events;
        let mut event = events[4].clone();
        event.data = says("u6");
        events.push(event);
    } => [], ["plan grown"];
    one_moved_to_another_session |forgery| {
        let event = forgery.session("other").events.remove(2);
        forgery.session("plan").events.insert(4, event);
    } => ["other truncated", "plan edited"], ["other truncated", "plan edited"];
    one_copied_to_another_session |forgery| {
        let data = forgery.session("other").events[2].data.clone();
        forgery.session("plan").events[4].data = data;
    } => ["plan edited"], ["plan edited"];
    whose_it_is |forgery| forgery.session("plan").principal = Some("mallory".into())
        => ["plan header_edited"], ["plan header_edited"];
    the_metadata |forgery| forgery.session("plan").metadata = None
        => ["plan header_edited"], ["plan header_edited"];
    the_title |forgery| forgery.session("plan").title = Some("Another plan".into())
        => [], ["plan changed"];
    the_parent_of_a_fork |forgery| {
        // Both have the same first two turns, so that no event of `twig` changes.
        let from = forgery.session("twig").from.as_mut().unwrap();
        from.parent = "plan".parse().unwrap();
        from.cut.seq = from.cut.seq.map(|seq| seq - 1);
    } => ["twig header_edited"], ["twig header_edited"];
}

on_every_store!(an_older_copy_is_put_back, anchors_of_a_store_that_is_gone);

fn an_older_copy_is_put_back(victim: &Victim) {
    victim.seed();
    victim.anchor();
    victim.copy();
    victim.ok(&["append", "plan", "--text", "late"]);
    victim.ok(&["new", "--id", "new"]);
    victim.anchor();
    assert_eq!(victim.found(&["--exact"]), [""; 0]);
    victim.put_back();
    // The numbers of PostgreSQL's transactions do not go back with the rows.
    let expected = match victim.is_postgres() {
        true => ["new missing", "plan truncated"],
        false => ["new rolled_back", "plan rolled_back"],
    };
    assert_eq!(victim.found(&[]), expected);
}

fn anchors_of_a_store_that_is_gone(victim: &Victim) {
    victim.seed();
    victim.anchor();
    let other = Victim::sqlite();
    other.ok(&["new", "--id", "plan"]);
    std::fs::copy(victim.path(ANCHORS), other.path(ANCHORS)).unwrap();
    let found = ["branch missing", "other missing", "plan truncated", "twig missing"];
    assert_eq!(other.found(&[]), found);
}

//! Whether a store shows what the model says.

use forklore_model::Header;

use super::model::{Model, Told};
use crate::conformance::scene::{Scene, forward};
use crate::port::{At, Filter, Stored};

/// The first difference between the store and the model.
///
/// # Errors
/// The difference, in words.
pub(super) fn compare(scene: &Scene<'_>, model: &Model) -> Result<(), String> {
    let all = Filter {
        deleted: true,
        ..Filter::default()
    };
    let listed = scene
        .store()
        .sessions(&all, None, 0)
        .map_err(|error| error.to_string())?;
    if listed.len() != model.sessions.len() {
        return Err(format!(
            "{} sessions, not {}",
            listed.len(),
            model.sessions.len()
        ));
    }
    let listed: Vec<_> = listed
        .into_iter()
        .filter(|header| header.deleted.is_none())
        .collect();
    let living = model.sessions.iter().filter(|told| !told.is_deleted());
    let mut want: Vec<_> = living.map(Told::header).collect();
    want.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.id.cmp(&b.id)));
    same("the list", &listed, &want)?;
    for told in &model.sessions {
        let header = scene
            .store()
            .header(told.id())
            .map_err(|error| error.to_string())?;
        if told.is_deleted() {
            same("the tombstone", &place(header), &place(told.header()))?;
        } else {
            same("the header", &header, &told.header())?;
            same("the log", &log(scene, told)?, &told.log())?;
        }
    }
    Ok(())
}

fn log(scene: &Scene<'_>, told: &Told) -> Result<Vec<Stored>, String> {
    let mut all = Vec::new();
    loop {
        let query = forward(At::Seq(all.len() as u64), 1000, false);
        let page = scene.store().read(told.id(), &query);
        let page = page.map_err(|error| format!("{}: {error}", told.id()))?;
        all.extend(page.events);
        if !page.more {
            return Ok(all);
        }
    }
}

/// What a tombstone must still say.
fn place(header: Header) -> impl PartialEq + std::fmt::Debug {
    let Header {
        id,
        root_id,
        parent_id,
        kind,
        label,
        cut,
        usage,
        depth,
        deleted,
        inherited,
        ..
    } = header;
    (
        (id, root_id, parent_id, kind, label),
        (cut, usage, depth, deleted, inherited.kept),
    )
}

pub(super) fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    got: &T,
    want: &T,
) -> Result<(), String> {
    if got == want {
        return Ok(());
    }
    Err(format!("{what} is\n{got:#?}\nbut should be\n{want:#?}"))
}

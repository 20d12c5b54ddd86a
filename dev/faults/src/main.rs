//! The worker process that the durability tests start, stop and kill. Its only argument is a task
//! in JSON, which describes the work.

use std::error::Error;

use forklore_faults::caller::Caller;
use forklore_faults::copying::{BACK_UP, RESTORE, copy};
use forklore_faults::limits;
use forklore_faults::naming;
use forklore_faults::process::{Task, await_go, tell};
use forklore_faults::work::{Busy, append};

fn main() -> Result<(), Box<dyn Error>> {
    let task = std::env::args().nth(1).ok_or("this program is started by tests only")?;
    let task: Task = serde_json::from_str(&task)?;
    if task.work == "read" {
        return limits::read_only(&task);
    }
    if [BACK_UP, RESTORE].contains(&task.work.as_str()) {
        return Ok(copy(&task)?);
    }
    if task.work == "descriptors" {
        limits::limit_descriptors();
    }
    let opened = task.kind.open(&task.store)?;
    tell(&"ready");
    await_go();
    if task.work == "name attachments" {
        return Ok(naming::import(&opened, &task)?);
    }
    let mut caller = Caller::new(&opened, |line| tell(&line));
    match task.work.as_str() {
        "busy" => Busy::new(caller, &task).run(),
        "append" => append(&mut caller, &task),
        "fill the disk" => limits::fill_disk(&mut caller, &task),
        "fill files" => limits::fill_files(&mut caller, &task),
        "descriptors" => {
            limits::descriptors(&mut caller, &task);
            limits::exhausted(&mut caller, &task);
        }
        other => return Err(format!("there is no work {other}").into()),
    }
    Ok(())
}

//! The process that the durability tests start, stop and kill: does the work that its only
//! argument, a task in JSON, describes.

use forklore_faults::caller::Caller;
use forklore_faults::process::{Task, await_go, tell};
use forklore_faults::work::{Busy, append};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let task = std::env::args().nth(1).ok_or("this program is started by tests only")?;
    let task: Task = serde_json::from_str(&task)?;
    let opened = task.kind.open(&task.store)?;
    tell(&"ready");
    await_go();
    let mut caller = Caller::new(&opened, |line| tell(&line));
    match task.work.as_str() {
        "busy" => Busy::new(caller, &task).run(),
        "append" => append(&mut caller, &task),
        other => return Err(format!("there is no work {other}").into()),
    }
    Ok(())
}

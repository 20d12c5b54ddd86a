//! `cargo xtask dist`: packages for this platform, which another machine installs without Rust: of the
//! program an archive and a Debian package with their checksums, a wheel for Python, and packages for
//! npm.

mod archive;
mod bare;
mod debian;
mod fresh;
mod licences;
mod npm;
mod parts;
mod wheel;

use std::env;
use std::path::{Path, PathBuf};

use crate::command::{Failure, cargo, output, program, root, run};
use crate::tools::target;
use parts::{Parts, empty, put, remove};

const USAGE: &str =
    "cargo xtask dist [--profile NAME | --program PATH] [--out DIR] [--only-program] [--try]";

/// The folder in cargo's target directory for the wheel and the packages for npm.
const LIBRARIES: &str = "dist";

/// What the arguments ask for.
struct Order {
    /// The cargo profile with which the program is built.
    profile: String,
    /// A program that is built already.
    program: Option<PathBuf>,
    /// The folder for the packages.
    out: PathBuf,
    /// Whether the packages are installed on machines without Rust afterwards.
    is_tried: bool,
    /// Whether the packages for Python and npm are left out.
    only_program: bool,
}

impl Order {
    fn parse(args: &[String]) -> Result<Self, Failure> {
        let mut order = Self {
            profile: "dist".into(),
            program: None,
            out: target().join("packages"),
            is_tried: false,
            only_program: false,
        };
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let mut value = || rest.next().ok_or(Failure::Usage { hint: USAGE });
            match arg.as_str() {
                "--profile" => order.profile.clone_from(value()?),
                "--program" => order.program = Some(root().join(value()?)),
                "--out" => order.out = root().join(value()?),
                "--try" => order.is_tried = true,
                "--only-program" => order.only_program = true,
                _ => return Err(Failure::Usage { hint: USAGE }),
            }
        }
        Ok(order)
    }

    /// Builds the program, unless it is built already.
    fn program(&self) -> Result<PathBuf, Failure> {
        if let Some(program) = &self.program {
            return Ok(program.clone());
        }
        let words = ["build", "--locked", "-p", "forklore-cli", "--profile", &self.profile];
        run(cargo().args(words))?;
        let folder = if self.profile == "dev" { "debug" } else { &self.profile };
        Ok(target().join(folder).join("forklore"))
    }
}

/// Writes the packages, and the file `SHA256SUMS` with their checksums. Packages of the same program
/// are equal byte for byte: their times are that of the commit, or `SOURCE_DATE_EPOCH`.
pub(crate) fn run_all(args: &[String]) -> Result<(), Failure> {
    let order = Order::parse(args)?;
    let built = order.program()?;
    let work = order.out.join("work");
    empty(&work)?;
    let parts = Parts::collect(&built, &work.join("parts"), &time()?)?;
    put(&parts.licences, &licences::text()?)?;
    let archive = archive::write(&parts, &work, &order.out)?;
    let package = debian::write(&parts, &work, &order.out)?;
    run(program("sh")
        .args(["-c", "sha256sum \"$@\" > SHA256SUMS", "sh", &archive, &package])
        .current_dir(&order.out))?;
    for file in [&archive, &package] {
        println!("{}", order.out.join(file).display());
    }
    if !order.only_program {
        libraries(&order, &parts, &work)?;
    }
    remove(&work)?;
    if order.is_tried { bare::install(&order.out, &archive, &package) } else { Ok(()) }
}

/// Writes the wheel and the packages for npm, and tries them if that was ordered.
fn libraries(order: &Order, parts: &Parts, work: &Path) -> Result<(), Failure> {
    let out = target().join(LIBRARIES);
    fresh::clear(&out)?;
    wheel::write(parts, &order.profile, &out)?;
    npm::write(parts, &order.profile, work, &out)?;
    for file in fresh::packages(&out)? {
        println!("{}", file.display());
    }
    if order.is_tried { fresh::install(&out, work) } else { Ok(()) }
}

/// Returns the time of everything in the packages, in seconds since 1970.
fn time() -> Result<String, Failure> {
    match env::var("SOURCE_DATE_EPOCH") {
        Ok(time) => Ok(time),
        Err(_) => {
            let time = output(program("git").args(["log", "-1", "--format=%ct"]))?;
            Ok(time.trim().to_owned())
        }
    }
}

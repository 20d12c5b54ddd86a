//! Sets what the linker needs to make an addon of Node.

fn main() {
    napi_build::setup();
}

//! The name under which gcc's programs ask for ThreadSanitizer's library: a library of that name
//! that is already loaded is taken for it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtsan.so.2");
}

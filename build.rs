//! Where the command finds the solver at run time: beside itself, in `../lib/raddle` (installed),
//! or in `.deps/z3/lib` (a checkout).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let checkout = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    for folder in [
        "$ORIGIN".to_string(),
        "$ORIGIN/../lib/raddle".to_string(),
        format!("{checkout}/.deps/z3/lib"),
    ] {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
    }
}

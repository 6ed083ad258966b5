//! Compiles the C++ of `shim/` against the headers of LLVM 19, and the bodies that the plugin adds to modules
//! to bitcode.

use std::path::Path;
use std::process::{Command, exit};

fn main() {
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-env-changed=LLVM_CONFIG");
    let config = std::env::var("LLVM_CONFIG").unwrap_or_else(|_| "llvm-config-19".into());
    let include = match Command::new(&config).arg("--includedir").output() {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        _ => {
            println!(
                "cargo::error={config} does not run; install the package llvm-19-dev or name \
                 LLVM 19's llvm-config in LLVM_CONFIG"
            );
            exit(1);
        }
    };
    let mut build = cc::Build::new();
    // The compiler that the plugin needs anyway; a machine may have no other one for C++.
    if std::env::var_os("CXX").is_none()
        && Command::new("clang++-19").arg("--version").output().is_ok()
    {
        build.compiler("clang++-19");
    }
    build
        .cpp(true)
        .std("c++17")
        .files(["shim/shim.cpp", "shim/loops.cpp"])
        .flag("-isystem")
        .flag(include)
        // As LLVM itself is built: a class that derives from one of LLVM's finds no RTTI there.
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .define("__STDC_CONSTANT_MACROS", None)
        .define("__STDC_LIMIT_MACROS", None)
        .define("__STDC_FORMAT_MACROS", None)
        .compile("raddle_plugin_shim");
    bodies();
}

/// Makes bitcode of the bodies: of the clang that the plugin is for, which reads it again.
fn bodies() {
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    for name in ["futures", "strings", "libstdcxx"] {
        let source = format!("bodies/{name}.cpp");
        println!("cargo::rerun-if-changed={source}");
        let made = Command::new("clang++-19")
            .args(["-std=c++17", "-O1", "-fPIC", "-g0", "-c", "-emit-llvm"])
            .args(["-Wall", "-Wextra", "-Werror", &source, "-o"])
            .arg(Path::new(&out).join(name).with_extension("bc"))
            .status();
        if !made.is_ok_and(|status| status.success()) {
            println!(
                "cargo::error=clang++-19 does not compile {source}; install the packages clang-19 \
                 and libstdc++-12-dev"
            );
            exit(1);
        }
    }
}

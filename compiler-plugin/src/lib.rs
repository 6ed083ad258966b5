//! LLVM 19 pass plugin that inserts raddle's hooks; see the folder's README.

mod access;
mod assembly;
mod choice;
mod convert;
mod guesses;
mod hooks;
mod ir;
mod locations;
mod module;
mod names;
mod outside;
mod schedule;
mod sharing;
mod shim;
mod stored;
mod symbolic;
mod variables;
mod waits;
mod wide;

use core::ffi::{c_char, c_void};
use llvm_sys::prelude::LLVMModuleRef;

/// What LLVM asks a plugin for (`PassPluginLibraryInfo`).
#[repr(C)]
pub struct PluginInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: unsafe extern "C" fn(*mut c_void),
}

/// `LLVM_PLUGIN_API_VERSION` of LLVM 19.
const API_VERSION: u32 = 1;

/// The entry point that `-fpass-plugin` looks for.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> PluginInfo {
    PluginInfo {
        api_version: API_VERSION,
        name: c"raddle".as_ptr(),
        version: concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast(),
        register: shim::raddle_shim_register,
    }
}

/// Functions of libstdc++ with bodies that get hooks, as bitcode of the files in `bodies/`. The last
/// one calls none of the others.
const BODIES: &[&[u8]] = &[
    include_bytes!(concat!(env!("OUT_DIR"), "/futures.bc")),
    include_bytes!(concat!(env!("OUT_DIR"), "/strings.bc")),
    include_bytes!(concat!(env!("OUT_DIR"), "/libstdcxx.bc")),
];

/// Called by the first pass of the shim, before anything is simplified.
///
/// # Safety
/// `module` is live and belongs to the caller alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn raddle_prepare(module: LLVMModuleRef) {
    // SAFETY: as this function's documentation says.
    let module = unsafe { ir::Module::new(module) };
    let _phase = ir::Phase::begin("raddle: meanings");
    module.add_bodies(BODIES);
    names::give_meaning(module);
    guesses::forbid(module);
}

/// Called by the second pass of the shim.
///
/// # Safety
/// `module` is live and belongs to the caller alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn raddle_instrument(module: LLVMModuleRef, optimise: bool) {
    // SAFETY: as this function's documentation says.
    let module = unsafe { ir::Module::new(module) };
    let _phase = ir::Phase::begin("raddle: hooks");
    guesses::allow(module);
    waits::put_in_place(module);
    module::instrument(module, optimise);
}

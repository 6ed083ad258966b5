//! Where the thread-local variables of the running thread are, for reports that name them.

use crate::gate;
use core::ffi::{c_int, c_void};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::shared::flags;

/// Records it, where who called what is recorded, too.
pub fn note() {
    if gate::flags() & flags::STACKS != 0 && gate::flags() & flags::SYMBOLIC == 0 {
        // SAFETY: the function is made for it.
        gate::passively(|| unsafe {
            crate::process::loader::visit(Some(log), core::ptr::null_mut())
        });
    }
}

/// One module; those whose variables this thread has not touched may have none for it yet.
unsafe extern "C" fn log(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid entry.
    let (info, headers) = unsafe {
        let info = &*info;
        let headers = core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
        (info, headers)
    };
    let variables = headers.iter().find(|h| h.p_type == libc::PT_TLS);
    if let Some(variables) = variables.filter(|_| !info.dlpi_tls_data.is_null()) {
        gate::log_full(Event {
            kind: Kind::ThreadLocal as u8,
            object: info.dlpi_tls_data as u64,
            value: variables.p_memsz,
            pc: info.dlpi_addr,
            ..Event::default()
        });
    }
    0
}

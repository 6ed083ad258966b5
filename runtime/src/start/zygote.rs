//! The zygote: waits for jobs and clones itself for each.

use super::environment::Settings;
use super::{effects, inherited};
use crate::{os, substrate};
use raddle_protocol::shared::{Hello, MAGIC, command, flags};

/// Returns in the process that is to obey the job in the pages; the zygote itself never returns.
pub fn serve(settings: &Settings) {
    if crate::gate::pages().job().flags & flags::DIRECT != 0 {
        return;
    }
    let (socket, controller) = (settings.control, os::parent());
    let hello = Hello {
        magic: MAGIC,
        version: raddle_protocol::VERSION,
        pid: os::process(),
    };
    // SAFETY: Hello has no padding.
    let bytes =
        unsafe { core::slice::from_raw_parts((&raw const hello).cast::<u8>(), size_of::<Hello>()) };
    if os::write(socket, bytes) != bytes.len() as isize {
        os::die("raddle: the controller does not listen", b"");
    }
    substrate::begin_zygote();
    effects::begin(socket);
    inherited::begin(socket);
    loop {
        match os::read_byte(socket) {
            Some(command::GO) => {}
            Some(command::QUIT) | None => os::exit_group(0),
            Some(_) => os::die("raddle: the controller sent an unknown command", b""),
        }
        substrate::before_clone();
        let pid = os::clone_sibling();
        if pid == 0 {
            os::close(socket);
            become_execution(controller);
            return;
        }
        if os::write(socket, &(pid as i32).to_ne_bytes()) != 4 {
            os::exit_group(0);
        }
    }
}

/// First code of an execution.
pub fn become_execution(controller: i32) {
    os::lead_group();
    os::die_with_parent();
    if os::parent() != controller {
        os::exit_group(1); // it died before we asked to be told
    }
    inherited::restore();
    substrate::after_clone();
}

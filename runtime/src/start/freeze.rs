//! A copy of a running execution, waiting to be cloned ([`raddle_protocol::shared::freeze`]).

use super::{effects, zygote};
use crate::{gate, os};
use core::sync::atomic::Ordering;
use raddle_protocol::shared::{Control, freeze};

/// What takes less CPU time than this, in nanoseconds, is done again rather than copied: a clone of
/// the zygote costs about as much.
const CHEAP: u64 = 150_000;

/// See [`crate::pages::Os::freeze`]. `notify`: the controller's eventfd.
pub fn freeze(control: &Control, notify: i32, slot: u32, state: u32, cheap: bool) -> bool {
    let answer = if !cheap && os::cpu_time() < CHEAP {
        freeze::CHEAP
    } else if control.uncontrolled_len.load(Ordering::Relaxed) != 0 || effects::any() {
        freeze::REFUSED
    } else {
        state
    };
    let word = &control.thaw[slot as usize % freeze::COPIES];
    let mut seen = word.load(Ordering::Acquire);
    control.frozen.store(answer, Ordering::Release);
    if answer != state {
        return false;
    }
    let (controller, offset) = (os::parent(), os::stdin_offset());
    os::write(notify, &1u64.to_ne_bytes());
    loop {
        let now = word.load(Ordering::Acquire);
        if now == seen {
            os::futex_wait(word, seen);
            continue;
        }
        seen = now;
        let pid = os::clone_sibling();
        if pid == 0 {
            zygote::become_execution(controller);
            os::set_stdin_offset(offset);
            gate::moved();
            return true;
        }
        control.thawed.store(pid as i32, Ordering::Release);
        os::write(notify, &1u64.to_ne_bytes());
    }
}

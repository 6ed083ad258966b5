//! A copy of a running execution, waiting to be cloned ([`raddle_protocol::shared::freeze`]).

use super::{effects, inherited, rewind, zygote};
use crate::{gate, os};
use core::sync::atomic::Ordering;
use raddle_protocol::shared::{Control, freeze};

/// See [`crate::pages::Os::freeze`]. `notify`: the controller's eventfd; without it there is no copy.
pub fn freeze(control: &Control, notify: Option<i32>, slot: u32, state: u32) -> bool {
    let named = control.uncontrolled_len.load(Ordering::Relaxed) != 0;
    let notify = notify.filter(|_| !named && !effects::any());
    let answer = notify.map_or(freeze::REFUSED, |_| state);
    let word = &control.thaw[slot as usize % freeze::COPIES];
    let mut seen = word.load(Ordering::Acquire);
    control.frozen.store(answer, Ordering::Release);
    let Some(notify) = notify else {
        return false;
    };
    let controller = os::parent();
    inherited::remember();
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
            gate::moved();
            if gate::pages().job().rewind != 0 {
                rewind::begin(control, notify, slot);
            }
            crate::process::loader::tell();
            return true;
        }
        control.thawed.store(pid as i32, Ordering::Release);
        os::write(notify, &1u64.to_ne_bytes());
    }
}

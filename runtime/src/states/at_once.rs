//! Calls at once of functions that are not safe for threads ([`State::at_once`]). Each is a step here, and
//! natively many, between which others may come: a search that takes them for steps has not tried all.

use crate::serial::Serial;
use crate::{gate, sync, threads};
use raddle_protocol::Slot;
use raddle_protocol::conflict::Access;
use raddle_protocol::effects::State;

/// Who has used a state last.
#[derive(Clone, Copy)]
struct User {
    slot: Slot,
    /// How many threads there had been by then.
    created: u64,
    /// It held a lock.
    locks: bool,
}

impl User {
    /// May what it did come at the same time as what the running thread does? Not if that thread is over, or
    /// the running one was not there yet, or both hold a lock, which is taken for the same one.
    fn may_be_beside(self, me: User) -> bool {
        self.slot != me.slot
            && !threads::is_joined(self.slot)
            && gate::number_of(me.slot) <= self.created
            && !(self.locks && me.locks)
    }
}

/// Who has looked at it, and who has changed it last.
type Users = [Option<User>; 2];

/// By number of the state.
static USERS: Serial<[Users; State::COUNT]> = Serial::new([[None; 2]; State::COUNT]);

/// The running thread uses this state: where no interleaving is to be missed, names it if another one may do so at the same time, and one of them
/// changes it.
pub fn note(number: usize, state: &State, used: Access) {
    let is_complete = gate::asking::explores();
    if !is_complete || state.at_once.is_empty() || gate::threads_created() < 2 {
        return;
    }
    let slot = gate::me();
    let me = User {
        slot,
        created: gate::threads_created(),
        locks: sync::holds_any_lock(slot),
    };
    let changes = used != Access::Looks;
    // SAFETY: the running thread; nothing below switches.
    let users = unsafe { &mut USERS.get()[number] };
    let [looker, changer] = *users;
    let others = [looker.filter(|_| changes), changer];
    if others.into_iter().flatten().any(|it| it.may_be_beside(me)) {
        gate::uncontrolled(state.at_once);
    }
    users[usize::from(changes)] = Some(me);
}

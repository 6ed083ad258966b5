//! Who called an operation: recorded where it is announced, with `flags::STACKS`.

use super::core::Gate;
use crate::pages::Os;
use raddle_protocol::event::Event;
use raddle_protocol::outcome::STACK;
use raddle_protocol::shared::flags;

impl<O: Os> Gate<O> {
    /// Records the callers of the operation at `pc` that the running thread announces.
    #[cold]
    pub(super) fn log_callers(&mut self, pc: usize) {
        if self.flags & flags::STACKS == 0 {
            return;
        }
        let mut frames = [0; STACK];
        let len = self.pages.os.stack(&mut frames);
        let frames = &frames[..len];
        // What lies before it is our own.
        let callers = match frames.iter().position(|&frame| frame == pc) {
            Some(own) => &frames[own + 1..],
            None => &[],
        };
        for record in Event::stack(self.running(), callers) {
            self.log(record);
        }
    }
}

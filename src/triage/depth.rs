//! Failures that are told apart only by records of their own: of many that look alike without
//! these, each of the first is run again for them, then one in some.

use crate::class::Class;
use crate::describe::Failure;
use std::collections::HashMap;

/// So many are all run again …
const DENSE: u64 = 32;
/// … and then one in so many.
const SPARSE: u64 = 16;

/// By their fingerprint without the records: how many were seen, and what the last one that was
/// run again was.
#[derive(Default)]
pub struct Depths(HashMap<String, (u64, Failure)>);

impl Depths {
    /// What to take this failure for without running it again. Only exits and deadlocks can be so many: a
    /// program may end with a status, or not end, in every execution.
    pub fn known(&mut self, plain: &Failure) -> Option<&Failure> {
        let (seen, last) = self.0.get_mut(&plain.fingerprint)?;
        *seen += 1;
        let many = matches!(plain.class, Class::Exit | Class::Deadlock);
        let alike = many && *seen > DENSE && !seen.is_multiple_of(SPARSE);
        alike.then_some(last)
    }

    /// A failure was run again, and this it was.
    pub fn learn(&mut self, plain: &Failure, failure: &Failure) {
        let kept = self.0.entry(plain.fingerprint.clone());
        let kept = kept.or_insert_with(|| (1, failure.clone()));
        kept.1 = failure.clone();
    }
}

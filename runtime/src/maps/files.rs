//! Files and segments that are mapped: what lies there is changed and found by calls, too, and at other
//! addresses where they are mapped.

use crate::gate;
use crate::io;
use crate::serial::Serial;
use crate::shadow::is_mapped;
use crate::states;
use crate::threads;
use core::ffi::c_int;
use raddle_protocol::shared::flags::SYMBOLIC;

/// Mappings that are known of, at most.
const MOST: usize = 64;

/// What is named of memory that is at two addresses.
pub const TWICE: &str = "memory that is mapped at two places";

/// A mapping of a file or of a segment.
#[derive(Clone, Copy)]
pub struct Mapping {
    /// Device and inode; of a segment `u64::MAX` and its id.
    whose: (u64, u64),
    /// Which file the states call it by.
    key: Option<u64>,
    /// First byte in the file, bytes.
    from: u64,
    len: u64,
    /// 0: it is there no more.
    at: usize,
    /// What is written is seen by others.
    shared: bool,
    /// Somebody may write, so that others see it.
    writes: bool,
    /// Other threads were there, who could have mapped it at another moment.
    among_others: bool,
}

static MAPPINGS: Serial<[Option<Mapping>; MOST]> = Serial::new([None; MOST]);

fn all() -> &'static mut [Option<Mapping>; MOST] {
    // SAFETY: the running thread; the reference is not kept over a switch.
    unsafe { MAPPINGS.get() }
}

impl Mapping {
    /// This much of the file behind a descriptor was mapped there with these flags of mmap.
    pub fn of_file(fd: c_int, from: i64, len: usize, at: usize, flags: c_int) -> Option<Mapping> {
        let data = io::status(fd)?;
        let shared = matches!(
            flags & libc::MAP_TYPE,
            libc::MAP_SHARED | libc::MAP_SHARED_VALIDATE
        );
        let opened = io::status_flags(fd).unwrap_or(libc::O_RDWR);
        Some(Mapping {
            whose: (data.st_dev, data.st_ino),
            key: Some(states::key_of_file(fd, &data)),
            from: from as u64,
            len: len as u64,
            at,
            shared,
            writes: shared && opened & libc::O_ACCMODE == libc::O_RDWR,
            among_others: gate::threads_created() > 1,
        })
    }

    /// The segment with this id was attached there.
    pub fn of_segment(id: c_int, len: usize, at: usize) -> Mapping {
        Mapping {
            whose: (u64::MAX, id as u64),
            key: None,
            from: 0,
            len: len as u64,
            at,
            shared: true,
            writes: true,
            among_others: gate::threads_created() > 1,
        }
    }

    fn is_there(&self) -> bool {
        let last = self.at + (self.len.max(1) as usize - 1);
        self.at != 0 && (is_mapped(self.at) || is_mapped(last & !(crate::os::PAGE - 1)))
    }

    /// Is it there, or may what was done to it have had another place among what others do?
    fn matters(&self) -> bool {
        self.among_others && self.writes || self.is_there()
    }

    fn is_of_same_bytes(&self, other: &Mapping) -> bool {
        self.whose == other.whose
            && self.from < other.from.saturating_add(other.len)
            && other.from < self.from.saturating_add(self.len)
    }
}

/// The program has got this. What lies at two places is memory of which nobody here knows that it is the same.
pub fn add(new: Mapping) {
    for old in all().iter_mut().flatten() {
        if old.at == new.at {
            old.at = 0;
        }
    }
    let is_same =
        |old: &Mapping| old.is_of_same_bytes(&new) && (old.writes || new.writes) && old.matters();
    if all().iter().flatten().any(is_same) {
        gate::uncontrolled(TWICE);
    }
    let is_free = |old: &Option<Mapping>| old.is_none_or(|old| !old.matters());
    match all().iter_mut().find(|slot| is_free(slot)) {
        Some(free) => *free = Some(new),
        None => gate::uncontrolled("very many mappings of files"),
    }
}

/// So many bytes were moved, and what was mapped there with them.
pub fn moved(from: usize, len: usize, to: usize) {
    for mapping in all().iter_mut().flatten() {
        if let Some(offset) = mapping.at.checked_sub(from).filter(|&offset| offset < len) {
            mapping.at = to + offset;
        }
    }
}

/// How much of the shared segment that was mapped there is known.
pub fn attached(at: usize) -> usize {
    let here = all().iter().flatten().find(|old| old.at == at);
    here.map_or(0, |old| old.len as usize)
}

/// Is the file with this device and inode mapped so that others see what is written, or was it meanwhile?
pub fn is_shared(device: u64, inode: u64) -> bool {
    let mut all = all().iter().flatten();
    all.any(|old| old.shared && old.whose == (device, inode) && old.matters())
}

/// What is in a file that the states call by this key changes: of one that is mapped privately that shows in
/// the pages that nobody has written.
pub fn content_changes(key: u64) {
    let shows = |old: &Mapping| !old.shared && old.key == Some(key) && old.is_there();
    let is_followed = gate::exhaustive() || gate::flags() & SYMBOLIC != 0;
    if is_followed && all().iter().flatten().any(shows) && threads::any_unjoined() {
        gate::uncontrolled("calls that change a file that is mapped");
    }
}

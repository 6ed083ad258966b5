//! Which states of the C library and of the kernel ([`raddle_protocol::effects::State`]) a call uses.
//! Each has a place, which is the same in all executions, as far as they go the same way.

mod at_once;
pub mod lent;
mod named;
pub mod variables;

use crate::gate::{self, hooked::asks_for};
use crate::objects::Table;
use crate::serial::Serial;
use crate::{gone, io, maps, os};
use core::cell::Cell;
use core::ffi::c_int;
use named::Named;
use raddle_protocol::Slot;
use raddle_protocol::conflict::Access;
use raddle_protocol::effects::{self, Of, State, Use, Used, When, through};
use raddle_protocol::hash::Fnv1a;
use raddle_protocol::shared::flags;
use raddle_protocol::uses::{Uses, place_of_object};

/// Places of states, at most.
pub const MOST: usize = 256;

/// Descriptors from this one on count as duplicates of each other.
const DESCRIPTORS: usize = 1024;

/// Ways in which one function uses states, at most.
const WAYS: usize = State::WAYS;
/// States that one call uses, at most: those, two descriptors that it makes, those that its paths lead to,
/// whether a descriptor is open, and what stands for all of a kind.
const MOST_USED: usize = WAYS + 12;
/// Functions whose ways are kept, at most.
const FUNCTIONS: usize = 64;

/// The ways in which a function uses states.
#[derive(Clone, Copy)]
struct Ways {
    /// Where its name lies, 0: none is known; how long it is.
    name: (usize, usize),
    all: [Option<Used>; WAYS],
}

struct World {
    ways: [Ways; FUNCTIONS],
    /// By device and inode: the hash of the path by which the file was first met.
    files: Table<u64>,
    /// By descriptor: the first one of the same open file description, and 1; 0: itself.
    duplicates: [u16; DESCRIPTORS],
    /// Which thread has added to the state at this place: its slot and 1, [`SEVERAL`], 0: none.
    adders: [u32; MOST],
    /// By number of the state, 1: the program may change it; 2: it does not.
    changeable: [u8; State::COUNT],
    /// By number of the state: what is known of its variables.
    variables: [variables::Known; State::COUNT],
    /// Standard output and standard error lead elsewhere than where the program was started with.
    redirected: [bool; 2],
    /// The program asks for what shows whether others have used these streams, as above.
    looked_at: u8,
}

const SEVERAL: u32 = u32::MAX;

static WORLD: Serial<World> = Serial::new(World {
    ways: [Ways {
        name: (0, 0),
        all: [None; WAYS],
    }; FUNCTIONS],
    files: Table::new(),
    duplicates: [0; DESCRIPTORS],
    adders: [0; MOST],
    changeable: [0; State::COUNT],
    variables: [variables::Known::NONE; State::COUNT],
    redirected: [false; 2],
    looked_at: 0,
});

fn world() -> &'static mut World {
    // SAFETY: the running thread; nothing below switches.
    unsafe { WORLD.get() }
}

/// A state that a call uses.
#[derive(Clone, Copy)]
pub struct Place {
    pub number: usize,
    pub state: &'static State,
    pub used: Access,
}

/// The states that a call uses.
pub struct Places {
    all: [Option<Place>; MOST_USED],
    len: usize,
    /// The object behind a descriptor that the call asks or sets, and by which threads pass on bytes:
    /// its number, and what is done to it.
    object: Option<(u64, Access)>,
}

impl Places {
    /// All of them, each once.
    pub fn iter(&self) -> impl Iterator<Item = Place> + '_ {
        self.all[..self.len].iter().flatten().copied()
    }

    /// The same for a search that is to miss nothing, and the object: all in one.
    pub fn uses(&self) -> Uses {
        let mut uses = Uses::NONE;
        for place in self.iter().filter(|place| place.state.is_changed()) {
            uses.add(place.number, place.used);
        }
        if let Some((object, used)) = self.object {
            uses.add(place_of_object(object), used);
        }
        uses
    }

    /// What stands for all states of a kind, of which one is used in this way.
    fn add_kinds(&mut self, way: &Used, used: Access) {
        let changed = (used != Access::Looks).then_some(way.any).flatten();
        let kinds = [(way.all, Access::Looks), (changed, Access::Adds)];
        for (number, used) in kinds {
            let known = number.map(|number| (number, &State::all()[number]));
            if let Some((number, state)) = known
                && may_change(number, state)
            {
                let number = place(number, 0);
                self.add(Place {
                    number,
                    state,
                    used,
                });
            }
        }
    }

    /// What the name of a file leads to that is no file: it depends on which descriptors are open.
    fn add_named(&mut self, path: Option<u64>) {
        let fd = match path.and_then(Named::at) {
            None => return,
            Some(Named::Semaphore) => {
                return gate::uncontrolled("files of named semaphores below /dev/shm");
            }
            Some(Named::SharedMemory) => {
                if io::shared_memory::any() {
                    gate::uncontrolled("files of named shared memory below /dev/shm");
                }
                return;
            }
            Some(Named::Descriptors) => None,
            Some(Named::Descriptor(fd)) => Some(fd as u64),
        };
        let all = State::number(State::NUMBERS).map(|number| (number, 0));
        let one = fd.and_then(|fd| Some((State::number(State::DESCRIPTOR)?, fd)));
        for (number, key) in all.into_iter().chain(one) {
            self.add(Place {
                number: place(number, key),
                state: &State::all()[number],
                used: Access::Looks,
            });
        }
    }

    fn add(&mut self, new: Place) {
        let mut known = self.all[..self.len].iter_mut().flatten();
        match known.find(|old| old.number == new.number) {
            Some(old) => old.used = old.used.and(new.used),
            None => {
                self.all[self.len] = Some(new);
                self.len += 1;
            }
        }
    }
}

/// The states that a call of the function with this name and these arguments uses.
pub fn used_by(name: &str, values: &[u64]) -> Places {
    let (name, values) = through(name, values).unwrap_or_default();
    if name == State::MOVES_ROOT {
        gate::uncontrolled("what the C library finds by paths of its own (chroot)");
    }
    let first = values.first().copied().unwrap_or(0);
    let is_unseen = match name {
        "lseek" | "lseek64" => is_unseen(first as c_int),
        "ftell" | "ftello" | "ftello64" | "fgetpos" | "fgetpos64" => first != 0 && !is_seen(first),
        _ => false,
    };
    if is_unseen {
        gate::uncontrolled("the position of standard output or standard error");
    }
    let mut places = Places {
        all: [None; MOST_USED],
        len: 0,
        object: None,
    };
    let call = Call {
        values,
        met: Cell::new(None),
    };
    let ways = ways_of(name);
    for way in ways.all.iter().flatten() {
        if !call.holds(way.when) || !may_change(way.number, way.state) {
            continue;
        }
        places.add_named(call.path_of(way.of));
        if let Some(object) = call.object_of(way.of) {
            // The other end is told of what is added, in its order.
            let used = match way.used {
                Use::Looks => Access::Looks,
                _ => Access::Changes,
            };
            let before = places.object.map_or(used, |(_, before)| before);
            places.object = Some((object, before.and(used)));
        }
        let key = call.key_of(way.of);
        // Calls on a descriptor that threads pass on bytes by are steps of their own.
        if key.is_some() || matches!(way.of, Of::Plain(_)) {
            places.add_kinds(way, call.used(way));
        }
        let Some(key) = key else {
            continue;
        };
        if let (State::CONTENT, Key::Of(file)) = (way.state.name, &key)
            && call.used(way) != Access::Looks
        {
            maps::files::content_changes(*file);
        }
        // Who makes a descriptor changes what others find of its number.
        let opens = way.used == Use::Changes && way.state.name == State::NUMBERS;
        if let (true, Some(number)) = (opens, State::number(State::DESCRIPTOR)) {
            for fd in next_descriptors(name).into_iter().flatten() {
                places.add(Place {
                    number: place(number, fd as u64),
                    state: &State::all()[number],
                    used: Access::Changes,
                });
            }
        }
        at_once::note(way.number, way.state, call.used(way));
        let is_closed = matches!(key, Key::Closed(_));
        let (Key::Of(key) | Key::Closed(key)) = key;
        places.add(Place {
            number: place(way.number, key),
            state: way.state,
            used: call.used(way),
        });
        // Whether it is open depends on who opens and closes.
        if let (true, Some((number, state))) = (is_closed, open_descriptors()) {
            places.add(Place {
                number: place(number, 0),
                state,
                used: Access::Looks,
            });
        }
    }
    places
}

/// Does the kernel do what the function with this name does, and may somebody take the pages away that it
/// accesses?
pub fn needs_pages(name: &str) -> bool {
    let mut ways = ways_of(name).all.iter().flatten();
    ways.any(|way| way.state.name == State::PAGES && may_change(way.number, way.state))
}

/// Does the kernel do what the function with this name does?
pub fn is_of_kernel(name: &str) -> bool {
    let mut ways = ways_of(name).all.iter().flatten();
    ways.any(|way| way.state.name == State::PAGES)
}

/// What [`looks_between_calls`] is called where it bounds a verdict.
pub const BETWEEN_CALLS: &str =
    "what others do to files while ftw, nftw, scandir or glob calls the program back";

/// Does a call of the function with this name look at states before and after it calls the program back?
/// What others do in between has no place in its one use of these states.
pub fn looks_between_calls(name: &str, values: &[u64]) -> bool {
    let is_given = |n: usize| values.get(n).is_none_or(|&function| function != 0);
    match name.strip_suffix("64").unwrap_or(name) {
        "ftw" | "nftw" => true,
        "scandir" | "glob" => is_given(2),
        "scandirat" => is_given(3),
        _ => false,
    }
}

/// May the program take pages away, or protect them?
pub fn pages_may_go() -> bool {
    static NUMBER: Serial<Option<usize>> = Serial::new(None);
    // SAFETY: the running thread; the reference is not kept.
    let number = unsafe { NUMBER.get() };
    if number.is_none() {
        *number = State::number(State::PAGES);
    }
    number.is_some_and(|number| may_change(number, &State::all()[number]))
}

/// A thread adds to what lies at this place, or looks at it. Is it unknown what it finds, since several
/// threads have added to that in an order that only this execution has?
pub fn is_unknown(place: Place, me: Slot) -> bool {
    let (adder, me) = (&mut world().adders[place.number], u32::from(me) + 1);
    match place.used {
        Access::Adds => {
            *adder = if [0, me].contains(adder) { me } else { SEVERAL };
            false
        }
        Access::Looks => place.state.ordered && *adder == SEVERAL,
        Access::Changes => false,
    }
}

/// A descriptor has become a duplicate of another one.
pub fn duplicated(fd: c_int, copy: c_int) {
    redirect(copy);
    let original = first_duplicate(fd);
    if let Some(place) = slot_of(copy) {
        world().duplicates[place] = original as u16 + 1;
    }
}

/// A descriptor was closed.
pub fn closed(fd: c_int) {
    redirect(fd);
    if let Some(place) = slot_of(fd) {
        world().duplicates[place] = 0;
    }
}

/// A library was loaded or is unloaded: other functions may be called, and names of functions may come
/// to lie where others did.
pub fn forget_names() {
    let w = world();
    w.ways.iter_mut().for_each(|ways| ways.name = (0, 0));
    w.changeable = [0; State::COUNT];
    w.variables = [variables::Known::NONE; State::COUNT];
    w.looked_at = 0;
    crate::threads::points::forget_modules();
}

/// Standard output or standard error leads elsewhere from now on, if this is its descriptor.
fn redirect(fd: c_int) {
    if let 1 | 2 = fd {
        world().redirected[fd as usize - 1] = true;
    }
}

/// Is it one of standard output and standard error, of which nobody in the program sees what others
/// write there?
fn is_unseen(fd: c_int) -> bool {
    matches!(fd, 1 | 2) && !world().redirected[fd as usize - 1]
}

/// What tells of a stream that others have used it, though it leads to where nobody reads.
const LOOKERS: &str = "fwide ftell ftello ftello64 fgetpos fgetpos64 __fpending";

fn are_looked_at() -> bool {
    let known = &mut world().looked_at;
    if *known == 0 {
        *known = if asks_for(LOOKERS) { 1 } else { 2 };
    }
    *known == 1
}

/// The ways of the function with this name.
fn ways_of(name: &str) -> &'static Ways {
    let key = (name.as_ptr() as usize, name.len());
    let entry = &mut world().ways[(key.0 ^ key.0 >> 7) % FUNCTIONS];
    if entry.name != key {
        let mut found = State::used_by(name);
        *entry = Ways {
            name: key,
            all: core::array::from_fn(|_| found.next()),
        };
    }
    entry
}

/// May anybody change this state?
fn may_change(number: usize, state: &State) -> bool {
    let known = &mut world().changeable[number];
    if *known == 0 {
        let may = state.only_with.is_empty() || asks_for(state.only_with);
        *known = if may { 1 } else { 2 };
    }
    *known == 1
}

/// May the program change one of the states that are the same for ever in others?
pub fn any_rare() -> bool {
    let all = State::all().iter().enumerate();
    let mut rare = all.filter(|(_, state)| !state.only_with.is_empty());
    rare.any(|(number, state)| may_change(number, state))
}

fn open_descriptors() -> Option<(usize, &'static State)> {
    let number = State::number(State::NUMBERS)?;
    Some((number, &State::all()[number]))
}

/// The numbers that the next descriptors get: one, or two.
fn next_descriptors(name: &str) -> [Option<c_int>; 2] {
    let two = ["pipe", "pipe2", "socketpair", "openpty"].contains(&name);
    let (path, flags) = (
        c"/".as_ptr() as usize,
        (libc::O_PATH | libc::O_CLOEXEC) as usize,
    );
    // SAFETY: descriptors of our own, which are closed again.
    unsafe {
        let open = || os::syscall(libc::SYS_open, path, flags, 0, 0, 0, 0) as c_int;
        let next = [Some(open()), two.then(open)].map(|fd| fd.filter(|&fd| fd >= 0));
        for fd in next.into_iter().flatten() {
            os::syscall(libc::SYS_close, fd as usize, 0, 0, 0, 0, 0);
        }
        next
    }
}

/// Whose state it is.
enum Key {
    Of(u64),
    /// That of a descriptor that is not open.
    Closed(u64),
}

struct Call<'a> {
    values: &'a [u64],
    /// The descriptor that was looked at last.
    met: Cell<Option<(c_int, Descriptor)>>,
}

/// What is known of a descriptor.
#[derive(Clone, Copy)]
struct Descriptor {
    is_open: bool,
    /// Threads pass on bytes by it.
    is_followed: bool,
    access: c_int,
    /// That of the file behind it.
    file: Option<u64>,
}

impl Call<'_> {
    fn argument(&self, index: u32) -> Option<u64> {
        self.values.get(index as usize).copied()
    }

    fn holds(&self, when: When) -> bool {
        let number = |index: u32| self.argument(index).unwrap_or(0);
        let flags = |index: u32, flag: c_int| number(index) & flag as u64 != 0;
        let mode = |index: u32| match number(index) as *const u8 {
            mode if mode.is_null() => 0,
            mode => first_of(mode).unwrap_or(0),
        };
        match when {
            When::Always => true,
            When::Creates(index) => flags(index, libc::O_CREAT),
            When::Empties(index) => flags(index, libc::O_TRUNC),
            When::CreatesAs(index) => mode(index) != b'r',
            When::EmptiesAs(index) => mode(index) == b'w',
            When::Command(index, commands) => commands.contains(&(number(index) as i32)),
            When::OtherCommand(index, commands) => !commands.contains(&(number(index) as i32)),
            When::Given(index) => number(index) != 0,
            When::Null(index) => number(index) == 0,
            When::Fixed(index) => flags(index, libc::MAP_FIXED),
        }
    }

    /// Where the path lies that it is about.
    fn path_of(&self, of: Of) -> Option<u64> {
        match of {
            Of::Path(index) | Of::PathAt(_, index) | Of::Relative(index) => self.argument(index),
            _ => None,
        }
    }

    /// Which one it is; `None`: it is followed in another way, or nobody looks.
    fn key_of(&self, of: Of) -> Option<Key> {
        let descriptor = |index: u32| self.argument(index).map(|fd| fd as c_int);
        let plain = |index: u32| {
            let fd = descriptor(index)?;
            (!is_unseen(fd) && !self.known(fd).is_followed).then_some(fd)
        };
        let if_open = |fd: c_int, key: u64| match self.known(fd).is_open {
            true => Key::Of(key),
            false => Key::Closed(key),
        };
        let of_descriptor = |fd: c_int| if_open(fd, fd as u64);
        let of_description = |fd: c_int| if_open(fd, first_duplicate(fd) as u64);
        let of_file = |fd: c_int| self.known(fd).file.map(Key::Of);
        match of {
            Of::Process => Some(Key::Of(0)),
            Of::Argument(index) => self.argument(index).map(Key::Of),
            Of::Stream(index) => self.stream(index).map(Key::Of),
            // Paths that begin at the working directory are no matter of a descriptor.
            Of::Descriptor(index) => {
                let fd = descriptor(index).filter(|&fd| fd != libc::AT_FDCWD);
                fd.map(of_descriptor)
            }
            Of::Plain(index) => plain(index).map(of_descriptor),
            Of::Open(index) => descriptor(index).map(of_description),
            Of::Position(index) => plain(index).map(of_description),
            Of::OfStream(index) => self.descriptor_of(index).map(of_descriptor),
            Of::OfDirectory(index) => {
                let directory = self.argument(index)? as *mut libc::DIR;
                // SAFETY: the program's open directory.
                let fd = (!directory.is_null()).then(|| unsafe { libc::dirfd(directory) });
                fd.map(of_descriptor)
            }
            Of::PositionOfStream(index) => self.descriptor_of(index).map(of_description),
            Of::File(index) => plain(index).and_then(of_file),
            Of::FileOfStream(index) => self.descriptor_of(index).and_then(of_file),
            Of::Path(index) => of_path(libc::AT_FDCWD, self.argument(index)?).map(Key::Of),
            Of::PathAt(directory, path) => {
                of_path(descriptor(directory)?, self.argument(path)?).map(Key::Of)
            }
            Of::Relative(index) => {
                let path = self.argument(index)? as *const u8;
                let relative = !path.is_null() && first_of(path).is_some_and(|byte| byte != b'/');
                relative.then_some(Key::Of(0))
            }
        }
    }

    /// The object behind the descriptor that it is about, where threads pass on bytes by it.
    fn object_of(&self, of: Of) -> Option<u64> {
        let fd = match of {
            // All else that is done by such a descriptor are steps of their own.
            Of::Descriptor(index) | Of::Open(index) => self.argument(index)? as c_int,
            _ => return None,
        };
        let is_followed = fd >= 0 && self.known(fd).is_followed;
        is_followed.then(|| io::object_of(fd)).flatten()
    }

    /// The stream that is this argument.
    fn any_stream(&self, index: u32) -> Option<u64> {
        let [input, output, errors] = standard_streams();
        let stream = match index {
            Of::STANDARD_INPUT => Some(input),
            Of::STANDARD_OUTPUT => Some(output),
            Of::STANDARD_ERRORS => Some(errors),
            index => self.argument(index),
        };
        stream.filter(|&stream| stream != 0)
    }

    /// The same, but for those of which nobody sees who used them.
    fn stream(&self, index: u32) -> Option<u64> {
        let [_, output, errors] = standard_streams();
        let is_seen =
            |stream: u64| ![output, errors].contains(&stream) || is_seen(stream) || are_looked_at();
        self.any_stream(index).filter(|&stream| is_seen(stream))
    }

    /// The descriptor of the stream that is this argument, if threads do not pass on bytes by it.
    fn descriptor_of(&self, index: u32) -> Option<c_int> {
        let stream = self.stream(index)? as *mut libc::FILE;
        // SAFETY: the program's stream.
        let fd = unsafe { libc::fileno(stream) };
        (fd >= 0 && !self.known(fd).is_followed).then_some(fd)
    }

    /// What is known of a descriptor.
    fn known(&self, fd: c_int) -> Descriptor {
        if let Some((_, known)) = self.met.get().filter(|met| met.0 == fd) {
            return known;
        }
        let (flags, stat) = (io::status_flags(fd), io::status(fd));
        let is_file = |stat: &libc::stat| {
            // Devices are no files.
            matches!(stat.st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFDIR)
        };
        let file = stat.filter(is_file).map(|stat| of_file(fd, &stat));
        let known = Descriptor {
            is_open: flags.is_some(),
            is_followed: file.is_none() && io::is_followed(fd),
            access: flags.unwrap_or(0) & libc::O_ACCMODE,
            file,
        };
        self.met.set(Some((fd, known)));
        known
    }

    /// What the call does to a state in this way.
    fn used(&self, way: &Used) -> Access {
        let fd = match way.of {
            Of::Position(index) | Of::File(index) => self.argument(index).map(|fd| fd as c_int),
            Of::PositionOfStream(index) | Of::FileOfStream(index) | Of::Stream(index) => {
                self.descriptor_of(index)
            }
            _ => None,
        };
        let is_file = matches!(way.of, Of::File(_) | Of::FileOfStream(_));
        let is_ordered = gate::flags() & flags::ORDERED_WRITES != 0;
        let opened = fd.map(|fd| self.known(fd).access);
        let writes = matches!(way.used, Use::Writes | Use::Adds);
        if is_file && writes && opened == Some(libc::O_RDONLY) {
            // Nothing that is to be written can be left.
            return Access::Looks;
        }
        way.used
            .access(opened == Some(libc::O_WRONLY) && !is_ordered)
    }
}

/// The stream that a call of this function locks while it runs.
pub fn locked_stream(name: &str, values: &[u64]) -> Option<u64> {
    let (name, values) = through(name, values)?;
    let call = Call {
        values,
        met: Cell::new(None),
    };
    call.any_stream(effects::locked_stream(name)?)
}

/// Standard input, output and error.
pub fn standard_streams() -> [u64; 3] {
    unsafe extern "C" {
        static stdin: *mut libc::FILE;
        static stdout: *mut libc::FILE;
        static stderr: *mut libc::FILE;
    }
    // SAFETY: variables of the C library.
    unsafe { [stdin as u64, stdout as u64, stderr as u64] }
}

/// Does this stream, one that is standard output or standard error now, lead to where somebody in the program
/// may see what is written there?
pub fn is_seen(stream: u64) -> bool {
    // SAFETY: the stream of a variable of the C library; the number of an error is put back.
    let fd = unsafe {
        let errno = *libc::__errno_location();
        let fd = libc::fileno(stream as *mut libc::FILE);
        *libc::__errno_location() = errno;
        fd
    };
    !is_unseen(fd)
}

fn slot_of(fd: c_int) -> Option<usize> {
    usize::try_from(fd).ok().filter(|&fd| fd < DESCRIPTORS)
}

fn first_duplicate(fd: c_int) -> usize {
    match slot_of(fd) {
        Some(place) => match world().duplicates[place] {
            0 => place,
            first => usize::from(first) - 1,
        },
        None => DESCRIPTORS,
    }
}

/// The key of the file behind a descriptor, which a call uses.
fn of_file(fd: c_int, stat: &libc::stat) -> u64 {
    if gate::asking::explores() && maps::files::is_shared(stat.st_dev, stat.st_ino) {
        // Whoever accesses the memory does not use the state.
        gate::uncontrolled("calls on a file that is mapped as shared memory");
    }
    key_of_file(fd, stat)
}

/// The key of the file behind a descriptor.
pub fn key_of_file(fd: c_int, stat: &libc::stat) -> u64 {
    let mut mixed = Fnv1a::default();
    mixed.add(&stat.st_dev.to_ne_bytes());
    mixed.add(&stat.st_ino.to_ne_bytes());
    // The path is the same in all executions, the inode is not. A file without a name is known by the
    // descriptor by which it is met.
    let by_path = || {
        let (mut path, mut hash) = ([0; 1024], Fnv1a::default());
        match stat.st_nlink {
            0 => hash.add(&fd.to_ne_bytes()),
            _ => hash.add(io::path_of(fd, &mut path).unwrap_or_default()),
        }
        hash.finish()
    };
    *world().files.entry(mixed.finish() | 1, by_path)
}

/// The first byte of a text, if it is there: the function that is called may find that it is not.
fn first_of(text: *const u8) -> Option<u8> {
    let mut byte = [0];
    gone::try_read(text as usize, &mut byte).then_some(byte[0])
}

/// The key of the file at a path from a directory.
fn of_path(directory: c_int, path: u64) -> Option<u64> {
    // SAFETY: the function that is called reads the path, too; nothing is opened but the name.
    unsafe {
        if path == 0 || first_of(path as *const u8) == Some(0) {
            return io::status(directory).map(|stat| of_file(directory, &stat));
        }
        let flags = (libc::O_PATH | libc::O_CLOEXEC) as usize;
        let directory = directory as usize;
        let fd = os::syscall(libc::SYS_openat, directory, path as usize, flags, 0, 0, 0) as c_int;
        let key = io::status(fd).map(|stat| of_file(fd, &stat));
        if fd >= 0 {
            os::syscall(libc::SYS_close, fd as usize, 0, 0, 0, 0, 0);
        }
        key
    }
}

/// The place of a state is the same in all executions.
fn place(number: usize, key: u64) -> usize {
    let mixed = (key ^ (number as u64) << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as usize & (MOST - 1)
}

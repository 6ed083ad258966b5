//! What functions of the C library, and of the kernel behind it, keep between calls: whoever calls one
//! finds what others have left there, though no memory of the program is shared.

use super::kept::STATES;
use super::{DIRECT, Variable};
use crate::conflict::Access;

/// What a row says that calls do to such a state: an [`Access`], or one that depends on the descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Looks,
    Changes,
    /// Its place among other additions does not matter, or matters only to who looks at them later
    /// ([`State::ordered`]).
    Adds,
    /// It adds if nobody can read by the descriptor or the stream; otherwise it changes it.
    Writes,
}

impl Use {
    /// What a call does. `added`: may what it writes count as added?
    pub const fn access(self, added: bool) -> Access {
        match self {
            Use::Looks => Access::Looks,
            Use::Adds => Access::Adds,
            Use::Writes if added => Access::Adds,
            Use::Changes | Use::Writes => Access::Changes,
        }
    }
}

/// Which calls of a function do that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Always,
    /// Those whose flags, this argument, say that a file is created.
    Creates(u32),
    /// Those whose flags say that a file is emptied.
    Empties(u32),
    /// Those whose mode, a text, does not begin with `r`.
    CreatesAs(u32),
    /// Those whose mode begins with `w`.
    EmptiesAs(u32),
    /// Those whose command, this argument, is one of these.
    Command(u32, &'static [i32]),
    /// Those where it is none of these.
    OtherCommand(u32, &'static [i32]),
    /// Those where this argument is not zero.
    Given(u32),
    /// Those where this argument is zero.
    Null(u32),
    /// Those that map memory where they say, whatever is there: their flags are this argument.
    Fixed(u32),
}

/// Whose state it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// There is one in the process.
    Process,
    /// That of what this argument stands for.
    Argument(u32),
    /// That of the stream that is this argument, but for standard output and standard error where they
    /// lead to where the program was started with.
    Stream(u32),
    /// That of this argument, a descriptor.
    Descriptor(u32),
    /// The same, of one that threads do not pass on bytes by.
    Plain(u32),
    /// That of the descriptor of the stream that is this argument.
    OfStream(u32),
    /// That of the descriptor of the open directory that is this argument.
    OfDirectory(u32),
    /// That of the open file description of this argument, a descriptor: all that are duplicates of
    /// one have one.
    Open(u32),
    /// The same, of one that threads do not pass on bytes by.
    Position(u32),
    /// That of the open file description of a stream.
    PositionOfStream(u32),
    /// That of the file that this argument, a descriptor, leads to, if threads do not pass on bytes
    /// by it.
    File(u32),
    /// That of the file of a stream.
    FileOfStream(u32),
    /// That of the file that this argument, a path, leads to.
    Path(u32),
    /// That of the file that a path leads to, from the directory that is the first argument; if it is
    /// empty, that of the file behind the descriptor itself.
    PathAt(u32, u32),
    /// There is one in the process, for paths that are relative.
    Relative(u32),
}

impl Of {
    /// Instead of the number of an argument that is a stream.
    pub const STANDARD_INPUT: u32 = u32::MAX;
    pub const STANDARD_OUTPUT: u32 = u32::MAX - 1;
    pub const STANDARD_ERRORS: u32 = u32::MAX - 2;
}

/// Functions of streams: the argument that the stream is, and their names.
pub type Streams = &'static [(u32, &'static str)];

/// Whose state it is, by the argument that the stream is.
pub type OfStream = fn(u32) -> Of;

/// A kind of state.
#[derive(Debug)]
pub struct State {
    /// What people call it.
    pub name: &'static str,
    /// Does it show in which order several have added to it?
    pub ordered: bool,
    /// Is it told of only where the program changes what is the same for ever in others? Names of
    /// functions and variables of which a module asks for one.
    pub only_with: &'static str,
    /// Variables of the library that show it.
    pub variables: &'static [Variable],
    /// The name of the state that calls change which change this one of everybody's at once: whoever uses
    /// one looks at that.
    pub all: &'static str,
    /// The same of calls that look at this one of everybody's: whoever changes one adds to that.
    pub any: &'static str,
    /// What is said if a thread uses it while another one changes it, where the functions that do so are not
    /// safe for threads ("MT-Unsafe" in the manual of glibc): beside another call, one is more than a step.
    /// Empty: they are.
    pub at_once: &'static str,
    /// Whose it is for the functions with these names, what they do to it, and when.
    pub(super) functions: &'static [(Of, Use, When, &'static str)],
    /// The same for functions of streams: whose it is, by the argument that the stream is.
    pub(super) streams: (OfStream, &'static [(Use, Streams)]),
}

/// One way in which calls of a function use a state.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// The number of the state.
    pub number: usize,
    pub state: &'static State,
    /// The numbers of [`State::all`] and [`State::any`].
    pub all: Option<usize>,
    pub any: Option<usize>,
    pub of: Of,
    pub used: Use,
    pub when: When,
}

/// The name without what does not matter: whether offsets have 64 bits, who takes locks, whether sizes
/// are checked, which revision of C it is from. Where arguments come in another place, it is kept.
fn bare(name: &str) -> &str {
    if ["__fgets", "__fread", "__fgetws"]
        .iter()
        .any(|one| name.starts_with(one))
    {
        return name;
    }
    let mut bare = name.trim_start_matches("_IO_").trim_start_matches('_');
    for front in ["isoc99_", "isoc23_", "xpg_"] {
        bare = bare.strip_prefix(front).unwrap_or(bare);
    }
    for end in ["_chk", "_2", "_unlocked", "64"] {
        bare = bare.strip_suffix(end).unwrap_or(bare);
    }
    match bare {
        "readdir64_r" => "readdir_r",
        bare => bare,
    }
}

impl State {
    /// How many there are.
    pub const COUNT: usize = STATES.len();
    /// Ways in which one function uses states, at most.
    pub const WAYS: usize = 24;
    /// Name of the state which numbers of descriptors are open.
    pub const NUMBERS: &str = "which descriptors are open";
    /// Name of the states what is in a file.
    pub const CONTENT: &str = "what is in a file";
    /// Name of the state which memory may be accessed by the kernel.
    pub const PAGES: &str = "which memory may be accessed";
    /// What changes which files all paths lead to, those of the library's own and of functions that are
    /// modelled included.
    pub const MOVES_ROOT: &str = "chroot";
    /// Name of the states of single descriptors.
    pub const DESCRIPTOR: &str = "a descriptor";

    /// Does any function of the library change it? If not, only what programs do to its variables matters.
    pub fn is_changed(&self) -> bool {
        self.rows().any(|(_, used, ..)| used != Use::Looks)
    }

    /// What the function of this name uses.
    pub fn used_by(name: &str) -> impl Iterator<Item = Used> {
        let name = bare(name);
        let all = STATES.iter().enumerate();
        all.flat_map(move |(number, state)| {
            let rows = state.rows();
            let rows =
                rows.filter(move |row| row.3.split_ascii_whitespace().any(|one| one == name));
            rows.map(move |(of, used, when, _)| Used {
                number,
                state,
                all: State::number(state.all),
                any: State::number(state.any),
                of,
                used,
                when,
            })
        })
    }

    /// Whose it is, what is done to it, when, and the names of the functions that do that.
    fn rows(&self) -> impl Iterator<Item = (Of, Use, When, &'static str)> {
        let (of, uses) = self.streams;
        let by_stream = uses.iter().flat_map(move |(used, functions)| {
            let functions = functions.iter();
            functions.map(move |&(argument, names)| (of(argument), *used, When::Always, names))
        });
        self.functions.iter().copied().chain(by_stream)
    }

    /// All of them.
    pub fn all() -> &'static [State] {
        STATES
    }

    /// The number of the state with this name.
    pub fn number(name: &str) -> Option<usize> {
        STATES.iter().position(|state| state.name == name)
    }
}

/// Does the function with this name keep something between calls that others find? `None`: not;
/// `Some(true)`: in every program.
pub fn keeps_state(name: &str) -> Option<bool> {
    // Which function it stands for is known when it is called.
    if name == DIRECT {
        return Some(true);
    }
    let mut used = State::used_by(name).map(|used| used.state.only_with.is_empty());
    let first = used.next()?;
    Some(first || used.any(|always| always))
}

/// The argument that is the stream which the function with this name locks while it runs (or one of [`Of`]'s
/// numbers for the standard streams).
pub fn locked_stream(name: &str) -> Option<u32> {
    // Its message goes to a stream of its own; the number of a descriptor is asked for without a lock.
    const OTHERS: &str = "perror psignal psiginfo fileno fileno_unlocked";
    if name.contains("_unlocked") || OTHERS.split(' ').any(|other| other == name) {
        return None;
    }
    State::used_by(name).find_map(|used| match used.of {
        Of::Stream(argument) => Some(argument),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::format;

    #[test]
    fn who_locks_a_stream() {
        for (name, argument) in [
            ("fputc", Some(1)),
            ("fclose", Some(0)),
            ("printf", Some(Of::STANDARD_OUTPUT)),
            ("fread", Some(3)),
            ("fputc_unlocked", None),
            ("fileno", None),
            ("fopen", None),
            ("read", None),
        ] {
            assert_eq!(locked_stream(name), argument, "{name}");
        }
    }

    #[test]
    fn a_function_uses_a_state_of_somebody_in_one_way_at_a_time() {
        let mut names = BTreeSet::new();
        for state in STATES {
            let same = STATES.iter().filter(|other| other.name == state.name);
            assert_eq!(same.count(), 1, "{}", state.name);
            for other in [state.all, state.any]
                .into_iter()
                .filter(|name| !name.is_empty())
            {
                assert!(State::number(other).is_some(), "{other}");
            }
            let mut rows = BTreeSet::new();
            for (of, _, when, functions) in state.rows() {
                for name in functions.split_ascii_whitespace() {
                    assert_eq!(bare(name), name, "{}", state.name);
                    let row = (name, format!("{of:?} {when:?}"));
                    assert!(rows.insert(row), "{}: {name}", state.name);
                    names.insert(name);
                    assert!(State::used_by(name).count() <= State::WAYS, "{name}");
                }
            }
        }
        assert!(names.len() > 600, "{}", names.len());
        assert_eq!(keeps_state("malloc"), None);
        assert_eq!(keeps_state("toupper"), Some(false));
        assert_eq!(keeps_state("rand"), Some(true));
    }

    #[test]
    fn names_of_one_function_are_one() {
        let cases = [
            ("pread", "pread64"),
            ("open", "__open64_2"),
            ("getc", "_IO_getc"),
            ("getc", "getc_unlocked"),
            ("fscanf", "__isoc99_fscanf"),
            ("fprintf", "__fprintf_chk"),
            ("ctype_b_loc", "__ctype_b_loc"),
        ];
        for (name, other) in cases {
            assert_eq!(bare(other), name);
        }
    }

    #[test]
    fn whoever_uses_a_stream_uses_the_same_state() {
        let stream = State::number("a stream").expect("there is one");
        for name in ["fputc", "fgets", "fread", "ungetc", "getchar", "ftell"] {
            let mut used = State::used_by(name);
            assert!(used.any(|used| used.number == stream), "{name}");
        }
    }
}

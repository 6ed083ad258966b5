//! Memory of the program that the C library keeps, and uses in later calls.

use super::When;

/// How many bytes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// As many as this argument says.
    Given(u32),
    /// BUFSIZ.
    OfStream,
    /// A text with its NUL.
    Text,
    /// A state of `random`, whose first word tells which kind it is.
    OfRandom,
}

/// Who uses it later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// Calls on the stream that is the first argument.
    Stream,
    /// Calls that use the [state](super::State) with this name.
    State(&'static str),
}

/// Of `hsearch`: the entry becomes a part of the table.
const ENTER: i32 = 1;

/// Functions that keep where an argument leads.
#[derive(Debug, PartialEq, Eq)]
pub struct Lent {
    names: &'static str,
    pub argument: u32,
    pub bytes: Bytes,
    /// Later calls may write there.
    pub writes: bool,
    pub user: User,
    /// Which calls keep it.
    pub when: When,
    /// What was kept before is given back.
    pub replaces: bool,
}

impl Lent {
    /// Functions behind which their user keeps nothing any more.
    const ENDS: &'static str = "fclose pclose freopen freopen64 fcloseall hdestroy closelog";

    const ROWS: &'static [Lent] = &[
        Lent::buffer("setbuf", Bytes::OfStream),
        Lent::buffer("setbuffer", Bytes::Given(2)),
        Lent::buffer("setvbuf", Bytes::Given(3)),
        Lent {
            writes: true,
            ..Lent::kept("initstate", 1, Bytes::Given(2), "the state of rand")
        },
        Lent {
            writes: true,
            ..Lent::kept("setstate", 0, Bytes::OfRandom, "the state of rand")
        },
        Lent::kept("openlog", 0, Bytes::Text, "what syslog is set to"),
        Lent {
            replaces: false,
            ..Lent::kept("putenv", 0, Bytes::Text, "the environment")
        },
        Lent {
            when: When::Command(2, &[ENTER]),
            replaces: false,
            ..Lent::kept("hsearch", 0, Bytes::Text, "the table of hsearch")
        },
    ];

    const fn buffer(names: &'static str, bytes: Bytes) -> Lent {
        Lent {
            names,
            argument: 1,
            bytes,
            writes: true,
            user: User::Stream,
            when: When::Always,
            replaces: true,
        }
    }

    const fn kept(names: &'static str, argument: u32, bytes: Bytes, state: &'static str) -> Lent {
        Lent {
            names,
            argument,
            bytes,
            writes: false,
            user: User::State(state),
            when: When::Always,
            replaces: true,
        }
    }

    /// What the function with this name keeps.
    pub fn of(name: &str) -> Option<&'static Lent> {
        let is_one = |row: &&Lent| row.names.split_ascii_whitespace().any(|one| one == name);
        Lent::ROWS.iter().find(is_one)
    }

    /// Does the function with this name give back what its user keeps?
    pub fn ends(name: &str) -> bool {
        let mut names = Lent::ENDS.split_ascii_whitespace();
        names.any(|one| one == name)
    }

    /// The names of all functions that keep something.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let rows = Lent::ROWS.iter();
        rows.flat_map(|row| row.names.split_ascii_whitespace())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Known, Of, State};
    use super::*;

    #[test]
    fn whoever_keeps_something_uses_the_state_of_its_users() {
        for name in Lent::names() {
            let row = Lent::of(name).unwrap();
            let mut used = State::used_by(name);
            let found = match row.user {
                User::Stream => used.any(|used| used.of == Of::Stream(0)),
                User::State(state) => used.any(|used| used.state.name == state),
            };
            assert!(found, "{name}");
            assert!(Known::of(name).is_some(), "{name}");
        }
        for name in Lent::ENDS.split_ascii_whitespace() {
            assert!(State::used_by(name).next().is_some(), "{name}");
        }
    }
}

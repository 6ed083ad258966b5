//! What functions of the C library do where their arguments lead, and with what the library keeps
//! between calls. The library has no hooks, so the code that calls it tells of that. There is one row
//! for a function, used by all that explores or judges: steps and conflicts, races, `verify`.
//!
//! A function is in exactly one of four places: it has a [row](find); [`Known::Nothing`]: it does
//! nothing to memory of the program; [`Known::Otherwise`]: what it does is told of in another way (it
//! is intercepted, or the compiler's code does the access); [`Known::Unknown`]: it does more than a row
//! can say, so that no search claims to have seen all of a program that calls it.

mod direct;
mod files;
mod kept;
mod lent;
mod lists;
mod numbers;
mod states;
mod system;
mod texts;
pub mod variables;
mod wide;

pub use direct::{Direct, FUNCTION as DIRECT, direct, is_known, through};
pub use lent::{Bytes, Lent, User};
pub use lists::Known;
pub use states::{Of, State, Use, Used, When, keeps_state, locked_stream};
pub use variables::Variable;

/// What is not under control where a copy, or a call, is too long for each of its accesses to be a step.
pub const LONG: &str = "the order within a copy or fill of more than 8192 bytes, or within a call of the C \
                        library that sorts, or accesses more than 64 words (texts: 1024 bytes) one by one";

/// What is not under control where a call reads what it has read before, and others have written there.
pub const TWICE: &str = "what a call of the C library reads twice";

/// Instead of the number of an argument: there is none, such as no limit.
pub const NONE: u8 = u8::MAX;

/// Where an access begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Where this argument leads.
    Argument(u8),
    /// Where the pointer leads to which this argument leads.
    Behind(u8),
    /// Where the first argument leads, or where the pointer does to which the second one leads, if the
    /// first one is null.
    Either(u8, u8),
    /// Where this argument leads, or, if it is null, what strtok keeps.
    Kept(u8),
    /// Where the result leads: memory of the library's own, which is zero at first.
    Own,
    /// Where results of [`Place::DATES`] lead, which others write, too.
    Date,
    /// The variables of getopt.
    Options,
}

impl Place {
    /// One of the functions that return the date which the library keeps.
    pub const DATES: &str = "gmtime";
}

/// How far an access goes. Numbers and texts are those of arguments; a unit is [`Effect::unit`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// So many bytes.
    Size(u16),
    /// As many units as the argument says.
    Bytes(u8),
    /// As many bytes as these two say, multiplied.
    Product(u8, u8),
    /// As many bytes as the number of so many bytes says to which this argument leads.
    SizeAt(u8, u8),
    /// An address of the network of this family.
    Family(u8),
    /// A text with its NUL, of no more units than the argument says.
    Text(u8),
    /// A text with its NUL, or up to the first unit of this value.
    TextUntil(u8),
    /// Up to the first unit of a value, of no more than a limit: argument of the value, of the limit.
    Until(u8, u8),
    /// The same, as it lies where another argument leads: that one, value, limit.
    CopyUntil(u8, u8, u8),
    /// Two texts up to where they differ, this one and the one of the first argument; no more units
    /// than the second one says.
    Common(u8, u8),
    /// The same where letters of either case are one.
    CommonFolded(u8, u8),
    /// One unit, which becomes 0, if the argument (a limit) is above 0, before what stands behind this in the
    /// row is read; what is written there comes later.
    Cleared(u8),
    /// As many units as the text of this argument has, with its NUL; no more than the second one says.
    Copy(u8, u8),
    /// As [`Extent::Copy`], behind the text that is there, whose NUL is overwritten; where a limit
    /// cuts the text short, a NUL follows.
    Append(u8, u8),
    /// A text up to the first unit that is in the set of this argument, that one included.
    Without(u8),
    /// The same, that is not in the set.
    Within(u8),
    /// A text up to the end of the first one in it that is the text of this argument.
    Find(u8),
    /// The same where letters of either case are one.
    FindFolded(u8),
    /// A text as far as it is looked at to read a whole number in the base of this argument ([`NONE`]:
    /// ten).
    Number(u8),
    /// The same, of a floating-point number.
    Floating,
    /// The next token of a text, between units of the set of this argument, and what ends it.
    Token(u8),
    /// What ends that token and becomes a NUL.
    TokenEnd(u8),
    /// The next field of a text, up to a unit of the set of this argument.
    Field(u8),
    /// What ends that field and becomes a NUL.
    FieldEnd(u8),
    /// A format of the printf family, and the texts that it asks for: arguments from this one on.
    Format(u8),
    /// The same with a `va_list`, which is this argument.
    List(u8),
    /// Where a format of the printf family says to store how much was written: arguments from this one on.
    Counts(u8),
    /// The same with a `va_list`, which is this argument.
    CountsList(u8),
    /// As many bytes as the fields of a vector say of which this argument gives the number, in turn.
    Vector(u8),
    /// The same of a message's header, to which the argument of the access leads, and its name and what goes
    /// with it.
    Message,
    /// The same of as many such headers, each with a length behind it, as this argument says; of those that
    /// were got, as many bytes as their lengths say.
    Messages(u8),
    /// The text to which the pointer leads that lies so many bytes further on.
    TextAt(u8),
    /// An array of texts, with them: as many as the argument says, or up to a null pointer.
    Texts(u8),
    /// An array of options with long names, and these, up to one without; of a write, where they say that
    /// their values are to be stored.
    LongOptions,

    // What is known only after the call: before it, all that may come.
    /// As many units as the result says, if it is above 0; no more than the argument says.
    Result(u8),
    /// As many times what the first argument says as the result says, no more than the second one.
    ResultTimes(u8, u8),
    /// As many units as the result says, and one more, if that is not negative.
    ResultAndOne,
    /// The same, of no more units than the argument says.
    Printed(u8),
    /// A text that was written, of no more units than the argument says.
    Written(u8),
    /// The same, if the result is not null.
    Line(u8),
    /// What a format of the scanf family asks for: arguments from this one on; as many as the result
    /// says.
    Scanned(u8),
    /// The same with a `va_list`, which is this argument.
    ScannedList(u8),
}

/// What the result of a call says of whether it has made an access: a call that fails leaves alone what it would
/// fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultIs {
    Always,
    /// The result is 0: otherwise it is the number of an error, or -1.
    Zero,
    NotZero,
    Positive,
    Negative,
    NotNegative,
}

impl ResultIs {
    /// Has a call with this result, of which the low 32 bits count, made the access?
    pub const fn holds(self, result: i64) -> bool {
        let result = result as i32;
        match self {
            ResultIs::Always => true,
            ResultIs::Zero => result == 0,
            ResultIs::NotZero => result != 0,
            ResultIs::Positive => result > 0,
            ResultIs::Negative => result < 0,
            ResultIs::NotNegative => result >= 0,
        }
    }
}

/// One access by a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    pub place: Place,
    /// Written, not read.
    pub writes: bool,
    pub extent: Extent,
    /// Bytes of one unit: those of a character or of an element.
    pub unit: u8,
    /// It may happen, or only in part: it is in conflict, but no access that races with others.
    pub may: bool,
    /// It may go on as far as the extent says; its first unit is accessed in any case.
    pub begins: bool,
    /// It is written several times, in an order that only the library knows: others may find what is neither as
    /// before nor as behind the call.
    pub restless: bool,
    /// Only functions of the library know what lies in there, such as a set of signals: nobody tells
    /// whether others come in between.
    pub opaque: bool,
    pub result: ResultIs,
}

impl Effect {
    const fn of(place: Place, writes: bool, extent: Extent) -> Effect {
        Effect {
            place,
            writes,
            extent,
            unit: 1,
            may: false,
            begins: false,
            restless: false,
            opaque: false,
            result: ResultIs::Always,
        }
    }

    /// Where the result is so.
    const fn if_result(mut self, result: ResultIs) -> Effect {
        self.result = result;
        self
    }

    /// With units of so many bytes.
    const fn units(mut self, bytes: u8) -> Effect {
        self.unit = bytes;
        self
    }

    /// With wide characters.
    const fn wide(self) -> Effect {
        self.units(4)
    }

    const fn may(mut self) -> Effect {
        self.may = true;
        self
    }

    const fn at_least_first(mut self) -> Effect {
        (self.may, self.begins) = (true, true);
        self
    }

    const fn restless(mut self) -> Effect {
        self.restless = true;
        self
    }

    const fn opaque(mut self) -> Effect {
        self.opaque = true;
        self
    }

    /// Does the result tell whether it has happened?
    pub const fn depends_on_result(&self) -> bool {
        !matches!(self.result, ResultIs::Always)
    }

    /// It is on a structure of so many bytes that it is taken in few steps.
    pub const fn is_large(&self) -> bool {
        matches!(self.extent, Extent::Size(65..))
    }

    /// Is it a write of 0 in between what the call reads?
    pub const fn clears(&self) -> bool {
        matches!(self.extent, Extent::Cleared(_))
    }

    /// Does it look how far a text goes?
    pub const fn reads_text(&self) -> bool {
        use Extent::*;
        !self.writes
            && matches!(
                self.extent,
                Text(_)
                    | TextUntil(_)
                    | Until(..)
                    | CopyUntil(..)
                    | Common(..)
                    | CommonFolded(..)
                    | Without(_)
                    | Within(_)
                    | Find(_)
                    | FindFolded(_)
                    | Number(_)
                    | Floating
                    | Token(_)
                    | Field(_)
                    | Format(_)
                    | List(_)
            )
    }

    /// A text is read up to where it differs from another one.
    pub const fn is_compared(&self) -> bool {
        matches!(self.extent, Extent::Common(..) | Extent::CommonFolded(..))
    }

    /// How far it goes is known only after the call.
    pub const fn is_after(&self) -> bool {
        use Extent::*;
        let vector = self.writes && matches!(self.extent, Vector(_) | Message | Messages(_));
        vector
            || matches!(self.place, Place::Own)
            || matches!(
                self.extent,
                Result(_)
                    | ResultTimes(..)
                    | ResultAndOne
                    | Printed(_)
                    | Written(_)
                    | Line(_)
                    | Scanned(_)
                    | ScannedList(_)
            )
    }

    /// The arguments that have to be pointers, and those that have to be numbers; [`NONE`] stands for
    /// none.
    pub const fn arguments(&self) -> ([u8; 3], [u8; 2]) {
        use Extent::*;
        let (first, second) = match self.place {
            Place::Argument(a) | Place::Behind(a) | Place::Kept(a) => (a, NONE),
            Place::Either(a, b) => (a, b),
            Place::Own | Place::Date | Place::Options => (NONE, NONE),
        };
        let (third, numbers) = match self.extent {
            Bytes(n) | Text(n) | TextUntil(n) | Number(n) | Result(n) | Printed(n) | Written(n)
            | Line(n) | Cleared(n) | Family(n) | Vector(n) | Messages(n) | Texts(n) => {
                (NONE, [n, NONE])
            }
            Product(a, b) | Until(a, b) | ResultTimes(a, b) => (NONE, [a, b]),
            SizeAt(at, _)
            | Without(at)
            | Within(at)
            | Find(at)
            | FindFolded(at)
            | Token(at)
            | TokenEnd(at)
            | Field(at)
            | FieldEnd(at) => (at, [NONE; 2]),
            Common(text, n) | CommonFolded(text, n) | Copy(text, n) | Append(text, n) => {
                (text, [n, NONE])
            }
            CopyUntil(other, value, n) => (other, [value, n]),
            Size(_) | Floating | Format(_) | List(_) | Counts(_) | CountsList(_) | Message
            | TextAt(_) | LongOptions | ResultAndOne | Scanned(_) | ScannedList(_) => {
                (NONE, [NONE; 2])
            }
        };
        ([first, second, third], numbers)
    }

    /// The argument that leads there, if one does.
    pub const fn argument(&self) -> Option<u8> {
        match self.place {
            Place::Argument(a) | Place::Behind(a) | Place::Either(a, _) | Place::Kept(a) => Some(a),
            Place::Own | Place::Date | Place::Options => None,
        }
    }

    /// The first of the arguments that are given in place of `...`, where the format asks for them.
    pub const fn variadic(&self) -> Option<u8> {
        match self.extent {
            Extent::Format(first) | Extent::Scanned(first) | Extent::Counts(first) => Some(first),
            _ => None,
        }
    }

    /// The `va_list` by which they are given, where the function takes one.
    pub const fn list(&self) -> Option<u8> {
        match self.extent {
            Extent::List(list) | Extent::ScannedList(list) | Extent::CountsList(list) => Some(list),
            _ => None,
        }
    }

    /// Is it also on what lies behind pointers that lie there?
    pub const fn leads_on(&self) -> bool {
        use Extent::*;
        matches!(
            self.extent,
            Vector(_) | Message | Messages(_) | TextAt(_) | Texts(_) | LongOptions
        )
    }

    /// Does it lie where something else says that the argument leads to, and not there?
    pub const fn is_elsewhere(&self) -> bool {
        let options = matches!(self.extent, Extent::LongOptions);
        self.writes && (options || self.variadic().is_some() || self.list().is_some())
    }
}

const fn reads(argument: u8, extent: Extent) -> Effect {
    Effect::of(Place::Argument(argument), false, extent)
}

const fn writes(argument: u8, extent: Extent) -> Effect {
    Effect::of(Place::Argument(argument), true, extent)
}

/// What snprintf and its kin do first: the text is empty, unless this limit leaves no room for it.
const fn clears(argument: u8, limit: u8) -> Effect {
    writes(argument, Extent::Cleared(limit))
}

/// Where this format, whose arguments follow from number `first` on, says to store counts.
const fn counts(format: u8, first: u8) -> Effect {
    writes(format, Extent::Counts(first))
}

/// The same with a `va_list`.
const fn counts_list(format: u8, list: u8) -> Effect {
    writes(format, Extent::CountsList(list))
}

/// The functions with these names, and what they do, in order.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    names: &'static str,
    pub effects: &'static [Effect],
    /// The call has steps of its own, after which others may have come in between.
    pub steps: bool,
}

const fn row(names: &'static str, effects: &'static [Effect]) -> Row {
    Row {
        names,
        effects,
        steps: false,
    }
}

/// Of functions whose calls have steps.
const fn stepping(names: &'static str, effects: &'static [Effect]) -> Row {
    Row {
        names,
        effects,
        steps: true,
    }
}

const TABLES: [&[Row]; 5] = [
    texts::ROWS,
    wide::ROWS,
    numbers::ROWS,
    files::ROWS,
    system::ROWS,
];

/// Goes on with a hash over what rows have which numbers.
pub(crate) const fn fingerprint(mut hash: u64) -> u64 {
    let mut table = 0;
    while table < TABLES.len() {
        let mut n = 0;
        while n < TABLES[table].len() {
            hash = crate::hash(hash, TABLES[table][n].names.as_bytes());
            n += 1;
        }
        table += 1;
    }
    hash
}

impl Row {
    /// Every row; the place in this order is its number.
    pub fn all() -> impl Iterator<Item = &'static Row> {
        TABLES.into_iter().flatten()
    }

    /// The row with this number.
    pub fn numbered(number: u32) -> Option<&'static Row> {
        let mut left = number as usize;
        TABLES.into_iter().find_map(|table| {
            let found = table.get(left);
            left = left.wrapping_sub(table.len());
            found.filter(|_| found.is_some())
        })
    }

    /// Do the functions of the row with this number work on memory alone, so that nothing keeps them from
    /// writing?
    pub fn is_of_memory(number: u64) -> bool {
        number < (texts::ROWS.len() + wide::ROWS.len()) as u64
    }

    /// Is it certain that a call with this result has written all that the effect says, and does not
    /// only keep up to date what it has read there? (If not, what has changed tells.) `number`: that of
    /// this row.
    pub fn has_written(&self, number: u64, effect: &Effect, result: i64) -> bool {
        let is_status = matches!(effect.extent, Extent::Size(_));
        let is_read = |other: &Effect| {
            !other.writes && other.place == effect.place && other.extent == effect.extent
        };
        match effect.may || self.effects.iter().any(is_read) {
            true => false,
            false if effect.is_after() => true,
            false if Row::is_of_memory(number) => !is_status || result >= 0,
            false if effect.depends_on_result() => !self.steps && effect.result.holds(result),
            false => is_status && !self.steps && result == 0,
        }
    }

    /// The number of a row whose functions return the same memory of the library's own as those of the row
    /// with this number: its own where there is no other.
    pub fn with_results_of(number: u64) -> u64 {
        let row = Row::numbered(number as u32);
        let shares = row.is_some_and(|row| row.names == "ctime");
        let other = shares.then(|| find("asctime")).flatten();
        other.map_or(number, |(other, _)| other.into())
    }

    /// Does a call show where memory of the library's own lies, or where the next call goes on?
    pub fn keeps_place(&self) -> bool {
        let mut effects = self.effects.iter();
        effects.any(|effect| matches!(effect.place, Place::Own | Place::Kept(_)))
    }

    /// The names of its functions.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.split_ascii_whitespace()
    }
}

/// The row of the function with this name, and its number.
pub fn find(name: &str) -> Option<(u32, &'static Row)> {
    let mut rows = (0..).zip(Row::all());
    rows.find(|(_, row)| row.names().any(|one| one == name))
}

/// What the function with this name does to memory; nothing of one that has no row.
pub fn of(name: &str) -> &'static [Effect] {
    find(name).map_or(&[], |found| found.1.effects)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_name_is_in_one_place() {
        let mut names: Vec<&str> = Row::all().flat_map(Row::names).collect();
        names.extend(
            Known::lists()
                .iter()
                .flat_map(|list| list.split_ascii_whitespace()),
        );
        names.sort_unstable();
        for pair in names.windows(2) {
            assert_ne!(pair[0], pair[1], "it is there twice");
        }
    }

    /// The arguments whose pointees have to be read to know where the access is, or how far it goes.
    fn depends_on(effect: &Effect) -> [u8; 2] {
        let place = match effect.place {
            Place::Behind(a) | Place::Either(_, a) => a,
            _ => NONE,
        };
        use Extent::*;
        let extent = match (effect.extent, effect.place) {
            (SizeAt(at, _) | Without(at) | Within(at) | Find(at) | FindFolded(at), _) => at,
            (Token(at) | TokenEnd(at) | Field(at) | FieldEnd(at), _) => at,
            (Copy(at, _) | Append(at, _) | CopyUntil(at, ..), _) => at,
            // The vector of the same argument.
            (Vector(_) | Message | Messages(_), Place::Argument(a)) => a,
            _ => NONE,
        };
        [place, extent]
    }

    /// What decides where a call accesses memory is read before.
    #[test]
    fn what_leads_to_an_access_is_read_before() {
        for row in Row::all() {
            for (n, effect) in row.effects.iter().enumerate() {
                for from in depends_on(effect).into_iter().filter(|&a| a != NONE) {
                    let mut before = row.effects[..n].iter();
                    let is_read = |e: &Effect| e.place == Place::Argument(from) && !e.writes;
                    assert!(before.any(is_read), "{:?}: {from}: {effect:?}", row.names);
                }
            }
        }
    }

    #[test]
    fn numbers_find_their_rows() {
        for (number, row) in (0..).zip(Row::all()) {
            assert_eq!(Row::numbered(number), Some(row));
            for name in row.names() {
                assert_eq!(find(name), Some((number, row)), "{name}");
            }
        }
        let count = Row::all().count() as u32;
        assert_eq!(Row::numbered(count), None);
        assert!(of("rand").is_empty());
    }
}

//! getopt and its kin, as the GNU C library does them (posix/getopt.c in version 2.36): which
//! option an argument is, is decided; the order of the arguments changes as there.

use super::machine::{Machine, Val};
use super::strings::{self, ALL};
use core::cell::UnsafeCell;
use core::ffi::{CStr, c_int};
use raddle_protocol::expr::Op;
use raddle_protocol::library::Model;

/// Which of the functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Short,
    /// Options stop at the first other argument.
    Posix,
    Long,
    /// Long options may begin with one dash.
    LongOnly,
}

/// The form of getopt that the model is.
pub fn form(model: Model) -> Option<Form> {
    Some(match model {
        Model::Getopt => Form::Short,
        Model::PosixGetopt => Form::Posix,
        Model::GetoptLong => Form::Long,
        Model::GetoptLongOnly => Form::LongOnly,
        _ => return None,
    })
}

/// The arguments of a call; addresses.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub form: Form,
    pub count: i32,
    pub arguments: u64,
    pub letters: u64,
    /// An array of `struct option`, or 0.
    pub names: u64,
    /// Where the index of a long option goes, or 0.
    pub index: u64,
}

unsafe extern "C" {
    static mut optarg: u64;
    static mut optind: c_int;
    static mut opterr: c_int;
    static mut optopt: c_int;
}

/// What the C library keeps between two calls. Accessed like memory of the program.
#[repr(C)]
struct Kept {
    /// The rest of a group of letters; 0: there is none.
    rest: u64,
    /// Arguments that are no options, and were passed over: from here, up to there.
    passed: u64,
    passed_end: u64,
    order: u64,
    is_begun: u64,
    /// `optopt`; a program that changes that does not change this.
    letter: u32,
}

struct Place(UnsafeCell<Kept>);

// SAFETY: accessed like memory of the program, by one thread at a time.
unsafe impl Sync for Place {}

static KEPT: Place = Place(UnsafeCell::new(Kept {
    rest: 0,
    passed: 0,
    passed_end: 0,
    order: 0,
    is_begun: 0,
    letter: 0,
}));

macro_rules! kept {
    ($field:ident) => {
        KEPT.0.get() as u64 + core::mem::offset_of!(Kept, $field) as u64
    };
}

/// What becomes of arguments that are no options: they go behind the options, end them, or are
/// returned as if they were options.
const PERMUTE: u64 = 0;
const END: u64 = 1;
const RETURN: u64 = 2;

/// Bytes of a `struct option`, and where its parts lie.
const NAME_SIZE: u64 = 32;
const HAS_ARGUMENT: u64 = 8;
const FLAG: u64 = 16;
const VALUE: u64 = 24;

/// Performs a call.
pub fn next(m: &mut impl Machine, request: Request) -> Val {
    if request.count < 1 {
        return NONE;
    }
    let complains = m.read_number(&raw const opterr as u64) != 0;
    let at = m.read_number(&raw const optind as u64);
    let mut search = Search {
        m,
        request,
        letters: request.letters,
        complains,
        at,
        found: 0,
    };
    let result = search.next();
    let Search { at, found, .. } = search;
    m.write_value(&raw const optind as u64, Val::of(32, at as u64));
    m.write_word(&raw const optarg as u64, found);
    let letter = m.read_value(kept!(letter), 32);
    m.write_value(&raw const optopt as u64, letter);
    result
}

/// There are no more options.
const NONE: Val = number(-1);
const UNKNOWN: Val = number(b'?' as i32);

const fn number(n: i32) -> Val {
    Val {
        expr: 0,
        value: n as u32 as u64,
        width: 32,
    }
}

/// One call under way.
struct Search<'a, M> {
    m: &'a mut M,
    request: Request,
    /// The short options, without what says the order.
    letters: u64,
    /// Are errors printed?
    complains: bool,
    /// What `optind` becomes,
    at: i32,
    /// and `optarg`.
    found: u64,
}

impl<M: Machine> Search<'_, M> {
    fn next(&mut self) -> Val {
        let begun = self.m.read_word(kept!(is_begun)) != 0;
        let first = self.m.read(self.letters);
        let said = if self.m.is(first, b'-'.into()) {
            Some(RETURN)
        } else {
            self.m.is(first, b'+'.into()).then_some(END)
        };
        if self.at == 0 || !begun {
            self.begin(said);
        }
        self.letters += u64::from(said.is_some());
        let first = self.m.read(self.letters);
        if self.m.is(first, b':'.into()) {
            self.complains = false;
        }
        let rest = self.m.read_word(kept!(rest));
        if rest == 0 || self.is_end(rest) {
            if let Some(result) = self.advance() {
                return result;
            }
            let rest = self.argument(self.at) + 1;
            self.m.write_word(kept!(rest), rest);
        }
        self.short()
    }

    fn begin(&mut self, said: Option<u64>) {
        if self.at == 0 {
            self.at = 1;
        }
        self.pass(self.at, self.at);
        self.m.write_word(kept!(rest), 0);
        // SAFETY: a look into the environment, as the C library does it.
        let posix = || unsafe { !libc::getenv(c"POSIXLY_CORRECT".as_ptr()).is_null() };
        let order = match said {
            Some(order) => order,
            None if self.request.form == Form::Posix || posix() => END,
            None => PERMUTE,
        };
        self.m.write_word(kept!(order), order);
        self.m.write_word(kept!(is_begun), 1);
    }

    /// Goes to the next argument that is a group of short options. `Some`: there is another
    /// result.
    fn advance(&mut self) -> Option<Val> {
        let (mut from, mut to) = self.passed();
        (from, to) = (from.min(self.at), to.min(self.at));
        let order = self.m.read_word(kept!(order));
        if order == PERMUTE {
            (from, _) = self.gathered(from, to);
            while self.at < self.request.count && !self.is_option() {
                self.at += 1;
            }
            to = self.at;
        }
        if self.at != self.request.count && self.is_last() {
            self.at += 1;
            (from, _) = self.gathered(from, to);
            self.at = self.request.count;
            to = self.at;
        }
        self.pass(from, to);
        if self.at == self.request.count {
            if from != to {
                self.at = from;
            }
            return Some(NONE);
        }
        if !self.is_option() {
            if order == END {
                return Some(NONE);
            }
            self.found = self.argument(self.at);
            self.at += 1;
            return Some(number(1));
        }
        if self.request.names == 0 {
            return None;
        }
        let text = self.argument(self.at);
        let second = self.m.read(text + 1);
        if self.m.is(second, b'-'.into()) {
            self.m.write_word(kept!(rest), text + 2);
            return self.long("--", self.request.form == Form::LongOnly);
        }
        if self.request.form == Form::LongOnly
            && (!self.is_end(text + 2) || self.letter_of(second) == 0)
        {
            self.m.write_word(kept!(rest), text + 1);
            return self.long("-", true);
        }
        None
    }

    /// Moves the arguments that were passed over behind the options that came since; where they
    /// are now.
    fn gathered(&mut self, from: i32, to: i32) -> (i32, i32) {
        if to == self.at {
            return (from, to);
        }
        if from == to {
            return (self.at, to);
        }
        for option in to..self.at {
            for index in (option - (to - from)..option).rev() {
                self.swap_with_next(index);
            }
        }
        (from + (self.at - to), self.at)
    }

    fn swap_with_next(&mut self, index: i32) {
        let both = [index, index + 1].map(|i| self.argument(i));
        let offset = 8 * i64::from(index);
        let place = self.request.arguments.wrapping_add_signed(offset);
        self.m.write_word(place, both[1]);
        self.m.write_word(place + 8, both[0]);
    }

    /// The next letter of a group.
    fn short(&mut self) -> Val {
        let rest = self.m.read_word(kept!(rest));
        let letter = self.m.read(rest);
        let rest = rest + 1;
        self.m.write_word(kept!(rest), rest);
        let place = self.letter_of(letter);
        let is_last = self.is_end(rest);
        self.at += i32::from(is_last);
        let mut result = self.m.extend(Op::SExt, letter, 32);
        let (colon, semicolon) = (b':'.into(), b';'.into());
        if place == 0 || self.m.is(letter, colon) || self.m.is(letter, semicolon) {
            self.complain(&[b"invalid option -- '", &[letter.value as u8], b"'"]);
            self.m.write_value(kept!(letter), result);
            return UNKNOWN;
        }
        let after = self.m.read(place + 1);
        let names_long = self.request.names != 0
            && self.m.is(letter, b'W'.into())
            && self.m.is(after, semicolon);
        let takes = names_long || self.m.is(after, colon);
        let second = self.m.read(place + if takes { 2 } else { 0 });
        let optional = takes && !names_long && self.m.is(second, colon);
        if !takes {
            return result;
        }
        if !is_last {
            self.found = rest;
            self.at += i32::from(!names_long);
        } else if optional {
            self.found = 0;
        } else if self.at == self.request.count {
            let shown = [letter.value as u8];
            self.complain(&[b"option requires an argument -- '", &shown, b"'"]);
            self.m.write_value(kept!(letter), result);
            result = self.missing();
            if names_long {
                return result;
            }
        } else {
            self.found = self.argument(self.at);
            self.at += i32::from(!names_long);
        }
        if names_long {
            let rest = core::mem::take(&mut self.found);
            self.m.write_word(kept!(rest), rest);
            return self.long("-W ", false).unwrap_or(NONE);
        }
        self.m.write_word(kept!(rest), 0);
        result
    }

    /// The long option in the rest of the argument. `None`: it may be a group of short ones.
    fn long(&mut self, prefix: &str, only: bool) -> Option<Val> {
        let text = self.m.read_word(kept!(rest));
        let mut len = 0;
        loop {
            let byte = self.m.read(text + len);
            if self.m.is(byte, 0) || self.m.is(byte, b'='.into()) {
                break;
            }
            len += 1;
        }
        let option = match self.named(prefix, text, len, only) {
            Ok(Some(option)) => option,
            Ok(None) => {
                let first = self.m.read(text);
                let dash = self.argument(self.at) + 1;
                let dashes = !only || {
                    let second = self.m.read(dash);
                    self.m.is(second, b'-'.into())
                };
                if !dashes && self.letter_of(first) != 0 {
                    return None;
                }
                let shown = shown(text);
                self.complain(&[b"unrecognized option '", prefix.as_bytes(), shown, b"'"]);
                self.m.write_word(kept!(rest), 0);
                self.at += 1;
                self.m.write_value(kept!(letter), number(0));
                return Some(UNKNOWN);
            }
            Err(Ambiguous) => {
                let end = text + strings::length(self.m, text, ALL);
                self.m.write_word(kept!(rest), end);
                self.at += 1;
                self.m.write_value(kept!(letter), number(0));
                return Some(UNKNOWN);
            }
        };
        self.at += 1;
        self.m.write_word(kept!(rest), 0);
        Some(self.take(prefix, option, text + len))
    }

    /// A long option that was found; its text ends at `end`.
    fn take(&mut self, prefix: &str, option: u64, end: u64) -> Val {
        let entry = self.request.names + option * NAME_SIZE;
        let name = self.m.read_word(entry);
        let argument = self.m.read_number(entry + HAS_ARGUMENT);
        let value = self.m.read_value(entry + VALUE, 32);
        let prefix = prefix.as_bytes();
        if !self.is_end(end) {
            if argument == 0 {
                let end: &[u8] = b"' doesn't allow an argument";
                self.complain(&[b"option '", prefix, shown(name), end]);
                self.m.write_value(kept!(letter), value);
                return UNKNOWN;
            }
            self.found = end + 1;
        } else if argument == 1 {
            if self.at >= self.request.count {
                let end: &[u8] = b"' requires an argument";
                self.complain(&[b"option '", prefix, shown(name), end]);
                self.m.write_value(kept!(letter), value);
                return self.missing();
            }
            self.found = self.argument(self.at);
            self.at += 1;
        }
        if self.request.index != 0 {
            let index = Val::of(32, option);
            self.m.write_value(self.request.index, index);
        }
        match self.m.read_word(entry + FLAG) {
            0 => value,
            flag => {
                self.m.write_value(flag, value);
                number(0)
            }
        }
    }

    /// The long option that the `len` bytes at `text` name, in full or by their beginning.
    fn named(
        &mut self,
        prefix: &str,
        text: u64,
        len: u64,
        only: bool,
    ) -> Result<Option<u64>, Ambiguous> {
        for option in 0.. {
            let name = self.name(option);
            if name == 0 {
                break;
            }
            if strings::length(self.m, name, ALL) == len
                && strings::are_same(self.m, text, name, len)
            {
                return Ok(Some(option));
            }
        }
        let (mut found, mut several) = (None, false);
        for option in 0.. {
            let name = self.name(option);
            if name == 0 {
                break;
            }
            if strings::length(self.m, name, ALL) <= len
                || !strings::are_same(self.m, text, name, len)
            {
                continue;
            }
            let Some(first) = found else {
                found = Some(option);
                continue;
            };
            if only || !self.mean_the_same(first, option) {
                if !several {
                    let text = shown(text);
                    let end: &[u8] = b"' is ambiguous; possibilities:";
                    self.begin_line(&[b"option '", prefix.as_bytes(), text, end]);
                    self.possibility(prefix, first);
                }
                several = true;
                self.possibility(prefix, option);
            }
        }
        if several {
            self.say(&[b"\n"]);
            return Err(Ambiguous);
        }
        Ok(found)
    }

    fn possibility(&mut self, prefix: &str, option: u64) {
        let name = self.name(option);
        self.say(&[b" '", prefix.as_bytes(), shown(name), b"'"]);
    }

    fn name(&mut self, option: u64) -> u64 {
        self.m.read_word(self.request.names + option * NAME_SIZE)
    }

    fn mean_the_same(&mut self, a: u64, b: u64) -> bool {
        [(HAS_ARGUMENT, 32), (FLAG, 64), (VALUE, 32)]
            .into_iter()
            .all(|(offset, width)| {
                let [x, y] = [a, b].map(|option| {
                    let entry = self.request.names + option * NAME_SIZE;
                    self.m.read_value(entry + offset, width)
                });
                self.m.same(x, y)
            })
    }

    fn passed(&mut self) -> (i32, i32) {
        let from = self.m.read_word(kept!(passed));
        let to = self.m.read_word(kept!(passed_end));
        (from as i32, to as i32)
    }

    fn pass(&mut self, from: i32, to: i32) {
        self.m.write_word(kept!(passed), from as u64);
        self.m.write_word(kept!(passed_end), to as u64);
    }

    fn argument(&mut self, index: i32) -> u64 {
        let offset = 8 * i64::from(index);
        self.m
            .read_word(self.request.arguments.wrapping_add_signed(offset))
    }

    fn is_end(&mut self, at: u64) -> bool {
        let byte = self.m.read(at);
        self.m.is(byte, 0)
    }

    fn is_option(&mut self) -> bool {
        let text = self.argument(self.at);
        let first = self.m.read(text);
        self.m.is(first, b'-'.into()) && !self.is_end(text + 1)
    }

    /// Is it "--"?
    fn is_last(&mut self) -> bool {
        if !self.is_option() {
            return false;
        }
        let text = self.argument(self.at);
        let second = self.m.read(text + 1);
        self.m.is(second, b'-'.into()) && self.is_end(text + 2)
    }

    /// Where the letter is among the short options; 0: it is none.
    fn letter_of(&mut self, letter: Val) -> u64 {
        strings::find_in_text(self.m, self.letters, letter, false, false)
    }

    /// What is returned where an argument is missing.
    fn missing(&mut self) -> Val {
        let first = self.m.read(self.letters);
        match self.m.is(first, b':'.into()) {
            true => number(b':'.into()),
            false => UNKNOWN,
        }
    }

    /// Prints a line about an error, unless the program wants none.
    fn complain(&mut self, parts: &[&[u8]]) {
        self.begin_line(parts);
        self.say(&[b"\n"]);
    }

    fn begin_line(&mut self, parts: &[&[u8]]) {
        if self.complains {
            let program = self.argument(0);
            self.say(&[shown(program), b": "]);
            self.say(parts);
        }
    }

    fn say(&mut self, parts: &[&[u8]]) {
        if self.complains {
            parts.iter().for_each(|part| self.m.complain(part));
        }
    }
}

/// The text is the beginning of several options.
struct Ambiguous;

/// A text as it is printed.
fn shown<'a>(text: u64) -> &'a [u8] {
    // SAFETY: a text of the program that the model has read to its end.
    unsafe { CStr::from_ptr(text as *const _) }.to_bytes()
}

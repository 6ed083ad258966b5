//! Functions of the C library in symbolic bodies: models with expressions, written against
//! [`Machine`], and what becomes of calls without a model. See [`raddle_protocol::library`].

mod characters;
pub mod foreign;
pub mod formats;
mod fortified;
mod live;
mod machine;
mod numbers;
mod options;
mod reads;
mod rows;
mod scan;
mod sort;
pub mod states;
pub mod stepwise;
mod streams;
mod strings;
#[cfg(test)]
mod tests;

use super::access::Access;
use super::blocks::UnderWay;
use crate::io::stream_locks;
use crate::os;
use crate::vars;
use core::cell::UnsafeCell;
use core::ffi::c_void;
pub use foreign::{forget_names, stored};
use fortified::Plain;
use live::Live;
use machine::{Machine, Val};
use numbers::Reading;
use options::{Form, Request};
use raddle_protocol::event::Kind;
use raddle_protocol::expr::Why;
use raddle_protocol::hooks::{LIBRARY_STATE, Ty};
use raddle_protocol::library::Model;
use scan::Text;
use sort::Elements;
use strings::ALL;

type Address = *mut c_void;

crate::hooks! { ROWS:
    fn raddle_sym_library(real: Address, model: u32, values: Address, exprs: Address) -> u64
        = library;
    fn raddle_sym_foreign(callee: Address, name: Address, shape: u64, values: Address, exprs: Address)
        = foreign::call;
}

/// A call of a function that has a model.
struct Call<'a, M> {
    m: &'a mut M,
    model: Model,
    values: &'a [u64],
    exprs: &'a [u32],
    /// The C library's function.
    real: u64,
}

unsafe extern "C-unwind" fn library(
    real: Address,
    model: u32,
    values: Address,
    exprs: Address,
    pc: usize,
) -> u64 {
    let count = (model >> 16) as usize;
    let keeps_state = model & LIBRARY_STATE != 0;
    let Some(model) = Model::from_number(model & (LIBRARY_STATE - 1)) else {
        crate::os::die("raddle: a function without a model", b"");
    };
    // SAFETY: by the contract of the hook.
    let (values, exprs) = unsafe { arguments(count, values, exprs) };
    // A system call that finds its memory gone accesses nothing.
    let is_gone = |&(&ty, &at): &(&Ty, &u64)| {
        ty == Ty::Ptr && at != 0 && !os::try_read(at as usize, &mut [0])
    };
    let fails = crate::states::is_of_kernel(model.names()[0])
        && model.params().iter().zip(values).any(|pair| is_gone(&pair));
    let key = values.as_ptr().addr();
    stream_locks::enter(model.names()[0], values, key, pc);
    if streams::is_ours(model) && !fails {
        // The name of a file, a format.
        let name = model.names()[0];
        let call = UnderWay::of(name, values.as_ptr().addr());
        // An earlier one of the same frame may have been left by an exception.
        call.returned();
        if reads::look(call, name, values, pc).lost {
            foreign::lose(name.as_bytes(), pc);
        }
    }
    // From here on nobody comes between the state and the call.
    if keeps_state {
        states::call(model.names()[0], values, pc);
    }
    let kernel = crate::states::needs_pages(model.names()[0]);
    let m = &mut Live { pc, kernel };
    let call = Call {
        m,
        model,
        values,
        exprs,
        real: real as u64,
    };
    let mut plain = Plain::default();
    let result = match call.unfortified(&mut plain) {
        Ok(call) if fails => Val::word(call.call_it()),
        Ok(call) => call.followed(),
        Err(call) => {
            foreign::lose(model.names()[0].as_bytes(), pc);
            Val::word(call.call_it())
        }
    };
    stream_locks::leave(key, pc);
    vars::set_result(super::built(result.expr, pc));
    result.value
}

/// The values and expressions of the arguments of a call.
///
/// # Safety
/// They are those that a hook got: arrays of `count`, in the caller's frame, which stays as long as
/// they are used. The expressions may be null, where all are concrete.
unsafe fn arguments<'a>(count: usize, values: Address, exprs: Address) -> (&'a [u64], &'a [u32]) {
    // SAFETY: by the contract above.
    unsafe {
        let values = core::slice::from_raw_parts(values.cast::<u64>(), count);
        let exprs = match exprs.is_null() {
            true => &[],
            false => core::slice::from_raw_parts(exprs.cast::<u32>(), count),
        };
        (values, exprs)
    }
}

impl<M: Machine> Call<'_, M> {
    fn argument(&self, index: usize) -> Val {
        let width = match self.model.params().get(index) {
            Some(Ty::I32) => 32,
            Some(Ty::I16) => 16,
            _ => 64,
        };
        Val {
            expr: self.exprs.get(index).copied().unwrap_or(0),
            ..Val::of(width, self.values.get(index).copied().unwrap_or(0))
        }
    }

    /// An address or a function.
    fn address(&mut self, index: usize) -> u64 {
        let argument = self.argument(index);
        self.m.concrete(argument, Why::Address)
    }

    /// A size, a count or a base.
    fn size(&mut self, index: usize) -> u64 {
        let argument = self.argument(index);
        self.m.concrete(argument, Why::Size)
    }

    fn perform(mut self) -> Val {
        use Model::*;
        if self.model == Character {
            // SAFETY: the hook got the address of a function of this type.
            let real: unsafe extern "C" fn(i32) -> i32 =
                unsafe { core::mem::transmute(self.real as usize) };
            // SAFETY: it is defined for all that it is asked for.
            let real = |c| unsafe { real(c) };
            return characters::function(self.m, self.argument(0), real);
        }
        if matches!(self.model, SwapFour | SwapTwo) {
            let number = self.argument(0);
            return numbers::swapped(self.m, number);
        }
        if let Some(form) = options::form(self.model) {
            return self.option(form);
        }
        let first = self.address(0);
        let second = self.argument(1);
        let pointer = Val::word;
        match self.model {
            Memcmp => {
                let (other, len) = (self.address(1), self.size(2));
                strings::compare_blocks(self.m, first, other, len)
            }
            Memchr | Memrchr => {
                let len = self.size(2);
                let last = self.model == Memrchr;
                pointer(strings::find(self.m, first, second, len, last))
            }
            Rawmemchr => pointer(strings::find(self.m, first, second, ALL, false)),
            Mempcpy => {
                let (from, len) = (self.address(1), self.size(2));
                self.m.copy(first, from, len);
                pointer(first + len)
            }
            Bzero => {
                let len = self.size(1);
                self.m.fill(first, Val::byte(0), len);
                pointer(0)
            }
            Strlen => pointer(strings::length(self.m, first, ALL)),
            Strnlen => {
                let limit = self.size(1);
                pointer(strings::length(self.m, first, limit))
            }
            Strcmp | Strcasecmp => {
                let other = self.address(1);
                strings::compare(self.m, first, other, ALL, self.model == Strcasecmp)
            }
            Strncmp | Strncasecmp => {
                let (other, len) = (self.address(1), self.size(2));
                strings::compare(self.m, first, other, len, self.model == Strncasecmp)
            }
            Strcpy | Stpcpy => {
                let from = self.address(1);
                let len = strings::copy_text(self.m, first, from);
                pointer(if self.model == Stpcpy {
                    first + len
                } else {
                    first
                })
            }
            Strncpy | Stpncpy => {
                let (from, size) = (self.address(1), self.size(2));
                let len = strings::copy_padded(self.m, first, from, size);
                pointer(match self.model {
                    Stpncpy => first + len,
                    _ => first,
                })
            }
            Memmem => {
                let (len, what, size) = (self.size(1), self.address(2), self.size(3));
                pointer(strings::find_block(self.m, first, len, what, size))
            }
            Memccpy => {
                let (from, what, limit) = (self.address(1), self.argument(2), self.size(3));
                pointer(strings::copy_until(self.m, first, from, what, limit))
            }
            Strcat => {
                let from = self.address(1);
                strings::append(self.m, first, from, ALL);
                pointer(first)
            }
            Strncat => {
                let (from, limit) = (self.address(1), self.size(2));
                strings::append(self.m, first, from, limit);
                pointer(first)
            }
            Strchr => pointer(strings::find_in_text(self.m, first, second, false, false)),
            Strrchr => pointer(strings::find_in_text(self.m, first, second, false, true)),
            Strchrnul => pointer(strings::find_in_text(self.m, first, second, true, false)),
            Strstr | Strcasestr => {
                let what = self.address(1);
                let fold = self.model == Strcasestr;
                pointer(strings::find_text(self.m, first, what, fold))
            }
            Strspn | Strcspn => {
                let set = self.address(1);
                pointer(strings::span(self.m, first, set, self.model == Strspn))
            }
            Strpbrk => {
                let set = self.address(1);
                let at = first + strings::span(self.m, first, set, false);
                let byte = self.m.read(at);
                pointer(if self.m.is(byte, 0) { 0 } else { at })
            }
            Strtok => {
                let set = self.address(1);
                pointer(strings::token(self.m, first, set, TOKEN.place()))
            }
            Sscanf => {
                let format = self.address(1);
                let text = Text {
                    start: first,
                    end: None,
                };
                scan::scan(self.m, text, format, &self.values[2..]).0
            }
            StrtokR => {
                let (set, state) = (self.address(1), self.address(2));
                pointer(strings::token(self.m, first, set, state))
            }
            Strsep => {
                let set = self.address(1);
                pointer(strings::field(self.m, first, set))
            }
            Strdup => {
                let len = strings::length(self.m, first, ALL);
                pointer(self.m.duplicate(first, len))
            }
            Strndup => {
                let limit = self.size(1);
                let len = strings::length(self.m, first, limit);
                pointer(self.m.duplicate(first, len))
            }
            Atoi => {
                let value = self.number(first, 10, true, 0);
                self.m.low(value, 32)
            }
            Atol => self.number(first, 10, true, 0),
            Strtol | Strtoul => {
                let (end, base) = (self.address(1), self.size(2));
                self.number(first, base as u32, self.model == Strtol, end)
            }
            Qsort => {
                let all = self.elements(first, 1);
                sort::sort(self.m, all);
                pointer(0)
            }
            Bsearch => {
                let array = self.address(1);
                let all = self.elements(array, 2);
                pointer(sort::search(self.m, first, all))
            }
            Character | SwapFour | SwapTwo | Getopt | PosixGetopt | GetoptLong | GetoptLongOnly => {
                unreachable!("it does not begin with an address")
            }
            Getc | Getchar | Fgets | Fread | Read | Getline | Getdelim | Fopen | Open | Ungetc
            | Scanf | Fscanf => {
                unreachable!("they read the outside")
            }
            StrcpyChk | StpcpyChk | StrcatChk | StrncpyChk | StpncpyChk | StrncatChk
            | MempcpyChk | FgetsChk | FreadChk | ReadChk => {
                unreachable!("they are calls of the plain function by now")
            }
        }
    }

    /// getopt and its kin.
    fn option(mut self, form: Form) -> Val {
        let long = matches!(form, Form::Long | Form::LongOnly);
        let request = Request {
            form,
            count: self.size(0) as i32,
            arguments: self.address(1),
            letters: self.address(2),
            names: if long { self.address(3) } else { 0 },
            index: if long { self.address(4) } else { 0 },
        };
        options::next(self.m, request)
    }

    /// The elements of an array at `first`; count, size and order are arguments from `from` on.
    fn elements(&mut self, first: u64, from: usize) -> Elements {
        Elements {
            first,
            count: self.size(from),
            size: self.size(from + 1),
            order: self.address(from + 2),
        }
    }

    /// The number in a text; where it ends is written to `end`, unless that is 0.
    fn number(&mut self, text: u64, base: u32, signed: bool, end: u64) -> Val {
        let Some((value, behind)) = numbers::read(self.m, text, Reading { base, signed }) else {
            return Val::word(0);
        };
        if end != 0 {
            self.m.write_word(end, behind);
        }
        value
    }
}

/// Where strtok keeps the rest of its text.
struct Token(UnsafeCell<u64>);

// SAFETY: accessed like memory of the program, by one thread at a time.
unsafe impl Sync for Token {}

impl Token {
    fn place(&self) -> u64 {
        self.0.get() as u64
    }
}

static TOKEN: Token = Token(UnsafeCell::new(0));

impl Call<'_, Live> {
    fn followed(self) -> Val {
        match self.model {
            Model::Sscanf if !scan::knows(self.m, self.values[1]) => self.scan_unseen(),
            model if streams::is_ours(model) => self.read_outside(),
            _ => self.perform(),
        }
    }

    /// sscanf by a format without a model: what it reads is lost.
    fn scan_unseen(self) -> Val {
        unsafe extern "C" {
            fn vsscanf(text: u64, format: u64, list: *mut formats::List) -> i32;
        }
        foreign::lose(b"sscanf", self.m.pc);
        let mut list = formats::List::of(&self.values[2..]);
        // SAFETY: the program's call, with its arguments in a list.
        let read = unsafe { vsscanf(self.values[0], self.values[1], &mut list) };
        Val::of(32, u64::from(read as u32))
    }
}

/// What a read at the symbolic `address` of a table of `<ctype.h>` yields; `None`: it is another
/// read.
pub fn character_class(at: u64, at_expr: u32, size: u32, pc: usize) -> Option<(u64, u32)> {
    let table = characters::table_at(at, size)?;
    let address = Val {
        expr: at_expr,
        ..Val::word(at)
    };
    let found = characters::entry(&mut Live { pc, kernel: false }, address, table);
    Some((found.value, super::built(found.expr, pc)))
}

/// One byte of the program, with its expression.
fn byte_access(kind: Kind, at: u64, pc: usize) -> Access {
    Access::new(kind, at, 1, pc)
}

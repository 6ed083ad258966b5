//! What functions of the C library do to their caller's memory, told by the caller
//! ([`raddle_protocol::touches`]). How far a text goes is found out before the step of the access:
//! whoever changes that meanwhile writes there as well, which is a conflict.

use super::{Address, range, shadowed};
use core::ffi::c_void;
use raddle_protocol::event::Kind;
use raddle_protocol::touches::{Extent, Touch, UNLIMITED};

crate::hooks! { ROWS:
    fn raddle_text_read(at: Address, most: u64, stop: u32) = text_read;
    fn raddle_bytes_read(at: Address, most: u64, stop: u32) = bytes_read;
    fn raddle_text_compared(at: Address, other: Address, most: u64) = text_compared;
    fn raddle_text_copied(to: Address, from: Address, most: u64) = text_copied;
    fn raddle_text_appended(to: Address, from: Address, most: u64) = text_appended;
    fn raddle_filled(at: Address, bytes: u64) = filled;
    fn raddle_printed(at: Address, bytes: u64, most: u64) = printed;
}

/// How many bytes there are up to the first for which `ends` holds, that one included; at most
/// `most`.
///
/// # Safety
/// So many can be read.
unsafe fn length(at: Address, most: u64, ends: impl Fn(u64, u8) -> bool) -> u64 {
    let mut n = 0;
    while n < most {
        // SAFETY: the caller's promise. Volatile: others may change it.
        let byte = unsafe { at.cast::<u8>().add(n as usize).read_volatile() };
        n += 1;
        if ends(n - 1, byte) {
            break;
        }
    }
    n
}

/// The bytes of a text, its NUL included.
///
/// # Safety
/// It is one, or `most` bytes can be read.
unsafe fn text(at: Address, most: u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { length(at, most, |_, byte| byte == 0) }
}

/// Announces an access, unless the shadow is told of it otherwise.
fn tell(kind: Kind, at: Address, len: u64, pc: usize) {
    if !shadowed() {
        range(kind, at, len, pc);
    }
}

/// Announces one access of a call with these arguments, which came from `pc`; `result` is that of the
/// call, before it there is none. Each is announced once: [`Extent::is_after`].
///
/// # Safety
/// The arguments are those of a call of the function whose access it is.
pub unsafe fn touched(touch: &Touch, arguments: &[usize; 6], result: Option<usize>, pc: usize) {
    let number = |n: u8| {
        arguments
            .get(usize::from(n))
            .map_or(u64::MAX, |&a| a as u64)
    };
    let pointer = |n: u8| arguments[usize::from(n)] as *mut u8;
    let at = pointer(touch.argument);
    // SAFETY: the function reads the same; the caller's promise.
    let byte = |text: *mut u8, n: u64| unsafe { text.add(n as usize).read_volatile() };
    // SAFETY: as above.
    let text_at = |from: *mut u8, most: u64| unsafe { text(from.cast(), most) };
    // SAFETY: as above.
    let up_to =
        |most: u64, ends: &dyn Fn(u64, u8) -> bool| unsafe { length(at.cast(), most, ends) };
    let gained = result.map_or(0, |result| (result as isize).max(0) as u64);
    let kind = if touch.writes {
        Kind::WriteRange
    } else {
        Kind::ReadRange
    };
    let (from, len) = match touch.extent {
        Extent::Bytes(n) => (at, number(n)),
        Extent::Product(a, b) => (at, number(a).saturating_mul(number(b))),
        Extent::Text(n) => (at, text_at(at, number(n))),
        Extent::TextUntil(n) => {
            let stop = number(n) as u8;
            (at, up_to(u64::MAX, &|_, byte| byte == 0 || byte == stop))
        }
        Extent::BytesUntil(value, most) => {
            let stop = number(value) as u8;
            (at, up_to(number(most), &|_, byte| byte == stop))
        }
        Extent::Common(other, most) => {
            let other = pointer(other);
            let len = up_to(number(most), &|n, found| {
                found == 0 || found != byte(other, n)
            });
            (at, len)
        }
        Extent::Copy(text, most) => (at, text_at(pointer(text), number(most))),
        Extent::Append(text, most) => {
            let (text, end) = (pointer(text), text_at(at, u64::MAX) - 1);
            let len = text_at(text, number(most));
            let cut = len == number(most) && (len == 0 || byte(text, len - 1) != 0);
            (at.wrapping_add(end as usize), len + u64::from(cut))
        }
        Extent::Result => (at, gained),
        Extent::ResultTimes(n) => (at, gained.saturating_mul(number(n))),
        Extent::Printed(most) => match result {
            None => (at, number(most).min(1)),
            Some(result) if result as i32 >= 0 => (at, number(most).min(result as u32 as u64 + 1)),
            Some(_) => (at, 0),
        },
    };
    const _: () = assert!(UNLIMITED as usize >= 6, "no argument has this number");
    tell(kind, from.cast(), len, pc);
}

macro_rules! told {
    ($($name:ident($at:ident, $second:ident: $second_ty:ty, $third:ident: $third_ty:ty, $pc:ident) $body:block)*) => {$(
        #[allow(unused_unsafe)] // the last ones only compute
        unsafe extern "C-unwind" fn $name(
            $at: Address, $second: $second_ty, $third: $third_ty, _: usize, _: usize, $pc: usize,
        ) {
            // SAFETY: the function that is called next reads the same.
            unsafe { $body }
        }
    )*};
}

told! {
    text_read(at, most: u64, stop: u32, pc) {
        let len = length(at, most, |_, byte| byte == 0 || byte == stop as u8);
        tell(Kind::ReadRange, at, len, pc);
    }
    bytes_read(at, most: u64, stop: u32, pc) {
        let len = length(at, most, |_, byte| byte == stop as u8);
        tell(Kind::ReadRange, at, len, pc);
    }
    text_compared(at, other: Address, most: u64, pc) {
        let other = other.cast::<u8>();
        let len = length(at, most, |n, byte| {
            byte == 0 || byte != other.add(n as usize).read_volatile()
        });
        tell(Kind::ReadRange, at, len, pc);
    }
    text_copied(to, from: Address, most: u64, pc) {
        tell(Kind::WriteRange, to, text(from, most), pc);
    }
    text_appended(to, from: Address, most: u64, pc) {
        let end = to.cast::<u8>().add(text(to, u64::MAX) as usize - 1);
        let len = text(from, most);
        // A text that was cut short gets its NUL.
        let cut = len == most && (len == 0 || from.cast::<u8>().add(len as usize - 1).read_volatile() != 0);
        tell(Kind::WriteRange, end.cast::<c_void>(), len + u64::from(cut), pc);
    }
    filled(at, bytes: u64, _unused: usize, pc) {
        tell(Kind::WriteRange, at, (bytes as i64).max(0) as u64, pc);
    }
    printed(at, bytes: u64, most: u64, pc) {
        if bytes as i64 >= 0 {
            tell(Kind::WriteRange, at, most.min(bytes + 1), pc);
        }
    }
}

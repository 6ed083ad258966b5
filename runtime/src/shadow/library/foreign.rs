//! Calls of functions that are neither instrumented nor modelled: what symbolic bytes they can
//! read is not followed, and said so with their name.

use super::Address;
use super::formats::List;
use super::reads::{Looked, look};
use super::rows::Rows;
use super::states;
use crate::futex;
use crate::gate;
use crate::heap;
use crate::io::stream_locks;
use crate::os;
use crate::serial::Serial;
use crate::shadow::access::decide;
use crate::shadow::blocks;
use crate::shadow::calls::{has_symbolic_body, is_mapped};
use crate::shadow::outside::Source;
use crate::shadow::{lost, touch as touch_local, world};
use crate::threads;
use core::ffi::{CStr, c_char};
use core::num::NonZero;
use raddle_protocol::cpp::{Touch, is_known, touches};
use raddle_protocol::effects::{DIRECT, Known, through};
use raddle_protocol::event::Event;
use raddle_protocol::expr::Why;
use raddle_protocol::hooks::{
    FOREIGN_BLIND, FOREIGN_MORE, FOREIGN_OUTPUT, FOREIGN_READS, FOREIGN_STATE, FOREIGN_STORES,
    FOREIGN_USED, FOREIGN_WRITTEN, FOREIGN_WRITTEN_LEN,
};
use raddle_protocol::libraries::{SYSTEM, is_among};
use raddle_protocol::library::{Output, is_silent, maps, reads, reads_files, rest, texts};

/// Bytes that a function may look at behind a pointer that is not to a block of the heap, at least
/// and at most.
const LEAST: u64 = 16;
const MOST: u64 = 1 << 16;
/// Bytes of a structure in which it may find more pointers.
const FIELDS: u64 = 256;

/// See `raddle_sym_foreign`.
pub unsafe extern "C-unwind" fn call(
    callee: Address,
    name: Address,
    shape: u64,
    values: Address,
    exprs: Address,
    pc: usize,
) {
    if has_symbolic_body(callee as usize) {
        return;
    }
    let count = (shape >> 32) as usize & 0xff;
    // SAFETY: by the contract of the hook.
    let (values, exprs) = unsafe { super::arguments(count, values, exprs) };
    let named = !name.is_null();
    let name = match named {
        // SAFETY: as above; a string of the compiler plugin.
        true => Some(unsafe { CStr::from_ptr(name.cast::<c_char>()) }),
        false => name_of(callee as usize),
    };
    let known = name.and_then(|name| name.to_str().ok()).unwrap_or_default();
    // A system call that finds its memory gone accesses nothing.
    let is_gone = |&at: &u64| at != 0 && !os::try_read(at as usize, &mut [0]);
    let pointers = (0..count.min(32)).filter(|&i| shape >> i & 1 != 0);
    let fails = shape & FOREIGN_STATE != 0
        && crate::states::is_of_kernel(known)
        && pointers.map(|i| values[i]).any(|at| is_gone(&at));
    let key = values.as_ptr().addr();
    stream_locks::enter(known, values, key, pc);
    if shape & FOREIGN_STORES == 0 || !named {
        // Nobody will tell of its return.
        stream_locks::leave(key, pc);
    }
    if !fails {
        reads_and_stores(name, shape, named, values, exprs, pc);
    }
    // Only now: nobody comes between the state and the call.
    if shape & FOREIGN_STATE != 0 || !named {
        states::call(known, values, pc);
    }
}

/// What the function accesses where its arguments lead, apart from what others tell of that it stores.
fn reads_and_stores(
    name: Option<&CStr>,
    shape: u64,
    named: bool,
    values: &[u64],
    exprs: &[u32],
    pc: usize,
) {
    let known = name.and_then(|name| name.to_str().ok()).unwrap_or_default();
    let (output, blind) = (shape & FOREIGN_OUTPUT != 0, shape & FOREIGN_BLIND != 0);
    let count = values.len();
    let told = shape & FOREIGN_STORES != 0;
    let more = shape & FOREIGN_MORE != 0 || !named;
    let unknown = more && is_unknown(known, named, values);
    let only_told = || reads(known).next().is_none() && rest(known, false).next().is_none();
    if !named && is_silent(known) && !unknown && only_told() {
        return;
    }
    // What leaves the program decides nothing.
    let put_out = Output::find(known).filter(|row| output && leaves(*row, values));
    let rows = Rows::new(known, values, told && named, pc).put_out(put_out.is_some());
    let call = rows.under_way(values.as_ptr().addr());
    // An earlier one of the same frame may have been left by an exception.
    call.returned();
    let found = match more {
        // SAFETY: the call is about to be made.
        true => unsafe { rows.read(call) },
        false => Looked::default(),
    };
    let is_lost = if blind || unknown || found.lost {
        true
    } else if known == DIRECT && futex::follows(values, shape & FOREIGN_USED != 0) {
        false
    } else if let Some(touched) = touches(known) {
        touched.iter().any(|&touch| is_beyond(touch, values, pc))
    } else if let Some(put_out) = put_out {
        let format = put_out.format.and_then(|n| values.get(usize::from(n)));
        format.is_some_and(|&format| is_symbolic(format, 0))
    } else {
        for (&expr, &value) in exprs.iter().zip(values) {
            decide(expr, value, Why::Call, pc);
        }
        let mut looked = match shape & FOREIGN_READS != 0 || !named {
            true => look(call, known, values, pc),
            false => Looked::default(),
        };
        looked.arguments |= found.arguments;
        // Nobody will tell of its return.
        let alone = !told && call.has_looked();
        // A number that is an argument may be a size.
        let is_pointer = |i: usize| (shape & !looked.arguments) >> i & 1 != 0;
        let sizes = (0..count).filter(|&i| !is_pointer(i)).map(|i| values[i]);
        let size = sizes.filter(|&n| n <= MOST).max().unwrap_or(0);
        // Of some it is known that threads share nothing there.
        let only_maps = through(known, values).is_some_and(|(function, _)| maps(function));
        let may_use = |i: usize| match is_known(known) {
            true => is_symbolic(values[i], size),
            false => may_use(values[i], size, is_written(shape, i), pc),
        };
        // What else its arguments lead to is the library's own.
        let pointers = match only_maps || has_only_own(known) {
            true => 0..0,
            false => 0..count.min(32),
        };
        let mut pointers = pointers.filter(|&i| is_pointer(i));
        alone
            || looked.lost && !is_silent(known)
            || (reads_files(known) && Source::any())
            || pointers.any(|i| may_use(i) || leads_on(values[i]))
            || texts(known).is_some_and(|index| values.get(index).is_some_and(|&a| any_text(a)))
            || list_of(known, values)
                .filter(|(index, ..)| looked.arguments >> index & 1 == 0)
                .is_some_and(|(_, list, format)| leads_there(list, format))
    };
    call.make();
    // SAFETY: as above.
    let is_lost = is_lost || more && unsafe { rows.will_write(call, told) };
    if !told {
        // Nobody will tell of its return.
        call.returned();
    }
    if is_lost {
        lose(name.map_or(b"a function" as &[u8], CStr::to_bytes), pc);
    }
}

/// A call has returned, with this result: what it has stored, as far as the caller does not know of it.
///
/// # Safety
/// By the contract of `raddle_sym_stored`; so many arguments lie there.
pub unsafe fn stored(
    callee: Address,
    name: Address,
    (arguments, count): (Address, usize),
    result: i64,
    pc: usize,
) {
    let named = !name.is_null();
    let name = match named {
        // SAFETY: a string of the compiler plugin.
        true => Some(unsafe { CStr::from_ptr(name.cast::<c_char>()) }),
        false => name_of(callee as usize),
    };
    let known = name.and_then(|name| name.to_str().ok()).unwrap_or_default();
    // SAFETY: the caller's promise.
    unsafe {
        let (values, _) = super::arguments(count, arguments, core::ptr::null_mut());
        let rows = Rows::new(known, values, named, pc);
        rows.written(rows.under_way(arguments.addr()), result);
    }
}

type Names = [(usize, Option<&'static CStr>); 8];
/// Functions that were called by a pointer lately.
static MET: Serial<Names> = Serial::new([(0, None); 8]);

/// Names that were asked for lately: where they lie and how long they are; see [`is_of_system`].
static ASKED: Serial<[((usize, usize), bool); 16]> = Serial::new([((0, 0), false); 16]);

/// A library is unloaded: others may come to lie where its functions and their names did.
pub fn forget_names() {
    // SAFETY: the running thread; the reference is not kept.
    unsafe {
        *MET.get() = [(0, None); 8];
        *ASKED.get() = [((0, 0), false); 16];
    }
}

/// The name of a function that is called by a pointer, if it is one that its library exports.
pub fn name_of(callee: usize) -> Option<&'static CStr> {
    // SAFETY: the running thread; the reference is not kept.
    let met = unsafe { MET.get() };
    if let Some(found) = met.iter().find(|one| one.0 == callee) {
        return found.1;
    }
    // SAFETY: a plain look-up; the names stay as long as their libraries.
    let name = unsafe {
        let mut found: libc::Dl_info = core::mem::zeroed();
        let is_entry = libc::dladdr(callee as *const _, &mut found) != 0
            && found.dli_saddr as usize == callee
            && !found.dli_sname.is_null();
        is_entry.then(|| CStr::from_ptr(found.dli_sname))
    };
    met.rotate_right(1);
    met[0] = (callee, name);
    name
}

/// Is there a function with this name in a library of the system?
fn is_of_system(name: &str) -> bool {
    if name.is_empty() || is_known(name) || is_silent(name) {
        return false;
    }
    let key = (name.as_ptr() as usize, name.len());
    // SAFETY: the running thread; the reference is not kept.
    let asked = unsafe { ASKED.get() };
    let entry = &mut asked[(key.0 ^ key.0 >> 4) % 16];
    if entry.0 != key {
        // SAFETY: a plain look-up, of a text that ends with NUL as all names that come here; the file's name
        // stays as long as the library.
        let file = unsafe {
            let mut found: libc::Dl_info = core::mem::zeroed();
            let function = libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast());
            let is_found = !function.is_null() && libc::dladdr(function, &mut found) != 0;
            (is_found && !found.dli_fname.is_null()).then(|| CStr::from_ptr(found.dli_fname))
        };
        let file = file.map_or(&b""[..], CStr::to_bytes);
        let base = file.rsplit(|&b| b == b'/').next().unwrap_or(file);
        *entry = (key, is_among(base, &SYSTEM));
    }
    entry.1
}

/// May what this argument leads to be written?
fn is_written(shape: u64, argument: usize) -> bool {
    let argument = argument as u32;
    argument >= FOREIGN_WRITTEN_LEN || shape >> (FOREIGN_WRITTEN + argument) & 1 != 0
}

/// Is what a function does to this object not followed? What it reads there is decided upon.
fn is_beyond(touch: Touch, values: &[u64], pc: usize) -> bool {
    let at = |index: usize| values.get(index).copied().unwrap_or(0);
    match touch {
        Touch::Reads(index, len) => {
            blocks::will_read(at(index), len, pc);
            false
        }
        Touch::Text(index) => {
            let text = at(index);
            let len = text_length(text).map_or(0, |len| len + 1);
            blocks::will_read(text, len, pc);
            false
        }
        Touch::Writes(index, len) => {
            let known = !world().cells.any_symbolic(at(index), len);
            if known {
                touch_local(at(index), len, true, pc);
            }
            !known
        }
    }
}

/// Does what arguments of the function with this name lead to belong to the library, as far as no row says
/// something of it?
fn has_only_own(name: &str) -> bool {
    matches!(Known::of(name), Some(Known::Row | Known::Nothing))
}

/// Is it not known what this function does to memory, while others could share that? `named`: it is not
/// called by a pointer.
fn is_unknown(name: &str, named: bool, values: &[u64]) -> bool {
    /// No pointer leads to the first page.
    const FIRST: u64 = 4096;
    // Of a function called by a pointer nobody knows which arguments are pointers.
    let is_given_any = || named || values.iter().any(|&value| value >= FIRST);
    let does = through(name, values).map_or(name, |(does, _)| does);
    match Known::of(does) {
        Some(Known::Unknown) => threads::any_unjoined(),
        // What it keeps between calls is not known either.
        None if does == name => threads::any_unjoined() && is_given_any() && is_of_system(name),
        _ => false,
    }
}

/// Records that what this function reads is not followed.
pub fn lose(name: &[u8], pc: usize) {
    lost(Why::Call, pc);
    Event::names(gate::me(), name).for_each(gate::log_full);
}

/// Does what this call writes leave the program, which never reads it again?
fn leaves(output: Output, values: &[u64]) -> bool {
    let [_, usual, errors] = crate::states::standard_streams();
    let own = match output.name {
        "perror" => errors,
        _ => usual,
    };
    let given = output.stream.map(|n| values.get(usize::from(n)).copied());
    let stream = given.map_or(own, Option::unwrap_or_default);
    // Where the program has assigned to these variables, they may lead to files of its own.
    [usual, errors].contains(&stream) && !crate::states::is_seen(stream)
}

/// The `va_list` of a function that takes one in place of its last arguments: its number, where it
/// lies, and the format that goes with it.
fn list_of(name: &str, values: &[u64]) -> Option<(usize, u64, u64)> {
    let bare = name.trim_start_matches('_').trim_start_matches("isoc99_");
    let takes_list = bare.starts_with('v') && (bare.contains("printf") || bare.contains("scanf"));
    match values {
        [.., format, list] if takes_list => Some((values.len() - 1, *list, *format)),
        _ => None,
    }
}

/// Does one of the texts of an array, which ends with a null pointer, hold symbolic bytes?
fn any_text(array: u64) -> bool {
    let array = array as *const u64;
    // SAFETY: the function that is called reads the array, too.
    let mut texts = (0..).map_while(|i| unsafe { NonZero::new(array.add(i).read()) });
    !array.is_null() && texts.any(|text| is_symbolic(text.get(), 0))
}

/// May one of the pointers in a `va_list` lead to symbolic bytes?
fn leads_there(list: u64, format: u64) -> bool {
    // SAFETY: the program calls a function that reads the list and the format.
    let (list, format) = unsafe {
        (
            &*(list as *const List),
            CStr::from_ptr(format as *const c_char),
        )
    };
    // Each argument belongs to one of these characters.
    let count = format
        .to_bytes()
        .iter()
        .filter(|&&c| c == b'%' || c == b'*')
        .count();
    // SAFETY: the format asks for no more.
    let on_stack = unsafe { list.on_stack(count) };
    let mut words = list.in_registers().take(count).chain(on_stack);
    words.any(|pointer| is_symbolic(pointer, 0))
}

/// May a function find symbolic or shared bytes behind this pointer?
fn is_symbolic(pointer: u64, size: u64) -> bool {
    let cells = &mut world().cells;
    cells.is_known(pointer) && cells.any_symbolic(pointer, reach(pointer, size).1)
}

/// [`is_symbolic`] behind an argument. As far as it is sure that the function may look, its thread
/// reads that, or writes it where that may be: it is shared with who else does.
fn may_use(pointer: u64, size: u64, writes: bool, pc: usize) -> bool {
    let (sure, most) = reach(pointer, size);
    touch_local(pointer, sure, writes, pc);
    world().cells.any_symbolic(pointer, most)
}

/// How far a function is sure to look behind a pointer, if it does, and at most: at all of a block of the
/// heap; elsewhere as far as a text goes, at most as far as `size` or [`LEAST`] bytes do.
fn reach(pointer: u64, size: u64) -> (u64, u64) {
    let (sure, most) = match rest_of_block(pointer) {
        Some(rest) => (rest, rest),
        None => match text_length(pointer) {
            Some(text) => (text + 1, text.max(size).max(LEAST)),
            None => (0, size.max(LEAST)),
        },
    };
    (sure.min(MOST), most.min(MOST))
}

/// The same behind the pointers behind this one: those of a `std::string`, or the text that
/// `getsubopt` is at.
fn leads_on(pointer: u64) -> bool {
    if !pointer.is_multiple_of(8) || !world().cells.is_known(pointer) {
        return false;
    }
    let len = match rest_of_block(pointer) {
        Some(rest) => rest.min(FIELDS),
        None => LEAST.min(4096 - pointer % 4096),
    };
    if heap::check_access(pointer, len).is_err() {
        return false;
    }
    // The call may be about memory that nobody can read now.
    let mut bytes = [0u8; FIELDS as usize];
    let got = read_safely(pointer, &mut bytes[..len as usize]);
    let (words, _) = bytes[..got].as_chunks::<8>();
    let mut words = words.iter().map(|&word| u64::from_ne_bytes(word));
    words.any(|word| is_symbolic(word, 0))
}

/// Bytes up to the end of the block of the heap that the pointer is into, none if that was freed.
fn rest_of_block(pointer: u64) -> Option<u64> {
    let block = heap::block_of(pointer)?;
    let end = block.map_or(0, |block| (block.start + block.size) as u64);
    Some(end.saturating_sub(pointer))
}

/// Up to the first NUL, within the page. `None`: nothing can be read there; it is no address, or the
/// program has given the page back, or keeps it from everybody.
fn text_length(text: u64) -> Option<u64> {
    let end = (text | 4095) + 1;
    let mut bytes = [0u8; 256];
    let mut at = text;
    while at < end {
        let wanted = bytes.len().min((end - at) as usize);
        let got = read_safely(at, &mut bytes[..wanted]);
        if at == text && got == 0 {
            return None;
        }
        if let Some(nul) = bytes[..got].iter().position(|&byte| byte == 0) {
            return Some(at - text + nul as u64);
        }
        at += got as u64;
        if got < wanted {
            break;
        }
    }
    Some(at - text)
}

/// Reads memory that may not be there; how many bytes.
fn read_safely(at: u64, into: &mut [u8]) -> usize {
    let local = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    let remote = libc::iovec {
        iov_base: at as *mut _,
        iov_len: into.len(),
    };
    let (local, remote) = (&raw const local as usize, &raw const remote as usize);
    let own = os::process() as usize;
    // SAFETY: the kernel writes to the slice alone, and reads what can be read.
    let got = unsafe { os::syscall(libc::SYS_process_vm_readv, own, local, 1, remote, 1, 0) };
    let refused = [libc::EPERM, libc::ENOSYS].map(|errno| -errno as isize);
    if refused.contains(&got) && world().cells.is_known(at) && is_mapped((at & !4095) as usize) {
        // SAFETY: within a page that is there, and of which the program has used some.
        let there = unsafe { core::slice::from_raw_parts(at as *const u8, into.len()) };
        into.copy_from_slice(there);
        return into.len();
    }
    usize::try_from(got).unwrap_or(0)
}

//! Models on the program's memory.

use super::byte_access;
use super::machine::{Machine, Val};
use crate::shadow::access::Access;
use crate::shadow::nodes::{Expr, Nodes};
use crate::shadow::{blocks, branch, built, renew, world};
use crate::{os, vars};
use raddle_protocol::event::Kind;
use raddle_protocol::expr::Why;

/// The program that is running; `pc` is where it called.
pub struct Live {
    pub pc: usize,
    /// What it calls is done by the kernel, while pages may be taken away.
    pub kernel: bool,
}

impl Live {
    fn whole(&self, kind: Kind, at: u64, width: u8) -> Access {
        Access::new(kind, at, u32::from(width / 8), self.pc)
    }

    /// A byte that a call has left here; 0 where nothing is.
    ///
    /// # Safety
    /// It is there, unless the kernel has made the call.
    pub unsafe fn left(&self, at: u64) -> u8 {
        if !self.kernel {
            // SAFETY: the caller's promise.
            return unsafe { *(at as *const u8) };
        }
        let mut byte = [0];
        os::try_read(at as usize, &mut byte);
        byte[0]
    }
}

impl Machine for Live {
    fn nodes(&mut self) -> &mut Nodes {
        &mut world().nodes
    }

    fn read(&mut self, at: u64) -> Val {
        let (value, expr) = byte_access(Kind::Read, at, self.pc).read();
        Val {
            expr,
            ..Val::of(8, value)
        }
    }

    fn write(&mut self, at: u64, byte: Val) {
        let access = byte_access(Kind::Write, at, self.pc).of_kernel(self.kernel);
        access.write(byte.value, byte.expr);
    }

    fn write_value(&mut self, at: u64, value: Val) {
        let access = self.whole(Kind::Write, at, value.width);
        access.write(value.value, value.expr);
    }

    fn write_word(&mut self, at: u64, value: u64) {
        self.whole(Kind::Write, at, 64).write(value, 0);
    }

    fn read_value(&mut self, at: u64, width: u8) -> Val {
        let (value, expr) = self.whole(Kind::Read, at, width).read();
        Val {
            expr,
            ..Val::of(width, value)
        }
    }

    fn copy(&mut self, to: u64, from: u64, len: u64) {
        blocks::copy(to, from, len, self.pc);
    }

    fn fill(&mut self, to: u64, byte: Val, len: u64) {
        blocks::set(to, byte.value as u8, len, byte.expr, self.pc);
    }

    fn decide(&mut self, on: Val, why: Why) {
        let expr: Expr = built(on.expr, self.pc);
        if expr != 0 {
            branch(expr, on.value, why, self.pc);
        }
    }

    fn compare(&mut self, function: u64, a: u64, b: u64) -> Val {
        type Compare = unsafe extern "C-unwind" fn(u64, u64) -> i32;
        // SAFETY: the program says that this is the type of its function.
        let compare: Compare = unsafe { core::mem::transmute(function as usize) };
        vars::set_argument(1, 0);
        vars::prepare_call(function as usize, 0);
        // SAFETY: as above.
        let result = unsafe { compare(a, b) };
        Val {
            expr: vars::result_of(function as usize),
            ..Val::of(32, u64::from(result as u32))
        }
    }

    fn duplicate(&mut self, from: u64, len: u64) -> u64 {
        // SAFETY: the program's own malloc.
        let block = unsafe { libc::malloc(len as usize + 1) } as u64;
        if block != 0 {
            self.copy(block, from, len);
            self.write(block + len, Val::byte(0));
        }
        block
    }

    fn borrow(&mut self, len: u64) -> u64 {
        os::map_memory(len as usize) as u64
    }

    fn give_back(&mut self, at: u64, len: u64) {
        // SAFETY: still mapped.
        unsafe { renew(at, len) };
        os::unmap(at as *mut u8, len as usize);
    }

    fn fail(&mut self, error: i32) {
        // SAFETY: the running thread's own variable.
        unsafe { *libc::__errno_location() = error };
    }

    fn complain(&mut self, text: &[u8]) {
        unsafe extern "C" {
            static stderr: *mut libc::FILE;
        }
        // Others may have come in since the call began.
        blocks::will_read(&raw const stderr as u64, size_of::<u64>() as u64, self.pc);
        // SAFETY: a stream of the C library, and a text of this length.
        unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), stderr) };
    }
}

//! What glibc's headers make of calls where `_FORTIFY_SOURCE` is defined: the same functions with
//! one argument more, the size of the object that they write to. What would be written beyond it
//! ends the program.

use super::Call;
use super::machine::Machine;
use super::strings::{self, ALL};
use raddle_protocol::library::Model;

/// Most arguments of such a function without the size.
const MOST: usize = 4;

/// Room for the arguments of the plain function.
#[derive(Default)]
pub struct Plain {
    values: [u64; MOST],
    exprs: [u32; MOST],
}

/// The function without the size, and where in the arguments the size stands.
pub fn plain(model: Model) -> Option<(Model, usize)> {
    Some(match model {
        Model::StrcpyChk => (Model::Strcpy, 2),
        Model::StpcpyChk => (Model::Stpcpy, 2),
        Model::StrcatChk => (Model::Strcat, 2),
        Model::StrncpyChk => (Model::Strncpy, 3),
        Model::StpncpyChk => (Model::Stpncpy, 3),
        Model::StrncatChk => (Model::Strncat, 3),
        Model::MempcpyChk => (Model::Mempcpy, 3),
        Model::FgetsChk => (Model::Fgets, 1),
        Model::FreadChk => (Model::Fread, 1),
        Model::ReadChk => (Model::Read, 3),
        _ => return None,
    })
}

impl<'a, M: Machine> Call<'a, M> {
    /// The call without the size of the object, if what it writes fits in there; `Err`: as it is.
    /// A call of another function is left alone.
    pub fn unfortified(mut self, store: &'a mut Plain) -> Result<Call<'a, M>, Call<'a, M>> {
        let Some((plain, at)) = plain(self.model) else {
            return Ok(self);
        };
        let room = self.size(at);
        let rest = (0..self.values.len()).filter(|&i| i != at);
        for ((value, expr), i) in store.values.iter_mut().zip(&mut store.exprs).zip(rest) {
            *value = self.values[i];
            *expr = self.exprs.get(i).copied().unwrap_or(0);
        }
        let (model, real) = (self.model, self.real);
        let (values, exprs) = (self.values, self.exprs);
        let mut call = Call {
            m: self.m,
            model: plain,
            values: &store.values,
            exprs: &store.exprs,
            real,
        };
        if call.written() <= room {
            return Ok(call);
        }
        Err(Call {
            m: call.m,
            model,
            values,
            exprs,
            real,
        })
    }

    /// How many bytes the plain function writes, at most.
    fn written(&mut self) -> u64 {
        match self.model {
            Model::Strcpy | Model::Stpcpy => self.text(1, ALL) + 1,
            Model::Strcat => self.text(0, ALL) + self.text(1, ALL) + 1,
            Model::Strncat => {
                let limit = self.size(2);
                self.text(0, ALL) + self.text(1, limit) + 1
            }
            Model::Fgets => self.size(1),
            Model::Fread => self.size(1).saturating_mul(self.size(2)),
            _ => self.size(2),
        }
    }

    fn text(&mut self, index: usize, limit: u64) -> u64 {
        let text = self.address(index);
        strings::length(self.m, text, limit)
    }

    /// Has the C library do it, of which nothing is followed. Most of these calls do not return.
    pub fn call_it(self) -> u64 {
        type Real = unsafe extern "C-unwind" fn(u64, u64, u64, u64, u64) -> u64;
        let mut values = [0; MOST + 1];
        values[..self.values.len()].copy_from_slice(self.values);
        let [a, b, c, d, e] = values;
        // SAFETY: the program's call of a function that takes up to five integers and addresses;
        // more registers than it looks at do no harm.
        unsafe {
            let real: Real = core::mem::transmute(self.real as usize);
            real(a, b, c, d, e)
        }
    }
}

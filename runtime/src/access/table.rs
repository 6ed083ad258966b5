//! Ties exported hooks to their rows in [`raddle_protocol::hooks`].

#[cfg(test)]
use core::ffi::{c_char, c_void};
#[cfg(test)]
use raddle_protocol::hooks::Ty;

/// A parameter narrower than 32 bits: callers need not extend it, so the rest of the register is
/// undefined.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Byte(usize);

/// As [`Byte`], of 16 bits.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Half(usize);

impl Byte {
    /// The value.
    pub fn get(self) -> u8 {
        self.0 as u8
    }
}

impl Half {
    /// The value.
    pub fn get(self) -> u16 {
        self.0 as u16
    }
}

/// The [`Ty`] of a Rust type.
#[cfg(test)]
pub trait HookType {
    /// It.
    const TY: Ty;
}

macro_rules! types {
    ($($rust:ty => $ty:ident;)*) => {$(
        #[cfg(test)]
        impl HookType for $rust {
            const TY: Ty = Ty::$ty;
        }
    )*};
}

types! {
    () => Void;
    Byte => I8;
    u8 => I8;
    Half => I16;
    u16 => I16;
    u32 => I32;
    u64 => I64;
    *mut c_void => Ptr;
    *const c_char => Ptr;
}

/// An export as it is: name, result, parameters.
#[cfg(test)]
pub type Row = (&'static str, Ty, &'static [Ty]);

/// [`export!`] for hooks: also puts the rows into a constant, which a unit test compares with the
/// protocol's table.
///
/// [`export!`]: crate::export
#[macro_export]
macro_rules! hooks {
    ($rows:ident: $(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $imp:path;)*) => {
        $crate::export! {$(
            /// See [`raddle_protocol::hooks`].
            fn $name($($arg: $ty),*) $(-> $ret)? = $imp;
        )*}

        /// The exports above.
        #[cfg(test)]
        pub const $rows: &[$crate::access::Row] = &[$((
            stringify!($name),
            $crate::hooks!(@result $($ret)?),
            &[$(<$ty as $crate::access::HookType>::TY),*],
        )),*];
    };
    (@result) => { raddle_protocol::hooks::Ty::Void };
    (@result $ret:ty) => { <$ret as $crate::access::HookType>::TY };
}

#[cfg(test)]
mod tests {
    use raddle_protocol::hooks::{HARNESS, TABLE};

    #[test]
    fn every_hook_is_exported_with_its_declared_type() {
        let mut rows: Vec<super::Row> = Vec::new();
        rows.extend(crate::access::ROWS);
        rows.extend(crate::access::copy::ROWS);
        rows.extend(crate::access::library::ROWS);
        rows.extend(crate::access::wide::ROWS);
        rows.extend(crate::shadow::rows());
        for hook in TABLE.iter().chain(HARNESS) {
            let found = rows.iter().find(|row| row.0 == hook.name);
            assert_eq!(found, Some(&(hook.name, hook.result, hook.params)));
        }
        assert_eq!(
            rows.len(),
            TABLE.len() + HARNESS.len(),
            "rows that no table has"
        );
    }
}

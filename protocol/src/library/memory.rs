//! What `verify` takes of the table of [effects](crate::effects) for functions without a model: what
//! they read and store where their arguments lead.

use crate::cpp::START_THREAD;
use crate::effects::{self, Effect, Extent, NONE, Place, ResultIs};

/// Instead of the number of an argument: the result, which leads to memory of the library's own that
/// is zero at first.
pub const OWN: u32 = u32::MAX;

/// How much a function stores where an argument leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// So many bytes.
    Bytes(u64),
    /// As many as this argument says, times so many.
    Items(u32, u64),
    /// As many as the result says, times so many; no more than this argument says (`None`: no limit).
    Result(Option<u32>, u64),
    /// A text with its NUL, of no more bytes than the argument says (`None`: no limit).
    Text(Option<u32>),
}

/// How much a function reads where an argument leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// So many bytes.
    Bytes(u64),
    /// As many as this argument says, times so many.
    Items(u32, u64),
    /// A text with its NUL.
    Text,
}

fn stored(effect: &Effect) -> Option<(u32, Stored, ResultIs)> {
    let limit = |n: u8| (n != NONE).then_some(u32::from(n));
    let stored = match effect.extent {
        Extent::Size(n) => Stored::Bytes(n.into()),
        Extent::Bytes(n) => Stored::Items(n.into(), effect.unit.into()),
        Extent::Result(most) => Stored::Result(limit(most), effect.unit.into()),
        Extent::Text(most) if effect.place == Place::Own => Stored::Text(limit(most)),
        Extent::Printed(most) | Extent::Written(most) | Extent::Line(most) if effect.unit == 1 => {
            Stored::Text(limit(most))
        }
        _ => return None,
    };
    let argument = match effect.place {
        Place::Argument(argument) => argument.into(),
        Place::Own => OWN,
        _ => return None,
    };
    (effect.writes && !effect.may).then_some((argument, stored, effect.result))
}

fn read(effect: &Effect) -> Option<(u32, Read)> {
    let read = match effect.extent {
        Extent::Size(n) => Read::Bytes(n.into()),
        Extent::Bytes(n) => Read::Items(n.into(), effect.unit.into()),
        Extent::Text(NONE) if effect.unit == 1 => Read::Text,
        _ => return None,
    };
    match effect.place {
        Place::Argument(argument) if !effect.writes => Some((argument.into(), read)),
        _ => None,
    }
}

/// Is this effect, one of `all` of a function, on what is known in all that the function does there? What
/// else an argument leads to is looked at as what any other function may use.
fn is_known(all: &[Effect], effect: &Effect) -> bool {
    let said = |effect: &Effect| stored(effect).is_some() || read(effect).is_some();
    let argument = effect.argument();
    let leads_on = |other: &Effect| match other.place {
        Place::Either(first, second) => argument == Some(first) || argument == Some(second),
        // What is written because of a format lies elsewhere, and what is cleared first is told of in any case.
        _ => !other.is_elsewhere() && !other.clears() && other.argument() == argument,
    };
    said(effect) && all.iter().filter(|other| leads_on(other)).all(said)
}

/// The effects of the function of this name that are so.
fn known(name: &str) -> impl Iterator<Item = &'static Effect> {
    let all = effects::of(name);
    all.iter().filter(|effect| is_known(all, effect))
}

/// What the function of this name stores: argument, how much, with which result.
pub fn stores(name: &str) -> impl Iterator<Item = (u32, Stored, ResultIs)> {
    known(name).filter_map(stored)
}

/// What the function of this name reads: argument, how much.
pub fn reads(name: &str) -> impl Iterator<Item = (u32, Read)> {
    known(name).filter_map(read)
}

/// What the function of this name does to memory that [`reads`] does not tell of, nor [`stores`], if that
/// is `told` of.
pub fn rest(name: &str, told: bool) -> impl Iterator<Item = &'static Effect> {
    let all = effects::of(name);
    all.iter().filter(move |effect| {
        let known = is_known(all, effect);
        !known || effect.writes && !told
    })
}

/// Does what the function stores have its value before anything begins that the call begins?
pub fn stores_early(name: &str) -> bool {
    matches!(name, "pthread_create" | "thrd_create" | START_THREAD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn what_is_taken_of_the_table() {
        type Rows<T> = &'static [(u32, T)];
        let table: &[(&str, Rows<Read>, Rows<Stored>)] = &[
            ("pthread_attr_init", &[], &[(0, Stored::Bytes(56))]),
            (
                "pthread_attr_setstacksize",
                &[(0, Read::Bytes(56))],
                &[(0, Stored::Bytes(56))],
            ),
            (
                "pthread_attr_getstacksize",
                &[(0, Read::Bytes(56))],
                &[(1, Stored::Bytes(8))],
            ),
            ("pthread_attribute", &[], &[]),
            (
                "gmtime",
                &[(0, Read::Bytes(8))],
                &[(OWN, Stored::Bytes(56))],
            ),
            ("pread", &[], &[(1, Stored::Result(Some(2), 1))]),
            ("sprintf", &[], &[(0, Stored::Text(None))]),
            ("printf", &[], &[]),
            // The text behind the pointer is in no row.
            ("strsep", &[(1, Read::Text)], &[]),
            ("qsort", &[], &[]),
        ];
        for (name, read, stored) in table {
            assert_eq!(reads(name).collect::<Vec<_>>(), *read, "{name}");
            let stores = stores(name).map(|(argument, stored, _)| (argument, stored));
            assert_eq!(stores.collect::<Vec<_>>(), *stored, "{name}");
        }
    }

    #[test]
    fn what_nothing_else_tells_of() {
        for (name, told, count) in [
            ("pthread_attr_init", true, 0),
            ("pthread_attr_init", false, 1),
            ("strptime", true, 1),
            ("open", true, 0),
            ("strsep", true, 4),
            ("printf", true, 2),
            ("sprintf", true, 2),
            ("readdir", true, 1),
            ("recvmsg", true, 3),
        ] {
            assert_eq!(rest(name, told).count(), count, "{name}");
        }
    }
}

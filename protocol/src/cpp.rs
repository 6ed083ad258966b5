//! What is known of functions of libstdc++, by their mangled names. Their code has no hooks.

/// An object of the program that a function touches: the argument that points to it, and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    Reads(usize, u64),
    /// Perhaps it reads it first.
    Writes(usize, u64),
    /// It reads a text with its NUL.
    Text(usize),
}
use Touch::{Reads, Text, Writes};

/// Begins a thread of a `std::thread`.
pub const START_THREAD: &str =
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE";

/// The first row whose name a function's name begins with says what it touches. States of threads are not
/// among that: nothing but these functions reads what they write there. What the constructor of a condition
/// variable writes, and what the others do to it, is told of in other ways.
const THREADS: &[(&str, &[Touch])] = &[
    // The pointer to the thread's state. That it stores the thread's identifier, too, says
    // [`crate::library::stores`].
    (START_THREAD, &[Writes(1, 8)]),
    ("_ZNSt6thread6_StateD", &[]),
    ("_ZNSt6thread20hardware_concurrencyEv", &[]),
    // The lock: a pointer to the mutex, and whether it is held.
    (
        "_ZNSt18condition_variable4waitERSt11unique_lock",
        &[Reads(1, 16)],
    ),
    ("_ZNSt18condition_variableC", &[]),
    ("_ZNSt18condition_variableD", &[]),
    ("_ZNSt18condition_variable10notify_", &[]),
    ("_ZNSt11this_thread11__sleep_for", &[]),
    ("_ZNSt6chrono3_V2", &[]),
    ("_ZNSt3_V216generic_category", &[]),
    ("_ZNSt3_V215system_category", &[]),
    ("_ZSt9terminatev", &[]),
    ("__once_proxy", &[]),
    // The policy of a hash table: its load, and when it grows.
    (
        "_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bkt",
        &[Writes(0, 16)],
    ),
    ("_ZSt18uncaught_exception", &[]),
    ("_ZSt19uncaught_exceptions", &[]),
    // The keys of the locks of atomic shared pointers.
    ("_ZNSt10_Sp_lockerC", &[Writes(0, 2)]),
    ("_ZNSt10_Sp_lockerD", &[Reads(0, 2)]),
    // The result of a future: a table of functions, and an exception.
    // Nothing reads what a destructor leaves.
    ("_ZNSt13__future_base12_Result_baseD", &[Reads(0, 16)]),
    ("_ZSt15future_categoryv", &[]),
    // A pointer to an exception, whose count only these functions use.
    (
        "_ZNSt15__exception_ptr13exception_ptr9_M_addrefEv",
        &[Reads(0, 8)],
    ),
    (
        "_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv",
        &[Reads(0, 8)],
    ),
    ("_ZNSt15__exception_ptr13exception_ptrD", &[Reads(0, 8)]),
    (
        "_ZNSt15__exception_ptr13exception_ptrC1ERKS0_",
        &[Reads(1, 8), Writes(0, 8)],
    ),
    (
        "_ZNSt15__exception_ptr13exception_ptrC2ERKS0_",
        &[Reads(1, 8), Writes(0, 8)],
    ),
    ("_ZNSt15__exception_ptr13exception_ptrC", &[Writes(0, 8)]),
    (
        "_ZNSt15__exception_ptr13exception_ptraSERKS0_",
        &[Reads(1, 8), Writes(0, 8)],
    ),
    ("_ZSt17current_exceptionv", &[Writes(0, 8)]),
    ("_ZSt17rethrow_exception", &[Reads(0, 8)]),
];

/// Exceptions that keep a text which only their functions know of, and a pointer to it in the object.
const EXCEPTIONS: &[&str] = &[
    "_ZNSt11logic_error",
    "_ZNSt12domain_error",
    "_ZNSt12length_error",
    "_ZNSt12out_of_range",
    "_ZNSt16invalid_argument",
    "_ZNSt13runtime_error",
    "_ZNSt11range_error",
    "_ZNSt14overflow_error",
    "_ZNSt15underflow_error",
];

/// What functions of [`EXCEPTIONS`] touch, but for those that are given a `std::string`.
fn of_exception(name: &str) -> Option<&'static [Touch]> {
    if name.ends_with("_error4whatEv") && name.starts_with("_ZNKSt1") {
        return Some(&[Reads(0, 16)]);
    }
    let does = EXCEPTIONS.iter().find_map(|class| name.strip_prefix(class));
    match does? {
        "C1EPKc" | "C2EPKc" => Some(&[Text(1), Writes(0, 16)]),
        "C1ERKS_" | "C2ERKS_" | "C1EOS_" | "C2EOS_" | "aSERKS_" | "aSEOS_" => {
            Some(&[Reads(1, 16), Writes(0, 16)])
        }
        "D0Ev" | "D1Ev" | "D2Ev" => Some(&[Reads(0, 16)]),
        _ => None,
    }
}

/// What else leaves the program's objects alone, or has no others than these: memory, exceptions, and
/// output to the streams that there are from the start. Streams that keep text, or lead elsewhere,
/// have constructors of other names.
const KNOWN: &[&str] = &[
    "_Zn",
    "_Zd",
    "__cxa_",
    "__gxx_personality_",
    "__dynamic_cast",
    "_Unwind_",
    "_ZNSt9exceptionD",
    "_ZNKSt9exception4what",
    "_ZNKSt11logic_error4what",
    "_ZNKSt13runtime_error4what",
    "_ZNSt9bad_allocD",
    "_ZNSt11logic_error",
    "_ZNSt12domain_error",
    "_ZNSt12future_errorD",
    "_ZNKSt12future_error4what",
    "_ZNSt12length_error",
    "_ZNSt12out_of_range",
    "_ZNSt12system_error",
    "_ZNSt13runtime_error",
    "_ZNSt11range_error",
    "_ZNSt14overflow_error",
    "_ZNSt15underflow_error",
    "_ZNSt16invalid_argument",
    "_ZNSt8ios_base4Init",
    "_ZNSt6locale7classicEv",
    "_ZSt17iostream_categoryv",
    "_ZNSt3pmr19new_delete_resourceEv",
    "_ZNSt3pmr20null_memory_resourceEv",
    "_ZSt21__glibcxx_assert_fail",
    "_ZSt20__replacement_assert",
    "_ZNSo",
    "_ZStls",
    "_ZSt4endl",
    "_ZSt5flush",
    "_ZSt16__ostream_insert",
    "_ZNKSt5ctypeIcE13_M_widen_init",
];

/// Is it a function of the namespace `std`, by its mangled name?
pub fn is_of_library(name: &str) -> bool {
    ["_ZNSt", "_ZNKSt", "_ZSt"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// What a function that is about threads or exceptions, or never returns, touches; `None`: it is not one of these.
pub fn touches(name: &str) -> Option<&'static [Touch]> {
    let row = THREADS.iter().find(|row| name.starts_with(row.0));
    let throws = name.starts_with("_ZSt") && name.contains("__throw_");
    let known = row.map(|row| row.1).or_else(|| of_exception(name));
    known.or(throws.then_some(&[]))
}

/// Is it known that the function does nothing to memory that threads share, but for what
/// [`touches`] says?
pub fn is_known(name: &str) -> bool {
    touches(name).is_some() || KNOWN.iter().any(|known| name.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        let table: &[(&str, bool, Option<&[Touch]>)] = &[
            (START_THREAD, true, Some(&[Writes(1, 8)])),
            (
                "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
                true,
                Some(&[Reads(1, 16)]),
            ),
            ("_ZNSt18condition_variable10notify_oneEv", true, Some(&[])),
            ("_ZSt20__throw_length_errorPKc", true, Some(&[])),
            (
                "_ZNSt12out_of_rangeC1EPKc",
                true,
                Some(&[Text(1), Writes(0, 16)]),
            ),
            ("_ZNKSt13runtime_error4whatEv", true, Some(&[Reads(0, 16)])),
            (
                "_ZNSt13runtime_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
                true,
                None,
            ),
            ("_ZNSolsEi", true, None),
            ("_Znwm", true, None),
            ("_ZNSirsERi", false, None),
            (
                "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base",
                false,
                None,
            ),
            ("_ZNSt8__detail15_List_node_base7_M_hookEPS0_", false, None),
        ];
        for (name, known, touched) in table {
            assert_eq!(is_known(name), *known, "{name}");
            assert_eq!(touches(name), *touched, "{name}");
        }
    }
}

//! Variables of the C library that programs may read and write themselves.

use super::State;
use super::kept::STATES;
use crate::hooks::ASSIGNS_STREAMS;

/// Such a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its names, first the one by which the library itself finds it.
    pub names: &'static str,
    pub bytes: u64,
    /// It is an array of pointers to texts, up to a null pointer.
    pub texts: bool,
    /// Whoever uses its state accesses it for certain.
    pub sure: bool,
    /// Only what a program writes there matters. Modules that may do so ask for this name.
    written_with: &'static str,
}

const fn variable(names: &'static str, bytes: u64) -> Variable {
    Variable {
        names,
        bytes,
        texts: false,
        sure: false,
        written_with: "",
    }
}

/// One of the standard streams, which nearly every program reads, and few write.
const fn stream(names: &'static str) -> Variable {
    Variable {
        written_with: ASSIGNS_STREAMS,
        ..variable(names, 8)
    }
}

const fn sure(variable: Variable) -> Variable {
    Variable {
        sure: true,
        ..variable
    }
}

impl Variable {
    pub(super) const ENVIRONMENT: Variable = Variable {
        texts: true,
        ..variable("__environ environ _environ", 8)
    };
    pub(super) const ZONE: Variable = variable("__timezone timezone", 8);
    pub(super) const ZONE_NAMES: Variable = variable("__tzname tzname", 16);
    pub(super) const DAYLIGHT: Variable = variable("__daylight daylight", 4);
    pub(super) const SIGN: Variable = sure(variable("__signgam signgam", 4));
    pub(super) const INPUT: Variable = sure(stream("stdin"));
    pub(super) const OUTPUT: Variable = sure(stream("stdout"));
    pub(super) const ERRORS: Variable = sure(stream("stderr"));
    /// The same for those that may have nothing to say.
    pub(super) const COMPLAINTS: Variable = stream("stderr");
    pub(super) const PROGRAM: &'static [Variable] = &[
        variable("__progname_full program_invocation_name", 8),
        variable("__progname program_invocation_short_name", 8),
    ];
    pub(super) const ERROR_WAYS: &'static [Variable] = &[
        variable("error_one_per_line", 4),
        variable("error_print_progname", 8),
    ];
    pub(super) const ERROR_COUNT: Variable = variable("error_message_count", 4);
    pub(super) const ARGP: &'static [Variable] = &[
        variable("argp_program_version", 8),
        variable("argp_program_version_hook", 8),
        variable("argp_program_bug_address", 8),
        variable("argp_err_exit_status", 4),
    ];
    pub(super) const OBSTACKS: &'static [Variable] = &[
        variable("obstack_alloc_failed_handler", 8),
        variable("obstack_exit_failure", 4),
    ];
    pub(super) const SYNTAX: Variable = variable("re_syntax_options", 8);
    pub(super) const CATALOGUES: Variable = variable("_nl_msg_cat_cntr", 4);
    pub(super) const DATE_ERROR: Variable = variable("getdate_err", 4);
    pub(super) const BREAK: Variable = variable("__curbrk", 8);
    pub(super) const REMOTE: Variable = variable("rexecoptions", 4);
    pub(super) const TRUSTED: &'static [Variable] = &[
        variable("__rcmd_errstr", 8),
        variable("__check_rhosts_file", 4),
    ];

    /// Those of [`Place::Options`](super::Place::Options), of which rows tell.
    const OPTIONS: &'static str = "optind opterr optopt optarg";

    /// No function of the library writes these once the program runs, or reads them then.
    const CONSTANT: &'static str = "in6addr_any in6addr_loopback h_errlist h_nerr _libc_intl_domainname \
        _nl_default_dirname __fpu_control re_max_failures __libc_single_threaded";

    /// Insides of the library: which functions use them is not known. A module that refers to one bounds
    /// exhaustive searches.
    pub const INSIDES: &'static str = "_IO_2_1_stdin_ _IO_2_1_stdout_ _IO_2_1_stderr_ _IO_list_all _IO_file_jumps \
        _IO_wfile_jumps _nl_domain_bindings _res_hconf";

    /// No program can be linked against these any more.
    const OLD: &'static str = "_res loc1 loc2 locs mallwatch _obstack __ctype_b __ctype_tolower __ctype_toupper \
        __ctype32_b __ctype32_tolower __ctype32_toupper rpc_createerr svc_fdset svc_max_pollfd \
        svc_pollfd svcauthdes_stats __key_decryptsession_pk_LOCAL __key_encryptsession_pk_LOCAL \
        __key_gendes_LOCAL _LIB_VERSION _null_auth sys_errlist _sys_errlist sys_nerr _sys_nerr \
        sys_siglist _sys_siglist sys_sigabbrev __malloc_hook __free_hook __realloc_hook __memalign_hook \
        __after_morecore_hook __malloc_initialize_hook __morecore";

    /// The names that modules ask for which may access the variable, as far as that matters.
    pub fn asked(&self) -> &'static str {
        match self.written_with {
            "" => self.names,
            name => name,
        }
    }
}

/// What is known of the variable of the library with this name.
#[derive(Clone, Copy, Debug)]
pub enum Known {
    /// Functions use it that use this state.
    Shows(&'static State, Variable),
    /// Rows tell of it.
    InRows,
    Constant,
    /// See [`Variable::INSIDES`].
    Unknown,
    Old,
}

impl Known {
    /// `None`: nothing is.
    pub fn of(name: &str) -> Option<Known> {
        let is_in = |names: &str| names.split_ascii_whitespace().any(|one| one == name);
        let mut shown = STATES.iter().flat_map(|state| {
            state
                .variables
                .iter()
                .map(move |variable| (state, *variable))
        });
        if let Some((state, variable)) = shown.find(|(_, variable)| is_in(variable.names)) {
            return Some(Known::Shows(state, variable));
        }
        let lists = [
            (Variable::OPTIONS, Known::InRows),
            (Variable::CONSTANT, Known::Constant),
            (Variable::INSIDES, Known::Unknown),
            (Variable::OLD, Known::Old),
        ];
        let found = lists.into_iter().find(|(names, _)| is_in(names));
        found.map(|(_, known)| known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_of_a_variable_is_in_one_place() {
        let lists = [
            Variable::OPTIONS,
            Variable::CONSTANT,
            Variable::INSIDES,
            Variable::OLD,
        ];
        let mut names = BTreeSet::new();
        for name in lists.iter().flat_map(|list| list.split_ascii_whitespace()) {
            assert!(names.insert(name), "{name}");
        }
        for variable in STATES.iter().flat_map(|state| state.variables) {
            for name in variable.names.split_ascii_whitespace() {
                assert!(!names.contains(name), "{name}");
                assert!(Known::of(name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn states_of_variables_are_looked_at_where_a_module_asks_for_one() {
        for state in STATES {
            // The environment has its own state, too.
            for variable in state.variables.iter().filter(|one| !one.texts) {
                let mut asked = variable.asked().split_ascii_whitespace();
                let all = state.only_with;
                let is_with = |name: &str| all.split_ascii_whitespace().any(|one| one == name);
                assert!(all.is_empty() || asked.all(is_with), "{}", state.name);
            }
        }
    }
}

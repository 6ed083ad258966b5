//! Memory that a function of the C library keeps for later calls: do exhaustive searches and `verify` try
//! accesses of other threads before and after these calls, and are they unbounded where there are none?

mod common;

use common::{Compiler, compile, in_parallel, run};
use raddle_protocol::effects::Lent;

#[test]
fn what_later_calls_use_is_accessed_before_and_after_them() {
    let built = |flags: &[&str]| {
        let flags = [&["-O0", "-w"], flags].concat();
        compile(Compiler::RaddleCc, "tests/lent/lent.c", &flags)
    };
    // A call of which no row says all bounds a whole program.
    let programs = [built(&[]), built(&["-DHSEARCH"])];
    let gives_back = |name: &str| name.starts_with("set") || name == "initstate";
    let cases: Vec<(&str, &str)> = Lent::names()
        .flat_map(|name| [(name, "used"), (name, "left"), (name, "ended")])
        .filter(|&(name, how)| how != "ended" || gives_back(name))
        .collect();
    in_parallel(&cases, |&(name, how)| {
        for mode in [&["run", "--policy", "dpor"][..], &["verify"]] {
            let options = [mode, &["--races=off", "--no-shrink"]].concat();
            let program = &programs[usize::from(name == "hsearch")];
            let run = run(&options, program, &[name, how]);
            let right: &[i32] = match (how, mode[0]) {
                // What the library writes there `verify` does not follow, but it says so.
                ("used", "verify") => &[66, 69],
                ("used", _) => &[66],
                // What else it does no row can say.
                _ if name == "hsearch" => &[0, 69],
                // A clock is looked at, too.
                _ if name == "openlog" && mode[0] == "verify" => &[0, 69],
                _ => &[0],
            };
            if !right.contains(&run.output.status) {
                let (shown, all) = (&run.shown, run.output.all());
                return Err(format!("{shown}: {right:?} is right\n{all}"));
            }
        }
        Ok(())
    });
}

#[test]
fn a_text_that_nobody_has_given_yet_is_a_fault() {
    let program = compile(Compiler::RaddleCc, "tests/lent/token.c", &["-O0"]);
    for mode in [&["run", "--policy", "dpor"][..], &["verify"]] {
        let run = run(&[mode, &["--races=off"]].concat(), &program, &[]);
        assert_eq!(run.output.status, 66, "{}", run.output.all());
    }
}

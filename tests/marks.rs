//! Are the programs of `marks/` found by the default policy, and their fixed twins clean?

mod common;
#[path = "marks/mod.rs"]
mod marks;

use common::{in_parallel, run};
use marks::MARKS;

#[test]
fn the_default_policy_finds_every_mark() {
    in_parallel(MARKS, |mark| {
        let Some(within) = mark.within else {
            return Ok(());
        };
        let within = within.to_string();
        for seed in ["1", "2"] {
            let options = ["run", "-q", "--no-shrink", "-n", &within, "--seed", seed];
            let run = run(&options, &mark.program(&[]), mark.args);
            match run.summary.findings.first() {
                Some(finding) if finding.class == mark.class => {}
                other => return Err(format!("{}: {other:?}\n{}", run.shown, run.output.all())),
            }
        }
        Ok(())
    });
}

#[test]
fn no_fixed_twin_fails() {
    in_parallel(MARKS, |mark| {
        let run = run(
            &["run", "-q", "-n", "200"],
            &mark.program(&["-DFIXED"]),
            mark.args,
        );
        match run.summary.verdict.as_str() {
            "nothing-found" => Ok(()),
            _ => Err(format!("{}\n{}", run.shown, run.output.all())),
        }
    });
}

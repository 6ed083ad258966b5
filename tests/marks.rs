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

/// Mean executions over five seeds: some four times what was measured.
#[test]
fn the_default_policy_needs_few_executions() {
    let bounds: [(&str, &[&str], u64); 6] = [
        ("reorder", &["5"], 20),
        ("reorder", &["20"], 20),
        ("twostage", &["10"], 30),
        ("bluetooth driver", &[], 30),
        ("work stealing", &[], 30),
        ("string buffer", &[], 15),
    ];
    in_parallel(&bounds, |&(name, args, most)| {
        let mark = MARKS.iter().find(|m| m.name == name && m.args == args);
        let program = mark.ok_or("no such mark")?.program(&[]);
        let mut sum = 0;
        for seed in ["1", "2", "3", "4", "5"] {
            let options = ["run", "-q", "--no-shrink", "-n", "1000", "--seed", seed];
            sum += run(&options, &program, args).summary.executions;
        }
        match sum <= 5 * most {
            true => Ok(()),
            false => Err(format!("{name} {args:?}: {sum} executions over five seeds")),
        }
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

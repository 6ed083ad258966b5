//! Thousands of threads in one execution, hundreds alive at once, in bounded memory.

mod common;

use common::{Compiler, compile, run};

#[test]
fn ten_thousand_threads_run_in_bounded_memory() {
    let program = compile(Compiler::Gcc, "tests/churn/churn.c", &[]);
    for threads in ["fiber", "kernel"] {
        // Batches of threads, and how many are alive at once; the program itself looks at its
        // memory and ends with 3 when it has grown by more than the last argument, in MiB.
        let args = ["40", "256", "400"];
        let options = [
            "run",
            "-n",
            "1",
            "--seed",
            "1",
            "--policy",
            "random",
            "--threads",
            threads,
        ];
        let run = run(&options, &program, &args);
        assert!(
            run.summary.outcomes.keys().eq(["exit 0"].iter()),
            "{}\n{}",
            run.shown,
            run.output.all()
        );
        assert_eq!(run.summary.executions, 1);
    }
}

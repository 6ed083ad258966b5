//! Classes of interleavings without any table of what conflicts: two interleavings are equivalent if
//! one comes of the other by swapping neighbours that commute *there*, which is tried. Both orders have
//! to be possible, with the same state and the same results in the end, and each step has to change the
//! same in both.

use super::{Machine, Phase, Program, Thread};
use raddle_analyzer::search::Plan;
use raddle_protocol::schedule::Tail;
use std::collections::HashMap;

/// What threads share, as numbers with names.
fn shared(machine: &Machine) -> Vec<((&'static str, usize), u64)> {
    let mut all = Vec::new();
    let mut put = |name, n: usize, value: u64| all.push(((name, n), value));
    for (n, &value) in machine.memory.iter().enumerate() {
        put("variable", n, value);
    }
    for (n, &holder) in machine.mutexes.iter().enumerate() {
        put("mutex", n, holder as u64);
    }
    for (n, &tokens) in machine.tokens.iter().enumerate() {
        put("semaphore", n, u64::from(tokens));
    }
    for (n, queue) in machine.queues.iter().enumerate() {
        put(
            "waiters",
            n,
            queue.iter().fold(0, |all, &t| 16 * all + t as u64 + 1),
        );
    }
    for (n, &writer) in machine.writers.iter().enumerate() {
        put("writer", n, writer as u64);
        for t in 0..machine.threads.len() {
            put(
                "reader",
                16 * n + t,
                u64::from(machine.readers[n].contains(&t)),
            );
        }
    }
    all
}

/// What changes between two states. A post to a semaphore adds, whatever the count is.
fn changes(before: &Machine, after: &Machine) -> Vec<((&'static str, usize), u64, u64)> {
    let pairs = shared(before).into_iter().zip(shared(after));
    let changed = pairs.filter(|((_, old), (_, new))| old != new);
    changed
        .map(|((name, old), (_, new))| match name.0 {
            "semaphore" if new > old => (name, 0, new - old),
            _ => (name, old, new),
        })
        .collect()
}

fn local(thread: &Thread) -> (usize, u64, Phase, bool, &[usize]) {
    (
        thread.line,
        thread.acc,
        thread.phase,
        thread.released,
        &thread.held,
    )
}

fn same_state(a: &Machine, b: &Machine) -> bool {
    let locals = |m: &'_ Machine<'_>| -> Vec<(usize, u64, Phase, bool, Vec<usize>)> {
        let all = m.threads.iter().map(local);
        all.map(|(l, a, p, r, held)| (l, a, p, r, held.to_vec()))
            .collect()
    };
    shared(a) == shared(b) && locals(a) == locals(b) && a.ended == b.ended
}

fn after<'a>(state: &Machine<'a>, t: usize) -> Option<Machine<'a>> {
    let possible = state.ended.is_none() && state.enabled(t);
    possible.then(|| {
        let mut next = state.clone();
        next.step(t);
        next.events.clear();
        next
    })
}

fn commute(state: &Machine, a: usize, b: usize) -> bool {
    let both = || {
        let (with_a, with_b) = (after(state, a)?, after(state, b)?);
        let (ab, ba) = (after(&with_a, b)?, after(&with_b, a)?);
        let same = same_state(&ab, &ba)
            && changes(state, &with_a) == changes(&with_b, &ba)
            && changes(state, &with_b) == changes(&with_a, &ab);
        Some(same)
    };
    a != b && both() == Some(true)
}

/// Adds all interleavings that begin with `so_far`; false if there are more than `most`.
fn interleavings(
    state: &Machine,
    so_far: &mut Vec<usize>,
    most: usize,
    all: &mut Vec<Vec<usize>>,
) -> bool {
    let mut goes_on = false;
    for t in 0..state.threads.len() {
        let Some(next) = after(state, t) else {
            continue;
        };
        goes_on = true;
        so_far.push(t);
        let few = interleavings(&next, so_far, most, all);
        so_far.pop();
        if !few {
            return false;
        }
    }
    if !goes_on {
        all.push(so_far.clone());
    }
    all.len() <= most
}

/// How many classes a program without choices, clocks, barriers and loops has; `None`: it has more than
/// `most` interleavings.
pub fn classes(program: &Program, most: usize) -> Option<usize> {
    let start = Machine::new(program, &Plan::tail(Tail::RunUntilBlocked));
    let mut all = Vec::new();
    if !interleavings(&start, &mut Vec::new(), most, &mut all) {
        return None;
    }
    let numbers: HashMap<&[usize], usize> = all
        .iter()
        .enumerate()
        .map(|(n, way)| (&way[..], n))
        .collect();
    let mut parents: Vec<usize> = (0..all.len()).collect();
    fn root(parents: &mut [usize], mut n: usize) -> usize {
        while parents[n] != n {
            parents[n] = parents[parents[n]];
            n = parents[n];
        }
        n
    }
    for (n, way) in all.iter().enumerate() {
        let mut state = start.clone();
        for (k, pair) in way.windows(2).enumerate() {
            if pair[0] < pair[1] && commute(&state, pair[0], pair[1]) {
                let mut other = way.clone();
                other.swap(k, k + 1);
                let other = root(&mut parents, numbers[&other[..]]);
                let this = root(&mut parents, n);
                parents[other] = this;
            }
            state = after(&state, pair[0]).expect("it was possible");
        }
    }
    Some((0..all.len()).filter(|&n| parents[n] == n).count())
}

use super::*;

/// "1+a": thread 1 takes lock a; "1-a": gives; "1?a": tries and gets; "1r a" as a reader; "0*1":
/// creates; "0&1": joins; "1^s", "1vs": waits for and posts the semaphore s.
fn trace(text: &str) -> Vec<Event> {
    text.split_whitespace()
        .enumerate()
        .map(|(at, word)| {
            let letters: Vec<char> = word.chars().collect();
            let thread = letters[0] as u16 - '0' as u16;
            let object = letters[2] as u64;
            let other = object.wrapping_sub('0' as u64);
            let (kind, object, value) = match letters[1] {
                '+' => (Kind::MutexLock, object, 0),
                '-' => (Kind::MutexUnlock, object, 0),
                '?' => (Kind::MutexTryLock, object, 0),
                'r' => (Kind::RwRead, object, 0),
                'w' => (Kind::RwWrite, object, 0),
                'u' => (Kind::RwUnlock, object, 0),
                '^' => (Kind::SemWait, object, 0),
                'v' => (Kind::SemPost, object, 0),
                '*' => (Kind::ThreadCreate, 0, other),
                '&' => (Kind::ThreadJoin, 0, other),
                other => panic!("{other}"),
            };
            Event {
                kind: kind as u8,
                thread,
                object,
                value,
                pc: 100 + at as u64,
                ..Event::default()
            }
        })
        .collect()
}

#[test]
fn cycles_and_what_keeps_threads_apart() {
    let table = [
        // Plain inversion.
        ("0*1 0*2 1+a 1+b 1-b 1-a 2+b 2+a 2-a 2-b", 1),
        // The same order.
        ("0*1 0*2 1+a 1+b 1-b 1-a 2+a 2+b 2-b 2-a", 0),
        // A gate.
        ("0*1 0*2 1+g 1+a 1+b 1-b 1-a 1-g 2+g 2+b 2+a 2-a 2-b 2-g", 0),
        // One after the other: by a join, by creation, by a semaphore.
        ("0*1 1+a 1+b 1-b 1-a 0&1 0*2 2+b 2+a 2-a 2-b", 0),
        ("0+a 0+b 0-b 0-a 0*1 1+b 1+a 1-a 1-b", 0),
        ("0*1 0*2 1+a 1+b 1-b 1-a 1vs 2^s 2+b 2+a 2-a 2-b", 0),
        // Whoever only tries does not wait.
        ("0*1 0*2 1+a 1?b 1-b 1-a 2+b 2+a 2-a 2-b", 0),
        ("0*1 0*2 1?a 1+b 1-b 1-a 2+b 2+a 2-a 2-b", 1),
        // Three threads.
        (
            "0*1 0*2 0*3 1+a 1+b 1-b 1-a 2+b 2+c 2-c 2-b 3+c 3+a 3-a 3-c",
            1,
        ),
        // Readers do not wait for readers; a writer does.
        ("0*1 0*2 1ra 1rb 1ub 1ua 2rb 2ra 2ua 2ub", 0),
        ("0*1 0*2 1ra 1wb 1ub 1ua 2rb 2wa 2ua 2ub", 1),
        ("0*1 0*2 1ra 1wb 1ub 1ua 2rb 2ra 2ua 2ub", 0),
        // A common lock held by readers is no gate.
        ("0*1 0*2 1rg 1+a 1+b 1-b 1-a 1ug 2rg 2+b 2+a 2-a 2-b 2ug", 1),
        // Twice the same places are one cycle.
        ("0*1 0*2 1+a 1+a 1-a 1+b 1-b 1-a 2+b 2+a 2-a 2-b", 1),
        // One thread alone.
        ("0*1 1+a 1+b 1-b 1-a 1+b 1+a 1-a 1-b", 0),
    ];
    for (text, expected) in table {
        assert_eq!(cycles(&trace(text)).len(), expected, "{text}");
    }
}

#[test]
fn a_cycle_names_its_places() {
    let found = cycles(&trace("0*1 0*2 1+a 1+b 1-b 1-a 2+b 2+a 2-a 2-b"));
    assert_eq!(found[0].key(), [(102, 103), (106, 107)]);
    assert_eq!(found[0].held(0).unwrap().pc, 102);
    assert_eq!(found[0].0[1].thread, 2);
}

/// A place that was passed when the other thread did not live yet is looked at again.
#[test]
fn a_place_counts_each_time_that_threads_are_ordered_otherwise() {
    let same_places = |text: &str| {
        let mut events = trace(text);
        for event in &mut events {
            event.pc = u64::from(event.kind) << 8 | event.object;
        }
        cycles(&events).len()
    };
    let (ab, ba) = ("0+a 0+b 0-b 0-a", "1+b 1+a 1-a 1-b");
    assert_eq!(same_places(&format!("{ab} {ab} 0*1 {ba}")), 0);
    assert_eq!(same_places(&format!("{ab} 0*1 {ab} {ba}")), 1);
    assert_eq!(same_places(&format!("{ab} 0*1 {ba} {ab} {ab}")), 1);
    assert_eq!(same_places(&format!("{ab} 0*1 {ba} 0&1 {ab}")), 0);
}

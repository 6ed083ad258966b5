//! scanf on streams: the same results, the same place and the same end as in the C library.

use super::super::scan::{Text, scan};
use super::{Bench, FORMATS, input_byte};
use crate::rng::Rng;
use crate::shadow::tests::evaluate;
use core::ffi::{c_char, c_int};
use libc::FILE;
use std::ffi::CStr;

unsafe extern "C" {
    fn fscanf(stream: *mut FILE, format: *const c_char, ...) -> c_int;
}

/// Three places of eight bytes, and room behind the last.
type Target = [u64; 6];

/// The result, what was stored, where the stream stands, and whether it has ended.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    result: c_int,
    target: Target,
    at: i64,
    has_ended: bool,
}

fn run_real(format: &CStr, content: &[u8]) -> Seen {
    let mut target = [0; 6];
    let [a, b, c] = [0, 1, 2].map(|i| &raw mut target[i]);
    // SAFETY: a stream on memory of ours, and places that are long enough for the formats.
    unsafe {
        let file = libc::tmpfile();
        libc::fwrite(content.as_ptr().cast(), 1, content.len(), file);
        libc::rewind(file);
        let result = fscanf(file, format.as_ptr(), a, b, c);
        let (at, has_ended) = (libc::ftello(file), libc::feof(file) != 0);
        libc::fclose(file);
        Seen {
            result,
            target,
            at,
            has_ended,
        }
    }
}

#[test]
fn scanf_reads_streams_as_the_c_library_does() {
    const LIKELY: &[u8] = b"\0 -+0x178az:\t%]";
    const LEN: usize = 6;
    let mut rng = Rng::new(31);
    let mut predictions = 0;
    for _ in 0..3000 {
        let format = FORMATS[rng.below(FORMATS.len())];
        let len = rng.below(LEN + 1);
        let mut content: Vec<u8> = (0..len).map(|_| LIKELY[rng.below(LIKELY.len())]).collect();
        let mut memory = content.clone();
        memory.push(0);
        let mut target: Target = [0; 6];
        let mut bench = Bench::new();
        let start = memory.as_ptr() as u64;
        for i in 0..len {
            let expr = input_byte(&mut bench, i, 8);
            bench.shadow.insert(start + i as u64, expr);
        }
        let text = Text {
            start,
            end: Some(start + len as u64),
        };
        let places = [0, 1, 2].map(|i| &raw mut target[i] as u64);
        let (result, progress) = scan(&mut bench, text, format.as_ptr() as u64, &places);
        let mut seen = Seen {
            result: result.value as c_int,
            target,
            at: (progress.at - start) as i64,
            has_ended: progress.saw_end,
        };
        let really = run_real(format, &content);
        let shown = content.escape_ascii().to_string();
        assert_eq!(seen, really, "{format:?} of {shown:?}");
        for _ in 0..10.min(4 * len) {
            let at = rng.below(len);
            let before = content[at];
            content[at] = LIKELY[rng.below(LIKELY.len())];
            let means: Vec<u64> = content.iter().map(|&b| u64::from(b)).collect();
            let is = |expr| evaluate(&bench.nodes, expr, &means);
            let other = content.escape_ascii().to_string();
            if bench.decisions.iter().all(|&(e, value)| is(e) == value) {
                let first = target.as_ptr() as u64;
                let byte = |i: usize| match bench.shadow(first + i as u64) {
                    0 => target[i / 8].to_le_bytes()[i % 8],
                    expr => is(expr) as u8,
                };
                let bytes: Vec<u8> = (0..8 * target.len()).map(byte).collect();
                for (word, bytes) in seen.target.iter_mut().zip(bytes.chunks_exact(8)) {
                    *word = u64::from_le_bytes(bytes.try_into().unwrap());
                }
                let really = run_real(format, &content);
                assert_eq!(seen, really, "{format:?} of {shown:?} and {other:?}");
                predictions += 1;
            }
            content[at] = before;
        }
    }
    assert!(predictions > 2000, "only {predictions} predictions");
}

//! Arbitrary bytes as a witness file: an error or a witness that survives being written again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use raddle_protocol::witness::{decode, encode};

fuzz_target!(|bytes: &[u8]| {
    // Most inputs die at the checksum; with a right one the fuzzer reaches the body.
    for file in [bytes.to_vec(), raddle_fuzz::sealed(bytes)] {
        if let Ok(witness) = decode(&file) {
            let again = decode(encode(&witness).as_bytes()).expect("what was written can be read");
            assert_eq!(again, witness);
        }
    }
});

//! `.npz` fuzzing: no bytes make the reader panic or trust a false length.
#![no_main]

use liftc::media::npz;
use std::io::Cursor;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for member in [None, Some("a")] {
        if let Ok(array) = npz::read(Cursor::new(bytes), member) {
            assert_eq!(array.data.len(), array.shape.iter().product::<usize>());
        }
    }
});

//! Picture fuzzing: no bytes make the reader panic or trust a false length.
#![no_main]

use liftc::media::image;
use std::io::Cursor;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(array) = image::read(Cursor::new(bytes)) {
        assert_eq!(array.data.len(), array.shape.iter().product::<usize>());
        let stack = array.origin.picture_axes() == Some([1, 2]);
        assert_eq!(array.origin.colour(), image::colour_of(&array.shape[usize::from(stack)..]));
    }
});

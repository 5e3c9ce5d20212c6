//! `.npy` fuzzing: no bytes make the reader panic or trust a false length, and arrays survive a round trip.
#![no_main]

use liftc::media::npy;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let known = npy::read(&mut &bytes[..], Some(bytes.len() as u64));
    let unknown = npy::read(&mut &bytes[..], None);
    assert_eq!(known.is_ok(), unknown.is_ok());
    if let Ok(array) = known {
        assert_eq!(array.data.len(), array.shape.iter().product::<usize>());
        let mut written = Vec::new();
        npy::write(&mut written, &array.shape, &array.data).expect("memory can be written");
        let again = npy::read(&mut &written[..], None).unwrap_or_else(|e| panic!("{}", e.render(false, 100)));
        assert_eq!(again.shape, array.shape);
    }
});

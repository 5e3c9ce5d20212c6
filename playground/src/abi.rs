//! WebAssembly exports: a page writes a request into memory, calls, and reads the reply.

use std::sync::Mutex;

/// A part of memory: address and length in bytes.
#[repr(C)]
pub struct Part {
    at: *mut u8,
    len: usize,
}

impl Part {
    fn of(bytes: Vec<u8>) -> Part {
        let bytes = Box::leak(bytes.into_boxed_slice());
        Part { at: bytes.as_mut_ptr(), len: bytes.len() }
    }
}

/// Message of the last panic, for the page that sees only a trap.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Memory of `len` bytes for a request or its data.
#[unsafe(no_mangle)]
pub extern "C" fn lifting_allocate(len: usize) -> *mut u8 {
    Part::of(vec![0; len]).at
}

/// Frees memory of [`lifting_allocate`], or of a reply.
///
/// # Safety
/// `at` and `len` are those of one allocation, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lifting_free(at: *mut u8, len: usize) {
    // SAFETY: the caller passes a leaked boxed slice.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, len)) });
}

/// Answers a request; see [`crate::answer`]. Writes the places of the reply's JSON and bytes to `reply`, which the page
/// frees.
///
/// # Safety
/// `request` and `data` are allocations of these lengths, and `reply` is a place for two parts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lifting_answer(
    request: *const u8,
    request_len: usize,
    data: *const u8,
    data_len: usize,
    reply: *mut [Part; 2],
) {
    std::panic::set_hook(Box::new(|panic| {
        if let Ok(mut message) = PANIC.lock() {
            *message = panic.to_string();
        }
    }));
    // SAFETY: the caller passes allocations of these lengths.
    let (request, data) =
        unsafe { (std::slice::from_raw_parts(request, request_len), std::slice::from_raw_parts(data, data_len)) };
    let (json, bytes) = crate::answer(&String::from_utf8_lossy(request), data);
    // SAFETY: the caller passes a place for two parts.
    unsafe { reply.write([Part::of(json.into_bytes()), Part::of(bytes)]) };
}

/// Writes the place of the last panic's message to `message`; call it after a trap.
///
/// # Safety
/// `message` is a place for a part.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lifting_panic(message: *mut Part) {
    let text = PANIC.lock().map(|text| text.clone()).unwrap_or_default();
    // SAFETY: the caller passes a place for a part.
    unsafe { message.write(Part::of(text.into_bytes())) };
}

//! XLA's C interface for foreign functions, as far as the handlers need it: `xla/ffi/api/c_api.h`, version 0.
//!
//! All structures begin with their size, which is checked before they are read: newer versions only append fields.

use std::ffi::{c_char, c_void};
use std::mem::offset_of;

/// First fields of each structure.
#[repr(C)]
pub struct Header {
    pub size: usize,
    pub extension: *mut Extension,
}

/// Linked list of further requests.
#[repr(C)]
pub struct Extension {
    pub size: usize,
    pub kind: i32,
    pub next: *mut Extension,
}

/// Kind of a [`MetadataExtension`].
pub const METADATA: i32 = 1;

#[repr(C)]
pub struct Version {
    pub header: Header,
    pub major: i32,
    pub minor: i32,
}

/// Handler metadata, which XLA requests before the first call; newer versions append fields.
#[repr(C)]
pub struct Metadata {
    pub size: usize,
    pub version: Version,
    pub traits: u32,
}

/// Trait of handlers that launch the same work at each call, so that it may be captured and replayed.
pub const COMMAND_BUFFER_COMPATIBLE: u32 = 1;

#[repr(C)]
pub struct MetadataExtension {
    pub base: Extension,
    pub metadata: *mut Metadata,
}

/// Error owned by XLA.
pub enum Error {}
/// Execution context.
pub enum Context {}

#[repr(C)]
pub struct CreateError {
    pub header: Header,
    /// C string; XLA copies it.
    pub message: *const c_char,
    pub code: i32,
}

pub const INVALID_ARGUMENT: i32 = 3;
pub const INTERNAL: i32 = 13;

#[repr(C)]
pub struct GetStream {
    pub header: Header,
    pub context: *mut Context,
    /// Output: a `CUstream`.
    pub stream: *mut c_void,
}

#[repr(C)]
pub struct GetOrdinal {
    pub header: Header,
    pub context: *mut Context,
    /// Output: number of the device.
    pub ordinal: i32,
}

type Function<T> = unsafe extern "C" fn(*mut T) -> *mut Error;
type Unused = *const c_void;

/// Table of XLA's functions.
#[repr(C)]
pub struct Api {
    pub header: Header,
    pub version: Version,
    internal: Unused,
    pub create_error: Function<CreateError>,
    get_message_to_register_handler: [Unused; 3],
    pub get_stream: Function<GetStream>,
    register_type_to_get_run_id: [Unused; 12],
    pub get_ordinal: Function<GetOrdinal>,
}

#[repr(C)]
pub struct Buffer {
    pub header: Header,
    pub sample: i32,
    pub data: *mut c_void,
    pub rank: i64,
    pub shape: *const i64,
}

/// Sample types.
pub mod sample {
    pub const S16: i32 = 3;
    pub const S32: i32 = 4;
    pub const S64: i32 = 5;
    pub const U8: i32 = 6;
    pub const F16: i32 = 10;
    pub const F32: i32 = 11;
    pub const F64: i32 = 12;
    pub const C64: i32 = 15;
    pub const BF16: i32 = 16;
    pub const C128: i32 = 18;
}

/// Arguments or results.
#[repr(C)]
pub struct Buffers {
    pub header: Header,
    pub count: i64,
    /// Kind of each entry: [`BUFFER`].
    pub kinds: *const i32,
    pub buffers: *const *const Buffer,
}

pub const BUFFER: i32 = 1;

#[repr(C)]
pub struct Bytes {
    pub first: *const u8,
    pub count: usize,
}

#[repr(C)]
pub struct Scalar {
    pub sample: i32,
    pub value: *const c_void,
}

#[repr(C)]
pub struct Attributes {
    pub header: Header,
    pub count: i64,
    pub kinds: *const i32,
    pub names: *const *const Bytes,
    /// Each is a [`Scalar`], or [`Bytes`] for a string.
    pub values: *const *const c_void,
}

pub const SCALAR: i32 = 3;
pub const STRING: i32 = 4;

/// Call of a handler.
#[repr(C)]
pub struct CallFrame {
    pub header: Header,
    pub api: *const Api,
    pub context: *mut Context,
    stage: i32,
    pub arguments: Buffers,
    pub results: Buffers,
    pub attributes: Attributes,
    future: Unused,
}

/// Bytes read of a call, and of the function table by handlers on a CPU and on a GPU.
pub const FRAME_SIZE: usize = offset_of!(CallFrame, future);
pub const CPU_API_SIZE: usize = offset_of!(Api, get_message_to_register_handler);
pub const GPU_API_SIZE: usize = offset_of!(Api, get_ordinal) + size_of::<Unused>();

// The layout that a C compiler gives the header of version 0.3.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(FRAME_SIZE == 168 && offset_of!(CallFrame, arguments) == 40 && offset_of!(CallFrame, attributes) == 120);
    assert!(CPU_API_SIZE == 56 && GPU_API_SIZE == 192 && offset_of!(Api, get_stream) == 80);
    assert!(size_of::<Buffer>() == 48 && offset_of!(Buffer, data) == 24);
    assert!(offset_of!(MetadataExtension, metadata) == 24 && offset_of!(Metadata, traits) == 32);
    assert!(offset_of!(CreateError, code) == 24 && offset_of!(GetOrdinal, ordinal) == 24);
};

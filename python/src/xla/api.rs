//! XLA's interface for foreign functions in C, as far as handlers of ours need it: `xla/ffi/api/c_api.h`, version 0.
//!
//! All structures of it begin with their size, which is checked where one is read: newer versions append fields only.

use std::ffi::{c_char, c_void};
use std::mem::offset_of;

/// What each structure begins with.
#[repr(C)]
pub struct Header {
    pub size: usize,
    pub extension: *mut Extension,
}

/// A list of what else is asked for.
#[repr(C)]
pub struct Extension {
    pub size: usize,
    pub kind: i32,
    pub next: *mut Extension,
}

/// The kind of a [`MetadataExtension`].
pub const METADATA: i32 = 1;

#[repr(C)]
pub struct Version {
    pub header: Header,
    pub major: i32,
    pub minor: i32,
}

/// What XLA wants to know of a handler before it is called; newer versions have more at the end.
#[repr(C)]
pub struct Metadata {
    pub size: usize,
    pub version: Version,
    pub traits: u32,
}

/// Calls launch the same work each time, which may be captured and replayed.
pub const COMMAND_BUFFER_COMPATIBLE: u32 = 1;

#[repr(C)]
pub struct MetadataExtension {
    pub base: Extension,
    pub metadata: *mut Metadata,
}

/// An error, which XLA owns.
pub enum Error {}
/// What an execution knows of itself.
pub enum Context {}

#[repr(C)]
pub struct CreateError {
    pub header: Header,
    /// A C string, which is copied.
    pub message: *const c_char,
    pub code: i32,
}

pub const INVALID_ARGUMENT: i32 = 3;
pub const INTERNAL: i32 = 13;

#[repr(C)]
pub struct GetStream {
    pub header: Header,
    pub context: *mut Context,
    /// Out: a `CUstream`.
    pub stream: *mut c_void,
}

#[repr(C)]
pub struct GetOrdinal {
    pub header: Header,
    pub context: *mut Context,
    /// Out.
    pub ordinal: i32,
}

type Function<T> = unsafe extern "C" fn(*mut T) -> *mut Error;
type Unused = *const c_void;

/// XLA's functions.
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

/// Types of samples.
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
    /// [`BUFFER`], each.
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
    /// A [`Scalar`], or [`Bytes`] where it is a string.
    pub values: *const *const c_void,
}

pub const SCALAR: i32 = 3;
pub const STRING: i32 = 4;

/// A call of a handler.
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

/// Up to what is read of a call, and of the functions for a handler on a CPU and on a GPU.
pub const FRAME_SIZE: usize = offset_of!(CallFrame, future);
pub const CPU_API_SIZE: usize = offset_of!(Api, get_message_to_register_handler);
pub const GPU_API_SIZE: usize = offset_of!(Api, get_ordinal) + size_of::<Unused>();

// As a C compiler lays them out, of the header of version 0.3.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(FRAME_SIZE == 168 && offset_of!(CallFrame, arguments) == 40 && offset_of!(CallFrame, attributes) == 120);
    assert!(CPU_API_SIZE == 56 && GPU_API_SIZE == 192 && offset_of!(Api, get_stream) == 80);
    assert!(size_of::<Buffer>() == 48 && offset_of!(Buffer, data) == 24);
    assert!(offset_of!(MetadataExtension, metadata) == 24 && offset_of!(Metadata, traits) == 32);
    assert!(offset_of!(CreateError, code) == 24 && offset_of!(GetOrdinal, ordinal) == 24);
};

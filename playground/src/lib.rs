//! The compiler and the CPU plans in a web page: requests and replies are JSON and bytes.
//!
//! [`answer`] is the whole interface. [`abi`] passes it through WebAssembly's memory, without generated code: a page
//! needs four functions and no tool of a certain version. `xtask/site/playground/lifting.js` is the other side.
//!
//! [`text`] checks texts, describes wavelets and writes files, as `liftc` does. [`transform`] runs plans.

#![warn(missing_docs)]

#[cfg(target_arch = "wasm32")]
mod abi;
mod text;
mod transform;

use serde::Deserialize;
use serde_json::{Value, json};

/// Request of the page. Each names its `what` in JSON.
#[derive(Debug, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
enum Request {
    /// Names and families of the catalogue.
    Catalogue,
    /// Text of a wavelet of the catalogue.
    Named { name: String },
    /// All errors and warnings of a text, and its wavelets.
    Check { text: String },
    /// The output of `liftc show`.
    Show { text: String, wavelet: String },
    /// The figure of `liftc plot`.
    Figure { text: String, wavelet: String },
    /// The window: the text and the diagram of `liftc explain`.
    Window { text: String, wavelet: String },
    /// A file of `liftc --emit`.
    Emit { text: String, wavelet: String, target: String },
    /// A transform of a picture or signal, with small details removed, and the inverse.
    Transform {
        text: String,
        wavelet: String,
        #[serde(flatten)]
        settings: transform::Settings,
    },
}

/// Answers a request in JSON: `{"ok": …}` or `{"error": …}`, and bytes. `data` has the samples of a transform.
pub fn answer(request: &str, data: &[u8]) -> (String, Vec<u8>) {
    let (reply, bytes) = match serde_json::from_str(request).map_err(|e| format!("invalid request: {e}")) {
        Ok(request) => match reply(request, data) {
            Ok((reply, bytes)) => (json!({ "ok": reply }), bytes),
            Err(message) => (json!({ "error": message }), Vec::new()),
        },
        Err(message) => (json!({ "error": message }), Vec::new()),
    };
    (reply.to_string(), bytes)
}

fn reply(request: Request, data: &[u8]) -> Result<(Value, Vec<u8>), String> {
    let without_bytes = |value| (value, Vec::new());
    match request {
        Request::Catalogue => Ok(without_bytes(text::catalogue())),
        Request::Named { name } => text::named(&name).map(without_bytes),
        Request::Check { text } => Ok(without_bytes(text::check(&text))),
        Request::Show { text, wavelet } => text::show(&text, &wavelet).map(without_bytes),
        Request::Figure { text, wavelet } => text::figure(&text, &wavelet).map(without_bytes),
        Request::Window { text, wavelet } => text::window(&text, &wavelet).map(without_bytes),
        Request::Emit { text, wavelet, target } => text::emit(&text, &wavelet, &target).map(without_bytes),
        Request::Transform { text, wavelet, settings } => transform::run(&text, &wavelet, &settings, data),
    }
}

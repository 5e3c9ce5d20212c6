//! `liftc lsp`: a language server on the standard input and output, of version 3.17 of the protocol.
//!
//! [`wire`] frames messages, [`text`] converts positions, [`answer`] answers. The types of the protocol are written as
//! JSON where they are needed: a crate of all of them takes longer to build than `liftc`.

mod answer;
mod fix;
mod text;
mod wire;

use crate::failure::{Failure, Outcome};
use crate::output::standard;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use text::Document;
use wire::Incoming;

/// Messages that are read ahead. Diagnostics wait until none is left.
const AHEAD: usize = 64;

/// Codes of errors in JSON-RPC and in the protocol.
mod code {
    pub const PARSE_ERROR: i64 = -32700;
    pub const INVALID_REQUEST: i64 = -32600;
    pub const METHOD_NOT_FOUND: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const NOT_INITIALISED: i64 = -32002;
}

/// Serves one client, until it says `exit` or closes the input.
pub fn run() -> Outcome {
    let (sender, receiver) = sync_channel(AHEAD);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(message) = wire::read(&mut input) {
            let is_last = matches!(message, Incoming::Broken(_));
            if sender.send(message).is_err() || is_last {
                break;
            }
        }
    });
    let output = standard().map_err(|e| crate::output::cannot_write("-".as_ref(), &e))?;
    let mut server = Server { output, state: State::New, documents: BTreeMap::new(), unchecked: BTreeSet::new() };
    match server.serve(&receiver) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::Printed),
        Err(e) => Err(crate::output::cannot_write("-".as_ref(), &e)),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Running,
    ShutDown,
}

struct Server<W: Write> {
    output: W,
    state: State,
    /// Open documents by URI.
    documents: BTreeMap<String, Document>,
    /// URIs of documents that changed since their diagnostics were sent.
    unchecked: BTreeSet<String>,
}

/// Code and message of an error.
type Refusal = (i64, String);

impl<W: Write> Server<W> {
    /// True if the client said `shutdown` before it left.
    fn serve(&mut self, receiver: &Receiver<Incoming>) -> io::Result<bool> {
        loop {
            let message = match receiver.try_recv() {
                Ok(message) => Some(message),
                Err(TryRecvError::Empty) => {
                    for uri in std::mem::take(&mut self.unchecked) {
                        self.publish(&uri)?;
                    }
                    receiver.recv().ok()
                }
                Err(TryRecvError::Disconnected) => None,
            };
            match message {
                None => return Ok(false),
                Some(Incoming::Broken(why)) => {
                    crate::failure::eprint_quietly(&format!("liftc lsp: {why}\n"));
                    return Ok(false);
                }
                Some(Incoming::NoJson(why)) => self.refuse(&Value::Null, (code::PARSE_ERROR, why))?,
                Some(Incoming::Message(message)) => match message["method"].as_str() {
                    Some("exit") => return Ok(self.state == State::ShutDown),
                    Some(method) => self.message(method, &message)?,
                    // A response; this server sends no requests.
                    None if message.get("result").or(message.get("error")).is_some() => {}
                    None => {
                        let id = message.get("id").unwrap_or(&Value::Null);
                        self.refuse(id, (code::INVALID_REQUEST, "a message without `method`".into()))?;
                    }
                },
            }
        }
    }

    fn message(&mut self, method: &str, message: &Value) -> io::Result<()> {
        let params = &message["params"];
        let Some(id) = message.get("id") else {
            return match params["textDocument"]["uri"].as_str() {
                Some(uri) if self.state == State::Running => self.notified(method, uri, params),
                _ => Ok(()),
            };
        };
        match self.request(method, params) {
            Ok(result) => self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result })),
            Err(refusal) => self.refuse(id, refusal),
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, Refusal> {
        match (self.state, method) {
            (State::New, "initialize") => {
                self.state = State::Running;
                return Ok(capabilities());
            }
            (State::New, _) => return Err((code::NOT_INITIALISED, "the first request must be `initialize`".into())),
            (State::ShutDown, _) => return Err((code::INVALID_REQUEST, "the server is shut down".into())),
            (State::Running, "initialize") => {
                return Err((code::INVALID_REQUEST, "the server is initialised already".into()));
            }
            (State::Running, "shutdown") => {
                self.state = State::ShutDown;
                return Ok(Value::Null);
            }
            (State::Running, _) => {}
        }
        let document = || {
            let uri = params["textDocument"]["uri"].as_str();
            let uri = uri.ok_or((code::INVALID_PARAMS, "`textDocument.uri` is missing".to_owned()))?;
            let document = self.documents.get(uri);
            document.ok_or_else(|| (code::INVALID_PARAMS, format!("the document {uri} is not open")))
        };
        let place = |position: &Value, document: &Document| {
            let byte = document.byte(position);
            byte.ok_or((code::INVALID_PARAMS, "a position needs `line` and `character`".to_owned()))
        };
        match method {
            "textDocument/hover" => {
                let document = document()?;
                Ok(answer::hover(document, place(&params["position"], document)?))
            }
            "textDocument/completion" => {
                let document = document()?;
                let by_character = params["context"]["triggerKind"] == 2;
                Ok(answer::completion(document, place(&params["position"], document)?, by_character))
            }
            "textDocument/formatting" => Ok(answer::formatting(document()?)),
            "textDocument/documentSymbol" => Ok(answer::symbols(document()?)),
            "textDocument/codeAction" => {
                let document = document()?;
                let range = &params["range"];
                let (start, end) = (place(&range["start"], document)?, place(&range["end"], document)?);
                Ok(fix::actions(document, params["textDocument"]["uri"].as_str().unwrap_or_default(), start, end))
            }
            _ => Err((code::METHOD_NOT_FOUND, format!("unknown method `{method}`"))),
        }
    }

    fn notified(&mut self, method: &str, uri: &str, params: &Value) -> io::Result<()> {
        match method {
            "textDocument/didOpen" => {
                let text = params["textDocument"]["text"].as_str().unwrap_or_default();
                self.documents.insert(uri.to_owned(), Document::new(text));
            }
            "textDocument/didChange" => {
                let Some(document) = self.documents.get_mut(uri) else { return Ok(()) };
                for change in params["contentChanges"].as_array().into_iter().flatten() {
                    document.change(change);
                }
            }
            "textDocument/didClose" => {
                self.documents.remove(uri);
                self.unchecked.remove(uri);
                return self.publish(uri);
            }
            _ => return Ok(()),
        }
        if let Some(document) = self.documents.get_mut(uri) {
            document.version = params["textDocument"]["version"].as_i64();
            self.unchecked.insert(uri.to_owned());
        }
        Ok(())
    }

    /// Sends the diagnostics of a document; none if it is closed.
    fn publish(&mut self, uri: &str) -> io::Result<()> {
        let document = self.documents.get(uri);
        let diagnostics = document.map_or_else(Vec::new, |document| answer::diagnostics(document, uri));
        let mut params = json!({ "uri": uri, "diagnostics": diagnostics });
        if let Some(version) = document.and_then(|document| document.version) {
            params["version"] = version.into();
        }
        self.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params }))
    }

    fn refuse(&mut self, id: &Value, (code, message): Refusal) -> io::Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        wire::write(&mut self.output, message)
    }
}

fn capabilities() -> Value {
    json!({
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": { "openClose": true, "change": 2 },
            "hoverProvider": true,
            "completionProvider": { "triggerCharacters": [" ", "-"] },
            "documentFormattingProvider": true,
            "documentSymbolProvider": true,
            "codeActionProvider": { "codeActionKinds": ["quickfix"] },
        },
        "serverInfo": { "name": "liftc", "version": env!("CARGO_PKG_VERSION") },
    })
}

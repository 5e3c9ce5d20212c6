//! `liftc lsp`, over pipes.

use crate::common::Bench;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

const URI: &str = "file:///%FF/my%20own.lift";

/// A running server.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    requests: u64,
}

impl Server {
    /// A server that is not initialised.
    fn new() -> Server {
        let mut command = Bench::new().command();
        command.current_dir("/").args(["lsp", "--stdio"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Server { child, input, output, requests: 0 }
    }

    /// A server with this document, and the document's diagnostics.
    fn open(text: &str) -> (Server, Value) {
        let mut server = Server::new();
        let result = server.ask("initialize", json!({ "capabilities": {}, "processId": null, "rootUri": null }));
        assert_eq!(result["capabilities"]["textDocumentSync"]["change"], 2);
        server.tell("initialized", json!({}));
        let document = json!({ "uri": URI, "languageId": "lift", "version": 1, "text": text });
        server.tell("textDocument/didOpen", json!({ "textDocument": document }));
        let diagnostics = server.diagnostics(1);
        (server, diagnostics)
    }

    fn raw(&mut self, content: &[u8]) {
        write!(self.input, "Content-Length: {}\r\nContent-Type: x\r\n\r\n", content.len()).unwrap();
        self.input.write_all(content).unwrap();
        self.input.flush().unwrap();
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.raw(json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string().as_bytes());
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let length: usize = line.strip_prefix("Content-Length: ").expect("a header").trim().parse().unwrap();
        let mut content = vec![0; length + 2];
        self.output.read_exact(&mut content).unwrap();
        serde_json::from_slice(&content[2..]).unwrap()
    }

    /// The response to a request: its result, or its error.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.raw(request.to_string().as_bytes());
        loop {
            let response = self.hear();
            if response["id"] == id {
                return response.get("result").or(response.get("error")).cloned().unwrap();
            }
            assert_eq!(response["method"], "textDocument/publishDiagnostics");
        }
    }

    fn ask_at(&mut self, method: &str, line: u32, character: u32) -> Value {
        let position = json!({ "line": line, "character": character });
        self.ask(method, json!({ "textDocument": { "uri": URI }, "position": position }))
    }

    /// The diagnostics of a version of the document.
    fn diagnostics(&mut self, version: u64) -> Value {
        let message = self.hear();
        assert_eq!(message["method"], "textDocument/publishDiagnostics", "{message}");
        assert_eq!((&message["params"]["uri"], &message["params"]["version"]), (&URI.into(), &version.into()));
        message["params"]["diagnostics"].clone()
    }

    /// Replaces a range, or the whole text.
    fn change(&mut self, version: u64, range: Option<[u32; 4]>, text: &str) -> Value {
        let mut change = json!({ "text": text });
        if let Some([a, b, c, d]) = range {
            change["range"] = json!({ "start": { "line": a, "character": b }, "end": { "line": c, "character": d } });
        }
        let document = json!({ "uri": URI, "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
        self.diagnostics(version)
    }

    /// Ends the server, and checks its exit code and that it did not panic.
    fn end(mut self, code: i32) {
        drop(self.input);
        let status = self.child.wait().unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(status.code(), Some(code), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }

    fn shut_down(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        assert_eq!(self.ask("textDocument/hover", json!({}))["code"], -32600);
        self.tell("exit", Value::Null);
        self.end(0);
    }
}

fn range(a: u32, b: u32, c: u32, d: u32) -> Value {
    json!({ "start": { "line": a, "character": b }, "end": { "line": c, "character": d } })
}

const WAVELET: &str = "/// Le Gall (5,3).
wavelet legall {
    domain integer;
    const one = 1;
    odd  -= (even[0] + even[1]) >> one;
    even += (odd[-1] + odd[0] + 2) >> 2;
}
";

#[test]
fn errors_as_you_type() {
    let (mut server, diagnostics) = Server::open(WAVELET);
    assert_eq!(diagnostics, json!([]));
    // The step reads what it updates.
    let found = server.change(2, Some([4, 13, 4, 17]), "odd");
    let [diagnostic] = found.as_array().unwrap().as_slice() else { panic!("{found}") };
    assert_eq!((&diagnostic["range"], &diagnostic["severity"]), (&range(4, 13, 4, 19), &1.into()));
    assert_eq!((&diagnostic["code"], &diagnostic["source"]), (&"L0301".into(), &"liftc".into()));
    let text = diagnostic["message"].as_str().unwrap();
    assert!(text.starts_with("a step that updates `odd` cannot read `odd`\nhelp: "), "{text}");
    let link = diagnostic["codeDescription"]["href"].as_str().unwrap();
    assert!(link.ends_with("docs/language.md#l0301-a-step-that-reads-the-phase-that-it-updates"), "{link}");
    assert_eq!(diagnostic["relatedInformation"][0]["location"]["uri"], URI);
    // Mended.
    assert_eq!(server.change(3, Some([4, 13, 4, 16]), "even"), json!([]));
    // Columns count units of UTF-16: 𝄞 has two.
    let found = server.change(4, None, "// 𝄞\nwavelet w { domain real; /* 𝄞𝄞 */ odd -= x; }");
    assert_eq!(found[0]["range"], range(1, 25, 1, 35));
    assert_eq!(found[1]["code"], "L0201", "{found}");
    // A second place.
    let found = server.change(5, None, "wavelet w { domain real; domain real; odd -= even[0]; }");
    assert_eq!(found[0]["relatedInformation"].as_array().unwrap().len(), 2, "{found}");
    // A warning.
    let found = server.change(6, None, "wavelet w { domain real; const a = 1; odd -= even[0]; }");
    assert_eq!((&found[0]["severity"], &found[0]["tags"]), (&2.into(), &json!([1])));
    server.tell("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    let closed = server.hear();
    assert_eq!(closed["params"], json!({ "uri": URI, "diagnostics": [] }));
    assert_eq!(server.ask_at("textDocument/hover", 0, 0)["code"], -32602);
    server.shut_down();
}

#[test]
fn hover() {
    let (mut server, _) = Server::open(WAVELET);
    let mut about = |line, character| {
        let result = server.ask_at("textDocument/hover", line, character);
        result["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let wavelet = about(1, 10);
    for part in [
        "**legall**: integer, border rule whole-symmetric",
        "Le Gall (5,3).",
        "low-pass: 5 taps from -2: -1/8, 1/4, 3/4, 1/4, -1/8",
        "high-pass: 3 taps from 0: -1/2, 1, -1/2",
        "vanishing moments: 2 of analysis, 2 of synthesis",
        "window, in positions: 1 above, 0 of overlap, 1 below",
    ] {
        assert!(wavelet.contains(part), "`{part}` in {wavelet}");
    }
    assert_eq!(about(4, 26), "```lift\nodd[k] -= (even[k] + even[k+1]) >> 1\n```");
    assert!(about(5, 5).contains("even[k] += (odd[k-1] + odd[k] + 2) >> 2"));
    assert_eq!(about(4, 36), "```lift\nconst one = 1;\n```");
    assert!(about(5, 10).ends_with("```"), "no function");
    assert!(about(2, 5).starts_with("`domain integer;`"));
    assert!(about(2, 12).starts_with("For i16"));
    assert_eq!((about(0, 4), about(6, 0), about(99, 99)), Default::default());
    // Other wavelets may be broken.
    let text = format!("wavelet broken {{ odd += odd[0] }}\n{WAVELET}wavelet s {{ domain integer; swap; }}");
    server.change(2, None, &text);
    let mut about = |line, character| server.ask_at("textDocument/hover", line, character);
    assert!(about(2, 10)["contents"]["value"].as_str().unwrap().contains("Le Gall"));
    assert_eq!(about(2, 10)["range"], range(2, 8, 2, 14));
    assert_eq!(about(0, 10), Value::Null);
    let swap = about(8, 30)["contents"]["value"].to_string();
    assert_eq!(swap.matches("[k]").count(), 7, "{swap}");
    server.shut_down();
}

#[test]
fn completion() {
    let (mut server, _) = Server::open("");
    let mut version = 1;
    let mut labels = |text: &str| -> Vec<String> {
        version += 1;
        server.change(version, None, text);
        let items = server.ask_at("textDocument/completion", 0, text.encode_utf16().count() as u32);
        items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(labels("wav"), ["wavelet"]);
    assert_eq!(labels("wavelet w { domain "), ["integer", "real"]);
    assert_eq!(labels("wavelet w { lattice { ro"), ["rotate", "reflect", "matrix"]);
    assert_eq!(labels("wavelet w { const β = 1; odd += ")[..3], ["even", "sqrt", "f64"]);
    assert_eq!(labels("wavelet w { const β = 1; odd += ").last().unwrap(), "β");
    assert_eq!(labels("wavelet w { // do"), Vec::<String>::new());
    let rules = lifting_dsl::Boundary::ALL.map(|rule| rule.name());
    assert_eq!(labels("wavelet w { boundary whole-"), rules);
    let names = labels("wavelet dd");
    assert_eq!(names.len(), lifting_filters::CATALOGUE.len());
    // The edit replaces the whole word.
    server.change(99, None, "wavelet w { boundary whole-sym");
    let items = server.ask_at("textDocument/completion", 0, 30);
    assert_eq!(items[0]["textEdit"], json!({ "range": range(0, 21, 0, 30), "newText": "whole-symmetric" }));
    // A blank offers words only where nothing else can follow.
    server.change(100, None, "wavelet w { odd += ");
    let mut params = json!({ "textDocument": { "uri": URI }, "position": { "line": 0, "character": 19 } });
    params["context"] = json!({ "triggerKind": 2, "triggerCharacter": " " });
    assert_eq!(server.ask("textDocument/completion", params), json!([]));
    server.shut_down();
}

#[test]
fn formatting_symbols_and_fixes() {
    let (mut server, _) = Server::open("wavelet w{domain real;\nodd-=even[0];}");
    let document = json!({ "textDocument": { "uri": URI }, "options": { "tabSize": 2, "insertSpaces": true } });
    let edits = server.ask("textDocument/formatting", document.clone());
    let formatted = "wavelet w {\n    domain real;\n    odd -= even[0];\n}\n";
    assert_eq!(edits, json!([{ "range": range(0, 0, 1, 14), "newText": formatted }]));
    server.change(2, None, formatted);
    assert_eq!(server.ask("textDocument/formatting", document.clone()), json!([]));
    server.change(3, None, "wavelet w {");
    assert_eq!(server.ask("textDocument/formatting", document.clone()), json!([]));

    server.change(4, None, WAVELET);
    let symbols = server.ask("textDocument/documentSymbol", document);
    assert_eq!((&symbols[0]["name"], &symbols[0]["detail"]), (&"legall".into(), &"Le Gall (5,3).".into()));
    assert_eq!((&symbols[0]["range"], &symbols[0]["selectionRange"]), (&range(1, 0, 6, 1), &range(1, 8, 1, 14)));
    let children: Vec<&str> =
        symbols[0]["children"].as_array().unwrap().iter().map(|child| child["name"].as_str().unwrap()).collect();
    let steps = ["odd  -= (even[0] + even[1]) >> one", "even += (odd[-1] + odd[0] + 2) >> 2"];
    assert_eq!(children, ["one", steps[0], steps[1]]);

    let mut version = 4;
    for (text, fixed) in [
        ("odd −= even[0];", "odd -= even[0];"),
        ("odd -= .5*even[0];", "odd -= 0.5*even[0];"),
        ("odd -= 2.0f32*even[0];", "odd -= 2.0*even[0];"),
        ("odd -= even[0]", "odd -= even[0];"),
        ("odd -= even[0];;", "odd -= even[0];"),
        ("odd -= evn[0];", "odd -= even[0];"),
        ("bondary zero; odd -= even[0];", "boundary zero; odd -= even[0];"),
        ("const a = 1; odd -= even[0];", "const _a = 1; odd -= even[0];"),
        ("odd -= even[0]; /// doc\n", "odd -= even[0]; // doc\n"),
        ("odd -= odd[0];", ""),
    ] {
        version += 1;
        let text = format!("wavelet w {{ domain real; {text} }}");
        assert!(!server.change(version, None, &text).as_array().unwrap().is_empty(), "{text}");
        let all =
            json!({ "textDocument": { "uri": URI }, "range": range(0, 0, 9, 0), "context": { "diagnostics": [] } });
        let actions = server.ask("textDocument/codeAction", all);
        let actions = actions.as_array().unwrap();
        assert_eq!(actions.is_empty(), fixed.is_empty(), "{text}: {actions:?}");
        let Some(action) = actions.first() else { continue };
        let edit = &action["edit"]["changes"][URI][0];
        let at = |end: &str| edit["range"][end]["character"].as_u64().unwrap() as usize;
        let units: Vec<u16> = text.encode_utf16().collect();
        let new: Vec<u16> = edit["newText"].as_str().unwrap().encode_utf16().collect();
        let result = [&units[..at("start")], &new, &units[at("end")..]].concat();
        assert_eq!(String::from_utf16(&result).unwrap(), format!("wavelet w {{ domain real; {fixed} }}"));
    }
    server.shut_down();
}

#[test]
fn broken_messages() {
    let mut server = Server::new();
    assert_eq!(server.ask("textDocument/hover", json!({}))["code"], -32002);
    server.tell("textDocument/didOpen", json!({ "textDocument": { "uri": URI, "text": "w" } }));
    server.raw(b"{");
    assert_eq!(server.hear()["error"]["code"], -32700);
    server.raw(b"\xff\xfe");
    assert_eq!(server.hear()["error"]["code"], -32700);
    for content in [&b"[]"[..], b"7", b"null", b"{}", b"{\"id\":4}", b"{\"id\":4,\"method\":7}"] {
        server.raw(content);
        assert_eq!(server.hear()["error"]["code"], -32600);
    }
    server.ask("initialize", json!({}));
    assert_eq!(server.ask("initialize", json!({}))["code"], -32600);
    assert_eq!(server.ask("textDocument/rename", json!({}))["code"], -32601);
    server.tell("$/cancelRequest", json!({ "id": 1 }));
    server.tell("workspace/didChangeConfiguration", json!({}));
    server.raw(b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":null}");
    for params in [Value::Null, json!([]), json!({ "textDocument": 7 }), json!({ "textDocument": { "uri": "none" } })] {
        assert_eq!(server.ask("textDocument/hover", params.clone())["code"], -32602);
        server.tell("textDocument/didChange", params.clone());
        server.tell("textDocument/didOpen", json!({ "textDocument": { "uri": "\u{0}", "text": params } }));
    }
    let (mut server, _) = {
        server.shut_down();
        Server::open("w")
    };
    for position in
        [json!(null), json!({}), json!({ "line": -1, "character": 0 }), json!({ "line": 1e99, "character": 0 })]
    {
        let params = json!({ "textDocument": { "uri": URI }, "position": position, "range": { "start": position } });
        for method in ["hover", "completion", "codeAction"] {
            assert_eq!(server.ask(&format!("textDocument/{method}"), params.clone())["code"], -32602);
        }
    }
    server.shut_down();
    // Without `shutdown`, and with broken headers.
    let (mut server, _) = Server::open("");
    server.tell("exit", Value::Null);
    server.end(1);
    Server::new().end(1);
    for header in
        ["x\r\n\r\n", "Content-Length: x\r\n\r\n", "Content-Length: 99999999999\r\n\r\n", "\r\n", &"y".repeat(9000)]
    {
        let mut server = Server::new();
        // The server may leave before it has read all.
        let _ = server.input.write_all(header.as_bytes());
        server.end(1);
    }
    let mut server = Server::new();
    server.input.write_all(b"Content-Length: 9\r\n\r\n{").unwrap();
    server.end(1);
}

#[test]
fn odd_documents() {
    let long = format!("wavelet w {{ domain real; odd -= {}even[0]; }}", "1*".repeat(400_000));
    let deep = format!("wavelet w {{ domain real; odd -= {}even[0]; }}", "(".repeat(300_000));
    let large = "// comment\n".repeat(200_000);
    let many = "wavelet w { odd += odd[0]; }\n".repeat(3000);
    let texts = [
        "",
        "\u{feff}",
        "// only\r// a comment",
        "\0",
        "wavelet \0 {",
        "\t\r\n\t",
        "𝄞",
        "wavelet",
        "wavelet {",
        "wavelet w {",
    ];
    let (mut server, _) = Server::open("");
    for (i, text) in texts.into_iter().chain([&long, &deep, &large, &many].map(String::as_str)).enumerate() {
        let found = server.change(i as u64 + 2, None, text);
        assert!(found.as_array().unwrap().len() <= 101);
        let all = json!({ "textDocument": { "uri": URI }, "range": range(0, 0, 0, 50) });
        for (line, character) in [(0, 0), (0, 1), (0, 40), (1, 0)] {
            for method in ["textDocument/hover", "textDocument/completion"] {
                assert!(server.ask_at(method, line, character).get("code").is_none());
            }
        }
        for method in ["formatting", "documentSymbol", "codeAction"] {
            assert!(server.ask(&format!("textDocument/{method}"), all.clone()).get("code").is_none());
        }
    }
    server.shut_down();
}

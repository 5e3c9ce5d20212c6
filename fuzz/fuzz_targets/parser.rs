//! Language fuzzing: no text makes the compiler panic, and accepted texts survive printing.
#![no_main]

use lifting_dsl::{compile, parse, print, print_scheme};

libfuzzer_sys::fuzz_target!(|source: &str| {
    let (mut file, diagnostics) = parse(source);
    let printed = print(&file);
    if diagnostics.is_empty() {
        let mut again = parse(&printed).0;
        again.erase_spans();
        file.erase_spans();
        assert_eq!(again, file);
    }
    if let Ok(compiled) = compile(source) {
        for scheme in compiled.schemes {
            assert_eq!(compile(&print_scheme(&scheme)).unwrap().schemes, [scheme]);
        }
    }
});

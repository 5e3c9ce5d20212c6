//! The formatter: its layout, and that it changes white space only.

use crate::language::{any_file, any_lattice, any_scheme, config};
use lifting_dsl::{format, parse, print, print_scheme};
use proptest::prelude::*;

/// Formats a text, and checks that tokens, comments and tree are the same, and that a second time changes nothing.
#[track_caller]
pub fn formatted(source: &str) -> String {
    let text = format(source).unwrap_or_else(|e| panic!("{e:#?}\n{source}"));
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(bare(&text), bare(source));
    assert_eq!(format(&text).as_ref(), Ok(&text), "{source}");
    let (mut before, mut after) = (parse(source).0, parse(&text).0);
    before.erase_spans();
    after.erase_spans();
    assert_eq!(before, after, "{source}");
    text
}

const LOOSE: &str = "
// A file.


/// Doc.  Two blanks at the end:  
wavelet   w
{ // opens

  domain   real;boundary whole -
  symmetric ;
\tprofile vc2{boundary edge;gain shift - 1;}
    profile jpeg2000 {
        boundary edge; }
  profile ccsds122 { }
  const alpha = - 1.5e-3/( 2+sqrt (3) ) ;
  const beta  = alpha*-2;// trails


  odd+= alpha * ( even [ 0 ]-0x1f * even[ - 1 ] ) // first
      + 1_0.25*even[
        2]
    // alone
    -even[+3];
  even   *= 1/beta;
  // the end   
}
wavelet l { domain real; lattice paper{rotate(3/5,-4/5);matrix(1,
  0.5, 2, 3,
  );} } // after

wavelet s{domain integer;swap;odd-=trunc(-(even[0]+even[1])>>1);}
wavelet b { domain real;
  bank { lowpass at -1[1/2,
    1/2,]; highpass at 0 [
      -1, 1
    ]; }
  factor lifting; }
// the very end
";

#[test]
fn layout() {
    insta::assert_snapshot!(formatted(LOOSE));
}

#[test]
fn small_texts() {
    for (source, text) in [
        ("", ""),
        ("\n\n", ""),
        ("\u{feff}", "\u{feff}"),
        ("// only a comment", "// only a comment\n"),
        ("\n// one\n\n\n//two  \n", "// one\n\n//two\n"),
        ("wavelet w{}", "wavelet w {}\n"),
        ("wavelet w{\n\n}", "wavelet w {}\n"),
        ("wavelet w{//\n}", "wavelet w { //\n}\n"),
        ("wavelet a{}wavelet b{}", "wavelet a {}\nwavelet b {}\n"),
        ("wavelet a{\nswap;}wavelet b{}", "wavelet a {\n    swap;\n}\n\nwavelet b {}\n"),
        ("wavelet a{} /// of b\nwavelet b{}", "wavelet a {}\n/// of b\nwavelet b {}\n"),
        ("wavelet w{\r\nswap;\r\n}", "wavelet w {\r\n    swap;\r\n}\r\n"),
        ("// a\r\nwavelet w{\nswap; // b\n}", "// a\r\nwavelet w {\r\n    swap; // b\r\n}\r\n"),
        ("wavelet w // a\n// b\n{ swap // c\n; }", "wavelet w // a\n    // b\n    {\n    swap // c\n        ;\n}\n"),
        // Operators and comments that are set apart.
        ("wavelet w{\nodd+=a;\neven  +=a;\n}", "wavelet w {\n    odd  += a;\n    even += a;\n}\n"),
        ("wavelet w{\nodd+=a;\neven +=a;\n}", "wavelet w {\n    odd += a;\n    even += a;\n}\n"),
        ("wavelet w{\nodd  +=a;\n\neven+=a;\n}", "wavelet w {\n    odd += a;\n\n    even += a;\n}\n"),
        ("wavelet w{\nodd  +=a;\nconst α=1;\n}", "wavelet w {\n    odd += a;\n    const α = 1;\n}\n"),
        ("wavelet w{\nconst α  =1;\nconst αβ=1;\n}", "wavelet w {\n    const α  = 1;\n    const αβ = 1;\n}\n"),
        ("wavelet w{\nswap;  // a\nodd+=a;//b\n}", "wavelet w {\n    swap;     // a\n    odd += a; //b\n}\n"),
    ] {
        assert_eq!(formatted(source), text);
    }
    // A wavelet of one line stays there, up to the width.
    for (length, lines) in [(98, 1), (99, 3)] {
        let word = "w".repeat(length);
        let text = formatted(&format!("wavelet w{{domain {word};}}"));
        assert_eq!(text.lines().count(), lines, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= format::WIDTH));
    }
}

#[test]
fn texts_with_errors_are_left_alone() {
    for (source, code) in
        [("wavelet w { odd += even[0] }", "L0102"), ("wavelet w { /* c */ }", "L0002"), ("w", "L0107")]
    {
        assert_eq!(format(source).unwrap_err()[0].code, code);
    }
    let long = format!("wavelet w {{ {} }}", "swap;".repeat(150_000));
    assert_eq!(format(&long).unwrap_err()[0].code, "L0004");
    // The meaning is not checked.
    formatted("wavelet w { odd += odd[0]; }");
}

/// White space and comments between the tokens of a text.
fn loosened(text: &str, gaps: &[u8]) -> String {
    const GAPS: [&str; 10] = ["", "", " ", " ", "  ", "\n", "\n\n\n", "\t", " // c\n", "\n//  d /// \n "];
    let mut gaps = gaps.iter().cycle().map(|at| GAPS[usize::from(*at) % GAPS.len()]);
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        if line.starts_with("///") {
            out += line;
            continue;
        }
        for c in line.chars() {
            let gap = gaps.next().unwrap_or(" ");
            match c {
                ' ' | '\n' => out += if gap.is_empty() { " " } else { gap },
                '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' => out.extend([gap, c.encode_utf8(&mut [0; 4]), gap]),
                _ => out.push(c),
            }
        }
        out.push('\n');
    }
    out
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn formatted_trees_are_the_same(file in any_file(), gaps in prop::collection::vec(any::<u8>(), 1..99)) {
        formatted(&print(&file));
        formatted(&loosened(&print(&file), &gaps));
    }

    #[test]
    fn printed_schemes_are_formatted(s in prop_oneof![3 => any_scheme(), 1 => any_lattice()]) {
        let text = print_scheme(&s);
        prop_assert_eq!(formatted(&text), text);
    }
}

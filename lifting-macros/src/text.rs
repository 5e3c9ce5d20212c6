//! Tokens → text, with a map from the text's bytes back to the tokens.
//!
//! A macro sees tokens, not text: comments are gone, and `///` has become `#[doc]`. Visibility and attributes, which
//! the language does not have, are kept separately.

use proc_macro2::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// Tokens before a wavelet that are not part of the language.
#[derive(Default)]
pub struct Header {
    /// Offset of `wavelet` in the text.
    pub start: usize,
    /// `pub`, `pub(crate)`, … or empty.
    pub visibility: TokenStream,
    /// Attributes other than doc comments.
    pub attributes: TokenStream,
}

/// A text and the tokens that it came from.
#[derive(Default)]
pub struct Text {
    /// Source text in the Lifting language.
    pub source: String,
    /// One header per `wavelet` outside of braces.
    pub headers: Vec<Header>,
    /// Start, end and span of every token, ascending.
    table: Vec<(usize, usize, Span)>,
}

impl Text {
    /// The text of these tokens.
    pub fn new(tokens: TokenStream) -> Text {
        let mut text = Text::default();
        let mut header = Header::default();
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match &token {
                TokenTree::Ident(word) if word == "pub" => {
                    header.visibility = token.to_token_stream();
                    if let Some(TokenTree::Group(g)) = tokens.peek()
                        && g.delimiter() == Delimiter::Parenthesis
                    {
                        header.visibility.extend(tokens.next());
                    }
                }
                TokenTree::Punct(p) if p.as_char() == '#' => {
                    let inner = matches!(tokens.peek(), Some(TokenTree::Punct(p)) if p.as_char() == '!');
                    let bang = if inner { tokens.next() } else { None };
                    match tokens.peek() {
                        Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Bracket => {
                            let doc = text.doc(g.stream(), inner);
                            let group = tokens.next();
                            if !doc && !inner {
                                header.attributes.extend([Some(token), group].into_iter().flatten());
                            }
                        }
                        // Not an attribute: leave the error to the language.
                        _ => [Some(token), bang].into_iter().flatten().for_each(|t| text.token(t)),
                    }
                }
                TokenTree::Ident(word) if word == "wavelet" => {
                    header.start = text.source.len();
                    text.headers.push(std::mem::take(&mut header));
                    text.token(token);
                }
                _ => text.token(token),
            }
        }
        text
    }

    /// Writes a doc attribute as a comment; returns false for other attributes.
    fn doc(&mut self, attribute: TokenStream, inner: bool) -> bool {
        let Ok(syn::Meta::NameValue(syn::MetaNameValue { path, value: syn::Expr::Lit(value), .. })) =
            syn::parse2(attribute)
        else {
            return false;
        };
        let syn::Lit::Str(doc) = value.lit else { return false };
        if !path.is_ident("doc") {
            return false;
        }
        // `//!` is only a comment on the file.
        for line in doc.value().split('\n').filter(|_| !inner) {
            // Without the blank, `/` would make it a plain comment.
            let blank = if line.starts_with('/') { " " } else { "" };
            self.push(&format!("///{blank}{line}"), doc.span());
            self.source.push('\n');
        }
        true
    }

    fn token(&mut self, token: TokenTree) {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::None => ("", ""),
                };
                self.push(open, group.span_open());
                self.source.push(' ');
                self.tokens(group.stream());
                self.push(close, group.span_close());
                self.source.push(' ');
            }
            TokenTree::Punct(punct) => {
                self.push(&punct.as_char().to_string(), punct.span());
                if punct.spacing() == Spacing::Alone {
                    self.source.push(' ');
                }
            }
            other => {
                self.push(&other.to_string(), other.span());
                self.source.push(' ');
            }
        }
    }

    /// The tokens inside a group.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let hash = matches!(&token, TokenTree::Punct(p) if p.as_char() == '#');
            let attribute = match tokens.peek() {
                Some(TokenTree::Group(g)) if hash && g.delimiter() == Delimiter::Bracket => Some(g.stream()),
                _ => None,
            };
            if attribute.is_some_and(|a| self.doc(a, false)) {
                tokens.next();
            } else {
                self.token(token);
            }
        }
    }

    fn push(&mut self, text: &str, span: Span) {
        let start = self.source.len();
        self.source.push_str(text);
        self.table.push((start, self.source.len(), span));
    }

    /// The first and the last token of a range of bytes; for an empty range, the token before it.
    pub fn spans(&self, range: lifting_dsl::Span) -> (Span, Span) {
        let first = self.table.partition_point(|(_, end, _)| *end <= range.start);
        let last = self.table.partition_point(|(start, ..)| *start < range.end);
        let inside = if first < last { self.table.get(first).zip(self.table.get(last - 1)) } else { None };
        let before = || {
            let at = self.table.partition_point(|(start, end, _)| *end <= range.start && start < end);
            self.table.get(at.checked_sub(1)?).map(|t| (t, t))
        };
        match inside.or_else(before) {
            Some(((.., first), (.., last))) => (*first, *last),
            None => (Span::call_site(), Span::call_site()),
        }
    }

    /// The word as an identifier, with its token's span.
    pub fn ident(&self, word: &lifting_dsl::ast::Word) -> Ident {
        Ident::new(&word.text, self.spans(word.span).0)
    }
}

//! Expansion: text → items. Each wavelet becomes a static [`Scheme`](lifting_dsl::Scheme) and a module with the same
//! name, which holds its compiled forms.

use crate::text::{Header, Text};
use lifting_codegen::emit::{self, Request};
use lifting_dsl::{Diagnostic, Scheme, ast, compile, parse, print_scheme};
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use std::collections::BTreeSet;
use std::path::Path;

/// Expands `[path::to::lifting] …`.
pub fn expand(input: TokenStream) -> TokenStream {
    let mut tokens = input.into_iter();
    let library = match tokens.next() {
        Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Bracket => g.stream(),
        _ => return quote!(::core::compile_error! { "use `lifting::lifting!`" }),
    };
    let tokens: TokenStream = tokens.collect();
    let input = match syn::parse2::<FileInput>(tokens.clone()) {
        Ok(file) => Input::read(file),
        Err(_) => Ok(Input::of_text(Text::new(tokens))),
    };
    input.map_or_else(|error| error.to_compile_error(), |input| input.expand(&library))
}

/// `lifting!(pub "path.lift")`
struct FileInput {
    attributes: Vec<syn::Attribute>,
    visibility: syn::Visibility,
    path: syn::LitStr,
}

impl syn::parse::Parse for FileInput {
    fn parse(input: syn::parse::ParseStream) -> syn::Result<FileInput> {
        let file = FileInput {
            attributes: input.call(syn::Attribute::parse_outer)?,
            visibility: input.parse()?,
            path: input.parse()?,
        };
        input.parse::<Option<syn::Token![,]>>()?;
        Ok(file)
    }
}

/// A text from tokens or from a file.
struct Input {
    source: String,
    origin: Origin,
}

enum Origin {
    Tokens(Text),
    File { header: Header, path: syn::LitStr, absolute: String },
}

impl Input {
    fn of_text(text: Text) -> Input {
        Input { source: text.source.clone(), origin: Origin::Tokens(text) }
    }

    fn read(file: FileInput) -> syn::Result<Input> {
        let FileInput { attributes, visibility, path } = file;
        let root = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
        let absolute = Path::new(&root).join(path.value());
        let error = |what: String| syn::Error::new(path.span(), what);
        let source = std::fs::read_to_string(&absolute)
            .map_err(|e| error(format!("cannot read `{}`: {e}", absolute.display())))?;
        let absolute = absolute.to_str().ok_or_else(|| error("the path is not Unicode".into()))?.to_string();
        let header = Header { start: 0, visibility: quote!(#visibility), attributes: quote!(#(#attributes)*) };
        Ok(Input { source, origin: Origin::File { header, path, absolute } })
    }

    fn expand(&self, library: &TokenStream) -> TokenStream {
        let file = parse(&self.source).0;
        // Including the file makes rustc rebuild when it changes, even if it is broken.
        let mut out = match &self.origin {
            Origin::Tokens(_) => TokenStream::new(),
            Origin::File { absolute, .. } => quote!(
                const _: &[u8] = ::core::include_bytes!(#absolute);
            ),
        };
        let (schemes, diagnostics) = match compile(&self.source) {
            Ok(compiled) => (compiled.schemes, compiled.warnings),
            Err(diagnostics) => (Vec::new(), diagnostics),
        };
        out.extend(diagnostics.iter().map(|d| self.report(d)));
        if schemes.is_empty() {
            out.extend(self.stand_ins(&file, library));
        }
        for (scheme, wavelet) in schemes.iter().zip(&file.wavelets) {
            out.extend(items(scheme, &self.name(wavelet), self.header(wavelet), library));
        }
        out
    }

    fn name(&self, wavelet: &ast::Wavelet) -> Ident {
        match &self.origin {
            Origin::Tokens(text) => text.ident(&wavelet.name),
            Origin::File { path, .. } => Ident::new(&wavelet.name.text, path.span()),
        }
    }

    fn header(&self, wavelet: &ast::Wavelet) -> &Header {
        match &self.origin {
            Origin::Tokens(text) => {
                let at = text.headers.partition_point(|h| h.start < wavelet.span.start);
                &text.headers[at.min(text.headers.len() - 1)]
            }
            Origin::File { header, .. } => header,
        }
    }

    /// Statics without a value for the wavelets of a broken text, so that their uses cause no further errors.
    fn stand_ins(&self, file: &ast::File, library: &TokenStream) -> TokenStream {
        let mut seen = BTreeSet::new();
        let named = file.wavelets.iter().filter(|w| syn::parse_str::<Ident>(&w.name.text).is_ok());
        let statics = named.filter(|w| seen.insert(&w.name.text)).map(|w| {
            let name = self.name(w);
            // A misspelt `wavelet` has no header.
            let has_header = !matches!(&self.origin, Origin::Tokens(text) if text.headers.is_empty());
            let visibility = if has_header { self.header(w).visibility.clone() } else { TokenStream::new() };
            quote! {
                #[allow(non_upper_case_globals, missing_docs, dead_code)]
                #visibility static #name: ::std::sync::LazyLock<#library::Scheme> =
                    ::std::sync::LazyLock::new(|| ::core::unreachable!());
            }
        });
        statics.collect()
    }

    /// An error or a warning at its token.
    fn report(&self, d: &Diagnostic) -> TokenStream {
        let (message, first, last) = match &self.origin {
            Origin::Tokens(text) => {
                let mut message = format!("{} [{}]", d.message, d.code);
                for label in d.labels.iter().filter(|l| !l.primary) {
                    message += &format!("\nnote: {}, in line {}", label.text, text.spans(label.span).0.start().line);
                }
                let (first, last) = text.spans(d.span());
                (message, first, last)
            }
            Origin::File { path, .. } => {
                let mut message = format!("{}:{}: {} [{}]", path.value(), position(&self.source, d), d.message, d.code);
                for label in d.labels.iter().filter(|l| !l.primary) {
                    let line = self.source[..label.span.start].matches('\n').count() + 1;
                    message += &format!("\nnote: {}, in line {line}", label.text);
                }
                (message, path.span(), path.span())
            }
        };
        let message = d.help.iter().fold(message, |message, help| message + "\nhelp: " + help);
        if d.is_error() {
            // From the first to the last token: rustc takes an error's place from its ends.
            let arguments = quote_spanned!(last=> { #message });
            quote_spanned!(first=> ::core::compile_error! #arguments)
        } else {
            // Macros cannot warn, but using a deprecated item does.
            let used = Ident::new("wavelet", first);
            quote! {
                const _: () = {
                    #[deprecated(note = #message)]
                    #[allow(non_upper_case_globals)]
                    const wavelet: () = ();
                    #used
                };
            }
        }
    }
}

/// Line and column of a diagnostic, from 1.
fn position(source: &str, d: &Diagnostic) -> String {
    let before = &source[..d.span().start];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("{line}:{column}")
}

/// The items of one wavelet.
fn items(scheme: &Scheme, name: &Ident, header: &Header, library: &TokenStream) -> TokenStream {
    let Header { visibility, attributes, .. } = header;
    let source = print_scheme(scheme);
    let docs = match scheme.docs() {
        [] => vec![format!(" The wavelet `{}`.", scheme.name())],
        docs => docs.iter().map(|line| format!(" {line}")).collect(),
    };
    let Emitted { docs: module_docs, items } = emitted(scheme, library);
    // "Go to definition" leads to the wavelet's name; a name from a file is one that the caller can write.
    let at = Span::call_site().located_at(name.span());
    let name = Ident::new(&name.to_string(), name.span().resolved_at(Span::call_site()));
    quote_spanned! { at=>
        #attributes
        #(#[doc = #docs])*
        #[allow(non_upper_case_globals)]
        #visibility static #name: ::std::sync::LazyLock<#library::Scheme> =
            ::std::sync::LazyLock::new(|| #library::__private::scheme(#name::SOURCE));
        #attributes
        #(#[doc = #module_docs])*
        #[allow(non_snake_case, dead_code, clippy::all, clippy::pedantic, clippy::nursery)]
        #visibility mod #name {
            /// The wavelet in the Lifting language, as the compiler understood it.
            pub const SOURCE: &::core::primitive::str = #source;
            #items
        }
    }
}

/// Compiled forms of a wavelet, under its own border rule.
struct Emitted {
    /// Documentation of the module, including what is missing and why.
    docs: Vec<String>,
    items: TokenStream,
}

fn emitted(scheme: &Scheme, library: &TokenStream) -> Emitted {
    let command = format!("lifting! {{ wavelet {} … }}", scheme.name());
    let request = Request::natural(scheme, &command);
    let samples = request.samples;
    let mut docs = vec![format!(" Compiled forms of the wavelet `{}`.", scheme.name()), String::new()];
    let mut items = TokenStream::new();
    let functions = emit::rust(&request).map_err(|e| e.to_string());
    match functions.and_then(|text| text.parse::<TokenStream>().map_err(|e| e.to_string())) {
        Ok(functions) => {
            let names: Vec<String> =
                samples.iter().map(|s| format!("`forward_{0}` and `inverse_{0}`", s.name())).collect();
            docs.push(format!(
                " {} transform in place under the border rule `{}`, without a plan; `Shape` describes the array.",
                names.join(", "),
                scheme.boundary(),
            ));
            items.extend(functions);
        }
        Err(reason) => docs.push(format!(" No functions: {reason}.")),
    }
    // Only check here whether some kernel takes the wavelet: the text is long, slow to make, and rarely wanted.
    match samples.iter().try_for_each(|&sample| emit::Passes::cuda(&request, sample).map(|_| ())) {
        Ok(()) => items.extend(quote! {
            /// CUDA C++ of the same transform: kernels and host functions for nvcc, or only the kernels for NVRTC. It
            /// is the file that `liftc` writes (with `--profile` if a profile has a gain), made on first use.
            pub static CUDA: ::std::sync::LazyLock<::std::string::String> =
                ::std::sync::LazyLock::new(|| #library::__private::cuda(SOURCE));
        }),
        Err(reason) => docs.push(format!(" No `CUDA`: {reason}.")),
    }
    Emitted { docs, items }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of all `compile_error!`s.
    fn errors(input: TokenStream) -> Vec<String> {
        let file: syn::File = syn::parse2(expand(input)).unwrap();
        let macros = file.items.iter().filter_map(|i| if let syn::Item::Macro(m) = i { Some(&m.mac) } else { None });
        macros.map(|m| m.parse_body::<syn::LitStr>().unwrap().value()).collect()
    }

    #[test]
    fn errors_of_a_file_name_their_place() {
        let expected = [
            "tests/files/broken.lift:4:12: a step that updates `odd` cannot read `odd` [L0301]\n\
             help: read `even` only: that is what makes a step invertible; `odd *= …` scales",
            "tests/files/broken.lift:5:13: unknown constant `gamma` [L0201]\nhelp: declare it: `const gamma = …;`",
        ];
        assert_eq!(errors(quote!([::lifting] "tests/files/broken.lift")), expected);
        assert_eq!(errors(quote!([::lifting] #[cfg(test)] pub(crate) "tests/files/broken.lift",)), expected);
    }

    #[test]
    fn missing_files_are_errors() {
        let missing = errors(quote!([::lifting] "does/not/exist.lift"));
        assert!(
            missing[0].starts_with("cannot read `") && missing[0].contains("does/not/exist.lift`: "),
            "{missing:?}"
        );
        assert_eq!(errors(quote!(wavelet w {})), ["use `lifting::lifting!`"]);
    }

    /// Documentation of the only wavelet's module, and the names of its items.
    fn module(input: TokenStream) -> (String, Vec<String>) {
        let file: syn::File = syn::parse2(expand(input)).unwrap();
        let module =
            file.items.into_iter().find_map(|i| if let syn::Item::Mod(m) = i { Some(m) } else { None }).unwrap();
        let doc = |a: &syn::Attribute| match &a.meta {
            syn::Meta::NameValue(syn::MetaNameValue {
                value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }),
                ..
            }) => Some(text.value()),
            _ => None,
        };
        let docs: Vec<String> = module.attrs.iter().filter_map(doc).collect();
        let name = |item: syn::Item| match item {
            syn::Item::Const(c) if !matches!(c.vis, syn::Visibility::Inherited) => vec![c.ident.to_string()],
            syn::Item::Static(s) if !matches!(s.vis, syn::Visibility::Inherited) => vec![s.ident.to_string()],
            syn::Item::Struct(s) if !matches!(s.vis, syn::Visibility::Inherited) => vec![s.ident.to_string()],
            syn::Item::Enum(e) if !matches!(e.vis, syn::Visibility::Inherited) => vec![e.ident.to_string()],
            // `sample! { type…; names of its functions; steps }`
            syn::Item::Macro(m) if m.mac.path.is_ident("sample") => {
                let text = m.mac.tokens.to_string();
                text.split(';').nth(1).unwrap().split_whitespace().map(String::from).collect()
            }
            _ => vec![],
        };
        let items = module.content.unwrap().1.into_iter().flat_map(name);
        (docs.join("\n"), items.collect())
    }

    #[test]
    fn modules_document_their_items() {
        let (docs, items) = module(quote!([::lifting] wavelet w { domain real; boundary edge; odd -= even[0]; }));
        assert!(docs.contains("`forward_f64` and `inverse_f64`") && docs.contains("the border rule `edge`"), "{docs}");
        let of_type = ["scratch_samples", "forward", "inverse", "forward_to", "inverse_to"];
        let functions = ["f32", "f64"].map(|t| of_type.map(|f| format!("{f}_{t}")));
        let names = ["SOURCE", "Error", "Shape"].map(String::from);
        let expected: Vec<String> = names.into_iter().chain(functions.concat()).chain(["CUDA".into()]).collect();
        assert_eq!(items, expected);

        let (docs, items) = module(quote!([::lifting] wavelet w { domain integer; odd -= even[900]; }));
        assert!(docs.contains("No `CUDA`: schedule `") && docs.contains("cannot hold wavelet `w`"), "{docs}");
        assert!(items.contains(&"forward_i16".into()) && !items.contains(&"CUDA".into()), "{items:?}");
    }

    #[test]
    fn file_changes_trigger_rebuilds() {
        let text = expand(quote!([::lifting] "tests/files/broken.lift")).to_string();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/broken.lift");
        assert!(text.contains(&format!("include_bytes ! ({:?})", file.to_str().unwrap())), "{text}");
    }
}

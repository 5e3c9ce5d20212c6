//! Error messages of `lifting!`, and their spans. `TRYBUILD=overwrite` rewrites the expectations.

#[test]
fn errors_point_at_their_tokens() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

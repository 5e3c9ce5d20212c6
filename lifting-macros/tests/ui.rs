//! What `lifting!` says about wrong texts, and where. `TRYBUILD=overwrite` writes the expectations anew.

#[test]
fn errors_stand_at_their_tokens() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

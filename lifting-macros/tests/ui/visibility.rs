mod inside {
    lifting::lifting! {
        wavelet private { domain real; odd += even[0]; }
        pub(crate) wavelet public { domain real; odd += even[0]; }
    }
    pub fn user() -> &'static str {
        private.name()
    }
}

fn main() {
    println!("{} {}", inside::public.name(), inside::user());
    println!("{}", inside::private.name());
}

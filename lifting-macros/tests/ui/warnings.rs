#![deny(warnings)]

lifting::lifting! {
    wavelet w {
        domain integer;
        const unused = 1;
        odd -= even[0] + 1;
    }
}

fn main() {
    println!("{}", w.name());
}

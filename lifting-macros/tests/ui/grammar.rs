lifting::lifting! {
    domain real;
    wavelet a {
        domain real;
        odd += even[0]
        even += 2 odd[0];
        odd = even[0];
        even /= 2;
        odd += (even[0] +);
        odd += even[k + 1];
        evn += odd[0];
        gain shift 1;
        #[cfg(test)] odd += even[0];
        const fn = 1;
    }
    wavlet b { domain real; odd += even[0]; }
    pub wavelet c { domain real; profile vc2 { edge; } odd += even[0]; }
}

fn main() {
    // Wavelets with errors can be used: one error is enough.
    println!("{} {}", a.name(), c.name());
}

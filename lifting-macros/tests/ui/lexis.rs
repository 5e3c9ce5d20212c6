lifting::lifting! {
    wavelet w {
        domain real;
        odd += even[0] @ even[1];
        odd += 2.0f32 * even[0];
        even += 9odd[0];
        odd += "even";
        even += odd[0] ^ 2;
        # even += odd[0];
    }
}

fn main() {}

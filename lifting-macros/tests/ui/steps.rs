lifting::lifting! {
    wavelet real {
        domain real;
        profile vc2 { gain shift 1; }
        const c = even[0];
        odd += even[0] + odd[-1];
        odd += even[0] * even[1];
        odd += 1 / even[0] + even[1] / 0;
        odd += even[0] - even[0] + sqrt(-2) * even[1];
        odd += 2;
        odd += (even[0] + even[1]) >> 1;
        odd += even[0] + 1;
        odd += even[5000] + 1e9999 * even[0];
        even *= 0;
    }
    wavelet integer {
        domain integer;
        odd -= 1.5 * even[0];
        odd -= (even[0] + even[1]) / 2;
        odd -= 4_000_000_000 * even[0];
        even += odd[0] >> 31;
        even += (odd[0] >> 1) + odd[1];
        even *= 2;
    }
}

fn main() {}

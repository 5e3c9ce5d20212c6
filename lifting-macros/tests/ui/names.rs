lifting::lifting! {
    wavelet a {
        boundary cyclic;
        boundary zero;
        profile jpeg { }
        profile vc2 { }
        profile vc2 { }
        const alpha = 1;
        const alpha = 2;
        odd += alpa * even[0] + late * even[1];
        const late = 3;
        odd += alpha(even[0] + even[1]);
        odd += sin(2) * even[0];
    }
    wavelet a { domain complex; odd += even[0]; }
    wavelet b { domain real; }
}

fn main() {}

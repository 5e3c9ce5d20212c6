lifting::lifting! {
    wavelet two_kinds {
        domain real;
        odd += even[0];
        lattice { rotate(1, 2); }
    }
    wavelet stages {
        domain real;
        boundary periodic;
        lattice { rotate(1); twist(1, 2); matrix(1, 2, 2, 4); }
    }
    wavelet open {
        domain real;
        boundary zero;
        lattice { rotate(0, 1); rotate(1, 2); }
    }
    wavelet whole_numbers {
        domain integer;
        lattice { rotate(1, 2); }
    }
    wavelet half_a_bank {
        domain real;
        boundary periodic;
        bank { lowpass at 0 [1, 1]; }
        factor lifting;
    }
    wavelet no_bank {
        domain real;
        boundary periodic;
        bank { lowpass at 0 [1, 1]; highpass at 0 [1, 1]; }
        factor butterflies;
    }
    wavelet singular {
        domain real;
        boundary periodic;
        bank { lowpass at 0 [1, 1]; highpass at 0 [1, 1]; }
        factor lifting;
    }
    wavelet amounts {
        domain real;
        odd += 0*even[0] + even[1];
        odd += 1e400*even[0];
        even *= 1;
    }
    wavelet gains {
        domain integer;
        profile vc2 { gain shift 40; }
        odd += even[0];
    }
}

fn main() {}

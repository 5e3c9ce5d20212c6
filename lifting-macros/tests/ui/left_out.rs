//! No kernel holds a wavelet of this reach: the module lacks only `CUDA`.

lifting::lifting! {
    wavelet far {
        domain integer;
        odd -= even[900];
    }
    wavelet near {
        domain integer;
        odd -= even[0];
    }
}

fn main() {
    let shape = far::Shape::new(&[8], 1);
    println!("{:?} {}", far::forward_i16(&shape, &mut [0; 8], &mut [0; 4000]), far::SOURCE);
    println!("{}", *near::CUDA);
    println!("{}", far::CUDA);
    println!("{:?}", near::forward_f32(&near::Shape::new(&[8], 1), &mut [0.0; 8], &mut [0.0; 90]));
}

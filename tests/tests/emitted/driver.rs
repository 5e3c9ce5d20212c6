// Runs emitted transforms on the cases in `input`; answers with a return code, bands and signal of each. The C driver
// in this folder defines the format. In-place and out-of-place results must be equal. The includer defines `emitted`,
// `forward`, `inverse`, `forward_to`, `inverse_to`, `scratch_samples` and `Sample`.
pub fn answer(input: &[u8]) -> Vec<u8> {
    let mut rest = input;
    let mut output = Vec::new();
    while !rest.is_empty() {
        let (head, tail) = rest.split_at(35 * 8);
        let head: Vec<i64> = head.chunks(8).map(|b| i64::from_ne_bytes(b.try_into().unwrap())).collect();
        let axes = head[32] as usize;
        let size: Vec<usize> = head[..axes].iter().map(|n| *n as usize).collect();
        let mut shape = emitted::Shape::new(&size, 0);
        shape.levels = head[8..8 + axes].iter().map(|n| *n as u32).collect();
        shape.origin = head[16..16 + axes].to_vec();
        shape.order = head[24..24 + axes].iter().map(|n| *n as usize).collect();
        shape.gain = head[33] as u32;
        let bytes = size_of::<Sample>();
        let (samples, tail) = tail.split_at(shape.size.iter().product::<usize>() * bytes);
        rest = tail;
        let mut data: Vec<Sample> =
            samples.chunks(bytes).map(|b| Sample::from_ne_bytes(b.try_into().unwrap())).collect();
        let mut scratch = vec![Sample::from_ne_bytes([0x5a; size_of::<Sample>()]); scratch_samples(&shape).unwrap()];
        let bytes_of = |data: &[Sample]| -> Vec<u8> { data.iter().flat_map(|x| x.to_ne_bytes()).collect() };
        let (from, mut apart) = (data.clone(), data.clone());
        forward_to(&shape, &from, &mut apart, &mut scratch).unwrap();
        forward(&shape, &mut data, &mut scratch).unwrap();
        assert!(bytes_of(&data) == bytes_of(&apart), "bands out of place differ: {shape:?}");
        output.extend(0_i32.to_ne_bytes());
        output.extend(bytes_of(&data));
        let from = data.clone();
        inverse_to(&shape, &from, &mut apart, &mut scratch).unwrap();
        inverse(&shape, &mut data, &mut scratch).unwrap();
        assert!(bytes_of(&data) == bytes_of(&apart), "the signal out of place differs: {shape:?}");
        output.extend(bytes_of(&data));
    }
    output
}

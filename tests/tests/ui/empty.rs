lifting::lifting! {}

fn main() {}

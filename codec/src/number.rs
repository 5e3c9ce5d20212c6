//! Numbers of 7 bits a byte, lowest bits first, and numbers with their signs in the lowest bits.

/// 2n, or −2n − 1 if n is negative: a number of 32 bits stays one.
pub fn folded(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

/// The number that [`folded`] gives.
pub fn unfolded(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Appends a number below 2^63.
pub fn put(mut number: u64, bytes: &mut Vec<u8>) {
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number from the front of `bytes`; `None` if it is cut short, longer than needed, or not below 2^63.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for (i, &byte) in bytes.iter().enumerate().take(9) {
        number |= u64::from(byte & 127) << (7 * i);
        if byte < 128 {
            *bytes = &bytes[i + 1..];
            return (byte > 0 || i == 0).then_some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_round_trip() {
        for (number, expected) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (i64::from(i32::MIN), u64::from(u32::MAX))] {
            assert_eq!((folded(number), unfolded(expected)), (expected, number));
        }
        assert_eq!((unfolded(folded(i64::MIN)), unfolded(folded(i64::MAX))), (i64::MIN, i64::MAX));
    }

    #[test]
    fn numbers_round_trip() {
        let numbers = [0, 1, 127, 128, 300, 16383, 16384, u64::from(u32::MAX), (1 << 63) - 1];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|&n| put(n, &mut bytes));
        assert_eq!(bytes.len(), 1 + 1 + 1 + 2 + 2 + 2 + 3 + 5 + 9);
        let mut rest = &bytes[..];
        numbers.iter().for_each(|&n| assert_eq!(take(&mut rest), Some(n)));
        assert!(rest.is_empty());
        for bad in [&[][..], &[128], &[128, 0], &[255; 9], &[255; 12]] {
            assert_eq!(take(&mut &bad[..]), None, "{bad:?}");
        }
    }
}

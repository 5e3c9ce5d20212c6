//! Format of pictures.

/// Format of pictures: all fields of an [`Image`] but its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Rows, at least 1.
    pub height: usize,
    /// Columns, at least 1.
    pub width: usize,
    /// Components of a pixel, 1 to 65535.
    pub components: usize,
    /// Bits of a sample, 1 to 16.
    pub bits: u32,
    /// Whether samples range over −2^(bits−1) to 2^(bits−1) − 1, rather than 0 to 2^bits − 1.
    pub signed: bool,
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Format { height, width, components, bits, signed } = self;
        let sign = if *signed { "signed " } else { "" };
        write!(f, "{height} × {width} × {components} {sign}samples of {bits} bits")
    }
}

impl Format {
    /// Pixels per picture.
    pub fn pixels(&self) -> usize {
        self.height * self.width
    }

    /// Samples per picture.
    pub fn samples(&self) -> usize {
        self.pixels() * self.components
    }
}

//! Enfedaque 2017, tables 4.2 to 4.6: BPC-PaCo on a GeForce GTX TITAN X. The user's picture takes the place of
//! satellite images. The 9/7 of 5 levels is quantised by steps of 1 in a band of norm 1; a coefficient has 4 bytes.

use super::report::Found;
use super::table::{Bandwidth, Claim, Coder, Of, Row, Table, Unit, Usage, What};
use liftc::bench::cuda::{Runner, Transfer};
use liftc::codec::picture;
use liftc::failure::{Outcome, input};
use liftc::media;
use liftc::output::input_name;
use lifting::catalogue;
use lifting_codec::block::Passes;
use lifting_codec::block::kernel::encoder;
use lifting_codec::{Codec, Image};
use std::path::PathBuf;

/// Device of the thesis, with its bandwidth in 10⁹ bytes per second.
const TITAN_X: (&str, Bandwidth) = ("GeForce GTX TITAN X", Bandwidth::Theoretical(336.5));

const WAYS: [(Passes, &str); 2] = [(Passes::Two, "2 passes"), (Passes::Three, "3 passes")];

/// Bytes per coefficient.
const COEFFICIENT: usize = 4;

impl Coder {
    /// Number of samples, and bytes that a copy of all coefficients reads and writes.
    pub fn size(&self) -> [usize; 2] {
        [self.side * self.side, 2 * COEFFICIENT * self.side * self.side]
    }

    /// Measures the property on a device. The result is empty without a picture.
    pub fn measure(&self, runner: &Runner, repeats: usize) -> Outcome<Found> {
        if let Of::Used(of) = self.of {
            let [registers, occupancy] = runner.usage_of(&encoder(self.passes.into()))?;
            return Ok(Found::Derived(if of == Usage::Registers { registers } else { occupancy }));
        }
        let Some(path) = &self.picture else { return Ok(Found::Predicted(None)) };
        let (image, _) = picture(media::read(path, None)?, &mut Vec::new()).map_err(|f| f.at(input_name(path)))?;
        let builder = Codec::builder(&catalogue::find("cdf97").map_err(input)?).quality(100.0);
        let [height, width] = self.block;
        let builder = builder.passes(self.passes).block(height, width);
        let [times, copies] = runner.coder(builder, &repeated(&image, self.side), self.of == Of::Decoding, repeats)?;
        Ok(Found::measured(times, copies, Vec::new()))
    }
}

/// First component of a picture, repeated by reflection along both axes.
fn repeated(image: &Image, side: usize) -> Image {
    let fold = |at: usize, size: usize| if (at / size).is_multiple_of(2) { at % size } else { size - 1 - at % size };
    let row = |y: usize| {
        let row = &image.samples[fold(y, image.height) * image.width * image.components..];
        (0..side).map(move |x| row[fold(x, image.width) * image.components])
    };
    Image { height: side, width: side, components: 1, samples: (0..side).flat_map(row).collect(), ..*image }
}

/// The largest block.
const WHOLE: [usize; 2] = [64, 64];

fn table(id: &'static str, title: &'static str, unit: Unit, rows: Vec<Row>, claims: Vec<Claim>) -> Table {
    Table { id, title, device: TITAN_X, unit, rows, claims }
}

/// Coders of the first of these pictures.
fn coder(pictures: &[PathBuf]) -> impl Fn(usize, [usize; 2], Passes, Of) -> What + Copy + use<'_> {
    |side, block, passes, of| What::Coder(Coder { picture: pictures.first().cloned(), side, block, passes, of })
}

/// Tables of the coder, for the first of these pictures.
pub fn tables(pictures: &[PathBuf]) -> Vec<Table> {
    let coder = coder(pictures);

    // The thesis varies the register limit from 16 to 128, and uses 32.
    let best = [[32.0, 89.0], [32.0, 89.0]];
    let used = WAYS.into_iter().zip(best).flat_map(|((passes, name), papers)| {
        [(Usage::Registers, "registers"), (Usage::Occupancy, "occupancy, %")].into_iter().zip(papers).map(
            move |((of, what), paper)| {
                Row::new(format!("{name}, {what}"), paper, coder(5120, WHOLE, passes, Of::Used(of)))
            },
        )
    });
    let two = table(
        "enfedaque-4.2-registers",
        "Enfedaque 2017, table 4.2: registers of a thread, and occupancy, of the encoder",
        Unit::Number,
        used.collect(),
        Vec::new(),
    );
    let times = WAYS.into_iter().zip([17.07, 23.81]);
    let times = times.map(|((passes, name), paper)| Row::new(name, paper, coder(5120, WHOLE, passes, Of::Encoding)));
    let two_times = table(
        "enfedaque-4.2",
        "Enfedaque 2017, table 4.2: the encoder with the fastest number of registers, 5120²",
        Unit::Milliseconds,
        times.collect(),
        Vec::new(),
    );

    let sides = [2048, 3072, 4096, 5120, 6144, 7168];
    let papers = [
        (Of::Encoding, WAYS[0], [980.0, 760.0, 680.0, 650.0, 620.0, 580.0]),
        (Of::Encoding, WAYS[1], [1360.0, 1060.0, 940.0, 900.0, 860.0, 850.0]),
        (Of::Decoding, WAYS[0], [1150.0, 830.0, 740.0, 710.0, 670.0, 620.0]),
        (Of::Decoding, WAYS[1], [1560.0, 1150.0, 1020.0, 990.0, 940.0, 890.0]),
    ];
    let label = |of: Of, name: &str, side: usize| {
        format!("{}, {name}, {side}²", if of == Of::Encoding { "encoder" } else { "decoder" })
    };
    let rows = papers.into_iter().flat_map(|(of, (passes, name), papers)| {
        let row = move |(side, paper)| Row::new(label(of, name, side), paper, coder(side, WHOLE, passes, of));
        sides.into_iter().zip(papers).map(row).collect::<Vec<_>>()
    });
    let claims = [Of::Encoding, Of::Decoding].map(|of| {
        let [two, three] = WAYS.map(|(_, name)| label(of, name, 4096));
        Claim::new(two, three, "a third pass costs less here")
    });
    let three = table(
        "enfedaque-4.3",
        "Enfedaque 2017, table 4.3: time by size of picture",
        Unit::Picoseconds,
        rows.collect(),
        claims.into(),
    );

    let papers = [(2048, [1.41, 4.11]), (4096, [5.63, 11.41]), (6144, [12.52, 23.32])];
    let rows = papers.into_iter().flat_map(|(side, [there, coded])| {
        let transfer = Transfer { bytes: COEFFICIENT * side * side, pinned: true, back: false };
        [
            Row::new(format!("{side}², to the device"), there, What::Transfer(transfer)),
            Row::new(format!("{side}², 2 passes"), coded, coder(side, WHOLE, Passes::Two, Of::Encoding)),
        ]
    });
    let four = table(
        "enfedaque-4.4",
        "Enfedaque 2017, table 4.4: coefficients to the device, and the encoder",
        Unit::Milliseconds,
        rows.collect(),
        Vec::new(),
    );

    let rows = WAYS.into_iter().zip([11.4, 15.8]);
    let rows = rows.map(|((passes, name), paper)| Row::new(name, paper, coder(4096, WHOLE, passes, Of::Encoding)));
    let five = table(
        "enfedaque-4.5",
        "Enfedaque 2017, table 4.5: the encoder, 4096² (JPEG2K: 834 ms)",
        Unit::Milliseconds,
        rows.collect(),
        Vec::new(),
    );

    vec![two, two_times, three, four, five, table_of_blocks(pictures)]
}

/// The table of sizes of codeblocks.
fn table_of_blocks(pictures: &[PathBuf]) -> Table {
    let coder = coder(pictures);
    // Rows by columns; the thesis also has 96 and 128 rows, which exceed the largest block here.
    let papers = [
        ([16, 64], [None; 4]),
        ([32, 64], [10.42, 14.13, 11.21, 15.32].map(Some)),
        (WHOLE, [11.41, 15.76, 12.45, 17.01].map(Some)),
    ];
    let label = |of: Of, name: &str, [height, width]: [usize; 2]| {
        format!("{}, {name}, {height} rows of {width}", if of == Of::Encoding { "encoder" } else { "decoder" })
    };
    let rows = papers.into_iter().flat_map(|(block, papers)| {
        let ways =
            [Of::Encoding, Of::Decoding].into_iter().flat_map(|of| WAYS.map(|(passes, name)| (of, passes, name)));
        let row =
            move |((of, passes, name), paper)| Row::new(label(of, name, block), paper, coder(4096, block, passes, of));
        ways.zip(papers).map(row).collect::<Vec<_>>()
    });
    let claim = Claim::new(
        label(Of::Encoding, WAYS[0].1, [32, 64]),
        label(Of::Encoding, WAYS[0].1, WHOLE),
        "smaller blocks are not faster here",
    );
    table(
        "enfedaque-4.6",
        "Enfedaque 2017, table 4.6: sizes of codeblocks, 4096²",
        Unit::Milliseconds,
        rows.collect(),
        vec![claim],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_repeat_with_reflection() {
        let image = Image { height: 2, width: 3, components: 2, bits: 8, signed: false, samples: (0..12).collect() };
        let Image { height, width, components, samples, .. } = repeated(&image, 4);
        assert_eq!((height, width, components), (4, 4, 1));
        assert_eq!(samples, [0, 2, 4, 4, 6, 8, 10, 10, 6, 8, 10, 10, 0, 2, 4, 4]);
    }
}

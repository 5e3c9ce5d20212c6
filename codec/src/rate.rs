//! Quality layers: allocation of the blocks' words to layers by post-compression rate–distortion optimisation.
//!
//! Each layer takes the words that reduce the picture's error most per bit, over all blocks (Taubman, "High performance
//! scalable image compression with EBCOT", IEEE Transactions on Image Processing 9(7), 2000, section III).

use crate::block::Prefix;

/// Least share of the words in the first layer. With many layers, their sizes are closer together.
const LEAST: f64 = 1.0 / 256.0;

/// Piece of a block's words on the lower convex hull of its error over its words.
struct Piece {
    block: usize,
    /// Its end in the block's words.
    end: usize,
    /// Its number of words.
    words: usize,
    /// Error reduction per word.
    slope: f64,
}

/// Pieces of a block with the given weight of its error, in order of falling slope.
fn pieces(block: usize, prefixes: &[Prefix], weight: f64) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for pair in prefixes.windows(2) {
        let words = pair[1].words - pair[0].words;
        let mut gain = weight * (pair[0].error - pair[1].error);
        let mut piece = Piece { block, end: pair[1].words, words, slope: gain / words.max(1) as f64 };
        // A piece that gains more per word than its predecessor is merged with it.
        while let Some(last) = pieces.pop_if(|last| last.slope <= piece.slope || piece.words == 0) {
            gain += last.slope * last.words as f64;
            piece.words += last.words;
            piece.slope = gain / piece.words.max(1) as f64;
        }
        if piece.words > 0 {
            pieces.push(piece);
        }
    }
    pieces
}

/// Cumulative number of words of each block, for each layer. The last layer has all words. Each one before has half as
/// many as the next, or a larger share if there are many.
///
/// Each block has its prefixes, from no words to all of them, and the weight of an error of 1 in it.
pub fn layers(blocks: &[(Vec<Prefix>, f64)], layers: u32) -> Vec<Vec<usize>> {
    let mut pieces: Vec<Piece> =
        blocks.iter().enumerate().flat_map(|(block, (prefixes, weight))| pieces(block, prefixes, *weight)).collect();
    // Stable sort: the pieces of a block keep their order.
    pieces.sort_by(|a, b| b.slope.total_cmp(&a.slope));
    let total: usize = pieces.iter().map(|piece| piece.words).sum();
    let ratio = f64::max(0.5, LEAST.powf(1.0 / f64::from(layers.max(2) - 1)));
    let (mut taken, mut words) = (vec![0; blocks.len()], 0);
    let mut pieces = pieces.into_iter().peekable();
    let layer = |layer: u32| {
        let budget = total as f64 * ratio.powi((layers - 1 - layer) as i32);
        while let Some(piece) = pieces.next_if(|piece| (words + piece.words) as f64 <= budget) {
            taken[piece.block] = piece.end;
            words += piece.words;
        }
        taken.clone()
    };
    (0..layers).map(layer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefixes(points: &[(usize, f64)]) -> Vec<Prefix> {
        points.iter().map(|&(words, error)| Prefix { words, error }).collect()
    }

    #[test]
    fn largest_gains_come_first() {
        let steep = prefixes(&[(0, 1000.0), (10, 100.0), (20, 50.0), (40, 0.0)]);
        // Its first pass gains little, and is taken together with the second one.
        let late = prefixes(&[(0, 1000.0), (10, 990.0), (20, 300.0), (40, 0.0)]);
        let empty = prefixes(&[(0, 0.0), (0, 0.0)]);
        let blocks = [(steep, 1.0), (late, 1.0), (empty, 1.0)];
        assert_eq!(layers(&blocks, 1), [[40, 40, 0]]);
        assert_eq!(layers(&blocks, 3), [[10, 0, 0], [10, 20, 0], [40, 40, 0]].map(|l| l.to_vec()));
        // Higher weights come first.
        let blocks = [(blocks[0].0.clone(), 0.01), (blocks[1].0.clone(), 1.0)];
        assert_eq!(layers(&blocks, 3), [[0, 20], [0, 40], [40, 40]].map(|l| l.to_vec()));
    }

    #[test]
    fn layers_grow() {
        let block = |i: usize| (prefixes(&[(0, 1e6), (i, 1e5), (2 * i, 1e4), (3 * i, 10.0), (4 * i, 0.0)]), i as f64);
        let blocks: Vec<_> = (1..50).map(block).collect();
        for count in [2, 5, 40, 255] {
            let layers = layers(&blocks, count);
            assert_eq!(layers.len(), count as usize);
            assert!(layers.windows(2).all(|pair| pair[0].iter().zip(&pair[1]).all(|(a, b)| a <= b)));
            let sums: Vec<usize> = layers.iter().map(|layer| layer.iter().sum()).collect();
            assert_eq!(sums[sums.len() - 1], (1..50).map(|i| 4 * i).sum::<usize>());
            assert!(sums[0] < sums[sums.len() - 1] / 2 + 1);
        }
    }
}

//! Order of packets (B.12).

use crate::codestream::{Progression, Volume};
use crate::image::Rect;
use crate::tile::TileComponent;
use std::ops::Range;

/// Precinct of a tile, and the point of the reference grid where a progression by position meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Component.
    pub component: usize,
    /// Resolution.
    pub resolution: u32,
    /// Precinct, counted row by row.
    pub precinct: usize,
    /// Row, column.
    point: [u64; 2],
}

/// Packets of a progression: the precincts in order, and groups of them. All packets of a group's first layer come
/// first, then those of its second layer.
pub fn groups(components: &[TileComponent], tile: Rect, volume: &Volume) -> (Vec<Place>, Vec<Range<usize>>) {
    let mut places = Vec::new();
    for c in volume.components.clone() {
        let Some(component) = components.get(c) else { break };
        let levels = component.resolutions.len() as u32 - 1;
        for (r, resolution) in (0u32..).zip(&component.resolutions) {
            if !volume.resolutions.contains(&r) {
                continue;
            }
            let place = |precinct: usize| {
                let [x, y] = resolution.point(precinct, tile, levels - r, component.spacing);
                Place { component: c, resolution: r, precinct, point: [y, x] }
            };
            places.extend((0..resolution.count()).map(place));
        }
    }
    let key = |p: &Place| {
        let [r, c, k] = [u64::from(p.resolution), p.component as u64, p.precinct as u64];
        let [y, x] = p.point;
        match volume.progression {
            Progression::Lrcp | Progression::Rlcp => [r, c, k, 0, 0],
            Progression::Rpcl => [r, y, x, c, k],
            Progression::Pcrl => [y, x, c, r, k],
            Progression::Cprl => [c, y, x, r, k],
        }
    };
    places.sort_by_cached_key(key);
    let groups = match volume.progression {
        Progression::Lrcp => Vec::from([Range { start: 0, end: places.len() }]),
        Progression::Rlcp => {
            let mut groups: Vec<Range<usize>> = Vec::new();
            for (i, place) in places.iter().enumerate() {
                match groups.last_mut() {
                    Some(group) if places[group.start].resolution == place.resolution => group.end = i + 1,
                    _ => groups.push(i..i + 1),
                }
            }
            groups
        }
        _ => (0..places.len()).map(|i| i..i + 1).collect(),
    };
    (places, groups)
}

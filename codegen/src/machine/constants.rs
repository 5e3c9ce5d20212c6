//! Constants of a device's file.
//!
//! Suffixes tell the unit: `latency` is in microseconds; `instructions` and `stall` are factors or counts of issued
//! instructions; `cost` is relative to the first read or write; `power` is an exponent. Pairs are for analysis and
//! synthesis, unless stated otherwise.
//!
//! Sections that end in `_steps` settle launch shapes and overlap. They were fitted by hand to the fastest variants;
//! `cargo xtask fit`, which fits predicted times, leaves them unchanged.

use super::file::{Section, Value};

/// The tables of a file: one structure per section, whose fields are exactly the section's lines.
macro_rules! tables {
    ($($(#[$about:meta])* $section:ident: $table:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* })*) => {
        $($(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $table { $($(#[$doc])* pub $field: $type,)* })*

        /// All constants of a device, by section.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Constants { $($(#[$about])* pub $section: $table,)* }

        impl Constants {
            /// Sections of a file, in addition to `device`.
            pub(super) const SECTIONS: &[&str] = &[$(stringify!($section)),*];

            pub(super) fn read(mut section: impl FnMut(&str) -> Result<Section, String>) -> Result<Constants, String> {
                Ok(Constants {
                    $($section: {
                        let mut section = section(stringify!($section))?;
                        let table = $table { $($field: <$type as Value>::of(section.take(stringify!($field))?)?,)* };
                        section.finish()?;
                        table
                    },)*
                })
            }
        }
    };
}

tables! {
    /// Any launch.
    launch: Launch {
        /// Microseconds from one launch of a graph to the next.
        latency: f64,
        /// Exponent of the norm that combines memory and instruction time into throughput time.
        throughput_power: f64,
        /// The least bytes that memory moves.
        sector: f64,
        /// Cost of re-reading a sector, which the L2 cache holds.
        sector_reread_cost: f64,
        /// Registers of a thread beyond its delay line or block: nvcc uses 32 to 56.
        other_registers: i64,
        /// The most registers of a thread without spills.
        most_registers: i64,
        /// Factor on the time of kernels that spill.
        spill_factor: f64,
        /// The least bytes of an intermediate low band that are worth keeping in the L2 cache: smaller ones stay in any
        /// case.
        kept_least: u64,
        /// The most that it may take, as a share of that cache: larger ones do not fit.
        kept_share: f64,
        /// Microseconds that two levels of synthesis save, launched one by one after others, over the sum of each
        /// alone: settled bands are loaded before the previous launch ends, which launches of two levels do not do.
        /// Measured on 2048² after three others, 5/3 i16: 11.4 instead of 13.1, where one launch for two levels saves
        /// 0.4.
        early_load_gain: f64,
    }

    /// Passes along one axis.
    pass: Pass {
        /// Microseconds until the first row has arrived, plus until the last one has left.
        ramp: f64,
        /// Microseconds per row pair of a walk down columns that nothing else limits.
        row_pair_latency: f64,
        /// Microseconds in which `vertical` loads, lifts and stores a window.
        window_latency: f64,
        /// Factor on instructions of a pass through shared memory over their issue slots: it waits at barriers.
        stall: f64,
        /// Factor on the traffic of a pass in registers: its halo.
        traffic: f64,
        /// The least microseconds of a multiprocessor per line, however short.
        line_time: f64,
        /// Instructions per sample of a strip of a row in registers, in addition to lifting: each lane's one vector
        /// pays for all addresses and tests.
        overhead_instructions: f64,
        /// Likewise for a walk down columns in registers.
        walk_overhead_instructions: f64,
        /// Likewise for a pass through shared memory, and for a lattice.
        shared_overhead_instructions: f64,
        /// Instructions per sample and lattice stage: six operations per pair, and the exchange.
        stage_instructions: f64,
    }

    /// `stream`.
    stream: Stream {
        /// Exponent that combines throughput and a walk's latency.
        power: f64,
        /// Instructions per sample in addition to lifting.
        overhead_instructions: f64,
        /// Registers of a thread at which an instruction takes just its issue slot. With more registers, fewer warps
        /// hide latency.
        registers_at_full_issue: f64,
        /// Cost of re-reading a row or column; synthesis reads rows of four arrays.
        reread_cost: [f64; 2],
        /// Microseconds of a walk in addition to its row pairs.
        latency: f64,
        /// Microseconds per row pair.
        row_pair_latency: f64,
        /// Microseconds per lifting operation in a row pair.
        operation_latency: f64,
        /// Microseconds per column of a 16-byte lane. Lanes of 8 bytes were never faster.
        column_latency: f64,
        /// Factor on a walk's time per warp that shares its multiprocessor.
        occupancy_latency: f64,
        /// Factor on instructions of lanes with 8-byte vectors instead of 16.
        narrow_instructions: f64,
        /// Batches that do not fill walks: exponent of the idle share in their time, in addition to its effect on
        /// strips.
        idle_power: f64,
        /// Slowdown of unaligned rows, which go through shared memory.
        unaligned: [f64; 2],
    }

    /// `warp`. Pairs are for single samples and packed samples, unless stated otherwise.
    warp: Warp {
        /// Exponent that combines throughput and a block's latency. Latency is hidden better than in walks: all loads
        /// of a block are in flight at once, and other warps compute meanwhile.
        power: f64,
        /// Instructions per row of a lane, in addition to lifting.
        overhead_instructions: [f64; 2],
        /// Instructions per lifting operation.
        operation_instructions: [f64; 2],
        /// Factor on instructions over their issue slots.
        stall: f64,
        /// Microseconds of a block per sample of a lane.
        sample_latency: [f64; 2],
        /// Microseconds per store.
        store_latency: [f64; 2],
        /// Factor on a block's time per warp of its multiprocessor.
        occupancy_latency: [f64; 2],
        /// The most halo rows for which the above was fitted.
        fitted_halo_rows: i64,
        /// Factor on blocks with more halo rows, so that `stream` is chosen.
        long_halo: f64,
        /// Analysis that stores less than 8 bytes per lane and band: cost of a partial sector relative to a write.
        partial_sector_cost: f64,
        /// Batches that do not fill blocks: exponent of the idle share in their time.
        idle_power: f64,
        /// Factor on instructions where rows end in partial vectors (analysis, synthesis).
        aligned_instructions: [f64; 2],
        /// Likewise where bands are unaligned.
        image_instructions: [f64; 2],
        /// Likewise where all rows are unaligned.
        unaligned_instructions: [f64; 2],
        /// Factor on a block's time from first load to last store, where bands are unaligned and where all rows are. It
        /// is worse at borders, where samples are loaded one by one.
        unaligned_latency: [f64; 2],
        /// Likewise for packed samples, where bands are unaligned.
        unaligned_pairs_latency: f64,
        /// Columns of a lane beyond which a border block's time grows in proportion, where bands are unaligned, or all
        /// rows: it loads them one by one.
        gather_columns: [f64; 2],
    }

    /// `tile`, whose threads wait at barriers.
    tile: Tile {
        /// Exponent that combines throughput and a tile's latency.
        power: f64,
        /// Instructions in addition to lifting: nearly all of them.
        overhead_instructions: f64,
        /// Factor on instructions over their issue slots.
        stall: f64,
        /// Factor on instructions of analysis, which stores samples one by one.
        scalar_store_instructions: f64,
        /// Factor on a tile's time in that case.
        scalar_store_latency: f64,
        /// Factor on the time of threads with one row pair per warp, which also wait for themselves.
        single_round_stall: f64,
        /// Microseconds per row pair along columns.
        vertical_latency: f64,
        /// Microseconds per column of a lane along a row pair.
        horizontal_latency: f64,
        /// Factor on a tile's time per warp that shares its multiprocessor.
        occupancy_latency: f64,
        /// The most resident warps of a multiprocessor, given a tile's registers per thread.
        resident_warps: f64,
        /// Batches that do not fill tiles: exponent of the idle share in their time.
        idle_power: f64,
        /// Slowdown of unaligned rows.
        unaligned: [f64; 2],
    }

    /// `volume`, which waits at barriers. Measured with the 9/7 in f32, at 512³ and 256³.
    volume: Volume {
        /// Exponent that combines throughput and latency.
        power: f64,
        /// Instructions of a thread per plane pair, in addition to lifting.
        overhead_instructions: [f64; 2],
        /// Factor on instructions over their issue slots.
        stall: f64,
        /// The least instructions of a plane pair, however little is lifted: the 5/3 in i16 and i32 takes as long as
        /// the 9/7.
        step_instructions: f64,
    }

    /// `cascade`.
    cascade: Cascade {
        /// Exponent that combines throughput and latency.
        power: f64,
        /// Microseconds of a step of four rows, per operation.
        operation_latency: [f64; 2],
        /// Microseconds per byte of a lane's columns.
        byte_latency: [f64; 2],
        /// Share of that for an operation of synthesis in floating-point arithmetic.
        real_part: f64,
        /// Fraction of re-reads charged to DRAM.
        reread_cost: f64,
        /// Packed samples: microseconds of a step per byte of a lane's columns. Set a twentieth and a quarter above the
        /// measurements, as are those of the `warp` launches that they compete with.
        pairs_latency: [f64; 2],
        /// The most operations for which that holds.
        pairs_operations: f64,
        /// Likewise for short halos, as measured.
        short_pairs_latency: [f64; 2],
    }

    /// `pyramid`, which adds throughput and latency.
    pyramid: Pyramid {
        /// Exponent that combines them.
        power: f64,
        /// Microseconds of a block in addition to lifting.
        latency: f64,
        /// Microseconds per sample that a thread moves.
        sample_latency: f64,
        /// Microseconds per pass along an axis.
        pass_latency: f64,
        /// Microseconds per operation in a pass.
        operation_latency: f64,
        /// Instructions of a thread per sample that it moves.
        sample_instructions: f64,
        /// Instructions of a pass in addition to lifting.
        pass_instructions: f64,
        /// Instructions per pair of a pass.
        pair_instructions: f64,
        /// Instructions per lifting operation.
        operation_instructions: f64,
        /// Share of threads active in levels after the first.
        active_threads: f64,
    }

    /// Overlap of launches: which begin before the previous ones end, and when (docs/notebook/overlap.md).
    overlap_steps: OverlapSteps {
        /// The most samples of a plan all of whose launches overlap: its levels take little longer than launches.
        small_plan: u64,
        /// The most samples of a launch that overlaps in larger plans.
        small_launch: u64,
        /// The most bytes of a level whose launch may begin with the previous one, which its early loads delay.
        early_bytes: u64,
        /// The largest share of a device that its blocks may fill if others follow.
        early_part: f64,
    }

    /// Blocks that run in clusters (docs/notebook/cache.md).
    cluster_steps: ClusterSteps {
        /// The least waves of blocks for clusters.
        waves: u32,
    }

    /// Length of a walk of `stream` (docs/notebook/levels.md).
    stream_steps: StreamSteps {
        /// Factor on the root of (row pairs of strips per multiprocessor × halo row pairs), which gives a chunk's row
        /// pairs in small images.
        occupying: f64,
    }

    /// The least samples of a launch on unaligned rows with taller blocks of `warp` (docs/notebook/odd-rows.md).
    warp_steps: WarpSteps {
        /// Single samples: 4095 × 4097 takes 5 % less. Below that, only 2047 × 2049 was measured: 3 % less.
        samples: i64,
        /// Packed samples: 8191 × 8193 takes up to 8 % less, 4095 × 4097 up to 8 % more.
        paired_samples: i64,
    }

    /// Times of `cascade` walks, in units of a four-row step of a warp that has its scheduler to itself. Chunk heights
    /// minimise them (docs/notebook/cascade.md). "Many" means that warps no longer begin and end together;
    /// other entries are for few warps. Bytes are those of images.
    cascade_steps: CascadeSteps {
        /// The least waves of warps that count as many.
        many_waves: f64,
        /// Many: time that each warp of a multiprocessor adds to a step of analysis, for lanes of 16 bytes, of 32
        /// bytes, and of 16 bytes packed.
        many_step: [f64; 3],
        /// Likewise for synthesis.
        many_step_inverse: [f64; 3],
        /// Many: time of a halo step, which stores nothing while others store, per step of the halo: longer halos lift
        /// more in each.
        many_halo_step: [f64; 2],
        /// Many: equivalent extra waves of the last ones, in which ever fewer warps run.
        many_last: [f64; 2],
        /// Many: steps, once per walk, for each prefetched step.
        many_fill: [f64; 2],
        /// Many: bytes in flight that, with as many written bytes, the L2 cache holds.
        many_in_flight: [f64; 2],
        /// Likewise for packed samples.
        many_pairs_in_flight: [f64; 2],
        /// Many: the largest factor on a step when more bytes are in flight.
        many_crowded: [f64; 2],
        /// Bytes that may be in flight.
        in_flight: [f64; 2],
        /// The largest factor on a step when more bytes are in flight.
        crowded: [f64; 2],
        /// The most bytes for which analysis is fastest with all warps at once, each with its own scheduler or sharing
        /// with one other, rather than with the bytes in flight kept in the cache.
        small_image: i64,
        /// Factor on a step when two warps share a scheduler: lanes of 16 bytes, and of 32 bytes.
        shared_by_two: [f64; 2],
        /// Time that each warp adds to a step of analysis when warps follow one another, for the same lanes.
        followed: [f64; 2],
        /// Time that each warp adds to a step of synthesis when schedulers are shared.
        shared: [f64; 2],
        /// Time of a halo step, which stores nothing.
        halo_step: f64,
        /// Steps that warps with a common start wait per prefetched step.
        fill: f64,
        /// Packed samples, short halos: the most bytes for which all warps at once are fastest.
        pairs_small_image: i64,
        /// Then: factor on a step of analysis when one to five warps share a scheduler.
        pairs_shared: [f64; 5],
        /// Likewise for synthesis.
        pairs_shared_inverse: [f64; 5],
        /// Weight of the busiest scheduler against the mean.
        pairs_uneven: [f64; 2],
        /// Time of a halo step.
        pairs_halo_step: [f64; 2],
        /// The largest factor on a step when the image exceeds the cache.
        pairs_crowded: f64,
        /// Packed samples, long halos, where instructions limit: factor on a step when one to three warps share a
        /// scheduler.
        busy_shared: [f64; 3],
        /// Time of a step in a wave that others follow.
        busy_wave: [f64; 2],
        /// Factor on a step at borders.
        busy_at_borders: f64,
    }
}

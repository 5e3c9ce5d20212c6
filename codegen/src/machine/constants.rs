//! What the constants of a device's file are.
//!
//! Names end in what a constant is: `latency` in microseconds, `instructions` and `stall` as factors or numbers of what
//! threads issue, `cost` as a part of what reading or writing costs first, `power` as an exponent. Of two, the first is
//! of analysis and the second of synthesis, where nothing else is said.
//!
//! Sections that end in `_steps` settle how launches are shaped and how they follow one another: they were fitted by
//! hand to what was the fastest, and `cargo xtask fit`, which fits predicted times, leaves them as they are.

use super::file::{Section, Value};

/// The tables of a file: a structure each, whose fields are the lines of its section, no more and no less.
macro_rules! tables {
    ($($(#[$about:meta])* $section:ident: $table:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* })*) => {
        $($(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $table { $($(#[$doc])* pub $field: $type,)* })*

        /// All constants of a device, by what they are for.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Constants { $($(#[$about])* pub $section: $table,)* }

        impl Constants {
            /// The sections that a file has besides `device`.
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
    /// Of any launch.
    launch: Launch {
        /// Microseconds from one launch of a graph to the next.
        latency: f64,
        /// How memory and instructions make a throughput: the power of the norm of both.
        throughput_power: f64,
        /// Bytes that memory moves at least.
        sector: f64,
        /// What it costs to read a sector again: the second-level cache has it.
        sector_reread_cost: f64,
        /// Registers of a thread besides its delay line or block: nvcc finds 32 to 56.
        other_registers: i64,
        /// Most registers of a thread; beyond, they spill.
        most_registers: i64,
        /// By how much all takes longer then.
        spill_factor: f64,
        /// Bytes of a low band on its way to the next level that is worth keeping in the second-level cache: less stays
        /// there in any case.
        kept_least: u64,
        /// The share of that cache that it may take: more does not fit.
        kept_share: f64,
        /// Microseconds that two levels of synthesis after others take less, launched one by one, than each alone: what
        /// the source has is loaded before the launch before has ended, which launches of two levels do not do.
        /// Measured of 2048² after three others, 5/3 i16: 11.4 instead of 13.1, where two levels alone gain 0.4 in one
        /// launch.
        early_load_gain: f64,
    }

    /// Passes along one axis.
    pass: Pass {
        /// Microseconds until the first row is there, and the last one gone.
        ramp: f64,
        /// Microseconds a row pair of a walk down columns takes where nothing else limits it.
        row_pair_latency: f64,
        /// Microseconds a window of `vertical` takes to load, lift and store.
        window_latency: f64,
        /// By how much instructions of a pass through shared memory take longer than their issue slots: it waits at
        /// barriers.
        stall: f64,
        /// By how much a pass in registers moves more than it should: its halo.
        traffic: f64,
        /// Microseconds of a multiprocessor that a line takes at least, however short it is.
        line_time: f64,
        /// Instructions a sample of a strip of a row in registers besides lifting: a vector a lane has to pay for all
        /// addresses and tests.
        overhead_instructions: f64,
        /// The same of a walk down columns in registers.
        walk_overhead_instructions: f64,
        /// The same of a pass through shared memory, and of a lattice.
        shared_overhead_instructions: f64,
        /// Instructions a sample of each stage of a lattice: six operations a pair, and what is handed over.
        stage_instructions: f64,
    }

    /// `stream`.
    stream: Stream {
        /// How throughput and the latency of a walk make a time.
        power: f64,
        /// Instructions a sample besides lifting.
        overhead_instructions: f64,
        /// Registers of a thread at which an instruction takes its issue slot and no more: the more there are, the
        /// fewer warps hide latency.
        registers_at_full_issue: f64,
        /// What it costs to read a row or column again; synthesis reads rows of four arrays.
        reread_cost: [f64; 2],
        /// Microseconds of a walk besides its row pairs.
        latency: f64,
        /// Of a row pair.
        row_pair_latency: f64,
        /// Of each operation of lifting in it.
        operation_latency: f64,
        /// Of each column of a lane of 16 bytes: that lanes of 8 are faster anywhere was not seen.
        column_latency: f64,
        /// By how much a walk takes longer for each warp that shares its multiprocessor.
        occupancy_latency: f64,
        /// By how much lanes whose vectors are 8 bytes instead of 16 take more instructions.
        narrow_instructions: f64,
        /// Batches of images that do not fill walks: by which power of what is left idle they take longer, besides what
        /// strips are.
        idle_power: f64,
        /// By how much rows that begin anywhere, which go through shared memory, are slower.
        unaligned: [f64; 2],
    }

    /// `warp`. Of two, the first is of single samples and the second of pairs, where nothing else is said.
    warp: Warp {
        /// How throughput and the latency of a block make a time. It hides better than that of walks: all loads of a
        /// block are in flight at once, and other warps compute meanwhile.
        power: f64,
        /// Instructions of a lane's row besides lifting.
        overhead_instructions: [f64; 2],
        /// What an operation of lifting counts.
        operation_instructions: [f64; 2],
        /// By how much instructions take longer than their issue slots.
        stall: f64,
        /// Microseconds of a block for each of a lane's samples.
        sample_latency: [f64; 2],
        /// Of each store.
        store_latency: [f64; 2],
        /// By how much a block takes longer for each warp of its multiprocessor.
        occupancy_latency: [f64; 2],
        /// Rows of halo up to which the above was fitted.
        fitted_halo_rows: i64,
        /// By how much blocks with more are taken to be slower, so that `stream` goes first.
        long_halo: f64,
        /// Analysis that stores less than 8 bytes a lane and band: what parts of sectors cost of a write.
        partial_sector_cost: f64,
        /// Batches of images that do not fill blocks: by which power of what is left idle they take longer.
        idle_power: f64,
        /// By how much blocks take more instructions where rows end in parts of vectors (analysis, synthesis).
        aligned_instructions: [f64; 2],
        /// The same where bands begin anywhere.
        image_instructions: [f64; 2],
        /// The same where all rows do.
        unaligned_instructions: [f64; 2],
        /// By how much a block takes longer from its first load to its last store where bands begin anywhere, and where
        /// all rows do: more so at borders, where samples go one by one.
        unaligned_latency: [f64; 2],
        /// The same of samples that stand in pairs, where bands begin anywhere.
        unaligned_pairs_latency: f64,
        /// Columns of a lane beyond which a block at a border takes longer in proportion where bands begin anywhere, or
        /// all rows: it loads them one by one.
        gather_columns: [f64; 2],
    }

    /// `tile`, whose threads wait at the barrier, for one another.
    tile: Tile {
        /// How throughput and the latency of a tile make a time.
        power: f64,
        /// Instructions besides lifting: nearly all there is.
        overhead_instructions: f64,
        /// By how much instructions take longer than their issue slots.
        stall: f64,
        /// By how much analysis, which stores samples one by one, takes more of them.
        scalar_store_instructions: f64,
        /// And by how much each tile then takes longer.
        scalar_store_latency: f64,
        /// By how much threads with one pair of rows a warp take longer, as they wait for themselves, too.
        single_round_stall: f64,
        /// Microseconds of a row pair along columns.
        vertical_latency: f64,
        /// Of each column of a lane along a pair of rows.
        horizontal_latency: f64,
        /// By how much a tile takes longer for each warp that shares its multiprocessor.
        occupancy_latency: f64,
        /// Warps of a multiprocessor at most, with the registers that threads of a tile have.
        resident_warps: f64,
        /// Batches of images that do not fill tiles: by which power of what is left idle they take longer.
        idle_power: f64,
        /// By how much rows that begin anywhere are slower.
        unaligned: [f64; 2],
    }

    /// `volume`, which waits at barriers. Measured of the 9/7 in f32, at 512³ and 256³.
    volume: Volume {
        /// How throughput and latency make a time.
        power: f64,
        /// Instructions of a thread for a pair of planes besides lifting.
        overhead_instructions: [f64; 2],
        /// By how much they take longer than their issue slots.
        stall: f64,
        /// However little is lifted, a pair of planes takes as long as so many instructions: of the 5/3 in i16 and i32
        /// as long as of the 9/7.
        step_instructions: f64,
    }

    /// `cascade`.
    cascade: Cascade {
        /// How throughput and latency make a time.
        power: f64,
        /// Microseconds of a step of four rows, for each operation.
        operation_latency: [f64; 2],
        /// For each byte of a lane's columns.
        byte_latency: [f64; 2],
        /// The part of that which an operation of synthesis takes in floating-point arithmetic.
        real_part: f64,
        /// Of what is read again, how much counts.
        reread_cost: f64,
        /// Of samples in pairs: microseconds of a step for each byte of a lane's columns. More than was measured, by a
        /// twentieth and a quarter, as are the launches of blocks of such samples that these are compared with.
        pairs_latency: [f64; 2],
        /// Up to so many operations.
        pairs_operations: f64,
        /// The same where the halo is short, as measured.
        short_pairs_latency: [f64; 2],
    }

    /// `pyramid`, which adds throughput and latency.
    pyramid: Pyramid {
        /// How they make a time.
        power: f64,
        /// Microseconds of a block besides what it lifts.
        latency: f64,
        /// Of each of a thread's samples on the way.
        sample_latency: f64,
        /// Of a pass along an axis.
        pass_latency: f64,
        /// Of each operation in it.
        operation_latency: f64,
        /// Instructions of a thread for a sample on its way.
        sample_instructions: f64,
        /// For a pass besides lifting.
        pass_instructions: f64,
        /// For each of its pairs.
        pair_instructions: f64,
        /// What an operation of lifting counts.
        operation_instructions: f64,
        /// The share of threads that take part in a level after the first.
        active_threads: f64,
    }

    /// Which launches begin before those before them have ended, and when (docs/notebook/overlap.md).
    overlap_steps: OverlapSteps {
        /// Samples of a plan up to which all its launches overlap: its levels take little longer than launches.
        small_plan: u64,
        /// Samples of a launch of larger plans up to which it does.
        small_launch: u64,
        /// Bytes of a level up to which its launch may begin as soon as the one before has begun: what it loads then,
        /// that one waits for.
        early_bytes: u64,
        /// The part of a device that its blocks may fill, where others follow.
        early_part: f64,
    }

    /// Which blocks run in clusters (docs/notebook/cache.md).
    cluster_steps: ClusterSteps {
        /// Waves of blocks from which on they do.
        waves: u32,
    }

    /// How far a walk of `stream` goes (docs/notebook/levels.md).
    stream_steps: StreamSteps {
        /// By what row pairs of strips a multiprocessor, times row pairs of halo, are multiplied after their root is
        /// taken: the row pairs of a chunk, where images are small.
        occupying: f64,
    }

    /// From how many samples of a launch on blocks of `warp` are taller where rows begin anywhere
    /// (docs/notebook/odd-rows.md).
    warp_steps: WarpSteps {
        /// Of single samples: 4095 × 4097 take 5 % less. Below, only 2047 × 2049 has been measured: 3 % less.
        samples: i64,
        /// Of samples in pairs: 8191 × 8193 take up to 8 % less, 4095 × 4097 up to 8 % more.
        paired_samples: i64,
    }

    /// What walks of `cascade` take, in steps of four rows of a warp that has a scheduler to itself; their chunks are
    /// so high that it is the least (docs/notebook/cascade.md). Where nothing else is said, warps that are few begin
    /// and end together. Bytes are of images.
    cascade_steps: CascadeSteps {
        /// Waves of warps from which on they are many.
        many_waves: f64,
        /// Of many: what each warp of a multiprocessor adds to a step of analysis: for lanes of 16 bytes, of 32, and of
        /// 16 in pairs.
        many_step: [f64; 3],
        /// The same of synthesis.
        many_step_inverse: [f64; 3],
        /// Of many: a step of the halo, which stores nothing while others store, for each of its steps: wavelets with a
        /// longer one have more to lift in each.
        many_halo_step: [f64; 2],
        /// How many more waves the last ones are like, in which ever fewer warps run.
        many_last: [f64; 2],
        /// Of many: steps, once, for each that is asked for ahead.
        many_fill: [f64; 2],
        /// Of many: bytes that may be in flight at one time: with as many that are written, what the second-level cache
        /// holds.
        many_in_flight: [f64; 2],
        /// The same of samples in pairs.
        many_pairs_in_flight: [f64; 2],
        /// By how much a step of many takes longer, at most, where it is more.
        many_crowded: [f64; 2],
        /// Bytes that may be in flight.
        in_flight: [f64; 2],
        /// By how much a step takes longer, at most, where it is more.
        crowded: [f64; 2],
        /// Bytes up to which analysis is faster with all warps at once, each with a scheduler to itself or shared with
        /// one other, than with what is in flight kept in the cache.
        small_image: i64,
        /// How much longer a step takes where two share a scheduler: for lanes of 16 bytes, and of 32.
        shared_by_two: [f64; 2],
        /// What each warp adds to a step of analysis where warps follow one another, for such lanes.
        followed: [f64; 2],
        /// What it adds to one of synthesis where schedulers are shared.
        shared: [f64; 2],
        /// A step of the halo, which stores nothing.
        halo_step: f64,
        /// Steps that warps which begin at the same time wait for each that is asked for ahead.
        fill: f64,
        /// Of samples in pairs and short halos: bytes up to which all warps at once are the fastest.
        pairs_small_image: i64,
        /// How much longer a step of analysis then takes where one to five share a scheduler.
        pairs_shared: [f64; 5],
        /// The same of synthesis.
        pairs_shared_inverse: [f64; 5],
        /// How far that is settled by the scheduler that has the most, not by the mean.
        pairs_uneven: [f64; 2],
        /// A step of the halo.
        pairs_halo_step: [f64; 2],
        /// By how much a step takes longer, at most, where the image is more than the cache holds.
        pairs_crowded: f64,
        /// Of samples in pairs and long halos, where instructions limit: how much longer a step takes where one to
        /// three share a scheduler.
        busy_shared: [f64; 3],
        /// What it takes in a wave that others follow.
        busy_wave: [f64; 2],
        /// How much longer it takes at borders.
        busy_at_borders: f64,
    }
}

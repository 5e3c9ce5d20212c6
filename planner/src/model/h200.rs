//! The constants of the model, fitted to what was measured on one H200 (`docs/notebook/levels.md`); the tests hold them
//! against it.
//!
//! Names begin with the schedule that a constant is for. They end in what it is: `LATENCY` in microseconds,
//! `INSTRUCTIONS` and `STALL` as factors or numbers of what threads issue, `COST` as a part of what reading or writing
//! costs first, `POWER` as an exponent.

/// Bytes a multiprocessor's share of the memory moves in a microsecond: 4.24 TB/s over 132.
pub(super) const BANDWIDTH: f64 = 4.24e6 / 132.0;
/// Instructions of single threads that a multiprocessor issues in a microsecond: 4 warps a cycle.
pub(super) const ISSUE: f64 = 4.0 * 32.0 * 1700.0;
/// Microseconds from one launch of a graph to the next.
pub(super) const LAUNCH_LATENCY: f64 = 1.4;
/// Of passes along one axis: microseconds until the first row is there, and the last one gone.
pub(super) const PASS_RAMP: f64 = 3.0;
/// Microseconds a row pair of a walk down columns takes where nothing else limits it.
pub(super) const PASS_ROW_PAIR_LATENCY: f64 = 0.45;
/// Microseconds a window of `vertical` takes to load, lift and store.
pub(super) const PASS_WINDOW_LATENCY: f64 = 1.2;
/// By how much instructions of a pass through shared memory take longer than their issue slots: it waits at barriers,
/// and was measured.
pub(super) const PASS_STALL: f64 = 7.5;
/// By how much a pass in registers moves more than it should: its halo.
pub(super) const PASS_TRAFFIC: f64 = 1.08;
/// Batches of images that do not fill walks, blocks or tiles: by which power of what is left idle they take longer,
/// besides what strips are.
pub(super) const STREAM_IDLE_POWER: f64 = 2.0;
pub(super) const WARP_IDLE_POWER: f64 = 0.8;
pub(super) const TILE_IDLE_POWER: f64 = 1.5;
/// Microseconds of a multiprocessor that a line takes at least, however short it is.
pub(super) const PASS_LINE_TIME: f64 = 0.037;
/// Instructions a sample of a strip of a row in registers besides lifting: a vector a lane has to pay for all addresses
/// and tests.
pub(super) const PASS_OVERHEAD_INSTRUCTIONS: f64 = 42.0;
/// Bytes that memory moves at least.
pub(super) const SECTOR: f64 = 32.0;
/// What it costs to read a sector again, of what it costs to read it first: the second-level cache has it.
pub(super) const SECTOR_REREAD_COST: f64 = 0.25;
/// Registers of a thread besides its delay line or block: nvcc finds 32 to 56.
pub(super) const OTHER_REGISTERS: i64 = 48;
/// Most registers of a thread; beyond, they spill, and all takes so many times as long.
pub(super) const MOST_REGISTERS: i64 = 255;
pub(super) const SPILL_FACTOR: f64 = 4.0;
/// How memory and instructions make a throughput: see [`together`].
pub(super) const THROUGHPUT_POWER: f64 = 3.0;

/// `stream`: how throughput and the latency of a walk make a time.
pub(super) const STREAM_POWER: f64 = 1.7;
/// Instructions a sample besides lifting, and registers of a thread at which an instruction takes its issue slot and no
/// more: the more there are, the fewer warps hide latency.
pub(super) const STREAM_OVERHEAD_INSTRUCTIONS: f64 = 35.0;
pub(super) const STREAM_REGISTERS_AT_FULL_ISSUE: f64 = 304.0;
/// Of what it costs to read a row or column first, what it costs to read it again, in analysis and in synthesis, which
/// reads rows of four arrays.
pub(super) const STREAM_REREAD_COST: [f64; 2] = [0.68, 1.0];
/// Microseconds of a walk: besides its row pairs, of a row pair, of each of its operations of lifting, and of each
/// column of a lane of 16 bytes: that lanes of 8 are faster anywhere was not seen.
pub(super) const STREAM_LATENCY: f64 = 0.5;
pub(super) const STREAM_ROW_PAIR_LATENCY: f64 = 0.165;
pub(super) const STREAM_OPERATION_LATENCY: f64 = 0.008;
pub(super) const STREAM_COLUMN_LATENCY: f64 = 0.025;
/// By how much a walk takes longer for each warp that shares its multiprocessor.
pub(super) const STREAM_OCCUPANCY_LATENCY: f64 = 0.045;
/// By how much `stream` takes more instructions with lanes whose vectors are 8 bytes instead of 16.
pub(super) const STREAM_NARROW_INSTRUCTIONS: f64 = 1.6;

/// `warp`: the same for blocks, whose latency hides better: all loads of a block are in flight at once, and other warps
/// compute meanwhile.
pub(super) const WARP_POWER: f64 = 1.44;
/// Instructions of a lane's row besides lifting, of single samples and of pairs, and what an operation of lifting
/// counts.
pub(super) const WARP_OVERHEAD_INSTRUCTIONS: [f64; 2] = [96.6, 122.0];
pub(super) const WARP_OPERATION_INSTRUCTIONS: [f64; 2] = [1.0, 0.148];
pub(super) const WARP_STALL: f64 = 0.2124;
/// Microseconds of a block, of single samples and of pairs: of each of a lane's samples, and of each store; and by how
/// much it takes longer for each warp of its multiprocessor.
pub(super) const WARP_SAMPLE_LATENCY: [f64; 2] = [0.01, 0.0058];
pub(super) const WARP_STORE_LATENCY: [f64; 2] = [0.0144, 0.0227];
pub(super) const WARP_OCCUPANCY_LATENCY: [f64; 2] = [0.072, 0.109];
/// Rows of halo of blocks up to which the above was fitted. Those with more are taken to be slower than they would be
/// by the above, so that `stream` goes first.
pub(super) const WARP_FITTED_HALO_ROWS: i64 = 12;
pub(super) const WARP_LONG_HALO: f64 = 1.4;
/// Analysis that stores less than 8 bytes a lane and band: what parts of sectors cost of a write.
pub(super) const WARP_PARTIAL_SECTOR_COST: f64 = 0.15;

/// `tile`: the same. Instructions besides lifting are nearly all there is, as its threads wait at the barrier, for one
/// another; with one pair of rows a warp, for themselves, too. In analysis they store samples one by one, which makes
/// each tile slower, too.
pub(super) const TILE_POWER: f64 = 1.6;
pub(super) const TILE_OVERHEAD_INSTRUCTIONS: f64 = 160.0;
pub(super) const TILE_STALL: f64 = 0.15;
pub(super) const TILE_SCALAR_STORE_INSTRUCTIONS: f64 = 1.45;
pub(super) const TILE_SCALAR_STORE_LATENCY: f64 = 1.25;
pub(super) const TILE_SINGLE_ROUND_STALL: f64 = 1.43;
/// Microseconds of a tile: of a row pair along columns, of each column of a lane along a pair of rows; and by how much
/// it takes longer for each warp that shares its multiprocessor.
pub(super) const TILE_VERTICAL_LATENCY: f64 = 0.067;
pub(super) const TILE_HORIZONTAL_LATENCY: f64 = 0.038;
pub(super) const TILE_OCCUPANCY_LATENCY: f64 = 0.024;
/// Warps of a multiprocessor at most, with the registers that threads of a tile have.
pub(super) const TILE_RESIDENT_WARPS: f64 = 48.0;

/// `volume`: instructions of a thread for a pair of planes besides lifting, in analysis and in synthesis, and by how
/// much they take longer than their issue slots: it waits at barriers. Measured of the 9/7 in f32, at 512³ and 256³.
pub(super) const VOLUME_POWER: f64 = 3.0;
pub(super) const VOLUME_OVERHEAD_INSTRUCTIONS: [f64; 2] = [190.0, 190.0];
pub(super) const VOLUME_STALL: f64 = 1.33;
/// However little is lifted, a pair of planes takes as long as so many instructions: of the 5/3 in i16 and i32 as long
/// as of the 9/7.
pub(super) const VOLUME_STEP_INSTRUCTIONS: f64 = 525.0;

/// By how much blocks take more instructions (analysis, synthesis) where rows end in parts of vectors, where bands
/// begin anywhere, and where all rows do.
pub(super) const WARP_ALIGNED_INSTRUCTIONS: [f64; 2] = [1.05, 1.05];
pub(super) const WARP_IMAGE_INSTRUCTIONS: [f64; 2] = [1.45, 1.2];
pub(super) const WARP_UNALIGNED_INSTRUCTIONS: [f64; 2] = [1.6, 1.75];
/// By how much a block takes longer from its first load to its last store where bands begin anywhere, and where all
/// rows do: more so at borders, where samples go one by one.
pub(super) const WARP_UNALIGNED_LATENCY: [f64; 2] = [1.3, 1.5];
/// The same of samples that stand in pairs, where bands begin anywhere.
pub(super) const WARP_UNALIGNED_PAIRS_LATENCY: f64 = 1.6;
/// Columns of a lane beyond which a block at a border takes longer in proportion where bands begin anywhere, or all
/// rows: it loads them one by one.
pub(super) const WARP_GATHER_COLUMNS: [f64; 2] = [6.0, 4.0];
/// By how much walks (analysis, synthesis) and tiles, which take rows that begin anywhere through shared memory, are
/// slower.
pub(super) const STREAM_UNALIGNED: [f64; 2] = [1.55, 1.78];
pub(super) const TILE_UNALIGNED: [f64; 2] = [1.22, 1.05];

/// By `cascade`: microseconds of a step of four rows (analysis, synthesis), for each operation and each byte of a
/// lane's columns; of what is read again, how much counts; and how throughput and latency go together.
pub(super) const CASCADE_OPERATION_LATENCY: [f64; 2] = [0.042, 0.049];
pub(super) const CASCADE_BYTE_LATENCY: [f64; 2] = [0.0125, 0.021];
/// The part of that which an operation of synthesis takes in floating-point arithmetic.
pub(super) const CASCADE_REAL_PART: f64 = 0.66;
pub(super) const CASCADE_REREAD_COST: f64 = 0.2;
/// Of samples in pairs: microseconds of a step (analysis, synthesis) for each byte of a lane's columns, of up to so
/// many operations. More than was measured, by a twentieth and a quarter, as are the launches of blocks of such samples
/// that these are compared with.
pub(super) const CASCADE_PAIRS_LATENCY: [f64; 2] = [0.059, 0.082];
pub(super) const CASCADE_PAIRS_OPERATIONS: f64 = 20.0;
/// The same where the halo is short, as measured.
pub(super) const CASCADE_SHORT_PAIRS_LATENCY: [f64; 2] = [0.0356, 0.0408];
pub(super) const CASCADE_POWER: f64 = 8.0;

/// By `pyramid`, which adds throughput and latency: microseconds of a block besides what it lifts; of each of a
/// thread's samples on the way; of a pass along an axis, and of each operation in it. Then instructions of a thread: of
/// a sample on its way, of a pass besides lifting, which counts for its share, and of each of its pairs; and how many
/// threads take part in a level after the first.
pub(super) const PYRAMID_POWER: f64 = 1.0;
pub(super) const PYRAMID_LATENCY: f64 = -0.25;
pub(super) const PYRAMID_SAMPLE_LATENCY: f64 = 0.08;
pub(super) const PYRAMID_PASS_LATENCY: f64 = 0.12;
pub(super) const PYRAMID_OPERATION_LATENCY: f64 = 0.0014;
pub(super) const PYRAMID_SAMPLE_INSTRUCTIONS: f64 = 40.0;
pub(super) const PYRAMID_PASS_INSTRUCTIONS: f64 = 85.0;
pub(super) const PYRAMID_PAIR_INSTRUCTIONS: f64 = 10.0;
pub(super) const PYRAMID_OPERATION_INSTRUCTIONS: f64 = 0.5;
pub(super) const PYRAMID_ACTIVE_THREADS: f64 = 0.6;

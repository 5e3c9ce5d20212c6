//! Thread block clusters: launches whose blocks run on neighbouring multiprocessors.
//!
//! The L2 cache has two halves, and each multiprocessor is attached to one. Data homed in the other half crosses
//! between them, which limits large launches (docs/notebook/cache.md). Neighbouring blocks of `warp` read common
//! columns and store to shared sectors. On one half, these cross once.
//!
//! A cluster starts when all its blocks have room. This costs more than it gains unless memory limits a launch. So
//! synthesis of some wavelets, unaligned rows, batches and small launches do not use clusters.

use crate::kernels::Made;
use crate::list::Launch;
use lifting_codegen::machine::Machine;

/// Largest cluster size that all devices with clusters support, in blocks.
const MOST: u32 = 8;

/// Minimum number of blocks of a launch on one image for clusters; `None` if clusters were not measured to gain.
pub(crate) fn least(made: &Made, machine: &Machine) -> Option<u32> {
    let wave = machine.multiprocessors.saturating_mul(made.kernel.min_blocks.max(1));
    let gains = made.fit.as_ref().is_some_and(|fit| fit.gains_by_clusters());
    gains.then_some(wave.saturating_mul(machine.constants().cluster_steps.waves))
}

/// Cluster size of a launch in neighbouring blocks; 1 if clusters were not measured to gain.
pub(crate) fn blocks(launch: &Launch, made: &Made, machine: &Machine) -> u32 {
    let [beside, below, images] = launch.grid;
    let is_large = least(made, machine).is_some_and(|least| beside.saturating_mul(below) >= least);
    if launch.overlaps || images != 1 || !is_large {
        return 1;
    }
    (1..=MOST).rev().find(|n| beside.is_multiple_of(*n)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use crate::kernels::Tuning;
    use crate::overlap::Extent;
    use crate::problem::{Problem, contiguous};
    use crate::program::Program;
    use crate::schedule::Schedule;
    use lifting_codegen::machine::Machine;
    use lifting_dsl::geometry::Geometry;
    use lifting_dsl::sample::SampleType;

    /// Cluster size and blocks in a grid row of each launch, for one level of two axes: of analysis and of synthesis.
    fn clusters(name: &str, sample: SampleType, shape: &[usize]) -> [Vec<(u32, u32)>; 2] {
        let mut levels = vec![1; shape.len()];
        levels[..shape.len() - 2].fill(0);
        let order: Vec<usize> = (0..shape.len()).rev().collect();
        let geometry = Geometry::new(shape, &vec![0; shape.len()], &levels, &order).unwrap();
        let problem = Problem::new(crate::tests::scheme(name), geometry);
        let machine = Machine::default();
        let tuning = Tuning::new(Schedule::WARP, machine, "sm_90".into());
        let strides = contiguous(shape);
        let mut program = Program::new(&problem, sample, &strides, &strides, &tuning).unwrap();
        program.arrange(Extent::NONE, &tuning.machine).unwrap();
        [&program.forward, &program.inverse[0]]
            .map(|list| list.launches.iter().map(|launch| (launch.cluster, launch.grid[0])).collect())
    }

    /// Only analysis of large images with rows of whole vectors and little computation uses clusters; a grid is a
    /// multiple of its clusters.
    #[test]
    fn memory_bound_launches_run_in_clusters() {
        let (f32, i16) = (SampleType::F32, SampleType::I16);
        for (name, sample, shape, cluster) in
            [("cdf97", f32, [8192, 8192], 3), ("cdf97", f32, [6000, 10000], 7), ("legall53", i16, [8192, 8192], 7)]
        {
            let [forward, inverse] = clusters(name, sample, &shape);
            let ([(blocks, beside)], [(1, _)]) = (&forward[..], &inverse[..]) else {
                panic!("{name}: {forward:?}, {inverse:?}")
            };
            assert_eq!((*blocks, beside % blocks), (cluster, 0), "{name} {shape:?}: {beside}");
        }
        let alone = |name, sample, shape: &[usize]| {
            let found = clusters(name, sample, shape);
            assert!(found.iter().flatten().all(|(blocks, _)| *blocks == 1), "{name} {shape:?}: {found:?}");
        };
        // More computation: a long halo, arithmetic in another type than storage, asymmetric steps.
        alone("dd137", i16, &[8192, 8192]);
        alone("cdf97", SampleType::F16, &[8192, 8192]);
        alone("cdf3_1", f32, &[8192, 8192]);
        alone("cdf97", f32, &[8191, 8193]);
        alone("cdf97", f32, &[2048, 2048]);
        alone("legall53", i16, &[16, 4096, 4096]);
    }
}

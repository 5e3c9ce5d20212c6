//! IR types of samples, and of their arithmetic.

use lifting_codegen::ir::Scalar;
use lifting_dsl::sample::SampleType;

/// IR type of a sample type.
pub fn scalar_of(sample: SampleType) -> Scalar {
    match sample {
        SampleType::I16 => Scalar::I16,
        SampleType::I32 => Scalar::I32,
        SampleType::I64 => Scalar::I64,
        SampleType::F32 => Scalar::F32,
        SampleType::F64 => Scalar::F64,
        SampleType::F16 => Scalar::F16,
        SampleType::Bf16 => Scalar::Bf16,
    }
}

/// Sample type of an IR type; `None` if it is never a sample.
pub fn sample_of(scalar: Scalar) -> Option<SampleType> {
    let all = [SampleType::I16, SampleType::I32, SampleType::I64];
    let reals = [SampleType::F16, SampleType::Bf16, SampleType::F32, SampleType::F64];
    all.into_iter().chain(reals).find(|&sample| scalar_of(sample) == scalar)
}

/// Type in which a level is computed.
pub(crate) fn work_of(sample: Scalar) -> Scalar {
    match sample {
        Scalar::F16 | Scalar::Bf16 => Scalar::F32,
        s => s,
    }
}

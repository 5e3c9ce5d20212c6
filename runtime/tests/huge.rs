//! Shapes beyond memory: plans are made or refused with the reason; nothing is allocated, wraps or panics.

use lifting::{Boundary, Device, Pad, Plan, PlanError, Schedule, catalogue};

/// Lengths near the limits of 16, 31, 32, 63 and 64 bits.
const LENGTHS: [usize; 10] = [
    3,
    46_341,
    1 << 16,
    (1 << 31) - (1 << 16) - 1,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) + 1,
    (1 << 40) - 3,
    1 << 62,
    usize::MAX,
];

fn answers(shape: &[usize], levels: u32, device: &Device) {
    let wavelet = catalogue::find("legall53").unwrap();
    for (boundary, pad) in [(Boundary::WholeSymmetric, None), (Boundary::Periodic, Some(Pad::Edge))] {
        let mut builder = Plan::builder(&wavelet).shape(shape).levels(levels).boundary(boundary).sample::<i16>();
        if let Some(pad) = pad {
            builder = builder.pad(pad);
        }
        let samples = shape.iter().try_fold(1usize, |product, &n| product.checked_mul(n));
        match builder.build(device) {
            Ok(plan) => {
                assert_eq!(Some(plan.len()), samples);
                // All reported sizes can be addressed.
                let bytes = plan.coefficient_len().checked_mul(2).unwrap();
                assert!(bytes <= isize::MAX as usize && plan.workspace_bytes() <= isize::MAX as usize);
                for band in plan.subbands() {
                    assert!(band.is_empty() || band.start + band.len() <= plan.coefficient_len());
                }
                let _ = plan.recipe().to_string();
            }
            Err(e) => assert!(!e.to_string().is_empty()),
        }
    }
}

#[test]
fn every_length_is_planned_or_refused() {
    for device in [Device::cpu(), Device::Interpreter] {
        for &a in &LENGTHS {
            for levels in [0, 1, 5, 32] {
                answers(&[a], levels, &device);
            }
            for &b in &LENGTHS {
                answers(&[a, b], 2, &device);
                if a <= b {
                    answers(&[b, 7, a], 1, &device);
                }
            }
        }
    }
}

#[test]
fn excessive_sizes_are_reported() {
    let wavelet = catalogue::find("legall53").unwrap();
    let build = |shape: &[usize], device: &Device| {
        Plan::builder(&wavelet).shape(shape).sample::<i64>().build(device).map(|plan| plan.len())
    };
    for device in [Device::cpu(), Device::Interpreter] {
        assert_eq!(build(&[46_341, 46_342], &device).unwrap(), 46_341 * 46_342);
        for shape in [&[1 << 32, 1 << 32][..], &[usize::MAX, 2], &[1 << 61, 2]] {
            let error = build(shape, &device).unwrap_err();
            assert!(error.to_string().contains(&shape[0].to_string()), "{error}");
        }
    }
    // A kernel's indices along an axis have 32 bits; the CPU's do not.
    let long = 1 << 31;
    assert!(matches!(build(&[long], &Device::Interpreter), Err(PlanError::AxisTooLong { axis: 0, .. })));
    assert!(build(&[long], &Device::cpu()).is_ok());
    // Strides that reach far beyond the samples.
    let far = |strides: &[isize]| {
        let plan = Plan::builder(&wavelet).shape(&[3, 3]).strides(strides).sample::<i16>();
        plan.build(&Device::cpu()).map(|plan| plan.len())
    };
    assert_eq!(far(&[1 << 40, 1]).unwrap(), (2 << 40) + 3);
    assert!(far(&[isize::MAX, 1]).is_err());
    assert!(far(&[isize::MIN, 1]).is_err());
}

#[test]
fn every_schedule_takes_or_refuses_large_images() {
    let wavelet = catalogue::find("legall53").unwrap();
    // Filtering schedules do not support integers.
    for schedule in Schedule::all().filter(|schedule| schedule.has_lifting_bits()) {
        for shape in
            [&[46_341, 46_342][..], &[65_535, 65_537], &[3, 2_000_000_000], &[2_000_000_000, 3], &[70_000, 900, 800]]
        {
            let plan = Plan::builder(&wavelet).shape(shape).levels(2).schedule(schedule).sample::<i16>();
            match plan.build(&Device::Interpreter) {
                Ok(plan) => assert_eq!(plan.len(), shape.iter().product::<usize>()),
                Err(PlanError::Refused { schedule: refused, .. }) => assert_eq!(refused, schedule),
                Err(e) => panic!("{schedule} {shape:?}: {e}"),
            }
        }
    }
}

//! Execution with a workspace does not allocate.

use lifting::{Device, Plan, catalogue, f16};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local!(static COUNT: Cell<usize> = const { Cell::new(0) });

struct Counting;

// SAFETY: forwards all calls to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        // SAFETY: the caller's contract, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract, passed on.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Number of allocations of this thread in `f`.
fn allocations(f: impl FnOnce()) -> usize {
    let before = COUNT.with(Cell::get);
    f();
    COUNT.with(Cell::get) - before
}

#[test]
fn nothing_is_allocated_with_a_workspace() {
    assert!(allocations(|| drop(vec![0u8; 100])) > 0, "the counter works");
    let cdf97 = catalogue::find("cdf97").unwrap();
    let builder = Plan::builder(&cdf97).shape(&[101, 67, 3]).axes(&[0, 1]).levels(4);
    let cpu = Device::cpu_with_threads(1);

    let plan = builder.clone().sample::<f32>().build(&cpu).unwrap();
    let (mut a, mut b, mut ws) = (vec![1.0; plan.len()], vec![0.0; plan.len()], plan.workspace());
    let mut low = vec![0.0; plan.level_shape(2).unwrap().iter().product()];
    let count = allocations(|| {
        plan.forward_with(&a, &mut b, &mut ws).unwrap();
        plan.inverse_with(&b, &mut a, &mut ws).unwrap();
        plan.inverse_to_with(2, &b, &mut low, &mut ws).unwrap();
        plan.forward_in_place_with(&mut a, &mut ws).unwrap();
        plan.inverse_in_place_with(&mut a, &mut ws).unwrap();
    });
    assert_eq!(count, 0);

    // A storage type and padding use the parts of a workspace that f32 does not need.
    let plan = builder.pad(lifting::Pad::Edge).sample::<f16>().build(&cpu).unwrap();
    let (mut a, mut b) = (vec![f16::ONE; plan.len()], vec![f16::ZERO; plan.coefficient_len()]);
    let mut ws = plan.workspace();
    let count = allocations(|| {
        plan.forward_with(&a, &mut b, &mut ws).unwrap();
        plan.inverse_with(&b, &mut a, &mut ws).unwrap();
    });
    assert_eq!(count, 0);
}

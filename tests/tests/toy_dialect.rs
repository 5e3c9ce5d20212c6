//! A toy dialect in one file: C in which POSIX threads are a block's threads. It runs every construct of the IR.
//!
//! It uses the conventions of device languages: pointers have address spaces, positions are functions, types have
//! special names, barriers and shuffles are calls. A few lines of C emulate the machine.

use lifting_codegen::back::{CLike, Dialect, Memory};
use lifting_codegen::ir::conformance::Case;
use lifting_codegen::ir::valid::KernelInfo;
use lifting_codegen::ir::{Builtin, Feature, Kernel, Lane, Scalar};
use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::Transform;
use lifting_planner::{Arg, Array, List, Machine, Problem, Program, Region, Schedule, Tuning, contiguous};
use lifting_tests::compilers::Compiler;
use lifting_tests::conformance::{Suite, grid};
use lifting_tests::random::Random;
use lifting_tests::samples::TestSample;

struct Toy;

impl CLike for Toy {
    fn name(&self) -> &'static str {
        "C with threads"
    }

    fn word(&self) -> &'static str {
        "toy"
    }

    fn extension(&self) -> &'static str {
        "toy.c"
    }

    /// Copies are immediate, and launches sequential, so these features are trivial.
    fn has(&self, _: Feature) -> bool {
        true
    }

    fn reserved(&self) -> &'static [&'static str] {
        &[
            "ballot",
            "block_barrier",
            "block_id",
            "block_ids",
            "block_sizes",
            "grid_size",
            "grid_sizes",
            "half_bits",
            "i16",
            "i32",
            "i64",
            "kernel",
            "lane_id",
            "launch",
            "long_real",
            "number",
            "offers",
            "real",
            "thread",
            "thread_id",
            "thread_ids",
            "u32",
            "u64",
            "u8",
            "warp_barrier",
            "warps",
            "whole",
        ]
    }

    fn prelude(&self, _: &[(&Kernel, &KernelInfo)]) -> String {
        MACHINE.into()
    }

    fn type_name(&self, s: Scalar) -> &'static str {
        match s {
            Scalar::F16 | Scalar::Bf16 => "half_bits",
            Scalar::F32 => "real",
            Scalar::F64 => "long_real",
            s => s.name(),
        }
    }

    fn kernel_head(&self, _: &Kernel, name: &str) -> String {
        format!("KERNEL {name}(")
    }

    fn memory(&self, memory: Memory) -> &'static str {
        match memory {
            Memory::Global => "GLOBAL ",
            Memory::Shared => "LOCAL ",
        }
    }

    fn shared_array(&self, element: Scalar, name: &str, len: &str) -> Option<String> {
        Some(format!("SHARED {} {name}[{len}];", self.type_name(element)))
    }

    fn warns_of_unused(&self) -> bool {
        true
    }

    fn builtin(&self, b: Builtin, _: [u32; 3]) -> &'static str {
        match b {
            Builtin::ThreadX => "thread_id(0)",
            Builtin::ThreadY => "thread_id(1)",
            Builtin::ThreadZ => "thread_id(2)",
            Builtin::BlockX => "block_id(0)",
            Builtin::BlockY => "block_id(1)",
            Builtin::BlockZ => "block_id(2)",
            Builtin::GridX => "grid_size(0)",
            Builtin::GridY => "grid_size(1)",
            Builtin::GridZ => "grid_size(2)",
            Builtin::Lane => "lane_id()",
        }
    }

    fn barrier(&self) -> Option<&'static str> {
        Some("block_barrier();")
    }

    fn sync_warp(&self) -> Option<&'static str> {
        Some("warp_barrier();")
    }

    fn shuffle(&self, s: Scalar, value: &str, lane: &Lane, at: &str) -> Option<String> {
        let from = match lane {
            Lane::Up(_) => format!("lane_id() - {at}"),
            Lane::Down(_) => format!("lane_id() + {at}"),
            Lane::Xor(_) => format!("lane_id() ^ {at}"),
            Lane::Index(_) => format!("({at}) & 31"),
        };
        Some(format!("from_lane_{}({value}, {from})", s.name()))
    }

    fn ballot(&self, cond: &str) -> Option<String> {
        Some(format!("ballot({cond})"))
    }
}

/// Blocks run one after another, each in threads made for the launch.
const MACHINE: &str = r#"
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#pragma GCC optimize("fp-contract=off")

#define UNUSED __attribute__((unused))
#define KERNEL UNUSED static void
#define GLOBAL
#define LOCAL
#define SHARED static
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef uint16_t half_bits;
typedef float real;
typedef double long_real;

static __thread int thread_ids[3], block_ids[3], number;
static int grid_sizes[3], block_sizes[3];
static pthread_barrier_t whole, warps[32];
static u64 offers[1024];
static void (*kernel)(void);

static inline int thread_id(int axis) { return thread_ids[axis]; }
static inline int block_id(int axis) { return block_ids[axis]; }
static inline int grid_size(int axis) { return grid_sizes[axis]; }
static inline int lane_id(void) { return number % 32; }
static inline void block_barrier(void) { pthread_barrier_wait(&whole); }
static inline void warp_barrier(void) { pthread_barrier_wait(&warps[number / 32]); }

#define SHUFFLE(T, NAME)                                          \
    static inline T from_lane_##NAME(T value, int lane)             \
    {                                                             \
        memcpy(&offers[number], &value, sizeof value);            \
        warp_barrier();                                           \
        if (lane >= 0 && lane < 32)                               \
            memcpy(&value, &offers[number / 32 * 32 + lane], sizeof value); \
        warp_barrier();                                           \
        return value;                                             \
    }
SHUFFLE(i16, i16)
SHUFFLE(i32, i32)
SHUFFLE(i64, i64)
SHUFFLE(u32, u32)
SHUFFLE(u64, u64)
SHUFFLE(real, f32)
SHUFFLE(long_real, f64)

static inline u32 ballot(bool mine)
{
    const int first = number / 32 * 32, threads = block_sizes[0] * block_sizes[1] * block_sizes[2];
    u32 bits = 0;
    offers[number] = mine;
    warp_barrier();
    for (int lane = 0; lane < 32 && first + lane < threads; ++lane) bits |= (u32)offers[first + lane] << lane;
    warp_barrier();
    return bits;
}

static void *thread(void *which)
{
    number = (int)(intptr_t)which;
    thread_ids[0] = number % block_sizes[0];
    thread_ids[1] = number / block_sizes[0] % block_sizes[1];
    thread_ids[2] = number / (block_sizes[0] * block_sizes[1]);
    for (block_ids[2] = 0; block_ids[2] < grid_sizes[2]; ++block_ids[2])
        for (block_ids[1] = 0; block_ids[1] < grid_sizes[1]; ++block_ids[1])
            for (block_ids[0] = 0; block_ids[0] < grid_sizes[0]; ++block_ids[0]) {
                kernel();
                block_barrier();
            }
    return NULL;
}

static void launch(void (*called)(void), int gx, int gy, int gz, int bx, int by, int bz)
{
    static pthread_t threads[1024];
    const int count = bx * by * bz;
    kernel = called;
    grid_sizes[0] = gx, grid_sizes[1] = gy, grid_sizes[2] = gz;
    block_sizes[0] = bx, block_sizes[1] = by, block_sizes[2] = bz;
    pthread_barrier_init(&whole, NULL, (unsigned)count);
    for (int i = 0; 32 * i < count; ++i) {
        const int lanes = count - 32 * i < 32 ? count - 32 * i : 32;
        pthread_barrier_init(&warps[i], NULL, (unsigned)lanes);
    }
    for (int i = 0; i < count; ++i)
        if (pthread_create(&threads[i], NULL, thread, (void *)(intptr_t)i) != 0) abort();
    for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
}
"#;

fn numbers(values: impl IntoIterator<Item = u64>) -> String {
    values.into_iter().map(|v| format!(", {v}")).collect()
}

fn gcc() -> Compiler {
    Compiler::gcc(&["-O1", "-pthread"])
}

#[test]
fn the_suite() {
    let suite = Suite::of(&Toy);
    assert_eq!(suite.cases.len(), lifting_codegen::ir::conformance::cases().len());
    let launch = |case: &Case, function: &str| {
        let block = case.kernel.launch.block.map(u64::from);
        format!("launch({function}{}{});", numbers(grid(case)), numbers(block))
    };
    let program = suite.c_program(&Toy, "static", |_, name, args| format!("{name}({args});"), launch);
    suite.check(&gcc().build(&[("main.c", &program)]).run(&[]));
}

/// A plan's launches as a program that transforms its standard input.
fn program_of(program: &Program, list: &List, scalar: Scalar, len: usize) -> String {
    let kernels: Vec<_> = program.kernels.iter().map(|made| (&made.kernel, &made.info)).collect();
    let (text, names) = Toy.write_with(&kernels, &mut Dialect::namer(&Toy)).expect("the toy has everything");
    let mut out = format!("{}{text}\n#include <stdio.h>\n", Dialect::prelude(&Toy, &kernels));
    let array = |array| match array {
        Array::Source => "source".to_owned(),
        Array::Target => "target".to_owned(),
        Array::Scratch(region) => format!("scratch{}", Region::index(region)),
    };
    let t = Toy.type_name(scalar);
    out += &format!("static {t} source[{len}], target[{len}];\n");
    for (i, region) in program.regions.0.iter().enumerate() {
        if let Some((scalar, len)) = region {
            out += &format!("UNUSED static {} scratch{i}[{len}];\n", Toy.type_name(*scalar));
        }
    }
    let mut main = String::from("    if (fread(source, sizeof source, 1, stdin) != 1) return 1;\n");
    for (i, launch) in list.launches.iter().enumerate() {
        let made = &program.kernels[launch.kernel];
        let mut args: Vec<String> = (launch.args.iter())
            .map(|arg| match *arg {
                Arg::Int(v) => v.to_string(),
                Arg::Pointer(owner, offset) => format!("{} + {offset}", array(owner)),
            })
            .collect();
        if let (Some(placed), Some(fit)) = (&launch.placed, &made.fit) {
            let values = placed.arguments(&**fit, |_| 0).expect("arrays begin where vectors do");
            args[placed.at..].iter_mut().zip(values).for_each(|(arg, v)| *arg = v.to_string());
        }
        out += &format!("static void launch{i}(void)\n{{\n    {}({});\n}}\n", names[launch.kernel], args.join(", "));
        let block = made.kernel.launch.block.map(u64::from);
        main += &format!("    launch(launch{i}{}{});\n", numbers(launch.grid.map(u64::from)), numbers(block));
    }
    main += "    fwrite(target, sizeof target, 1, stdout);\n";
    out + &format!("int main(void)\n{{\n{main}    return 0;\n}}\n")
}

fn transforms<T: TestSample>(wavelet: &str, schedule: Schedule, shape: [usize; 2], scalar: Scalar) {
    let scheme = lifting_tests::wavelet(wavelet);
    let geometry = Geometry::new(&shape, &[0, 0], &[2, 2], &[1, 0]).expect("it has levels");
    let problem = Problem::new(scheme.clone(), geometry.clone());
    let strides = contiguous(&shape);
    let tuning = Tuning::new(schedule, Machine::default(), "toy".into());
    let program = Program::new(&problem, T::KIND, &strides, &strides, &tuning).expect("it can be planned");
    let len = shape.iter().product();
    let mut random = Random::new(27);
    let signal: Vec<T> = (0..len).map(|_| T::random(&mut random, false)).collect();
    let mut bands = signal.clone();
    Transform::new(scheme, geometry).forward(&mut bands).expect("it is legal");
    for (list, from, to) in [(&program.forward, &signal, &bands), (&program.inverse[0], &bands, &signal)] {
        let text = program_of(&program, list, scalar, len);
        let output = gcc().build(&[("main.c", &text)]).run(&T::bytes(from));
        assert!(T::same(&T::from_bytes(&output), to), "{wavelet}, {}", schedule.name());
    }
}

/// Whole plans against the oracle, by schedules with shuffles, copies, barriers and shared memory.
#[test]
fn plans() {
    transforms::<i16>("legall53", Schedule::WARP, [24, 64], Scalar::I16);
    transforms::<i32>("dd137", Schedule::STREAM, [40, 64], Scalar::I32);
    transforms::<i32>("legall53", Schedule::TILE, [21, 35], Scalar::I32);
}

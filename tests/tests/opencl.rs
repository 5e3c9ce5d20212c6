//! OpenCL on all devices: the IR's suite, kernel by kernel, and plans compared with the CPU's. Without a device the
//! tests print a notice and pass; `LIFTING_REQUIRE_OPENCL=1` makes that a failure.

use lifting::opencl::OpenClDevice;
use lifting::{Boundary, Device, Domain, Format, Layout, Plan, Sample, Schedule, bf16, catalogue, f16};
use lifting_codegen::back::OpenCl;
use lifting_codegen::emit::{self, Request};
use lifting_codegen::ir::interp::Arg;
use lifting_codegen::ir::{ParamKind, Scalar};
use lifting_tests::compilers::Compiler;
use lifting_tests::conformance::{Suite, grid};
use lifting_tests::noise;
use lifting_tests::{bytes, equals_oracle};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device as ClDevice, get_all_devices};
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;
use std::collections::BTreeSet;

/// All devices; may be none.
fn devices(test: &str) -> impl Iterator<Item = Device> {
    let count = match Device::opencl(0) {
        Ok(_) => OpenClDevice::count().unwrap(),
        Err(why) if std::env::var("LIFTING_REQUIRE_OPENCL").is_ok_and(|v| v == "1") => panic!("{test}: {why}"),
        Err(why) => {
            println!("{test}: skipped: {why}");
            0
        }
    };
    (0..count).map(|ordinal| Device::opencl(ordinal).unwrap())
}

fn opened(device: &Device) -> &OpenClDevice {
    let Device::OpenCl(opened) = device else { unreachable!("it is an OpenCL device") };
    opened
}

#[test]
fn the_suite_of_the_ir() {
    for device in devices("the suite of the IR") {
        let device = opened(&device);
        suite_on(device, OpenCl::PORTABLE);
        if let Some(lanes) = device.sub_group() {
            suite_on(device, OpenCl::with_sub_groups(lanes));
        }
    }
}

fn suite_on(device: &OpenClDevice, dialect: OpenCl) {
    let suite = Suite::of(&dialect);
    assert!(suite.cases.len() > 100, "only {} cases do without warps", suite.cases.len());
    let id = get_all_devices(CL_DEVICE_TYPE_ALL).unwrap()[device.ordinal()];
    let context = Context::from_device(&ClDevice::new(id)).unwrap();
    let standard = dialect.standard(suite.cases.iter().map(|case| &case.kernel));
    let options = format!("{standard} -cl-fp32-correctly-rounded-divide-sqrt -cl-opt-disable -Werror");
    let program =
        Program::create_and_build_from_source(&context, &suite.text, &options).unwrap_or_else(|e| panic!("{e}"));
    // SAFETY: the arguments match the kernels, and memory is as large as they say.
    unsafe {
        let queue = CommandQueue::create(&context, id, 0).unwrap();
        let mut output = Vec::new();
        for (case, name) in suite.cases.iter().zip(&suite.names) {
            let kernel = Kernel::create(&program, name).unwrap();
            let (mut index, mut buffers) = (0, Vec::new());
            for (param, arg) in case.kernel.params.iter().zip(&case.args) {
                match (arg, param.kind) {
                    (Arg::Buffer(values), _) => {
                        let values = bytes::of_buffer(values);
                        let len = values.len().max(1);
                        let mut buffer =
                            Buffer::<u8>::create(&context, CL_MEM_READ_WRITE, len, std::ptr::null_mut()).unwrap();
                        if !values.is_empty() {
                            queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, &values, &[]).unwrap();
                        }
                        kernel.set_arg(index, &buffer.get()).unwrap();
                        kernel.set_arg(index + 1, &0_i64).unwrap();
                        index += 2;
                        buffers.push((buffer, values.len()));
                    }
                    (Arg::Scalar(v), ParamKind::Scalar(Scalar::I64 | Scalar::U64)) => {
                        kernel.set_arg(index, v).unwrap();
                        index += 1;
                    }
                    (Arg::Scalar(v), ParamKind::Scalar(Scalar::I16)) => {
                        kernel.set_arg(index, &(*v as i16)).unwrap();
                        index += 1;
                    }
                    (Arg::Scalar(v), _) => {
                        kernel.set_arg(index, &(*v as i32)).unwrap();
                        index += 1;
                    }
                    (Arg::F32(v), _) => {
                        kernel.set_arg(index, v).unwrap();
                        index += 1;
                    }
                    (Arg::F64(v), _) => {
                        kernel.set_arg(index, v).unwrap();
                        index += 1;
                    }
                }
            }
            let (grid, block) = (grid(case), case.kernel.launch.block);
            let local = block.map(|n| n as usize);
            let global = [0, 1, 2].map(|axis| grid[axis] as usize * local[axis]);
            if !global.contains(&0) {
                let (global, local) = (global.as_ptr(), local.as_ptr());
                queue.enqueue_nd_range_kernel(kernel.get(), 3, std::ptr::null(), global, local, &[]).unwrap();
            }
            for (buffer, len) in buffers {
                let mut values = vec![0_u8; len];
                if len > 0 {
                    queue.enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut values, &[]).unwrap();
                }
                output.extend(values);
            }
        }
        suite.check(&output);
    }
}

/// Forward, inverse, and inverse to a level, out of place and in place: the device's results equal the CPU's.
fn agree<T: Sample>(
    device: &Device,
    name: &str,
    shape: &[usize],
    levels: u32,
    boundary: Boundary,
    sample: impl Fn(i64) -> T,
) {
    let scheme = catalogue::find(name).unwrap();
    let layout = if shape.len() == 1 { Layout::Interleaved } else { Layout::Mallat };
    let periodic = boundary == Boundary::Periodic;
    let multiple = |n: &usize| if periodic { n.next_multiple_of(1 << levels) } else { *n };
    let shape: Vec<usize> = shape.iter().map(multiple).collect();
    let plan = |device: &Device| {
        let builder = Plan::builder(&scheme).shape(&shape).levels(levels).boundary(boundary).layout(layout);
        builder.sample::<T>().build(device).unwrap_or_else(|e| panic!("{name}, {boundary:?}, {shape:?}: {e}"))
    };
    let (ours, cpu) = (plan(device), plan(&Device::cpu_with_threads(1)));
    let what = format!("{name}, {boundary:?}, {shape:?}, {}", T::KIND);
    let data: Vec<T> = noise(shape.iter().product(), 1 << 20).into_iter().map(sample).collect();
    let same = |a: &[T], b: &[T], how: &str| {
        let bits = |x: &T| format!("{x:?}");
        if let Some(i) = (0..a.len()).find(|&i| bits(&a[i]) != bits(&b[i])) {
            panic!("{what}, {how}: sample {i} is {:?} on the device and {:?} on the CPU", a[i], b[i]);
        }
    };
    let mut bands = [data.clone(), data.clone()];
    ours.forward(&data, &mut bands[0]).unwrap_or_else(|e| panic!("{what}: {e}"));
    cpu.forward(&data, &mut bands[1]).unwrap();
    same(&bands[0], &bands[1], "forward");
    let mut back = [data.clone(), data.clone()];
    ours.inverse(&bands[0], &mut back[0]).unwrap();
    cpu.inverse(&bands[0], &mut back[1]).unwrap();
    same(&back[0], &back[1], "inverse");
    ours.inverse_in_place(&mut bands[0]).unwrap();
    same(&bands[0], &back[1], "inverse in place");
    ours.forward_in_place(&mut bands[0]).unwrap();
    cpu.forward_in_place(&mut back[1]).unwrap();
    same(&bands[0], &back[1], "forward in place");
}

const BOUNDARIES: [Boundary; 4] = [Boundary::WholeSymmetric, Boundary::Periodic, Boundary::Zero, Boundary::Edge];

fn every_border(device: &Device, name: &str, shape: &[usize], levels: u32) {
    for boundary in BOUNDARIES {
        if catalogue::find(name).unwrap().domain() == Domain::Integer {
            agree(device, name, shape, levels, boundary, |v| v as i16);
        } else {
            agree(device, name, shape, levels, boundary, |v| v as f32 / 8.0);
        }
    }
}

#[test]
fn plans_equal_the_cpus() {
    for device in devices("plans") {
        equal_the_cpus(device);
    }
}

fn equal_the_cpus(device: Device) {
    for name in ["dd137", "cdf97", "db4"] {
        every_border(&device, name, &[13, 37], 2);
    }
    for shape in [&[1][..], &[2], &[3], &[257], &[1, 5], &[5, 1], &[3, 5, 7], &[2, 33, 65]] {
        agree(&device, "cdf97", shape, 1, Boundary::WholeSymmetric, |v| v as f32 / 8.0);
        agree(&device, "legall53", shape, 1, Boundary::WholeSymmetric, |v| v as i16);
    }
    let (shape, border) = (&[31, 70], Boundary::WholeSymmetric);
    agree(&device, "dd137", shape, 3, border, |v| (v * 4099) as i32);
    agree(&device, "legall53", shape, 3, border, |v| v << 42);
    agree(&device, "cdf97", shape, 3, border, |v| f16::from_f64(v as f64 / 512.0));
    agree(&device, "cdf97", shape, 3, border, |v| bf16::from_f64(v as f64 / 512.0));
    agree(&device, "cdf97", shape, 3, border, |v| v as f64 * 1e-310);
}

/// If sub-groups are warps, schedules with shuffles equal the CPU on a picture, a volume and a line, and refuse shapes
/// that they do not support. Compilers for such devices are slow, so this uses the 5/3, the shortest.
#[test]
fn schedules_of_warps_equal_the_cpus() {
    let mut without = true;
    for device in devices("schedules of warps").filter(|device| opened(device).sub_group().is_some()) {
        let wavelet = catalogue::find("legall53").unwrap();
        let mut taken = BTreeSet::new();
        let schedules = Schedule::all().chain(papers::schedules());
        for (schedule, shape) in schedules.flat_map(|s| [&[67, 130][..], &[9, 34, 70], &[4099]].map(|n| (s, n))) {
            let builder = Plan::builder(&wavelet).shape(shape).levels(1).boundary(Boundary::Edge).sample::<i32>();
            let Ok(ours) = builder.clone().schedule(schedule).build(&device) else { continue };
            let plans = [ours, builder.build(&Device::cpu_with_threads(1)).unwrap()];
            let data: Vec<i32> = noise(shape.iter().product(), 1 << 30).into_iter().map(|v| v as i32).collect();
            let [ours, expected] = plans.map(|plan| {
                let (mut bands, mut back) = (vec![0; plan.coefficient_len()], vec![0; plan.len()]);
                plan.forward(&data[..], &mut bands[..]).unwrap();
                plan.inverse(&bands[..], &mut back[..]).unwrap();
                (bands, back)
            });
            assert!(ours == expected, "{}, {shape:?}, {}", schedule.name(), opened(&device).name());
            taken.insert(schedule.name());
        }
        let expected = ["warp", "stream", "tile", "volume"];
        assert!(expected.iter().all(|name| taken.contains(name)), "only {taken:?}");
        without = false;
    }
    if without {
        println!("schedules of warps: skipped: no device has sub-groups with shuffles");
    }
}

/// Results on device buffers equal those of host data; unsuitable buffers are errors.
#[test]
fn plans_take_the_devices_memory() {
    for device in devices("the device's memory") {
        takes_its_memory(device);
    }
}

fn takes_its_memory(device: Device) {
    let opened = opened(&device);
    let wavelet = catalogue::find("cdf97").unwrap();
    let plan = Plan::builder(&wavelet).shape(&[31, 70]).levels(3).sample::<f32>().build(&device).unwrap();
    let data: Vec<f32> = noise(plan.len(), 1 << 20).into_iter().map(|v| v as f32 / 8.0).collect();
    let mut expected = vec![0.0; plan.coefficient_len()];
    plan.forward(&data[..], &mut expected[..]).unwrap();

    let (on_device, queue) = (plan.opencl().unwrap(), opened.queue().unwrap());
    let none = std::ptr::null_mut;
    // SAFETY: the device's own memory; calls return when samples have arrived.
    let array = |context: &Context, len: usize| unsafe { Buffer::create(context, CL_MEM_READ_WRITE, len, none()) };
    let made = |len| array(opened.context(), len).unwrap();
    let download = |from: &Buffer<f32>, len: usize| {
        let mut to = vec![f32::NAN; len];
        // SAFETY: as above.
        unsafe { queue.enqueue_read_buffer(from, CL_BLOCKING, 0, &mut to, &[]).unwrap() };
        to
    };
    let (mut source, mut bands, mut back) = (made(data.len()), made(expected.len()), made(data.len()));
    // SAFETY: as above.
    unsafe { queue.enqueue_write_buffer(&mut source, CL_BLOCKING, 0, &data, &[]).unwrap() };
    let mut workspace = on_device.workspace().unwrap();
    assert_eq!(workspace.bytes(), on_device.workspace_bytes());
    on_device.forward(&queue, &source, &mut bands, &mut workspace).unwrap();
    assert_eq!(download(&bands, expected.len()), expected);
    on_device.inverse(&queue, &bands, &mut back, &mut workspace).unwrap();
    let mut host = vec![0.0; data.len()];
    plan.inverse(&expected[..], &mut host[..]).unwrap();
    assert_eq!(download(&back, data.len()), host);
    let low = plan.level_shape(2).unwrap().iter().product();
    on_device.inverse_to(2, &queue, &bands, &mut back, &mut workspace).unwrap();
    let mut smaller = vec![0.0; low];
    plan.inverse_to(2, &expected[..], &mut smaller[..]).unwrap();
    assert_eq!(download(&back, low), smaller);

    let refused = |result: Result<(), lifting::PlanError>, what: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    refused(on_device.forward(&queue, &made(data.len() - 1), &mut bands, &mut workspace), "the source");
    refused(on_device.inverse_to(4, &queue, &bands, &mut back, &mut workspace), "4");
    // The same device, opened a second time.
    let other =
        Context::from_device(&ClDevice::new(get_all_devices(CL_DEVICE_TYPE_ALL).unwrap()[opened.ordinal()])).unwrap();
    let foreign = array(&other, data.len()).unwrap();
    refused(on_device.forward(&queue, &foreign, &mut bands, &mut workspace), "the source belongs to another context");
    let small = Plan::builder(&wavelet).shape(&[8, 8]).sample::<f32>().build(&device).unwrap();
    let mut short = small.opencl().unwrap().workspace().unwrap();
    refused(on_device.forward(&queue, &source, &mut bands, &mut short), "workspace");
    let cpu = Plan::builder(&wavelet).shape(&[8, 8]).sample::<f32>().build(&Device::cpu_with_threads(1)).unwrap();
    assert!(cpu.opencl().unwrap_err().to_string().contains("build it for an OpenCL device"));
}

/// Every wavelet of the catalogue if `LIFTING_FULL` is 1, which takes minutes; else one in fifty.
#[test]
fn the_catalogue_equals_the_cpus() {
    let each = if lifting_tests::full() { 1 } else { 50 };
    for device in devices("the catalogue") {
        for entry in lifting_filters::CATALOGUE.iter().step_by(each) {
            println!("{}, {}", opened(&device).name(), entry.name);
            every_border(&device, entry.name, &[11, 21], 2);
        }
    }
}

/// Threads that open a device at once all get it, and correct results. Run alone, this test initialises the drivers.
#[test]
fn threads_open_devices_at_once() {
    let wavelet = catalogue::find("legall53").unwrap();
    let results: Vec<Option<Vec<i32>>> = std::thread::scope(|scope| {
        let open = || {
            let device = Device::opencl(0).ok()?;
            let plan = Plan::builder(&wavelet).shape(&[9, 21]).sample::<i32>().build(&device).unwrap();
            let data: Vec<i32> = (0..plan.len() as i32).map(|v| v * v % 251).collect();
            let mut bands = vec![0; plan.coefficient_len()];
            plan.forward(&data, &mut bands).unwrap();
            Some(bands)
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let found = devices("threads at once").next().is_some();
    assert!(results.iter().all(|result| result.is_some() == found && *result == results[0]));
}

#[test]
fn impossible_requests_give_reasons() {
    // No machine has a device of that number.
    let error = Device::opencl(4096).unwrap_err().to_string();
    assert!(error.contains("OpenCL"), "{error}");
    for device in devices("what cannot be") {
        assert!(error.contains("invalid OpenCL device 4096: this machine has"), "{error}");
        assert!(OpenClDevice::count().unwrap() > 0);
        // Devices need not have warps.
        let wavelet = catalogue::find("cdf97").unwrap();
        let builder = Plan::builder(&wavelet).shape(&[256, 256]).schedule(Schedule::WARP).sample::<f32>();
        match builder.build(&device) {
            Ok(_) => assert!(opened(&device).sub_group().is_some()),
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("OpenCL C") && error.contains("choose a schedule that needs none"), "{error}");
                assert!(error.starts_with("OpenCL device `"), "the driver's fault, not ours: {error}");
                assert_eq!(opened(&device).sub_group(), None);
            }
        }
    }
}

/// C functions with the names in the C file, which go through buffers of the first device.
const WRAPPER: &str = r#"
#include "emitted.h"
#include "emitted.opencl.c"
#include <stdio.h>
#include <stdlib.h>

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define OF(function) JOIN(W, function, S)

static cl_context context;
static cl_command_queue queue;
static OF(_opencl_) opened;

static void need(int ok, const char *what, int code)
{
    if (ok) return;
    fprintf(stderr, "%s: %d\n", what, code);
    exit(3);
}

static size_t OF(_scratch_bytes_)(const JOIN(W, _shape, ) *shape)
{
    return OF(_opencl_scratch_bytes_)(shape) + 8;
}

static size_t bytes_of(const JOIN(W, _shape, ) *shape, const int64_t *stride)
{
    int64_t last = 0;
    for (int a = 0; a < shape->axes; ++a) last += (shape->size[a] - 1) * stride[a];
    return ((size_t)last + 1) * sizeof(T);
}

static cl_mem buffer_with(size_t bytes, const void *values)
{
    cl_int status;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    need(status == CL_SUCCESS, "a buffer", status);
    status = clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, values, 0, NULL, NULL);
    need(status == CL_SUCCESS, "to the device", status);
    return buffer;
}

static int run(const JOIN(W, _shape, ) *shape, int forward, const T *from, T *to)
{
    const size_t signal = bytes_of(shape, shape->signal_stride), bands = bytes_of(shape, shape->bands_stride);
    const size_t scratch = OF(_opencl_scratch_bytes_)(shape);
    const size_t in = forward ? signal : bands, out = forward ? bands : signal;
    cl_int status = CL_SUCCESS;
    cl_mem memory[3] = {buffer_with(in, from), buffer_with(out, to), NULL};
    if (scratch > 0) memory[2] = clCreateBuffer(context, CL_MEM_READ_WRITE, scratch, NULL, &status);
    need(status == CL_SUCCESS, "scratch", status);
    const int code = (forward ? OF(_opencl_forward_) : OF(_opencl_inverse_))(
        &opened, shape, memory[0], memory[1], memory[2], queue);
    need(code == 0, JOIN(W, _opencl_message, )(code), opened.status);
    /* A byte less, and it is refused. */
    cl_mem shorter = clCreateBuffer(context, CL_MEM_READ_WRITE, out > 1 ? out - 1 : 1, NULL, &status);
    if (out > 1) {
        const int refused = (forward ? OF(_opencl_forward_) : OF(_opencl_inverse_))(
            &opened, shape, memory[0], shorter, memory[2], queue);
        need(refused == REFUSED, "a buffer that is too small is refused", refused);
    }
    clReleaseMemObject(shorter);
    status = clEnqueueReadBuffer(queue, memory[1], CL_TRUE, 0, out, to, 0, NULL, NULL);
    need(status == CL_SUCCESS, "from the device", status);
    for (int i = 0; i < 3; ++i) {
        if (memory[i] != NULL) clReleaseMemObject(memory[i]);
    }
    return code;
}

static int OF(_forward_)(const JOIN(W, _shape, ) *shape, const T *signal, T *bands, void *scratch)
{
    (void)scratch;
    return run(shape, 1, signal, bands);
}

static int OF(_inverse_)(const JOIN(W, _shape, ) *shape, const T *bands, T *signal, void *scratch)
{
    (void)scratch;
    return run(shape, 0, bands, signal);
}

#define ANSWER answer
#include DRIVER

int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int status = clGetPlatformIDs(1, &platform, NULL);
    need(status == CL_SUCCESS, "a platform", status);
    status = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    need(status == CL_SUCCESS, "a device", status);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    need(status == CL_SUCCESS, "a context", status);
    queue = clCreateCommandQueue(context, device, 0, &status);
    need(status == CL_SUCCESS, "a queue", status);
    const int code = OF(_opencl_open_)(&opened, context, device);
    need(code == 0, JOIN(W, _opencl_message, )(code), opened.status);
    answer();
    OF(_opencl_close_)(&opened);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
"#;

/// The emitted file, compiled by gcc with warnings as errors, against the oracle.
#[test]
fn emitted_files() {
    if devices("emitted files for OpenCL").next().is_none() {
        return;
    }
    let gcc = Compiler::gcc(&["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-l:libOpenCL.so.1"]);
    if !gcc.accepts("#include <CL/cl.h>\nint main(void) { return 0; }\n") {
        let required = std::env::var("LIFTING_REQUIRE_OPENCL").is_ok_and(|v| v == "1");
        assert!(!required, "LIFTING_REQUIRE_OPENCL=1, and gcc finds no CL/cl.h: install opencl-headers");
        println!("emitted files for OpenCL: skipped: gcc finds no CL/cl.h (Debian: opencl-headers)");
        return;
    }
    let check = |name: &str, boundary: Boundary, sample: Scalar, jpeg2000: bool| {
        let scheme = catalogue::find(name).unwrap();
        let gain = scheme.domain() == Domain::Integer;
        let profile = scheme.profile(Format::Jpeg2000).filter(|_| jpeg2000);
        let request =
            Request { scheme: &scheme, boundary, samples: &[sample], gain, profile, prefix: None, command: "test" };
        let text = emit::opencl(&request).unwrap_or_else(|e| panic!("{name}: {e}")).text;
        let header = emit::header(&request, &[&emit::OPENCL]);
        let upper = scheme.name().to_uppercase();
        let defines = format!(
            "#define W {}\n#define S {}\n#define T {}\n#define REFUSED {upper}_BUFFER\n#define DRIVER {:?}\n",
            scheme.name(),
            sample.name(),
            equals_oracle::c_type(sample),
            equals_oracle::driver("driver.c")
        );
        let own = format!("{}.h", scheme.name());
        let files =
            [("emitted.opencl.c", &*text), (&own, &*header), ("emitted.h", &header), ("main.c", &*(defines + WRAPPER))];
        let program = gcc.build(&files);
        if jpeg2000 {
            equals_oracle::check_jpeg2000(&scheme, sample, "OpenCL", |input| program.run(input));
        } else {
            equals_oracle::check(&scheme, boundary, sample, "OpenCL", |input| program.run(input));
        }
    };
    check("legall53", Boundary::WholeSymmetric, Scalar::I32, true);
    check("cdf97", Boundary::WholeSymmetric, Scalar::F32, true);
    check("legall53", Boundary::WholeSymmetric, Scalar::I16, false);
    check("dd137", Boundary::Periodic, Scalar::I32, false);
    check("cdf97", Boundary::Edge, Scalar::F32, false);
    if lifting_tests::full() {
        for boundary in BOUNDARIES {
            check("dd137", boundary, Scalar::I16, false);
            check("fidelity", boundary, Scalar::I64, false);
            check("cdf97", boundary, Scalar::F64, false);
            check("db4", boundary, Scalar::F32, false);
        }
    }
}

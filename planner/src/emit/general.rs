//! Functions for arrays of any shape. They choose at run time among kernels that were chosen when the file was written.

use super::axes::Passes;
use super::kernels::{Collected, Written};
use super::survey::{Cell, Image, Images, Survey, SurveyedRows, Taken, few};
use super::{File, FileError};
use crate::cluster;
use crate::kernels::{Key, Made, Tuning};
use crate::scalar::{sample_of, scalar_of};
use lifting_codegen::back::{Cuda, write_host_expression};
use lifting_codegen::emit::{
    self, DEVICE_DOC, EmitError, LEVELS, Request, SCRATCH_DOC, STREAM, common, docs, periodic_check, sample_type, shape,
};
use lifting_codegen::ir::valid::{KernelInfo, validate};
use lifting_codegen::ir::{Kernel, ParamId, ParamKind};
use lifting_codegen::opt::{self, Allows, Overlap};
use lifting_codegen::schedule::level::{Job, Order, RowAlignment};
use lifting_codegen::schedule::{Extent, HostLaunch, Shape, Sides, Tiles};
use lifting_dsl::{Boundary, Direction};
use std::fmt::Write as _;

/// The launcher's templates: state of a run, launches of a level, and their order.
const LAUNCHER: [&str; 3] =
    [include_str!("general/run.cu.in"), include_str!("general/job.cu.in"), include_str!("general/levels.cu.in")];

/// The call of the function for lines of one sample at an odd position.
const LONE_CALL: &str = "    if (length == 1 && parity == 1) return lone(r, extent, gain, signal, high);\n";

/// Number of kernels of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// One for both axes of a level, and one for each axis, per type and direction: a file to read, and to change.
    Few,
    /// Enough that no size is predicted to lose more than 3 %.
    Usual,
    /// Every kernel that is predicted to be the fastest for some size.
    All,
}

/// Contents of a file for any shape.
#[derive(Clone, Copy, Debug)]
pub struct General<'a> {
    /// Number of kernels.
    pub count: Count,
    /// Whether kernels over both axes take columns first in analysis, as in JPEG 2000.
    pub columns_first: bool,
    /// The tuning for which kernels are chosen.
    pub tuning: &'a Tuning,
}

impl Count {
    /// The most kernels over both axes per sample type and direction for rows of this alignment, and the predicted loss
    /// of time that is accepted for any size.
    fn limits(self, rows: SurveyedRows) -> (usize, f64) {
        match (self, rows) {
            (Count::Few, SurveyedRows::Any) => (1, 0.0),
            (Count::Few, SurveyedRows::Whole | SurveyedRows::Image) => (0, 0.0),
            (Count::Usual, SurveyedRows::Image) => (3, 0.03),
            (Count::Usual, SurveyedRows::Whole | SurveyedRows::Any) => (4, 0.03),
            (Count::All, _) => (12, 0.0),
        }
    }
}

/// Shapes of two levels in one launch, per direction, unless a file has all kernels.
const FEW_OF_TWO: usize = 2;
/// The least samples along either axis for two levels in one launch: more than any halo.
const TWO_LEAST: i32 = 512;
/// The most kernels that walk through volumes, and the least samples of a volume that uses them.
const WALKS: usize = 3;
const LEAST_VOLUME: i64 = 1 << 21;

/// The file being written.
pub(super) struct Draft<'a> {
    pub request: &'a Request<'a>,
    general: &'a General<'a>,
    pub kernels: Collected,
    /// The rest of each kernel's line in the table.
    pub facts: Vec<Facts>,
    tables: String,
    /// Kernels in an unusual shape, each with the reason.
    pub replaced: Vec<String>,
}

/// Facts about a kernel for the launcher.
pub(super) struct Facts {
    /// The kernel's own columns of the table.
    own: String,
    /// Variants of the kernel, as indices: one that does not wait, one that keeps its results in the cache, and one
    /// that lets the next launch begin at once.
    others: [i64; 3],
}

impl Facts {
    pub fn new(own: String) -> Facts {
        Facts { own, others: [-1; 3] }
    }
}

/// Overlap of a kernel over both axes with the launches before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// It waits for the previous launches. In synthesis the next one may begin at once (`early`), or late.
    Waits { early: bool },
    /// It does not wait.
    Plain,
}

/// A line of a table of choices.
struct Line {
    most: i64,
    kernel: Option<usize>,
    chunk: u32,
    /// Predicted time, in copies.
    time: f64,
}

/// The CUDA file: kernels, tables, host functions.
///
/// # Errors
/// If no sample type is given, one is outside the wavelet's domain, or no kernel holds the wavelet.
pub fn general(request: &Request, general: &General) -> Result<File, FileError> {
    if request.samples.is_empty() {
        return Err(EmitError::NoSamples.into());
    }
    let order = if general.columns_first { Order::VerticalFirst } else { Order::HorizontalFirst };
    let images = Images::new(request.scheme, request.boundary, request.gain, order);
    let mut file = Draft {
        request,
        general,
        kernels: Collected::default(),
        facts: Vec::new(),
        tables: String::new(),
        replaced: Vec::new(),
    };
    for &scalar in request.samples {
        // A wavelet that no kernel holds gets the error of the kernels that hold most.
        emit::Passes::cuda(request, scalar).map_err(EmitError::from)?;
        let Some(sample) = sample_of(scalar) else { return Err(EmitError::NoSamples.into()) };
        let (scheme, tuning) = (request.scheme, general.tuning);
        let survey = Survey::new(scheme, request.boundary, request.gain, (sample, order), tuning);
        for direction in [Direction::Forward, Direction::Inverse] {
            file.ways(&survey, &images, direction)?;
        }
    }
    file.finish()
}

fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "analysis",
        Direction::Inverse => "synthesis",
    }
}

impl<'a> Draft<'a> {
    /// Whether the file has few kernels.
    pub fn is_few(&self) -> bool {
        self.general.count == Count::Few
    }

    /// The launches of one direction for one sample type.
    fn ways(&mut self, survey: &Survey<'a>, images: &'a Images, direction: Direction) -> Result<(), FileError> {
        let (scalar, sample) = (scalar_of(survey.sample), survey.sample);
        let name = format!("{}_{}", direction.name(), sample.name());
        let what = format!("{}, {}", way(direction), sample.name());
        let cells: Vec<Cell> =
            images.both.iter().map(|image| survey.cell(image, direction)).collect::<Result<_, _>>()?;
        let count = self.general.count;
        let mut taken: Vec<Taken> = Vec::new();
        for rows in SurveyedRows::ALL {
            let mut own: Vec<Cell> = cells.iter().filter(|cell| cell.rows == rows).cloned().collect();
            if count == Count::Few && own.iter().flat_map(|cell| &cell.ways).any(|way| way.takes == RowAlignment::Any) {
                // One kernel has to take all rows, though those of this survey may be whole vectors of two samples.
                own.iter_mut().for_each(|cell| cell.ways.retain(|way| way.takes == RowAlignment::Any));
            }
            let (most, enough) = count.limits(rows);
            let found = few(&own, most, enough);
            taken.extend(found.into_iter().filter(|t| !taken.contains(t)).collect::<Vec<_>>());
        }
        let mut indices = Vec::new();
        let machine = &self.general.tuning.machine;
        let steps = &machine.constants().overlap_steps;
        // A kernel whose smallest launch exceeds this many samples belongs only to transforms that do not overlap.
        // Surveyed sizes are half a factor of two apart, and each result holds to the middle of the next.
        let alone = (steps.small_plan + steps.small_plan / 4) as i64;
        for &(shape, takes) in &taken {
            let of_it = |cell: &&Cell| best(cell, &taken).is_some_and(|w| (w.shape, w.takes) == (shape, takes));
            let sizes = || cells.iter().filter(of_it).map(|cell| cell.most.min(1 << 30));
            let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
            let job = cells
                .iter()
                .find_map(|cell| cell.ways.iter().any(|w| (w.shape, w.takes) == (shape, takes)).then_some(cell.job)?);
            let mut add = |form: Form, kept: bool, kind: &str| {
                let key = survey.key(direction, shape, takes, kept);
                let purpose = format!("{what}: a level of both axes{kind}.");
                self.both(survey, key, (shape, takes), job, (form, direction), purpose)
            };
            // A kernel for large launches alone never waits.
            let form = if least > alone && count != Count::Few { Form::Plain } else { Form::Waits { early: false } };
            let index = add(form, false, "")?;
            indices.push(index);
            if count == Count::Few {
                continue;
            }
            // For kernels that load settled bands before the previous level ends; the next level is four times as
            // large.
            let loads = direction == Direction::Inverse && takes == RowAlignment::Whole;
            let hurries = loads && 4 * least * sample.bytes() as i64 <= 2 * steps.early_bytes as i64;
            let early =
                hurries.then(|| add(Form::Waits { early: true }, false, ", before a short launch")).transpose()?;
            // Large launches do not overlap, and their results are worth keeping in the cache.
            let large = most > steps.small_launch as i64;
            let plain = large.then(|| add(Form::Plain, false, ", large")).transpose()?;
            let plain_kept = large.then(|| add(Form::Plain, true, ", large, results kept in the cache")).transpose()?;
            let left = most * sample.bytes() as i64 / if direction == Direction::Forward { 4 } else { 1 };
            let keeps = count == Count::All && form != Form::Plain && left >= machine.kept()[0] as i64;
            let kept =
                keeps.then(|| add(Form::Waits { early: false }, true, ", results kept in the cache")).transpose()?;
            let number = |at: Option<usize>| at.filter(|at| *at != index).map_or(-1, |at| at as i64);
            self.facts[index].others = [plain, kept, early].map(number);
            if let Some(plain) = plain {
                self.facts[plain].others[1] = plain_kept.map_or(-1, |at| at as i64);
            }
        }
        let mut names = Vec::new();
        for rows in SurveyedRows::ALL {
            // Kernels for any rows take all others.
            let surveyed = if count == Count::Few { SurveyedRows::Any } else { rows };
            let lines = cells.iter().filter(|cell| cell.rows == surveyed).map(|cell| {
                let best = best(cell, &taken);
                let at = best.and_then(|w| taken.iter().position(|t| *t == (w.shape, w.takes)));
                let time = best.map_or(cell.apart, |w| w.time);
                Line { most: cell.most, kernel: at.map(|at| indices[at]), chunk: best.map_or(0, |w| w.chunk), time }
            });
            let which = ["whole", "image", "any"][rows as usize];
            let title = match rows {
                SurveyedRows::Whole => "rows of whole vectors, image and bands aligned to vectors",
                SurveyedRows::Image => "rows of the image aligned to vectors",
                SurveyedRows::Any => "unaligned rows",
            };
            let lines = lines.collect();
            names.push(self.choices(&format!("both_{which}_{name}"), &format!("{what}, a level: {title}"), lines));
        }
        let (walks, volumes) = self.volumes(survey, images, (direction, &name), &what)?;
        let two = self.two(survey, images, direction, &what)?;
        let two_name = self.choices(&format!("two_{name}"), &format!("{what}, two levels: rows of whole vectors"), two);
        let (rest, side, samples) = self.rest(survey, images, direction, &what)?;
        let sides = Sides::both(scalar);
        let passes = self.passes(survey, direction, sides, &what)?;
        let Passes { lines, columns, wide, needs_pairs, shared, lone } = passes;
        let samples: Vec<String> = samples.iter().map(i64::to_string).collect();
        let list = |n: &[i64]| n.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let long = self.long_line(sides);
        let least = i64::from(TWO_LEAST);
        let _ = write!(
            self.tables,
            "static const ways ways_{name} = {{\n    {{{}}}, {volumes},\n    {{{walks}}},\n    {two_name}, {least}, \
             {rest}, {side}, {{{}}},\n    {{{}}}, {long}, {{{}}}, {wide}, {}, {{{}}}, {lone}, {}\n}};\n\n",
            names.join(", "),
            samples.join(", "),
            list(&lines),
            list(&columns),
            u8::from(needs_pairs),
            list(&shared),
            u8::from(self.general.columns_first),
        );
        Ok(())
    }

    /// The index of a kernel over both axes.
    fn both(
        &mut self,
        survey: &Survey<'a>,
        key: Key,
        (shape, takes): Taken,
        job: Option<Job>,
        (form, direction): (Form, Direction),
        purpose: String,
    ) -> Result<usize, FileError> {
        let index = survey.get(key)?;
        let mut made = survey.made(index);
        let by_time = made.fit.as_ref().is_some_and(|fit| fit.loads_by_time());
        let loads = by_time && direction == Direction::Inverse;
        let pitch = job.map_or(i64::from(i32::MAX), |job| self.most_pitch(&made, job));
        let multiprocessors = self.general.tuning.machine.multiprocessors;
        let cluster = cluster::least(&made, &self.general.tuning.machine).unwrap_or(0);
        let schedule = shape.schedule().name();
        let kind = match made.fit.as_ref().and_then(|fit| fit.host_launch()) {
            Some(HostLaunch::Skewed) => "SKEWED",
            Some(HostLaunch::Strict) => "VECTORS",
            Some(HostLaunch::Usual) | None => "USUAL",
        };
        if let Form::Waits { early } = form {
            // The source's bands are loaded before the previous launch ends.
            let settled = if loads { vec![ParamId(1), ParamId(2), ParamId(3)] } else { Vec::new() };
            let allows = if loads && early { Allows::AtOnce } else { Allows::BeforeStoring };
            made.kernel = opt::overlap(made.kernel, &Overlap { settled, allows });
            made.info = validate(&made.kernel).map_err(EmitError::Invalid)?;
        }
        let at = self.kernels.add_kernel(&made, schedule, Some(shape), purpose);
        if at == self.facts.len() {
            let rows = match takes {
                RowAlignment::Whole => "ROWS_WHOLE",
                RowAlignment::Aligned => "ROWS_ALIGNED",
                RowAlignment::Image => "ROWS_IMAGE",
                RowAlignment::Any => "ROWS_ANY",
            };
            let columns = shape.get("columns").unwrap_or(2);
            let waits = u8::from(form != Form::Plain);
            let resident = multiprocessors.saturating_mul(made.kernel.min_blocks.max(1)) * u32::from(loads);
            let own = format!("{rows}, {columns}, {kind}, {waits}, {cluster}, {pitch}, {resident}");
            self.facts.push(Facts::new(own));
        }
        Ok(at)
    }

    /// The largest row pitch that a kernel takes, in samples.
    fn most_pitch(&self, made: &Made, job: Job) -> i64 {
        let most = i64::from(i32::MAX);
        let Some(fit) = &made.fit else { return most };
        let takes = |pitch: i64| {
            let mut job = job;
            crate::list::arrays_of(&mut job).for_each(|array| array.pitch = pitch);
            fit.placement(&job).is_ok()
        };
        // In steps that keep rows aligned.
        const STEP: i64 = 64;
        if takes(most / STEP * STEP) {
            return most;
        }
        let (mut held, mut over) = (0, most / STEP);
        while over - held > 1 {
            let middle = (held + over) / 2;
            if takes(middle * STEP) { held = middle } else { over = middle }
        }
        held * STEP
    }

    /// Writes a table of choices; returns its name.
    fn choices(&mut self, name: &str, title: &str, lines: Vec<Line>) -> String {
        let mut text = format!("/* {title}. */\nstatic const choice {name}[] = {{\n");
        let mut lines = lines.into_iter().peekable();
        while let Some(line) = lines.next() {
            let same = |next: &&Line| (next.kernel, next.chunk) == (line.kernel, line.chunk);
            if lines.peek().as_ref().is_some_and(same) {
                continue;
            }
            let most = if line.most == i64::MAX { "INT64_MAX".to_owned() } else { line.most.to_string() };
            let kernel = line.kernel.map_or("-1".to_owned(), |kernel| kernel.to_string());
            let predicted = match line.time > 0.0 {
                true => format!("  /* predicted: {:.2} copies */", line.time),
                false => String::new(),
            };
            let _ = writeln!(text, "    {{{most}, {kernel}, {}}},{predicted}", line.chunk);
        }
        text += "};\n\n";
        self.tables += &text;
        name.to_owned()
    }

    /// Volumes: the walks, the fastest first, and the name of the table of sizes for which they take a level.
    fn volumes(
        &mut self,
        survey: &Survey<'a>,
        images: &'a Images,
        (direction, name): (Direction, &str),
        what: &str,
    ) -> Result<(String, String), FileError> {
        let none = "{-1, 0, 0, 0, 0, 0, 0, 0}".to_owned();
        let mut walks = vec![none; WALKS];
        if self.is_few() {
            return Ok((walks.join(", "), "NULL".into()));
        }
        let found: Vec<Option<(Shape, f64)>> =
            images.volumes.iter().map(|image| survey.volume(image, direction)).collect();
        // Only if they take more than small volumes.
        let is_worth = |(image, found): &(&Image, &Option<_>)| found.is_some() && image.most > LEAST_VOLUME;
        let Some((_, Some((shape, _)))) = images.volumes.iter().zip(&found).rev().find(is_worth) else {
            return Ok((walks.join(", "), "NULL".into()));
        };
        let kinds: &[RowAlignment] = match self.general.count {
            Count::Few | Count::Usual => &[RowAlignment::Whole, RowAlignment::Aligned],
            Count::All => shape.schedule().alignments(),
        };
        let mut first = None;
        for (walk, &takes) in walks.iter_mut().zip(kinds) {
            let key = survey.key(direction, *shape, takes, false);
            let index = match survey.get(key) {
                Ok(index) => index,
                Err(crate::ProgramError::Schedule(_)) => continue,
                Err(e) => return Err(e.into()),
            };
            let tiles = survey.made(index).fit.as_ref().and_then(|fit| fit.tiles());
            let Some(Tiles { columns, rows, widest, beyond, halo_pairs, resident, whole_pairs }) = tiles else {
                continue;
            };
            let purpose = format!("{what}: a level of three axes.");
            let kernel = self.both(survey, key, (*shape, takes), None, (Form::Plain, direction), purpose)?;
            first.get_or_insert(kernel);
            let held = resident * i64::from(self.general.tuning.machine.multiprocessors);
            *walk = format!(
                "{{{kernel}, {columns}, {rows}, {widest}, {beyond}, {halo_pairs}, {held}, {}}}",
                u8::from(whole_pairs)
            );
        }
        let lines = images.volumes.iter().zip(&found).map(|(image, found)| Line {
            most: image.most,
            kernel: found.as_ref().and(first),
            chunk: 0,
            time: found.as_ref().map_or(0.0, |found| found.1),
        });
        let lines = lines.collect();
        let table = self.choices(&format!("volume_{name}"), &format!("{what}, a level of three axes"), lines);
        Ok((walks.join(", "), table))
    }

    /// Two levels in one launch.
    fn two(
        &mut self,
        survey: &Survey<'a>,
        images: &'a Images,
        direction: Direction,
        what: &str,
    ) -> Result<Vec<Line>, FileError> {
        let mut lines: Vec<Line> = Vec::new();
        if self.is_few() {
            return Ok(vec![Line { most: i64::MAX, kernel: None, chunk: 0, time: 0.0 }]);
        }
        let found: Vec<Option<(Shape, u32, Job)>> =
            images.two.iter().map(|image| survey.merged(image, direction, Extent::TwoLevels)).collect();
        // The largest images gain most.
        let mut shapes: Vec<Shape> = Vec::new();
        for (shape, ..) in found.iter().rev().flatten() {
            if !shapes.contains(shape) && (shapes.len() < FEW_OF_TWO || self.general.count == Count::All) {
                shapes.push(*shape);
            }
        }
        for (image, found) in images.two.iter().zip(found) {
            let (mut kernel, mut chunk) = (None, 0);
            if let Some((shape, own, job)) = found.filter(|(shape, ..)| shapes.contains(shape)) {
                let small = Job { width: TWO_LEAST, height: TWO_LEAST, ..job };
                let key = survey.key(direction, shape, RowAlignment::Whole, direction == Direction::Forward);
                let purpose = format!("{what}: two levels of both axes.");
                let index = survey.get(key)?;
                let fit = survey.made(index).fit.clone();
                if fit.is_some_and(|fit| fit.placement(&small).is_ok()) {
                    let taken = (shape, RowAlignment::Whole);
                    // In analysis it is the first launch, and large.
                    let form = if direction == Direction::Forward { Form::Plain } else { Form::Waits { early: false } };
                    kernel = Some(self.both(survey, key, taken, Some(job), (form, direction), purpose)?);
                    chunk = own;
                }
            }
            if lines.is_empty() {
                lines.push(Line { most: image.most / 2, kernel: None, chunk: 0, time: 0.0 });
            }
            lines.push(Line { most: image.most, kernel, chunk, time: 0.0 });
        }
        Ok(lines)
    }

    /// All remaining levels in one launch: the kernel, the limits on an image's side and on its samples by the number
    /// of levels.
    fn rest(
        &mut self,
        survey: &Survey<'a>,
        images: &'a Images,
        direction: Direction,
        what: &str,
    ) -> Result<(i64, usize, [i64; 32]), FileError> {
        let (mut samples, mut largest) = ([0i64; 32], None::<(Shape, Job, usize)>);
        if self.is_few() {
            return Ok((-1, 0, samples));
        }
        let merged = |image| (image, survey.merged(image, direction, Extent::AllLevels));
        let found: Vec<_> = images.rest.iter().map(merged).collect();
        for (image, found) in &found {
            if let Some((shape, _, job)) = found
                && largest.is_none_or(|(.., side)| image.side >= side)
            {
                largest = Some((*shape, *job, image.side));
            }
        }
        let Some((shape, job, side)) = largest else { return Ok((-1, 0, samples)) };
        for (image, _) in found.iter().filter(|(_, found)| found.is_some()) {
            let entry = &mut samples[image.levels as usize];
            *entry = (*entry).max(image.most);
        }
        let purpose = format!("{what}: all remaining levels.");
        let key = survey.key(direction, shape, RowAlignment::Any, false);
        let form = Form::Waits { early: false };
        let kernel = self.both(survey, key, (shape, RowAlignment::Any), Some(job), (form, direction), purpose)?;
        Ok((kernel as i64, side, samples))
    }

    fn finish(self) -> Result<File, FileError> {
        let Draft { request, general, kernels, facts, tables, replaced } = self;
        let written = kernels.write()?;
        let Written { text, calls, names, summary, .. } = &written;
        let multiprocessors = general.tuning.machine.multiprocessors;
        let mut opening = vec![
            format!(
                "Launches are chosen per level, as plans choose on a device of {multiprocessors} \
                 multiprocessors, from"
            ),
            "tables below the kernels. Small launches overlap where CUDA and the device support it.".into(),
        ];
        opening.extend(request.fast_math(emit::FAST_MATH));
        opening.extend(replaced.iter().cloned());
        opening.extend(summary.iter().cloned());
        let mut out = request.opening(&opening);
        out += &format!("\n{}\n{text}\n{}", emit::namespace(), emit::namespace_end());
        out += &format!("\n{}#ifndef __CUDACC_RTC__\n\n", super::section(super::HOST));
        out += super::INCLUDES;
        let t = request.template();
        out += &shape(&t);
        out += &format!("\n{}\n", emit::namespace());
        let periodic = t.fill(periodic_check(request.boundary));
        out += &t.clone().with("PERIODIC", periodic).with("FORMAT", t.fill(request.format_check())).fill(LEVELS);
        out.push('\n');
        out += &t.fill(include_str!("launch.cu.in"));
        out.push('\n');
        let mut table = format!("{}\n", super::section(super::TABLES));
        let (grids, grid_of) = grids((0..calls.len()).map(|index| grid(kernels.get(index))));
        table += &grids;
        // Compilers warn of functions that nothing calls.
        let bounds = [("least_of", '<'), ("most_of", '>')].into_iter().filter(|(name, _)| table.contains(name));
        let bounds = bounds.map(|(name, sign)| {
            format!("static int64_t {name}(int64_t a, int64_t b)\n{{\n    return a {sign} b ? a : b;\n}}\n\n")
        });
        let bounds: String = bounds.collect();
        table += "static const kernel_info kernels[] = {\n";
        for (index, (call, Facts { own, others: [plain, kept, early] })) in calls.iter().zip(&facts).enumerate() {
            let [x, y, z] = kernels.block(index);
            let (grid, uses) = (&grid_of[index], kernels.uses(index));
            let _ = writeln!(
                table,
                "    {{(const void *)&{call}, {grid}, {{{x}, {y}, {z}}}, {own}, {plain}, {kept}, {early}}}, \
                 /* {index}: {uses} */"
            );
        }
        table += "};\n\n";
        table += &tables;
        let most_side = crate::view::MOST;
        let ([least, most], steps) = (general.tuning.machine.kept(), &general.tuning.machine.constants().overlap_steps);
        let flag = |is: bool| if is { "1" } else { "0" };
        let lone = if request.doubles_lone_odd() { t.fill(include_str!("general/lone.cu.in")) } else { String::new() };
        let launcher = t
            .clone()
            .with("BOUNDS", bounds)
            .with("TABLES", table)
            .with("MOST", (kernels.most_parameters() + 2).to_string())
            .with("MOST_SIDE", most_side.to_string())
            .with("SMALL_PLAN", steps.small_plan.to_string())
            .with("SMALL_LAUNCH", steps.small_launch.to_string())
            .with("EARLY_BYTES", steps.early_bytes.to_string())
            .with("EARLY_PART", format!("{:?}", steps.early_part))
            .with("KEPT_LEAST", least.to_string())
            .with("KEPT_MOST", most.to_string())
            .with("WITHOUT_GAIN", flag(!request.gain))
            .with("HAS_GAIN", flag(request.gain))
            .with("LONE", lone)
            .with("LONE_CALL", if request.doubles_lone_odd() { LONE_CALL } else { "" })
            .with("PERIODIC", flag(request.boundary == Boundary::Periodic));
        out += &launcher.fill(&LAUNCHER.join("\n"));
        out += &format!("\n{}", emit::namespace_end());
        for &sample in request.samples {
            let t =
                docs(common(request, sample).with("P", "cuda_").with("STREAM", STREAM).with("DEVICE_DOC", DEVICE_DOC));
            let t = t.with("SCRATCH_DOC", SCRATCH_DOC);
            out.push('\n');
            out += &t.fill(include_str!("functions.cu.in"));
        }
        out += "\n#endif\n";
        let text = super::with_contents(&emit::in_namespace(request, names, &out));
        Ok(File { text, replaced, kernels: written.named(request) })
    }
}

/// The fastest of the taken ways, unless one pass per axis is predicted to be faster.
fn best<'c>(cell: &'c Cell, taken: &[Taken]) -> Option<&'c super::survey::PlaneLaunch> {
    let ways = cell.ways.iter().filter(|way| taken.contains(&(way.shape, way.takes)));
    ways.min_by(|a, b| a.time.total_cmp(&b.time)).filter(|way| way.time <= cell.apart)
}

/// Functions that compute grids, each once, and the call for each kernel. Bodies that differ in numbers are a template.
fn grids(bodies: impl Iterator<Item = String>) -> (String, Vec<String>) {
    // The text between numbers, and the numbers. Names and indices hold digits, too, but agree.
    let parts = |body: String| {
        let (mut texts, mut numbers) = (vec![String::new()], Vec::new());
        let mut last = ' ';
        for c in body.chars() {
            let continues = last.is_ascii_alphanumeric() || matches!(last, '_' | '[');
            match c {
                '0'..='9' if last.is_ascii_digit() && texts.last().is_some_and(String::is_empty) => {
                    let number: &mut String = numbers.last_mut().expect("a number began");
                    number.push(c);
                }
                '0'..='9' if !continues => {
                    numbers.push(c.to_string());
                    texts.push(String::new());
                }
                c => texts.last_mut().expect("there is a text").push(c),
            }
            last = c;
        }
        (texts, numbers)
    };
    let all: Vec<(Vec<String>, Vec<String>)> = bodies.map(parts).collect();
    let (mut out, mut calls) = (String::new(), vec![String::new(); all.len()]);
    let mut count = 0;
    for (index, (texts, numbers)) in all.iter().enumerate() {
        if !calls[index].is_empty() {
            continue;
        }
        let alike: Vec<usize> = (index..all.len()).filter(|other| all[*other].0 == *texts).collect();
        let differs = |at: usize| alike.iter().any(|other| all[*other].1[at] != numbers[at]);
        let varying: Vec<usize> = (0..numbers.len()).filter(|at| differs(*at)).collect();
        let name = |at: usize| varying.iter().position(|v| *v == at).map(|k| format!("N{k}"));
        let mut body = texts[0].clone();
        for (at, (number, text)) in numbers.iter().zip(&texts[1..]).enumerate() {
            // A suffix widens a literal, a cast a constant.
            match (name(at), text.strip_prefix("ll")) {
                (Some(name), Some(text)) => body += &format!("(long long){name}{text}"),
                (Some(name), None) => body += &format!("{name}{text}"),
                (None, _) => body += &format!("{number}{text}"),
            }
        }
        let constants: Vec<String> =
            varying.iter().filter_map(|at| name(*at)).map(|name| format!("int {name}")).collect();
        if !constants.is_empty() {
            out += &format!("template <{}>\n", constants.join(", "));
        }
        out += &format!("static void grid_{count}(const int64_t *n, int64_t *grid)\n{body}");
        for other in alike {
            let values: Vec<&str> = varying.iter().map(|at| &*all[other].1[*at]).collect();
            let of = if values.is_empty() { String::new() } else { format!("<{}>", values.join(", ")) };
            calls[other] = format!("grid_{count}{of}");
        }
        count += 1;
    }
    (out, calls)
}

/// The body of a function that computes the grid of a launch.
fn grid((kernel, info): (&Kernel, &KernelInfo)) -> String {
    // Not every host compiler has `min` and `max`.
    let plain = |text: String| text.replace("min(", "least_of(").replace("max(", "most_of(");
    let sides = [0, 1, 2].map(|axis| plain(write_host_expression((kernel, info), &Cuda, &kernel.launch.grid[axis])));
    let scalars = kernel.params.iter().filter_map(|param| match param.kind {
        ParamKind::Scalar(scalar) => Some((&param.name, sample_type(scalar))),
        ParamKind::Pointer(..) => None,
    });
    let apart = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let is_used = |name: &str| sides.iter().any(|side| side.split(apart).any(|word| word == name));
    let mut out = "{\n".to_owned();
    for (i, (name, t)) in scalars.enumerate().filter(|(_, (name, _))| is_used(name)) {
        let _ = writeln!(out, "    const {t} {name} = ({t})n[{i}];");
    }
    for (axis, side) in sides.iter().enumerate() {
        let _ = writeln!(out, "    grid[{axis}] = {side};");
    }
    out + "}\n\n"
}

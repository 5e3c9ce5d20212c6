//! Block loads: whole vectors where possible, else single samples found by the border rule.

use super::block::Tile;
use crate::ir::build::Builder;
use crate::ir::{Expr, LocalId, Place, Scalar};
use crate::schedule::level::{Border, Form, PHASES, Row, RowAlignment, Runs, Sink, Source, served_column};
use lifting_dsl::{Boundary, Direction};

/// Name and effect of the part that requests a row near a border.
const REQUEST_ROW: (&str, &str) = ("request_row", "Requests the vector that the border rule finds for a row.");

/// Samples in flight when a lane of 8 columns gathers for packed form; its registers hold no more.
const GATHERED_AT_ONCE: u32 = 56;

impl Tile<'_> {
    /// Loads all rows.
    pub fn load(&self, b: &mut Builder) {
        let frame = self.frame;
        if self.plan.reflects() {
            // Lanes beyond a border may load any existing vector: no step reads it.
            let x = frame.lanes.inner_x(b);
            return self.load_vectors(b, x);
        }
        if frame.takes == RowAlignment::Whole && self.plan.finds_all() {
            let (left, useful) = (self.plan.left, self.plan.useful);
            match frame.lanes.narrow(left.max(32 - left - useful) as i32) {
                Some(narrow) => {
                    let why = "an image within the width of the halo";
                    b.if_else(narrow, |b| self.gather(b, why), |b| self.load_whole(b));
                }
                None => self.load_whole(b),
            }
            return;
        }
        let shifted = self.plan.has > 0 || frame.takes == RowAlignment::Any;
        b.if_else(
            frame.lanes.at_border,
            |b| self.gather(b, "at a border"),
            |b| if shifted { self.load_shifted(b) } else { self.load_vectors(b, frame.lanes.x) },
        );
    }

    /// Loads unaligned rows: all vectors first, then shifts them to their lanes.
    fn load_shifted(&self, b: &mut Builder) {
        let (frame, slab) = (self.frame, &self.slab);
        let (sources, height) = (Source::all(frame), slab.height());
        let room = |b: &mut Builder| -> Vec<LocalId> {
            sources.iter().map(|source| source.raw_rows(b, frame, height)).collect()
        };
        let place = |source: &Source, raw: LocalId, k: Expr| Place::Elem(raw, k * source.samples(frame));
        let see = |b: &mut Builder, source: &Source, raw: LocalId, shift: &dyn Fn(&mut Builder, Expr) -> LocalId| {
            let all = |b: &mut Builder, is_shifted: bool| {
                b.unrolled("row", 0, height, 1, |b, k| {
                    let shift = is_shifted.then(|| shift(b, k));
                    let row = slab.row(source.row, k);
                    source.see_row(b, frame, &row, (raw, k * source.samples(frame)), shift);
                });
            };
            b.part("align_rows", "Moves the loaded samples of an array's rows to their lanes.", |b| {
                match self.is_shifted(&source.sink()) {
                    Some(is_shifted) => b.if_else(is_shifted, |b| all(b, true), |b| all(b, false)),
                    None => all(b, true),
                }
            });
        };
        b.if_else(
            slab.at_edge,
            |b| {
                let room = room(b);
                let shifts: Vec<LocalId> =
                    sources.iter().map(|_| b.array("shift_of", Scalar::I32, height as u32)).collect();
                let all = || sources.iter().zip(&room).zip(&shifts);
                b.unrolled("row", 0, height, 1, |b, k| {
                    for ((source, raw), shifts) in all() {
                        b.part(REQUEST_ROW.0, REQUEST_ROW.1, |b| {
                            let row = source.served_row(b, frame, slab.front + k);
                            let runs = Runs::from(b, frame, &source.sink(), row);
                            source.fetch_vector(b, frame, runs.first_vector().into(), place(source, *raw, k));
                            b.set(Place::Elem(*shifts, k), runs.first_shift());
                        });
                    }
                });
                for ((source, raw), shifts) in all() {
                    see(b, source, *raw, &|b, k| b.let_("shift", Scalar::I32, shifts.at(k)));
                }
            },
            |b| {
                let (room, sinks) = (room(b), sources.iter().map(Source::sink).collect::<Vec<Sink>>());
                let runs = self.runs(b, &sinks, slab.front.into());
                let all = || sources.iter().zip(&room).zip(&runs);
                let below = |source: &Source, k: Expr| source.sink().below(k);
                b.unrolled("row", 0, height, 1, |b, k| {
                    for ((source, raw), runs) in all() {
                        let index = runs.vector(frame, below(source, k));
                        source.fetch_vector(b, frame, index, place(source, *raw, k));
                    }
                });
                for ((source, raw), runs) in all() {
                    see(b, source, *raw, &|b, k| runs.shift(b, frame, below(source, k)));
                }
            },
        );
    }

    /// Runs `body` for every row pair of the block and each of its sources.
    fn each_row(&self, b: &mut Builder, body: &dyn Fn(&mut Builder, Expr, &Source)) {
        b.unrolled("row", 0, self.slab.height(), 1, |b, k| {
            for source in Source::all(self.frame) {
                body(b, k, &source);
            }
        });
    }

    /// Loads rows of whole vectors. Lanes beyond a border load any existing vector, then take their extension from
    /// other lanes.
    fn load_whole(&self, b: &mut Builder) {
        let (frame, slab) = (self.frame, &self.slab);
        let x = frame.lanes.inner_x(b);
        self.load_vectors(b, x);
        let pairs = 0..slab.height();
        let rows: Vec<Row> = pairs.flat_map(|k| PHASES.map(|phase| slab.row(phase, k.into()))).collect();
        frame.lanes.extend(b, &rows);
    }

    /// Loads aligned rows as vectors from position `x` on.
    fn load_vectors(&self, b: &mut Builder, x: LocalId) {
        let (frame, slab) = (self.frame, &self.slab);
        b.if_else(
            slab.at_edge,
            |b| {
                let load = |b: &mut Builder, start: &dyn Fn(&mut Builder, &Source, Expr) -> LocalId| {
                    if frame.options.direction == Direction::Forward {
                        return self.each_row(b, &|b, k, source| {
                            b.part("load_served_row", "Loads the row that the border rule finds for a row.", |b| {
                                let start = start(b, source, k);
                                source.vector_from(b, frame, &slab.row(source.row, k), start, x);
                            });
                        });
                    }
                    self.load_by_time(b, x, start);
                };
                let any = |b: &mut Builder| load(b, &|b, source, k| self.served_start(b, source, k));
                match self.is_near() {
                    Some(near) => b.if_else(near, |b| load(b, &|b, source, k| self.near_start(b, source, k)), any),
                    None => any(b),
                }
            },
            |b| self.load_inside(b, x),
        );
    }

    /// Loads rows of bands in the order in which the previous level finishes them: first the bands present before it
    /// ends, then its output.
    fn load_by_time(&self, b: &mut Builder, x: LocalId, start: &dyn Fn(&mut Builder, &Source, Expr) -> LocalId) {
        let (frame, slab) = (self.frame, &self.slab);
        let [there, left] = Source::by_time(frame);
        let first = there.len();
        let rows = self.rooms(b, there.into_iter().chain(left).collect(), slab.height());
        let (there, left) = rows.split_at(first);
        for stage in [there, left] {
            b.unrolled("row", 0, slab.height(), 1, |b, k| {
                for (source, raw) in stage {
                    b.part(REQUEST_ROW.0, REQUEST_ROW.1, |b| {
                        let start = start(b, source, k);
                        let index = start + source.first(frame, x).cast(Scalar::I64);
                        let place = Place::Elem(*raw, k * source.samples(frame));
                        source.fetch_vector(b, frame, index, place);
                    });
                }
            });
        }
        self.see(b, &rows, 0, slab.height());
    }

    /// Whether one reflection, or one period, leads from any row of the block into the image: the image is taller than
    /// the block.
    fn is_near(&self) -> Option<Expr> {
        let extends = matches!(self.frame.lanes.held.boundary, Boundary::WholeSymmetric | Boundary::Periodic);
        (extends && self.plan.border != Border::Untouched)
            .then(|| self.frame.lanes.held.length(1).gt(2 * self.slab.height()))
    }

    /// [`Tile::served_start`] for an image that [`Tile::is_near`].
    fn near_start(&self, b: &mut Builder, source: &Source, k: Expr) -> LocalId {
        let position = ((self.slab.front + k) << 1) + source.row.parity() as i32;
        let served = Expr::from(self.frame.lanes.held.serve_near(b, position));
        let row = if source.columns.is_some() { self.frame.lanes.held.band_row(source.row, served) } else { served };
        b.let_("row_start", Scalar::I64, self.frame.index(source.array(), row, 0.into()))
    }

    /// Loads rows that all lie inside the image.
    fn load_inside(&self, b: &mut Builder, x: LocalId) {
        let slab = &self.slab;
        Source::vectors(b, self.frame, x, (slab.front, slab.height()), |phase, k| slab.row(phase, k.into()));
    }

    /// Index of the first sample of the row that serves pair `k` of the block.
    fn served_start(&self, b: &mut Builder, source: &Source, k: Expr) -> LocalId {
        let pair = self.frame.lanes.held.serve(1, source.row, self.slab.front + k);
        source.row_start(b, self.frame, pair)
    }

    /// Loads each sample from where the border rule finds it.
    fn gather(&self, b: &mut Builder, why: &str) {
        let (frame, slab) = (self.frame, &self.slab);
        b.comment(why);
        let columns = frame.lanes.held.columns();
        let array = b.array("columns", Scalar::I32, columns as u32);
        for c in 0..columns {
            let column = served_column(b, frame, c);
            b.set(Place::Elem(array, c.into()), column);
        }
        let served: Vec<Expr> = (0..columns).map(|c| array.at(c)).collect();
        if slab.form != Form::Single {
            return self.gather_pairs(b, &served);
        }
        self.each_row(b, &|b, k, source| {
            let start = self.served_start(b, source, k);
            source.gather(b, frame, &slab.row(source.row, k), start, &served);
        });
    }

    /// [`Tile::gather`] for packed samples. Requests many samples before it waits for any; narrow lanes request all at
    /// once.
    fn gather_pairs(&self, b: &mut Builder, served: &[Expr]) {
        let (frame, slab) = (self.frame, &self.slab);
        let height = match self.plan.shape.columns {
            // Large images use this width, and few of their blocks are at borders.
            columns @ 8.. => {
                let parts = (columns * self.plan.shape.rows).div_ceil(GATHERED_AT_ONCE) as i32;
                (slab.height() + parts - 1) / parts
            }
            _ => slab.height(),
        };
        for first in (0..slab.height()).step_by(height as usize) {
            let rows = height.min(slab.height() - first);
            let front = b.let_("first", Scalar::I32, slab.front + first);
            b.part("gather_rows", "Loads the samples that the border rule finds for some rows, one by one.", |b| {
                let rooms = self.rooms(b, Source::all(frame), rows);
                b.unrolled("row", 0, rows, 1, |b, k| {
                    for (source, raw) in &rooms {
                        let pair = self.frame.lanes.held.serve(1, source.row, front + k);
                        let start = source.row_start(b, frame, pair);
                        let room = k * source.samples(frame);
                        source.fetch_each(b, frame, (*raw, room), start.into(), served);
                    }
                });
                self.see(b, &rooms, first, rows);
            });
        }
    }

    /// The sources, each with registers for the lane's samples of this many row pairs.
    fn rooms(&self, b: &mut Builder, sources: Vec<Source>, rows: i32) -> Vec<(Source, LocalId)> {
        let room = |source: Source| {
            let raw = source.raw_rows(b, self.frame, rows);
            (source, raw)
        };
        sources.into_iter().map(room).collect()
    }

    /// Converts loaded samples to the form that the steps read: `rows` row pairs from `first` on.
    fn see(&self, b: &mut Builder, rooms: &[(Source, LocalId)], first: i32, rows: i32) {
        let (frame, slab) = (self.frame, &self.slab);
        b.unrolled("row", 0, rows, 1, |b, k| {
            for (source, raw) in rooms {
                let row = slab.row(source.row, k + first);
                let room = k * source.samples(frame);
                source.see_row(b, frame, &row, (*raw, room), None);
            }
        });
    }
}

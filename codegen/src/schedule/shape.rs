//! Block shapes in plans, wisdom and recipes: a schedule's name and a few named numbers.

use super::limits::check_choice;
use super::{LaunchSchedule, ScheduleError, schedule};
use crate::ir::WARP;
use std::fmt;

/// Maximum fields of a shape.
const MOST: usize = 6;

/// One field of a schedule's shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in wisdom.
    pub name: &'static str,
    /// The smallest sensible value.
    pub least: u32,
    /// The largest sensible value.
    pub most: u32,
}

impl Field {
    /// A field from `least` to `most`, both included.
    pub const fn new(name: &'static str, least: u32, most: u32) -> Field {
        Field { name, least, most }
    }

    /// A field that is 0 or 1.
    pub const fn flag(name: &'static str) -> Field {
        Field::new(name, 0, 1)
    }

    /// Length of a walk between its halos, in pairs of rows or planes. In a shape, 0 leaves it to the schedule.
    pub const CHUNK: Field = Field::new("chunk", 1, 1 << 20);
    /// Columns a lane.
    pub const COLUMNS: Field = Field::new("columns", 1, 64);
    /// Warps a thread block.
    pub const WARPS: Field = Field::new("warps", 1, 32);
}

/// A schedule and the numbers that size its blocks. The schedule's own `Shape` documents each.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    schedule: &'static dyn LaunchSchedule,
    values: [u32; MOST],
    /// Lanes of a warp.
    lanes: u32,
}

/// Errors of named shapes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// No schedule has that name.
    #[error("unknown schedule `{0}`")]
    Schedule(String),
    /// A field is missing.
    #[error("the shape of `{schedule}` needs `{field}`")]
    Missing {
        /// The schedule.
        schedule: &'static str,
        /// The field.
        field: &'static str,
    },
    /// The schedule has no such field.
    #[error("the shape of `{schedule}` has no field `{field}`")]
    Unknown {
        /// The schedule.
        schedule: &'static str,
        /// The field.
        field: String,
    },
    /// A value out of range.
    #[error("invalid {field} {value}: {least} to {most} are allowed")]
    Senseless {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u32,
        /// The smallest allowed value.
        least: u32,
        /// The largest allowed value.
        most: u32,
    },
}

impl Shape {
    /// A shape of a schedule, from its numbers in the order of [`Schedule::fields`].
    ///
    /// # Panics
    /// If their count differs from the number of fields.
    pub fn new(schedule: &'static dyn LaunchSchedule, numbers: &[u32]) -> Shape {
        assert_eq!(schedule.fields().len(), numbers.len(), "the numbers of a shape of `{}`", schedule.name());
        let mut values = [0; MOST];
        values[..numbers.len()].copy_from_slice(numbers);
        Shape { schedule, values, lanes: WARP }
    }

    /// A shape from the name of a schedule of [`SCHEDULES`](super::SCHEDULES) and its named numbers.
    ///
    /// # Errors
    /// If there is no such schedule, or a field is missing, unknown or out of range.
    pub fn named<'a>(name: &str, numbers: impl Iterator<Item = (&'a str, u32)>) -> Result<Shape, ShapeError> {
        let of = schedule(name).ok_or_else(|| ShapeError::Schedule(name.to_owned()))?;
        let (schedule, mut found) = (of.name(), [None; MOST]);
        for (number, value) in numbers {
            let index = of.fields().iter().position(|field| field.name == number);
            let index = index.ok_or_else(|| ShapeError::Unknown { schedule, field: number.to_owned() })?;
            found[index] = Some(value);
        }
        let mut shape = Shape { schedule: of, values: [0; MOST], lanes: WARP };
        for ((field, value), found) in of.fields().iter().zip(&mut shape.values).zip(found) {
            *value = found.ok_or(ShapeError::Missing { schedule, field: field.name })?;
        }
        shape.check()?;
        Ok(shape)
    }

    /// Checks all fields' ranges; the schedule itself checks more.
    ///
    /// # Errors
    /// The first field out of range.
    pub fn check(&self) -> Result<(), ShapeError> {
        let is_sane = |(field, value): (&Field, u32)| (field.least..=field.most).contains(&value);
        match self.schedule.fields().iter().zip(self.values).find(|one| !is_sane(*one)) {
            None => Ok(()),
            Some((&Field { name: field, least, most }, value)) => {
                Err(ShapeError::Senseless { field, value, least, most })
            }
        }
    }

    /// The schedule whose shape this is.
    pub fn schedule(&self) -> &'static dyn LaunchSchedule {
        self.schedule
    }

    /// Lanes of a warp: those of a CUDA device by default.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// The shape for devices whose warps, or sub-groups, have `lanes` lanes.
    pub fn of_lanes(self, lanes: u32) -> Shape {
        Shape { lanes, ..self }
    }

    /// Checks that warps have the usual number of lanes, for schedules that support no other.
    ///
    /// # Errors
    /// If they have another number.
    pub fn check_lanes(&self) -> Result<(), ScheduleError> {
        check_choice(self.schedule.name(), "lanes of a warp", self.lanes, [WARP])
    }

    /// The fields' names and values.
    pub fn numbers(&self) -> impl Iterator<Item = (&'static str, u32)> + use<> {
        self.schedule.fields().iter().map(|field| field.name).zip(self.values)
    }

    /// The first `N` numbers.
    pub fn values<const N: usize>(&self) -> [u32; N] {
        std::array::from_fn(|i| self.values[i])
    }

    /// The value of a field, if the schedule has it.
    pub fn get(&self, name: &str) -> Option<u32> {
        self.numbers().find(|(field, _)| *field == name).map(|(_, value)| value)
    }

    /// The shape with another value of a field, if the schedule has it.
    pub fn with(mut self, name: &str, value: u32) -> Shape {
        if let Some(index) = self.schedule.fields().iter().position(|field| field.name == name) {
            self.values[index] = value;
        }
        self
    }

    /// The chunk length in pairs of rows or planes; 0 leaves it to the schedule.
    pub fn chunk(&self) -> u32 {
        self.get(Field::CHUNK.name).unwrap_or(0)
    }

    /// The shape with another chunk length, if the schedule has one.
    pub fn with_chunk(self, chunk: u32) -> Shape {
        self.with(Field::CHUNK.name, chunk)
    }

    /// The shape with every chunk length that tuning measures by default.
    pub(super) fn with_usual_chunks(self) -> Vec<Shape> {
        [4, 8, 16, 32, 64, 128].map(|chunk| self.with_chunk(chunk)).into()
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_struct(self.schedule.name());
        self.numbers().for_each(|(name, value)| {
            list.field(name, &value);
        });
        list.finish()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.schedule.describe(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::SCHEDULES;

    /// All shapes have room for their fields, whose names are unique.
    #[test]
    fn names_and_numbers_make_a_shape() {
        for &schedule in SCHEDULES {
            let least: Vec<u32> = schedule.fields().iter().map(|field| field.least).collect();
            let shape = Shape::new(schedule, &least);
            assert_eq!(Shape::named(schedule.name(), shape.numbers()), Ok(shape));
            assert!(schedule.fields().iter().all(|field| shape.get(field.name) == Some(field.least)), "{shape:?}");
        }
    }

    #[test]
    fn invalid_shapes_are_refused() {
        let numbers = [("columns", 4), ("warps", 2), ("ring", 8), ("chunk", 3)];
        let stream = Shape::named("stream", numbers.into_iter()).unwrap();
        assert_eq!(stream.to_string(), "stream, 4 columns a lane, 2 warps, ring of 8, chunks of 3 row pairs");
        assert_eq!(format!("{stream:?}"), "stream { columns: 4, warps: 2, ring: 8, chunk: 3 }");
        let error = |name, numbers: &[(&'static str, u32)]| {
            Shape::named(name, numbers.iter().copied()).expect_err("it is none").to_string()
        };
        assert_eq!(error("torrent", &numbers), "unknown schedule `torrent`");
        assert_eq!(error("stream", &numbers[1..]), "the shape of `stream` needs `columns`");
        assert_eq!(error("stream", &[("rows", 3)]), "the shape of `stream` has no field `rows`");
        let none = [("columns", 4), ("warps", 2), ("ring", 8), ("chunk", 0)];
        assert_eq!(error("stream", &none), "invalid chunk 0: 1 to 1048576 are allowed");
    }
}

//! C's part of sweeps.

use super::wide::{Line, Value, Wide};
use super::{Sweeps, border, is_unread};
use crate::back::namer::Namer;
use crate::back::{C, Dialect, wrap_list};
use crate::emit::{EmitError, Request, Template, prepared};
use crate::schedule::rows::{Row, Sweep, SweepStep};
use lifting_dsl::{Boundary, Direction};

impl Sweeps {
    /// The most samples that a step reads; at least 1.
    fn reads(&self) -> usize {
        let steps = self.all().flat_map(|sweep| &sweep.steps);
        steps.map(|step| step.offsets.len()).max().unwrap_or(0).max(1)
    }

    /// Parts that the file has once.
    pub(in crate::emit) fn opening(&self, t: &Template, boundary: Boundary) -> String {
        let t = t.clone().with("READS", self.reads().to_string()).with("SERVE", border::serve_c(boundary));
        t.fill(include_str!("../sweep_file.c.in"))
    }

    /// The functions of sample type `index`, and the names of their kernels. `t` has its placeholders.
    ///
    /// # Errors
    /// If a kernel breaks the rules of the IR.
    pub(in crate::emit) fn transform(
        &self,
        request: &Request,
        index: usize,
        t: &Template,
        namer: &mut Namer,
    ) -> Result<(String, Vec<String>), EmitError> {
        let ways = &self.ways[index];
        let gain = |text: &str| if request.gain { text.to_string() } else { String::new() };
        let mut t = t
            .clone()
            .with("READS", self.reads().to_string())
            .with("PAIRS", ways[0].pairs.to_string())
            .with("BLOCK", ways[0].block.max(ways[1].block).to_string())
            .with("MARGIN", ways[0].margin.max(ways[1].margin).to_string())
            .with("HANDED", self.handed().to_string())
            .with("RING", ways[0].ring.max(ways[1].ring).to_string())
            .with("GAIN_PARAM", gain(", int32_t gain"))
            .with("GAIN_ARG", gain(", gain"))
            .with("GAIN_NONE", gain(", 0"))
            .with("GAIN_SWEEP", gain(", s->gain"));
        t = match &self.wide[index] {
            Some(ways) => {
                let text = wide(ways, &t);
                let [forward, inverse] = [("1", WIDE_FORWARD), ("0", WIDE_INVERSE)].map(|(forward, text)| {
                    let t = t.clone().with("IS_FORWARD", forward);
                    [t.fill(WIDE_PART), t.clone().with("TAKEN", t.fill(text)).fill(WIDE_TURN)]
                });
                let [part_forward, forward] = forward;
                let [part_inverse, inverse] = inverse;
                let ring = t.fill(WIDE_RING);
                t.with("WIDE", text)
                    .with("WIDE_RING", ring)
                    .with("WIDE_PART_FORWARD", part_forward)
                    .with("WIDE_FORWARD", forward)
                    .with("WIDE_PART_INVERSE", part_inverse)
                    .with("WIDE_INVERSE", inverse)
            }
            None => WIDE_PLACES.into_iter().fold(t, |t, place| t.with(place, "")),
        };
        let mut both = String::new();
        let (mut kernels, mut all) = (String::new(), Vec::new());
        for (sweep, direction) in ways.iter().zip([Direction::Forward, Direction::Inverse]) {
            let prepared = prepared(sweep.kernels().cloned())?;
            let pairs: Vec<_> = prepared.iter().map(|(k, i)| (k, i)).collect();
            let (mut text, names) = C.write_with(&pairs, namer)?;
            for name in &names {
                let head = format!("static void {name}(");
                text = text.replace(&head, &format!("{}_CLONES\n{head}", t.upper()));
            }
            kernels.push('\n');
            kernels += &text;
            let [before, after] = sweep.halo.map(|pairs| pairs.to_string());
            let [even, odd] = sweep.delay;
            t = match direction {
                Direction::Forward => t
                    .with("SPLIT", &*names[0])
                    .with("BEFORE_FORWARD", before)
                    .with("AFTER_FORWARD", after)
                    .with("DELAY_FORWARD", format!("{even}, {odd}")),
                Direction::Inverse => t
                    .with("MERGE", &*names[0])
                    .with("BEFORE_INVERSE", before)
                    .with("AFTER_INVERSE", after)
                    .with("DELAY_INVERSE", format!("{even}, {odd}")),
            };
            let way = t
                .clone()
                .with("D", direction.name())
                .with("COUNT", sweep.steps.len().to_string())
                .with("STEPS", steps(sweep))
                .with("UNREAD", if is_unread(sweep) { "    (void)reads;\n" } else { "" })
                .with("CASES", cases(sweep, &names[1..]))
                .with("BEYOND_ACROSS", border::beyond_c(request.boundary))
                .with(
                    "TURN",
                    sweep.turn.as_ref().map_or(String::new(), |(_, rows)| t.fill(&turn(rows, &names[names.len() - 1]))),
                );
            both += &way.fill(include_str!("../sweep_way.c.in"));
            all.extend(names);
        }
        Ok((kernels + "\n" + &t.with("BOTH", both).fill(include_str!("../sweep.c.in")), all))
    }
}

/// Placeholders of the sweep's template that AVX-512 turns fill.
const WIDE_PLACES: [&str; 6] =
    ["WIDE", "WIDE_RING", "WIDE_PART_FORWARD", "WIDE_FORWARD", "WIDE_PART_INVERSE", "WIDE_INVERSE"];

const WIDE_RING: &str = "\
#if @U@_WIDE
        wide_ring_@S@(&s, forward);
#endif
";

const WIDE_PART: &str = "\
#if @U@_WIDE
    int32_t part[2];
    wide_part_@S@(s, level, @IS_FORWARD@, part);
#endif
";
const WIDE_TURN: &str = "\
#if @U@_WIDE
        if (k0 == part[0] && part[0] < part[1]) {
@TAKEN@            k1 = part[1];
            continue;
        }
        if (k0 < part[0] && k1 > part[0]) k1 = part[0];
#endif
";
const WIDE_FORWARD: &str = "            analyse_wide_@S@(s, level, part[0], part[1]);\n";
const WIDE_INVERSE: &str = "            synthesise_wide_@S@(s, level, part[0], part[1]);
            synthesised_@S@(s, level, before, part[0] + wide_lanes_@S@ - wide_behind_inverse_@S@);
            before = part[1] - wide_behind_inverse_@S@;
";

/// The functions of turns in AVX-512 registers.
fn wide(ways: &[Wide; 2], t: &Template) -> String {
    let set = ways[0].set;
    let bits = set.bits;
    let places = set.places().map(|places| {
        let places: Vec<String> = places.iter().map(i32::to_string).collect();
        format!("{},\n", wrap_list("    {", &places, "}"))
    });
    let mut t = t
        .clone()
        .with("V", set.vector)
        .with("LANES", set.lanes.to_string())
        .with("INDEX", format!("int{}_t", 512 / set.lanes))
        .with("PLACES", places.concat())
        .with("BITS", bits)
        .with("STREAM_CAST", if set.whole() { "(__m512i *)(void *)" } else { "" })
        .with("PICK", format!("_mm512_permutex2var_{}", set.arithmetic));
    let mut text = String::new();
    for (wide, direction) in ways.iter().zip([Direction::Forward, Direction::Inverse]) {
        let forward = direction == Direction::Forward;
        let each = |line: &dyn Fn(&str) -> String| wide.kept.iter().map(|name| line(name)).collect::<String>();
        let [even, odd] = &wide.results;
        let opening = match forward {
            true => {
                "    const wide_@S@ one = get_@S@(pairs), two = get_@S@(pairs + wide_lanes_@S@);
    const wide_@S@ even = pick_@S@(one, two, wide_places_@S@[1]);
    const wide_@S@ odd = pick_@S@(one, two, wide_places_@S@[1] + wide_lanes_@S@);
"
            }
            false => "",
        };
        let closing = match forward {
            true => format!("    *evens = {even};\n    *odds = {odd};\n"),
            false => format!(
                "    *first = pick_@S@({even}, {odd}, wide_places_@S@[2]);
    *second = pick_@S@({even}, {odd}, wide_places_@S@[2] + wide_lanes_@S@);
"
            ),
        };
        let along = format!(
            "{opening}{}{}{closing}",
            lines(&wide.along),
            each(&|name| format!("    kept->{name} = {name};\n"))
        );
        let stored: String =
            wide.stored.iter().map(|(i, value)| format!("    set_@S@(ring[{i}] + x, {value});\n")).collect();
        let left: String =
            wide.left.iter().enumerate().map(|(i, (_, value))| format!("    left[{i}] = {value};\n")).collect();
        let kept: String =
            wide.left.iter().map(|(i, value)| format!("        set_@S@(ring[{i}] + x, {value});\n")).collect();
        let rows: Vec<String> = wide.rows.iter().map(|row| format!("{{{}, {}}}", row.phase, row.k)).collect();
        let way = t
            .clone()
            .with("D", direction.name())
            .with("KEPT", wide.kept.join(", "))
            .with("START", each(&|name| format!("    kept->{name} = _mm512_setzero_{bits}();\n")))
            .with("BEHIND", wide.behind.to_string())
            .with(
                "ALONG_HEAD",
                t.fill(if forward {
                    "const @T@ *pairs, wide_@S@ *evens, wide_@S@ *odds"
                } else {
                    "wide_@S@ even, wide_@S@ odd, wide_@S@ *first, wide_@S@ *second"
                }),
            )
            .with("ALONG", t.fill(&along))
            .with("ROWS", rows.len().to_string())
            .with("ROW_LIST", rows.join(", "))
            .with("DOWN", t.fill(&format!("{}{stored}{left}    if (keep) {{\n{kept}    }}\n", lines(&wide.down))));
        text += &way.fill(include_str!("../sweep_wide_way.c.in"));
        let [behind, count] = match forward {
            true => ["BEHIND_FORWARD", "ROWS_FORWARD"],
            false => ["BEHIND_INVERSE", "ROWS_INVERSE"],
        };
        t = t.with(behind, wide.behind.to_string()).with(count, rows.len().to_string());
    }
    t.with("WAYS", text).fill(include_str!("../sweep_wide.c.in"))
}

/// Lines of a function.
fn lines(lines: &[Line]) -> String {
    let line = |line: &Line| match line {
        Line::Comment(text) => format!("    // {text}\n"),
        Line::Let(name, value) => {
            let value = match value {
                Value::Text(text) => text.clone(),
                Value::Later(register, lanes) => format!("later_@S@(kept->{register}, {register}, {lanes})"),
                Value::Ring(row) => format!("get_@S@(ring[{row}] + x)"),
            };
            format!("    const wide_@S@ {name} = {value};\n")
        }
    };
    lines.iter().map(line).collect()
}

/// The table of steps.
fn steps(sweep: &Sweep) -> String {
    let line = |step: &SweepStep| {
        let offsets: Vec<String> = step.offsets.iter().map(i32::to_string).collect();
        let offsets = if offsets.is_empty() { "0".into() } else { offsets.join(", ") };
        format!(
            "    {{{}, {}, {}, {}, {}, {{{offsets}}}}}, /* {} */\n",
            step.target.parity(),
            step.behind,
            step.reach[0],
            step.reach[1],
            step.offsets.len(),
            step.text
        )
    };
    sweep.steps.iter().map(line).collect()
}

/// Calls of the step loops.
fn cases(sweep: &Sweep, names: &[String]) -> String {
    let line = |(i, (step, name)): (usize, (&SweepStep, &String))| {
        let reads: String = (0..step.offsets.len()).map(|r| format!("reads[{r}], ")).collect();
        format!("    case {i}: {name}(target, {reads}n); break;\n")
    };
    sweep.steps.iter().zip(names).enumerate().map(line).collect()
}

/// The call of the turn's loop, away from borders.
fn turn(rows: &[Row], name: &str) -> String {
    let row = |row: &Row| format!("ring_row_@S@(l, {}, t{}) + first", row.phase, signed(row.k));
    let there = |phase: u8| {
        let of = || rows.iter().filter(|row| row.phase == phase).map(|row| row.k);
        let ends = [of().min(), of().max()].into_iter().flatten();
        let ends: Vec<String> = ends.map(|k| format!("has_row_@S@(l, {phase}, t{})", signed(k))).collect();
        ends.join(" && ")
    };
    let conditions = [0, 1].map(there).into_iter().filter(|there| !there.is_empty());
    let conditions = conditions.collect::<Vec<_>>().join(" &&\n        ");
    let mut args: Vec<String> = rows.iter().map(row).collect();
    args.push("n".into());
    let call = wrap_list(&format!("        {name}("), &args, ");").replace("\n    ", "\n            ");
    format!("    if ({conditions}) {{\n{call}\n        return;\n    }}\n")
}

/// ` + 2`, ` - 1`, or nothing.
fn signed(k: i32) -> String {
    match k {
        0 => String::new(),
        k if k < 0 => format!(" - {}", -k),
        k => format!(" + {k}"),
    }
}

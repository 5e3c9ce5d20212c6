//! C's part of sweeps.

use super::order::{Along, Call, Down, Line, arrival, name};
use super::{Sweeps, border};
use crate::back::wrap_list;
use crate::emit::{Request, Template};
use crate::schedule::rows::{Sweep, SweepStep};
use lifting_dsl::{Boundary, Phase};

/// Both directions: name, and index in [`Sweeps::ways`].
const WAYS: [(&str, usize); 2] = [("forward", 0), ("inverse", 1)];

impl Sweeps {
    /// Parts that the file has once.
    pub(in crate::emit) fn opening(&self, t: &Template, boundary: Boundary) -> String {
        let lanes = if self.forms.is_some() { t.fill(LANES) } else { String::new() };
        let t = t.clone().with("WIDE_LANES", lanes).with("SERVE", border::serve_c(boundary));
        t.fill(include_str!("../sweep_file.c.in"))
    }

    /// Macros of the steps of sample type `index`.
    pub(in crate::emit) fn macros(&self, index: usize, t: &Template) -> String {
        let define = |step: &super::Form| {
            let of = &step.arithmetic[index];
            let sign = of.sign.map(|_| "op".to_owned());
            let args: Vec<String> =
                ["T".into(), "U".into()].into_iter().chain(sign).chain(of.params.iter().cloned()).collect();
            let mut body: Vec<String> =
                of.parts.iter().map(|[of, name, value]| format!("const {of} {name} = {value};")).collect();
            body.push(format!("{} = {}", of.params[0], of.value));
            let body = match &body[..] {
                [only] => only.clone(),
                lines => format!("do {{ {}; }} while (0)", lines.join(" ")),
            };
            format!(
                "/* {} */\n{}\n",
                step.text,
                continued(&t.fill(&format!("#define @U@_{}({}) {body}", step.name, args.join(", "))))
            )
        };
        self.steps.iter().map(define).collect()
    }

    /// The functions of a sample type. `t` has its placeholders; `before` precedes the transforms.
    pub(in crate::emit) fn transform(&self, request: &Request, t: &Template, before: &str) -> String {
        let ways = &self.ways[0];
        let gain = |text: &str, plain: &str| t.fill(if request.gain { text } else { plain });
        let most = |of: fn(&Sweep) -> i32| self.all().map(of).max().unwrap_or(0).to_string();
        let rows = self.downs.iter().flatten().map(|down| down.rows.len()).max().unwrap_or(1);
        let halos: i32 = ways.iter().flat_map(|sweep| sweep.halo).sum();
        let mut t = t
            .clone()
            .with("READS", self.reads().to_string())
            .with("ROWS", rows.to_string())
            .with("PAIRS", ways[0].pairs.to_string())
            .with("BLOCK", format!("{} / (int)sizeof(@T@)", self.block_bytes()).replace("@T@", &t.fill("@T@")))
            .with("MARGIN", most(|sweep| sweep.margin))
            .with("HANDED", self.handed().to_string())
            .with("RING", most(|sweep| sweep.ring))
            .with("SEAM", (halos + 1).to_string())
            .with("SPLIT_EVEN", gain(&up("pairs[2 * x]"), "pairs[2 * x]"))
            .with("SPLIT_ODD", gain(&up("pairs[2 * x + 1]"), "pairs[2 * x + 1]"))
            .with("MERGE_EVEN", gain(&down("evens[x]"), "evens[x]"))
            .with("MERGE_ODD", gain(&down("odds[x]"), "odds[x]"))
            .with("GAIN_UP", gain(&GAIN_UP.replace("@UP@", &up("row[x]")), ""))
            .with("GAIN_DOWN", gain(&GAIN_DOWN.replace("@DOWN@", &down("row[x]")), ""))
            .with("BEYOND_ACROSS", border::beyond_c(request.boundary));
        t = t
            .clone()
            .with("LOOPS", self.loops(&t).trim_end().to_owned() + "\n")
            .with("STEPS", self.tables(&t))
            .with("WAYS", self.way_table(&t));
        t = match &self.forms {
            Some(alongs) => {
                let wide = self.wide(alongs, &t);
                let guarded = |text: &str| t.fill(&format!("#if @WIDE_IF@\n{text}#endif\n"));
                t.clone()
                    .with("WIDE", guarded(&wide) + "\n")
                    .with("WIDE_RING", guarded(WIDE_RING))
                    .with("WIDE_PART", guarded(WIDE_PART))
                    .with("WIDE_TURN", guarded(WIDE_TURN))
            }
            None => ["WIDE", "WIDE_RING", "WIDE_PART", "WIDE_TURN"].into_iter().fold(t, |t, place| t.with(place, "")),
        };
        format!("{}{before}\n{}", t.fill(include_str!("../sweep.c.in")), t.fill(include_str!("../axes.c.in")))
    }

    /// A loop for each step and sign, and the loops of turns.
    fn loops(&self, t: &Template) -> String {
        let mut loops: Vec<String> = Vec::new();
        for way in 0..2 {
            for index in 0..self.ways[0][way].steps.len() {
                let reads = self.form(way, index).arithmetic[0].params.len() - 1;
                let args: String = (0..reads).map(|i| format!(", read[{i}][x]")).collect();
                let call = self.call(way, index, "@T@, @SUM@", &format!("target[x]{args}"));
                let line = wrap_call(&format!("@U@_LOOP({}_@S@, {call})", self.loop_name(way, index)));
                if !loops.contains(&line) {
                    loops.push(line);
                }
            }
        }
        let turns: String = (0..2).map(|way| self.turn(way)).collect();
        t.fill(&(loops.concat() + "\n" + &turns))
    }

    /// The loop of a turn, and its steps on one value of each row.
    fn turn(&self, way: usize) -> String {
        let Some(down) = &self.downs[way] else { return String::new() };
        let names: Vec<String> = down.rows.iter().map(|row| name(*row)).collect();
        let calls: Vec<String> = down.calls.iter().map(|call| self.call_on(way, call, "T, U")).collect();
        let loaded: Vec<String> = down.taken.iter().map(|&i| format!("{} = row[{i}][x]", names[i])).collect();
        let loaded = declared("        @T@", &loaded);
        let stored: Vec<String> = down.updated.iter().map(|&i| format!("row[{i}][x] = {};", names[i])).collect();
        let stored = statements("        ", &stored);
        let (direction, upper) = (WAYS[way].0, WAYS[way].0.to_uppercase());
        format!(
            "/* All steps of a turn along columns, on one sample or register of each row, and on n columns. */\n\
             #define @U@_TURN_{upper}(T, U) \\\n    {}\n\
             @U@_CLONES static void turn_{direction}_@S@(@T@ *const *row, int64_t first, int32_t n)\n{{\n    \
             @U@_IVDEP\n    for (int64_t x = first; x < first + n; ++x) {{\n{loaded}        \
             @U@_TURN_{upper}(@T@, @SUM@);\n{stored}    }}\n}}\n\n",
            calls.join("; \\\n    ")
        )
    }

    /// A call of a step's macro.
    fn call(&self, way: usize, index: usize, types: &str, args: &str) -> String {
        let sign = self.sign(way, index).map_or(String::new(), |sign| format!(", {sign}"));
        format!("@U@_{}({types}{sign}, {args})", self.form(way, index).name)
    }

    fn call_on(&self, way: usize, call: &Call, types: &str) -> String {
        let args: Vec<&str> = std::iter::once(&call.target).chain(&call.reads).map(String::as_str).collect();
        self.call(way, call.step, types, &args.join(", "))
    }

    /// The name of a step's loop.
    fn loop_name(&self, way: usize, index: usize) -> String {
        let name = self.form(way, index).name.to_lowercase();
        match self.sign(way, index) {
            Some('+') => format!("{name}_add"),
            Some(_) => format!("{name}_sub"),
            None => name,
        }
    }

    /// The tables of steps.
    fn tables(&self, t: &Template) -> String {
        let mut text = String::new();
        for (sweep, (name, way)) in self.ways[0].iter().zip(WAYS) {
            let line = |(i, step): (usize, &SweepStep)| {
                let offsets: Vec<String> = step.offsets.iter().map(i32::to_string).collect();
                let offsets = if offsets.is_empty() { "0".into() } else { offsets.join(", ") };
                let [before, after] = step.reach;
                let (target, behind, count) = (step.target.parity(), step.behind, step.offsets.len());
                format!(
                    "    {{{}_@S@, {target}, {behind}, {before}, {after}, {count}, {{{offsets}}}}}, /* {} */\n",
                    self.loop_name(way, i),
                    step.text
                )
            };
            let lines: String = sweep.steps.iter().enumerate().map(line).collect();
            text += &t.fill(&format!("static const step_@S@ {name}_steps_@S@[] = {{\n{lines}}};\n\n"));
        }
        text
    }

    /// The table of directions: synthesis, then analysis.
    fn way_table(&self, t: &Template) -> String {
        let way = |(sweep, (name, way)): (&Sweep, (&str, usize))| {
            let [before, after] = sweep.halo;
            let [even, odd] = sweep.delay;
            let (turn, rows) = match &self.downs[way] {
                Some(down) => {
                    let rows = down.rows.iter().map(|row| format!("{{{}, {}}}", row.phase, row.k)).collect();
                    (format!("turn_{name}_@S@"), rows)
                }
                None => ("NULL".into(), vec!["{0, 0}".to_owned()]),
            };
            let count = if self.downs[way].is_some() { rows.len() } else { 0 };
            let reach = [0, 1].map(|phase| {
                let of = || self.downs[way].iter().flat_map(|down| &down.rows).filter(|row| row.phase == phase);
                [of().map(|row| row.k).min().unwrap_or(0), of().map(|row| row.k).max().unwrap_or(0)]
            });
            let [[a, b], [c, d]] = reach;
            let reach = format!("{{{{{a}, {b}}}, {{{c}, {d}}}}}");
            let steps = format!("{name}_steps_@S@, {}", sweep.steps.len());
            let head = format!("    {{{steps}, {before}, {after}, {{{even}, {odd}}}, {turn}, {reach}, {count}, {{");
            t.fill(&wrap_list(&head, &rows, "}}")).replace("\n    ", "\n        ")
        };
        let [forward, inverse] = &self.ways[0];
        format!("{},\n{}\n", way((inverse, WAYS[1])), way((forward, WAYS[0])))
    }

    /// The functions of turns in AVX-512 registers.
    fn wide(&self, alongs: &[Along; 2], t: &Template) -> String {
        let rows = |way: usize| self.downs[way].as_ref().map_or(0, |down| down.rows.len()).to_string();
        let zero =
            |along: &Along| along.kept.iter().map(|name| format!("kept[i].{name} = ")).collect::<String>() + "none;";
        let mut text = String::new();
        for (along, (direction, way)) in alongs.iter().zip(WAYS) {
            let down = self.downs[way].as_ref().expect("a turn in registers has a loop");
            text += &t.fill(&format!(
                "/* Registers kept for the next block along a row. */\ntypedef struct {{\n    wide_@S@ {};\n}} \
                 kept_{direction}_@S@;\n\n",
                along.kept.join(", ")
            ));
            text += &t.fill(&self.along(way, along));
            text += &t.fill(&self.down(way, down));
        }
        t.clone()
            .with("BEHIND_FORWARD", alongs[0].behind.to_string())
            .with("BEHIND_INVERSE", alongs[1].behind.to_string())
            .with("ROWS_FORWARD", rows(0))
            .with("ROWS_INVERSE", rows(1))
            .with("ZERO_FORWARD", zero(&alongs[0]))
            .with("ZERO_INVERSE", zero(&alongs[1]))
            .with("ALONG_AND_DOWN", text)
            .fill(include_str!("../sweep_wide.c.in"))
    }

    /// The function of all steps along a row.
    fn along(&self, way: usize, along: &Along) -> String {
        let [even, odd] = &along.results;
        let head = match way {
            0 => "const @T@ *pairs, wide_@S@ *evens, wide_@S@ *odds",
            _ => "wide_@S@ even, wide_@S@ odd, wide_@S@ *first, wide_@S@ *second",
        };
        let mut text = format!(
            "/* All steps along a row: results lag {} pairs. */\n\
             @U@_INLINE void along_{}_@S@(kept_{}_@S@ *kept, {head})\n{{\n",
            along.behind, WAYS[way].0, WAYS[way].0
        );
        if way == 0 {
            text += "    const wide_@S@ one = get_@S@(pairs), two = get_@S@(pairs + lanes_@S@);
    const wide_@S@ even = pick_@S@(one, two, places_@S@[1]);
    const wide_@S@ odd = pick_@S@(one, two, places_@S@[1] + lanes_@S@);\n";
        }
        for line in &along.lines {
            text += &match line {
                Line::Later { name, of, lanes: 0 } => format!("    wide_@S@ {name} = {of};\n"),
                Line::Later { name, of, lanes } => {
                    let updated = along.lines.iter().any(|line| matches!(line, Line::Call(c) if c.target == *name));
                    let constness = if updated { "" } else { "const " };
                    format!("    {constness}wide_@S@ {name} = later_@S@(kept->{of}, {of}, {lanes});\n")
                }
                Line::Call(call) => format!("    {};\n", self.call_on(way, call, "wide_@S@, sums_@S@")),
            };
        }
        let kept: Vec<String> = along.kept.iter().map(|kept| format!("kept->{kept} = {kept};")).collect();
        text += &statements("    ", &kept);
        text += &match way {
            0 => format!("    *evens = {even};\n    *odds = {odd};\n"),
            _ => format!(
                "    *first = pick_@S@({even}, {odd}, places_@S@[2]);\n    \
                 *second = pick_@S@({even}, {odd}, places_@S@[2] + lanes_@S@);\n"
            ),
        };
        text + "}\n\n"
    }

    /// The function of all steps along columns.
    fn down(&self, way: usize, down: &Down) -> String {
        let value = |i: &usize| {
            let row = down.rows[*i];
            let value = match arrival(row) {
                Some(at) => format!("new_rows[{at}]"),
                None => format!("get_@S@(ring[{i}] + x)"),
            };
            format!("{} = {value}", name(row))
        };
        let used = |i: &usize| down.taken.contains(i) || down.stored.contains(i) || down.left.contains(i);
        let values: Vec<String> = (0..down.rows.len()).filter(used).map(|i| value(&i)).collect();
        let set = |i: &usize| format!("set_@S@(ring[{i}] + x, {});", name(down.rows[*i]));
        let sets = |indent: &str, rows: &[usize]| statements(indent, &rows.iter().map(set).collect::<Vec<_>>());
        let left = down.left.iter().enumerate().map(|(at, i)| format!("left[{at}] = {};", name(down.rows[*i])));
        let left = statements("    ", &left.collect::<Vec<_>>());
        let (stored, kept) = (sets("    ", &down.stored), sets("        ", &down.left));
        format!(
            "/* All steps of a turn along columns. Rows that leave go to `left`, and also to the ring if `keep`. */\n\
             @U@_INLINE void down_{}_@S@(\n    @T@ *const *ring, int64_t x, const wide_@S@ *new_rows, wide_@S@ *left, \
             int keep)\n{{\n{}    \
             @U@_TURN_{}(wide_@S@, sums_@S@);\n{stored}{left}    if (keep) {{\n{kept}    }}\n}}\n\n",
            WAYS[way].0,
            declared("    wide_@S@", &values),
            WAYS[way].0.to_uppercase()
        )
    }
}

/// A declaration of several values.
fn declared(head: &str, values: &[String]) -> String {
    let indent = &head[..head.len() - head.trim_start().len()];
    let text = wrap_list("", values, ";");
    match text.strip_prefix('\n') {
        None => format!("{head} {text}\n"),
        Some(lines) => {
            let lines: String = lines.lines().map(|line| format!("{indent}{line}\n")).collect();
            format!("{head}\n{lines}")
        }
    }
}

/// Short statements, several a line.
fn statements(indent: &str, statements: &[String]) -> String {
    let mut out = String::new();
    let mut column = 0;
    for statement in statements {
        // A private name grows by its prefix.
        let width = statement.len() + 1 + 8 * statement.matches("_@S@").count();
        if column > 0 && column + width <= 118 {
            out += &format!(" {statement}");
        } else {
            out += &format!("{}{indent}{statement}", if column > 0 { "\n" } else { "" });
            column = indent.len();
        }
        column += width;
    }
    out + "\n"
}

/// A call of a macro on lines of at most 120 columns.
fn wrap_call(text: &str) -> String {
    match text.split_once(", ") {
        Some((head, rest)) if text.len() > 118 => format!("{head},\n    {rest}\n"),
        _ => format!("{text}\n"),
    }
}

/// A sample with the gain.
fn up(sample: &str) -> String {
    format!("(@T@)((@SUM@){sample} << gain)")
}

/// A sample without the gain, rounded.
fn down(sample: &str) -> String {
    format!("(@T@)((@SIGNED@)((@SUM@){sample} + (((@SUM@)1 << gain) >> 1)) >> gain)")
}

const GAIN_UP: &str = "                for (int32_t x = 0; s->forward && gain != 0 && x < n; ++x) moved[x] = @UP@;
";
const GAIN_DOWN: &str = "        for (int p = 0; p < 2 && !s->forward && gain != 0; ++p) {
            for (int32_t k = skip[p]; k < l->down[p]; ++k) {
                @T@ *const row = to[p] + (k - skip[p]) * to_pitch[p] + first;
                for (int32_t x = 0; x < n; ++x) row[x] = @DOWN@;
            }
        }
";

const WIDE_RING: &str =
    "        /* The ring's rows move by less than a cache line, so that registers fill whole lines. */
        for (int i = 0; i < s.levels; ++i) {
            s.level[i].ring += (2 * lanes_@S@ - wide_first_@S@(&s, i) % lanes_@S@) % lanes_@S@;
        }
";
const WIDE_PART: &str = "    int32_t part[2];
    wide_part_@S@(s, level, part);
";
const WIDE_TURN: &str = "        if (k0 == part[0] && part[0] < part[1] && rows != NULL) {
            k1 = part[1];
            if (s->forward) {
                analyse_wide_@S@(s, level, rows, k0, k1);
            } else {
                synthesise_wide_@S@(s, level, rows, k0, k1);
                leave_@S@(s, level, before, k0 + lanes_@S@ - behind_inverse_@S@);
                before = k1 - behind_inverse_@S@;
            }
            continue;
        }
        if (k0 < part[0]) k1 = smaller(k1, part[0]);
";

/// Lists of lane indices, and four calls.
const LANES: &str = "\
/* Lists of lane indices into two registers of n lanes. */
#define @U@_SAME(i, n) (i)
#define @U@_APART(i, n) ((i) < (n) ? 2 * (i) : 2 * ((i) - (n)) + 1)
#define @U@_IN_TURN(i, n) ((i) / 2 + (i) % 2 * (n))
#define @U@_FOUR(F, n, i) F((i), n), F((i) + 1, n), F((i) + 2, n), F((i) + 3, n)
#define @U@_LANES_64(F, n, i) \\
    @U@_FOUR(F, n, i), @U@_FOUR(F, n, (i) + 4), @U@_FOUR(F, n, (i) + 8), @U@_FOUR(F, n, (i) + 12)
#define @U@_LANES_32(F, n, i) @U@_LANES_64(F, n, i), @U@_LANES_64(F, n, (i) + 16)
#define @U@_LANES_16(F, n, i) @U@_LANES_32(F, n, i), @U@_LANES_32(F, n, (i) + 32)
#define @U@_EACH(ACTION) ACTION(0) ACTION(1) ACTION(2) ACTION(3)

";

/// A directive of at most 118 columns a line, continued.
fn continued(text: &str) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in text.split(' ') {
        let width = word.chars().count() + 1;
        if column + width > 116 {
            out += " \\\n    ";
            column = 4;
        } else if column > 0 {
            out.push(' ');
        }
        out += word;
        column += width;
    }
    out
}

/// The name of a step's macro, before its number.
pub(super) fn step_kind(step: &SweepStep) -> &'static str {
    match (step.offsets.is_empty(), step.target) {
        (true, _) => "SCALE",
        (_, Phase::Odd) => "PREDICT",
        (_, Phase::Even) => "UPDATE",
    }
}

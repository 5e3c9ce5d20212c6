//! Recorded steps of a block, for counting and coding without the coefficients.

use super::super::{CONTEXTS, DEPTHS, MAX_SIDE};
use super::{Counts, Digits, Engine, Exhausted, Kind, PassEnd, REFINEMENT, SIGN, Set, depth};

/// Most steps of a pass: left and right columns of each row.
const MOST: usize = 2 * MAX_SIDE;

/// Steps counted at once.
const AT_ONCE: usize = 16;

/// Steps of one kind in a pass, as arrays. Entries after the last step are 0.
struct List {
    plane: u32,
    /// Index of the first context.
    first: usize,
    count: usize,
    contexts: [[Set; MOST]; 4],
    lanes: [Set; MOST],
    known: [Set; MOST],
}

impl List {
    fn new(plane: u32, first: usize) -> List {
        List { plane, first, count: 0, contexts: [[0; MOST]; 4], lanes: [0; MOST], known: [0; MOST] }
    }

    #[inline(always)]
    fn push(&mut self, contexts: &Digits, lanes: Set, known: Set) {
        let at = self.count % MOST;
        let [a, b, c, d] = &mut self.contexts;
        (a[at], b[at], c[at], d[at]) = (contexts[0], contexts[1], contexts[2], contexts[3]);
        (self.lanes[at], self.known[at]) = (lanes, known);
        self.count += 1;
    }

    /// Codes step `at`. Returns whether it has a symbol of 1.
    #[inline(always)]
    fn code<E: Engine, const COUNT: usize>(&self, at: usize, engine: &mut E) -> Result<bool, Exhausted> {
        let at = at % MOST;
        let (lanes, known) = (self.lanes[at], self.known[at]);
        let [a, b, c, d] = &self.contexts;
        engine.code(Kind::<COUNT> { first: self.first }, &[a[at], b[at], c[at], d[at]], lanes, known)?;
        Ok(lanes & known != 0)
    }

    /// Adds the symbols to the counts of each context.
    #[inline(always)]
    fn count<const COUNT: usize>(&self, counts: &mut [[u32; 2]; CONTEXTS]) {
        let steps = self.count.next_multiple_of(AT_ONCE).min(MOST);
        let [a, b, c, d] = &self.contexts;
        for (context, counts) in counts[self.first..][..COUNT].iter_mut().enumerate() {
            // All ones where a digit has to be 0.
            let not = |digit: u32| (context as Set >> digit & 1).wrapping_sub(1);
            let (not_a, not_b, not_c, not_d) = (not(0), not(1), not(2), not(3));
            let (mut all, mut ones) = (0, 0);
            for i in 0..steps {
                let here = self.lanes[i] & (a[i] ^ not_a) & (b[i] ^ not_b) & (c[i] ^ not_c) & (d[i] ^ not_d);
                all += here.count_ones();
                ones += (here & self.known[i]).count_ones();
            }
            counts[0] += all - ones;
            counts[1] += ones;
        }
    }
}

/// Steps of a block: for each pass, those over significance and their signs, or those of refinement.
pub struct Steps {
    lists: Vec<List>,
    plane: u32,
    /// Number of planes whose signs and refinements go to the tail.
    tail: u32,
}

impl Engine for Steps {
    fn plane(&mut self, plane: u32) {
        self.plane = plane;
    }

    fn pass(&mut self, first: usize) {
        self.lists.push(List::new(self.plane, first));
        if first != REFINEMENT.first {
            self.lists.push(List::new(self.plane, SIGN.first));
        }
    }

    #[inline(always)]
    fn code<const COUNT: usize>(
        &mut self,
        kind: Kind<COUNT>,
        contexts: &Digits,
        lanes: Set,
        known: Set,
    ) -> Result<Set, Exhausted> {
        let is_last = kind.first == SIGN.first || kind.first == REFINEMENT.first;
        let at = self.lists.len() - if is_last { 1 } else { 2 };
        self.lists[at].push(contexts, lanes, known);
        Ok(known)
    }
}

impl Steps {
    /// No steps yet, for a block with `tail` planes in the tail.
    pub fn new(tail: u32) -> Steps {
        Steps { lists: Vec::new(), plane: 0, tail }
    }

    /// Symbol counts of a block of `planes` planes, without the tail.
    #[inline(always)]
    pub fn count(&self, planes: u32) -> Counts {
        let mut counts = Counts { symbols: Box::new([[[0; 2]; CONTEXTS]; DEPTHS]), tail: 0, planes };
        for list in self.lists.iter().filter(|list| list.count > 0) {
            let counts = &mut counts.symbols[depth(planes, list.plane)];
            match list.first {
                first if first == SIGN.first => list.count::<5>(counts),
                first if first == REFINEMENT.first => list.count::<2>(counts),
                _ => list.count::<9>(counts),
            }
        }
        counts
    }

    /// Codes all steps in order, and records the places of the ends of passes.
    #[inline(always)]
    pub fn replay<E: Engine>(&self, engine: &mut E, ends: &mut [PassEnd]) -> Result<(), Exhausted> {
        let (mut lists, mut ends) = (self.lists.iter(), ends.iter_mut());
        let mut plane = u32::MAX;
        while let Some(list) = lists.next() {
            if list.plane != plane {
                plane = list.plane;
                engine.plane(plane);
            }
            if list.first == REFINEMENT.first {
                for at in 0..list.count {
                    list.code::<E, 2>(at, engine)?;
                }
            } else {
                let Some(signs) = lists.next() else { break };
                let mut sign = 0;
                for at in 0..list.count {
                    if list.code::<E, 9>(at, engine)? && plane >= self.tail {
                        signs.code::<E, 5>(sign, engine)?;
                        sign += 1;
                    }
                }
            }
            if plane >= self.tail
                && let Some(end) = ends.next()
            {
                end.words = engine.words();
            }
        }
        Ok(())
    }
}

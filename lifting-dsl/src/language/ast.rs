//! Syntax tree of a `.lift` file, checked against the grammar alone.
//!
//! Words and numbers are still text; [`crate::language::validate`] gives them meaning. Every node has its span; compare
//! two trees after [`File::erase_spans`].

use crate::core::scheme::Phase;
use crate::core::span::Span;

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// The wavelets, in the order of the file.
    pub wavelets: Vec<Wavelet>,
}

/// A name or another word, such as `dd137` or `whole-symmetric`.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// Its text, without blanks.
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// `wavelet NAME { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Wavelet {
    /// The lines of its doc comment, without `///` and one leading blank.
    pub docs: Vec<String>,
    /// The name.
    pub name: Word,
    /// The statements between the braces.
    pub items: Vec<Item>,
    /// From the keyword to the closing brace.
    pub span: Span,
}

/// A statement of a wavelet.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `domain integer;`
    Domain(Word),
    /// `boundary periodic;`
    Boundary(Word),
    /// `profile vc2 { … }`
    Profile(Profile),
    /// `const alpha = …;`
    Const(Const),
    /// `odd += …;`
    Step(Step),
    /// `swap;`
    Swap(Span),
    /// `lattice { … }`
    Lattice(Lattice),
    /// `bank { … }`
    Bank(Bank),
    /// `factor lifting;`
    Factor(Word),
    /// A part that could not be parsed, and was reported.
    Error(Span),
}

/// `profile NAME { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The format.
    pub name: Word,
    /// The statements between the braces.
    pub items: Vec<ProfileItem>,
    /// From the keyword to the closing brace.
    pub span: Span,
}

/// A statement of a profile.
#[derive(Clone, Debug, PartialEq)]
pub enum ProfileItem {
    /// `boundary edge;`
    Boundary(Word),
    /// `gain shift 1;`
    GainShift(Expr),
}

/// `const NAME = value;`
#[derive(Clone, Debug, PartialEq)]
pub struct Const {
    /// The name.
    pub name: Word,
    /// The value.
    pub value: Expr,
}

/// `even += …;`, `odd -= …;` or `even *= …;`
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The phase before the operator.
    pub target: Phase,
    /// The operator.
    pub op: StepOp,
    /// The expression after it.
    pub expr: Expr,
    /// From the phase to the end of the expression.
    pub span: Span,
}

/// `lattice { … }` or `lattice paper { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Lattice {
    /// Whether the first stage acts on (2k, 2k+1), instead of the last one.
    pub paper: bool,
    /// The stages, in order of execution.
    pub stages: Vec<Stage>,
    /// From the keyword to the closing brace.
    pub span: Span,
}

/// `rotate(a, b);`
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// `rotate`, `reflect` or `matrix`.
    pub kind: Word,
    /// The coefficients.
    pub args: Vec<Expr>,
    /// From the word to the closing parenthesis.
    pub span: Span,
}

/// `bank { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Bank {
    /// The filters.
    pub filters: Vec<Filter>,
    /// From the keyword to the closing brace.
    pub span: Span,
}

/// `lowpass at -3 [..];`
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// `lowpass` or `highpass`.
    pub kind: Word,
    /// Position of the first tap relative to 2k.
    pub at: i32,
    /// The taps.
    pub taps: Vec<Expr>,
    /// From the word to the closing bracket.
    pub span: Span,
}

/// The operator of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOp {
    /// `+=`
    Add,
    /// `-=`
    Sub,
    /// `*=`
    Scale,
}

impl StepOp {
    /// The spelling.
    pub fn symbol(self) -> &'static str {
        match self {
            StepOp::Add => "+=",
            StepOp::Sub => "-=",
            StepOp::Scale => "*=",
        }
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The kind.
    pub kind: ExprKind,
    /// Its place, parentheses included.
    pub span: Span,
}

/// The kind of an expression. Sums and products are lists, so a tree is only as deep as its parentheses.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number, as written: `1_000`, `0x1f`, `2.5e-3`.
    Number(String),
    /// A constant.
    Name(String),
    /// `even[offset]` or `odd[offset]`.
    Read {
        /// The phase.
        phase: Phase,
        /// Index relative to the updated one.
        offset: i32,
    },
    /// `-x`
    Neg(Box<Expr>),
    /// `first + a - b …`; `rest` is not empty.
    Sum {
        /// The first term.
        first: Box<Expr>,
        /// The other terms.
        rest: Vec<(AddOp, Expr)>,
    },
    /// `first * a / b …`; `rest` is not empty.
    Product {
        /// The first factor.
        first: Box<Expr>,
        /// The other factors.
        rest: Vec<(MulOp, Expr)>,
    },
    /// `value >> amount`
    Shift {
        /// The shifted expression.
        value: Box<Expr>,
        /// The shift, in bits.
        amount: Box<Expr>,
    },
    /// `sqrt(2)`
    Call {
        /// The function.
        name: Word,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// A part that could not be parsed, and was reported.
    Error,
}

/// `+` or `-` between two terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddOp {
    /// `+`
    Add,
    /// `-`
    Sub,
}

/// `*` or `/` between two factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MulOp {
    /// `*`
    Mul,
    /// `/`
    Div,
}

impl File {
    /// Sets every span to 0..0, so that trees from different texts can be compared.
    pub fn erase_spans(&mut self) {
        for w in &mut self.wavelets {
            w.span = Span::default();
            w.name.span = Span::default();
            w.items.iter_mut().for_each(Item::erase_spans);
        }
    }
}

impl Item {
    fn erase_spans(&mut self) {
        match self {
            Item::Domain(word) | Item::Boundary(word) | Item::Factor(word) => word.span = Span::default(),
            Item::Profile(profile) => {
                profile.span = Span::default();
                profile.name.span = Span::default();
                for item in &mut profile.items {
                    match item {
                        ProfileItem::Boundary(word) => word.span = Span::default(),
                        ProfileItem::GainShift(expr) => expr.erase_spans(),
                    }
                }
            }
            Item::Const(c) => {
                c.name.span = Span::default();
                c.value.erase_spans();
            }
            Item::Step(step) => {
                step.span = Span::default();
                step.expr.erase_spans();
            }
            Item::Lattice(lattice) => {
                lattice.span = Span::default();
                for stage in &mut lattice.stages {
                    (stage.span, stage.kind.span) = Default::default();
                    stage.args.iter_mut().for_each(Expr::erase_spans);
                }
            }
            Item::Bank(bank) => {
                bank.span = Span::default();
                for filter in &mut bank.filters {
                    (filter.span, filter.kind.span) = Default::default();
                    filter.taps.iter_mut().for_each(Expr::erase_spans);
                }
            }
            Item::Swap(span) | Item::Error(span) => *span = Span::default(),
        }
    }
}

impl Expr {
    fn erase_spans(&mut self) {
        self.span = Span::default();
        match &mut self.kind {
            ExprKind::Number(_) | ExprKind::Name(_) | ExprKind::Read { .. } | ExprKind::Error => {}
            ExprKind::Neg(x) => x.erase_spans(),
            ExprKind::Sum { first, rest } => {
                first.erase_spans();
                rest.iter_mut().for_each(|(_, x)| x.erase_spans());
            }
            ExprKind::Product { first, rest } => {
                first.erase_spans();
                rest.iter_mut().for_each(|(_, x)| x.erase_spans());
            }
            ExprKind::Shift { value, amount } => {
                value.erase_spans();
                amount.erase_spans();
            }
            ExprKind::Call { name, args } => {
                name.span = Span::default();
                args.iter_mut().for_each(Expr::erase_spans);
            }
        }
    }
}

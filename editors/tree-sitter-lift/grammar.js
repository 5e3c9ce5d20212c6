// Tree-sitter's grammar of `.lift`, written by `cargo xtask grammar`. docs/language.md is the reference.

const SHIFT = 1, SUM = 2, PRODUCT = 3, SIGN = 4;

const list = rule => seq(rule, repeat(seq(',', rule)), optional(','));

module.exports = grammar({
  name: 'lift',
  extras: $ => [/\s/, /\uFEFF/, $.comment, $.doc_comment],
  word: $ => $.identifier,

  rules: {
    file: $ => repeat($.wavelet),
    wavelet: $ => seq('wavelet', field('name', $.identifier), '{', repeat($._statement), '}'),

    _statement: $ => choice(
      $.domain, $.boundary, $.profile, $.constant, $.step, $.swap, $.lattice, $.bank, $.factor,
    ),
    domain: $ => seq('domain', field('value', $.word), ';'),
    boundary: $ => seq('boundary', field('rule', $.word), ';'),
    factor: $ => seq('factor', field('value', $.word), ';'),
    profile: $ => seq('profile', field('format', $.word), '{', repeat(choice($.boundary, $.gain)), '}'),
    gain: $ => seq('gain', 'shift', field('amount', $._expression), ';'),
    constant: $ => seq('const', field('name', $.identifier), '=', field('value', $._expression), ';'),
    step: $ => seq(
      field('target', $.phase), field('operator', choice('+=', '-=', '*=')), field('value', $._expression), ';',
    ),
    swap: $ => seq('swap', ';'),
    lattice: $ => seq('lattice', optional('paper'), '{', repeat($.stage), '}'),
    stage: $ => seq(field('kind', choice('rotate', 'reflect', 'matrix')), $.arguments, ';'),
    bank: $ => seq('bank', '{', repeat($.filter), '}'),
    filter: $ => seq(
      field('kind', choice('lowpass', 'highpass')), 'at', field('at', $.index), '[', list($._expression), ']', ';',
    ),

    _expression: $ => choice(
      $.number, $.identifier, $.sample, $.call, $.parenthesized_expression, $.unary_expression, $.binary_expression,
    ),
    unary_expression: $ => prec(SIGN, seq('-', $._expression)),
    binary_expression: $ => choice(
      prec.left(SHIFT, seq($._expression, field('operator', '>>'), $._expression)),
      prec.left(SUM, seq($._expression, field('operator', choice('+', '-')), $._expression)),
      prec.left(PRODUCT, seq($._expression, field('operator', choice('*', '/')), $._expression)),
    ),
    parenthesized_expression: $ => seq('(', $._expression, ')'),
    call: $ => seq(field('function', $.identifier), $.arguments),
    arguments: $ => seq('(', optional(list($._expression)), ')'),
    sample: $ => seq(field('phase', $.phase), '[', field('index', $.index), ']'),
    phase: $ => choice('even', 'odd'),
    index: $ => seq(optional(choice('+', '-')), $.number),

    word: $ => seq($.identifier, repeat(seq('-', $.identifier))),
    identifier: $ => /(?:[\p{L}\p{Nl}][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]*|_[\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]+)/u,
    number: $ => /(?:0[xob][0-9a-fA-F_]+|[0-9][0-9_]*(?:\.[0-9][0-9_]*|\.)?(?:[eE][+\-]?_*[0-9][0-9_]*)?)/,
    comment: $ => /\/\/(?:[^\/\n][^\n]*|\/\/[^\n]*)?/,
    doc_comment: $ => /\/\/\/(?:[^\/\n][^\n]*)?/,
  },
});

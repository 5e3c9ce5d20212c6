; Highlights of `.lift`, written by `cargo xtask grammar`.

(comment) @comment
(doc_comment) @comment.documentation
(number) @number
(identifier) @variable
(constant name: (identifier) @constant)
(wavelet name: (identifier) @type)
(word) @constant.builtin
(word (identifier) @constant.builtin)
(phase) @variable.builtin
(call function: (identifier) @function)
((call function: (identifier) @function.builtin)
  (#match? @function.builtin "^(sqrt|f64|floor|ceil|trunc|half_up|half_even|half_away)$"))
(stage kind: _ @function.builtin)
(filter kind: _ @keyword)
["wavelet" "domain" "boundary" "profile" "const" "swap" "lattice" "bank" "factor" "gain" "shift" "paper" "at"] @keyword
["+" "-" "*" "/" ">>" "=" "+=" "-=" "*="] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";"] @punctuation.delimiter

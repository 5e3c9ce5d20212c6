// Scopes that the TextMate grammar gives to words. Needs vscode-textmate and vscode-oniguruma in NODE_PATH.

const assert = require('assert');
const fs = require('fs');
const path = require('path');
const oniguruma = require('vscode-oniguruma');
const { INITIAL, Registry, parseRawGrammar } = require('vscode-textmate');

const file = path.join(__dirname, '../syntaxes/lift.tmLanguage.json');
const wasm = path.join(path.dirname(require.resolve('vscode-oniguruma')), 'onig.wasm');

const TEXT = `//// no doc
/// Doc.
wavelet sqrt2_é { // end
    domain integer; boundary whole-symmetric; boundary whole-symmetrical;
    const β_1 = -1.5e-3/sqrt (2) + 0x1f;
    odd  -= (even[-1] + oddly*β_1) >> 1_0;
    lattice paper { rotate(1, 2.); } bank { lowpass at -3 [1] } profile vc2 { gain shift 1; }
`;

// A line of TEXT, a word in it, and the end of its scope.
const EXPECTED = [
  [0, '//// no doc', 'comment.line.double-slash'], [1, '/// Doc.', 'comment.line.documentation'],
  [2, 'wavelet', 'keyword.other'], [2, 'sqrt2_é', 'entity.name.type'], [2, '// end', 'comment.line.double-slash'],
  [3, 'domain', 'keyword.other'], [3, 'integer', 'constant.language'], [3, 'whole-symmetric', 'constant.language'],
  [3, 'symmetrical', 'variable.other'],
  [4, 'const', 'storage.type'], [4, 'β_1', 'variable.other.constant'], [4, '1.5e-3', 'constant.numeric'],
  [4, 'sqrt', 'support.function'], [4, '0x1f', 'constant.numeric'],
  [5, 'odd', 'variable.language'], [5, '-=', 'keyword.operator'], [5, 'even', 'variable.language'],
  [5, 'oddly', 'variable.other'], [5, '>>', 'keyword.operator'], [5, '1_0', 'constant.numeric'],
  [6, 'lattice', 'keyword.other'], [6, 'paper', 'keyword.other'], [6, 'rotate', 'support.function'],
  [6, '2.', 'constant.numeric'], [6, 'lowpass', 'keyword.other'], [6, 'at', 'keyword.other'],
  [6, 'vc2', 'constant.language'], [6, 'gain', 'keyword.other'], [6, 'shift', 'keyword.other'],
];

async function main() {
  await oniguruma.loadWASM(fs.readFileSync(wasm).buffer);
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: patterns => new oniguruma.OnigScanner(patterns),
      createOnigString: text => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(file, 'utf8'), file),
  });
  const grammar = await registry.loadGrammar('source.lift');
  let state = INITIAL;
  const found = [];
  TEXT.split('\n').forEach((line, number) => {
    const result = grammar.tokenizeLine(line, state);
    state = result.ruleStack;
    for (const { startIndex, endIndex, scopes } of result.tokens) {
      found.push([number, line.slice(startIndex, endIndex), scopes[scopes.length - 1].replace(/\.lift$/, '')]);
    }
  });
  for (const [line, word, scope] of EXPECTED) {
    const scopes = found.filter(token => token[0] === line && token[1] === word).map(token => token[2]);
    assert(scopes.includes(scope), `${word} in line ${line}: ${scopes} instead of ${scope}\n${found.join('\n')}`);
  }
}

main().catch(error => {
  console.error(error);
  process.exit(1);
});

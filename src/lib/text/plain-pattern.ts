import { RegExpParser, RegExpSyntaxError, visitRegExpAST, type AST } from '@eslint-community/regexpp';

/** Parsing takes about 1 ms for 10,000 characters. */
export const PATTERN_CHARS_MAX = 100_000;
/** How often nested quantifiers may repeat a part of variable length, multiplied. */
const NESTED_TIMES_MAX = 100;

/**
 * Why a text is no plain pattern: a JavaScript regular expression without look-arounds, back-references and quantifiers
 * that repeat each other, as every engine that works in linear time takes it. `undefined`: it is one.
 *
 * That alone does not make a backtracking engine fast (`.*.*.*x`): matching text of callers needs a time limit as well.
 * @spec filter-2
 */
export function faultOfPattern(pattern: string): string | undefined {
  if (pattern === '') return 'must not be empty';
  if (pattern.length > PATTERN_CHARS_MAX) return `must be at most ${PATTERN_CHARS_MAX} characters long`;
  let tree: AST.Pattern;
  try {
    tree = new RegExpParser().parsePattern(pattern);
  } catch (error) {
    if (error instanceof RegExpSyntaxError) return `is not a regular expression (${reasonOf(error)})`;
    // The parser is recursive.
    if (error instanceof RangeError) return 'is nested too deeply';
    throw error;
  }
  return findForbidden(tree);
}

/** Of `Invalid regular expression: /PATTERN/: REASON` the end: the pattern may be long. */
function reasonOf({ message }: RegExpSyntaxError): string {
  return message.slice(message.lastIndexOf(': ') + 2).toLowerCase();
}

function findForbidden(tree: AST.Pattern): string | undefined {
  let fault: string | undefined;
  const open: AST.Quantifier[] = [];
  visitRegExpAST(tree, {
    onAssertionEnter({ kind }) {
      if (kind === 'lookahead' || kind === 'lookbehind') fault ??= 'must not look around';
    },
    onBackreferenceEnter() {
      fault ??= 'must not refer back to a group';
    },
    onQuantifierEnter(quantifier) {
      if (repeatEachOther(open, quantifier)) fault ??= 'must not nest quantifiers';
      open.push(quantifier);
    },
    onQuantifierLeave() {
      open.pop();
    },
  });
  return fault;
}

/** Where the inner one may stop early and the outer ones go on, the same text is matched in too many ways. */
function repeatEachOther(outer: readonly AST.Quantifier[], inner: AST.Quantifier): boolean {
  const times = outer.reduce((product, { max }) => product * max, 1);
  return times > 1 && inner.min !== inner.max && times * inner.max > NESTED_TIMES_MAX;
}

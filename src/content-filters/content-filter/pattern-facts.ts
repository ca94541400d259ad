import { RegExpParser, type AST } from '@eslint-community/regexpp';
import { ANY_CHARACTER, areDisjoint, charactersOf, NO_CHARACTER, unite, type CharacterSet } from './character-sets.ts';

/** What is known of a pattern without running it. */
export interface PatternFacts {
  /** One of these is in every text that matches, as written. `undefined`: nothing of the kind is known. */
  readonly literals: readonly string[] | undefined;
  /** The most steps that an engine which tries one way after the other takes on so many characters. */
  readonly stepsFor: (chars: number) => number;
  /** Infinite where a match may be of any length. */
  readonly matchCharsMax: number;
  /** The characters of which a match may consist, as far as they can be distinguished. */
  readonly characters: CharacterSet;
}

/** A set of literals is looked for one by one: more of them cost more than they save. */
const LITERALS_MAX = 16;
/** Of one character that is repeated, so many are looked for. */
const REPEATED_MAX = 64;
/** What has more parts is taken for slow without a closer look. */
const NODES_MAX = 2_000;

/** @param pattern that `lib/text/plain-pattern.ts` accepts */
export function readPattern(pattern: string): PatternFacts {
  const tree = new RegExpParser().parsePattern(pattern);
  const literals = pickLiterals(tree.alternatives)?.filter((each) => each !== '');
  const isSmall = countNodes(tree.alternatives) <= NODES_MAX;
  return {
    literals: literals === undefined || literals.length === 0 ? undefined : literals,
    stepsFor: isSmall ? (chars) => countSteps(tree, Math.max(1, chars)) : () => Number.POSITIVE_INFINITY,
    matchCharsMax: longestOf(tree.alternatives),
    characters: charactersIn(tree.alternatives),
  };
}

function countNodes(alternatives: readonly AST.Alternative[]): number {
  let nodes = 0;
  for (const { elements } of alternatives)
    for (const element of elements) nodes += 1 + countNested(element.type === 'Quantifier' ? element.element : element);
  return nodes;
}

function countNested(element: AST.Element): number {
  return isGroup(element) ? countNodes(element.alternatives) : 0;
}

/** One literal for each alternative, or none at all. */
function pickLiterals(alternatives: readonly AST.Alternative[]): readonly string[] | undefined {
  const picked: string[] = [];
  for (const { elements } of alternatives) {
    const best = bestOf(elements);
    if (best === undefined || picked.length + best.length > LITERALS_MAX) return undefined;
    picked.push(...best);
  }
  return picked;
}

/** Of what stands one after the other: the part whose shortest literal is the longest. */
function bestOf(elements: readonly AST.Element[]): readonly string[] | undefined {
  let best: readonly string[] | undefined;
  let run = '';
  const offer = (literals: readonly string[]): void => {
    if (shortest(literals) > shortest(best ?? [])) best = literals;
  };
  for (const element of elements) {
    const character = plainCharacter(element);
    if (character !== undefined) run += character;
    else if (element.type !== 'Assertion') {
      if (run !== '') offer([run]);
      run = '';
      const inside = mustContain(element);
      if (inside !== undefined) offer(inside);
    }
  }
  if (run !== '') offer([run]);
  return best;
}

function shortest(literals: readonly string[]): number {
  return literals.length === 0 ? 0 : Math.min(...literals.map(({ length }) => length));
}

function plainCharacter(element: AST.Element): string | undefined {
  return element.type === 'Character' ? String.fromCodePoint(element.value) : undefined;
}

function mustContain(element: AST.Element): readonly string[] | undefined {
  if (element.type === 'CapturingGroup') return pickLiterals(element.alternatives);
  // It may say that case does not matter.
  if (element.type === 'Group') return element.modifiers === null ? pickLiterals(element.alternatives) : undefined;
  if (element.type !== 'Quantifier' || element.min === 0) return undefined;
  const character = plainCharacter(element.element);
  return character === undefined
    ? mustContain(element.element)
    : [character.repeat(Math.min(element.min, REPEATED_MAX))];
}

function longestOf(alternatives: readonly AST.Alternative[]): number {
  return Math.max(0, ...alternatives.map(({ elements }) => elements.reduce((sum, each) => sum + longest(each), 0)));
}

function longest(element: AST.Element): number {
  if (isGroup(element)) return longestOf(element.alternatives);
  if (element.type === 'Assertion') return 0;
  if (element.type !== 'Quantifier') return 1;
  const once = longest(element.element);
  return once === 0 ? 0 : once * element.max;
}

function charactersIn(alternatives: readonly AST.Alternative[]): CharacterSet {
  const all = alternatives.flatMap(({ elements }) => elements.map(charactersOfElement));
  return all.reduce(unite, NO_CHARACTER);
}

function charactersOfElement(element: AST.Element): CharacterSet {
  if (isGroup(element)) return charactersIn(element.alternatives);
  if (element.type === 'Assertion') return NO_CHARACTER;
  if (element.type === 'Quantifier') return charactersOfElement(element.element);
  return charactersOf(element.type === 'CharacterSet' && element.kind === 'any' ? NO_LINE_END : element.raw);
}

/** What a point stands for. */
const NO_LINE_END = String.raw`[^\n\r]`;

function isGroup(element: AST.Element): element is AST.Group | AST.CapturingGroup {
  return element.type === 'Group' || element.type === 'CapturingGroup';
}

/** Going through one part of a pattern, from one place of the text. */
interface Effort {
  /** Steps until all ways through it have been tried. */
  readonly steps: number;
  /** On how many ways the rest is reached. */
  readonly ways: number;
}

function countSteps(tree: AST.Pattern, chars: number): number {
  const starts = tree.alternatives.every(
    ({ elements: [first] }) => first?.type === 'Assertion' && first.kind === 'start',
  )
    ? 1
    : chars;
  return starts * Math.max(1, effortOfEach(tree.alternatives, chars, NO_CHARACTER).steps);
}

function effortOfEach(alternatives: readonly AST.Alternative[], chars: number, next: CharacterSet): Effort {
  let [steps, ways] = [0, 0];
  for (const { elements } of alternatives) {
    const effort = effortOfSequence(elements, chars, next);
    steps += effort.steps;
    ways += effort.ways;
  }
  return { steps, ways };
}

/** @param next what may stand behind it */
function effortOfSequence(elements: readonly AST.Element[], chars: number, next: CharacterSet): Effort {
  let [steps, ways] = [1, 1];
  elements.forEach((element, index) => {
    const effort = effortOf(element, chars, firstOf(elements.slice(index + 1), next));
    steps += ways * effort.steps;
    ways *= effort.ways;
  });
  return { steps, ways };
}

function effortOf(element: AST.Element, chars: number, next: CharacterSet): Effort {
  if (isGroup(element)) return effortOfEach(element.alternatives, chars, next);
  return element.type === 'Quantifier' ? effortOfRepeating(element, chars, next) : { steps: 1, ways: 1 };
}

function effortOfRepeating({ element, min, max }: AST.Quantifier, chars: number, next: CharacterSet): Effort {
  const times = Math.min(max, Math.max(chars, 1));
  const once = effortOf(element, chars, unite(next, firstOf([element], NO_CHARACTER)));
  // Ways multiply with each round, unless there is but one through it.
  const inside = once.ways <= 1 ? 1 : once.ways ** times;
  const steps = times * once.steps * inside;
  // Where what follows cannot begin inside of it, stopping early leads nowhere.
  const isSure = once.ways <= 1 && areDisjoint(firstOf([element], NO_CHARACTER), next);
  return { steps, ways: isSure ? 1 : inside * Math.max(1, times - Math.min(min, times) + 1) };
}

/** The characters with which the text can continue. @param next after all of them */
function firstOf(elements: readonly AST.Element[], next: CharacterSet): CharacterSet {
  let first = NO_CHARACTER;
  for (const element of elements) {
    first = unite(first, firstCharacters(element));
    if (!mayBeEmpty(element)) return first;
  }
  return unite(first, next);
}

function firstCharacters(element: AST.Element): CharacterSet {
  if (isGroup(element))
    return element.alternatives
      .map(({ elements }) => firstOf(elements, NO_CHARACTER))
      .reduce((one, other) => unite(one, other), NO_CHARACTER);
  if (element.type === 'Quantifier') return firstCharacters(element.element);
  if (element.type === 'Assertion') return NO_CHARACTER;
  const isPlain = element.type === 'Character' || element.type === 'CharacterClass' || element.type === 'CharacterSet';
  // Inside of a group where case does not matter it is more than is written.
  return isPlain && !hasModifiers(element) ? charactersOf(element.raw) : ANY_CHARACTER;
}

function hasModifiers(element: AST.Element): boolean {
  for (let node: AST.Node | null = element; node !== null; node = node.parent)
    if (node.type === 'Group' && node.modifiers !== null) return true;
  return false;
}

function mayBeEmpty(element: AST.Element): boolean {
  if (isGroup(element)) return element.alternatives.some(({ elements }) => elements.every(mayBeEmpty));
  if (element.type === 'Quantifier') return element.min === 0 || mayBeEmpty(element.element);
  return element.type === 'Assertion';
}

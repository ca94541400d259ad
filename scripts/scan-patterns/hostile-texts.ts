import { RegExpParser, type AST } from '@eslint-community/regexpp';
import { unreachable } from '../../src/lib/assert.ts';

/** A text of any length: what it begins with, what is repeated, and what it ends with. */
export interface HostileText {
  readonly head: string;
  readonly repeated: string;
  readonly tail: string;
}

/** Each kind of character that patterns distinguish. */
const PROBES = Array.from('aA0_ -.,:;!?\'"`()[]{}<>/\\|@#$%^&*+=~\t\n\r\u00a0\u00e9\u200b\u4e00\u{1f600}');
/** What hardly any pattern goes on with. */
const TAILS = ['\u0000', ''];
/** Repetitions up to so many times do not grow with the text. */
const FEW_TIMES = 16;
/** Kinds of text that are tried for one pattern. */
const TEXTS_MAX = 240;
const VARIANTS_MAX = 6;
const PREFIX_CHARS_MAX = 12;

/** What makes a pattern try over and over again: what it repeats, and how it begins. */
export function hostileTexts(literal: string): readonly HostileText[] {
  const { pattern, flags } = new RegExpParser().parseLiteral(literal);
  const sampler = new Sampler(flags.raw);
  for (const alternative of pattern.alternatives) sampler.walk(alternative, '');
  const { pumps } = sampler;
  const words = [...new Set(pumps.map(({ repeated }) => repeated))];
  const whole = pattern.alternatives.map((alternative) => sampler.sampleAll(alternative));
  const beginnings = whole.flatMap((text) =>
    Array.from({ length: Math.min(text.length, PREFIX_CHARS_MAX) }, (_, at) => text.slice(0, at + 1)),
  );
  const all = [
    ...pumps,
    ...pumps.map(({ head, repeated }) => ({ head: '', repeated: head + repeated })),
    ...words.map((repeated) => ({ head: '', repeated })),
    ...[...new Set([...beginnings, ...whole])].map((repeated) => ({ head: '', repeated })),
    ...words.flatMap((one) => words.map((other) => ({ head: '', repeated: one + other }))),
  ].filter(({ repeated }) => repeated !== '');
  const unique = new Map(all.map((text) => [JSON.stringify([text.head, text.repeated]), text]));
  return [...unique.values()].slice(0, TEXTS_MAX).flatMap((text) => TAILS.map((tail) => ({ ...text, tail })));
}

/** @param chars about how long it gets */
export function formatText({ head, repeated, tail }: HostileText, chars: number): string {
  return head + repeated.repeat(Math.max(1, Math.floor((chars - head.length) / repeated.length))) + tail;
}

type Pump = Omit<HostileText, 'tail'>;

/** Draws what parts of one pattern match. */
class Sampler {
  readonly pumps: Pump[] = [];
  readonly #flags: string;

  constructor(flags: string) {
    this.#flags = flags.replaceAll(/[gy]/g, '');
  }

  /** Finds everything that is repeated, with what stands before it. */
  walk({ elements }: AST.Alternative, before: string): void {
    let head = before;
    for (const element of elements) {
      const body = element.type === 'Quantifier' ? element.element : element;
      if (element.type === 'Quantifier' && element.max > FEW_TIMES)
        for (const repeated of this.#variants(body)) this.pumps.push({ head, repeated });
      if ('alternatives' in body) for (const inner of body.alternatives) this.walk(inner, head);
      head += this.#sample(element);
    }
  }

  sampleAll({ elements }: AST.Alternative): string {
    return elements.map((element) => this.#sample(element)).join('');
  }

  #sample(element: AST.Element): string {
    if (element.type === 'Quantifier') return this.#sample(element.element).repeat(Math.max(1, element.min));
    return this.#variants(element)[0] ?? '';
  }

  #variants(element: AST.Element): readonly string[] {
    switch (element.type) {
      case 'Character':
        return [String.fromCodePoint(element.value)];
      case 'Group':
      case 'CapturingGroup':
        return element.alternatives.map((inner) => this.sampleAll(inner)).slice(0, VARIANTS_MAX);
      case 'CharacterClass':
      case 'CharacterSet':
      case 'ExpressionCharacterClass':
        return this.#members(element.raw);
      case 'Quantifier':
        return [this.#sample(element)];
      case 'Assertion':
      case 'Backreference':
        return [];
      default:
        return unreachable(element);
    }
  }

  /** Characters of a class, one of each distinguished kind. */
  #members(raw: string): readonly string[] {
    const one = new RegExp(`^(?:${raw})$`, this.#flags);
    const listed = Array.from(raw).filter((char) => !PROBES.includes(char));
    return [...PROBES, ...listed].filter((char) => one.test(char)).slice(0, VARIANTS_MAX);
  }
}

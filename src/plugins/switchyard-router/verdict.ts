import { z } from 'zod';
import type { JsonObject } from '../../lib/json.ts';
import { parseJson } from '../../lib/json.ts';

export type Tier = 'capable' | 'efficient';

/** How sure a forecast can be, by what kind of task it is. */
const BOUNDARIES = ['supported', 'uncertain', 'unsupported', 'unmatched'] as const;
export type Boundary = (typeof BOUNDARIES)[number];

/** Kinds of tasks, each with the boundary that goes with it. */
export const RULES = {
  fixed_form: 'supported',
  all_in_view: 'supported',
  known_way: 'supported',
  small_talk: 'supported',
  open_wish: 'uncertain',
  find_all: 'uncertain',
  long_reasoning: 'unsupported',
  fine_reading: 'unsupported',
  hidden_facts: 'unsupported',
  none: 'unmatched',
} as const satisfies Readonly<Record<string, Boundary>>;
export type Rule = keyof typeof RULES;

/** What a judge forecasts of the efficient model. */
export interface Verdict {
  readonly rule: Rule;
  readonly boundary: Boundary;
  /** 0 to 1: how likely it brings the task to a good end. */
  readonly pSolve: number;
}

const REASON_CHARS_MAX = 400;

/** The reason comes first, since explaining it improves the forecast. It is not used otherwise. */
const verdictSchema = z.object({
  reason: z.string(),
  rule: z.enum(Object.keys(RULES)),
  boundary: z.enum(BOUNDARIES),
  p_solve: z.number().min(0).max(1),
});

/** What the judge's answer has to look like, as JSON Schema. */
export const VERDICT_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    reason: { type: 'string', maxLength: REASON_CHARS_MAX },
    rule: { type: 'string', enum: Object.keys(RULES) },
    boundary: { type: 'string', enum: [...BOUNDARIES] },
    p_solve: { type: 'number', minimum: 0, maximum: 1 },
  },
  required: ['reason', 'rule', 'boundary', 'p_solve'],
  additionalProperties: false,
};

/**
 * @param stated the judge's whole text; models like to put a fence around JSON
 * @returns `undefined` for anything but a verdict, and for one whose parts contradict each other
 */
export function readVerdict(stated: string): Verdict | undefined {
  const read = verdictSchema.safeParse(parseJson(stated.slice(stated.indexOf('{'), stated.lastIndexOf('}') + 1)));
  if (!read.success || !isRule(read.data.rule)) return undefined;
  const { rule, boundary, p_solve: pSolve } = read.data;
  return RULES[rule] === boundary ? { rule, boundary, pSolve } : undefined;
}

function isRule(name: string): name is Rule {
  return Object.hasOwn(RULES, name);
}

/** How likely success has to be: the less a forecast can be sure, the more. @spec router-29 */
const THRESHOLDS: Readonly<Record<Boundary, number>> = {
  supported: 0.5,
  uncertain: 0.6,
  unmatched: 0.6,
  unsupported: 0.7,
};

/** Without a valid verdict the capable model serves. */
export function tierOf(verdict: Verdict | undefined): Tier {
  return verdict !== undefined && verdict.pSolve >= THRESHOLDS[verdict.boundary] ? 'efficient' : 'capable';
}

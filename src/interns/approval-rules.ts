import { hash } from 'node:crypto';
import { parseJson } from '../lib/json.ts';
import type { InternSettings } from '../resources/interns.ts';

export type Rule = InternSettings['approval']['rules'][number];

/** A call, as rules see it. */
export interface RuledCall {
  /** Of the function. */
  readonly name: string;
  /** Of the server tool. */
  readonly type: string;
  /** Arguments as JSON text. */
  readonly input: string;
  /** It changes nothing. */
  readonly onlyReads: boolean;
}

/** The first rule that fits decides; without one, what only reads is allowed, and all else is to be approved. */
export function decide(rules: readonly Rule[], call: RuledCall): Rule['decision'] {
  const parsed = parseJson(call.input);
  // Written anew: an escaped letter must not hide from a rule.
  const text = parsed === undefined ? call.input : JSON.stringify(parsed);
  const fitting = rules.find(
    ({ tool, pattern }) => (tool === call.name || tool === call.type) && (pattern === undefined || fits(pattern, text)),
  );
  return fitting?.decision ?? (call.onlyReads ? 'allow' : 'ask');
}

/** Whether the parts of a pattern between its `*` stand in the text, one after the other. */
function fits(pattern: string, text: string): boolean {
  let from = 0;
  for (const part of pattern.split('*')) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return true;
}

/** What an approval is for: another input is another call. */
export function inputHashOf(name: string, input: string): string {
  return hash('sha256', `${name}\0${input}`, 'hex');
}

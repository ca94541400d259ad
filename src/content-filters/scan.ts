import type { CompiledRule } from './compile-rules.ts';
import type { InspectedText, Mark, Match, RedactedText, TextView } from './contract.ts';
import { readJsonValues, type JsonValue } from './json-values.ts';
import { mergeMarks, rewriteMarks } from '../lib/text/mark-spans.ts';
import { createTextView } from './text-view.ts';

/** The findings of a scan of some texts. Plain data: it crosses between threads. */
export interface ScanResult {
  /** Patterns that matched, by the rule's place among those given; rules without a match are not here. */
  readonly hits: readonly { readonly rule: number; readonly patterns: readonly string[] }[];
  readonly redacted: readonly (RedactedText & { readonly index: number })[];
}

/** After a replacement its neighbourhood may match; labels are short, so this ends soon. */
const PASSES_MAX = 4;

/** Looks for every rule in every text, and replaces what must not stay: also what blocks, since some of it is kept. */
export function scanTexts(texts: readonly InspectedText[], rules: readonly CompiledRule[]): ScanResult {
  const scan = new Scan(rules);
  const redacted = texts.flatMap((inspected, index): ScanResult['redacted'] => {
    const marks = scan.mark(inspected);
    return marks.length === 0 ? [] : [{ index, marks, text: rewriteMarks(inspected.text, marks).text }];
  });
  return { hits: scan.hits(), redacted };
}

/** A class because the hits of all texts are gathered together. */
class Scan {
  readonly #rules: readonly CompiledRule[];
  /** What matched, in the order of the rules. */
  readonly #patterns: ReadonlyMap<CompiledRule, Set<string>>;

  constructor(rules: readonly CompiledRule[]) {
    this.#rules = rules;
    this.#patterns = new Map(rules.map((rule) => [rule, new Set<string>()]));
  }

  hits(): ScanResult['hits'] {
    const all = [...this.#patterns.values()];
    return all.flatMap((patterns, rule) => (patterns.size === 0 ? [] : [{ rule, patterns: [...patterns] }]));
  }

  /** What is to be replaced. */
  mark({ text, form, byUser, isSealed }: InspectedText): readonly Mark[] {
    const active = this.#rules.filter(
      ({ rule }) =>
        (rule.kind === 'pattern' || byUser || !rule.userOnly) && (isSealed !== true || rule.action !== 'redact'),
    );
    const values = form === 'json' ? readJsonValues(text) : undefined;
    return values === undefined ? this.#markPlain(text, active) : this.#markJson(text, values, active);
  }

  #markPlain(text: string, rules: readonly CompiledRule[]): readonly Mark[] {
    let marks = mergeMarks(this.#look(createTextView(text), rules));
    if (marks.length === 0) return marks;
    const redacting = rules.filter(({ rule }) => rule.action !== 'flag');
    let rewritten = rewriteMarks(text, marks);
    for (let pass = 1; pass < PASSES_MAX; pass++) {
      const { back } = rewritten;
      const more = this.#look(createTextView(rewritten.text), redacting).flatMap(({ label, ...span }) => {
        const found = back(span);
        return found === undefined ? [] : [{ ...found, label }];
      });
      if (more.length === 0) break;
      marks = mergeMarks([...marks, ...more]);
      rewritten = rewriteMarks(text, marks);
    }
    return marks;
  }

  /** What is to be replaced; what matched is noted for every rule. */
  #look(view: TextView, rules: readonly CompiledRule[]): readonly Mark[] {
    const marks: Mark[] = [];
    for (const compiled of rules) {
      const matches = mayMatch(compiled, view) ? compiled.matcher.find(view) : [];
      for (const match of matches) this.#note(compiled, match);
      const { action, label } = compiled.rule;
      if (action !== 'flag') marks.push(...matches.map(({ start, end }) => ({ start, end, label })));
    }
    return marks;
  }

  #note(compiled: CompiledRule, { pattern }: Match): void {
    this.#patterns.get(compiled)?.add(pattern);
  }

  #markJson(text: string, values: readonly JsonValue[], rules: readonly CompiledRule[]): readonly Mark[] {
    const whole = this.#lookAtRaw(text, values, rules);
    return values.flatMap((value): readonly Mark[] => {
      const rewritten = whole.get(value) ?? rewriteMarks(value.text, this.#markPlain(value.text, rules)).text;
      return rewritten === value.text ? [] : [{ start: value.start, end: value.end, label: JSON.stringify(rewritten) }];
    });
  }

  /** Values that are replaced whole, because a match goes beyond one of them: what lies between them must stay. */
  #lookAtRaw(
    text: string,
    values: readonly JsonValue[],
    rules: readonly CompiledRule[],
  ): ReadonlyMap<JsonValue, string> {
    const raw = rules.filter(({ filter }) => filter.readsRawJson);
    const replaced = new Map<JsonValue, string>();
    const view = createTextView(text);
    for (const compiled of raw) {
      const matches = mayMatch(compiled, view) ? compiled.matcher.find(view) : [];
      for (const match of matches) {
        const touched = valuesIn(values, match);
        const [only] = touched;
        // Inside of one value it is found there, as it is meant.
        if (touched.length === 1 && only !== undefined && match.start > only.start && match.end < only.end) continue;
        this.#note(compiled, match);
        if (compiled.rule.action === 'flag') continue;
        const contents = touched.filter(({ isName }) => !isName);
        for (const value of contents.length > 0 ? contents : touched) replaced.set(value, compiled.rule.label);
      }
    }
    return replaced;
  }
}

/** Those that share a character with it. They stand in order. */
function valuesIn(values: readonly JsonValue[], { start, end }: Match): readonly JsonValue[] {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle]?.end ?? 0) <= start) low = middle + 1;
    else high = middle;
  }
  let last = low;
  while ((values[last]?.start ?? end) < end) last++;
  return values.slice(low, last);
}

/** Literals are searched in the text itself, and in its normalized form. */
function mayMatch({ matcher }: CompiledRule, view: TextView): boolean {
  return (
    matcher.mayMatch(view.text) ||
    (view.folded.text !== view.text && (matcher.mayMatch(view.visible.text) || matcher.mayMatch(view.folded.text)))
  );
}

import type { BuiltinFilterSlug, FilterAction } from '../canonical/guardrail-rules.ts';
import type { Mark, Span } from '../lib/text/mark-spans.ts';

export type { Mark, Span };

/** A rule on what is said, as far as finding it is concerned. Plain data: it crosses to other threads. */
export type FilterRule = PatternRule | BuiltinRule;

interface RuleBase {
  readonly action: FilterAction;
  /** What a match is replaced with. */
  readonly label: string;
}

/** A pattern of the operator's own. */
export interface PatternRule extends RuleBase {
  readonly kind: 'pattern';
  /** Text of a JavaScript regular expression that `lib/text/plain-pattern.ts` accepts. */
  readonly pattern: string;
  /** The name of a match in reports: the operator's label, otherwise the pattern. */
  readonly name: string;
}

export interface BuiltinRule extends RuleBase {
  readonly kind: 'builtin';
  readonly slug: BuiltinFilterSlug;
  /** Only what users wrote is searched. */
  readonly userOnly: boolean;
  /** Phrases, in lower case, that the patterns of the injection detector do not see. */
  readonly allowedPhrases: readonly string[];
}

/** One place of a text that a rule is about. */
export interface Match extends Span {
  /** The pattern that matched, as the caller sees it. */
  readonly pattern: string;
}

/** Another writing of a text, which leads back to it. */
export interface Writing {
  readonly text: string;
  /** The same stretch in the text itself. */
  readonly back: (span: Span) => Span;
}

/** A text and normalized forms of it, each computed on first use. */
export interface TextView extends Writing {
  /** Without invisible characters. */
  readonly visible: Writing;
  /** The same, with letters of other scripts that look like Latin ones replaced by those, for searches of plain words. */
  readonly folded: Writing;
}

/** Looks for what one rule is about. */
export interface Matcher {
  /** `false`: certainly nothing is in there. Takes linear time, and little of it. */
  readonly mayMatch: (text: string) => boolean;
  /** How long it takes at the very worst to look through so many characters, in steps of about a nanosecond. */
  readonly stepsFor: (chars: number) => number;
  /** The longest match, in characters; infinite where there is none. */
  readonly matchCharsMax: number;
  /** The earliest start of a match that extends beyond the end of a text. Absent: `matchCharsMax` before the end. */
  readonly openStart?: (text: string) => number;
  /** Every match, in order of their beginnings; none is empty. */
  find(view: TextView): readonly Match[];
}

/**
 * A kind of rule that an account may impose. A member reads nothing but the texts it is given, keeps nothing, and runs on
 * any thread.
 */
export interface ContentFilter {
  /** The name of its folder, and of its engine where stages name one. */
  readonly id: string;
  /** What happens to a request that could not be looked at in time. @spec filter-14 */
  readonly lateRequests: 'pass' | 'refused';
  /** Whether a rule on arguments of tools may be about how their JSON is written, and not only about the values in it. */
  readonly readsRawJson: boolean;
  /** `undefined`: the rule is for another member. */
  matcherOf(rule: FilterRule): Matcher | undefined;
}

/** A text that a model reads or wrote. */
export interface InspectedText {
  readonly text: string;
  /** `json`: JSON text, which is searched value by value and stays JSON. */
  readonly form: 'plain' | 'json';
  readonly byUser: boolean;
  /** Nothing in it may be replaced: rules that replace do not look there. */
  readonly isSealed?: true;
}

/** What became of one rule. */
export interface RuleHit {
  /** Index of the rule. */
  readonly rule: number;
  /** What of it matched, each once. */
  readonly patterns: readonly string[];
}

export interface RedactedText {
  readonly text: string;
  /** What was replaced of the text as it was, in order, none over another. */
  readonly marks: readonly Mark[];
}

export interface Inspection {
  /** Only of rules that matched, in the order of the rules. */
  readonly hits: readonly RuleHit[];
  /** The replacement texts, by their index: those with a redaction, also when something blocks. */
  readonly redacted: ReadonlyMap<number, RedactedText>;
  /** Rules that were not looked at for want of time, and let pass. */
  readonly skipped: readonly number[];
  /** Rules, one or more of which could not be looked at, and must not be left out. */
  readonly unfinished: readonly number[];
}

/** How much of an answer has to be seen at a time so that no match is missed. */
export interface AnswerWindow {
  /** Characters, within a bound. */
  readonly chars: number;
  /** Rules that block or replace, by their index, whose matches may be longer than the bound. */
  readonly longRules: readonly number[];
  /** The earliest start of a match of one of them that extends beyond the end of a text. */
  readonly openStart: (text: string) => number;
}

/** Runs rules over texts, without ever keeping the process from its other work. */
export interface TextInspector {
  /**
   * @param rules the same array for the same rules: what they are made into is kept with it
   * @throws GatewayError 503 while too many texts wait
   */
  inspect(texts: readonly InspectedText[], rules: readonly FilterRule[], signal: AbortSignal): Promise<Inspection>;
  windowOf(rules: readonly FilterRule[]): Promise<AnswerWindow>;
  /** Ends every thread. */
  close(): Promise<void>;
}

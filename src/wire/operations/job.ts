import type { JsonObject } from '../../lib/json.ts';

/** A call about a job that a vendor has begun. */
export interface VendorCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the provider's base URL, or the address that the vendor's own answer named, which must be one of its hosts. */
  readonly at: { readonly path: string } | { readonly url: string };
  readonly body?: JsonObject;
}

/** The job is not over: what is called after a pause. */
export interface VendorWait {
  readonly next: 'wait';
  readonly call: VendorCall;
  /** Ends the job where its caller hangs up. Absent: nothing does. */
  readonly cancel?: VendorCall;
  /** Removes what the vendor keeps of it, once it is over. Absent: nothing is removed. */
  readonly forget?: VendorCall;
}

/** What follows on an answer of a vendor that makes things in jobs. */
export type VendorStep =
  | VendorWait
  /** At once. */
  | { readonly next: 'call'; readonly call: VendorCall }
  /** It is the last one, and says what came of the job. */
  | { readonly next: 'read' };

/**
 * Reads what follows on an answer.
 * @param answer `undefined`: it is no JSON object
 * @param waiting what was waited for so far
 * @throws NotThatJson for what is no answer of the format
 */
export type FollowJob<Target> = (
  answer: JsonObject | undefined,
  waiting: VendorWait | undefined,
  target: Target,
) => VendorStep;

/**
 * The path of an address that a vendor named: it is called at the host of the operator's configuration.
 * @returns `undefined` for what is no plain path
 */
export function pathOfAddress(url: unknown): string | undefined {
  const path = typeof url === 'string' ? URL.parse(url)?.pathname : undefined;
  return path !== undefined && path.length <= PATH_CHARS_MAX && /^(?:\/[\w.~:-]+)+$/.test(path) ? path : undefined;
}

const PATH_CHARS_MAX = 1_024;

/** Words of vendors for what they refuse to make; they stand in errors that say nothing else. */
export const REFUSAL_WORDS = /nsfw|moderat|sensitive|safety|content[_ -]?(?:policy|filter)/i;

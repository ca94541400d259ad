import { estimateOperationTokens } from '../../canonical/estimate-tokens.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { mediaOfInputs, type EmbeddingsInput } from '../../canonical/media/embeddings-input.ts';
import type { EmbeddingsOperation } from '../../canonical/operation.ts';
import type { Endpoint } from '../../catalog/model.ts';
import { ESTIMATE_MARGIN } from '../billing/cost-estimate.ts';

/** Vendors take 20 MB of pictures a call, and the texts beside them. */
const MEDIA_CHARS_MAX = 18_874_368;
const ANSWER_BYTES_MAX = 32 * 1_024 * 1_024;
/** A number of a vector as text. */
const NUMBER_BYTES = 22;
/** Where nothing says how long vectors are. */
const DIMENSIONS_UNKNOWN = 3_072;
const KNOWN_MS = 3_600_000;
const ENDPOINTS_MAX = 1_000;

/** What endpoints have refused as too many inputs of one call. A class because that is remembered, for an hour. */
export class BatchSizes {
  readonly #sizes = new Map<string, { readonly most: number; readonly untilMs: number }>();

  /** Inputs that one call of the endpoint takes, as far as was found out. */
  mostOf(endpoint: string, nowMs: number): number {
    const known = this.#sizes.get(endpoint);
    return known === undefined || known.untilMs <= nowMs ? Infinity : known.most;
  }

  note(endpoint: string, most: number, nowMs: number): void {
    this.#sizes.delete(endpoint);
    this.#sizes.set(endpoint, { most, untilMs: nowMs + KNOWN_MS });
    const [oldest] = this.#sizes.keys();
    if (this.#sizes.size > ENDPOINTS_MAX && oldest !== undefined) this.#sizes.delete(oldest);
  }
}

/** How long one vector of an answer is at most, as text. */
export function vectorBytes(
  { dimensions }: Pick<EmbeddingsOperation, 'dimensions'>,
  { embeddings }: Pick<Endpoint, 'embeddings'>,
): number {
  return NUMBER_BYTES * (dimensions ?? embeddings?.dimensions?.default ?? DIMENSIONS_UNKNOWN);
}

/** Consecutive parts, none of which is too many for the endpoint, or has too large a body or answer. */
export function splitInputs(
  operation: EmbeddingsOperation,
  endpoint: Endpoint,
  inputsMax: number,
): readonly (readonly EmbeddingsInput[])[] {
  const { embeddings } = endpoint;
  const byBytes = Math.max(1, Math.floor(ANSWER_BYTES_MAX / vectorBytes(operation, endpoint)));
  const step = Math.min(inputsMax, byBytes);
  const tokensMax = (embeddings?.maxRequestTokens ?? Infinity) / ESTIMATE_MARGIN;
  const parts: (readonly EmbeddingsInput[])[] = [];
  let part: EmbeddingsInput[] = [];
  let [tokens, mediaChars] = [0, 0];
  for (const input of operation.inputs) {
    const more = tokensMax === Infinity ? 0 : estimateOperationTokens({ inputs: [input] });
    const chars = mediaOfInputs([input]).reduce((sum, { url }) => sum + url.length, 0);
    const isFull = part.length >= step || tokens + more > tokensMax || mediaChars + chars > MEDIA_CHARS_MAX;
    if (part.length > 0 && isFull) {
      parts.push(part);
      part = [];
      [tokens, mediaChars] = [0, 0];
    }
    part.push(input);
    tokens += more;
    mediaChars += chars;
  }
  return part.length === 0 ? parts : [...parts, part];
}

/**
 * Words of hosts for a call of too many inputs, or of too many tokens together. As users quote them, read 2026-11: OpenAI "array too
 * long", "max 300000 tokens per request"; Gemini "at most 100 requests can be in one batch"; Cohere "total number of texts must be at
 * most 96"; Mistral "Too many inputs in request", "Too many tokens overall"; Alibaba "batch size is invalid"; TEI "batch size";
 * Voyage "max allowed tokens per submitted batch".
 */
const TOO_MANY =
  /batch[ _]size|too many (?:inputs|texts|items|tokens overall)|array too long|at most \d+ (?:requests|inputs|texts)|number of (?:texts|inputs) must be at most|tokens per (?:request|submitted batch)/i;
const MAY_MEAN_TOO_MANY: ReadonlySet<number | undefined> = new Set([400, 422]);

/** TEI says of one input that is too long with 413, too: "`inputs` must have less than 512 tokens". */
const ONE_TOO_LONG = /must have less than \d+ (?:tokens|characters)/i;

/** Fewer inputs may be taken. */
export function isTooMany({ upstreamStatus, upstreamMessage = '' }: UpstreamFailure): boolean {
  if (ONE_TOO_LONG.test(upstreamMessage)) return false;
  return upstreamStatus === 413 || (MAY_MEAN_TOO_MANY.has(upstreamStatus) && TOO_MANY.test(upstreamMessage));
}

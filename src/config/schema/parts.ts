import { z } from 'zod';
import { parseVaultTemplate, VaultReferenceError } from '../../canonical/vault-reference.ts';
import { key } from './key.ts';

/** A timer takes 31 bits of milliseconds; a day is far below and longer than any request. */
const TIME_MS_MAX = 86_400_000;
const TOKENS_MAX = 100_000_000;

/** Headers that belong to the connection or the body, not to the operator. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set(
  'host connection content-length content-encoding transfer-encoding keep-alive upgrade te'.split(' '),
);

const PROVIDER_SLUG = /^[a-z0-9][a-z0-9._-]*(?:\/[a-z0-9][a-z0-9._-]*)?$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A closed object. The message for an unknown key is the list of known ones: `problems.ts` turns it into a sentence. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const known = Object.keys(shape).join(' ');
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? known : undefined) });
}

/** A section that may be left out or left empty. */
export function optionalSection<Shape extends z.core.$ZodLooseShape>(shape: Shape, what: string) {
  return z.preprocess((value) => value ?? {}, section(shape)).meta({ description: what });
}

/** A switch that is usually off. */
export const OFF = { default: false, example: true } as const;
export const text = z.string().min(1);
export const timeMs = z.int().min(1).max(TIME_MS_MAX);
export const tokens = z.int().min(1).max(TOKENS_MAX);
export const providerSlug = z.string().regex(PROVIDER_SLUG, 'must be a provider slug: a-z, 0-9, ".", "_" and "-"');
/** A model that requests could name: a slug of the catalog, an alias, a router, or what a provider calls its own. */
export const modelName = z.string().regex(/^[^\s/]+\/\S+$/, 'must be a model slug such as acme/one');

type KindLimit = 'embeddings' | 'rerank' | 'image' | 'transcription' | 'speechFirstByte' | 'speechIdle';

/** @param defaults of the section for all providers; a provider's own members are those where they are left out */
export function attemptTimeouts(
  defaults?: Readonly<Record<'connect' | 'headers' | 'firstToken' | 'idle' | 'whole' | KindLimit, number>>,
) {
  const facts = (milliseconds: number | undefined) =>
    milliseconds === undefined ? { usual: 'that of `timeouts`', example: 30_000 } : { default: milliseconds };
  // A provider's own general limit is nearer than that of a kind for all providers.
  const kindFacts = (milliseconds: number | undefined, general: string) =>
    milliseconds === undefined
      ? { usual: `\`${general}\` here, else that of \`timeouts\``, example: 30_000 }
      : { default: milliseconds };
  return {
    connect_ms: key(timeMs, 'Until the connection to the provider is established.', facts(defaults?.connect)),
    headers_ms: key(timeMs, 'From the request to the status of the response.', facts(defaults?.headers)),
    first_token_ms: key(timeMs, 'From the status of a stream to its first content.', facts(defaults?.firstToken)),
    idle_ms: key(timeMs, 'Between two pieces of a stream.', facts(defaults?.idle)),
    whole_ms: key(timeMs, 'Until the end of a response that is not streamed.', facts(defaults?.whole)),
    embeddings_ms: key(timeMs, 'One call for vectors.', kindFacts(defaults?.embeddings, 'whole_ms')),
    rerank_ms: key(timeMs, 'One call that orders documents.', kindFacts(defaults?.rerank, 'whole_ms')),
    image_ms: key(timeMs, 'Until all pictures are there.', kindFacts(defaults?.image, 'whole_ms')),
    transcription_ms: key(
      timeMs,
      'Until a transcript is there, or begins. Sound that lasts longer than half of it has twice its duration, but no more than 10 minutes.',
      kindFacts(defaults?.transcription, 'whole_ms'),
    ),
    speech_first_byte_ms: key(
      timeMs,
      'Until speech can be heard.',
      kindFacts(defaults?.speechFirstByte, 'first_token_ms'),
    ),
    speech_idle_ms: key(timeMs, 'Between two pieces of speech.', kindFacts(defaults?.speechIdle, 'idle_ms')),
  };
}

export const httpUrl = z
  .string()
  .refine(isHttpUrl, 'must be an http:// or https:// URL without user, query and fragment');

function isHttpUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.username === '' && url.password === '' && !/[?#]/.test(value);
}

export const headerName = z
  .string()
  .regex(HEADER_NAME, 'is no header name')
  .refine((name) => !RESERVED_HEADERS.has(name.toLowerCase()), 'is a header that the gateway itself sets');

export const headerValue = z
  .string()
  .regex(HEADER_VALUE, 'must be one line of Latin-1 text')
  .superRefine(checkVaultReference);

export const headers = z.record(headerName, headerValue);

/** A reference to the vault by a name that no secret can have would fail with every call. */
export function checkVaultReference(value: string, context: z.RefinementCtx): void {
  try {
    parseVaultTemplate(value);
  } catch (error) {
    if (!(error instanceof VaultReferenceError)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
  }
}

/** Printable ASCII: whatever else stands in a key (a line break from a file) never reaches a header. */
export const credential = z
  .string()
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
  .superRefine(checkVaultReference);

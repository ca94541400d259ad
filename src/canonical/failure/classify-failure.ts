import { redactSecrets } from '../../lib/text/redact-secrets.ts';
import { meaningOfCode } from './failure-code.ts';
import { failureOfMeaning, MEANINGS, type FailureMeaning, type MeaningOfFailure } from './failure-meaning.ts';
import { UPSTREAM_MESSAGE_CHARS_MAX, type UpstreamErrorBody, type UpstreamFailure } from './failure.ts';
import { STATUS_OF_ERROR_TYPE } from '../gateway-error.ts';

/** @spec error-13, error-10 */
const MEANING_OF_STATUS: Readonly<Record<number, FailureMeaning>> = {
  401: MEANINGS.rejectedCredentials,
  402: MEANINGS.outOfQuota,
  403: MEANINGS.rejectedCredentials,
  404: MEANINGS.gone,
  405: MEANINGS.gone,
  408: MEANINGS.timedOut,
  410: MEANINGS.gone,
  413: MEANINGS.tooLarge,
  422: MEANINGS.unprocessable,
  429: MEANINGS.rateLimited,
  451: MEANINGS.wrongRegion,
  504: MEANINGS.timedOut,
  524: MEANINGS.timedOut,
  529: MEANINGS.overloaded,
};

// Beside the usual: xAI "maximum prompt length", Moonshot "exceeded model token limit", Z.AI "Prompt exceeds max length",
// Alibaba "Range of input length", Together "`inputs` tokens + `max_new_tokens` must be <=". Their error references and
// the words as users quote them, read 2026-11.
const TOO_LONG =
  /context[ _-]?(length|window)|maximum context|exceeds? (the )?context|prompt is too long|too many (input )?tokens|input is too long|maximum prompt length|model token limit|prompt exceeds max|range of input length|`inputs` tokens/i;
// Alibaba `data_inspection_failed`, xAI "violates usage guidelines", Z.AI "unsafe or sensitive content".
const REFUSED =
  /content[ _-]?(policy|filter|management)|safety[ _](system|policy|check)|responsible ai|data_inspection_failed|usage (guidelines|policy|policies)|unsafe or sensitive/i;

const CODE_CHARS_MAX = 200;
const FLAGGED = /input was flagged/i;

/** Meanings of a 400 by the words that upstreams use for it; the first that matches counts. */
const MEANINGS_OF_BAD_REQUEST: readonly (readonly [words: RegExp, meaning: FailureMeaning])[] = [
  [TOO_LONG, MEANINGS.tooLong],
  // OpenRouter, when the response reached `max_tokens`: recorded by pydantic/pydantic-ai, 2025-11.
  [/token limit reached/i, MEANINGS.tokenLimit],
  [REFUSED, MEANINGS.refused],
  [
    /unsupported[ _](parameter|value)|unknown (parameter|field|name)|unrecognized (request )?(argument|key)|extra inputs|unexpected keyword/i,
    MEANINGS.unsupportedParameter,
  ],
  [/(could not|failed to|unable to|error while) (download|fetch|retrieve)/i, MEANINGS.downloadFailed],
  [/image.*(too large|exceeds)|image dimensions/i, MEANINGS.imageTooLarge],
  [/invalid (base64 )?image|could not process image|unsupported image|image.*(media type|format)/i, MEANINGS.badImage],
];

/** Classifies a response that is no success by its status and its message. */
export function classifyStatus(status: number, error: UpstreamErrorBody): UpstreamFailure {
  return { kind: 'status', ...failureOf(meaningOf(status, error), error), upstreamStatus: status };
}

/**
 * Classifies an error inside a response of status 200. @param status the status that the error would have had as a
 * response of its own; 500 where the upstream gives no hint
 */
export function classifyErrorEvent(status: number, error: UpstreamErrorBody): UpstreamFailure {
  return { kind: 'error-event', ...failureOf(meaningOf(status, error), error), upstreamStatus: status };
}

/** A failure without a response: the connection or a clock. */
export function transportFailure(
  kind: 'connect' | 'reset' | 'early-end' | 'garbage' | 'too-large' | 'aborted',
): UpstreamFailure {
  return {
    kind,
    errorType: 'provider_unavailable',
    status: 502,
    message: MESSAGE_OF_TRANSPORT[kind],
    mayTry: kind === 'aborted' ? 'nothing' : 'next-endpoint',
  };
}

const MESSAGE_OF_TRANSPORT = {
  connect: 'The provider could not be reached.',
  reset: 'The connection to the provider broke.',
  'early-end': "The provider's response ended too early.",
  garbage: "The provider's response could not be read.",
  'too-large': "The provider's response was too large.",
  aborted: 'The request was cancelled.',
} as const;

/** @param cutAfterMs the adaptive limit, where that ran out */
export function timeoutFailure(clock: NonNullable<UpstreamFailure['clock']>, cutAfterMs?: number): UpstreamFailure {
  return {
    kind: 'timeout',
    clock,
    ...(cutAfterMs !== undefined && { cutAfterMs }),
    errorType: 'timeout',
    // The request's own limit is the caller's 408, a provider's slowness 524 (@spec error-10).
    status: clock === 'total' ? 408 : STATUS_OF_ERROR_TYPE.timeout,
    message: messageOfTimeout(clock, cutAfterMs),
    mayTry: clock === 'total' ? 'nothing' : 'next-endpoint',
  };
}

function messageOfTimeout(clock: NonNullable<UpstreamFailure['clock']>, cutAfterMs: number | undefined): string {
  if (clock === 'total') return 'The request exceeded its time limit.';
  const limit = cutAfterMs === undefined ? '' : ` of ${Math.round(cutAfterMs)} ms while another provider was left`;
  return `The provider exceeded the ${clock} time limit${limit}.`;
}

function meaningOf(status: number, error: UpstreamErrorBody): FailureMeaning {
  const meaning = meaningOfCode(error);
  if (meaning !== undefined) return meaning;
  const words = `${error.code ?? ''} ${error.type ?? ''} ${error.message ?? ''}`;
  if (status === 400) return MEANINGS_OF_BAD_REQUEST.find(([known]) => known.test(words))?.[1] ?? MEANINGS.badRequest;
  if (status === 503 && /overload|slow down/i.test(words)) return MEANINGS.overloaded;
  // @spec fallback-4: a conversation may be too long under this status as well.
  if (status === 422 && TOO_LONG.test(words)) return MEANINGS.tooLong;
  // The prompt was flagged, which says nothing about the gateway's key: xAI, and OpenRouter with its `reasons`.
  if (status === 403 && (REFUSED.test(words) || FLAGGED.test(words))) return MEANINGS.refused;
  return MEANING_OF_STATUS[status] ?? MEANINGS.unavailable;
}

function failureOf(
  meaning: FailureMeaning,
  error: UpstreamErrorBody,
): MeaningOfFailure & Pick<UpstreamFailure, 'upstreamMessage' | 'providerCode' | 'retryAfterMs' | 'errorBody'> {
  const stated = redactError(error);
  const { message, retryAfterMs } = stated;
  const providerCode = stated.code ?? stated.type;
  return {
    ...failureOfMeaning(meaning),
    ...(message !== undefined && { upstreamMessage: message }),
    ...(providerCode !== undefined && { providerCode }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    errorBody: stated,
  };
}

function redactError({ message, code, type, ...rest }: UpstreamErrorBody): UpstreamErrorBody {
  return {
    ...rest,
    ...(message !== undefined && { message: redact(message) }),
    ...(code !== undefined && { code: redact(code).slice(0, CODE_CHARS_MAX) }),
    ...(type !== undefined && { type: redact(type).slice(0, CODE_CHARS_MAX) }),
  };
}

/** Hosts repeat keys in their messages: "Incorrect API key provided: sk-abc...". */
function redact(text: string): string {
  return redactSecrets(text.slice(0, UPSTREAM_MESSAGE_CHARS_MAX));
}

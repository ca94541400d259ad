import { censorSecrets } from '../lib/censor-secrets.ts';
import type { UpstreamErrorBody, UpstreamFailure } from './failure.ts';
import { STATUS_OF_ERROR_TYPE, type ErrorType } from './gateway-error.ts';

interface Meaning {
  readonly errorType: ErrorType;
  readonly mayTry: UpstreamFailure['mayTry'];
  readonly message: string;
  readonly status?: number;
}

const UNAVAILABLE: Meaning = {
  errorType: 'provider_unavailable',
  mayTry: 'next-endpoint',
  message: 'The provider failed to answer.',
};
const REJECTED_CREDENTIALS: Meaning = {
  ...UNAVAILABLE,
  message: "The provider refused the gateway's credentials.",
};
const GONE: Meaning = {
  errorType: 'not_found',
  mayTry: 'next-endpoint',
  message: 'The provider does not serve this model.',
};
const TIMED_OUT: Meaning = {
  errorType: 'timeout',
  mayTry: 'next-endpoint',
  message: 'The provider took too long to answer.',
};
const OVERLOADED: Meaning = {
  errorType: 'provider_overloaded',
  mayTry: 'next-endpoint',
  message: 'The provider is overloaded.',
  status: 529,
};

/** @source generation.md 8.4, decisions.md 2 and 3 */
const MEANING_OF_STATUS: Readonly<Record<number, Meaning>> = {
  401: REJECTED_CREDENTIALS,
  402: REJECTED_CREDENTIALS,
  403: REJECTED_CREDENTIALS,
  404: GONE,
  405: GONE,
  408: TIMED_OUT,
  410: GONE,
  413: {
    errorType: 'payload_too_large',
    mayTry: 'next-endpoint',
    message: 'The request is larger than the provider accepts.',
  },
  422: {
    errorType: 'unprocessable',
    mayTry: 'next-model',
    message: 'The provider could not process the request.',
  },
  429: {
    errorType: 'rate_limit_exceeded',
    mayTry: 'next-endpoint',
    message: 'The provider limits the rate of requests.',
  },
  451: {
    errorType: 'permission_denied',
    mayTry: 'next-endpoint',
    message: 'The provider does not serve this region.',
  },
  504: TIMED_OUT,
  524: TIMED_OUT,
  529: OVERLOADED,
};

/** What a 400 is about, by the words that upstreams use for it; the first that matches counts. */
const MEANINGS_OF_BAD_REQUEST: readonly { readonly words: RegExp; readonly meaning: Meaning }[] = [
  {
    words:
      /context[ _-]?(length|window)|maximum context|exceeds? (the )?context|prompt is too long|too many (input )?tokens|input is too long/i,
    meaning: {
      errorType: 'context_length_exceeded',
      mayTry: 'next-endpoint',
      message: "The request is longer than the model's context.",
    },
  },
  {
    words: /content[ _-]?(policy|filter|management)|safety (system|policy)|responsible ai/i,
    meaning: {
      errorType: 'content_policy_violation',
      mayTry: 'next-model',
      message: "The provider's content policy refused the request.",
    },
  },
  {
    words:
      /unsupported[ _](parameter|value)|unknown (parameter|field|name)|unrecognized (request )?(argument|key)|extra inputs|unexpected keyword/i,
    meaning: {
      errorType: 'invalid_request',
      mayTry: 'next-endpoint',
      message: 'The provider does not accept one of the parameters.',
    },
  },
  {
    words: /(could not|failed to|unable to|error while) (download|fetch|retrieve)/i,
    meaning: {
      errorType: 'image_download_failed',
      mayTry: 'next-model',
      message: 'The provider could not download a file of the request.',
    },
  },
  {
    words: /image.*(too large|exceeds)|image dimensions/i,
    meaning: { errorType: 'image_too_large', mayTry: 'next-model', message: 'An image of the request is too large.' },
  },
  {
    words: /invalid (base64 )?image|could not process image|unsupported image|image.*(media type|format)/i,
    meaning: { errorType: 'invalid_image', mayTry: 'next-model', message: 'The provider cannot read an image.' },
  },
];

const BAD_REQUEST: Meaning = {
  errorType: 'invalid_request',
  mayTry: 'next-model',
  message: 'The provider refused the request as invalid.',
};

const UPSTREAM_MESSAGE_CHARS_MAX = 2_000;

/** What an answer that is no success means, as far as status and words tell. */
export function classifyStatus(status: number, error: UpstreamErrorBody): UpstreamFailure {
  return { kind: 'status', ...failureOf(meaningOf(status, error), error), upstreamStatus: status };
}

/**
 * What an error inside an answer of status 200 means. @param status the status that the error would have had as an
 * answer of its own; 500 where the upstream gives no hint
 */
export function classifyErrorEvent(status: number, error: UpstreamErrorBody): UpstreamFailure {
  return { kind: 'error-event', ...failureOf(meaningOf(status, error), error), upstreamStatus: status };
}

/** A failure without an answer: the connection or a clock. */
export function transportFailure(
  kind: 'connect' | 'reset' | 'early-end' | 'garbage' | 'too-large' | 'aborted',
): UpstreamFailure {
  return {
    kind,
    errorType: 'provider_unavailable',
    status: 502,
    message: MESSAGE_OF_TRANSPORT[kind],
    mayTry: kind === 'aborted' ? 'nobody' : 'next-endpoint',
  };
}

const MESSAGE_OF_TRANSPORT = {
  connect: 'The provider could not be reached.',
  reset: 'The connection to the provider broke.',
  'early-end': "The provider's answer ended too early.",
  garbage: "The provider's answer could not be read.",
  'too-large': "The provider's answer was too large.",
  aborted: 'The request was cancelled.',
} as const;

export function timeoutFailure(clock: NonNullable<UpstreamFailure['clock']>): UpstreamFailure {
  return {
    kind: 'timeout',
    clock,
    errorType: 'timeout',
    // The request's own limit is the caller's 408, a provider's slowness 524 (decisions.md 3).
    status: clock === 'total' ? 408 : STATUS_OF_ERROR_TYPE.timeout,
    message:
      clock === 'total' ? 'The request exceeded its time limit.' : `The provider exceeded the ${clock} time limit.`,
    mayTry: clock === 'total' ? 'nobody' : 'next-endpoint',
  };
}

function meaningOf(status: number, error: UpstreamErrorBody): Meaning {
  const words = `${error.code ?? ''} ${error.type ?? ''} ${error.message ?? ''}`;
  if (status === 400) return MEANINGS_OF_BAD_REQUEST.find((entry) => entry.words.test(words))?.meaning ?? BAD_REQUEST;
  if (status === 503 && /overload/i.test(words)) return OVERLOADED;
  return MEANING_OF_STATUS[status] ?? UNAVAILABLE;
}

function failureOf(
  meaning: Meaning,
  error: UpstreamErrorBody,
): Pick<UpstreamFailure, 'errorType' | 'status' | 'message' | 'mayTry' | 'upstreamMessage' | 'providerCode'> {
  const providerCode = error.code ?? error.type;
  return {
    errorType: meaning.errorType,
    status: meaning.status ?? STATUS_OF_ERROR_TYPE[meaning.errorType],
    message: meaning.message,
    mayTry: meaning.mayTry,
    ...(error.message !== undefined && { upstreamMessage: redact(error.message) }),
    ...(providerCode !== undefined && { providerCode: redact(providerCode).slice(0, 200) }),
  };
}

/** Hosts say keys back: "Incorrect API key provided: sk-abc...". */
function redact(text: string): string {
  return censorSecrets(text.slice(0, UPSTREAM_MESSAGE_CHARS_MAX));
}

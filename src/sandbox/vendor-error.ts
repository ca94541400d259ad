import type { Refusal } from './refusal.ts';

export type Wire = 'chat' | 'messages';

interface VendorError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
}

/** What the chat format's vendor says with each status: developers.openai.com "Error codes", read 2026-11. */
const CHAT_ERRORS: Readonly<Record<number, VendorError>> = {
  400: { type: 'invalid_request_error', message: 'The request is invalid.' },
  401: { type: 'invalid_request_error', code: 'invalid_api_key', message: 'Incorrect API key provided.' },
  402: { type: 'insufficient_balance', code: 'insufficient_balance', message: 'Insufficient balance.' },
  403: { type: 'invalid_request_error', message: 'You are not allowed to sample from this model.' },
  404: { type: 'invalid_request_error', code: 'model_not_found', message: 'The model does not exist.' },
  429: { type: 'requests', code: 'rate_limit_exceeded', message: 'Rate limit reached. Please try again in 1s.' },
  503: { type: 'server_error', message: 'The engine is currently overloaded, please try again later.' },
  529: { type: 'server_error', message: 'The engine is currently overloaded, please try again later.' },
};

/** The same for the messages format: platform.claude.com "Errors", read 2026-11. */
const MESSAGES_ERRORS: Readonly<Record<number, VendorError>> = {
  400: { type: 'invalid_request_error', message: 'The request is invalid.' },
  401: { type: 'authentication_error', message: 'invalid x-api-key' },
  402: { type: 'billing_error', message: 'Your account has a billing problem.' },
  403: { type: 'permission_error', message: 'Your API key does not have permission to use the specified resource.' },
  404: { type: 'not_found_error', message: 'The requested resource could not be found.' },
  409: { type: 'conflict_error', message: 'The request conflicts with another one.' },
  413: { type: 'request_too_large', message: 'Request exceeds the maximum size' },
  429: { type: 'rate_limit_error', message: 'This request would exceed your rate limit.' },
  504: { type: 'timeout_error', message: 'The request timed out.' },
  529: { type: 'overloaded_error', message: 'Overloaded' },
};

/** Statuses that come with `retry-after`. */
export const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([429, 503, 529]);

/** The body of the vendor's ordinary error of a status, as JSON text. */
export function encodeStatusError(wire: Wire, status: number, requestId: string): string {
  const known = (wire === 'chat' ? CHAT_ERRORS : MESSAGES_ERRORS)[status];
  const isServerSide = status >= 500;
  if (wire === 'chat') {
    const type = known?.type ?? (isServerSide ? 'server_error' : 'invalid_request_error');
    const message =
      known?.message ??
      (isServerSide ? 'The server had an error while processing your request.' : 'The request was refused.');
    return encodeChatError(message, type, known?.code, undefined);
  }
  const type = known?.type ?? (isServerSide ? 'api_error' : 'invalid_request_error');
  const message = known?.message ?? (isServerSide ? 'Internal server error' : 'The request was refused.');
  return encodeMessagesError(message, type, requestId);
}

/** The body of a refusal, as JSON text. */
export function encodeRefusal(wire: Wire, refusal: Refusal, requestId: string): string {
  const { status, message, code, param } = refusal;
  if (wire === 'chat')
    return encodeChatError(message, CHAT_ERRORS[status]?.type ?? 'invalid_request_error', code, param);
  return encodeMessagesError(message, MESSAGES_ERRORS[status]?.type ?? 'invalid_request_error', requestId);
}

function encodeChatError(message: string, type: string, code: string | undefined, param: string | undefined): string {
  return JSON.stringify({ error: { message, type, param: param ?? null, code: code ?? null } });
}

function encodeMessagesError(message: string, type: string, requestId: string): string {
  return JSON.stringify({ type: 'error', error: { type, message }, request_id: requestId });
}

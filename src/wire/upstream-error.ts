import { UPSTREAM_MESSAGE_CHARS_MAX, type UpstreamErrorBody } from '../canonical/failure/failure.ts';
import { isJsonObject, parseJson, parseJsonObject, type JsonObject } from '../lib/json.ts';
import { itemsOf, objectOf, objectsOf, textOf } from './json-fields.ts';

/** Statuses for errors that name none, by the codes that vendors use; the first that matches counts. */
const STATUS_OF_WORDS: readonly (readonly [words: RegExp, status: number])[] = [
  [/overloaded/, 529],
  [/rate_?limit|too_many_requests|quota/, 429],
  [/timeout/, 504],
  [/authentication|invalid_api_key/, 401],
  [/permission/, 403],
  [/not_found/, 404],
  [/invalid|context_length|content_filter|content_policy|tool_use_failed|bad_request|unsupported/, 400],
];
const STATUS_UNKNOWN = 500;

/**
 * Decodes an upstream's error. Known shapes: `{error: {...}}`, `{error: "..."}`, a bare `{message, type, code}`
 * (vLLM), `{detail}` (FastAPI), and any of these in an array (Google).
 */
export function decodeError(text: string): UpstreamErrorBody {
  const value = parseJson(text);
  if (value !== undefined) return parseError(value);
  const words = text.trim();
  // The page of a proxy in between is no message.
  return words === '' || words.startsWith('<') ? {} : { message: words.slice(0, UPSTREAM_MESSAGE_CHARS_MAX) };
}

export function parseError(value: unknown): UpstreamErrorBody {
  if (typeof value === 'string') return { message: value.slice(0, UPSTREAM_MESSAGE_CHARS_MAX) };
  if (Array.isArray(value)) return parseError(itemsOf(value)[0]);
  if (!isJsonObject(value)) return {};
  const inner = value['error'];
  if (isJsonObject(inner) || (typeof inner === 'string' && value['message'] === undefined)) return parseError(inner);
  const vendor = vendorError(value);
  const message = vendor.message ?? messageOf(value);
  const code = vendor.code ?? codeOf(value['code']) ?? codeOf(value['status']);
  const type = vendor.type ?? codeOf(value['type']);
  const param = vendor.param ?? codeOf(value['param']);
  return {
    ...(message !== undefined && { message }),
    ...(code !== undefined && { code }),
    ...(type !== undefined && { type }),
    ...(param !== undefined && { param }),
  };
}

/** The error that an event of a stream is; `undefined`: it is none, which vendors also say with a null. */
export function errorOfEvent(event: Readonly<Record<string, unknown>>): UpstreamErrorBody | undefined {
  const error = event['error'] ?? undefined;
  if (error !== undefined) return parseError({ error });
  return event['type'] === 'error' ? parseError(event) : undefined;
}

/** The HTTP status that an error inside a response of status 200 stands for. */
export function statusOfError(error: unknown): number {
  if (!isJsonObject(error)) return STATUS_UNKNOWN;
  for (const member of ['code', 'status_code', 'status', 'http_status'] as const) {
    const status = Number(codeOf(error[member]));
    if (Number.isInteger(status) && status >= 400 && status <= 599) return status;
  }
  const words = `${codeOf(error['type']) ?? ''} ${codeOf(error['code']) ?? ''}`.toLowerCase();
  return STATUS_OF_WORDS.find(([pattern]) => pattern.test(words))?.[1] ?? STATUS_UNKNOWN;
}

/** What a gateway upstream keeps of the vendor's own body. */
function vendorError({ metadata }: JsonObject): UpstreamErrorBody {
  const raw = textOf(objectOf(metadata)?.['raw']);
  const body = raw === undefined ? undefined : parseJsonObject(raw);
  return body === undefined ? {} : parseError(body);
}

function messageOf(error: JsonObject): string | undefined {
  const { message, detail, metadata } = error;
  // A gateway as upstream has a generic message and keeps the vendor's own here.
  const raw = objectOf(metadata)?.['raw'];
  for (const words of [raw, message, detail]) {
    if (typeof words === 'string' && words !== '') return words.slice(0, UPSTREAM_MESSAGE_CHARS_MAX);
  }
  // Mistral puts the body of its framework there.
  if (isJsonObject(message)) return parseError({ detail: message['detail'] }).message;
  return textOf(objectsOf(detail)[0]?.['msg'])?.slice(0, UPSTREAM_MESSAGE_CHARS_MAX);
}

function codeOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value.slice(0, 200) : undefined;
}

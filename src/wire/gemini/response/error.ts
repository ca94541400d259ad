import { classifyErrorEvent } from '../../../canonical/failure/classify-failure.ts';
import {
  UPSTREAM_MESSAGE_CHARS_MAX,
  type UpstreamErrorBody,
  type UpstreamFailure,
} from '../../../canonical/failure/failure.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../../lib/json.ts';
import { objectsOf, textOf } from '../../json-fields.ts';

/** google.rpc.Code as HTTP, for errors inside a response that name no status: cloud.google.com "Errors", read 2026-11. */
const STATUS_OF_WORD: ReadonlyMap<string, number> = new Map([
  ['INVALID_ARGUMENT', 400],
  ['FAILED_PRECONDITION', 400],
  ['OUT_OF_RANGE', 400],
  ['UNAUTHENTICATED', 401],
  ['PERMISSION_DENIED', 403],
  ['NOT_FOUND', 404],
  ['RESOURCE_EXHAUSTED', 429],
  ['INTERNAL', 500],
  ['UNAVAILABLE', 503],
  ['DEADLINE_EXCEEDED', 504],
]);
const STATUS_UNKNOWN = 500;
const WORD_CHARS_MAX = 200;
/** Longest wait that is believed. */
const RETRY_AFTER_MS_MAX = 60 * 60 * 1_000;

/** Reads `{error: {code, message, status, details}}`, also alone in a list, as streams without SSE have it. Never throws. */
export function decodeError(text: string): UpstreamErrorBody {
  const error = errorIn(parseJson(text));
  if (error !== undefined) return parseError(error);
  const message = text.trim().slice(0, UPSTREAM_MESSAGE_CHARS_MAX);
  return message === '' ? {} : { message };
}

/** The error object in a response, if there is one. */
export function errorIn(value: Json | undefined): JsonObject | undefined {
  const body: Json | undefined = Array.isArray(value) ? value[0] : value;
  const error = isJsonObject(body) ? body['error'] : undefined;
  if (typeof error === 'string') return { message: error };
  return isJsonObject(error) ? error : undefined;
}

/** What an error object inside a response of status 200 means. @spec error-13 */
export function failureOfError(error: JsonObject): UpstreamFailure {
  const body = parseError(error);
  const { code } = error;
  const given = typeof code === 'number' && code >= 400 && code <= 599 ? code : undefined;
  return classifyErrorEvent(given ?? STATUS_OF_WORD.get(body.type ?? '') ?? STATUS_UNKNOWN, body);
}

function parseError(error: JsonObject): UpstreamErrorBody {
  const details = objectsOf(error['details']);
  const message = textOf(error['message'])?.slice(0, UPSTREAM_MESSAGE_CHARS_MAX);
  const type = textOf(error['status'])?.slice(0, WORD_CHARS_MAX);
  // google.rpc.ErrorInfo: `API_KEY_INVALID` and the like, under a status that is less specific.
  const code = firstText(details, 'reason');
  const param = firstText(
    details.flatMap((detail) => objectsOf(detail['fieldViolations'])),
    'field',
  );
  const retryAfterMs = decodeDelayMs(firstText(details, 'retryDelay'));
  return {
    ...(message !== undefined && { message }),
    ...(code !== undefined && { code }),
    ...(type !== undefined && { type }),
    ...(param !== undefined && { param }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

function firstText(objects: readonly JsonObject[], member: string): string | undefined {
  const found = objects.map((object) => textOf(object[member])).find((text) => text !== undefined && text !== '');
  return found?.slice(0, WORD_CHARS_MAX);
}

/** google.protobuf.Duration: `48s`, `48.939935699s`. */
function decodeDelayMs(delay: string | undefined): number | undefined {
  const [, seconds] = /^(\d{1,12}(?:\.\d{1,9})?)s$/.exec(delay ?? '') ?? [];
  return seconds === undefined ? undefined : Math.min(Math.ceil(Number(seconds) * 1_000), RETRY_AFTER_MS_MAX);
}

import { classifyErrorEvent } from '../../../canonical/failure/classify-failure.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../../lib/json.ts';
import {
  UPSTREAM_MESSAGE_CHARS_MAX,
  type UpstreamErrorBody,
  type UpstreamFailure,
} from '../../../canonical/failure/failure.ts';
import { textOf } from '../../json-fields.ts';

/** The status that each kind of error has outside a stream: vendor docs, "Errors", read 2026-11. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};
const STATUS_UNKNOWN = 500;

// `messages.0.content.1.text: must be ...`: the vendor names the member at the beginning.
const NAMED_MEMBER = /^([a-z_]+(?:\.[a-z_0-9]+)*): /;

/** Reads an error in the vendor's envelope, and in the plainer shapes of proxies before it. Never throws. */
export function decodeError(text: string): UpstreamErrorBody {
  const body = parseJson(text);
  if (isJsonObject(body)) return parseError(body);
  const message = text.trim().slice(0, UPSTREAM_MESSAGE_CHARS_MAX);
  return message === '' ? {} : { message };
}

/** @param body `{type: "error", error: {type, message}}`, `{error: "..."}`, `{message}` or `{detail}` */
function parseError(body: JsonObject): UpstreamErrorBody {
  const error = isJsonObject(body['error']) ? body['error'] : body;
  const given = textOf(error['message']) ?? textOf(body['error']) ?? textOf(body['message']) ?? textOf(body['detail']);
  const message = given?.slice(0, UPSTREAM_MESSAGE_CHARS_MAX);
  const type = error === body ? undefined : textOf(error['type']);
  const code = codeOf(error['code']);
  const param = message === undefined ? undefined : NAMED_MEMBER.exec(message)?.[1];
  return {
    ...(message !== undefined && { message }),
    ...(code !== undefined && { code }),
    ...(type !== undefined && { type }),
    ...(param !== undefined && { param }),
  };
}

/** What an error object inside a response of status 200 means. @spec error-13 */
export function failureOfErrorObject(body: JsonObject): UpstreamFailure {
  const error = parseError(body);
  const type = error.type ?? '';
  const status = Object.hasOwn(STATUS_OF_TYPE, type) ? STATUS_OF_TYPE[type] : statusOfCode(error.code);
  return classifyErrorEvent(status ?? STATUS_UNKNOWN, error);
}

function codeOf(code: Json | undefined): string | undefined {
  return typeof code === 'number' ? String(code) : textOf(code);
}

/** Gateways before us put the status there. */
function statusOfCode(code: string | undefined): number | undefined {
  const status = Number(code);
  return Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined;
}

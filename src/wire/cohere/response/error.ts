import { classifyErrorEvent } from '../../../canonical/failure/classify-failure.ts';
import type { UpstreamErrorBody, UpstreamFailure } from '../../../canonical/failure/failure.ts';
import { parseJson, type JsonObject } from '../../../lib/json.ts';
import * as chat from '../../upstream-error.ts';
import { objectOf, textOf } from '../../json-fields.ts';

const TYPE_CHARS_MAX = 200;

/** Statuses for errors inside a response, by the vendor's name of their kind. */
const STATUS_OF_TYPE: readonly (readonly [words: RegExp, status: number])[] = [
  [/too_many_tokens/i, 400],
  [/deny|blocked|safety/i, 400],
];

/**
 * `{message, id, error_type?}`, and the plainer shapes of hosts and proxies in front.
 * @source types of the vendor's SDK, cohere-ai/cohere-python; `error_type` as recorded in 2026-08 (crmne/ruby_llm)
 */
export function decodeError(text: string): UpstreamErrorBody {
  return withType(chat.decodeError(text), parseJson(text));
}

/** What an error object inside a response of status 200 means. */
export function failureOfError(error: JsonObject): UpstreamFailure {
  const body = withType(chat.parseError(error), error);
  const known = STATUS_OF_TYPE.find(([words]) => words.test(body.type ?? ''));
  return classifyErrorEvent(known?.[1] ?? chat.statusOfError(objectOf(error['error']) ?? error), body);
}

/** The failure of a response whose finish reason is one. @param error the sentence beside the reason */
export function failureOfFinish(word: string, status: number, error: unknown): UpstreamFailure {
  const message = textOf(error) ?? chat.parseError(error).message;
  return classifyErrorEvent(status, { code: word, ...(message !== undefined && { message }) });
}

/** Whether an event that has no type of the format is an error, whatever its shape. */
export function isError(value: JsonObject): boolean {
  const { type, error, error_type: errorType, message } = value;
  return (
    type === 'error' || (error ?? errorType ?? null) !== null || (type === undefined && typeof message === 'string')
  );
}

function withType(error: UpstreamErrorBody, value: unknown): UpstreamErrorBody {
  const type = textOf(objectOf(value)?.['error_type']);
  return type === undefined || type === '' ? error : { ...error, type: type.slice(0, TYPE_CHARS_MAX) };
}

import { classifyErrorEvent } from '../../../canonical/failure/classify-failure.ts';
import {
  UPSTREAM_MESSAGE_CHARS_MAX,
  type UpstreamErrorBody,
  type UpstreamFailure,
} from '../../../canonical/failure/failure.ts';
import { isJsonObject, parseJson, type JsonObject } from '../../../lib/json.ts';
import { textOf } from '../../json-fields.ts';

/**
 * The status that each exception has as a response of its own.
 * @spec error-14; docs.aws.amazon.com, API reference "ConverseStream", "Errors", read 2026-11
 */
const STATUS_OF_EXCEPTION: ReadonlyMap<string, number> = new Map([
  ['validationexception', 400],
  ['servicequotaexceededexception', 429],
  ['accessdeniedexception', 403],
  ['resourcenotfoundexception', 404],
  ['unknownoperationexception', 404],
  ['modeltimeoutexception', 408],
  ['modelerrorexception', 424],
  ['modelstreamerrorexception', 424],
  ['throttlingexception', 429],
  ['modelnotreadyexception', 429],
  ['internalserverexception', 500],
  ['serviceunavailableexception', 503],
]);
const STATUS_UNKNOWN = 500;
const NAME_CHARS_MAX = 200;

/**
 * Reads an error: `{message}`, in older parts of the house `{Message}`, and its name where it stands: in the body, else
 * in a header. Never throws. @source smithy.io "AWS restJson1 protocol", "Operation error serialization", read 2026-11
 */
export function decodeError(text: string, headers: Readonly<Record<string, string>> = {}): UpstreamErrorBody {
  const named = nameOf(headers['x-amzn-errortype']);
  const type = named === undefined || named === '' ? {} : { type: named.slice(0, NAME_CHARS_MAX) };
  const body = parseJson(text);
  if (isJsonObject(body)) return { ...type, ...parseError(body) };
  const message = text.trim().slice(0, UPSTREAM_MESSAGE_CHARS_MAX);
  return message === '' ? type : { ...type, message };
}

function parseError(body: JsonObject): UpstreamErrorBody {
  const given = textOf(body['message']) ?? textOf(body['Message']) ?? textOf(body['originalMessage']);
  const message = given?.slice(0, UPSTREAM_MESSAGE_CHARS_MAX);
  const type = nameOf(textOf(body['__type']) ?? textOf(body['code']));
  return { ...(message !== undefined && { message }), ...(type !== undefined && { type }) };
}

/** `com.amazon.coral.validate#ValidationException:http://...` has the name in its middle. */
function nameOf(type: string | undefined): string | undefined {
  return type?.slice(type.indexOf('#') + 1).split(':', 1)[0];
}

/**
 * Classifies an exception inside a response of status 200. @param name from the frame's header
 * @spec error-13
 */
export function failureOfException(name: string | undefined, text: string): UpstreamFailure {
  const error = decodeError(text);
  const type = nameOf(name) ?? error.type;
  const status = STATUS_OF_EXCEPTION.get(type?.toLowerCase() ?? '') ?? STATUS_UNKNOWN;
  return classifyErrorEvent(status, { ...error, ...(type !== undefined && { type }) });
}

import { isJsonObject, parseJson, type JsonObject } from '../../../src/lib/json.ts';
import { checkStream } from '../wire/responses/stream-checker.ts';
import { readChatStream, readMessagesStream } from '../http/read-stream.ts';

/** An answer of the gateway as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** Statuses that a caller may get. @spec error-8 */
const STATUSES: ReadonlySet<number> = new Set([200, 400, 401, 402, 403, 404, 408, 413, 422, 429, 502, 503, 524, 529]);

/** What is wrong with an answer of a generation endpoint; `undefined`: nothing. A 500 always is. */
export function findFault(path: string, answer: RawAnswer): string | undefined {
  const isMessages = path.includes('/messages');
  if (!STATUSES.has(answer.status)) return `status ${answer.status}: ${answer.text.slice(0, 300)}`;
  try {
    if (answer.contentType.startsWith('text/event-stream')) {
      if (answer.status !== 200) return `a stream of status ${answer.status}`;
      // Both throw where there is more or less than one terminal frame.
      if (path.endsWith('/responses')) checkStream(answer.text);
      else if (isMessages) readMessagesStream(answer.text);
      else readChatStream(answer.text);
      return undefined;
    }
  } catch (error) {
    return `a broken stream: ${String(error)}: ${answer.text.slice(-500)}`;
  }
  if (!answer.contentType.startsWith('application/json')) return `content-type ${answer.contentType}`;
  const body = parseJson(answer.text);
  if (!isJsonObject(body)) return `no JSON object: ${answer.text.slice(0, 300)}`;
  const faultOf = path.endsWith('/responses') ? faultOfResponse : faultOfAnswer;
  const fault = answer.status === 200 ? faultOf(body, isMessages) : faultOfError(body, answer.status, isMessages);
  return fault === undefined ? undefined : `${fault}: ${answer.text.slice(0, 500)}`;
}

function faultOfAnswer(body: JsonObject, isMessages: boolean): string | undefined {
  const { id, choices, content, usage } = body;
  if (typeof id !== 'string' || !id.startsWith('gen-')) return 'no id';
  if (!isJsonObject(usage)) return 'no usage';
  if (isMessages)
    return body['type'] === 'message' && Array.isArray(content) && body['stop_reason'] !== undefined
      ? undefined
      : 'no message';
  return body['object'] === 'chat.completion' && Array.isArray(choices) && choices.length === 1
    ? undefined
    : 'no completion';
}

function faultOfResponse({ id, object, status, output, usage }: JsonObject): string | undefined {
  if (typeof id !== 'string' || !id.startsWith('resp_')) return 'no id';
  // What is known of a failure is in its record.
  if (!isJsonObject(usage) && status !== 'failed') return 'no usage';
  return object === 'response' && typeof status === 'string' && Array.isArray(output) ? undefined : 'no response';
}

function faultOfError(body: JsonObject, status: number, isMessages: boolean): string | undefined {
  const { error, type, request_id: requestId } = body;
  if (!isJsonObject(error)) return 'no error';
  if (error['code'] !== status) return 'the code is not the status';
  if (typeof error['message'] !== 'string' || error['message'] === '') return 'no message';
  if (!isMessages) return undefined;
  if (type !== 'error' || typeof error['type'] !== 'string') return 'not in the shape of the format';
  return requestId === null || typeof requestId === 'string' ? undefined : 'no request_id';
}

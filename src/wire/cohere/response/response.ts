import { transportFailure } from '../../../canonical/failure/classify-failure.ts';
import type { EventBatch } from '../../../canonical/events.ts';
import { isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { ResponseDecoder } from './response-decoder.ts';
import { chatLogprobs, logprobsOfText } from './logprobs.ts';
import { failureOfError, isError } from './error.ts';

/** The events of a stream that brings every part in one piece, so that both fold to the same response. */
export function decodeWhole(text: string): EventBatch {
  const response = parseJsonObject(text);
  const message = response?.['message'];
  if (response === undefined || !isJsonObject(message)) {
    const failed = response !== undefined && isError(response);
    return [{ type: 'failed', failure: failed ? failureOfError(response) : transportFailure('garbage') }];
  }
  const reader = new ResponseDecoder();
  reader.start(response['id'] ?? response['generation_id']);
  takeContent(reader, message, response);
  // Right before the calls that it is the plan for.
  reader.addPlan(message['tool_plan']);
  for (const [index, call] of objectsOf(message['tool_calls']).entries()) {
    reader.startCall(index, call);
    reader.endCall(index);
  }
  reader.finish(response['finish_reason'], response['usage'], response['error']);
  return reader.take();
}

/** Citations stand apart from the parts that they cite, and are emitted while those are decoded. */
function takeContent(reader: ResponseDecoder, message: JsonObject, response: JsonObject): void {
  const { content } = message;
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : itemsOf(content);
  const citations = groupCitations(message['citations'], parts);
  const text = parts.map(textOfPart).join('');
  let logprobs = chatLogprobs(logprobsOfText(response['logprobs'], text));
  for (const [index, part] of parts.entries()) {
    if (!isJsonObject(part)) continue;
    const isText = textOfPart(part) !== '';
    reader.addContent(index, part, isText ? logprobs : undefined);
    if (isText) logprobs = undefined;
    for (const citation of citations.get(index) ?? []) reader.cite(citation);
    citations.delete(index);
  }
  // Of parts that are not there: noted, as in a stream.
  for (const lost of citations.values()) for (const citation of lost) reader.cite(citation);
}

/** By the index of their part; one that names none is of the last text. */
function groupCitations(value: Json | undefined, parts: readonly unknown[]): Map<number, readonly JsonObject[]> {
  const lastText = parts.findLastIndex((part) => textOfPart(part) !== '');
  return Map.groupBy(objectsOf(value), ({ content_index: index }) => (typeof index === 'number' ? index : lastText));
}

function textOfPart(part: unknown): string {
  return textOf(objectOf(part)?.['text']) ?? '';
}

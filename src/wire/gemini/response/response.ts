import { transportFailure } from '../../../canonical/failure/classify-failure.ts';
import type { EventBatch } from '../../../canonical/events.ts';
import { isJsonObject, parseJson } from '../../../lib/json.ts';
import { ResponseDecoder } from './response-decoder.ts';
import { errorIn, failureOfError } from './error.ts';
import { parseChunk } from './stream.ts';
import { itemSources } from './json-source.ts';

/** The events that a stream of the same response would fold to. A stream without SSE is a list of its chunks. */
export function decodeWhole(text: string): EventBatch {
  const response = parseJson(text);
  const error = errorIn(response);
  if (error !== undefined) return [{ type: 'failed', failure: failureOfError(error) }];
  const sources = Array.isArray(response) ? itemSources(text) : [text];
  const reader = new ResponseDecoder();
  let isResponse = false;
  for (const source of sources) {
    const chunk = parseChunk(source);
    if (!isJsonObject(chunk)) continue;
    isResponse ||= chunk['candidates'] !== undefined || isJsonObject(chunk['promptFeedback']);
    reader.takeChunk(chunk, source);
  }
  if (!isResponse) return [{ type: 'failed', failure: transportFailure('garbage') }];
  reader.finish(true);
  return reader.take();
}

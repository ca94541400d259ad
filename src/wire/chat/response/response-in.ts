import { transportFailure } from '../../../canonical/failure/classify-failure.ts';
import type { EventBatch } from '../../../canonical/events.ts';
import { parseJsonObject } from '../../../lib/json.ts';
import { ResponseDecoder } from './response-decoder.ts';
import { firstChoice, errorOfChunk, keepArguments } from './chunk.ts';
import type { ChatDialect } from '../dialect.ts';

/** The same events as those of a stream with a single chunk, so that both fold to the same response. */
export function decodeWhole(text: string, dialect?: ChatDialect): EventBatch {
  const response = parseJsonObject(text);
  const isResponse = response !== undefined && firstChoice(response['choices']) !== undefined;
  if (response === undefined || (!isResponse && errorOfChunk(response) === undefined))
    return [{ type: 'failed', failure: transportFailure('garbage') }];
  const reader = new ResponseDecoder(dialect);
  reader.takeChunk(keepArguments(response, text));
  reader.finish(true);
  return reader.take();
}

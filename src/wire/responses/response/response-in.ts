import { transportFailure } from '../../../canonical/failure/classify-failure.ts';
import type { EventBatch } from '../../../canonical/events.ts';
import { isJsonObject, parseJsonObject } from '../../../lib/json.ts';
import type { Dialect } from '../../format.ts';
import { ResponseDecoder } from './response-decoder.ts';
import { failureOfError } from './error-in.ts';

/** The same events as those of a stream that brings nothing but its last event, so that both fold to the same response. */
export function decodeWhole(text: string, dialect: Dialect = {}): EventBatch {
  const response = parseJsonObject(text);
  if (!Array.isArray(response?.['output'])) {
    const error = response?.['error'];
    const failure = isJsonObject(error) ? failureOfError(error) : transportFailure('garbage');
    return [{ type: 'failed', failure }];
  }
  const reader = new ResponseDecoder(dialect);
  reader.takeResponse(response, text);
  return reader.take();
}

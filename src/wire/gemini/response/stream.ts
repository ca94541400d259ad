import { transportFailure } from '../../../canonical/failure/classify-failure.ts';
import { hasFragileNumbers, isJsonObject, parseJson, parseKeepingNumbers, type Json } from '../../../lib/json.ts';
import { createSseParser } from '../../../lib/net/sse.ts';
import type { StreamDecoder } from '../../format.ts';
import { ResponseDecoder } from './response-decoder.ts';
import { ChunkTemplate } from './plain-chunk.ts';
import { errorIn, failureOfError } from './error.ts';

/** Argument values that come by path are read as values, so their numbers must be kept. */
const PARTIAL = '"partialArgs"';

/** @spec stream-8 */
export function createStreamDecoder(): StreamDecoder {
  const reader = new ResponseDecoder();
  const parser = createSseParser({ onEvent });
  const template = new ChunkTemplate();

  function onEvent(data: string): void {
    if (reader.over || data === '') return;
    const known = template.match(data);
    if (known !== undefined) {
      reader.takeTextChunk(known);
      return;
    }
    const chunk = parseChunk(data);
    if (isJsonObject(chunk)) {
      reader.takeChunk(chunk, data);
      template.learn(chunk, data);
      return;
    }
    const error = errorIn(chunk);
    if (error !== undefined) reader.fail(failureOfError(error));
    else if (data !== '[DONE]') reader.skip('an event that is no JSON object');
  }

  /** Both may meet an event over the parser's bound. */
  function feed(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      reader.fail(transportFailure('too-large'));
    }
  }

  return {
    push(bytes) {
      if (reader.over) return [];
      feed(() => parser.push(bytes));
      return reader.take();
    },
    isComplete: () => reader.isComplete,
    /** The vendor has no event for the end: chunks may follow the one that names the reason. */
    end() {
      if (!reader.over) feed(() => parser.end());
      reader.finish(false);
      return reader.take();
    },
  };
}

/** Numbers as they were written, where they become text again. */
export function parseChunk(text: string): Json | undefined {
  const value = parseJson(text);
  if (value === undefined || !text.includes(PARTIAL) || !hasFragileNumbers(text)) return value;
  return withCounts(value, parseKeepingNumbers(text));
}

/** Only the candidates need exact numbers; counts of tokens are read as numbers. */
function withCounts(value: Json, exact: Json): Json {
  if (!isJsonObject(value) || !isJsonObject(exact)) return value;
  const { candidates } = exact;
  return candidates === undefined ? value : { ...value, candidates };
}

import { transportFailure } from '../../../canonical/failure/classify-failure.ts';
import { parseJsonObject } from '../../../lib/json.ts';
import { TextTemplate } from '../../../lib/json/text-template.ts';
import { createSseParser } from '../../../lib/net/sse.ts';
import type { Dialect, StreamDecoder } from '../../format.ts';
import { ResponseDecoder } from './response-decoder.ts';

/** Not part of the format, but OpenRouter and others end their streams with it. */
const DONE = '[DONE]';
/** Deltas have numbers, and OpenAI's random padding against traffic analysis. @source OpenAI API reference, `stream_options`, read 2026-11 */
const DELTAS_OF_TEXT = {
  member: 'delta',
  varying: /(?<="sequence_number": ?)\d+|(?<="obfuscation": ?")[^"\\]*(?=")/,
};

/**
 * Reads a responses stream. Lenient with hosts that leave out deltas, openings of items, or everything but the last event.
 * @spec stream-8; vendor's SDK, openai 7.55 (2026-11), `ResponseStreamEvent`
 */
export function createStreamDecoder(dialect: Dialect = {}): StreamDecoder {
  const reader = new ResponseDecoder(dialect);
  const parser = createSseParser({ onEvent });
  const template = new TextTemplate(DELTAS_OF_TEXT);

  function onEvent(data: string, name: string | undefined): void {
    if (reader.over || data === '' || data.startsWith(DONE)) return;
    const known = template.match(data);
    if (known !== undefined && reader.growLatest(known.text)) return;
    const event = parseJsonObject(data);
    if (event === undefined) {
      reader.skip('an event that is no JSON object');
      return;
    }
    reader.takeEvent(event, name, data);
    if (reader.latestText !== undefined) template.learn(data, reader.latestText);
  }

  function feed(parse: () => void): void {
    if (reader.over) return;
    try {
      parse();
    } catch (error) {
      // An event over the parser's bound.
      if (!(error instanceof RangeError)) throw error;
      reader.fail(transportFailure('too-large'));
    }
  }

  return {
    push(bytes) {
      feed(() => parser.push(bytes));
      return reader.take();
    },
    end() {
      feed(() => parser.end());
      reader.fail(transportFailure('early-end'));
      return reader.take();
    },
  };
}

import { transportFailure } from '../../../canonical/failure/classify-failure.ts';
import { parseJsonObject } from '../../../lib/json.ts';
import { TextTemplate } from '../../../lib/json/text-template.ts';
import { createSseParser } from '../../../lib/net/sse.ts';
import type { StreamDecoder } from '../../format.ts';
import { ResponseDecoder } from './response-decoder.ts';
import type { ChatDialect } from '../dialect.ts';
import { keepArguments } from './chunk.ts';
import { CHUNKS_OF_TEXT, plainText } from './plain-chunk.ts';

const DONE = '[DONE]';

/** @spec stream-8 */
export function createStreamDecoder(dialect?: ChatDialect): StreamDecoder {
  const reader = new ResponseDecoder(dialect);
  const parser = createSseParser({ onEvent });
  const template = new TextTemplate(CHUNKS_OF_TEXT);

  function onEvent(data: string, event: string | undefined): void {
    if (reader.over || data === '') return;
    if (data.startsWith(DONE)) {
      reader.finish(true);
      return;
    }
    const known = template.match(data);
    if (known !== undefined && reader.takeText(known.text, known.frame)) return;
    const chunk = parseJsonObject(data);
    if (chunk === undefined) {
      reader.skip('an event that is no JSON object');
      return;
    }
    const text = plainText(chunk);
    // A frame is one line: more than one line of data would be cut in two when written.
    const frame = text === undefined || data.includes('\n') ? undefined : template.learn(data, text);
    if (text !== undefined && reader.takeText(text, frame)) return;
    const isError = event === 'error' && chunk['error'] === undefined;
    reader.takeChunk(isError ? { error: chunk } : keepArguments(chunk, data));
  }

  return {
    push(bytes) {
      if (reader.over) return [];
      try {
        parser.push(bytes);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        reader.fail(transportFailure('too-large'));
      }
      return reader.take();
    },
    isComplete: () => reader.isComplete,
    end() {
      parser.end();
      reader.finish(false);
      return reader.take();
    },
  };
}

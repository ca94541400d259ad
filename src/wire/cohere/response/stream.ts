import { transportFailure } from '../../../canonical/failure/classify-failure.ts';
import { parseJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { createSseParser } from '../../../lib/net/sse.ts';
import { objectOf, objectsOf, textOf } from '../../json-fields.ts';
import type { StreamDecoder } from '../../format.ts';
import { ResponseDecoder } from './response-decoder.ts';
import { chatLogprobs } from './logprobs.ts';
import { failureOfError, isError } from './error.ts';

const DONE = '[DONE]';

/** @source docs.cohere.com "Chat with Streaming" and the types of the vendor's SDK `V2ChatStreamResponse` (2026-08) */
export function createStreamDecoder(): StreamDecoder {
  const reader = new ResponseDecoder();
  const parser = createSseParser({ onEvent });

  function onEvent(data: string, name: string | undefined): void {
    if (reader.over || data === '') return;
    if (data.startsWith(DONE)) {
      reader.close();
      return;
    }
    const event = parseJsonObject(data);
    if (event === undefined) reader.skip('an event that is no JSON object');
    else takeEvent(reader, event, textOf(event['type']) ?? name ?? '');
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
    end() {
      parser.end();
      reader.close();
      return reader.take();
    },
  };
}

function takeEvent(reader: ResponseDecoder, event: JsonObject, type: string): void {
  const delta = objectOf(event['delta']);
  const message = objectOf(delta?.['message']);
  const index = indexOf(event['index']);
  switch (type) {
    case 'content-delta':
    case 'content-start':
      takeContent(reader, index, message?.['content'], event['logprobs']);
      return;
    case 'tool-call-delta':
      reader.addToCall(index, message?.['tool_calls']);
      return;
    case 'tool-call-start':
      reader.startCall(index, message?.['tool_calls']);
      return;
    case 'tool-call-end':
      reader.endCall(index);
      return;
    case 'tool-plan-delta':
      reader.addPlan(message?.['tool_plan']);
      return;
    case 'citation-start':
      for (const citation of listOf(message?.['citations'])) reader.cite(citation);
      return;
    case 'message-start':
      reader.start(event['id']);
      return;
    case 'message-end':
      reader.finish(delta?.['finish_reason'], delta?.['usage'], delta?.['error']);
      return;
    // A text stays open, because in the mode `accurate` its citations come after it has ended.
    case 'content-end':
    case 'citation-end':
    case 'debug':
      return;
    default:
      if (type === 'error' || isError(event)) reader.fail(failureOfError(event));
      else reader.skip(`an event of type ${type.slice(0, 80)}`);
  }
}

function takeContent(
  reader: ResponseDecoder,
  index: number,
  content: Json | undefined,
  logprobs: Json | undefined,
): void {
  const part = objectOf(content);
  if (part === undefined) reader.skip('a piece of content without content');
  else reader.addContent(index, part, logprobs === undefined ? undefined : chatLogprobs(listOf(logprobs)));
}

/** The SDK's types say one where the documentation's examples once had several. */
function listOf(value: Json | undefined): readonly JsonObject[] {
  const one = objectOf(value);
  return one === undefined ? objectsOf(value) : [one];
}

function indexOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}

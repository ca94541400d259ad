import { transportFailure } from '../../../canonical/failure/classify-failure.ts';
import type { EventBatch, GenerationEvent } from '../../../canonical/events.ts';
import {
  hasFragileNumbers,
  isJsonObject,
  parseJson,
  parseKeepingNumbers,
  type Json,
  type JsonObject,
} from '../../../lib/json.ts';
import { explanationOf, decodeBlock, decodeMessageExtra } from './content-in.ts';
import { endEvent } from './finish-reason.ts';
import { failureOfErrorObject } from './error-in.ts';
import { mergeUsage, decodeUsage } from './usage.ts';
import { textOf, type WireObject } from '../../json-fields.ts';

/** The events that a stream of the same response would fold to. @spec messages-26, messages-33 */
export function decodeWhole(text: string): EventBatch {
  const message = parseJson(text);
  if (!isJsonObject(message)) return [{ type: 'failed', failure: transportFailure('garbage') }];
  const content = message['content'];
  if (message['type'] === 'error' || (!Array.isArray(content) && isJsonObject(message['error'])))
    return [{ type: 'failed', failure: failureOfErrorObject(message) }];
  if (!Array.isArray(content)) return [{ type: 'failed', failure: transportFailure('garbage') }];
  return [
    startEvent(message),
    ...usageEvents(message['usage']),
    ...blockEvents(content, message, text),
    endEvent(textOf(message['stop_reason']) || undefined, textOf(message['stop_sequence']), endFields(message)),
  ];
}

function startEvent(message: JsonObject): GenerationEvent {
  const id = textOf(message['id']);
  const model = textOf(message['model']);
  return {
    type: 'start',
    format: 'messages',
    ...(id !== undefined && { id }),
    ...(model !== undefined && { model }),
    ...decodeMessageExtra(message),
  };
}

function usageEvents(usage: Json | undefined): readonly GenerationEvent[] {
  const merged = mergeUsage(undefined, usage);
  return merged === undefined ? [] : [{ type: 'usage', usage: decodeUsage(merged) }];
}

function blockEvents(content: readonly Json[], message: JsonObject, text: string): readonly GenerationEvent[] {
  const exact = hasFragileNumbers(text) ? exactContent(text) : content;
  const events: GenerationEvent[] = [];
  let index = 0;
  for (const block of exact) {
    if (!isJsonObject(block)) continue;
    const input = JSON.stringify(block['input'] ?? {});
    events.push({ type: 'block-start', index, block: decodeBlock(block, input) }, { type: 'block-end', index });
    index++;
  }
  const refusal = explanationOf(message['stop_details']);
  if (refusal !== '')
    events.push(
      { type: 'block-start', index, block: { type: 'refusal', text: refusal } },
      { type: 'block-end', index },
    );
  return events;
}

/** Inputs of tools, and whatever is only passed on, keep their numbers as the upstream wrote them. */
function exactContent(text: string): readonly Json[] {
  const exact = parseKeepingNumbers(text);
  const content = isJsonObject(exact) ? exact['content'] : undefined;
  return Array.isArray(content) ? content : [];
}

function endFields(message: JsonObject): WireObject {
  const fields: WireObject = {};
  for (const member of ['stop_details', 'container'])
    if (isJsonObject(message[member])) fields[member] = message[member];
  return fields;
}

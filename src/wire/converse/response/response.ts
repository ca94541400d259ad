import type { ReasoningFamily } from '../../../canonical/blocks.ts';
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
import type { Dialect } from '../../format.ts';
import { familyOf, decodeBlock } from './content.ts';
import { metadataEvents } from './metadata-events.ts';
import { failureOfException } from './error.ts';
import { endEvent } from './finish-reason.ts';
import { objectAt, textOf } from '../../json-fields.ts';

/** The events that a stream of the same response would fold to. @source AWS SDK `ConverseResponse`, 3.1162 (2026-11) */
export function decodeWhole(text: string, dialect?: Dialect): EventBatch {
  const response = parseJson(text);
  if (!isJsonObject(response)) return [{ type: 'failed', failure: transportFailure('garbage') }];
  const content = contentOf(response);
  if (content === undefined) return [{ type: 'failed', failure: failureOf(response) }];
  return [
    { type: 'start', format: 'converse' },
    ...blockEvents(hasFragileNumbers(text) ? exactContent(text) : content, familyOf(dialect)),
    ...metadataEvents(response),
    endEvent(textOf(response['stopReason']) || undefined, response['additionalModelResponseFields']),
  ];
}

function contentOf(response: JsonObject): readonly Json[] | undefined {
  const content = objectAt(objectAt(response, 'output'), 'message')['content'];
  return Array.isArray(content) ? content : undefined;
}

/** A path that the service does not know gives status 200 and `{"Output": {"__type": "...#UnknownOperationException"}}`. */
function failureOf(response: JsonObject) {
  const inner = objectAt(response, 'Output');
  const error = textOf(inner['__type']) === undefined ? response : inner;
  const known = typeof error['__type'] === 'string' || typeof error['message'] === 'string';
  return known ? failureOfException(undefined, JSON.stringify(error)) : transportFailure('garbage');
}

function blockEvents(content: readonly Json[], family: ReasoningFamily): readonly GenerationEvent[] {
  const events: GenerationEvent[] = [];
  let index = 0;
  for (const entry of content) {
    const block = isJsonObject(entry) ? decodeBlock(entry, family) : undefined;
    if (block === undefined) continue;
    events.push({ type: 'block-start', index, block }, { type: 'block-end', index });
    index++;
  }
  return events;
}

/** Inputs of tools, and whatever is only passed on, keep their numbers as the upstream wrote them. */
function exactContent(text: string): readonly Json[] {
  const exact = parseKeepingNumbers(text);
  return (isJsonObject(exact) ? contentOf(exact) : undefined) ?? [];
}

import type { Block } from '../../../canonical/blocks.ts';
import { type JsonObject, isJsonObject } from '../../../lib/json.ts';
import { decodeCitations } from '../citations.ts';
import { OWN_FAMILY } from '../reasoning-seal.ts';
import { textOf } from '../../json-fields.ts';
import { extraOf } from '../extra.ts';

const TEXT_MEMBERS = new Set(['type', 'text', 'citations']);
const TOOL_USE_MEMBERS = new Set(['type', 'id', 'name', 'input']);
const THINKING_MEMBERS = new Set(['type', 'thinking', 'signature']);
const REDACTED_MEMBERS = new Set(['type', 'data']);

/**
 * Decodes a content block of a response, whole or as it opens in a stream. Tools that the provider runs are calls of
 * `upstream`, so that no caller has to run them; their results, and unknown kinds, are opaque. A signature belongs to the
 * upstream, also where it is a gateway that seals signatures of others.
 * @param input the tool's input as JSON text; `''` when a stream is still to bring it
 * @spec messages-30
 */
export function decodeBlock(block: JsonObject, input: string): Block {
  switch (textOf(block['type']) ?? '') {
    case 'text': {
      const citations = decodeCitations(block['citations']);
      return {
        type: 'text',
        text: textOf(block['text']) ?? '',
        ...(citations && { citations }),
        ...extraOf(block, TEXT_MEMBERS),
      };
    }
    case 'thinking': {
      const signature = textOf(block['signature']) ?? '';
      return {
        type: 'reasoning',
        form: 'text',
        text: textOf(block['thinking']) ?? '',
        ...(signature !== '' && { signature }),
        family: OWN_FAMILY,
        ...extraOf(block, THINKING_MEMBERS),
      };
    }
    case 'redacted_thinking': {
      const text = textOf(block['data']) ?? '';
      return { type: 'reasoning', form: 'encrypted', text, family: OWN_FAMILY, ...extraOf(block, REDACTED_MEMBERS) };
    }
    case 'tool_use':
    case 'server_tool_use':
      return {
        type: 'tool-call',
        id: textOf(block['id']) ?? '',
        name: textOf(block['name']) ?? '',
        input,
        runBy: block['type'] === 'tool_use' ? 'caller' : 'upstream',
        ...extraOf(block, TOOL_USE_MEMBERS),
      };
    default:
      return { type: 'opaque', format: 'messages', value: block };
  }
}

/** Members of `message` that the canonical model does not name and that describe the response, not its model. */
const MESSAGE_MEMBERS: ReadonlySet<string> = new Set([
  'id',
  'type',
  'role',
  'model',
  'content',
  'stop_reason',
  'stop_sequence',
  'stop_details',
  'container',
  'usage',
  // Another gateway's, in whose place stands our own.
  'provider',
  'service_metadata',
]);

export function decodeMessageExtra(message: JsonObject) {
  return extraOf(message, MESSAGE_MEMBERS);
}

/** The vendor's explanation of a refusal. @spec messages-26 stop_details */
export function explanationOf(stopDetails: unknown): string {
  return isJsonObject(stopDetails) ? (textOf(stopDetails['explanation']) ?? '') : '';
}

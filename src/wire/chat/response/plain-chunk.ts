import type { TemplateOptions } from '../../../lib/json/text-template.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';

/**
 * Chunks of text alone repeat all but the text, and random padding against traffic analysis: OpenAI
 * (`stream_options.include_obfuscation`) and Mistral. The padding is not passed on.
 */
export const CHUNKS_OF_TEXT: TemplateOptions = {
  member: 'content',
  varying: /(?<="(?:obfuscation|p)": ?")[^"\\]*(?=")/,
  padding: /,\s*"(?:obfuscation|p)": ?"[^"\\]*"/g,
};

/**
 * The text of a chunk that holds nothing else worth keeping, so that its JSON can be written again with another head;
 * `undefined` for any other chunk. The head is everything before `choices`: members that the gateway replaces must
 * stand there, because of two members with one name the later counts.
 */
export function plainText(chunk: JsonObject): string | undefined {
  let text: string | undefined;
  for (const member in chunk) {
    switch (member) {
      case 'id':
      case 'object':
      case 'created':
      case 'model':
      case 'provider':
        if (text !== undefined) return undefined;
        break;
      case 'choices':
        text = textOfChoices(chunk['choices']);
        if (text === undefined) return undefined;
        break;
      case 'usage':
        if (chunk['usage'] !== null) return undefined;
        break;
      case 'system_fingerprint':
      case 'service_tier':
      case 'obfuscation':
      case 'p':
        break;
      default:
        return undefined;
    }
  }
  return text;
}

function textOfChoices(choices: Json | undefined): string | undefined {
  if (!Array.isArray(choices) || choices.length !== 1) return undefined;
  const choice: unknown = choices[0];
  if (!isJsonObject(choice) || choice['index'] !== 0) return undefined;
  for (const member in choice) {
    switch (member) {
      case 'index':
      case 'delta':
        break;
      case 'finish_reason':
      case 'native_finish_reason':
      case 'logprobs':
        if (choice[member] !== null) return undefined;
        break;
      default:
        return undefined;
    }
  }
  // The format demands the member in every chunk; upstreams that leave it out are written anew.
  return choice['finish_reason'] === null ? textOfDelta(choice['delta']) : undefined;
}

function textOfDelta(delta: Json | undefined): string | undefined {
  if (!isJsonObject(delta)) return undefined;
  for (const member in delta) {
    switch (member) {
      case 'content':
        break;
      case 'role':
        if (delta['role'] !== 'assistant') return undefined;
        break;
      case 'refusal':
      case 'reasoning':
      case 'reasoning_content':
        if (delta[member] !== null) return undefined;
        break;
      default:
        return undefined;
    }
  }
  const content = delta['content'];
  return typeof content === 'string' && content !== '' ? content : undefined;
}

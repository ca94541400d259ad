import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';

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
      // Random padding against traffic analysis: OpenAI (stream_options.include_obfuscation) and Mistral.
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

const MEMBER = /"content": ?"$/;
/** What JSON wants escaped, and what ends a string. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const NOT_PLAIN = /["\\\u0000-\u001f]/;

/** An upstream that pads each chunk anew never repeats itself: after so many chunks there is nothing to learn. */
const LEARNED_CHUNKS_MAX = 8;

/**
 * Recognises the chunks of one stream that differ from an earlier one in nothing but the text: an upstream repeats all
 * the rest letter by letter. Parsing such a chunk costs more than all the rest of its way.
 */
export class ChunkTemplate {
  #before = '';
  #after: string | undefined;
  #learnedChunks = 0;

  /** @param frame a chunk that holds nothing but this text, as `plainText` has found by parsing it */
  learn(frame: string, text: string): void {
    if (this.#learnedChunks === LEARNED_CHUNKS_MAX) return;
    this.#learnedChunks++;
    const written = JSON.stringify(text);
    // Of two members with one name the later counts.
    const at = frame.lastIndexOf('"content":');
    const from = frame.indexOf(written, at) + 1;
    const before = frame.slice(0, from);
    this.#after = from > 0 && MEMBER.test(before) ? frame.slice(from + written.length - 2) : undefined;
    this.#before = before;
  }

  /** The text of a chunk that fits the template; `undefined`: it must be parsed. */
  match(frame: string): string | undefined {
    const before = this.#before;
    const after = this.#after;
    if (after === undefined || frame.length <= before.length + after.length) return undefined;
    const to = frame.length - after.length;
    // Slices compare by words, `startsWith` by characters: 0.1 us against 1.
    if (frame.slice(0, before.length) !== before || frame.slice(to) !== after) return undefined;
    const text = frame.slice(before.length, to);
    return NOT_PLAIN.test(text) ? undefined : text;
  }
}

import { parseJsonObject, type JsonObject } from '../../lib/json.ts';
import type { AnswerIdentity } from '../format.ts';

const CHOICES = '"choices":';

/** The members that are the same in all chunks and answers, and ours. @source generation.md 6.3 */
export function identityMembers(identity: AnswerIdentity, object: string): JsonObject {
  return {
    id: identity.id,
    object,
    created: identity.createdS,
    model: identity.model,
    ...(identity.provider !== undefined && { provider: identity.provider }),
  };
}

/**
 * Writes chunks of an upstream again with only their heads changed: all before `choices`. Heads repeat within a stream,
 * so that most chunks cost one comparison.
 */
export class FrameHead {
  readonly #members: JsonObject;
  #from = CHOICES;
  #to: string | undefined;

  constructor(members: JsonObject) {
    this.#members = members;
  }

  /** The chunk as one event of our stream; `undefined` when its head cannot be told from the rest. */
  rewrite(frame: string): string | undefined {
    // A slice compares by words, `startsWith` by characters: 0.1 us against 1.
    if (this.#to === undefined || frame.slice(0, this.#from.length) !== this.#from) {
      const at = frame.indexOf(CHOICES);
      const head = at < 0 ? undefined : this.#readHead(frame.slice(0, at));
      if (head === undefined) return undefined;
      this.#from = frame.slice(0, at + CHOICES.length);
      this.#to = `data: ${head}`;
    }
    return `${this.#to}${frame.slice(this.#from.length)}\n\n`;
  }

  #readHead(text: string): string | undefined {
    const parsed = parseJsonObject(`${text}${CHOICES}0}`);
    if (parsed === undefined) return undefined;
    const { choices: _choices, provider: _provider, ...head } = parsed;
    return `${JSON.stringify({ ...head, ...this.#members }).slice(0, -1)},${CHOICES}`;
  }
}

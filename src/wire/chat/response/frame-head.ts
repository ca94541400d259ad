import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import type { DeltaFrame } from '../../../canonical/events.ts';
import type { ResponseIdentity } from '../../format.ts';

const CHOICES = '"choices":';

/** The members that are the same in all chunks and responses, and ours. @spec stream-13 */
export function identityMembers(identity: ResponseIdentity, object: string): JsonObject {
  return {
    id: identity.id,
    object,
    created: identity.createdS,
    model: identity.model,
    ...(identity.provider !== undefined && { provider: identity.provider }),
  };
}

/**
 * Members that a chunk leaves out where they hold nothing; strict clients refuse null there. In the text of a chunk that is
 * read as plain, the name of a member stands in quotes nowhere else: within a string they are escaped. @spec stream-13
 */
const NULLS = /,\s*"(?:usage|system_fingerprint)"\s*:\s*null/g;

/**
 * Writes chunks of an upstream again with only their heads changed, all before `choices`, and without nulls behind them.
 * Both repeat within a stream, so that most chunks cost two comparisons.
 */
export class FrameHead {
  readonly #members: JsonObject;
  #head = '';
  #headTo: string | undefined;
  #tail = '';
  #tailTo = '';

  constructor(members: JsonObject) {
    this.#members = members;
  }

  /** The chunk as one event of our stream; `undefined` when its head cannot be separated from the rest. */
  rewrite({ head, json, tail }: DeltaFrame): string | undefined {
    // Where the template of the stream made the frame, it is the very same string.
    if (head !== this.#head) {
      this.#head = head;
      this.#headTo = this.#rewriteHead(head);
    }
    if (this.#headTo === undefined) return undefined;
    if (tail !== this.#tail) {
      this.#tail = tail;
      this.#tailTo = `${tail.replaceAll(NULLS, '')}\n\n`;
    }
    return this.#headTo + json + this.#tailTo;
  }

  #rewriteHead(head: string): string | undefined {
    const at = head.indexOf(CHOICES);
    const parsed = at < 0 ? undefined : parseJsonObject(`${head.slice(0, at)}${CHOICES}0}`);
    if (parsed === undefined) return undefined;
    const { choices: _choices, provider: _provider, usage: _usage, system_fingerprint: fingerprint, ...rest } = parsed;
    const members = { ...rest, ...(typeof fingerprint === 'string' && { system_fingerprint: fingerprint }) };
    return `data: ${JSON.stringify({ ...members, ...this.#members }).slice(0, -1)},${head.slice(at)}`;
  }
}

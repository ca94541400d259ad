import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { SecretBox } from '../../lib/secret-box.ts';

/** What is sealed: reasoning of a model for its next turn, and the summary of a conversation. */
export type ContainerKind = 'reasoning' | 'compaction';

/** Versions of this gateway's own texts. A vendor's encrypted texts begin with neither. */
const PREFIX: Readonly<Record<ContainerKind, string>> = { reasoning: 'sr1.', compaction: 'sc1.' };
/** A container that would be longer is not made, and one that is longer is not opened. */
const CONTAINER_CHARS_MAX = 4 * 1_024 * 1_024;
/** What a container may hold. Inflating stops there: a caller can send any bytes. */
const CONTENT_BYTES_MAX = 16 * 1_024 * 1_024;
/** What all containers of one request may hold: a text of some kilobytes may hold thousands of times as much. */
const OPENED_CHARS_MAX = 32 * 1_024 * 1_024;

/**
 * Seals what callers keep for the gateway between requests in `encrypted_content`. Clients of the format drop all of an
 * item but that member and the readable summary, and the gateway keeps nothing by itself. A container opens for the
 * account that it was made for, with the gateway's secrets.
 */
export interface Containers {
  /** @returns `undefined` where the container would be too large */
  seal(kind: ContainerKind, accountId: string, content: JsonObject): string | undefined;
  /** @returns `undefined` for a text that is no container of this account, or was changed, or whose secret is gone */
  open(kind: ContainerKind, accountId: string, text: string): JsonObject | undefined;
}

/** Whether a text claims to be a container, which no vendor could read. */
export function isContainer(kind: ContainerKind, text: string): boolean {
  return text.startsWith(PREFIX[kind]);
}

export function createContainers(box: SecretBox): Containers {
  const purposeOf = (kind: ContainerKind, accountId: string): string => `responses ${kind} ${accountId}`;
  return {
    seal(kind, accountId, content) {
      const bytes = Buffer.from(JSON.stringify(content));
      if (bytes.length > CONTENT_BYTES_MAX) return undefined;
      const packed = deflateRawSync(bytes).toString('base64');
      if (packed.length > CONTAINER_CHARS_MAX) return undefined;
      const text = PREFIX[kind] + box.seal(packed, purposeOf(kind, accountId));
      return text.length > CONTAINER_CHARS_MAX ? undefined : text;
    },
    open(kind, accountId, text) {
      if (!isContainer(kind, text) || text.length > CONTAINER_CHARS_MAX) return undefined;
      try {
        const packed = box.open(text.slice(PREFIX[kind].length), purposeOf(kind, accountId));
        const bytes = inflateRawSync(Buffer.from(packed, 'base64'), { maxOutputLength: CONTENT_BYTES_MAX });
        const content: Json = JSON.parse(bytes.toString('utf8'));
        return isJsonObject(content) ? content : undefined;
      } catch {
        // Whatever is wrong with it, it does not open: the caller decides what that means.
        return undefined;
      }
    },
  };
}

/** The containers for one request, which stay closed once those that were opened hold too much together. */
export function openBounded(containers: Containers): Containers {
  let left = OPENED_CHARS_MAX;
  return {
    seal: (kind, accountId, content) => containers.seal(kind, accountId, content),
    open(kind, accountId, text) {
      if (left <= 0) return undefined;
      const content = containers.open(kind, accountId, text);
      if (content !== undefined) left -= JSON.stringify(content).length;
      return content;
    },
  };
}

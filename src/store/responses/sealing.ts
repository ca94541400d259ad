import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { SecretBoxError, type SecretBox } from '../../lib/secret-box.ts';

/** Seals what is kept of requests, for one workspace. */
export interface Sealing {
  seal(text: string, of: Workspace): Promise<SealedText>;
  /** @throws SecretBoxError for a text that the secret of now, and the one before, do not open */
  open(sealed: string, of: Workspace): Promise<string>;
}

export interface Workspace {
  readonly accountId: string;
  readonly workspaceId: string;
}

export interface SealedText {
  readonly sealed: string;
  /** The id of the secret that sealed it. */
  readonly secretId: string;
}

/** A secret that was changed from outside seals new texts after this. */
const BOX_FRESH_MS = 60_000;
/** More than any row holds. */
const TEXT_BYTES_MAX = 268_435_456;

const compress = promisify<string, Buffer>(deflateRaw);

/** @param context `ACCOUNT WORKSPACE`: a text opens for its own workspace only */
export function storedResponsePurpose(context: string): string {
  return `stored response ${context}`;
}

export interface SealingDeps {
  readonly box: () => Promise<SecretBox>;
  readonly monotonicMs: () => number;
  /** What a text is bound to, of `ACCOUNT WORKSPACE`. Default: a stored response. */
  readonly purpose?: (context: string) => string;
}

export function createSealing({
  box: readBox,
  monotonicMs,
  purpose: purposeIn = storedResponsePurpose,
}: SealingDeps): Sealing {
  const purposeOf = ({ accountId, workspaceId }: Workspace): string => purposeIn(`${accountId} ${workspaceId}`);
  let last: Promise<SecretBox> | undefined;
  let readAtMs = -Infinity;

  /** @param atOnce whether the last one will not do */
  function current(atOnce = false): Promise<SecretBox> {
    if (last === undefined || atOnce || monotonicMs() - readAtMs > BOX_FRESH_MS) {
      readAtMs = monotonicMs();
      last = readBox();
      last.catch(() => {
        last = undefined;
      });
    }
    return last;
  }

  return {
    async seal(text, of) {
      const compressed = await compress(text);
      const box = await current();
      return { sealed: box.seal(compressed.toString('base64'), purposeOf(of)), secretId: box.currentId };
    },
    async open(sealed, of) {
      const purpose = purposeOf(of);
      let opened: string;
      try {
        opened = (await current()).open(sealed, purpose);
      } catch (error) {
        if (!(error instanceof SecretBoxError)) throw error;
        // Another process may have changed the secret a moment ago.
        opened = (await current(true)).open(sealed, purpose);
      }
      return (await inflate(Buffer.from(opened, 'base64'))).toString('utf8');
    },
  };
}

function inflate(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    inflateRaw(bytes, { maxOutputLength: TEXT_BYTES_MAX }, (error, result) =>
      error === null ? resolve(result) : reject(error),
    );
  });
}

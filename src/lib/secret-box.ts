import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** A key that seals texts. It holds the key itself: never log one, and pass it to a box alone. */
export interface Secret {
  /** Names the key in sealed texts, and reveals nothing about it. */
  readonly id: string;
  readonly key: Uint8Array;
}

/** Seals texts: they open only with the secret, and only for the purpose that they were sealed for. */
export interface SecretBox {
  /** The secret that seals new texts. */
  readonly currentId: string;
  /** @param purpose what the text is bound to: it opens for the same purpose only */
  seal(text: string, purpose: string): string;
  /** @throws SecretBoxError for another secret, another purpose, or a changed text */
  open(sealed: string, purpose: string): string;
  /** A keyed digest, hex: equal for equal texts of one purpose, until another secret seals. */
  digest(text: string, purpose: string): string;
}

/** The message names secrets by their ids and contains nothing of the text. */
export class SecretBoxError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SecretBoxError';
  }
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const ID_BYTES = 6;
/** NIST SP 800-38D, 8.2: 96 random bits, for fewer than 2^32 texts a secret. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';

/** @param text of any length; its entropy is the strength of the key */
export function secretFrom(text: string): Secret {
  const derive = (info: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync('sha256', text, '', `model-gateway ${info}`, bytes));
  return { id: derive('secret id', ID_BYTES).toString('hex'), key: derive('sealing key', KEY_BYTES) };
}

/** Generates a text for `secretFrom`. */
export function newSecretText(): string {
  return randomBytes(KEY_BYTES).toString('base64url');
}

/** The id of the secret that sealed a text; `undefined` for a text that is not sealed. */
export function secretIdOf(sealed: string): string | undefined {
  const [version, id, bytes, ...more] = sealed.split('.');
  return version === VERSION && bytes !== undefined && more.length === 0 ? id : undefined;
}

/** @param secrets the current one first; the others only open */
export function createSecretBox(secrets: readonly [Secret, ...(readonly Secret[])]): SecretBox {
  const [current] = secrets;
  return {
    currentId: current.id,
    seal(text, purpose) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, current.key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(purpose));
      const bytes = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${VERSION}.${current.id}.${bytes.toString('base64url')}`;
    },
    open(sealed, purpose) {
      const id = secretIdOf(sealed);
      const secret = secrets.find((known) => known.id === id);
      if (id === undefined) throw new SecretBoxError('This is no sealed text.');
      if (secret === undefined) throw new SecretBoxError(`The secret ${id}, which sealed it, is not here.`);
      return open(secret, Buffer.from(sealed.slice(sealed.lastIndexOf('.') + 1), 'base64url'), purpose);
    },
    digest(text, purpose) {
      const key = Buffer.from(hkdfSync('sha256', current.key, '', `model-gateway digest ${purpose}`, KEY_BYTES));
      return createHmac('sha256', key).update(text).digest('hex');
    },
  };
}

function open({ id, key }: Secret, bytes: Buffer, purpose: string): string {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new SecretBoxError('The sealed text was cut off.');
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(purpose));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    return text.toString('utf8');
  } catch (cause) {
    throw new SecretBoxError(`What the secret ${id} sealed was changed, or sealed for something else.`, { cause });
  }
}

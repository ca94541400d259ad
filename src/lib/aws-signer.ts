import { createHash, createHmac } from 'node:crypto';
import type { SignatureV4 } from '@smithy/signature-v4';

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface SignerOptions {
  /** The service's name inside signatures. */
  readonly service: string;
  readonly region: string;
  readonly credentials: AwsKeys | (() => Promise<AwsKeys>);
  /** `false`: the path is encoded already, and is not encoded again. */
  readonly uriEscapePath?: boolean;
  /** The hash of the body is a header of its own. */
  readonly applyChecksum?: boolean;
}

/** Version 4 of Amazon's signatures. Loaded with the first call: those without it should not wait 100 ms for it. */
export async function loadAwsSigner(options: SignerOptions): Promise<SignatureV4> {
  const { SignatureV4: Signer } = await import('@smithy/signature-v4');
  return new Signer({ ...options, sha256: Sha256 });
}

/** What the signer hashes with. The vendor's own is written in JavaScript, for browsers. */
class Sha256 {
  readonly #hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data, 'utf8');
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

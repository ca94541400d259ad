import { createHash, createHmac } from 'node:crypto';

export interface SignedRequest {
  readonly method: string;
  /** As it was on the wire, with the query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/**
 * The signature that a request should bear, from the vendor's description alone (docs.aws.amazon.com "Create a signed
 * AWS API request", read 2026-11) and from what arrived: nothing of the library that signs is used.
 */
export function expectedSignature(request: SignedRequest, secret: string): string {
  const authorization = request.headers['authorization'] ?? '';
  const scope = /Credential=[^/]+\/([^,]+)/.exec(authorization)?.[1] ?? '';
  const signedHeaders = /SignedHeaders=([^,]+)/.exec(authorization)?.[1] ?? '';
  const [path = '', query = ''] = request.target.split('?');
  const canonical = [
    request.method,
    // Every service but S3 encodes what is encoded already once more.
    path.split('/').map(encode).join('/'),
    query
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
      .toSorted()
      .join('&'),
    ...signedHeaders.split(';').map((name) => `${name}:${(request.headers[name] ?? '').trim().replaceAll(/ +/g, ' ')}`),
    '',
    signedHeaders,
    sha256(request.body),
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'] ?? '', scope, sha256(canonical)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>((so, part) => hmac(so, part), `AWS4${secret}`);
  return hmac(key, text).toString('hex');
}

export function signatureOf(request: SignedRequest): string | undefined {
  return /Signature=([0-9a-f]{64})$/.exec(request.headers['authorization'] ?? '')?.[1];
}

function encode(segment: string): string {
  return Buffer.from(segment, 'utf8').reduce((text, byte) => {
    const letter = String.fromCharCode(byte);
    return text + (/[A-Za-z0-9_.~-]/.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`);
  }, '');
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'utf8').digest();
}

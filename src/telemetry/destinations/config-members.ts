import { z } from 'zod';
import { RESERVED_HEADERS } from './contract.ts';

const URL_CHARS_MAX = 2_048;
const HEADERS_MAX = 20;
const HEADER_CHARS_MAX = 4_096;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Where to. Whether it may be called is found out when it is. */
export const urlMember = z
  .string()
  .max(URL_CHARS_MAX)
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be an https:// address')
  .refine((text) => !hasCredentials(text), 'must have no user, password or fragment');

function hasCredentials(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.username !== '' || url.password !== '' || url.hash !== '');
}

const vendorUrlMember = urlMember.refine(
  (text) => (URL.parse(text)?.search ?? '') === '',
  'must have no query: further members and `headers` say the rest',
);

/** The address of a vendor, with its default; without one it has to be named. */
export function baseUrlMember(): typeof urlMember;
export function baseUrlMember(usual: string): z.ZodOptional<typeof urlMember>;
export function baseUrlMember(usual?: string): typeof urlMember | z.ZodOptional<typeof urlMember> {
  return usual === undefined ? vendorUrlMember : vendorUrlMember.optional().meta({ default: usual });
}

const TEXT_CHARS_MAX = 512;
const SECRET_CHARS_MAX = 4_096;
/** One line that a header may have. */
const ONE_LINE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** A name at a vendor. */
export const textMember = z.string().max(TEXT_CHARS_MAX).regex(ONE_LINE, 'must be one line of ASCII text');
/** A key or a token. */
export const secretMember = z.string().max(SECRET_CHARS_MAX).regex(ONE_LINE, 'must be one line of ASCII text');

/** Further headers of every call. */
export const headersMember = z
  .record(
    z
      .string()
      .regex(HEADER_NAME, 'is no header name')
      .refine((name) => !RESERVED_HEADERS.has(name.toLowerCase()), 'is a header that the gateway itself sets'),
    z.string().max(HEADER_CHARS_MAX).regex(HEADER_VALUE, 'must be one line of Latin-1 text'),
  )
  .refine((headers) => Object.keys(headers).length <= HEADERS_MAX, `must have at most ${HEADERS_MAX} headers`)
  // Those of a type, which are in lower case, stand in their place: a header that is sent twice is anything.
  .overwrite((headers) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  );

/** An address below another one, whose own path stays: a server of one's own may stand behind one. */
export function below(base: string, path: string): string {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  return url.href;
}

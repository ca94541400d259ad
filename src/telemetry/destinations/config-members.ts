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
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be an https:// address');

/** Further headers of every call. */
export const headersMember = z
  .record(
    z
      .string()
      .regex(HEADER_NAME, 'is no header name')
      .refine((name) => !RESERVED_HEADERS.has(name.toLowerCase()), 'is a header that the gateway itself sets'),
    z.string().max(HEADER_CHARS_MAX).regex(HEADER_VALUE, 'must be one line of Latin-1 text'),
  )
  .refine((headers) => Object.keys(headers).length <= HEADERS_MAX, `must have at most ${HEADERS_MAX} headers`);

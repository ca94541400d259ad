import { z } from 'zod';
import { decodeDataUrl } from '../../../lib/net/data-url.ts';

/** Either alphabet, in lines or in one. What is searched for is the first other character. */
const NOT_BASE64 = /[^A-Za-z0-9+/=_\-\s]/;
/** Addresses that mean something on the machine that opens them, or that no file is at. Vendors have schemes of their own. */
const LOCAL_SCHEME = /^\s*(?:file|ftps?|sftp|gopher|dict|ldaps?|jar|netdoc|unix|javascript|blob|about|view-source):/i;

function isBase64(data: string): boolean {
  return !NOT_BASE64.test(data);
}

/** Bytes in a member that takes no address: an upstream that opened an address would do so inside its own network. */
export const base64Data = z.string().refine(isBase64, { error: 'must be base64' });

/** The same, where clients also write a `data:` URL. */
export const audioData = z.string().refine((data) => isBase64(data) || isBase64DataUrl(data), {
  error: 'must be base64, or a data: URL; an address is not opened',
});

export const mediaUrl = z.string().refine((url) => !LOCAL_SCHEME.test(url), {
  error: 'must be an https: or data: URL, or an address that the provider knows',
});

function isBase64DataUrl(url: string): boolean {
  const data = decodeDataUrl(url)?.data;
  return data !== undefined && isBase64(data);
}

/** A PNG of one pixel, 70 bytes, as base64. */
export const PNG_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The same as a `data:` URL. */
export const PNG_DATA_URL = `data:image/png;base64,${PNG_BASE64}`;

/** What the sandbox says of it. */
export const PNG_MENTION = `[image image/png ${Buffer.from(PNG_BASE64, 'base64').length} bytes]`;

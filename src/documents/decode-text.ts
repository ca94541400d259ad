/** In the charset where it is known, else in UTF-8, with a sign for each byte that is none. */
export function decodeText(bytes: Uint8Array, charset: string | undefined): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // The charset is unknown.
    return new TextDecoder().decode(bytes);
  }
}

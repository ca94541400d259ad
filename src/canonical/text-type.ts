/** Types outside `text/` whose files are text all the same. */
const TEXT_TYPE =
  /^(?:text\/.+|application\/(?:(?:.+\+)?(?:json|xml|yaml)|x-yaml|(?:x-)?ndjson|(?:x-)?javascript|sql|toml))$/;

/** Whether a file of this media type is text, so that the text may stand in for the file. */
export function isTextType(mediaType: string): boolean {
  return TEXT_TYPE.test(mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '');
}

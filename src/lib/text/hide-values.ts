const HIDDEN = '[secret]';
/** A shorter value would be found everywhere. */
const VALUE_CHARS_MIN = 4;

/**
 * Makes texts that may repeat what was sent safe to pass on: hides values as they are, in JSON, in URLs and in Base64, at each
 * of its three offsets.
 */
export function createHider(values: readonly string[]): (text: string) => string {
  const forms = [...new Set(values.filter((value) => value.length >= VALUE_CHARS_MIN).flatMap(formsOf))]
    .filter((form) => form.length >= VALUE_CHARS_MIN)
    .toSorted((one, other) => other.length - one.length);
  return (text) => forms.reduce((left, form) => left.replaceAll(form, HIDDEN), text);
}

function formsOf(value: string): readonly string[] {
  const inUrl = encodeURIComponent(value.toWellFormed());
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    inUrl,
    inUrl.replaceAll(/%[\dA-F]{2}/g, (byte) => byte.toLowerCase()),
    inUrl.replaceAll('%20', '+'),
    ...inBase64(value),
  ];
}

/** What is the same in Base64 wherever in a text the value stands: the characters that no neighbour has a part in. */
function inBase64(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    const inner = encoded.slice(first, last);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

import type { UpstreamErrorBody } from '../../../canonical/failure/failure.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import type { ImageOperation } from '../../../canonical/image.ts';
import { parseJsonObject } from '../../../lib/json.ts';
import { eachMember, endOfValue, NotThatJson, skipSpaces, valueAt } from '../../../lib/json/walk-bytes.ts';
import { encodeForm, type FormPart } from '../../../lib/net/form-body.ts';
import { membersBeside } from '../../provider-options.ts';
import { decodeError } from '../../upstream-error.ts';
import { base64At } from '../base64-text.ts';
import type { DecodedImages, EncodedImage, ImageFormat, ImageTarget } from '../format.ts';
import { ratioWanted, tierWanted } from '../geometry.ts';
import { droppedWarnings, refuseMask } from '../words.ts';

/**
 * Stability's forms: a path for each family of models.
 * @source "Stable Image Core request and response" of the same models at docs.aws.amazon.com, `stability-ai` 0.7 of npm and
 *   `stability` of RubyGems, all read 2026-11
 */
export const stabilityImages: ImageFormat = {
  id: 'image/stability',
  streams: false,
  nMax: 1,
  encode,
  decode,
  decodeError: decodeStabilityError,
};

const RATIOS = ['1:1', '16:9', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21'];
const OUTPUT_FORMATS: ReadonlySet<unknown> = new Set(['png', 'jpeg', 'webp', undefined]);
/** Models with a path of their own; all others are named in the form of one path. */
const OWN_PATH = /^(?:stable-image-)?(core|ultra)$/;

/** @throws GatewayError 400 for what it has no word for */
function encode(operation: ImageOperation, { model, options }: ImageTarget): EncodedImage {
  const { prompt, seed, outputFormat, references } = operation;
  const [reference] = references;
  refuseMask(operation);
  if (reference !== undefined) throw invalid(reference.path, 'pictures are not read by this provider here');
  if (!OUTPUT_FORMATS.has(outputFormat))
    throw invalid('output_format', 'must be one of png, jpeg, webp at this provider');
  tierWanted(operation, { '1K': '1K' });
  const ratio = ratioWanted(operation, RATIOS);
  const own = OWN_PATH.exec(model)?.[1];
  const text = (name: string, value: string | number | undefined): readonly FormPart[] =>
    value === undefined ? [] : [{ name, value: String(value) }];
  const parts = [
    ...text('prompt', prompt),
    ...text('model', own === undefined ? model : undefined),
    ...text('aspect_ratio', ratio),
    ...text('seed', seed),
    ...text('output_format', outputFormat),
  ];
  const added = membersBeside(
    parts.map(({ name }) => name),
    options,
  );
  const more = Object.entries(added).flatMap(([name, value]) =>
    text(name, typeof value === 'string' ? value : JSON.stringify(value)),
  );
  return {
    path: `/stable-image/generate/${own ?? 'sd3'}`,
    body: { source: encodeForm([...parts, ...more]) },
    warnings: droppedWarnings(operation, ['quality', 'background', 'output_compression', 'moderation']),
  };
}

const WITHHELD = 'CONTENT_FILTERED';

function decode(bytes: Buffer): DecodedImages {
  let base64: Buffer | undefined;
  let finish: unknown;
  eachMember(bytes, skipSpaces(bytes, 0), (name, at) => {
    if (name === 'image') {
      const read = base64At(bytes, at);
      ({ base64 } = read);
      return read.end;
    }
    if (name !== 'finish_reason') return undefined;
    const end = endOfValue(bytes, at);
    finish = valueAt(bytes, at, end);
    return end;
  });
  // A picture that was withheld may stand there, blurred.
  if (finish === WITHHELD) return { refused: `The picture was withheld: ${WITHHELD}.` };
  if (base64 === undefined) throw new NotThatJson();
  return { pictures: [{ base64 }] };
}

/** `{id, name, errors: [...]}`. */
function decodeStabilityError(text: string): UpstreamErrorBody {
  const { name, errors } = parseJsonObject(text) ?? {};
  const [message]: readonly unknown[] = Array.isArray(errors) ? errors : [];
  if (typeof message !== 'string') return decodeError(text);
  return { message, ...(typeof name === 'string' && { code: name }) };
}

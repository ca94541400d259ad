import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type Json } from '../lib/json.ts';
import { pictureTypeOf } from '../lib/pictures/picture-type.ts';
import { encodePng } from './png.ts';
import { Refusal } from './refusal.ts';
import { refuseModel } from './speech.ts';
import { countTokens } from './tokens.ts';

/** The model that paints. */
export const IMAGE = 'image';
const SIDE_MAX = 3_072;
/** Those of the tier 1K, in every ratio. */
export const SANDBOX_PIXELS_MAX = 1_179_648;

const SIDE_DEFAULT = 256;
const SIDE_MIN = 16;
const PROMPT_CHARS_MAX = 32_000;
const N_MAX = 10;
const PARTIAL_IMAGES_MAX = 3;
const WAIT_MS_MAX = 60_000;
/** Fields a side of a complete picture. */
const FIELDS = 8;
const MS_PER_SECOND = 1_000;
const PIXELS_PER_TOKEN = 256;

interface Painting {
  readonly prompt: string;
  readonly n: number;
  readonly width: number;
  readonly height: number;
  readonly isVector: boolean;
  /** Absent: the answer comes as a whole. */
  readonly previews: number | undefined;
  readonly seed: number;
  /** SHA-256 of what it is made from. */
  readonly references: readonly string[];
}

/** The answer of `POST /v1/images/generations`. @throws Refusal */
export async function paint(body: Json | undefined, response: ServerResponse, signal: AbortSignal): Promise<void> {
  if (!isJsonObject(body)) throw new Refusal(400, 'We could not parse the JSON body of your request.');
  await send(readPainting(body, []), response, signal);
}

/** The answer of `POST /v1/images/edits`. @throws Refusal */
export async function paintFromForm({
  request,
  response,
  bytes,
  signal,
}: {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly bytes: Uint8Array;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { 'content-type': type = '' } = request.headers;
  const form = await new Response(Buffer.from(bytes), { headers: { 'content-type': type } }).formData().catch(() => {
    throw new Refusal(400, 'We could not parse the form of your request.');
  });
  const pictures = [...form.getAll('image'), ...form.getAll('image[]')];
  if (pictures.length === 0) throw new Refusal(400, 'image: is required.');
  const references: string[] = [];
  for (const picture of pictures) {
    if (typeof picture === 'string') throw new Refusal(400, 'image: must be a file.');
    const content = Buffer.from(await picture.arrayBuffer());
    if (pictureTypeOf(content) === undefined) throw new Refusal(400, 'image: is no picture of a known type.');
    references.push(createHash('sha256').update(content).digest('hex'));
  }
  const fields: Record<string, Json> = {};
  for (const [name, value] of form)
    if (typeof value === 'string') fields[name] = FIELD_NUMBERS.has(name) ? Number(value) : value;
  await send(readPainting({ ...fields, stream: fields['stream'] === 'true' }, references), response, signal);
}

const FIELD_NUMBERS: ReadonlySet<string> = new Set(['n', 'partial_images', 'seed']);

function readPainting(body: Readonly<Record<string, Json | undefined>>, references: readonly string[]): Painting {
  const { model, prompt, n = 1, size = 'auto', output_format: format = 'png', seed = 0 } = body;
  refuseModel(model, IMAGE);
  if (typeof prompt !== 'string' || prompt === '' || prompt.length > PROMPT_CHARS_MAX)
    throw new Refusal(400, `prompt: must have 1 to ${PROMPT_CHARS_MAX} characters.`);
  if (!isCount(n, 1, N_MAX)) throw new Refusal(400, `n: must be from 1 to ${N_MAX}.`);
  if (format !== 'png' && format !== 'svg') throw new Refusal(400, 'output_format: must be png or svg.');
  if (typeof seed !== 'number') throw new Refusal(400, 'seed: must be a number.');
  const { stream = false, partial_images: previews = 1 } = body;
  if (!isCount(previews, 0, PARTIAL_IMAGES_MAX))
    throw new Refusal(400, `partial_images: must be from 0 to ${PARTIAL_IMAGES_MAX}.`);
  return {
    prompt,
    n,
    ...sidesOf(size),
    isVector: format === 'svg',
    previews: stream === true ? previews : undefined,
    seed,
    references,
  };
}

function isCount(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

function sidesOf(size: Json): { readonly width: number; readonly height: number } {
  if (size === 'auto') return { width: SIDE_DEFAULT, height: SIDE_DEFAULT };
  const [, width, height] = (typeof size === 'string' && /^(\d{1,5})x(\d{1,5})$/.exec(size)) || [];
  const sides = { width: Number(width), height: Number(height) };
  const isPaintable = isCount(sides.width, SIDE_MIN, SIDE_MAX) && isCount(sides.height, SIDE_MIN, SIDE_MAX);
  if (isPaintable && sides.width * sides.height <= SANDBOX_PIXELS_MAX) return sides;
  const bounds = `from ${SIDE_MIN}x${SIDE_MIN} to ${SIDE_MAX}x${SIDE_MAX}, of at most ${SANDBOX_PIXELS_MAX} pixels`;
  throw new Refusal(400, `size: must be ${bounds}, or auto.`);
}

async function send(painting: Painting, response: ServerResponse, signal: AbortSignal): Promise<void> {
  const { prompt, n, width, height, isVector, previews } = painting;
  const waitMs = Math.min(Number(/\bms=(\d{1,6})/.exec(prompt)?.[1] ?? 0), WAIT_MS_MAX);
  const facts = {
    size: `${width}x${height}`,
    quality: 'high',
    background: 'opaque',
    output_format: isVector ? 'svg' : 'png',
  };
  const created = Math.floor(Date.now() / MS_PER_SECOND);
  const usage = usageOf(painting);
  if (previews === undefined) {
    if (waitMs > 0) await sleep(waitMs, undefined, { signal });
    const data = Array.from({ length: n }, (_, at) => ({ b64_json: base64Of(painting, at, FIELDS) }));
    const json = JSON.stringify({ created, ...facts, data, usage });
    response.writeHead(200, { 'content-type': 'application/json' }).end(json);
    return;
  }
  const kind = painting.references.length > 0 ? 'image_edit' : 'image_generation';
  const frame = (type: string, more: object): string =>
    `event: ${kind}.${type}\ndata: ${JSON.stringify({ type: `${kind}.${type}`, created_at: created, ...facts, ...more })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let preview = 0; preview < previews; preview++) {
    if (waitMs > 0) await sleep(waitMs / (previews + 1), undefined, { signal });
    const coarse = base64Of(painting, 0, 2 ** preview);
    response.write(frame('partial_image', { partial_image_index: preview, b64_json: coarse }));
  }
  if (waitMs > 0) await sleep(waitMs / (previews + 1), undefined, { signal });
  for (let at = 0; at < n; at++)
    response.write(frame('completed', { b64_json: base64Of(painting, at, FIELDS), ...(at === n - 1 && { usage }) }));
  response.end();
}

function usageOf({ prompt, n, width, height, references }: Painting): Readonly<Record<string, Json>> {
  const text = countTokens(prompt);
  const pictures = references.length * FIELDS * FIELDS;
  const output = n * Math.ceil((width * height) / PIXELS_PER_TOKEN);
  return {
    input_tokens: text + pictures,
    input_tokens_details: { text_tokens: text, image_tokens: pictures },
    output_tokens: output,
    total_tokens: text + pictures + output,
  };
}

/** Equal requests have equal pictures. */
function base64Of({ prompt, width, height, isVector, seed, references }: Painting, at: number, fields: number): string {
  const hash = (part: string): Buffer => createHash('sha256').update(`${prompt}\0${seed}\0${at}\0${part}`).digest();
  const colours = Array.from({ length: fields * fields }, (_, field) => hash(String(field)));
  const colourOf = (column: number, row: number): readonly [number, number, number, number] => {
    const [red = 0, green = 0, blue = 0] = colours[row * fields + column] ?? [];
    return [red, green, blue, 255];
  };
  if (isVector) return Buffer.from(svgOf({ prompt, width, height, fields }, colourOf)).toString('base64');
  const texts = [
    ['Description', prompt.slice(0, 1_000)] as const,
    ...references.map((digest) => ['Source', digest] as const),
  ];
  const png = encodePng(
    { width, height },
    (x, y) => colourOf(Math.floor((x * fields) / width), Math.floor((y * fields) / height)),
    texts,
  );
  return png.toString('base64');
}

interface Sketch {
  readonly prompt: string;
  readonly width: number;
  readonly height: number;
  readonly fields: number;
}

function svgOf(
  { prompt, width, height, fields }: Sketch,
  colourOf: (column: number, row: number) => readonly [number, number, number, number],
): string {
  const side = { x: width / fields, y: height / fields };
  const rects = Array.from({ length: fields * fields }, (_, field) => {
    const [column, row] = [field % fields, Math.floor(field / fields)];
    const [red, green, blue] = colourOf(column, row);
    return `<rect x="${column * side.x}" y="${row * side.y}" width="${side.x}" height="${side.y}" fill="rgb(${red},${green},${blue})"/>`;
  });
  const title = prompt.slice(0, 1_000).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><title>${title}</title>${rects.join('')}</svg>`;
}

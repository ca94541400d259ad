import { GatewayError, invalid, type ErrorType } from '../../../canonical/gateway-error.ts';
import type { ImageOperation, PictureFile, PictureInput } from '../../../canonical/image.ts';
import { fileInMemory, type SpooledFile } from '../../../lib/files/spool.ts';
import type { ByteBudget } from '../../../lib/memory/byte-budget.ts';
import { GrowingBytes, NoMemoryError } from '../../../lib/memory/growing-bytes.ts';
import { DownloadError, type Download } from '../../../lib/net/download.ts';
import { pictureSizeOf, type PictureSize } from '../../../lib/pictures/picture-size.ts';
import { pictureTypeOf, type PictureType } from '../../../lib/pictures/picture-type.ts';

export interface FetchPicturesDeps {
  readonly download: Download;
  /** Of the files of all requests together. */
  readonly fileMemory: ByteBudget;
}

/** @spec media-2 */
const PICTURE_BYTES_MAX = 20_971_520;
const TOTAL_BYTES_MAX = 104_857_600;
const PIXELS_MAX = 50_000_000;
const SIDE_MIN = 8;
const TIMEOUT_MS = 10_000;
const AT_ONCE_MAX = 4;
/** A file, and its beginning once more for a moment. */
const COPIES = 2;
/** Profiles and previews may stand before the size. */
const HEAD_BYTES = 1_048_576;
const RETRY_AFTER_MS = 5_000;

/**
 * Fetches what stands in a request as an address, and checks every picture by its bytes.
 * @param defer is handed what gives the memory back
 * @throws GatewayError 400 with the path of what cannot be used, 404 for what is not there, 503 without memory
 */
export async function fetchPictures(
  deps: FetchPicturesDeps,
  operation: ImageOperation,
  { signal, defer }: { readonly signal: AbortSignal; readonly defer: (end: () => void) => void },
): Promise<ImageOperation> {
  const { references, mask } = operation;
  if (references.length === 0) return operation;
  const memory = new GrowingBytes(deps.fileMemory, signal);
  defer(() => memory.close());
  let total = 0;
  const hold = async (bytes: number, path: string): Promise<void> => {
    total += bytes;
    if (total > TOTAL_BYTES_MAX)
      throw invalid(path, `is too much: all pictures together may have ${TOTAL_BYTES_MAX} bytes`, 'image_too_large');
    await memory.hold(total * COPIES);
  };
  const fetchOne = async (input: PictureInput): Promise<PictureInput> => ({
    path: input.path,
    picture: await describe(await fileOf(deps, input, hold, signal), input.path),
  });
  try {
    const inputs = mask === undefined ? references : [...references, mask];
    const fetched = await someAtATime(inputs, fetchOne);
    const pictures = fetched.slice(0, references.length);
    const own = mask === undefined ? undefined : fetched.at(-1);
    if (own !== undefined) await checkMask(own, pictures[0]);
    return { ...operation, references: pictures, ...(own !== undefined && { mask: own }) };
  } catch (error) {
    if (!(error instanceof NoMemoryError)) throw error;
    throw new GatewayError(
      'provider_overloaded',
      'The gateway holds as many pictures of requests as its memory allows. Try again later.',
      { status: 503, retryAfterMs: RETRY_AFTER_MS, cause: error },
    );
  }
}

async function someAtATime(
  inputs: readonly PictureInput[],
  fetchOne: (input: PictureInput) => Promise<PictureInput>,
): Promise<readonly PictureInput[]> {
  const fetched: PictureInput[] = [];
  for (let from = 0; from < inputs.length; from += AT_ONCE_MAX)
    fetched.push(...(await Promise.all(inputs.slice(from, from + AT_ONCE_MAX).map(fetchOne))));
  return fetched;
}

const DATA_URL = /^data:[^,]{0,200};base64,/i;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

async function fileOf(
  { download }: FetchPicturesDeps,
  input: PictureInput,
  hold: (bytes: number, path: string) => Promise<void>,
  signal: AbortSignal,
): Promise<SpooledFile> {
  const { path } = input;
  // Spooled files are on the disk, but for their beginning.
  if ('upload' in input) return input.upload;
  if ('picture' in input) return input.picture.file;
  const head = DATA_URL.exec(input.url);
  if (head !== null) {
    const text = input.url.slice(head[0].length);
    if (!BASE64.test(text)) throw invalid(path, 'is not base64', 'invalid_image');
    const bytes = Buffer.from(text, 'base64');
    await hold(bytes.length, path);
    return fileInMemory(bytes);
  }
  const limits = { bytesMax: PICTURE_BYTES_MAX, timeoutMs: TIMEOUT_MS };
  const { bytes } = await download(input.url, limits, signal).catch(refused(input.url, path));
  await hold(bytes.length, path);
  return fileInMemory(bytes);
}

/** The host is shown, and nothing behind it: an address may hold a signature. */
function refused(url: string, path: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof DownloadError)) throw error;
    const host = URL.parse(url)?.host ?? 'no host';
    const type: ErrorType = /status (?:404|410)\b/.test(error.message) ? 'image_not_found' : 'image_download_failed';
    throw invalid(path, `could not be fetched from ${host}: ${error.message}`, type);
  };
}

/** Neither names nor declared types count. @throws GatewayError 400 */
async function describe(file: SpooledFile, path: string): Promise<PictureFile> {
  if (file.bytes === 0) throw invalid(path, 'is empty', 'invalid_image');
  if (file.bytes > PICTURE_BYTES_MAX)
    throw invalid(path, `is larger than ${PICTURE_BYTES_MAX} bytes`, 'image_too_large');
  const type = pictureTypeOf(file.head);
  if (type === undefined || type === 'svg')
    throw invalid(path, 'is no picture of a known type: PNG, JPEG, WebP, GIF and AVIF are', 'unsupported_image_format');
  const size = await sizeOf(file, type);
  if (size === undefined) throw invalid(path, 'does not say how large it is: its header is broken', 'invalid_image');
  if (size.width * size.height > PIXELS_MAX)
    throw invalid(path, `has more than ${PIXELS_MAX} pixels`, 'image_too_large');
  if (Math.min(size.width, size.height) < SIDE_MIN)
    throw invalid(path, `is smaller than ${SIDE_MIN} by ${SIDE_MIN} pixels`, 'image_too_small');
  return { file, type, size };
}

async function sizeOf(file: SpooledFile, type: PictureType): Promise<PictureSize | undefined> {
  const size = pictureSizeOf(file.head, type);
  return size ?? (file.bytes > file.head.length ? pictureSizeOf(await file.read(0, HEAD_BYTES), type) : undefined);
}

const PNG_COLOUR_TYPE_AT = 25;
/** Grey with alpha, colours with alpha. @source W3C PNG, 11.2.2 */
const WITH_ALPHA: ReadonlySet<number | undefined> = new Set([4, 6]);

/** @throws GatewayError 400 for what says nothing of the picture that it is for */
async function checkMask(mask: PictureInput, first: PictureInput | undefined): Promise<void> {
  if (!('picture' in mask) || first === undefined || !('picture' in first)) return;
  const { file, type, size } = mask.picture;
  const hasAlpha = type === 'png' && WITH_ALPHA.has((await file.read(PNG_COLOUR_TYPE_AT, 1))[0]);
  if (!hasAlpha) throw invalid(mask.path, 'must be a PNG with an alpha channel', 'invalid_image');
  const { width, height } = first.picture.size;
  if (size.width !== width || size.height !== height)
    throw invalid(mask.path, `must have the size of the first picture: ${width}x${height}`, 'invalid_image');
}

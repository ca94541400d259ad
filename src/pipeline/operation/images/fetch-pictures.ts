import { invalid } from '../../../canonical/gateway-error.ts';
import type { ImageOperation, PictureFile, PictureInput } from '../../../canonical/image.ts';
import type { FileOwner, StoredFiles } from '../../../canonical/tools/stored-files.ts';
import { fileInMemory, type SpooledFile } from '../../../lib/files/spool.ts';
import type { ByteBudget } from '../../../lib/memory/byte-budget.ts';
import { HeldFiles, type HeldFile } from '../../../lib/memory/held-files.ts';
import type { Download } from '../../../lib/net/download.ts';
import { pictureSizeOf, type PictureSize } from '../../../lib/pictures/picture-size.ts';
import { pictureTypeOf, type PictureType } from '../../../lib/pictures/picture-type.ts';
import { noSuchFile } from '../../admission/stored-files.ts';
import { explainFetch, fetchInput } from '../fetch-input.ts';
import type { StepScope } from '../kind-steps.ts';

export interface FetchPicturesDeps {
  readonly download: Download;
  readonly storedFiles: Pick<StoredFiles, 'find' | 'read'>;
  /** Of the files of all requests together. */
  readonly fileMemory: ByteBudget;
}

const PICTURE_BYTES_MAX = 20_971_520;
const TOTAL_BYTES_MAX = 104_857_600;
const PIXELS_MAX = 50_000_000;
const SIDE_MIN = 8;
const AT_ONCE_MAX = 4;
/** Profiles and previews may stand before the size. */
const HEAD_BYTES = 1_048_576;

/**
 * Fetches what stands in a request as an address, and checks every picture by its bytes.
 * @throws GatewayError 400 with the path of what cannot be used, 404 for what is not there, 503 without memory
 */
export async function fetchPictures(
  deps: FetchPicturesDeps,
  operation: ImageOperation,
  { owner, signal, defer }: StepScope,
): Promise<ImageOperation> {
  const { references, mask } = operation;
  if (references.length === 0) return operation;
  const failed = new AbortController();
  const files = new HeldFiles(deps.fileMemory, signal);
  defer(() => files.close());
  const inputs = mask === undefined ? references : [...references, mask];
  try {
    const fetched = await someAtATime(
      inputs,
      createFetch(deps, owner, files, AbortSignal.any([signal, failed.signal])),
    );
    const pictures = fetched.slice(0, references.length);
    const own = mask === undefined ? undefined : fetched.at(-1);
    if (own !== undefined) await checkMask(own, pictures[0]);
    return { ...operation, references: pictures, ...(own !== undefined && { mask: own }) };
  } catch (error) {
    failed.abort();
    throw explainFetch(error);
  }
}

type FetchOne = (input: PictureInput) => Promise<PictureInput>;

function createFetch(deps: FetchPicturesDeps, owner: FileOwner, files: HeldFiles, signal: AbortSignal): FetchOne {
  let total = 0;
  return async (input) => {
    const { path } = input;
    const memory = files.open();
    let kept = 0;
    try {
      const file = await fileOf(deps, input, { owner, memory, signal });
      if (isInMemory(input)) kept = file.bytes;
      total += kept;
      if (total > TOTAL_BYTES_MAX)
        throw invalid(path, `is too much: all pictures together may have ${TOTAL_BYTES_MAX} bytes`, 'image_too_large');
      return { path, picture: await describe(file, path) };
    } finally {
      memory.keep(kept);
    }
  };
}

async function someAtATime(inputs: readonly PictureInput[], fetchOne: FetchOne): Promise<readonly PictureInput[]> {
  const fetched: PictureInput[] = [];
  for (let from = 0; from < inputs.length; from += AT_ONCE_MAX)
    fetched.push(...(await Promise.all(inputs.slice(from, from + AT_ONCE_MAX).map(fetchOne))));
  return fetched;
}

/** Spooled files are on the disk, but for their beginning. */
function isInMemory(input: PictureInput): boolean {
  return 'url' in input || 'fileId' in input;
}

interface Fetching {
  readonly owner: FileOwner;
  readonly memory: HeldFile;
  readonly signal: AbortSignal;
}

async function fileOf(
  { download, storedFiles }: FetchPicturesDeps,
  input: PictureInput,
  { owner, memory, signal }: Fetching,
): Promise<SpooledFile> {
  if ('upload' in input) return input.upload;
  if ('picture' in input) return input.picture.file;
  if ('fileId' in input) {
    const { path, fileId } = input;
    const stored = await storedFiles.find(owner, fileId);
    if (stored === undefined) throw noSuchFile(path, fileId);
    if (stored.sizeBytes > PICTURE_BYTES_MAX)
      throw invalid(path, `is larger than ${PICTURE_BYTES_MAX} bytes`, 'image_too_large');
    await memory.hold(stored.sizeBytes);
    const bytes = await storedFiles.read(stored);
    return fileInMemory(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  }
  const picture = { ...input, bytesMax: PICTURE_BYTES_MAX, fault: 'invalid_image' } as const;
  return fileInMemory(await fetchInput(download, picture, memory, signal));
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

import type { Block, MediaSource } from '../../../canonical/blocks.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import type { ClientFormatId, FormatId } from '../../../canonical/extra.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';
import { isPublicWebAddress } from '../../../lib/net/public-address.ts';
import { STORED_FILE_FORMATS, type Provider } from '../../../providers/contract.ts';
import {
  pathOfResultContent,
  pathsOfBlocks,
  pathsOfContent,
  pathsOfTurns,
} from '../../../wire/gateway/source/source-paths.ts';
import { isTextOnly } from '../../../canonical/text-only.ts';

/**
 * Addresses that a provider opens with the rights of its caller, which is the operator: buckets of the two clouds
 * (@spec media-6), and Google's store of uploaded files (ai.google.dev "Files API", read 2026-11).
 */
const STORAGE = /^(?:s3|gs):\/\/|^https:\/\/generativelanguage\.googleapis\.com\//i;

/** What a caller may name at a provider. */
interface Opened {
  readonly addresses: boolean;
  readonly ids: boolean;
  /** A host in the operator's own network reaches what stands beside it, and a caller must not. */
  readonly neighbours: boolean;
}

const REFUSALS: Readonly<Record<keyof Opened, string>> = {
  addresses: 'names a file in storage, which the operator of the gateway has not opened to callers',
  ids: 'names a file in storage, which the operator of the gateway has not opened to callers',
  neighbours:
    'names an address that is not of the public web, which the operator of the gateway has not opened to callers',
};

/**
 * Refuses what a caller reads with the operator's rights, or from the operator's place. Whether all callers may read it, only the operator knows. Files of
 * a credential that an account brought are the account's own.
 * @throws GatewayError 400 at the block that names such a file
 */
export function refuseStoredFiles(
  request: GenerationRequest,
  provider: Pick<Provider, 'storageUris' | 'storedFiles' | 'opensAnyMedia' | 'isByok'>,
  format: FormatId,
): void {
  if (isTextOnly(request)) return;
  const { storageUris, storedFiles, opensAnyMedia, isByok } = provider;
  const opened: Opened = {
    addresses: storageUris === true,
    // Others have no words for an id, and say so themselves.
    ids: storedFiles === true || isByok === true || !STORED_FILE_FORMATS.has(format),
    neighbours: opensAnyMedia === true,
  };
  if (opened.addresses && opened.ids && opened.neighbours) return;
  const paths = pathsOfTurns(request);
  for (const [at, turn] of request.turns.entries())
    refuseIn(turn.blocks, pathsOfBlocks(request.format, turn, paths[at] ?? ''), opened, request.format);
}

function refuseIn(blocks: readonly Block[], paths: readonly string[], opened: Opened, caller: ClientFormatId): void {
  for (const [at, block] of blocks.entries()) {
    const path = paths[at] ?? '';
    if (block.type === 'tool-result')
      refuseIn(
        block.content,
        pathsOfContent(block.content, block.plain, pathOfResultContent(caller, path)),
        opened,
        caller,
      );
    if (block.type === 'media' && block.source.type === 'blocks')
      refuseIn(
        block.source.blocks,
        pathsOfContent(block.source.blocks, block.source.plain, `${path}.source.content`),
        opened,
        caller,
      );
    const named = fileNamedBy(block);
    if (named !== undefined && !opened[named]) throw invalid(path, REFUSALS[named]);
  }
}

/** `undefined` for what is no file, or a file that is here or public. */
function fileNamedBy(block: Block): keyof Opened | undefined {
  if (block.type === 'opaque')
    return block.format === 'messages' && block.value['type'] === 'container_upload' ? 'ids' : undefined;
  if (block.type !== 'media') return undefined;
  const { source } = block;
  if (STORAGE.test(addressIn(source))) return 'addresses';
  if (source.type === 'url') return isOpenToAll(source.url) ? undefined : 'neighbours';
  // The provider keeps what it said itself for a while, under an id that it gave to the caller.
  return source.type === 'file' && block.media !== 'audio' ? 'ids' : undefined;
}

function isOpenToAll(url: string): boolean {
  return /^data:/i.test(url) || isPublicWebAddress(url);
}

function addressIn(source: MediaSource): string {
  if (source.type === 'url') return source.url;
  return source.type === 'file' ? source.fileId : '';
}

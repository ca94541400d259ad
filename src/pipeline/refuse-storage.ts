import type { Block, MediaSource } from '../canonical/blocks.ts';
import { invalid } from '../canonical/gateway-error.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { pathsOfBlocks, pathsOfContent, pathsOfTurns } from '../wire/caller-paths.ts';

/**
 * Addresses that a provider opens with the rights of whoever calls it, which is the operator: buckets of the two clouds
 * (generation.md 11.2), and Google's store of uploaded files (ai.google.dev "Files API", read 2026-11).
 */
const STORAGE = /^(?:s3|gs):\/\/|^https:\/\/generativelanguage\.googleapis\.com\//i;

/**
 * Refuses what a caller reads with the operator's rights. Whether all callers may read it, only the operator knows.
 * @throws GatewayError 400 at the block that names such an address
 */
export function refuseStorage(request: GenerationRequest): void {
  const paths = pathsOfTurns(request);
  for (const [at, turn] of request.turns.entries())
    refuseIn(turn.blocks, pathsOfBlocks(request.format, turn, paths[at] ?? ''));
}

function refuseIn(blocks: readonly Block[], paths: readonly string[]): void {
  for (const [at, block] of blocks.entries()) {
    const path = paths[at] ?? '';
    if (block.type === 'tool-result')
      refuseIn(block.content, pathsOfContent(block.content, block.plain, `${path}.content`));
    if (block.type !== 'media') continue;
    const { source } = block;
    if (source.type === 'blocks')
      refuseIn(source.blocks, pathsOfContent(source.blocks, source.plain, `${path}.source.content`));
    if (STORAGE.test(addressIn(source)))
      throw invalid(path, 'names a file in storage, which the operator of the gateway has not opened to callers');
  }
}

function addressIn(source: MediaSource): string {
  if (source.type === 'url') return source.url;
  return source.type === 'file' ? source.fileId : '';
}

import type { Block, Requirement } from '../canonical/blocks.ts';
import type { FormatId } from '../canonical/extra.ts';
import { invalid, type GatewayError } from '../canonical/gateway-error.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { isKnownTier } from './gateway/service-tier.ts';
import type { Warnings } from './gateway/warnings.ts';
import { nameOf } from './json-fields.ts';
import { pathOfResultContent, pathsOfBlocks, pathsOfContent, pathsOfTurns } from './gateway/source/source-paths.ts';

/**
 * Warns of a block that has no place in the provider's format where it stands.
 * @throws GatewayError 400 where the request cannot do without it
 */
export function warnOfUnsupportedBlock(block: Block, path: string, warn: Warnings['add']): void {
  if (block.type === 'opaque' && block.required !== undefined) throw requiredContentError(path, block.required);
  warn('content-dropped', path, `the provider's format has no block of type ${typeOfBlock(block)} here`);
}

/** A block's type as its own format names it; of a file, what it is. */
export function typeOfBlock(block: Block): string {
  if (block.type === 'opaque') return nameOf(block.value['type']);
  return block.type === 'media' ? block.media : block.type;
}

/**
 * Refuses what a request cannot do without and only upstreams of the caller's own format understand: content that the
 * gateway does not know, a history that another service shortened, a tier of the vendor's. Another endpoint may take it.
 * @param format that the upstream speaks
 * @throws GatewayError 400 at the member
 */
export function refuseForeignContent(request: GenerationRequest, format: FormatId): void {
  if (request.format === format) return;
  const { serviceTier } = request.settings;
  if (serviceTier !== undefined && !isKnownTier(serviceTier))
    throw invalid('service_tier', 'is a tier that the provider of the model does not know');
  let paths: readonly string[] | undefined;
  for (const [at, turn] of request.turns.entries()) {
    if (!turn.blocks.some(isRequired)) continue;
    paths ??= pathsOfTurns(request);
    refuseIn(turn.blocks, pathsOfBlocks(request.format, turn, paths[at] ?? ''), request);
  }
}

function isRequired(block: Block): boolean {
  if (block.type === 'tool-result') return block.content.some(isRequired);
  return block.type === 'opaque' && block.required !== undefined;
}

function refuseIn(blocks: readonly Block[], paths: readonly string[], request: GenerationRequest): void {
  for (const [at, block] of blocks.entries()) {
    const path = paths[at] ?? '';
    if (block.type === 'opaque' && block.required !== undefined) throw requiredContentError(path, block.required);
    if (block.type === 'tool-result')
      refuseIn(
        block.content,
        pathsOfContent(block.content, block.plain, pathOfResultContent(request.format, path)),
        request,
      );
  }
}

function requiredContentError(path: string, { member, message }: Requirement): GatewayError {
  return invalid(`${path}.${member}`, message, 'invalid_prompt');
}

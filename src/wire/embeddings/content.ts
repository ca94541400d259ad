import { invalid } from '../../canonical/gateway-error.ts';
import {
  isTokens,
  mediaOfInputs,
  piecesOf,
  type ContentPiece,
  type EmbeddedMedia,
  type EmbeddingsInput,
} from '../../canonical/media/embeddings-input.ts';
import { splitDataUrl } from '../../lib/net/data-url.ts';

/** What one vector is made of. @throws GatewayError 400 for tokens, which this provider does not read */
export function piecesAt(input: EmbeddingsInput): readonly ContentPiece[] {
  if (isTokens(input)) throw invalid('input', 'must be text at this provider, not tokens');
  return piecesOf(input);
}

/** @throws GatewayError 400 for what is not one text */
export function textAt(input: EmbeddingsInput): string {
  const [piece, second] = piecesAt(input);
  const odd = mediaOfInputs([input])[0];
  if (odd !== undefined) throw invalid(odd.path, 'is not read at this provider, which makes vectors of texts');
  if (piece?.type === 'text' && second === undefined) return piece.text;
  throw invalid('input', 'must be texts at this provider: several parts of one input are not read there');
}

/** Of media that were fetched. @throws GatewayError 400 */
export function dataAt({ url, path }: EmbeddedMedia): { readonly mediaType: string; readonly data: string } {
  const parts = splitDataUrl(url);
  if (parts === undefined) throw invalid(path, 'must be a data URL with base64 here');
  return parts;
}

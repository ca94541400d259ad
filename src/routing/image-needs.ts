import { sizeText, type ImageFacts, type ImageOperation } from '../canonical/image.ts';
import type { Endpoint } from '../catalog/model.ts';
import type { Considered } from './route-plan.ts';

type Lack = Omit<Considered, 'endpoint'>;

/** Whatever changes the pictures is never left out in silence: it excludes the endpoint. `auto` is a wish for nothing. @spec image-4 */
export function lackOfPictures({ image: facts = {} }: Endpoint, operation: ImageOperation): Lack | undefined {
  const { size, tier, aspectRatio, quality, outputFormat, background } = operation;
  return (
    lackOfCount(facts, operation) ??
    oneOf('size', size && sizeText(size), facts.sizes) ??
    oneOf('resolution', tier, facts.resolutions) ??
    oneOf('aspect_ratio', aspectRatio, facts.aspectRatios) ??
    oneOf('quality', notAuto(quality), facts.qualities) ??
    oneOf('output_format', outputFormat, facts.outputFormats) ??
    oneOf('background', notAuto(background), facts.backgrounds) ??
    lackOfReferences(facts, operation)
  );
}

function lackOfCount({ nMax }: ImageFacts, { n }: ImageOperation): Lack | undefined {
  return nMax !== undefined && n > nMax ? value('n', `must be at most ${nMax} for this model`) : undefined;
}

function lackOfReferences(
  { referencesMax, mask: takesMask }: ImageFacts,
  { references, mask }: ImageOperation,
): Lack | undefined {
  const beyond = referencesMax === undefined ? undefined : references[referencesMax];
  if (beyond !== undefined)
    return value(
      beyond.path,
      referencesMax === 0 ? 'this model makes pictures of words alone' : `is beyond the ${referencesMax} of this model`,
    );
  return mask !== undefined && takesMask === false
    ? value(mask.path, 'is taken by no endpoint of this model')
    : undefined;
}

function notAuto(word: string | undefined): string | undefined {
  return word === 'auto' ? undefined : word;
}

function oneOf(member: string, wanted: string | undefined, known: readonly string[] | undefined): Lack | undefined {
  if (wanted === undefined || known === undefined || known.includes(wanted)) return undefined;
  return value(member, known.length === 0 ? 'cannot be set for this model' : `must be one of ${known.join(', ')}`);
}

function value(lacks: string, fault: string): Lack {
  return { exclusion: 'parameter_value', lacks, fault };
}

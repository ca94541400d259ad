import type { VideoFacts, VideoOperation } from '../canonical/video.ts';
import type { Endpoint } from '../catalog/model.ts';
import type { Considered } from './route-plan.ts';

type Lack = Omit<Considered, 'endpoint'>;

/** Whatever changes the clip is never left out in silence: it excludes the endpoint. @spec video-3 */
export function lackOfVideo({ video = {}, inputModalities }: Endpoint, operation: VideoOperation): Lack | undefined {
  const { durationS, resolution, aspectRatio, size, seed, generateAudio, upscaleFactor, creativity } = operation;
  const fault =
    oneOf('duration', durationS, video.durations) ??
    resolutionOf(resolution, video.resolutions) ??
    oneOf('aspect_ratio', aspectRatio, video.aspectRatios) ??
    oneOf('size', size, video.sizes) ??
    oneOf('creativity', creativity, video.creativity) ??
    switchedOff('seed', seed, video.seed) ??
    switchedOff('generate_audio', generateAudio === true ? true : undefined, video.generateAudio) ??
    switchedOff('upscale_factor', upscaleFactor, video.upscaleFactor) ??
    lackOfFrames(video, operation) ??
    lackOfReferences(video, operation);
  if (fault !== undefined) return fault;
  const needsPrompt = operation.prompt === undefined && inputModalities?.includes('text') !== false;
  const hasMedia = operation.frames.length + operation.references.length > 0;
  return needsPrompt && !hasMedia ? value('prompt', 'is required by this model') : undefined;
}

function value(lacks: string, fault: string): Lack {
  return { exclusion: 'parameter_value', lacks, fault };
}

function oneOf<Value>(
  member: string,
  wanted: Value | undefined,
  known: readonly Value[] | undefined,
): Lack | undefined {
  if (wanted === undefined || known === undefined || known.includes(wanted)) return undefined;
  return value(member, known.length === 0 ? 'cannot be set for this model' : `must be one of ${known.join(', ')}`);
}

/** `4K` and `4k` are the same. */
function resolutionOf(wanted: string | undefined, known: readonly string[] | undefined): Lack | undefined {
  const isKnown = known?.some((word) => word.toLowerCase() === wanted?.toLowerCase()) === true;
  return isKnown ? undefined : oneOf('resolution', wanted, known);
}

function switchedOff(member: string, wanted: unknown, can: boolean | undefined): Lack | undefined {
  return wanted !== undefined && can === false ? value(member, 'cannot be set for this model') : undefined;
}

function lackOfFrames({ frames: known }: VideoFacts, { frames }: VideoOperation): Lack | undefined {
  if (known === undefined) return undefined;
  const at = frames.findIndex(({ type }) => !known.includes(type));
  if (at < 0) return undefined;
  return value(
    `frame_images[${at}].frame_type`,
    known.length === 0 ? 'is taken by no endpoint of this model' : `must be ${known.join(' or ')}`,
  );
}

function lackOfReferences({ references: known }: VideoFacts, { references }: VideoOperation): Lack | undefined {
  if (known === undefined) return undefined;
  const at = references.findIndex(({ media }) => !known.includes(media));
  if (at < 0) return undefined;
  return value(
    `input_references[${at}].type`,
    known.length === 0
      ? 'is taken by no endpoint of this model'
      : `must be ${known.map((media) => `${media}_url`).join(' or ')}`,
  );
}

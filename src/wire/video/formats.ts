import { falVideo } from './fal/format.ts';
import type { VideoFormat } from './format.ts';
import { replicateVideo } from './replicate/format.ts';
import { runwayVideo } from './runway/format.ts';
import { veoVideo } from './veo/format.ts';
import { vertexVeoVideo } from './vertex-veo/format.ts';
import { xaiVideo } from './xai/format.ts';

/** Every format in which upstreams make clips. */
export const VIDEO_FORMATS: ReadonlyMap<string, VideoFormat> = new Map(
  [veoVideo, vertexVeoVideo, xaiVideo, falVideo, replicateVideo, runwayVideo].map((format) => [format.id, format]),
);

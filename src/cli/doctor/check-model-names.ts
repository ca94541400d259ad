import { catalogFromConfig } from '../../app/catalog/catalog-from-config.ts';
import { providersFromConfig } from '../../app/providers/providers-from-config.ts';
import { MODALITY_OF_KIND, type OperationKind } from '../../canonical/operation.ts';
import { servesKind } from '../../catalog/serves-kind.ts';
import type { Config } from '../../config/config.ts';
import { sandboxModels } from '../../sandbox/models.ts';
import { readLayers } from '../../app/catalog/catalog-layers.ts';
import type { Io } from '../command.ts';
import type { Finding } from '../../app/check-provider/finding.ts';

/** Slugs that stand for a router's choice. */
const ROUTED = 'service/';
/** Stands for the sandbox's address, which is known only once it listens. */
const ANY_BASE_URL = 'http://127.0.0.1/v1';

/**
 * A warning for each model of the configuration that no provider serves, or not for what it is meant: requests that need it
 * would fail one by one. And one for vectors that may not compare.
 */
export async function checkModelNames(config: Config, env: Io['env']): Promise<readonly Finding[]> {
  const names = namesIn(config);
  const vectors = mixedVectors(config);
  if (names.every(([, slug]) => slug === undefined)) return vectors;
  const { known } = await readLayers(config, env);
  const providers = providersFromConfig(config, env, ANY_BASE_URL);
  const catalog = catalogFromConfig(config, providers, sandboxModels(), known);
  const unserved = names.flatMap(([member, slug, kind]) => {
    if (slug === undefined || slug.startsWith(ROUTED)) return [];
    const model = catalog.resolve?.(catalog.rename?.(slug) ?? slug)?.model;
    if (model === undefined) return [warning(`${member} is ${slug}, which no provider that is set up here serves.`)];
    if (kind === undefined || servesKind(model, kind)) return [];
    return [warning(`${member} is ${slug}, which does not write ${MODALITY_OF_KIND[kind]}.`)];
  });
  return [...unserved, ...vectors];
}

type NamedModel = readonly [member: string, slug: string | undefined, kind?: OperationKind];

function namesIn({ defaults, moderation, routers }: Config): readonly NamedModel[] {
  return [
    ['defaults.model', defaults.model],
    ['defaults.embeddings_model', defaults.embeddingsModel, 'embeddings'],
    ['defaults.rerank_model', defaults.rerankModel, 'rerank'],
    ['defaults.image_model', defaults.imageModel, 'image'],
    ['defaults.transcription_model', defaults.transcriptionModel, 'stt'],
    ['defaults.speech_model', defaults.speechModel, 'tts'],
    ['defaults.video_model', defaults.videoModel, 'video'],
    ['moderation.judge', moderation.judge],
    ['routers.switchyard.efficient', routers.switchyard.efficient],
    ['routers.switchyard.capable', routers.switchyard.capable],
  ];
}

/** One model gives the same vectors at all of its endpoints: weights of another precision may not. */
function mixedVectors({ models }: Config): readonly Finding[] {
  return models.flatMap(({ slug, outputModalities, endpoints }) => {
    const precisions = new Set(endpoints.flatMap(({ quantization }) => quantization ?? []));
    if (outputModalities?.includes('embeddings') !== true || precisions.size < 2) return [];
    const names = [...precisions].join(' and ');
    return [warning(`models.${slug} has endpoints of ${names}: their vectors may not compare.`)];
  });
}

function warning(message: string): Finding {
  return { verdict: 'warning', message };
}

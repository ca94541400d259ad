import { z } from 'zod';
import { failedOutcome, type ServerTool } from '../contract.ts';

/** @spec tool-30 */
const RESULTS_DEFAULT = 5;
const RESULTS_MAX = 20;
/** Ours: a question is a few words. */
const QUERY_CHARS_MAX = 500;
const MODALITIES_MAX = 10;

const parameters = z.strictObject({ max_results: z.int().min(1).max(RESULTS_MAX).nullish() });

const modalities = z.array(z.string()).max(MODALITIES_MAX).optional();
const query = z.object({
  query: z.string().max(QUERY_CHARS_MAX).optional().describe('Words in the name, the slug or the description.'),
  input_modalities: modalities.describe('What it must read: text, image, file, audio, video.'),
  output_modalities: modalities.describe('What it must write: text, image, audio.'),
  min_context_length: z.int().min(0).optional().describe('Tokens that its context must hold.'),
  series: z.string().max(QUERY_CHARS_MAX).optional().describe('The family of models: Claude, GPT, Gemini.'),
});

/** Lets a model look through the catalog. @spec tool-30 */
export const searchModels: ServerTool<typeof parameters, typeof query> = {
  type: 'service:experimental__search_models',
  summary: 'Searches the catalog of models.',
  parameters,
  onlyReads: () => true,
  describe: () => ({
    description: 'Searches the models that can be used here, and tells what they read, write and hold.',
    arguments: query,
  }),
  open: ({ max_results: resultsMax }, { abilities: { findModels } }) => ({
    run: ({ input }) => {
      if (findModels === undefined) return Promise.resolve(failedOutcome('The catalog cannot be searched.'));
      const found = findModels({
        ...(input.query !== undefined && { words: input.query }),
        ...(input.input_modalities !== undefined && { inputModalities: input.input_modalities }),
        ...(input.output_modalities !== undefined && { outputModalities: input.output_modalities }),
        ...(input.min_context_length !== undefined && { contextTokensMin: input.min_context_length }),
        ...(input.series !== undefined && { series: input.series }),
      });
      const shown = found.slice(0, resultsMax ?? RESULTS_DEFAULT);
      const models = shown.map((model) => ({
        id: model.slug,
        name: model.name,
        description: model.description ?? '',
        context_length: model.contextTokensMax ?? null,
        input_modalities: model.inputModalities,
        output_modalities: model.outputModalities,
        series: model.series,
      }));
      return Promise.resolve({ result: { models, total_results: found.length, showing: shown.length } });
    },
  }),
};

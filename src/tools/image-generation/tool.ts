import { z } from 'zod';
import type { Block, MediaBlock } from '../../canonical/blocks.ts';
import { joinResponseText } from '../../canonical/text-gap.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../../lib/json.ts';
import { failedOutcome, type OpenTool, type ServerTool } from '../contract.ts';

/** @spec tool-31 */
const MODEL_DEFAULT = 'openai/gpt-5-image';
const PROMPT_CHARS_MAX = 32_000;
/** Large pictures take minutes. */
const CALL_MS_MAX = 300_000;

const parameters = z
  .object({
    model: z.string().min(1).nullish(),
    output_compression: z.int().min(0).max(100).optional(),
  })
  .catchall(z.union([z.string(), z.number(), z.array(z.json())], { error: 'must be a string, a number or an array' }));
type Parameters = z.output<typeof parameters>;

const argumentsSchema = z.object({
  prompt: z.string().min(1).max(PROMPT_CHARS_MAX).describe('What the picture is to show, in words.'),
});

/** Settings of the responses format's vendor that other models have no equivalent of. */
const VENDORS_SETTINGS: ReadonlySet<string> = new Set([
  'type',
  'model',
  'action',
  'input_fidelity',
  'input_image_mask',
  'partial_images',
]);

function readVendors(tool: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(tool).filter(([name, value]) => !VENDORS_SETTINGS.has(name) && value !== null),
  );
}

/** Generates an image with another model. @spec tool-31 */
export const imageGeneration: ServerTool<typeof parameters, typeof argumentsSchema> = {
  type: 'service:image_generation',
  summary: 'Makes pictures with a model that draws.',
  parameters,
  callMsMax: CALL_MS_MAX,
  recall: (text) => withoutPicture(text),
  readNativeTool: (tool) => (tool['type'] === 'image_generation' ? readVendors(tool) : undefined),
  describe: () => ({
    description: 'Makes a picture. It is shown to the user; the result only says that it was made.',
    arguments: argumentsSchema,
  }),
  open: (requested) => openImages(requested),
};

function openImages({ model, ...rest }: Parameters): OpenTool<z.output<typeof argumentsSchema>> {
  const imageConfig = Object.fromEntries(
    Object.entries(rest).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
  const config = Object.keys(imageConfig).length === 0 ? {} : { imageConfig };
  return {
    async run({ input, generate, signal }) {
      const { response } = await generate(
        {
          models: [model ?? MODEL_DEFAULT],
          turns: [{ role: 'user', blocks: [{ type: 'text', text: input.prompt }], plain: true }],
          settings: { modalities: ['image', 'text'], ...config },
        },
        signal,
      );
      const media = response.blocks.filter(isPicture);
      const imageUrl = media.map(urlOf).find((url) => url !== undefined);
      const { text } = joinResponseText(response.format, response.blocks);
      if (imageUrl === undefined)
        return failedOutcome(`The model drew no picture.${text === '' ? '' : ` Its message: ${text}`}`);
      const result: JsonObject = { status: 'ok', imageUrl, ...(text !== '' && { revisedPrompt: text }) };
      return { result, media, modelReads: [{ type: 'text', text: withoutPicture(JSON.stringify(result)) }] };
    },
  };
}

function isPicture(block: Block): block is MediaBlock {
  return block.type === 'media' && block.media === 'image';
}

function urlOf({ source }: MediaBlock): string | undefined {
  if (source.type === 'url') return source.url;
  return source.type === 'base64' ? `data:${source.mediaType};base64,${source.data}` : undefined;
}

const SHOWN = 'The picture is shown to the user.';

/** An image in base64 would fill the context of any model, without any use. */
function withoutPicture(text: string): string {
  const result: Json | undefined = parseJson(text);
  if (!isJsonObject(result)) return text;
  const { imageUrl, imageB64: _bytes, ...rest } = result;
  if (typeof imageUrl !== 'string') return text;
  return JSON.stringify({ ...rest, imageUrl: imageUrl.startsWith('data:') ? SHOWN : imageUrl });
}

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodePng } from '../../sandbox/png.ts';
import { plainDirectives } from '../../../tests/support/plain-directives.ts';
import { createRandom, type Random } from '../../../tests/support/random.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import {
  IMAGE_BACKGROUNDS,
  IMAGE_OUTPUT_FORMATS,
  IMAGE_QUALITIES,
  IMAGE_TIERS,
  type ImageOperation,
  type PictureInput,
} from '../../canonical/image.ts';
import { fileInMemory } from '../../lib/files/spool.ts';
import { parseJsonObject } from '../../lib/json.ts';
import type { EncodedImage, ImageTarget } from './format.ts';
import { IMAGE_FORMATS } from './formats.ts';

const PNG = encodePng({ width: 16, height: 16 }, () => [1, 2, 3, 255], []);
const REQUESTS = 150;
/** Members of the request that an error may name. */
const PATHS = /^(?:n|size|resolution|aspect_ratio|output_format|quality|background|mask|images\[\d+\])$/;
const MODELS = [
  'flux-2-pro',
  'flux-kontext-pro',
  'fal-ai/flux/dev',
  'fal-ai/nano-banana/edit',
  'black-forest-labs/flux-kontext-pro',
  'accounts/fireworks/models/flux-1-schnell-fp8',
  'gemini-3-image',
  'stable-image-core',
];

function anyPicture(path: string): PictureInput {
  return { path, picture: { file: fileInMemory(PNG), type: 'png', size: { width: 16, height: 16 } } };
}

function anyOperation(random: Random): ImageOperation {
  const maybe = (member: string, value: unknown): object => (random.chance(0.5) ? { [member]: value } : {});
  const geometry = random.chance(0.5)
    ? maybe('size', { width: random.int(1, 128) * 16, height: random.int(1, 128) * 16 })
    : {
        ...maybe('tier', random.pick(IMAGE_TIERS)),
        ...maybe('aspectRatio', random.pick(['1:1', '16:9', '9:16', '1:8'])),
      };
  return {
    kind: 'image',
    delivery: 'whole',
    prompt: 'a "cat"\n',
    n: random.int(1, 4),
    ...geometry,
    ...maybe('quality', random.pick(IMAGE_QUALITIES)),
    ...maybe('outputFormat', random.pick(IMAGE_OUTPUT_FORMATS)),
    ...maybe('background', random.pick(IMAGE_BACKGROUNDS)),
    ...maybe('seed', random.int(0, 1_000)),
    references: Array.from({ length: random.int(0, 3) }, (_none, at) => anyPicture(`images[${at}]`)),
    shape: 'gateway',
    responseFormat: 'b64_json',
    directives: plainDirectives('a/draws'),
    warnings: [],
  };
}

async function textOf({ body }: EncodedImage): Promise<{ readonly text: string; readonly isJson: boolean }> {
  if ('json' in body) return { text: JSON.stringify(body.json), isJson: true };
  const chunks: Uint8Array[] = [];
  for await (const chunk of body.source.chunks()) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  assert.equal(bytes.length, body.source.bytes, 'it is as long as it says');
  return { text: bytes.toString('latin1'), isJson: body.source.contentType === 'application/json' };
}

describe('formats of pictures', () => {
  for (const [id, format] of IMAGE_FORMATS)
    // @spec image-1
    // @spec image-4
    test(`encode any request, or refuse it at a member of it: ${id}`, async () => {
      const random = createRandom(7);
      let encodedOnes = 0;
      for (let number = 0; number < REQUESTS; number++) {
        const operation = anyOperation(random);
        const model = random.pick(MODELS);
        const target: ImageTarget = {
          model,
          endUserId: 'e',
          stream: false,
          dialect: {},
          options: { members: {}, path: '' },
        };
        let encoded: EncodedImage;
        try {
          encoded = format.encode(operation, target);
        } catch (error) {
          assert.ok(error instanceof GatewayError && error.status === 400, String(error));
          for (const { path } of error.issues ?? assert.fail('it names no member')) assert.match(path, PATHS);
          continue;
        }
        encodedOnes++;
        assert.match(encoded.path, /^\/[\w./:%-]+$/);
        const { text, isJson } = await textOf(encoded);
        if (!isJson) continue;
        assert.ok(parseJsonObject(text) !== undefined, text.slice(0, 200));
        assert.doesNotMatch(text, /:null|undefined/);
      }
      assert.ok(encodedOnes > REQUESTS / 20, `${encodedOnes} were encoded`);
    });
});

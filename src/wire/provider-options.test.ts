import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { callersExtra, optionsFor, splitOptions, withOptions } from './provider-options.ts';

const issueAt = (path: string) => (error: unknown) =>
  error instanceof Error && 'issues' in error && JSON.stringify(error.issues).includes(`"path":"${path}"`);

const optionsOf = (members: JsonObject) => optionsFor({ providerOptions: { one: members } }, 'one');

describe('members for one provider', () => {
  test('are added, and merged into the objects that the gateway wrote', () => {
    const body = { model: 'm', generationConfig: { imageConfig: { aspectRatio: '1:1' }, seed: 1 } };
    const options = optionsOf({
      safetySettings: [],
      generationConfig: { temperature: 0, imageConfig: { personGeneration: 'none' } },
    });
    assert.deepEqual(withOptions(body, options), {
      model: 'm',
      generationConfig: { imageConfig: { aspectRatio: '1:1', personGeneration: 'none' }, seed: 1, temperature: 0 },
      safetySettings: [],
    });
    assert.deepEqual(withOptions(body, optionsFor({ providerOptions: { one: { x: 1 } } }, 'two')), body);
  });

  test('are refused at their path where the gateway wrote them, however they are spelled', () => {
    const body = { smart_format: true, generationConfig: { topK: 1 }, 'keywords[]': 'a' };
    const WRITTEN: readonly (readonly [JsonObject, string])[] = [
      [{ smart_format: false }, 'smart_format'],
      [{ smartFormat: false }, 'smartFormat'],
      [{ generationConfig: null }, 'generationConfig'],
      [{ generationConfig: { topK: 2 } }, 'generationConfig.topK'],
      [{ generation_config: { top_k: 2 } }, 'generation_config.top_k'],
      [{ keywords: ['b'] }, 'keywords'],
      [{ 'keywords[0]': 'b' }, 'keywords[0]'],
    ];
    for (const [members, path] of WRITTEN)
      assert.throws(() => withOptions(body, optionsOf(members)), issueAt(`provider.options.one.${path}`), path);
  });

  test('never change what the gateway wrote', () => {
    const name = fc.constantFrom('alpha', 'beta_one', 'betaOne', 'Gamma', 'gamma[]');
    const tree = fc.letrec<{ readonly object: JsonObject; readonly value: JsonObject | number }>((tie) => ({
      object: fc.dictionary(name, tie('value'), { maxKeys: 4 }),
      value: fc.oneof({ depthSize: 'small' }, fc.integer(), tie('object')),
    }));
    const isWithin = (part: unknown, whole: unknown): boolean =>
      isJsonObject(part) && isJsonObject(whole)
        ? Object.entries(part).every(([key, value]) => isWithin(value, whole[key]))
        : part === whole;
    fc.assert(
      fc.property(tree.object, tree.object, (body, members) => {
        try {
          assert.ok(isWithin(body, withOptions(body, optionsOf(members))));
        } catch (error) {
          assert.ok(error instanceof Error && 'issues' in error, String(error));
        }
      }),
    );
  });

  const DECIDING: readonly (readonly [JsonObject, string])[] = [
    ...['model', 'n', 'stream', 'size', 'quality', 'response_format', 'output_format', 'dimensions', 'duration'].map(
      (name) => [{ [name]: 'x' }, name] as const,
    ),
    [{ Stream: true }, 'Stream'],
    [{ 'model[]': 'x' }, 'model[]'],
    [{ numImages: 4 }, 'numImages'],
    [{ service_tier: 'priority' }, 'service_tier'],
    [{ webhook_url: 'x' }, 'webhook_url'],
    [{ generationConfig: { candidateCount: 4 } }, 'generationConfig.candidateCount'],
    [{ generation_config: { image_config: { image_size: '4K' } } }, 'generation_config.image_config.image_size'],
  ];
  for (const [members, path] of DECIDING)
    test(`are refused where they decide the charge or how the answer is read: ${path}`, () => {
      assert.throws(() => splitOptions({ options: { one: members } }), issueAt(`provider.options.one.${path}`));
      assert.throws(() => callersExtra('image/openai', members), issueAt(path));
    });
});

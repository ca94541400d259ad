import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { ConfigError } from './config-error.ts';
import type { Config } from './config.ts';
import { loadConfig } from './load-config.ts';
import { renderConfig } from './render.ts';

const CLOUD = {
  shape: {
    region: z.string().regex(/^[a-z]+-\d$/, 'must be a region such as mars-1'),
    signed: z.boolean().optional(),
    secret: z.string().optional(),
  },
  secrets: ['secret'],
};

function load(
  text: string,
  adapterOptions: Parameters<typeof loadConfig>[0]['adapterOptions'] = { cloud: CLOUD },
): Config {
  return loadConfig({
    argv: ['--config', 'gateway.yaml'],
    env: { CLOUD_SECRET: 'hush-hush', YES: 'true' },
    readFile: () => text,
    adapterIds: ['cloud', 'plain'],
    ...(adapterOptions !== undefined && { adapterOptions }),
  });
}

test('options reach the configuration as the adapter wants them', () => {
  const text = 'providers:\n  cloud:\n    options: { region: mars-1, secret: ${CLOUD_SECRET}, signed: ${YES} }\n';
  const [provider] = load(text).providers;
  assert.deepEqual(provider?.options, { region: 'mars-1', secret: 'hush-hush', signed: true });
});

test('are those of the adapter, whatever the name of the provider', () => {
  const text = 'providers:\n  west: { adapter: cloud, options: { region: mars-1 } }\n';
  assert.deepEqual(load(text).providers[0]?.options, { region: 'mars-1' });
});

test('options that are left empty are none', () => {
  assert.deepEqual(load('providers:\n  plain:\n    options:\n').providers[0]?.options, {});
});

test('are printed without their secrets', () => {
  const formatted = renderConfig(
    load('providers:\n  cloud: { options: { region: mars-1, secret: ${CLOUD_SECRET} } }\n'),
  );
  assert.match(formatted, /options:\n {6}region: mars-1\n {6}secret: \(redacted\)\n/);
  assert.ok(!formatted.includes('hush-hush'));
});

test('treats all values as secret when the secret ones are unknown', () => {
  const config = loadConfig({
    argv: ['--config', 'gateway.yaml'],
    env: {},
    readFile: () => 'providers:\n  cloud: { options: { region: mars-1 } }\n',
  });
  assert.match(renderConfig(config), /region: \(redacted\)/);
});

for (const [name, text, message] of [
  [
    'an option that is misspelt names its line and the nearest one',
    'providers:\n  cloud:\n    options:\n      region: mars-1\n      sgined: true\n',
    'gateway.yaml:5: providers.cloud.options.sgined: unknown key; did you mean "signed"?',
  ],
  [
    'an option that is wrong is told in the words of the adapter',
    'providers:\n  cloud: { options: { region: mars } }\n',
    'gateway.yaml:2: providers.cloud.options.region: must be a region such as mars-1',
  ],
  [
    'an option that is missing is told',
    'providers:\n  cloud: { options: { signed: true } }\n',
    'gateway.yaml:2: providers.cloud.options.region: is required',
  ],
  [
    'an adapter without options refuses them',
    'providers:\n  plain: { options: { region: mars-1 } }\n',
    'gateway.yaml:2: providers.plain.options: the adapter "plain" has no options',
  ],
  [
    'options that are no mapping are refused',
    'providers:\n  cloud: { options: [region] }\n',
    'gateway.yaml:2: providers.cloud.options: must be a mapping of keys to values, not a list',
  ],
] as const) {
  test(name, () => {
    assert.throws(
      () => load(text),
      (error: unknown) => {
        assert.ok(error instanceof ConfigError);
        assert.equal(error.message, message);
        return true;
      },
    );
  });
}

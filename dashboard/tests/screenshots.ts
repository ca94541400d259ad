// `npm run dashboard:screenshots`: the pictures of docs/images, of a gateway with made-up traffic.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findChromium, settle, startStand, visit, type Visit } from './browser/support.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const IMAGES = path.join(ROOT, 'docs/images');
/** A provider that serves, one that does not, and prices: so that there is something to see. */
const YAML = (port: string): string => `
providers:
  north: { adapter: openai-compatible, base_url: 'http://127.0.0.1:9/v1', api_key: a, data_policy: { training: true, retention_days: 30 } }
  south: { adapter: openai-compatible, base_url: 'http://127.0.0.1:${port}/v1', api_key: b, data_policy: { training: false, retention_days: 0 } }
  west: { adapter: openai-compatible, base_url: 'http://127.0.0.1:${port}/v1', api_key: c, data_policy: { training: false, retention_days: 0 } }
models:
  acme/one: { name: Acme One, context_length: 128000, endpoints: [{ provider: north, model: echo, price: { prompt: 1.0, completion: 2.0, cache_read: 0.1 } }, { provider: south, model: echo, price: { prompt: 1.2, completion: 2.4 } }, { provider: west, model: echo, price: { prompt: 3.0, completion: 9.0 } }] }
  acme/thinker: { name: Acme Thinker, context_length: 200000, endpoints: [{ provider: south, model: reasoning, price: { prompt: 3.0, completion: 15.0 } }] }
  acme/slow: { name: Acme Slow, context_length: 32000, endpoints: [{ provider: west, model: slow, price: { prompt: 0.1, completion: 0.4 } }] }
  acme/flaky: { name: Acme Flaky, context_length: 32000, endpoints: [{ provider: north, model: echo, price: { prompt: 0.1, completion: 0.4 } }] }
`;
const QUESTIONS = [
  'Sum up the minutes of the meeting',
  'Write a haiku about rate limits',
  'Which of these three plans is cheaper?',
  'Translate this to French',
];
const ROUNDS = 4;

const executablePath = findChromium();
if (executablePath === undefined) process.exit(1);
mkdirSync(IMAGES, { recursive: true });
const sandbox = spawn(process.execPath, [path.join(ROOT, 'src/main.ts'), 'sandbox', '--port', '0'], {
  cwd: tmpdir(),
  stdio: ['ignore', 'pipe', 'ignore'],
});
const port = await new Promise<string>((resolve) =>
  sandbox.stdout.setEncoding('utf8').on('data', (text: string) => resolve(/:(\d+)/.exec(text)?.[1] ?? '')),
);
const stand = await startStand(executablePath, { yaml: YAML(port) });
try {
  await makeTraffic();
  await takeAll();
} finally {
  await stand.close();
  sandbox.kill();
}

async function makeTraffic(): Promise<void> {
  for (const [name, limit] of [
    ['web', 10],
    ['ci', 0.0004],
    ['research', 50],
  ] as const)
    await stand.call('/keys', { name, limit, limit_reset: 'monthly' });
  await stand.call('/credits/grants', { amount: 2_000, note: 'invoice 2026-11' });
  await stand.call('/guardrails', {
    name: 'No addresses',
    content_filter_builtins: [
      { slug: 'email', action: 'redact' },
      { slug: 'ssn', action: 'block' },
    ],
  });
  for (let round = 0; round < ROUNDS; round += 1)
    for (const model of [
      'acme/one',
      'acme/thinker',
      'acme/slow',
      'acme/one',
      'acme/flaky',
      'sandbox/tools',
      'sandbox/error-429',
    ])
      await stand.call(
        '/chat/completions',
        {
          model,
          messages: [{ role: 'user', content: QUESTIONS[round % QUESTIONS.length] }],
          session_id: `cart-${round + 17}`,
        },
        stand.apiKey,
      );
}

/** One picture a page, half of them dark: they are in the repository, so they are few. */
async function takeAll(): Promise<void> {
  const [dark, light] = [await stand.open({ theme: 'dark' }), await stand.open({ theme: 'light' })];
  const take = async (page: Visit['page'], name: string): Promise<void> => {
    await settle(page);
    writeFileSync(path.join(IMAGES, name), await page.screenshot());
  };
  await visit(dark.page, `${stand.url}/?range=1h`);
  await take(dark.page, 'overview-dark.png');
  await visit(light.page, `${stand.url}/ui/playground?models=sandbox/reasoning,acme/one,sandbox/tools`);
  await light.page.getByRole('textbox', { name: 'Message' }).fill('Why is the **sky** blue?');
  await light.page.keyboard.press('Enter');
  await light.page.getByRole('link', { name: 'the record' }).nth(2).waitFor();
  await take(light.page, 'playground-light.png');
  await visit(light.page, `${stand.url}/ui/requests?range=1h`);
  await take(light.page, 'requests-light.png');
  await visit(dark.page, `${stand.url}/ui/routing?model=acme/one&deny=true`);
  await take(dark.page, 'routing-dark.png');
}

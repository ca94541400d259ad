import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { suite, test, type TestContext } from 'node:test';
import { makeFolder, startGateway } from '../support/cli/spawn-cli.ts';
import { speakMessages } from '../support/upstreams/scripted-formats.ts';
import { startUpstream } from '../support/upstream.ts';

const KEY = 'reload-test-key-0123456789';
const SENT = 'files-api-2025-04-14,brand-new-2099-01-01';
/** Reading the file again takes two seconds at most; the machine may be busy. */
const PATIENCE_MS = 15_000;

interface Running {
  /** Replaces the file as editors and deployment tools do. */
  configure(betaFlags: string): void;
  /** The flags that arrive upstream of those that were sent. */
  flags(): Promise<string | undefined>;
  /** Waits until they are these. */
  untilFlags(wanted: string | undefined): Promise<void>;
  hangUp(): void;
  printed(): string;
}

async function start(t: TestContext, first: string): Promise<Running> {
  const upstream = await startUpstream(speakMessages('Said.'));
  t.after(() => upstream.close());
  const folder = makeFolder(t);
  const path = join(folder, 'gateway.yaml');
  const configure = (betaFlags: string): void => {
    const next = join(folder, 'next.yaml');
    writeFileSync(
      next,
      `
providers: { wordy: { adapter: anthropic, base_url: "${upstream.baseUrl}", api_key: k } }
models: { acme/one: { endpoints: [{ provider: wordy, model: claude-sonnet-4-6 }] } }
${betaFlags}
`,
    );
    renameSync(next, path);
  };
  configure(first);
  const gateway = await startGateway(t, {
    args: ['--config', path],
    env: { GATEWAY_API_KEY: KEY, GATEWAY_MANAGEMENT_KEY: 'm' },
  });
  let printed = '';
  gateway.child.stderr?.on('data', (text: string) => (printed += text));
  const flags = async (): Promise<string | undefined> => {
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'anthropic-beta': SENT },
      body: JSON.stringify({ model: 'acme/one', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }),
    });
    assert.equal(response.status, 200, await response.text());
    const arrived = upstream.arrived.at(-1)?.headers['anthropic-beta'];
    return typeof arrived === 'string' ? arrived : undefined;
  };
  return {
    configure,
    flags,
    async untilFlags(wanted) {
      const limit = performance.now() + PATIENCE_MS;
      let seen = await flags();
      while (seen !== wanted && performance.now() < limit) {
        await wait(100);
        seen = await flags();
      }
      assert.equal(seen, wanted);
    },
    hangUp: () => void gateway.child.kill('SIGHUP'),
    printed: () => printed,
  };
}

suite('the table of beta flags', () => {
  test('changes with the file, without a restart: flags are added, removed and renamed', async (t) => {
    const running = await start(t, '');
    assert.equal(await running.flags(), 'files-api-2025-04-14');
    running.configure('beta_flags: { wordy: { allow: [brand-new] } }');
    await running.untilFlags(SENT);
    running.configure(
      'beta_flags: { wordy: { deny: [files-api], rename: { brand-new-2099-01-01: older-2098-01-01 } } }',
    );
    await running.untilFlags('older-2098-01-01');
    running.configure('');
    await running.untilFlags('files-api-2025-04-14');
  });

  test('stays unchanged while the file is wrong, logs that, and is reloaded at SIGHUP', async (t) => {
    const running = await start(t, 'beta_flags: { wordy: { allow: [brand-new] } }');
    assert.equal(await running.flags(), SENT);
    running.configure('beta_flags: { wrody: {} }');
    running.hangUp();
    const limit = performance.now() + PATIENCE_MS;
    while (!running.printed().includes('did you mean "wordy"?') && performance.now() < limit) await wait(50);
    assert.match(
      running.printed(),
      /The configuration stays as it was\. .*beta_flags\.wrody: unknown provider "wrody"/,
    );
    assert.equal(await running.flags(), SENT);
    running.configure('beta_flags: { wordy: { deny: [brand-new] } }');
    running.hangUp();
    await running.untilFlags('files-api-2025-04-14');
  });
});

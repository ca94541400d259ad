import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { startSandbox } from '../../src/sandbox/server.ts';
import { configureBothFormats, RUNNING_GATEWAY } from '../support/both-formats.ts';
import { canCluster, startCluster } from '../support/cluster/cluster.ts';
import { parsePrometheus } from '../support/http/prometheus.ts';
import { ROOT, runCli } from '../support/cli/spawn-cli.ts';

const IS_FULL = process.env['SCALE_OUT_FORM'] === 'full';
/** What these files promise of one gateway, with the vendors' own clients; one of them outside of the full form. */
const FILES = (IS_FULL ? ['openai', 'anthropic'] : ['openai']).map((name) =>
  join(ROOT, `tests/conformance/${name}.test.ts`),
);
/** Clients of each format, in their own format and, in the full form, translated, and requests for the gateway itself. */
const PATTERN = IS_FULL
  ? 'client(, (sandbox|chat-only)| and the gateway itself) '
  : 'client(, sandbox| and the gateway itself) ';
const TESTS_MIN = IS_FULL ? 90 : 15;

suite('the conformance of clients', { skip: !canCluster }, () => {
  test('passes through a TCP balancer in front of three processes, each of which serves', async (t) => {
    const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
    t.after(() => sandbox.close());
    // The sandbox's prompt cache is one for all, as a vendor's is.
    const shared = `providers:\n  sandbox: { adapter: sandbox, base_url: "${sandbox.baseUrl}" }`;
    const cluster = await startCluster(configureBothFormats(sandbox.baseUrl).replace('providers:', shared));
    t.after(() => cluster.close());
    const { code, stdout } = await runCli(
      t,
      ['--test', '--test-reporter=tap', `--test-name-pattern=${PATTERN}`, ...FILES],
      {
        command: [process.execPath],
        env: { [RUNNING_GATEWAY]: cluster.url },
        cwd: ROOT,
      },
    );
    const failures = stdout.split('\n').filter((line) => /^\s*not ok /.test(line));
    assert.deepEqual([code, failures], [0, []], stdout.slice(-4_000));
    assert.ok(Number(/^# pass (\d+)$/m.exec(stdout)?.[1]) >= TESTS_MIN, stdout.slice(-400));
    const gateways = cluster.gateways();
    assert.equal(gateways.length, 3);
    for (const { url } of gateways) {
      const metrics = parsePrometheus(await (await fetch(`${url}/metrics`)).text());
      assert.ok(
        metrics.some(({ name, value }) => name === 'gateway_requests_total' && value > 0),
        `${url} served`,
      );
    }
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captureCli } from '../support/cli/capture-cli.ts';
import { checkPart } from '../support/docs/generated-page.ts';

test('has the help of every command on the page of the command line', async () => {
  const overview = (await captureCli(['--help'])).stdout;
  const commands = [...overview.matchAll(/^ {2}([a-z-]+) {2,}\S/gm)].map(([, name = '']) => name);
  assert.equal(commands.length, /known are (.*)/.exec((await captureCli(['launch'])).stderr)?.[1]?.split(', ').length);
  const sections = await Promise.all(
    commands.map(async (name) => {
      const { code, stdout } = await captureCli(['help', name]);
      assert.equal(code, 0, name);
      assert.match(stdout, /^Usage: /, name);
      return `## ${name}\n\n\`\`\`text\n${stdout.trimEnd()}\n\`\`\``;
    }),
  );
  checkPart({ page: 'cli.md', name: 'cli' }, sections.join('\n\n'));
});

import { appendFileSync } from 'node:fs';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createTestServer, type World } from './tools.ts';

/**
 * A real MCP server as a process: `node stdio-server.ts [MODE]`. Notes what happens in the file of `MCP_NOTES`.
 * `old` speaks only the protocol of 2025; `fragile` does, too, and exits on any other message before the handshake;
 * `stubborn` exits neither at the end of its input nor on SIGTERM; `broken` exits at once.
 */
const mode = process.argv[2] ?? 'new';
const notes = process.env['MCP_NOTES'];
const world: World = {
  note(what) {
    if (notes !== undefined) appendFileSync(notes, `${what}\n`);
  },
  hasGrown: false,
};

world.note(`start ${process.pid}`);
process.stderr.write(`ready with ${process.env['MCP_TOKEN'] ?? 'no token'}\n`);
if (mode === 'broken') process.exit(7);
if (mode === 'stubborn') {
  process.on('SIGTERM', () => world.note('got SIGTERM'));
  setInterval(() => undefined, 1_000);
}
if (mode === 'fragile')
  process.stdin.once('data', (chunk: Buffer) => {
    if (!chunk.includes('"initialize"')) process.exit(1);
  });
// A second listener changes nothing for the first.
process.stdin.on('data', (chunk: Buffer) => {
  for (const line of chunk.toString().split('\n')) if (line.includes('"tools/call"')) world.note(`wire ${line}`);
});
if (mode === 'old' || mode === 'fragile') await createTestServer(world).connect(new StdioServerTransport());
else serveStdio(() => createTestServer(world));

import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Stripping and compiling the sources is half of a start. The folder is ours, not the shared temporary one, where
// another user could place code for us to run. If it cannot be written (a read-only image) Node runs without a cache.
const cacheDirectory = fileURLToPath(new URL('../node_modules/.cache/model-gateway', import.meta.url));
enableCompileCache(cacheDirectory);
// For threads, which would each load the compiler of TypeScript otherwise.
process.env['NODE_COMPILE_CACHE'] ??= cacheDirectory;

// A reader that went away (`model-gateway --help | head -1`) is no reason to stop serving, nor to print a stack.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return;
  process.stderr.write(`Standard output takes nothing: ${message}\n`);
  process.exit(1);
});
// A reader of logs that went away is none either, and there is nowhere left to say it.
process.stderr.on('error', () => undefined);

// Imported here and not above, because an import at the top would run before the cache is on.
const { tuneHeap } = await import('./lib/memory/tune-heap.ts');
tuneHeap();
const { runCli } = await import('./cli/main.ts');
const code = await runCli(process.argv.slice(2), process);
// An error of a write is reported a moment later.
setImmediate(() => process.exit(code));

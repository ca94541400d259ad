import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Stripping and compiling the sources is half of a start. The folder is ours, not the shared temporary one, where
// somebody else could lay code for us to run; where it cannot be written (a read-only image) Node goes without.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/model-gateway', import.meta.url)));

// A reader that went away (`model-gateway --help | head -1`) is no reason to stop serving, nor to print a stack.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

// Imported here and not above, because an import at the top would run before the cache is on.
const { runCli } = await import('./cli/main.ts');
process.exit(await runCli(process.argv.slice(2), process));

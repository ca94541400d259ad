import { runCli } from './cli/main.ts';

// A reader that went away (`model-gateway --help | head -1`) is no reason to stop serving, nor to print a stack.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exit(await runCli(process.argv.slice(2), process));
